//go:build !amd64 || purego

package vec

func chooseKernels() { portableKernels() }
