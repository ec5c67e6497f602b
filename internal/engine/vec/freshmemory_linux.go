package vec

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// release returns the whole pages of x, which is 0, to the system. Read again they are 0.
func release(x []float64) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x))
	page := unix.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1)
	b = b[skip:]
	if b = b[:len(b)&^(page-1)]; len(b) > 0 {
		// It is only a hint: if it fails the pages stay.
		_ = unix.Madvise(b, unix.MADV_DONTNEED)
	}
}
