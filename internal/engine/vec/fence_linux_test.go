package vec

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// fenced copies x to memory that ends, or begins, at a page that may not be touched.
func fenced[T any](t *testing.T, x []T, atEnd bool) []T {
	t.Helper()
	const page = 4096
	size := len(x) * int(unsafe.Sizeof(x[0]))
	inner := (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, fence := range [][]byte{all[:page], all[page+inner:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	first := page
	if atEnd {
		first += inner - size
	}
	y := unsafe.Slice((*T)(unsafe.Pointer(&all[first])), len(x))
	copy(y, x)
	return y
}

// Not even a read goes beside a slice: it would end the test.
func TestHadamardAndStructuredStayWithinTheirSlices(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		testFences[float32](t)
		testFences[float64](t)
	})
}

func testFences[T float32 | float64](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 3))
	for _, shape := range shapes {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		if width == 0 || m > 8192 {
			continue
		}
		c := newFactors[T](r, n, m)
		for _, atEnd := range []bool{false, true} {
			src, dst := fenced(t, numbers[T](r, rows*width), atEnd), fenced(t, make([]T, rows*m), atEnd)
			d, s, g := fenced(t, c.d, atEnd), fenced(t, c.s, atEnd), fenced(t, c.g, atEnd)
			b, p := fenced(t, c.d[:m], atEnd), fenced(t, c.p, atEnd)
			work := fenced(t, make([]T, FastfoodWork(n)), atEnd)
			hadamardBatch(rows*m/n, n, dst, n)
			chains(rows, n, m, width, d, s, src, width, dst, m)
			multiplyFastfood(rows, n, m, width, b, p, g, s, src, width, dst, m, work)
		}
	}
}
