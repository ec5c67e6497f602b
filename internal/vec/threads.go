package vec

import (
	"runtime"
	"sync"
)

// Threads is the number of goroutines that compute at the same time: GOMAXPROCS, which the
// command line's --threads sets. It is the one place that decides it. No result depends on it.
func Threads() int { return runtime.GOMAXPROCS(0) }

// Parallel calls f on consecutive ranges [lo, hi) that together cover [0, n), at most
// Threads at a time, and returns when all are done. A range is a multiple of grain long,
// but for the last. f must give the same result however [0, n) is cut.
func Parallel(n, grain int, f func(lo, hi int)) {
	t := min(Threads(), (n+grain-1)/grain)
	if t <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	step := (n + t - 1) / t
	step = (step + grain - 1) / grain * grain
	var wg sync.WaitGroup
	for lo := step; lo < n; lo += step {
		wg.Go(func() { f(lo, min(lo+step, n)) })
	}
	f(0, min(step, n))
	wg.Wait()
}
