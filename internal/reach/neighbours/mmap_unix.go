//go:build unix

package neighbours

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapped maps a file into memory for reading; it returns nil if that is not possible.
func mapped(file *os.File, size int64) []byte {
	if int64(int(size)) != size {
		return nil
	}
	b, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmap(b []byte) { unix.Munmap(b) }
