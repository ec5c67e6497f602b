//go:build !amd64 || purego

package vec

func eachLevel(f func(name string)) { f(names[level]) }
