package vec

import "math"

// Survey32 has statistics of the columns of rows of float32, one element per column. They do not
// depend on the division of the rows into batches.
type Survey32 struct {
	// Shift is the centre of Sum and Square, which avoids cancellation if means are large: Σ(x-shift)
	// and Σ(x-shift)².
	Shift, Sum, Square []float64

	Least, Greatest    []float32
	NonZero, Fractions []int64 // how many are not 0, and how many are not integers
}

// Grow makes room for n columns; new ones have no statistics yet.
func (s *Survey32) Grow(n int) {
	more := n - len(s.Sum)
	if more <= 0 {
		return
	}
	s.Shift, s.Sum, s.Square = append(s.Shift, make([]float64, more)...), append(s.Sum,
		make([]float64, more)...), append(s.Square, make([]float64, more)...)
	s.NonZero, s.Fractions = append(s.NonZero, make([]int64, more)...), append(s.Fractions, make([]int64, more)...)
	s.Least, s.Greatest = append(s.Least, make([]float32, more)...), append(s.Greatest, make([]float32, more)...)
	for j := n - more; j < n; j++ {
		s.Least[j], s.Greatest[j] = float32(math.Inf(1)), float32(math.Inf(-1))
	}
}

// Add adds a number of column j.
func (s *Survey32) Add(j int, v float32) {
	x := float64(v) - s.Shift[j]
	s.Sum[j] += x
	s.Square[j] += float64(x * x)
	if v < s.Least[j] {
		s.Least[j] = v
	}
	if v > s.Greatest[j] {
		s.Greatest[j] = v
	}
	if v != 0 {
		s.NonZero[j]++
	}
	if v != float32(int32(v)) && float64(v) != math.Trunc(float64(v)) {
		s.Fractions[j]++
	}
}

// AddRows adds rows of finite numbers, stride apart, to the first columns.
func (s *Survey32) AddRows(rows, cols int, x []float32, stride int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = x[(rows-1)*stride+cols-1], s.Sum[cols-1]
	Parallel((cols+surveyWidth-1)/surveyWidth, 2, func(lo, hi int) {
		done := s.addBlocks(lo*surveyWidth, min(hi*surveyWidth, cols), rows, x, stride)
		for i := range rows {
			row := x[i*stride:]
			for j := done; j < min(hi*surveyWidth, cols); j++ {
				s.Add(j, row[j])
			}
		}
	})
}

// surveyWidth is how many columns one goroutine takes at least: a cache line.
const surveyWidth = 16
