package approx

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// ranked are centred numbers with the sums needed for their distances.
type ranked struct {
	v        []float64
	order    []int     // of the numbers, ascending
	rank     []int     // of each number, from 0, ties broken by the place
	rowSums  []float64 // Σ_j |v_i-v_j|
	total    float64   // of these
	variance float64   // dCov² of v with itself, times n²
}

func newRanked(values []float64) *ranked {
	n := len(values)
	r := &ranked{v: slices.Clone(values), order: make([]int, n), rank: make([]int, n), rowSums: make([]float64, n)}
	mean := 0.0
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("approx: number %d is %g", i+1, v))
		}
		mean += v / float64(n)
		r.order[i] = i
	}
	sum, square := 0.0, 0.0
	for i := range r.v {
		r.v[i] -= mean
		sum += r.v[i]
		square += r.v[i] * r.v[i]
	}
	slices.SortStableFunc(r.order, func(i, j int) int {
		switch {
		case r.v[i] < r.v[j]:
			return -1
		case r.v[i] > r.v[j]:
			return 1
		}
		return 0
	})
	below := 0.0
	for k, i := range r.order {
		r.rank[i] = k
		// Those before are k, and below v_i by it each; those after the other way round.
		r.rowSums[i] = float64(2*k-n)*r.v[i] - 2*below + sum
		below += r.v[i]
		r.total += r.rowSums[i]
	}
	if n > 0 && r.v[r.order[0]] < r.v[r.order[n-1]] {
		// Σ_ij |v_i-v_j|² = 2nΣv² - 2(Σv)².
		r.variance = r.centred(2*float64(n)*square-2*sum*sum, r)
	}
	return r
}

// centred is Σ A_ij·B_ij = Σ a_ij·b_ij - 2/n Σ_i a_i.·b_i. + a..b../n².
func (r *ranked) centred(products float64, s *ranked) float64 {
	n := float64(len(r.v))
	rows := 0.0
	for i, a := range r.rowSums {
		rows += a * s.rowSums[i]
	}
	return max(0, products-2*rows/n+r.total*s.total/(n*n))
}

// correlation returns the distance correlation of pairs of numbers (x_i, y_i) (Székely,
// Rizzo and Bakirov, "Measuring and testing dependence by correlation of distances", 2007,
// definition 5): with a_ij = |x_i-x_j|, b_ij = |y_i-y_j|, both centred by rows and columns to A and B,
//
//	dCor = √(dCov²(x, y)/√(dCov²(x, x)·dCov²(y, y))), dCov²(x, y) = 1/n² Σ A_ij·B_ij
//
// In the limit it is 0 if and only if x and y are independent, and 1 if one is a linear function
// of the other. Of n pairs of independent numbers it is about 1/√n, not 0. It is 0 if all x are
// equal, or all y.
//
// It takes O(n log n) time: Σ a_ij·b_ij is summed in the order of x, with the numbers so far in a
// tree in the order of y (after Huo and Székely, "Fast computing for distance covariance", 2016).
func (r *ranked) correlation(s *ranked) float64 {
	if !(r.variance > 0 && s.variance > 0) {
		return 0
	}
	return math.Sqrt(r.centred(r.products(s), s) / math.Sqrt(r.variance*s.variance))
}

// products is Σ_ij |x_i-x_j|·|y_i-y_j|. In the order of x, each pair is (x_j-x_i)(y_j-y_i), with the
// other sign if y_j is less.
func (r *ranked) products(s *ranked) float64 {
	n := len(r.v)
	tree := make([][4]float64, n+1) // of counts, Σx, Σy and Σxy by the rank of y (Fenwick)
	var all [4]float64
	sum := 0.0
	for _, j := range r.order {
		x, y := r.v[j], s.v[j]
		var less [4]float64
		for k := s.rank[j]; k > 0; k -= k & -k {
			for c, v := range tree[k] {
				less[c] += v
			}
		}
		of := func(t [4]float64) float64 { return t[0]*x*y - x*t[2] - y*t[1] + t[3] }
		sum += 2*of(less) - of(all)
		add := [4]float64{1, x, y, x * y}
		for c, v := range add {
			all[c] += v
		}
		for k := s.rank[j] + 1; k <= n; k += k & -k {
			for c, v := range add {
				tree[k][c] += v
			}
		}
	}
	return 2 * sum
}

// DistanceCorrelations returns the matrix of distance correlations of the columns of x, d×d, row by
// row. It takes O(d²·n log n) time and 40dn bytes.
func DistanceCorrelations(x *matrix.Dense) []float64 {
	d := x.Cols
	columns := make([]*ranked, d)
	for j := range columns {
		v := make([]float64, x.Rows)
		for i := range v {
			v[i] = float64(x.Row(i)[j])
		}
		columns[j] = newRanked(v)
	}
	all := make([]float64, d*d)
	vec.Parallel(d, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range i + 1 {
				all[i*d+j] = columns[i].correlation(columns[j])
			}
		}
	})
	for i := range d {
		for j := range i {
			all[j*d+i] = all[i*d+j]
		}
	}
	return all
}
