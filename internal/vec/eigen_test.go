package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func symmetricMatrix(r *rand.Rand, n int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := i; j < n; j++ {
			a[i*n+j] = r.NormFloat64()
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

func TestEigenQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 3, 5, 31, 32, 33, 64, 65, 100, 200, 300, 500} {
		a := symmetricMatrix(r, n)
		x := append([]float64(nil), a...)
		values := make([]float64, n)
		if !EigenSym(n, x, n, values, true) {
			t.Fatal("no")
		}
		res, orth := 0.0, 0.0
		for i := range n {
			v := x[i*n : (i+1)*n]
			for j := range n {
				av := Dot64(a[j*n:(j+1)*n], v)
				res = max(res, math.Abs(av-values[i]*v[j]))
				o := Dot64(x[j*n:(j+1)*n], v)
				if i == j {
					o--
				}
				orth = max(orth, math.Abs(o))
			}
		}
		y := append([]float64(nil), a...)
		v2 := make([]float64, n)
		EigenSym(n, y, n, v2, false)
		d := 0.0
		for i := range n {
			d = max(d, math.Abs(values[i]-v2[i]))
		}
		t.Log(n, res, orth, d)
	}
}

func BenchmarkEigenSym(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 1000
	a := symmetricMatrix(r, n)
	work, values := make([]float64, n*n), make([]float64, n)
	for b.Loop() {
		copy(work, a)
		EigenSym(n, work, n, values, true)
	}
}
