package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sums of exact products in float64, of widths around those of the kernels and of rows around
// a block, are those of plain loops, and nothing else of C is touched.
func TestWideColumnsAreTheSums(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 1))
		for _, m := range []int{1, 7, 8, 16, 33, 100} {
			for _, n := range []int{1, 2, 3, 5, 8, 9, 12, 13, 30} {
				for _, k := range []int{1, 5, columnRows, 2*columnRows + 3} {
					if testing.Short() && k > columnRows && n != 9 {
						continue
					}
					a, b := numbers[float32](r, k*(m+3)), numbers[float64](r, k*(n+1))
					c := numbers[float64](r, m*(n+2))
					before := append([]float64(nil), c...)
					GemmAddTNWide(m, n, k, a, m+3, b, n+1, c, n+2)
					for i := range m {
						for j := range n + 2 {
							want := before[i*(n+2)+j]
							size := math.Abs(want)
							if j < n {
								for l := range k {
									v := float64(a[l*(m+3)+i]) * b[l*(n+1)+j]
									want, size = want+v, size+math.Abs(v)
								}
							}
							if math.Abs(c[i*(n+2)+j]-want) > float64(k+1)*0x1p-52*size {
								t.Fatalf("m = %d, n = %d, k = %d at %d, %d: %g, want %g", m, n, k, i, j, c[i*(n+2)+j], want)
							}
						}
					}
				}
			}
		}
	})
}

// An element of C is the same to the bit wherever its columns of A and B stand, and whichever
// vector instructions compute it.
func TestWideColumnsDoNotDependOnTheirNeighbours(t *testing.T) {
	var levels [][]float64 // Go first, which does not fuse
	defer func() {
		if len(levels) > 2 && !slices.Equal(levels[1], levels[2]) {
			t.Error("AVX2 and AVX-512 give other bits")
		}
	}()
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 2))
		const m, n, k = 70, 13, 40
		a, b := numbers[float32](r, k*m), numbers[float64](r, k*n)
		whole := make([]float64, m*n)
		GemmAddTNWide(m, n, k, a, m, b, n, whole, n)
		levels = append(levels, whole)
		for i := range m {
			for j := range n {
				one := []float64{0}
				GemmAddTNWide(1, 1, k, a[i:], m, b[j:], n, one, 1)
				if one[0] != whole[i*n+j] {
					t.Fatalf("element %d, %d is %g alone and %g in the whole", i, j, one[0], whole[i*n+j])
				}
			}
		}
	})
}

func BenchmarkWideColumns(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const d, rows = 4096, 1024
	z := numbers[float32](r, rows*d)
	for _, k := range []int{2, 8, 11} {
		y, v := numbers[float64](r, rows*k), make([]float64, d*k)
		b.Run(fmt.Sprintf("%dx%dx%d", rows, d, k), func(b *testing.B) {
			for b.Loop() {
				GemmAddTNWide(d, k, rows, z, d, y, k, v, k)
			}
			b.ReportMetric(2*float64(rows*d*k)/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GFLOP/s")
		})
	}
}
