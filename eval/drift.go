package eval

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"mercer/dataset"
	"mercer/matrix"
)

// Drift compares rows with those of a training, column by column, by what the schema of a model knows of these (dataset.Seen).
// Each column of numbers is tested for three things:
//
//   - its values outside the range of the training: if all rows come from one source, k of n new values lie above all of m
//     old ones with a probability of at most n/(n+m)·(n-1)/(n+m-1)·… (k factors);
//   - its distribution, by the test of Kolmogorov and Smirnov at the cuts of dataset.Seen, which are near the quantiles;
//     since they are some of all places, the test is a little cautious;
//   - the share of missing values, by χ².
//
// A column of categories is tested by χ² over its categories, where those that too few rows have are one. Values that the
// training did not have, and missing ones, are a category. The p-values of a column are multiplied by their number (Bonferroni) and
// those of all columns corrected by Holm's method. A column has drifted if its p is below DriftLevel and its distribution differs by
// DriftDistance or more, or its values lie outside the range more often than they should: of many rows the smallest differences
// are significant.
type Drift struct {
	columns []driftColumn
	rows    int
	outside int
	trained int
}

// DriftLevel bounds the probability of finding drift in any column where there is none. DriftDistance is the
// least distance between distributions that counts.
const DriftLevel, DriftDistance = 0.01, 0.05

// driftColumn counts the values of a column at the dimensions [at, end).
type driftColumn struct {
	c        *dataset.Column
	at       int
	group    map[uint64]int // of columns of mean targets: the group of a value
	groups   []int          // and the rows of each group in training
	counts   []int          // by category or group, last those of none; or by cut
	missing  int
	low, up  int // values below and above the range
	min, max float64
}

// DriftedColumn is what a comparison found in a column.
type DriftedColumn struct {
	Column string `json:"column"`

	// Outside is the number of rows with a value outside the range of the training, or with a category that it did not have. Min and
	// Max are the range of the rows.
	Outside int     `json:"outside"`
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`

	// Distance is the largest difference of the distribution functions (Kolmogorov-Smirnov), or half the sum of the differences
	// of the shares of categories (total variation), or the difference of the shares of missing values if that is larger.
	Distance float64 `json:"distance"`

	// P is the p-value, corrected for all tests of all columns.
	P float64 `json:"p"`

	// Drifted says that the rows of the column do not come from where those of the training came from.
	Drifted bool `json:"drifted"`

	ranged bool // more values are outside the range than by chance
}

// DriftReport is the result of a comparison.
type DriftReport struct {
	Rows    int             `json:"rows"`
	Outside int             `json:"outside"` // rows with any value outside
	Columns []DriftedColumn `json:"columns"` // in the order of the model
	Drifted int             `json:"drifted"` // columns
}

// NewDrift begins a comparison with the training of rows rows. It fails for a schema that does not know what the training had.
func NewDrift(schema *dataset.Schema, rows int) (*Drift, error) {
	d, at := &Drift{trained: rows}, 0
	for i := range schema.Columns {
		c := &schema.Columns[i]
		col := driftColumn{c: c, at: at, min: math.Inf(1), max: math.Inf(-1)}
		at += c.Width()
		switch {
		case c.Seen == nil || c.Coding != nil && c.Coding.Kind == dataset.CodedDate:
			continue
		case c.Means != nil && (c.Categories == nil || c.Seen.Counts == nil):
			continue
		case c.Means != nil:
			col.regroup()
			col.counts = make([]int, len(col.groups))
		case c.Categories != nil:
			col.counts = make([]int, len(c.Categories)+1)
		default:
			col.counts = make([]int, len(c.Seen.Cuts)+1)
		}
		d.columns = append(d.columns, col)
	}
	if d.columns == nil {
		return nil, errNothingSeen
	}
	return d, nil
}

var errNothingSeen = errors.New("the model knows no ranges of its training to compare with: it was trained by an older program, on statistics, or on rows that are " +
	"no table with numbers or categories")

// regroup makes groups of the categories whose mean targets are the same, which rows cannot tell apart. The last is that
// of no category.
func (col *driftColumn) regroup() {
	m := col.c.Means
	col.group = map[uint64]int{}
	of := func(value int) int {
		key := bitsOf(m.Values[value*m.Outputs:][:m.Outputs])
		g, known := col.group[key]
		if !known {
			g = len(col.groups)
			col.group[key] = g
			col.groups = append(col.groups, 0)
		}
		return g
	}
	for k := range col.c.Categories {
		col.groups[of(k)] += col.c.Seen.Counts[k]
	}
	of(len(col.c.Categories))
}

// bitsOf tells values apart.
func bitsOf(values []float32) uint64 {
	key := uint64(14695981039346656037)
	for _, v := range values {
		key = (key ^ uint64(math.Float32bits(v))) * 1099511628211
	}
	return key
}

// Add adds rows as the model reads them.
func (d *Drift) Add(x matrix.Rows) {
	dense := x.Dense
	if dense == nil {
		dense = &matrix.Dense{}
		x.CSR.Densify(dense)
	}
	for i := range dense.Rows {
		row, outside := dense.Row(i), false
		for k := range d.columns {
			outside = d.columns[k].add(row) || outside
		}
		if outside {
			d.outside++
		}
	}
	d.rows += dense.Rows
}

// add adds the value of a row, and says whether the training had none like it.
func (col *driftColumn) add(row []float32) (outside bool) {
	c := col.c
	switch {
	case col.group != nil:
		g, known := col.group[bitsOf(row[col.at:][:c.Means.Outputs])]
		if !known {
			g = len(col.groups) - 1
		}
		col.counts[g]++
		return col.groups[g] == 0
	case c.Categories != nil:
		for k, v := range row[col.at:][:len(c.Categories)] {
			if v != 0 {
				col.counts[k]++
				return false
			}
		}
		col.counts[len(c.Categories)]++
		return true
	case c.Indicator && row[col.at+1] != 0:
		col.missing++
		return false
	}
	v := float64(row[col.at])
	col.min, col.max = min(col.min, v), max(col.max, v)
	k, _ := slices.BinarySearch(c.Seen.Cuts, row[col.at])
	col.counts[k]++
	switch {
	case v < float64(float32(c.Seen.Min)):
		col.low++
		return true
	case v > float64(float32(c.Seen.Max)):
		col.up++
		return true
	}
	return false
}

// Report is the result of all rows so far.
func (d *Drift) Report() *DriftReport {
	r := &DriftReport{Rows: d.rows, Outside: d.outside}
	if d.rows == 0 {
		return r
	}
	for k := range d.columns {
		r.Columns = append(r.Columns, d.columns[k].test(d.trained))
	}
	// Holm: the i-th smallest of n is multiplied by n-i, and none is below one before.
	order := make([]int, len(r.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Columns[a].P, r.Columns[b].P) })
	least := 0.0
	for i, k := range order {
		c := &r.Columns[k]
		least = max(least, min(1, c.P*float64(len(order)-i)))
		c.P = least
		if c.Drifted = c.P < DriftLevel && (c.Distance >= DriftDistance || c.ranged); c.Drifted {
			r.Drifted++
		}
	}
	return r
}

// test finds the p-value of a column.
func (col *driftColumn) test(trained int) DriftedColumn {
	c, out := col.c, DriftedColumn{Column: col.c.Name, Outside: col.low + col.up, P: 1}
	if col.group != nil || c.Categories != nil {
		old := append(slices.Clone(c.Seen.Counts), 0)
		if col.group != nil {
			old = col.groups
		}
		for k, n := range old {
			if n == 0 {
				out.Outside += col.counts[k]
			}
		}
		if c.Seen.Counts != nil {
			out.P, out.Distance = homogeneity(old, col.counts), variation(old, col.counts)
		}
		return out
	}
	n := 0
	for _, k := range col.counts {
		n += k
	}
	if n > 0 {
		out.Min, out.Max = col.min, col.max
	}
	rangeP := 2 * min(beyond(col.low, n, trained-c.Seen.Missing), beyond(col.up, n, trained-c.Seen.Missing))
	tests := []float64{rangeP}
	if below, m := 0, c.Seen.Sample; n > 0 && len(c.Seen.Cuts) > 0 {
		for i := range c.Seen.Cuts {
			below += col.counts[i]
			out.Distance = max(out.Distance, math.Abs(float64(below)/float64(n)-float64(c.Seen.Below[i])/float64(m)))
		}
		tests = append(tests, kolmogorov(out.Distance, float64(n)*float64(m)/float64(n+m)))
	}
	if c.Indicator {
		old, now := []int{trained - c.Seen.Missing, c.Seen.Missing}, []int{n, col.missing}
		tests = append(tests, homogeneity(old, now))
		out.Distance = max(out.Distance, variation(old, now))
	}
	out.P = min(1, slices.Min(tests)*float64(len(tests)))
	out.ranged = rangeP*float64(len(tests)) < DriftLevel
	return out
}

// beyond bounds the probability that k or more of n values lie above all of m others from the same source.
func beyond(k, n, m int) float64 {
	p := 1.0
	for i := range k {
		if p *= float64(n-i) / float64(n+m-i); p < 1e-300 {
			return 0
		}
	}
	return p
}

// kolmogorov is the probability of a distance of d or more between two samples from one source, n = n₁n₂/(n₁+n₂), by Stephens's
// approximation.
func kolmogorov(d, n float64) float64 {
	root := math.Sqrt(n)
	x := (root + 0.12 + 0.11/root) * d
	if x < 0.3 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for j := 1.0; j <= 100; j++ {
		term := math.Exp(-2 * j * j * x * x)
		sum += sign * term
		if term < 1e-16*sum {
			break
		}
		sign = -sign
	}
	return min(1, max(0, 2*sum))
}

// homogeneity is the p-value of the χ² test that two rows of counts have the same shares. Counts of which fewer than five are expected
// in either row are put together, the smallest first.
func homogeneity(a, b []int) float64 {
	type pair struct{ a, b float64 }
	var cells []pair
	var na, nb float64
	for k := range a {
		if a[k]+b[k] > 0 {
			cells = append(cells, pair{float64(a[k]), float64(b[k])})
			na, nb = na+float64(a[k]), nb+float64(b[k])
		}
	}
	if na == 0 || nb == 0 {
		return 1
	}
	slices.SortStableFunc(cells, func(x, y pair) int { return cmp.Compare(x.a+x.b, y.a+y.b) })
	few := func(c pair) bool { return (c.a+c.b)*min(na, nb)/(na+nb) < 5 }
	for len(cells) > 1 && few(cells[0]) {
		cells[1].a, cells[1].b = cells[1].a+cells[0].a, cells[1].b+cells[0].b
		cells = cells[1:]
	}
	if len(cells) < 2 {
		return 1
	}
	sum := 0.0
	for _, c := range cells {
		ea, eb := (c.a+c.b)*na/(na+nb), (c.a+c.b)*nb/(na+nb)
		sum += (c.a-ea)*(c.a-ea)/ea + (c.b-eb)*(c.b-eb)/eb
	}
	return mathext.GammaIncRegComp(float64(len(cells)-1)/2, sum/2)
}

// variation is half the sum of the differences of shares.
func variation(a, b []int) float64 {
	var na, nb, sum float64
	for k := range a {
		na, nb = na+float64(a[k]), nb+float64(b[k])
	}
	if na == 0 || nb == 0 {
		return 0
	}
	for k := range a {
		sum += math.Abs(float64(a[k])/na - float64(b[k])/nb)
	}
	return sum / 2
}
