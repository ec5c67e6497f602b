//go:build unix

package learn

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mapped maps a file into memory for reading.
func mapped(file *os.File, size int64) ([]byte, error) {
	if int64(int(size)) != size {
		return nil, errors.New("it is larger than the address space")
	}
	return unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(b []byte) { unix.Munmap(b) }
