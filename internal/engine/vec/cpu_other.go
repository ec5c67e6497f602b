//go:build !amd64 || purego

package vec

// level is the instructions in use.
const level = generic
