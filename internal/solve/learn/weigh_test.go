package learn

import (
	"context"
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// kernelsOf are rows of features of three kernels, 3, 4 and 2 wide: targets follow the first, a little the third.
func kernelsOf(n int, r *random.Stream) (z *matrix.Dense, y []float64) {
	z, y = matrix.NewDense(n, 9), make([]float64, n)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(r.Normal() + float64(j%2))
		}
		y[i] = 2*float64(row[0]) - float64(row[2]) + 0.4*float64(row[7]) + 0.3*r.Normal()
	}
	return z, y
}

var threeKernels = []int{3, 4, 2}

// The alignment of the weighted sum, by Gram matrices of the rows, is the largest of all weights.
func TestAlignmentIsTheLargest(t *testing.T) {
	const n = 60
	r := random.New(1, "align")
	z, y := kernelsOf(n, r)
	s := moments.New(9, 1)
	s.Add(z, y, nil)
	mu := Align(s.Moments(), threeKernels)
	centred := make([][]float64, 9)
	mean := func(v []float64) (m float64) {
		for _, x := range v {
			m += x / float64(len(v))
		}
		return m
	}
	for j := range centred {
		for i := range n {
			centred[j] = append(centred[j], float64(z.Row(i)[j]))
		}
		m := mean(centred[j])
		for i := range n {
			centred[j][i] -= m
		}
	}
	my := mean(y)
	alignment := func(mu []float64) float64 {
		dot, size, of := 0.0, 0.0, 0.0
		for a := range n {
			for b := range n {
				k, first := 0.0, 0
				for g, w := range threeKernels {
					for j := first; j < first+w; j++ {
						k += mu[g] * centred[j][a] * centred[j][b]
					}
					first += w
				}
				yy := (y[a] - my) * (y[b] - my)
				dot, size, of = dot+k*yy, size+k*k, of+yy*yy
			}
		}
		return dot / math.Sqrt(size*of)
	}
	best := alignment(mu)
	if equal := alignment([]float64{1, 1, 1}); best <= equal {
		t.Errorf("alignment %g, %g with equal weights", best, equal)
	}
	for range 300 {
		other := make([]float64, 3)
		for g := range other {
			other[g] = mu[g] * math.Exp(r.Normal()*0.5)
		}
		if v := alignment(other); v > best+1e-9 {
			t.Fatalf("weights %v are aligned by %.9g, %v by %.9g", mu, best, other, v)
		}
	}
	trace := 0.0
	for j, first := 0, 0; j < 3; j++ {
		for i := first; i < first+threeKernels[j]; i++ {
			trace += (mu[j] - 1) * s.Moments().H[i*9+i]
		}
		first += threeKernels[j]
	}
	if math.Abs(trace) > 1e-6 {
		t.Errorf("the trace changes by %g", trace)
	}
}

// The search prefers the kernels that targets follow, on a held-out part and over folds, and its weights make new rows err less.
func TestSearchedWeightsErrLess(t *testing.T) {
	for _, n := range []int{2, Folds} {
		r := random.New(2, "weigh")
		z, y := kernelsOf(60, r)
		parts := make([]*moments.Stats, n)
		for p := range parts {
			parts[p] = moments.New(9, 1)
		}
		for i := range z.Rows {
			p := i % n
			if n == 2 {
				p = map[bool]int{true: 1}[i%3 == 0]
			}
			parts[p].AddRow(z.Row(i), y[i:i+1], 1)
		}
		mu, err := Weigh(context.Background(), parts, threeKernels)
		if err != nil {
			t.Fatal(err)
		}
		if mu[0] < 3*mu[1] {
			t.Errorf("%d parts: weights %v", n, mu)
		}
		test, truth := kernelsOf(2000, r)
		at := func(mu []float64, lambda float64) float64 {
			all := moments.New(9, 1)
			for _, p := range parts {
				all.Merge(p)
			}
			var factors []float64
			for g, w := range threeKernels {
				for range w {
					factors = append(factors, math.Sqrt(mu[g]))
				}
			}
			all.Scale(factors)
			l, _, err := fitRidge(context.Background(), all, nil, Ridge{Lambda: lambda})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range test.Rows {
				e := truth[i] - l.B[0]
				for j, v := range test.Row(i) {
					e -= float64(v) * factors[j] * float64(l.W.Row(j)[0])
				}
				sum += e * e / float64(test.Rows)
			}
			return sum
		}
		by := func(mu []float64) float64 { // with the best λ
			least := math.Inf(1)
			for e := -3.0; e < 4; e += 0.5 {
				least = min(least, at(mu, math.Pow(10, e)))
			}
			return least
		}
		if equal, own := by([]float64{1, 1, 1}), by(mu); own >= equal {
			t.Errorf("%d parts: error %g with weights %v, %g with equal ones", n, own, mu, equal)
		}
	}
}
