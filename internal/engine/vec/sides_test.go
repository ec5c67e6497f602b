package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The sums are their definition, and have the same bits at every level.
func TestSideSumsAreTheirDefinition(t *testing.T) {
	var first [][]float32
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(33, 1))
		var all [][]float32
		for _, n := range []int{16, 48, 1024} {
			for _, d := range []int{1, 2, 3, 4, 5, 11} {
				ldz := n + 3
				z, c, u := numbers[float32](r, d*ldz), numbers[float32](r, n), numbers[float32](r, d)
				for i := range z {
					if r.IntN(3) == 0 {
						z[i] = u[i/ldz] // neither side
					}
				}
				if d > 2 {
					u[1], u[2] = float32(math.Inf(1)), float32(math.NaN())
				}
				dst := make([]float32, d)
				SideSums32(dst, u, c, z[:len(z)-3], ldz)
				for k := range d {
					want, size := 0.0, 0.0
					for j, v := range c {
						switch x := z[k*ldz+j]; {
						case x < u[k]:
							want += float64(v)
						case x > u[k]:
							want -= float64(v)
						}
						size += math.Abs(float64(v))
					}
					// A lane adds n/16 numbers and 16 lanes follow, two sums each.
					if bound := float64(n/Lanes+Lanes+2) * 0x1p-24 * size; math.Abs(float64(dst[k])-want) > bound {
						t.Fatalf("%d terms, dimension %d of %d: %g, want %g", n, k, d, dst[k], want)
					}
				}
				all = append(all, dst)
			}
		}
		if first == nil {
			first = all
		}
		for i := range all {
			if !slices.Equal(first[i], all[i]) {
				t.Errorf("case %d has other bits: %v and %v", i, first[i], all[i])
			}
		}
	})
	SideSums32(nil, nil, make([]float32, 16), nil, 16)
	one := []float32{7}
	if SideSums32(one, []float32{1}, nil, nil, 0); one[0] != 0 {
		t.Errorf("no terms give %g", one[0])
	}
}

func BenchmarkSideSums(b *testing.B) {
	r := rand.New(rand.NewPCG(34, 1))
	const n, d = 1024, 16
	z, c, u, dst := numbers[float32](r, n*d), numbers[float32](r, n), numbers[float32](r, d), make([]float32, d)
	for b.Loop() {
		SideSums32(dst, u, c, z, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*d), "ns/term")
}
