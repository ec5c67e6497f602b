package dataset

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Means put in place of a column's value the mean target of the rows that have it: target statistics, also called target or
// mean encoding. They let a learner that measures distances see which values of a category are alike. They replace
// the value because beside it they would tell what the rows' own targets are: given which value it is, and so the mean of
// all its rows, the mean of the other folds says how much its own fold is above it.
type Means struct {
	// Outputs is the number of targets, each with a dimension.
	Outputs int `json:"outputs"`

	// Numbers are the values of a column of numbers, ascending; nil for categories, whose values are numbered as their
	// dimensions would be.
	Numbers []float32 `json:"numbers,omitempty"`

	// Values are the means of each value, Outputs at a time, and last those of any other value. Numbers to predict are
	// less what the model adds to its scores; classes are 1 and -1.
	Values []float32 `json:"values"`
}

// check finds what is wrong with the means of a column that was read from a file.
func (m *Means) check(c *Column) error {
	values := c.oneHot()
	if values == 0 {
		values = len(m.Numbers)
	} else if m.Numbers != nil {
		return fmt.Errorf("it has categories, and means of numbers")
	}
	if m.Outputs < 1 || len(m.Values)%m.Outputs != 0 || len(m.Values)/m.Outputs != values+1 {
		return fmt.Errorf("%d means of %d targets for %d values", len(m.Values), m.Outputs, values)
	}
	if c.Coding != nil && (c.Coding.Kind == CodedDate || c.Coding.Kind == CodedText) {
		return fmt.Errorf("a column coded as %s has no means", c.Coding.Kind)
	}
	for _, v := range m.Values {
		if v-v != 0 {
			return fmt.Errorf("a mean is %g", v)
		}
	}
	for i, v := range m.Numbers {
		if v-v != 0 || i > 0 && m.Numbers[i-1] >= v {
			return fmt.Errorf("number %d of those with a mean, %g, is not in order", i, v)
		}
	}
	return nil
}

// oneHot is the number of dimensions of which a known value sets one; 0 for a number.
func (c *Column) oneHot() int {
	switch {
	case c.Categories != nil:
		return len(c.Categories)
	case c.Coding != nil && c.Coding.Kind == CodedHashed:
		return c.Coding.width()
	}
	return 0
}

// of are the means of a value, by its number; -1 is any other.
func (m *Means) of(value int) []float32 {
	if value < 0 {
		value = len(m.Values)/m.Outputs - 1
	}
	return m.Values[value*m.Outputs:][:m.Outputs]
}

// find is the number of a value of a column of numbers, -1 for none.
func find(numbers []float32, v float32) int {
	if i := sort.Search(len(numbers), func(i int) bool { return numbers[i] >= v }); i < len(numbers) && numbers[i] == v {
		return i
	}
	return -1
}

// Part are the dimensions of a column of categories for one of them, by its number.
func (c *Column) Part(category int) []float32 {
	part := make([]float32, c.Width())
	if c.Means != nil {
		copy(part, c.Means.of(category))
	} else {
		part[category] = 1
	}
	return part
}

// MeanDim is the number of dimensions if all categories had the means of so many targets.
func (s *Schema) MeanDim(outputs int) int {
	dim := s.Dim
	for i := range s.Columns {
		if values := s.Columns[i].oneHot(); values >= leastValues {
			dim -= values - outputs
		}
	}
	return dim
}

// meanRows turn rows as they are without means into those with them.
type meanRows struct {
	dim   int     // of rows without means
	moved []int32 // where each dimension of these is afterwards; -1: nowhere
	means []meanPlace
}

// meanPlace is a column with means.
type meanPlace struct {
	*Means
	from, values int // the dimensions that say which value it is: one for each, or, if values is 0, one number
	at           int // the first dimension of the means
}

// newMeanRows is nil if no column has means.
func newMeanRows(columns []Column) *meanRows {
	m, at := &meanRows{}, 0
	for i := range columns {
		c := &columns[i]
		plain, to := c.plainWidth(), at
		if c.Means != nil {
			m.means = append(m.means, meanPlace{c.Means, m.dim, c.oneHot(), at})
			to = -1
		}
		for k := range plain {
			if to >= 0 {
				to = at + k
			}
			m.moved = append(m.moved, int32(to))
		}
		m.dim += plain
		at += c.Width()
		if c.Indicator {
			m.moved = append(m.moved, int32(at-1))
			m.dim++
		}
	}
	if len(m.means) == 0 {
		return nil
	}
	return m
}

// expand writes a row with means.
func (m *meanRows) expand(dst, row []float32) {
	for j, v := range row {
		if to := m.moved[j]; to >= 0 {
			dst[to] = v
		}
	}
	for _, p := range m.means {
		value := 0
		if p.values == 0 {
			value = find(p.Numbers, row[p.from])
		} else {
			value = slices.IndexFunc(row[p.from:][:p.values], func(v float32) bool { return v != 0 })
		}
		copy(dst[p.at:], p.of(value))
	}
}

// expandPairs appends the elements of a row with means, in any order.
func (m *meanRows) expandPairs(dst, row []pair) []pair {
	for _, v := range row {
		if to := m.moved[v.at]; to >= 0 {
			dst = append(dst, pair{to, v.v})
		}
	}
	for _, p := range m.means {
		value, number := -1, float32(0)
		for _, v := range row {
			switch k := int(v.at) - p.from; {
			case p.values == 0 && k == 0:
				number = v.v
			case k >= 0 && k < p.values && v.v != 0:
				value = k
			}
		}
		if p.values == 0 {
			value = find(p.Numbers, number)
		}
		for k, v := range p.of(value) {
			if v != 0 {
				dst = append(dst, pair{int32(p.at + k), v})
			}
		}
	}
	return dst
}

// withoutMeans are columns as rows are read.
func withoutMeans(columns []Column) []Column {
	all := slices.Clone(columns)
	for i := range all {
		all[i].Means = nil
	}
	return all
}

// variance is an analysis of variance with one factor and groups of different size.
type variance struct {
	mean            float64
	within, between float64 // mean squares
	groups, rows    float64 // weights of rows count as rows
	spread          float64 // the variance of the groups' means themselves, which may come out below 0
}

// varianceOf is that of target k of K. A row of sums is the weight of the rows of a value and the sums of their targets; square is the
// sum of the squares of target k of all rows.
func varianceOf(sums []float64, outputs, k int, square float64) (a variance) {
	width := outputs + 1
	heaviest := 0.0
	for v := 0; v < len(sums); v += width {
		if w := sums[v]; w > 0 {
			a.rows += w
			a.mean += sums[v+k+1]
			heaviest += w * w
			a.groups++
		}
	}
	if a.rows == 0 {
		return a
	}
	a.mean /= a.rows
	for v := 0; v < len(sums); v += width {
		if w := sums[v]; w > 0 {
			d := sums[v+k+1]/w - a.mean
			a.between += w * d * d
		}
	}
	if a.within = max(0, square-a.rows*a.mean*a.mean-a.between); a.groups < 2 || a.rows <= a.groups {
		return a
	}
	a.within /= a.rows - a.groups
	a.between /= a.groups - 1
	a.spread = (a.between - a.within) / ((a.rows - heaviest/a.rows) / (a.groups - 1))
	return a
}

// surely is by how many standard deviations, about, the ratio of mean squares is above what groups that do not differ
// would have.
func (a *variance) surely() float64 {
	if a.within == 0 {
		return math.Inf(1)
	}
	return (a.between/a.within - 1) / math.Sqrt(2/(a.groups-1)+2/(a.rows-a.groups))
}

// shrunk are the means of the values of a column: each mean is drawn to that of all rows, by as much as the scatter of the
// targets within values and between them asks for (empirical Bayes with a normal prior). A row of sums is the weight
// of the rows of a value and the sums of their targets, squares are the sums of the squares of all targets. The means of any
// other value come last.
func shrunk(sums []float64, outputs int, squares []float64) []float32 {
	width := outputs + 1
	values := len(sums) / width
	means := make([]float32, (values+1)*outputs)
	for k := range outputs {
		a := varianceOf(sums, outputs, k, squares[k])
		for v := range values {
			m := a.mean
			if w := sums[v*width]; w > 0 && a.spread > 0 {
				m += w / (w + a.within/a.spread) * (sums[v*width+k+1]/w - a.mean)
			}
			means[v*outputs+k] = float32(m)
		}
		means[values*outputs+k] = float32(a.mean)
	}
	return means
}
