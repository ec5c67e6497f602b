package vec

import (
	"encoding/binary"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"mercer/internal/engine/testenv"
)

// Of fresh memory no page is resident, whatever the runtime did with it before, and all of it
// is 0.
func TestFreshMemoryIsZeroAndNotResident(t *testing.T) {
	const n = freshFrom + 12345
	for try := range 3 {
		x := Fresh64(n)
		if r := resident(t, x); r > 2 {
			t.Errorf("try %d: %d pages of a fresh slice are resident", try, r)
		}
		for i, v := range x {
			if v != 0 {
				t.Fatalf("try %d: element %d is %g", try, i, v)
			}
			x[i] = 1
		}
		if r := resident(t, x); r < n/512-2 {
			t.Errorf("%d of %d pages are resident after all were written to: the test sees nothing", r, n/512)
		}
		runtime.KeepAlive(x)
		x = nil
		runtime.GC() // the next one gets this memory
	}
	if x := Fresh64(0); len(x) != 0 {
		t.Error(x)
	}
}

// Of a square for an upper triangle the pages of that are resident, and few others.
func TestFreshUpperIsResident(t *testing.T) {
	const n, page = 2048, 512
	x := FreshUpper64(n)
	upper := map[int]bool{}
	for i := range n {
		for j := i; j < n; j++ {
			upper[(i*n+j)/page] = true
		}
	}
	// The slice starts anywhere in a page: a row of the triangle may reach into one more.
	if r := resident(t, x); r < len(upper)-1 || r > len(upper)+n {
		t.Errorf("%d pages are resident, of %d of the upper triangle", r, len(upper))
	}
	runtime.KeepAlive(x)
}

// resident is how many pages of x are in memory.
func resident(t *testing.T, x []float64) int {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		testenv.Machine(t, "%v", err)
	}
	defer f.Close()
	page := os.Getpagesize()
	entries := make([]byte, 8*(8*len(x)/page))
	if _, err := f.ReadAt(entries, int64(uintptr(unsafe.Pointer(&x[0]))/uintptr(page)*8)); err != nil {
		testenv.Machine(t, "%v", err)
	}
	n := 0
	for ; len(entries) > 0; entries = entries[8:] {
		if binary.LittleEndian.Uint64(entries)>>63 != 0 {
			n++
		}
	}
	return n
}
