package pool

import (
	"fmt"
	"os"
	"testing"
	"time"

	"mercer/internal/random"
	"mercer/matrix"
)

func best(n int, f func()) (lo time.Duration) {
	lo = time.Hour
	for range n {
		t := time.Now()
		f()
		lo = min(lo, time.Since(t))
	}
	return lo
}

func TestScratch(t *testing.T) {
	if os.Getenv("SCRATCH") == "" {
		t.Skip()
	}
	for _, cfg := range thesis {
		for _, locations := range []int{1, 16, 49, 169, 784} {
			cfg.Norm = "root-l2"
			p := build1(t, cfg, 512)
			_, features := p.Dims()
			x, dst := descriptors(locations, 512), matrix.NewDense(1, features)
			reps := 300
			if cfg.Method == "maclaurin" {
				reps = 30
			}
			f := best(reps, func() { p.Pool(dst, matrix.Rows{Dense: x}, []int{0, locations}) })
			dx, dout := matrix.NewDense(locations, 512), normals(random.New(2, "bench"), 1, features)
			b := best(reps/5, func() { p.Backward(dx, x, []int{0, locations}, dout) })
			fmt.Printf("%-14s %5d  %4d: %8.3f ms  back %8.3f ms\n", cfg.Method, cfg.Features, locations, f.Seconds()*1e3, b.Seconds()*1e3)
		}
	}
}
