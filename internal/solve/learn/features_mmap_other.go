//go:build !unix

package learn

import (
	"io"
	"os"
)

// Elsewhere files are read instead of mapped, and removed when they are closed.

func mapped(file *os.File, size int64) ([]byte, error) {
	b := bytesOf(make([]float32, size/4))
	_, err := io.ReadFull(io.NewSectionReader(file, 0, size), b)
	return b, err
}

func unmap([]byte) {}
