// Package moments collects what one pass over rows can tell a linear learner: the weighted
// first and second moments of features and targets. Ridge regression, principal components
// and everything else that follows from them needs no second look at the rows.
package moments

import (
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// statsBlock is how many rows are gathered before they are multiplied. It is part of the
// result's bits: sums have the same order however the rows arrive.
const statsBlock = 512

// narrowFrom is from how many features on the products of a block are summed in float32, in
// half the time. The error that this adds to an element of h is about 3·10⁻⁷ of it, a few
// times what the rounding of the features to float32 has done already.
const narrowFrom = 512

// Stats are the moments of weighted pairs (z, y), z of D features and y of K targets: all
// that ridge regression needs to know of the rows. They are collected in one pass, and
// merging two of them is addition.
//
// Sums run in float64 around a fixed shift, the mean of the first block, so that nothing
// cancels where the mean is large. Memory: 8·(D² + D·K + 512·(D+K)) bytes, and 4·512·D
// more for a large D.
type Stats struct {
	d, k int

	rows   int
	weight float64 // Σw

	shiftZ, shiftY []float64 // nil before the first block
	sumZ, sumY     []float64 // Σw(z-shift), Σw(y-shift)
	h              []float64 // D×D, upper triangle: Σw(z-shift)(z-shift)ᵀ
	v              []float64 // D×K: Σw(z-shift)(y-shift)ᵀ
	yy             []float64 // K: Σw(y-shift)²

	// The block that is being gathered.
	held int
	z    []float64 // 512×D
	y    []float64 // 512×K
	w    []float64 // 512

	narrow []float32 // z, if D is large
}

// New returns the statistics of no rows, for d features and k targets.
func New(d, k int) *Stats {
	if d < 1 || k < 1 {
		panic(fmt.Sprintf("moments: New(%d, %d): both must be positive", d, k))
	}
	return &Stats{
		d: d, k: k,
		sumZ: make([]float64, d), sumY: make([]float64, k),
		h: make([]float64, d*d), v: make([]float64, d*k), yy: make([]float64, k),
		z: make([]float64, statsBlock*d), y: make([]float64, statsBlock*k), w: make([]float64, statsBlock),
	}
}

// Rows is the number of rows added so far.
func (s *Stats) Rows() int { return s.rows + s.held }

// Add adds the rows of z with their targets y (row-major, z.Rows×K) and weights w (nil: all
// 1). The result does not depend on how rows are divided among calls.
func (s *Stats) Add(z *matrix.Dense, y []float64, w []float64) {
	if z.Cols != s.d || len(y) != z.Rows*s.k || w != nil && len(w) != z.Rows {
		panic(fmt.Sprintf("moments: Stats of %d features and %d targets given %d×%d features, %d targets, %d weights",
			s.d, s.k, z.Rows, z.Cols, len(y), len(w)))
	}
	for i := range z.Rows {
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		s.AddRow(z.Row(i), y[i*s.k:(i+1)*s.k], weight)
	}
}

// AddRow is Add for one row.
func (s *Stats) AddRow(z []float32, y []float64, w float64) {
	row := s.z[s.held*s.d : (s.held+1)*s.d]
	clear(row)
	vec.AxpyWide(1, z, row)
	copy(s.y[s.held*s.k:(s.held+1)*s.k], y)
	s.w[s.held] = w
	if s.held++; s.held == statsBlock {
		s.flush()
	}
}

// flush adds the gathered rows to the sums.
func (s *Stats) flush() {
	n := s.held
	if n == 0 {
		return
	}
	s.held = 0
	if s.shiftZ == nil {
		s.shiftZ = mean(s.z, n, s.d)
		s.shiftY = mean(s.y, n, s.k)
	}
	weighted := false
	for i := range n {
		s.weight += s.w[i]
		weighted = weighted || s.w[i] != 1
	}
	vec.Parallel(n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vec.Axpy64(-1, s.shiftZ, s.z[i*s.d:(i+1)*s.d])
			vec.Axpy64(-1, s.shiftY, s.y[i*s.k:(i+1)*s.k])
		}
	})
	if weighted {
		s.addWeighted(n)
	} else {
		s.addPlain(n)
	}
	s.rows += n
}

func (s *Stats) addPlain(n int) {
	for i := range n {
		add(s.sumZ, s.z[i*s.d:(i+1)*s.d])
		y := s.y[i*s.k : (i+1)*s.k]
		add(s.sumY, y)
		for t, x := range y {
			s.yy[t] += x * x
		}
	}
	s.square(n)
	vec.GemmAddTN(s.d, s.k, n, s.z, s.d, s.y, s.k, s.v, s.k)
}

// square adds the products of the gathered rows to h.
func (s *Stats) square(n int) {
	if s.d < narrowFrom {
		vec.SyrkAdd(s.d, n, s.z, s.d, s.h, s.d)
		return
	}
	if s.narrow == nil {
		s.narrow = make([]float32, statsBlock*s.d)
	}
	vec.Parallel(n, 16, func(lo, hi int) {
		narrow := s.narrow[lo*s.d : hi*s.d]
		for j, v := range s.z[lo*s.d : hi*s.d] {
			narrow[j] = float32(v)
		}
	})
	vec.SyrkAddWide(s.d, n, s.narrow, s.d, s.h, s.d)
}

// addWeighted is addPlain for √w·z and √w·y, but the means want w itself.
func (s *Stats) addWeighted(n int) {
	for i := range n {
		w := s.w[i]
		z, y := s.z[i*s.d:(i+1)*s.d], s.y[i*s.k:(i+1)*s.k]
		root := math.Sqrt(w)
		for j, x := range z {
			s.sumZ[j] += w * x
			z[j] = root * x
		}
		for t, x := range y {
			s.sumY[t] += w * x
			s.yy[t] += w * x * x
			y[t] = root * x
		}
	}
	s.square(n)
	vec.GemmAddTN(s.d, s.k, n, s.z, s.d, s.y, s.k, s.v, s.k)
}

// center moves the shift to the mean, so that h, v and yy are the centred moments
// Σw(z-z̄)(z-z̄)ᵀ, Σw(z-z̄)(y-ȳ)ᵀ, Σw(y-ȳ)² and the shifts are z̄ and ȳ.
func (s *Stats) center() {
	s.flush()
	if s.weight == 0 {
		return
	}
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			m := s.sumZ[i] / s.weight
			row := s.h[i*s.d : (i+1)*s.d]
			for j := i; j < s.d; j++ {
				row[j] -= m * s.sumZ[j]
			}
			for t, y := range s.sumY {
				s.v[i*s.k+t] -= m * y
			}
		}
	})
	for t, y := range s.sumY {
		s.yy[t] -= y * y / s.weight
		s.shiftY[t] += y / s.weight
		s.sumY[t] = 0
	}
	for i, z := range s.sumZ {
		s.shiftZ[i] += z / s.weight
		s.sumZ[i] = 0
	}
}

// Moments are the centred moments of rows, as views of the statistics they come from.
type Moments struct {
	D, K int

	Rows   int
	Weight float64 // Σw

	MeanZ, MeanY []float64 // z̄ (D) and ȳ (K)
	H            []float64 // D×D, upper triangle: Σw(z-z̄)(z-z̄)ᵀ
	V            []float64 // D×K: Σw(z-z̄)(y-ȳ)ᵀ
	YY           []float64 // K: Σw(y-ȳ)²
}

// Moments are the moments of all rows so far. They share the memory of s and are valid until
// rows are added to it or it is merged into.
func (s *Stats) Moments() *Moments {
	s.center()
	m := &Moments{D: s.d, K: s.k, Rows: s.rows, Weight: s.weight, MeanZ: s.shiftZ, MeanY: s.shiftY, H: s.h, V: s.v, YY: s.yy}
	if m.MeanZ == nil {
		m.MeanZ, m.MeanY = make([]float64, s.d), make([]float64, s.k)
	}
	return m
}

// Merge adds the rows of o, which has the same sizes and is left as it is but for being
// centred, by the formulas of Chan, Golub and LeVeque (1979): centred moments add up, plus
// the outer product of the difference of the means.
func (s *Stats) Merge(o *Stats) {
	if s.d != o.d || s.k != o.k {
		panic(fmt.Sprintf("moments: Merge of %d×%d into %d×%d", o.d, o.k, s.d, s.k))
	}
	s.center()
	o.center()
	if o.rows == 0 {
		return
	}
	if s.rows == 0 {
		s.shiftZ, s.shiftY = make([]float64, s.d), make([]float64, s.k)
	}
	total := s.weight + o.weight
	f := 0.0
	if total > 0 {
		f = s.weight * o.weight / total
	}
	dz, dy := make([]float64, s.d), make([]float64, s.k)
	for i := range dz {
		dz[i] = o.shiftZ[i] - s.shiftZ[i]
	}
	for t := range dy {
		dy[t] = o.shiftY[t] - s.shiftY[t]
	}
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, other := s.h[i*s.d:(i+1)*s.d], o.h[i*s.d:(i+1)*s.d]
			for j := i; j < s.d; j++ {
				row[j] += other[j] + f*dz[i]*dz[j]
			}
			for t := range dy {
				s.v[i*s.k+t] += o.v[i*s.k+t] + f*dz[i]*dy[t]
			}
		}
	})
	share := 0.0
	if total > 0 {
		share = o.weight / total
	}
	for t := range dy {
		s.yy[t] += o.yy[t] + f*dy[t]*dy[t]
		s.shiftY[t] += share * dy[t]
	}
	for i := range dz {
		s.shiftZ[i] += share * dz[i]
	}
	s.weight = total
	s.rows += o.rows
}

// mean is the plain mean of n rows of length k.
func mean(x []float64, n, k int) []float64 {
	m := make([]float64, k)
	for i := range n {
		add(m, x[i*k:(i+1)*k])
	}
	for j := range m {
		m[j] /= float64(n)
	}
	return m
}

func add(dst, x []float64) { vec.Axpy64(1, x, dst) }
