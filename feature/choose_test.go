package feature

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// gramMat is the Gram matrix of rows, by single values.
func gramMat(k kernel.Kernel, x *matrix.Dense) *mat.SymDense {
	gram := mat.NewSymDense(x.Rows, nil)
	for i := range x.Rows {
		for j := range i + 1 {
			gram.SetSym(i, j, k.Eval(x.Row(i), x.Row(j)))
		}
	}
	return gram
}

// Of rows with a plain law, each is chosen by blocks with rejections as often as one by one:
// pairs of pivots (p, q) have probability d_p/Σd · d_q'/Σd', d' the diagonal after p.
func TestRandomPivotsFollowTheSchurComplement(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, _ := someRows(6, 3)
	k := kernel.Kernel{Name: "exp", Gamma: 0.3} // with a diagonal that varies
	gram := gramMat(k, x.Dense)
	trace := mat.Trace(gram)
	const n = 20000
	var count [6][6]float64
	for seed := range uint64(n) {
		f, err := newPartial(t.Context(), k, x, 2)
		if err != nil {
			t.Fatal(err)
		}
		stream := random.New(seed, "test")
		for len(f.pivots) < 2 {
			if err := f.random(stream, 2-len(f.pivots)); err != nil {
				t.Fatal(err)
			}
		}
		count[f.pivots[0]][f.pivots[1]]++
	}
	for p := range 6 {
		rest, sum := [6]float64{}, 0.0
		for q := range 6 {
			rest[q] = gram.At(q, q) - gram.At(q, p)*gram.At(p, q)/gram.At(p, p)
			sum += rest[q]
		}
		for q := range 6 {
			want := 0.0
			if p != q {
				want = gram.At(p, p) / trace * rest[q] / sum
			}
			if got := count[p][q] / n; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/n)+1e-12 {
				t.Errorf("pivots %d, %d come with frequency %.4f, want %.4f", p, q, got, want)
			}
		}
	}
}

// F is the Cholesky factor: FFᵀ is K in the pivots' rows and columns, what is left is the
// diagonal of the Schur complement, and after all rows FFᵀ is K.
func TestPartialCholeskyIsTheSchurComplement(t *testing.T) {
	x, sparse := someRows(40, 8)
	for _, k := range []kernel.Kernel{rbf, poly(0.2, 3, 1), laplacian} {
		gram := gramMat(k, x.Dense)
		for _, m := range []int{7, 40} {
			for _, rows := range []matrix.Rows{x, sparse} {
				f, err := newPartial(t.Context(), k, rows, m)
				if err != nil {
					t.Fatal(err)
				}
				stream := random.New(1, "test")
				for len(f.pivots) < m {
					if err := f.random(stream, min(5, m-len(f.pivots))); err != nil {
						t.Fatal(err)
					}
				}
				trace := 0.0
				for i := range 40 {
					for j := range 40 {
						ff := 0.0
						for c, v := range f.row(i)[:m] {
							ff += v * f.row(j)[c]
						}
						exact := m == 40 || slices.Contains(f.pivots, i) || slices.Contains(f.pivots, j)
						if rest := gram.At(i, j) - ff; exact && math.Abs(rest) > 1e-11*gram.At(i, i) {
							t.Errorf("%v, %d pivots: (%d, %d) is off by %g", k, m, i, j, rest)
						} else if i == j {
							trace += rest
							if math.Abs(rest-f.left[i]) > 1e-11*gram.At(i, i) {
								t.Errorf("%v, %d pivots: %g is left of row %d, not %g", k, m, rest, i, f.left[i])
							}
						}
					}
				}
				if math.Abs(trace-f.trace()) > 1e-10*f.whole {
					t.Errorf("%v, %d pivots: the trace is %g, not %g", k, m, trace, f.trace())
				}
			}
		}
	}
}

// With every row kept for certain, the scores are exactly the diagonal of K(K + λI)⁻¹; of a
// sample they are near it, and never far below.
func TestLeverageScores(t *testing.T) {
	x := clustered(200, 5, 3)
	k := kernel.Kernel{Name: "rbf", Gamma: 0.1}
	gram := gramMat(k, x.Dense)
	c := choice{t.Context(), k, x, 60, 1}
	rows, sure := make([]int, 200), make([]float64, 200)
	for i := range rows {
		rows[i], sure[i] = i, 1
	}
	exact := func(lambda float64) []float64 {
		ridged := mat.NewSymDense(200, nil)
		ridged.CopySym(gram)
		for i := range 200 {
			ridged.SetSym(i, i, gram.At(i, i)+lambda)
		}
		var inverse, product mat.Dense
		if err := inverse.Inverse(ridged); err != nil {
			t.Fatal(err)
		}
		product.Mul(gram, &inverse)
		scores := make([]float64, 200)
		for i := range scores {
			scores[i] = product.At(i, i)
		}
		return scores
	}
	plain, err := gramRows(t.Context(), k, x, x)
	if err != nil {
		t.Fatal(err)
	}
	many := math.Log(60)
	lambda := ridge(200, plain, sure, 3)
	got, err := c.scores(rows, rows, sure, many)
	if err != nil {
		t.Fatal(err)
	}
	want := exact(lambda)
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-9 {
			t.Errorf("score %d is %.9g, want %.9g", i, v, want[i])
		}
	}
	// A uniform pilot of half of the rows.
	var kept []int
	chance := slices.Repeat([]float64{0.5}, 100)
	for i := range 100 {
		kept = append(kept, 2*i+i%2)
	}
	half := matrix.Rows{Dense: gather(x, kept)}
	if plain, err = gramRows(t.Context(), k, half, half); err != nil {
		t.Fatal(err)
	}
	lambda = ridge(100, plain, chance, 3)
	want = exact(lambda)
	if got, err = c.scores(rows, kept, chance, many); err != nil {
		t.Fatal(err)
	}
	ridged := gramMat(k, half.Dense)
	for i, p := range chance {
		ridged.SetSym(i, i, ridged.At(i, i)+lambda*p)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(ridged); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		kept := mat.NewVecDense(100, nil)
		for j := range 100 {
			kept.SetVec(j, k.Eval(x.Dense.Row(i), half.Dense.Row(j)))
		}
		if formula := (1 - mat.Inner(kept, &inverse, kept)) / lambda; math.Abs(v-min(1, formula)) > 1e-9 {
			t.Errorf("by a pilot, score %d is %.9g, want %.9g", i, v, formula)
		}
		if v < 0.5*want[i] || v > 2.5*want[i]+1e-3 {
			t.Errorf("by a pilot, score %d is %.4g, want about %.4g", i, v, want[i])
		}
	}
}

// λ is what greedy pivots leave of the trace over their number.
func TestRidgeIsTheRestOfTheTrace(t *testing.T) {
	gram := []float64{4, 2, 0, 2, 3, 0, 0, 0, 1}
	for k, want := range map[int]float64{1: (3 - 1) + 1, 2: 1.0 / 2} {
		if got := ridge(3, gram, []float64{1, 1, 1}, k); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d pivots: λ is %g, want %g", k, got, want)
		}
	}
	// Each row stands for two: all entries count twice.
	if got := ridge(3, gram, []float64{0.5, 0.5, 0.5}, 1); math.Abs(got-6) > 1e-12 {
		t.Errorf("λ is %g, want 6", got)
	}
}

func TestWeightedChoiceFollowsTheWeights(t *testing.T) {
	weights := []float64{1, 2, 0, 5}
	const n = 20000
	var first [4]float64
	for seed := range uint64(n) {
		got := weightedChoice([]int{0, 1, 2, 3}, weights, 1, random.New(seed, "test"))
		first[got[0]]++
	}
	for i, w := range weights {
		p := w / 8
		if f := first[i] / n; math.Abs(f-p) > 4*math.Sqrt(p*(1-p)/n) {
			t.Errorf("item %d comes with frequency %.4f, want %.4f", i, f, p)
		}
	}
	if got := weightedChoice([]int{7, 8, 9, 4}, weights, 3, random.New(1, "test")); !slices.Equal(got, []int{4, 7, 8}) {
		t.Errorf("three of three with weights: %v", got)
	}
}

// On small sets the search ends where no swap helps, and on most where no set of medoids is
// better.
func TestMedoidsAgainstAllSets(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	best := 0
	const sets = 60
	for seed := range uint64(sets) {
		x := clustered(12, 2, seed)
		d, err := featureDistances(choice{ctx: t.Context(), kernel: rbf, sample: x}, x)
		if err != nil {
			t.Fatal(err)
		}
		cost := func(medoids []int) float64 {
			sum := 0.0
			for i := range 12 {
				least := float32(math.MaxFloat32)
				for _, h := range medoids {
					least = min(least, d[i*12+h])
				}
				sum += float64(least)
			}
			return sum
		}
		for m := 1; m <= 4; m++ {
			p := newMedoids(12, d)
			p.seeds(m, random.New(seed, "test"))
			start := p.cost()
			if err := p.improve(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := p.cost()
			if math.Abs(got-cost(p.medoid)) > 1e-6 || got > start+1e-6 {
				t.Fatalf("the cost of %v is %g, not %g; it was %g", p.medoid, cost(p.medoid), got, start)
			}
			for at := range p.medoid {
				for c := range 12 {
					swapped := slices.Clone(p.medoid)
					if swapped[at] = c; cost(swapped) < got-1e-5 {
						t.Errorf("%v would be better than %v: %g, not %g", swapped, p.medoid, cost(swapped), got)
					}
				}
			}
			least := math.Inf(1)
			for set := range 1 << 12 {
				var medoids []int
				for i := range 12 {
					if set>>i&1 == 1 {
						medoids = append(medoids, i)
					}
				}
				if len(medoids) == m {
					least = min(least, cost(medoids))
				}
			}
			if got <= least+1e-5 {
				best++
			}
		}
	}
	if best < 4*sets*8/10 {
		t.Errorf("%d of %d searches end at the best set", best, 4*sets)
	}
}
