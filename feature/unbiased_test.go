package feature

import (
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// rowSorts are what the pairs of proofPairsOf are.
var rowSorts = []string{"dense, near", "dense", "dense, far", "sparse", "one-hot", "the same one-hot", "nearly equal"}

// proofPairsOf returns rows 2i and 2i+1 of which are pairs of d dimensions, of the sorts above in turn.
func proofPairsOf(d int, scale float64) *matrix.Dense {
	r := random.New(11, "feature.unbiased", uint64(d))
	m := matrix.NewDense(4*len(rowSorts), d)
	unit := scale / math.Sqrt(float64(d))
	for i := range m.Rows / 2 {
		x, y := m.Row(2*i), m.Row(2*i+1)
		sort := rowSorts[i%len(rowSorts)]
		apart := map[string]float64{"dense, near": 0.5, "dense": 1, "dense, far": 2, "sparse": 1, "nearly equal": 1e-3}[sort]
		for j := range x {
			x[j] = float32(unit * r.Normal())
			y[j] = x[j] + float32(apart*unit*r.Normal())
		}
		if sort == "sparse" {
			for j := range x {
				if r.Intn(4) > 0 {
					x[j] = 0
				}
				if r.Intn(4) > 0 {
					y[j] = 0
				}
			}
		}
		if sort == "one-hot" || sort == "the same one-hot" {
			clear(x)
			clear(y)
			j := r.Intn(d)
			x[j] = float32(scale)
			if sort == "one-hot" {
				j = r.Intn(d)
			}
			y[j] = float32(scale * []float64{0.5, 1, 1.5, 2}[i%4])
		}
	}
	return m
}

// unbiasedCases are all maps with all their options whose z(x)·z(y) is the kernel in the mean.
func unbiasedCases() []mapCase {
	return slices.DeleteFunc(slices.Concat(everyMap(), otherSketchCases(), otherTaylorCases()), func(c mapCase) bool { return c.biased })
}

// proveUnbiased compares the mean of z(x)·z(y) over many seeds with the kernel, within so many standard errors, for rows of d dimensions.
func proveUnbiased(t *testing.T, c mapCase, d, features, seeds int, errors float64) {
	t.Helper()
	scale := c.scale
	if scale == 0 {
		scale = 1.3
	}
	if c.Kernel.Powers() { // whose estimates are skewed, the more so the longer rows are
		scale = min(scale, 0.7)
	}
	x := c.rows(matrix.Rows{Dense: proofPairsOf(d, scale)}).Dense
	pairs := x.Rows / 2
	sums, squares, want := make([]float64, pairs), make([]float64, pairs), make([]float64, pairs)
	rare := make([]float64, pairs) // variance by frequencies so long, or degrees so high, that few seeds have one
	eval := c.want
	if eval == nil {
		eval = c.Kernel.Eval
	}
	for i := range want {
		a, b := x.Row(2*i), x.Row(2*i+1)
		want[i] = eval(a, b)
		if _, waves := c.Kernel.Law(); waves && rowSorts[i%len(rowSorts)] == "nearly equal" {
			rare[i] = 2 * math.Abs(eval(a, a)-want[i]) / float64(features)
		}
	}
	if c.Map == TaylorSketch {
		variance := taylorVariance(c, d, features)
		for i := range rare {
			if rare[i] = variance(x.Row(2*i), x.Row(2*i+1)); math.IsNaN(rare[i]) {
				t.Fatalf("%s of %d dimensions: pair %d has no variance", c, d, i)
			}
		}
	}
	var z matrix.Dense
	sample, _ := someRows(60, d)
	c.wish(features)
	if k, _ := find(c.Map); !k.composed {
		c.Config = Choose(c.Config, d)
	}
	for seed := range seeds {
		c.Seed = uint64(seed + 1)
		m, err := Fit(t.Context(), c.Config, c.rows(sample))
		if err != nil {
			t.Errorf("%s of %d dimensions: %v", c, d, err)
			return
		}
		_, out := m.Dims()
		z.Reshape(x.Rows, out)
		m.Transform(&z, matrix.Rows{Dense: x})
		for i := range want {
			e := dot(z.Row(2*i), z.Row(2*i+1)) - want[i]
			sums[i] += e
			squares[i] += e * e
		}
	}
	n := float64(seeds)
	for i := range want {
		if sort := rowSorts[i%len(rowSorts)]; c.Sparsity > 3 && seeds < 100 && (sort == "one-hot" || sort == "the same one-hot") {
			continue // few seeds have an entry there
		}
		mean := sums[i] / n
		se := math.Sqrt(max(rare[i], squares[i]/n-mean*mean) / (n - 1))
		// Rounding of float32 products leaves a millionth of the norms.
		rounding := 1e-6 * math.Sqrt(norm2(z.Row(2*i))*norm2(z.Row(2*i+1)))
		if c.Map == SORF && c.Kernel.Name == "arccos" && c.Kernel.Degree == 0 && d == 1 {
			rounding += 1.2 / float64(c.Options.Order) // the bias that the documentation tells
		}
		if math.Abs(mean) > errors*se+rounding {
			t.Errorf("%s of %d dimensions, %s: mean %.6g, want %.6g ± %.2g", c, d, rowSorts[i%len(rowSorts)], mean+want[i], want[i], se)
		}
	}
}

// In few dimensions random signs make few directions, and one-hot rows see single elements of what a map multiplies by: every map, with
// all its options, as Choose completes them, is unbiased there too.
func TestEveryMapIsUnbiasedInFewDimensions(t *testing.T) {
	dims := []int{1, 2, 3, 4, 5, 8, 12, 16, 33}
	if testing.Short() {
		dims = []int{1, 3, 8}
	}
	for _, c := range unbiasedCases() {
		for _, d := range dims {
			proveUnbiased(t, c, d, 64, 24, 5.5)
		}
	}
}

func TestEveryMapIsUnbiasedOverManySeeds(t *testing.T) {
	testenv.Long(t, "a bias of a hundredth of the kernel in few dimensions")
	for _, c := range unbiasedCases() {
		for _, d := range []int{1, 2, 3, 4, 5, 8, 12, 16, 33} {
			proveUnbiased(t, c, d, 128, 200, 5)
		}
	}
}
