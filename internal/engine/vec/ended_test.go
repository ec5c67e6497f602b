package vec

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// endsAfter is a context that ends when it was asked a number of times, and counts how often it is asked.
type endsAfter struct {
	context.Context
	times int64
	asked atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.asked.Add(1) > c.times {
		return context.Canceled
	}
	return nil
}

// A dense solve asks its context at least every 2²⁶ multiply-adds, some ten milliseconds, gives up
// wherever that ends, and does next to nothing afterwards.
func TestDenseSolvesEndWithTheirContext(t *testing.T) {
	n, k := 700, 900
	if testing.Short() {
		n, k = 400, 500
	}
	r := rand.New(rand.NewPCG(1, 2))
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j] = r.NormFloat64() / float64(n)
		}
		a[i*n+i] += 4
	}
	cube := math.Pow(float64(n), 3)
	for _, c := range []struct {
		name  string
		work  float64 // multiply-adds
		solve func(ctx context.Context, a []float64) bool
	}{
		{"Cholesky", cube / 6, func(ctx context.Context, a []float64) bool { return Cholesky(ctx, n, a, n) }},
		{"CholeskySolve", cube/6 + float64(n*n*k), func(ctx context.Context, a []float64) bool {
			return CholeskySolve(ctx, n, a, n, k, make([]float64, n*k), k)
		}},
		{"eigenvalues", cube * 2 / 3, func(ctx context.Context, a []float64) bool {
			return EigenSym(ctx, n, a, n, make([]float64, n), false)
		}},
		{"eigenvectors", cube * 7 / 3, func(ctx context.Context, a []float64) bool {
			return EigenSym(ctx, n, a, n, make([]float64, n), true)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(times int64) (ok bool, asked int64) {
				ctx := &endsAfter{Context: t.Context(), times: times}
				ok = c.solve(ctx, append([]float64(nil), a...))
				return ok, ctx.asked.Load()
			}
			ok, all := run(1 << 60)
			if !ok || float64(all) < c.work/(1<<26) {
				t.Fatalf("done: %v; %d questions for %.3g multiply-adds", ok, all, c.work)
			}
			for _, share := range []float64{0, 0.01, 0.3, 0.7, 0.99} {
				times := int64(share * float64(all))
				if ok, asked := run(times); ok || asked-times > 200 {
					t.Errorf("ended after %d of %d questions: done: %v, asked %d times more", times, all, ok, asked-times)
				}
			}
		})
	}
}

// A product of large matrices ends within its blocks, also on one thread.
func TestProductsEndWithTheirContext(t *testing.T) {
	const n = 1200
	a, c := make([]float64, n*n), make([]float64, n*n)
	for _, transposed := range []bool{false, true} {
		p := product[float64]{m: n, n: n, k: n, alpha: 1, a: a, ars: n, acs: 1, b: a, brs: n, bcs: 1, c: c, ldc: n}
		if transposed {
			p.ars, p.acs = 1, n
		}
		all := &endsAfter{Context: t.Context(), times: 1 << 60}
		p.ctx = all
		micro64.multiply(p)
		if asked := all.asked.Load(); asked < n*n*n>>28 {
			t.Errorf("transposed %v: asked %d times", transposed, asked)
		}
		ended := &endsAfter{Context: t.Context(), times: 3}
		p.ctx = ended
		micro64.multiply(p)
		if asked := ended.asked.Load(); asked > 3+100 {
			t.Errorf("transposed %v: asked %d times after the end", transposed, asked-3)
		}
	}
}
