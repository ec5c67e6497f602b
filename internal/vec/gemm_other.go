//go:build !amd64 || purego

package vec

// chooseKernels leaves the portable micro-kernels in place.
func chooseKernels() {}
