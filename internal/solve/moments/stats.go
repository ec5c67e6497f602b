package moments

import (
	"fmt"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// statsBlock is the number of rows that are gathered before they are multiplied. It affects the
// bits of the result: sums have the same order however the rows arrive.
const statsBlock = 1024

// atOnce is the number of targets that features are multiplied with at a time, which the kernels process together.
const atOnce = 12

// narrowFrom is the number of features from which on the products of a block are summed in float32, in
// half the time. The error that this adds to an element of h is about 3·10⁻⁷ of it, a few
// times what rounding the features to float32 has already added.
const narrowFrom = 512

// Stats are the moments of weighted pairs (z, y), z of D features and y of K targets: all
// that ridge regression needs to know about the rows. They are collected in one pass, and
// merging two of them is addition. Rows without targets add to the moments of z only.
//
// Products of features are summed around a fixed shift, the mean of the first block, so that
// nothing cancels if the mean is large. From D = 512 on, all sums are of differences z-shift
// in float32. Memory: 8·(D² + D·K) + 4096·D bytes, and 8192·D more for D < 512, plus some
// vectors.
type Stats struct {
	d, k int

	rows   int
	weight float64 // Σw

	// For the rows with targets: the number with a weight above 0, and Σw.
	used     int
	labelled float64

	shiftZ, shiftY []float64 // nil before the first block, and the first row with targets
	centred        bool      // shiftZ is the mean, which float32 need not hold
	sumZ           []float64 // Σw(z-shift)
	sumL, sumY     []float64 // Σw(z-shift), Σw(y-shift) of rows with targets; sumL nil: all have
	h              []float64 // D×D, upper triangle: Σw(z-shift)(z-shift)ᵀ
	v              []float64 // D×K: Σw(z-shift)(y-shift)ᵀ, of rows with targets
	yy             []float64 // K: Σw(y-shift)²

	rough bool // products were summed in float32, if in more features than these

	// The block being gathered.
	held  int
	z     []float32 // statsBlock×D
	y     []float64 // statsBlock×(K+2): targets, the weight, and the weight of rows with targets or 0
	w     []float64 // statsBlock
	blank []bool    // statsBlock: the row has no targets

	wide     []float64 // statsBlock×D, if D is small: z-shift, which is multiplied
	narrow   []float32 // D, else: the shift, less which rows are gathered; nil if they are gathered as they are
	products []float64 // D×atOnce
}

// New returns the statistics of no rows, for d features and k targets.
func New(d, k int) *Stats {
	if d < 1 || k < 1 {
		panic(fmt.Sprintf("moments: New(%d, %d): both must be positive", d, k))
	}
	s := &Stats{
		d: d, k: k,
		sumZ: make([]float64, d), sumY: make([]float64, k),
		h: vec.FreshUpper64(d), v: make([]float64, d*k), yy: make([]float64, k),
	}
	return s
}

// gather allocates the block; statistics that are only merged do without it.
func (s *Stats) gather() {
	s.z, s.y = make([]float32, statsBlock*s.d), make([]float64, statsBlock*(s.k+2))
	s.w, s.blank = make([]float64, statsBlock), make([]bool, statsBlock)
	s.products = make([]float64, s.d*atOnce)
	if s.d < narrowFrom {
		s.wide = make([]float64, statsBlock*s.d)
	}
}

// Dims are the numbers D of features and K of targets.
func (s *Stats) Dims() (d, k int) { return s.d, s.k }

// Rows is the number of rows added so far.
func (s *Stats) Rows() int { return s.rows + s.held }

// Add adds the rows of z with their targets y (row-major, z.Rows×K) and weights w (nil: all
// 1). The result does not depend on how rows are divided among calls.
func (s *Stats) Add(z *matrix.Dense, y []float64, w []float64) {
	if z.Cols != s.d || len(y) != z.Rows*s.k || w != nil && len(w) != z.Rows {
		panic(fmt.Sprintf("moments: Stats of %d features and %d targets given %d×%d features, %d targets, %d weights",
			s.d, s.k, z.Rows, z.Cols, len(y), len(w)))
	}
	for lo := 0; lo < z.Rows; {
		n := min(z.Rows-lo, s.room())
		vec.Parallel(n, gathered, func(from, to int) {
			for i := from; i < to; i++ {
				s.put(i, z.Row(lo+i))
			}
		})
		for i := range n {
			weight := 1.0
			if w != nil {
				weight = w[lo+i]
			}
			s.label(i, y[(lo+i)*s.k:(lo+i+1)*s.k], weight)
		}
		s.take(n)
		lo += n
	}
}

// AddSome is Add for the listed rows of z, given by their numbers in z, y and w.
func (s *Stats) AddSome(rows []int, z *matrix.Dense, y, w []float64) {
	for len(rows) > 0 {
		n := min(len(rows), s.room())
		vec.Parallel(n, gathered, func(from, to int) {
			for i := from; i < to; i++ {
				s.put(i, z.Row(rows[i]))
			}
		})
		for i, r := range rows[:n] {
			weight := 1.0
			if w != nil {
				weight = w[r]
			}
			s.label(i, y[r*s.k:(r+1)*s.k], weight)
		}
		s.take(n)
		rows = rows[n:]
	}
}

// AddRow is Add for one row; y is nil for a row without targets, which counts only for the mean
// and the products of features.
func (s *Stats) AddRow(z []float32, y []float64, w float64) {
	s.room()
	s.put(0, z)
	s.label(0, y, w)
	s.take(1)
}

// gathered is the number of rows that a goroutine takes at a time.
const gathered = 32

// room is the number of rows that fit into the block; it is never 0.
func (s *Stats) room() int {
	if s.z == nil {
		s.gather()
	}
	return statsBlock - s.held
}

// put writes z as the i-th row after the gathered ones.
func (s *Stats) put(i int, z []float32) {
	row := s.z[(s.held+i)*s.d : (s.held+i+1)*s.d]
	copy(row, z)
	if s.narrow != nil {
		vec.Axpy32(-1, s.narrow, row)
	}
}

// label sets the targets and weight of the i-th row after the gathered ones.
func (s *Stats) label(i int, y []float64, w float64) {
	i += s.held
	copy(s.targets(i), y)
	s.w[i], s.blank[i] = w, y == nil
}

// targets are the targets of the i-th gathered row.
func (s *Stats) targets(i int) []float64 { return s.y[i*(s.k+2) : i*(s.k+2)+s.k] }

// take counts n more rows as gathered.
func (s *Stats) take(n int) {
	if s.held += n; s.held == statsBlock {
		s.flush()
	}
}
