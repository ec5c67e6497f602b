package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairRows makes n rows of d dimensions for a sum, of numbers that float32 holds: 0 for a
// third of them, as small or as large as can be for some of the others if extreme.
func pairRows(r *rand.Rand, sum PairSum, n, d int, extreme bool) []float64 {
	width := sum.Width(d)
	stride := width / sum.Arrays()
	x := make([]float64, n*width)
	for i := range n {
		for j := range d {
			row := x[i*width+j:]
			v := float64(float32(r.ExpFloat64()))
			switch r.IntN(6) {
			case 0, 1:
				v = 0
			case 2:
				if extreme {
					v = []float64{math.SmallestNonzeroFloat32, math.MaxFloat32, 1e-30, 1e30}[r.IntN(4)]
				}
			}
			row[0] = v
			switch sum {
			case SumEntropy, SumWeightedEntropy:
				if v > 0 {
					row[stride] = math.Log(v)
				}
			case SumExcess:
				row[stride] = 1 / (1 + v)
			}
			if sum == SumWeightedChi2 || sum == SumWeightedMin || sum == SumWeightedEntropy {
				if v > 0 {
					row[(sum.Arrays()-1)*stride] = math.Pow(v, 0.25)
				}
			}
		}
	}
	return x
}

// pairSum is a sum by its definition, SumExcess as 1 + itself.
func pairSum(sum PairSum, d int, x, y []float64) float64 {
	stride := sum.Width(d) / sum.Arrays()
	total, product := 0.0, 1.0
	for j := range d {
		v, w := x[j], y[j]
		var v2, w2, v3, w3 float64
		if sum.Arrays() > 1 {
			v2, w2 = x[stride+j], y[stride+j]
		}
		if sum.Arrays() > 2 {
			v3, w3 = x[2*stride+j], y[2*stride+j]
		}
		both := v > 0 && w > 0
		switch sum {
		case SumChi2, SumWeightedChi2:
			if sum == SumChi2 {
				v2, w2 = 1, 1
			}
			if both {
				total += v2 * w2 / (1/v + 1/w)
			}
		case SumChi2Distance:
			if v != w {
				total += (v - w) * (v - w) / (v + w)
			}
		case SumMin:
			total += min(v, w)
		case SumWeightedMin:
			total += v2 * w2 * min(v, w)
		case SumAbs:
			total += math.Abs(v - w)
		case SumEntropy, SumWeightedEntropy:
			if sum == SumEntropy {
				v3, w3 = 1, 1
			}
			if both {
				total += v3 * w3 * (v*math.Log1p(w/v) + w*math.Log1p(v/w))
			}
		case SumExcess:
			product *= 1 + (v-w)*(v-w)*v2*w2
		}
	}
	if sum == SumExcess {
		return product
	}
	return total
}

// Every term is ≥ 0 and within some 10⁻¹⁵ of itself.
func TestPairSumsAreTheirDefinitions(t *testing.T) {
	const canary = 1e300
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 5))
		for sum := range PairSum(pairSums) {
			for _, shape := range [][3]int{{1, 1, 1}, {3, 31, 2}, {2, 32, 3}, {2, 33, 4}, {5, 70, 5}, {3, 64, 63},
				{2, 40, 64}, {2, 20, 65}, {1, 10, 131}, {3, 5, 0}, {0, 5, 3}, {3, 0, 3}} {
				n, m, d := shape[0], shape[1], shape[2]
				for _, extreme := range []bool{false, true} {
					x, y, width := pairRows(r, sum, n, d, extreme), pairRows(r, sum, m, d, extreme), sum.Width(d)
					if n > 1 && m > 1 {
						copy(x[width:][:width], y[width:]) // equal rows
					}
					p := NewPairs(sum, d, m+3)
					for i := range m {
						p.Set(i, y[i*width:][:width])
					}
					ldd := m + 2
					dst := make([]float64, n*ldd)
					for i := range dst {
						dst[i] = canary
					}
					p.Rows(n, m, x, dst, ldd)
					for i := range n {
						for j := range ldd {
							got := dst[i*ldd+j]
							if j >= m {
								if got != canary {
									t.Errorf("sum %d of %v: column %d of row %d is %g", sum, shape, j, i, got)
								}
								continue
							}
							want := pairSum(sum, d, x[i*width:][:width], y[j*width:][:width])
							if sum == SumExcess {
								got++
							}
							if got != want && !(math.Abs(got-want) <= float64(d+8)*0x1p-52*want) &&
								!(sum == SumExcess && math.IsNaN(got) && math.IsInf(want, 1)) {
								t.Errorf("sum %d of %v, extreme %t: %g for rows %d and %d, want %g", sum, shape, extreme, got, i, j, want)
							}
						}
					}
				}
			}
		}
	})
}

// Σ |x-y| of rows that are 0 but for a few numbers, as those of categories are, and next to equal to others.
func TestSumsOfSparseRowsAreTheirDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 7))
		for _, d := range []int{48, 49, 131, 400} {
			const n, m = 70, 45
			width := SumAbs.Width(d)
			p, x, y := NewPairs(SumAbs, d, m), make([]float64, n*width), make([]float64, m*width)
			for i := range 5 * n {
				x[i/5*width+r.IntN(d/10)*r.IntN(10)] = r.NormFloat64()
			}
			for j := range 5 * m {
				y[j/5*width+r.IntN(d/10)*r.IntN(10)] = r.NormFloat64()
			}
			copy(x[width:][:width], y[3*width:]) // equal rows
			copy(x[2*width:][:width], y[4*width:])
			x[2*width+1] += 1e-9
			for j := range m {
				p.Set(j, y[j*width:][:width])
			}
			sparse, dst := 0, make([]float64, n*m)
			p.Rows(n, m, x, dst, m)
			for i := range n {
				row := x[i*width:][:width]
				if p.mostlyZero(row) {
					sparse++
				}
				for j := range m {
					want := pairSum(SumAbs, d, row, y[j*width:][:width])
					if got := dst[i*m+j]; !(math.Abs(got-want) <= 64*0x1p-52*want) {
						t.Errorf("%d dimensions, rows %d and %d: %g, want %g", d, i, j, got, want)
					}
				}
			}
			if sparse < n/2 {
				t.Errorf("%d dimensions: %d of %d rows are mostly 0", d, sparse, n)
			}
		}
	})
}

// A row of x gives the same whatever rows are beside it, and beside whatever rows those of y
// stand.
func TestPairSumsDependOnTheirRowsAlone(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 6))
		for sum := range PairSum(pairSums) {
			const n, m, d = 4, 50, 70
			x, y, width := pairRows(r, sum, n, d, false), pairRows(r, sum, m, d, false), sum.Width(d)
			p, backwards := NewPairs(sum, d, m), NewPairs(sum, d, m)
			for i := range m {
				p.Set(i, y[i*width:][:width])
				backwards.Set(m-1-i, y[i*width:][:width])
			}
			want, got := make([]float64, n*m), make([]float64, m)
			p.Rows(n, m, x, want, m)
			for i := range n {
				backwards.Rows(1, m, x[i*width:], got, m)
				for j := range m {
					if got[m-1-j] != want[i*m+j] {
						t.Fatalf("sum %d, rows %d and %d: %g, and %g with others", sum, i, j, want[i*m+j], got[m-1-j])
					}
				}
			}
		}
	})
}

func TestPairSumsPanicOnShortSlices(t *testing.T) {
	p := NewPairs(SumMin, 3, 40)
	for i, f := range []func(){
		func() { p.Rows(2, 40, make([]float64, 7), make([]float64, 80), 40) },
		func() { p.Rows(2, 40, make([]float64, 8), make([]float64, 79), 40) },
		func() { p.Rows(2, 65, make([]float64, 8), make([]float64, 130), 65) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("call %d went through", i)
				}
			}()
			f()
		}()
	}
}

func TestPairSumsAllocateNothing(t *testing.T) {
	x, dst := make([]float64, 3*72), make([]float64, 3*40)
	for sum := range PairSum(pairSums) {
		p := NewPairs(sum, 24, 40)
		if n := testing.AllocsPerRun(10, func() { p.Rows(3, 40, x, dst, 40) }); n != 0 {
			t.Errorf("sum %d: %g allocations", sum, n)
		}
	}
}

func BenchmarkPairs(b *testing.B) {
	names := []string{"chi2", "weighted chi2", "chi2 distance", "min", "weighted min", "abs", "entropy", "weighted entropy", "excess"}
	r := rand.New(rand.NewPCG(8, 7))
	for sum := range PairSum(pairSums) {
		for _, d := range []int{128, 1024} {
			b.Run(fmt.Sprintf("%s/d=%d", names[sum], d), func(b *testing.B) {
				const n, m = 64, 256
				x, y, width := pairRows(r, sum, n, d, false), pairRows(r, sum, m, d, false), sum.Width(d)
				p := NewPairs(sum, d, m)
				for i := range m {
					p.Set(i, y[i*width:][:width])
				}
				dst := make([]float64, n*m)
				for b.Loop() {
					p.Rows(n, m, x, dst, m)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*m*d), "ns/term")
			})
		}
	}
}
