//go:build amd64 && !purego

package vec

// eachLevel runs f with each set of instructions that this machine has.
func eachLevel(f func(name string)) {
	before := level
	defer func() { level = before }()
	for level = generic; level <= best(); level++ {
		f(names[level])
	}
}
