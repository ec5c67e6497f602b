package dataset

import (
	"math"
	"slices"
	"sort"
)

// relationTarget is the label of the sampled rows, for the relation of columns to it; nil if there is none or
// it has too many classes.
func (t *table) relationTarget(c *collected) *relationTarget {
	if len(t.schema.Labels) != 1 || t.schema.LabelSeparator != "" {
		return nil
	}
	at := t.schema.Labels[0].At
	r := &relationTarget{}
	var values []float64
	whole := true
	for _, row := range c.sample {
		v := row.values[at]
		if math.IsInf(v, 0) { // a word among numbers
			v = math.NaN()
		}
		r.y = append(r.y, v)
		if v == v {
			values = append(values, v)
			whole = whole && v == math.Trunc(v)
		}
	}
	if len(values) < 50 {
		return nil
	}
	slices.Sort(values)
	distinct := slices.Compact(slices.Clone(values))
	text := t.attributes[at].measure == measureText
	switch {
	case text && len(distinct) > 100:
		return nil
	case text || whole && len(distinct) <= mostNumberClasses || len(distinct) == 2:
		r.classes = distinct
	}
	return r
}

// relationTarget is a label on the sampled rows.
type relationTarget struct {
	y       []float64
	classes []float64 // sorted; nil: numbers
}

// strength is how well a column predicts the label on every other sampled row by a table of its values, or of
// ranges of its numbers, made from the rows between: the share of the errors, or of the squared error, that it saves.
// Those of categories have no ranges.
func (r *relationTarget) strength(c *collected, column int, categories bool) float64 {
	x := make([]float64, len(c.sample))
	for i, row := range c.sample {
		x[i] = row.values[column]
	}
	if r.classes == nil {
		if s := math.Abs(correlation(ranks(x), ranks(r.y))); s > 0.999 { // finer than ranges
			return s
		}
	}
	cell := cells(x, categories)
	if r.classes != nil {
		return r.ofClasses(cell)
	}
	return r.ofNumbers(cell)
}

// rowsOfCell is how many rows a range of numbers has at least: half of them make the table, and half are predicted by it.
const rowsOfCell = 16

// cells numbers the cells of a table of values: each value if there are few, else ranges of equally many rows. Missing
// is a cell of its own.
func cells(x []float64, categories bool) []int {
	sorted := slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return v != v })
	slices.Sort(sorted)
	ends := slices.Compact(slices.Clone(sorted))
	if n := min(64, max(1, len(sorted)/rowsOfCell)); len(ends) > 256 || !categories && len(ends) > 2*n {
		ends = ends[:0]
		for q := 1; q <= n; q++ {
			ends = append(ends, sorted[q*(len(sorted)-1)/n])
		}
		ends = slices.Compact(ends)
	}
	cell := make([]int, len(x))
	for i, v := range x {
		if cell[i] = -1; v == v {
			cell[i] = sort.SearchFloat64s(ends, v)
		}
	}
	return cell
}

func (r *relationTarget) ofClasses(cell []int) float64 {
	k := len(r.classes)
	counts, all := map[int][]int{}, make([]int, k)
	class := func(i int) int {
		if r.y[i] != r.y[i] {
			return -1
		}
		return sort.SearchFloat64s(r.classes, r.y[i])
	}
	for i := 0; i < len(cell); i += 2 {
		if c := class(i); c >= 0 {
			if counts[cell[i]] == nil {
				counts[cell[i]] = make([]int, k)
			}
			counts[cell[i]][c]++
			all[c]++
		}
	}
	n, base, right := 0, 0, 0
	usual := argmax(all)
	for i := 1; i < len(cell); i += 2 {
		c := class(i)
		if c < 0 {
			continue
		}
		n++
		if c == usual {
			base++
		}
		said := usual
		if of := counts[cell[i]]; of != nil {
			said = argmax(of)
		}
		if c == said {
			right++
		}
	}
	if n == base {
		return 0
	}
	return max(0, float64(right-base)/float64(n-base))
}

func (r *relationTarget) ofNumbers(cell []int) float64 {
	sums, counts := map[int]float64{}, map[int]float64{}
	sum, n := 0.0, 0.0
	for i := 0; i < len(cell); i += 2 {
		if y := r.y[i]; y == y {
			sums[cell[i]] += y
			counts[cell[i]]++
			sum += y
			n++
		}
	}
	usual, of, left := sum/max(n, 1), 0.0, 0.0
	for i := 1; i < len(cell); i += 2 {
		y := r.y[i]
		if y != y {
			continue
		}
		said := usual
		if counts[cell[i]] > 0 {
			said = sums[cell[i]] / counts[cell[i]]
		}
		of += (y - usual) * (y - usual)
		left += (y - said) * (y - said)
	}
	if of == 0 {
		return 0
	}
	return max(0, 1-left/of)
}

func argmax(counts []int) int {
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return best
}

// ranks are the ranks of numbers, equal ones sharing the first, NaN for NaN.
func ranks(x []float64) []float64 {
	sorted := slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return v != v })
	slices.Sort(sorted)
	out := make([]float64, len(x))
	for i, v := range x {
		if out[i] = math.NaN(); v == v {
			out[i] = float64(sort.SearchFloat64s(sorted, v))
		}
	}
	return out
}

// correlation is that of the pairs without NaN, 0 if there is none; a fifth of the pairs may lack.
func correlation(x, y []float64) float64 {
	n, mx, my := 0.0, 0.0, 0.0
	for i := range x {
		if x[i] == x[i] && y[i] == y[i] {
			n++
			mx += x[i]
			my += y[i]
		}
	}
	if n < 0.8*float64(len(x)) {
		return 0
	}
	mx, my = mx/n, my/n
	xy, xx, yy := 0.0, 0.0, 0.0
	for i := range x {
		if x[i] == x[i] && y[i] == y[i] {
			xy += (x[i] - mx) * (y[i] - my)
			xx += (x[i] - mx) * (x[i] - mx)
			yy += (y[i] - my) * (y[i] - my)
		}
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
