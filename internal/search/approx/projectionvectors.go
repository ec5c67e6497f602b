package approx

import (
	"cmp"
	"math"
	"slices"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// ProjectionVectors are a sample of the random vectors in the feature space of a polynomial
// kernel whose inner products a random projection takes, with the factors of their coordinates.
// The coordinates of a valid projection are independent; those of single products φ(r) are not if
// they have common factors, and those of sums of t of them become so by the central limit theorem
// (López-Sánchez, "Low computational cost machine learning", 2019, sections 3.3 and 4.3).
type ProjectionVectors struct {
	// X holds one vector per row, with coordinates of variance 1 except for the squares
	// of QuadraticVectors.
	X *matrix.Dense

	// Factors are, for each coordinate in X, the entries of r (or of r_1, r_2, … one after the other)
	// whose product it is, ascending.
	Factors [][]int
}

// VectorOptions are the degree p of the projection vectors of a map, how many terms t they add up, and the sparsity s of the
// entries of a term, 0 if they are normal; ok is false for maps that have no such vectors.
func VectorOptions(cfg feature.Config) (p, t int, s float64, ok bool) {
	switch p, t, s = cfg.Kernel.Degree, max(cfg.T, 1), cfg.Sparsity; cfg.Map {
	case feature.PKRP:
		if s == 0 && cfg.Entries == "sparse" {
			s = 3
		}
		return p, t, s, true
	case feature.D2PKRP:
		return 2, cmp.Or(cfg.T, 2), cmp.Or(s, 3), true
	}
	return 0, 0, 0, false
}

// VectorsOf draws n projection vectors of t terms each of a map that has them, of rows of d dimensions.
func VectorsOf(cfg feature.Config, n, d, t int, seed uint64) ProjectionVectors {
	p, _, s, _ := VectorOptions(cfg)
	if cfg.Map == feature.D2PKRP {
		return QuadraticVectors(n, d, t, s, seed)
	}
	return TensorVectors(n, d, p, t, s, seed)
}

// QuadraticVectors draws n vectors Σ_{i≤t} φ(r_i) of the map d2pk-rp, with φ(r) = (r_1², …, r_d², √2
// r_1r_2, √2 r_1r_3, …) and d entries √s/(2t)^¼·{±1 with probability 1/(2s) each, else 0}
// (equations 3.5 and 3.9; no term is subtracted, as in figures 3.1 and 3.2). With t = 0 the entries
// are drawn from Achlioptas's distribution in the feature space itself, for comparison.
func QuadraticVectors(n, d, t int, s float64, seed uint64) ProjectionVectors {
	var v ProjectionVectors
	for i := range d {
		v.Factors = append(v.Factors, []int{i, i})
	}
	for i := range d {
		for j := i + 1; j < d; j++ {
			v.Factors = append(v.Factors, []int{i, j})
		}
	}
	sparse := sparseEntries(random.New(seed, "approx.vectors.quadratic"), s)
	if t == 0 {
		return v.independent(n, sparse)
	}
	entry := math.Pow(2*float64(t), -0.25)
	return v.sums(n, d, t, func() float64 { return entry * sparse() }, func(factors []int) float64 {
		if factors[0] == factors[1] {
			return 1
		}
		return math.Sqrt2
	})
}

// sparseEntries draws √s·{±1 with probability 1/(2s) each, else 0}.
func sparseEntries(stream *random.Stream, s float64) func() float64 {
	return func() float64 {
		switch u := stream.Uniform(); {
		case u < 1/(2*s):
			return math.Sqrt(s)
		case u < 1/s:
			return -math.Sqrt(s)
		}
		return 0
	}
}

// MostCoordinates is the largest number of coordinates of TensorVectors.
const MostCoordinates = 128

// TensorVectors draws n vectors 1/√t Σ_{i≤t} r_1 ⊗ … ⊗ r_p of the map pk-rp, in dᵖ dimensions
// (equation 4.7), with normal entries, or with sparse ones as in QuadraticVectors if s is not 0.
// With t = 0 such entries are drawn in the feature space itself. If there are more than
// MostCoordinates coordinates it has a random choice of so many: what two of them share does not depend
// on the others.
func TensorVectors(n, d, p, t int, s float64, seed uint64) ProjectionVectors {
	v := ProjectionVectors{Factors: tensorFactors(d, p, seed)}
	stream := random.New(seed, "approx.vectors.tensor")
	draw := stream.Normal
	if s != 0 {
		draw = sparseEntries(stream, s)
	}
	if t == 0 {
		return v.independent(n, draw)
	}
	scale := 1 / math.Sqrt(float64(t))
	return v.sums(n, d*p, t, draw, func([]int) float64 { return scale })
}

// tensorFactors are the factors of the coordinates of r_1 ⊗ … ⊗ r_p, or of some of them.
func tensorFactors(d, p int, seed uint64) [][]int {
	all := [][]int{nil}
	if math.Pow(float64(d), float64(p)) <= MostCoordinates {
		for j := range p {
			var longer [][]int
			for _, f := range all {
				for i := range d {
					longer = append(longer, append(append([]int(nil), f...), j*d+i))
				}
			}
			all = longer
		}
		return all
	}
	all = nil
	stream := random.New(seed, "approx.vectors.coordinates")
	for len(all) < MostCoordinates {
		f := make([]int, p)
		for j := range f {
			f[j] = j*d + stream.Intn(d)
		}
		if !slices.ContainsFunc(all, func(g []int) bool { return slices.Equal(f, g) }) {
			all = append(all, f)
		}
	}
	return all
}

// independent draws all coordinates independently.
func (v ProjectionVectors) independent(n int, draw func() float64) ProjectionVectors {
	v.X = matrix.NewDense(n, len(v.Factors))
	for i := range v.X.Data {
		v.X.Data[i] = float32(draw())
	}
	return v
}

// sums draws the sums of t products of the entries of vectors r, with factors of their own.
func (v ProjectionVectors) sums(n, entries, t int, draw func() float64, factor func(factors []int) float64) ProjectionVectors {
	v.X = matrix.NewDense(n, len(v.Factors))
	r, sum := make([]float64, entries), make([]float64, len(v.Factors))
	for i := range n {
		clear(sum)
		for range t {
			for j := range r {
				r[j] = draw()
			}
			for c, factors := range v.Factors {
				product := factor(factors)
				for _, f := range factors {
					product *= r[f]
				}
				sum[c] += product
			}
		}
		for c, s := range sum {
			v.X.Row(i)[c] = float32(s)
		}
	}
	return v
}

// Dependence sums up how the coordinates of vectors depend on one another: means over pairs of
// different coordinates.
type Dependence struct {
	// Correlation is the mean absolute value of Pearson's.
	Correlation float64

	// Disjoint and Common are mean distance correlations, of pairs without a common
	// factor and of pairs with at least one.
	Disjoint, Common float64
}

// Dependence measures the sample. Coordinates that do not vary count as independent.
func (v ProjectionVectors) Dependence() Dependence {
	var d Dependence
	c := v.X.Cols
	distance, linear := DistanceCorrelations(v.X), correlations(v.X)
	disjoint, common := 0.0, 0.0
	for i := range c {
		for j := range i {
			d.Correlation += math.Abs(linear[i*c+j])
			if share(v.Factors[i], v.Factors[j]) {
				d.Common += distance[i*c+j]
				common++
			} else {
				d.Disjoint += distance[i*c+j]
				disjoint++
			}
		}
	}
	d.Correlation /= max(1, common+disjoint)
	d.Common /= max(1, common)
	d.Disjoint /= max(1, disjoint)
	return d
}

func share(a, b []int) bool {
	for _, f := range a {
		for _, g := range b {
			if f == g {
				return true
			}
		}
	}
	return false
}

// correlations is the matrix of Pearson's correlations of columns, 0 where one does not vary.
func correlations(x *matrix.Dense) []float64 {
	n, d := float64(x.Rows), x.Cols
	mean, co := make([]float64, d), make([]float64, d*d)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += float64(v) / n
		}
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j, v := range row {
			for k, w := range row {
				co[j*d+k] += (float64(v) - mean[j]) * (float64(w) - mean[k])
			}
		}
	}
	deviation := make([]float64, d)
	for j := range d {
		deviation[j] = math.Sqrt(co[j*d+j])
	}
	for j := range d {
		for k := range d {
			if v := deviation[j] * deviation[k]; v > 0 {
				co[j*d+k] /= v
			}
		}
	}
	return co
}
