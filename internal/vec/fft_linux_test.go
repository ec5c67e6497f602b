//go:build amd64 && !purego

package vec

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded is n numbers that end, or begin, where reading is a fault.
func guarded(t *testing.T, n int, atEnd bool) []float32 {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*n + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	for _, guard := range [][]byte{memory[:page], memory[size+page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	start := page
	if atEnd {
		start += size - 4*n
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[start])), n)
}

func TestFFTReadsNothingOutside(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for n := 8; n <= 1<<15; n *= 2 {
			for _, atEnd := range []bool{false, true} {
				f := NewFFT(n)
				for _, table := range []*[]float32{&f.w, &f.leaf} {
					copied := guarded(t, len(*table), atEnd)
					copy(copied, *table)
					*table = copied
				}
				x, s, y := guarded(t, n, atEnd), guarded(t, n, atEnd), guarded(t, n, atEnd)
				f.put(guarded(t, n, atEnd))
				copy(x, numbers[float32](rand.New(rand.NewPCG(33, 1)), n))
				f.Forward(s, x)
				f.MulForward(s, x)
				f.Inverse(y, s)
				f.InverseMul(y, s, x)
				f.Mul(y, s, x)
			}
		}
	})
}
