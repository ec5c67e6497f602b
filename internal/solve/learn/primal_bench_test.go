package learn

import (
	"context"
	"runtime"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// waves are n rows of d features as random Fourier features are, and classes that linear
// models predict in part.
func waves(n, d, classes int) (*matrix.Dense, []int) {
	z := matrix.NewDense(n, d)
	class := make([]int, n)
	vec.Parallel(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s := random.New(1, "waves", uint64(i))
			class[i] = s.Intn(classes)
			row := z.Row(i)
			for j := range row {
				row[j] = float32(s.Uniform()-0.5) * 0.04
			}
			for j := class[i]; j < d; j += classes {
				row[j] += 0.004
			}
		}
	})
	return z, class
}

// BenchmarkPrimalPass is a pass for the gradient or the product with the Hessian. Its figures:
// the bytes of the rows per second, and their share of what two sums over the same memory reach.
func BenchmarkPrimalPass(b *testing.B) {
	const n, d = 60_000, 4_096
	z, class := waves(n, d, 10)
	for _, c := range []struct {
		name    string
		loss    string
		classes int
	}{{"logistic10", "logistic", 10}, {"multinomial10", "multinomial", 10}, {"logistic2", "logistic", 2}} {
		b.Run(c.name, func(b *testing.B) {
			some := class
			if c.classes == 2 {
				some = make([]int, n)
				for i, v := range class {
					some[i] = v % 2
				}
			}
			f := &primalFit{z: InMemory(matrix.Rows{Dense: z}), k: TargetColumns(c.classes), class: some,
				loss: logisticLoss, joint: c.loss == "multinomial"}
			f.cost, _ = costs(n, nil, 1)
			if err := f.meanSquares(context.Background()); err != nil {
				b.Fatal(err)
			}
			f.intercept = true
			f.prepare(Primal{Tolerance: 1e-9, MaxIter: 1000})
			b.SetBytes(4 * n * d)
			for b.Loop() {
				if err := f.pass(context.Background()); err != nil {
					b.Fatal(err)
				}
				for _, m := range f.machines {
					m.advance(func(g []float64) { f.diagonal(m, g) })
				}
			}
		})
	}
	b.Run("read", func(b *testing.B) {
		b.SetBytes(4 * n * d)
		for b.Loop() {
			vec.Parallel(n, 64, func(lo, hi int) { vec.Read(z.Data[lo*d : hi*d]) })
		}
		runtime.KeepAlive(z)
	})
}

// BenchmarkPrimal is a whole fit of 20,000 rows of 1,024 features in 10 classes.
func BenchmarkPrimal(b *testing.B) {
	z, class := waves(20_000, 1_024, 10)
	for _, loss := range []string{"logistic", "multinomial", "squared_hinge"} {
		b.Run(loss, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := FitPrimal(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 10, nil, Primal{Loss: loss}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
