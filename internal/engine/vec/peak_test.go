package vec

import (
	"math/rand/v2"
	"sync"
	"testing"
)

func TestPeakLoopsDoWhatTheySay(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		if n := MultiplyAdds32(1000); n < 1000 {
			t.Errorf("%d multiply-adds of 1000", n)
		}
		if n := MultiplyAdds64(1000); n < 1000 {
			t.Errorf("%d multiply-adds of 1000", n)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{0, 1, 127, 128, 500, 200_000} {
			x, y, dst := make([]float32, n), make([]float32, n), make([]float32, n+1)
			for i := range x {
				x[i], y[i] = 1, float32(r.IntN(100))
			}
			Triad(dst[:n], x, y)
			for i, v := range dst[:n] {
				if v != x[i]+3*y[i] {
					t.Fatalf("%d elements: element %d is %g", n, i, v)
				}
			}
			if dst[n] != 0 {
				t.Error("Triad writes too far")
			}
			Read(x)
		}
	})
}

// Several goroutines at once are what the loops are for; the race detector watches.
func TestPeakLoopsOnSeveralGoroutines(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() { MultiplyAdds32(1000) })
		}
		wait.Wait()
	})
}
