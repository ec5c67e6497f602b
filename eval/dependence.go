package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
)

// DependenceOptions are the options of Dependence; the zero value has useful defaults.
type DependenceOptions struct {
	// Columns are the columns, by their numbers in Columns; nil means all. Importances.Leading gives the leading ones.
	Columns []int

	// Points is the largest number of points of a curve; 0 means 20.
	Points int

	// Rows is how many of the rows each point is a mean over; 0 means 500, or all if there are fewer.
	Rows int

	// Seed draws these rows; 0 means 1.
	Seed uint64

	// Progress, if not nil, is called with the share of the work that is done.
	Progress func(share float64)
}

// Dependences are the partial dependences of a model on some columns.
type Dependences struct {
	// Of says what is predicted: "probability" if the model has probabilities, "score" for classes and labels without,
	// "value" for numbers. Outputs name the predictions: classes (of two, the second alone), labels or targets.
	Of      string   `json:"of"`
	Outputs []string `json:"outputs"`

	// Rows is how many rows each mean is over.
	Rows int `json:"rows"`

	Curves []ColumnDependence `json:"curves"`
}

// ColumnDependence is the partial dependence on one column.
type ColumnDependence struct {
	Column string `json:"column"`

	// Values are those of the points, Categories those of a categorical column; one of the two is nil.
	Values     []float64 `json:"values,omitempty"`
	Categories []string  `json:"categories,omitempty"`

	// Rows counts the rows of the data, all that were drawn, whose value is nearest to the point, or is that category.
	// Left is how many have a category that is not shown.
	Rows []int `json:"rows"`
	Left int   `json:"left,omitempty"`

	// Mean has the mean prediction for each output at each point; Low and High are the 10 % and 90 % quantiles
	// of the predictions for single rows.
	Mean [][]float64 `json:"mean"`
	Low  [][]float64 `json:"low"`
	High [][]float64 `json:"high"`
}

// Dependence tells how the prediction changes with a column (partial dependence; Friedman, "Greedy function
// approximation", 2001): at each point of a grid it is the mean over rows that all have the point's value in the
// column, and their own in all others. The grid are quantiles of the column from 1 % to 99 %, or all values if they are
// no more than the points, or the most frequent categories. Means far from where the data are, or of columns that go
// together with others, are over rows that do not exist.
//
// Time: columns × points × rows predictions. Memory: that of the rows, and 8 bytes per output and row of a point.
func Dependence(ctx context.Context, m *model.Model, rows *Rows, opt DependenceOptions) (*Dependences, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	columns := Columns(m)
	if opt.Columns == nil {
		for c := range columns {
			opt.Columns = append(opt.Columns, c)
		}
	}
	if opt.Points == 0 {
		opt.Points = 20
	}
	if opt.Points < 2 || opt.Rows < 0 {
		return nil, fmt.Errorf("a curve of %d points over %d rows; give 2 points or more, and 1 row or more", opt.Points, opt.Rows)
	}
	n := rows.X.Len()
	if opt.Rows == 0 {
		opt.Rows = 500
	}
	drawn := random.New(max(opt.Seed, 1), "explain.dependence").Perm(n)[:min(opt.Rows, n)]
	slices.Sort(drawn)
	x := matrix.Pick(rows.X, drawn)
	d := newPredicted(m, len(drawn))
	out := &Dependences{Of: d.what, Outputs: d.outputs, Rows: len(drawn), Curves: make([]ColumnDependence, len(opt.Columns))}

	type place struct {
		curve *ColumnDependence
		row   int
	}
	b := newBlock(ctx, m, x, func(at place, scores []float32) {
		if d.add(at.row, scores); at.row == len(drawn)-1 {
			d.into(at.curve)
		}
	})
	mask := make([]bool, m.Dim())
	for i, c := range opt.Columns {
		if c < 0 || c >= len(columns) {
			return nil, fmt.Errorf("there is no column %d; the model has %d, from 0", c, len(columns))
		}
		curve := &out.Curves[i]
		*curve = ColumnDependence{Column: columns[c].Name, Mean: make([][]float64, len(d.outputs)), Low: make([][]float64, len(d.outputs)),
			High: make([][]float64, len(d.outputs))}
		points := curve.grid(&columns[c], rows.X, opt.Points)
		cover(mask, columns, []int{c}, true)
		for j := range points.Len() {
			for row := range drawn {
				if err := b.add(place{curve, row}, x, row, points, j, mask); err != nil {
					return nil, err
				}
			}
			if opt.Progress != nil {
				opt.Progress((float64(i) + float64(j+1)/float64(points.Len())) / float64(len(opt.Columns)))
			}
		}
		cover(mask, columns, []int{c}, false)
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	return out, nil
}

// grid settles the points of a curve and counts the rows at each. It returns a row for each point, with the
// point's value in the column and 0 in all others.
func (c *ColumnDependence) grid(column *Column, x matrix.Rows, most int) matrix.Rows {
	points := &matrix.CSR{Cols: x.Dim(), Ptr: []int{0}}
	point := func(part ...float32) {
		for k, v := range part {
			if v != 0 {
				points.Idx, points.Val = append(points.Idx, int32(column.From+k)), append(points.Val, v)
			}
		}
		points.Ptr = append(points.Ptr, len(points.Idx))
		points.Rows++
	}
	if column.Categories != nil {
		for _, k := range c.categories(column, x, most) {
			point(column.of.Part(k)...)
		}
	} else {
		values := make([]float32, x.Len())
		for i := range values {
			values[i] = value(x, i, column.From)
		}
		slices.Sort(values)
		for _, v := range quantiles(values, most) {
			c.Values = append(c.Values, float64(v))
			point(v)
		}
		c.count(values)
	}
	if x.CSR != nil {
		return matrix.Rows{CSR: points}
	}
	dense := new(matrix.Dense)
	points.Densify(dense)
	return matrix.Rows{Dense: dense}
}

// categories are the numbers of the most frequent categories in the rows, in the order of the column.
func (c *ColumnDependence) categories(column *Column, x matrix.Rows, most int) []int {
	counts, order := make([]int, len(column.Categories)), []int{}
	for i := range x.Len() {
		if k := column.category(x, i); k >= 0 {
			counts[k]++
		}
	}
	for k, n := range counts {
		if n > 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for _, k := range order[min(most, len(order)):] {
		c.Left += counts[k]
	}
	order = order[:min(most, len(order))]
	slices.Sort(order)
	c.Categories = []string{}
	for _, k := range order {
		c.Categories, c.Rows = append(c.Categories, column.Categories[k]), append(c.Rows, counts[k])
	}
	return order
}

// quantiles are all distinct values of a sorted list if they are no more than most, and otherwise quantiles from
// 1 % to 99 %: of the values, or of the distinct ones if nearly all values are the same.
func quantiles(sorted []float32, most int) []float32 {
	distinct := slices.Compact(slices.Clone(sorted))
	if len(distinct) <= most {
		return distinct
	}
	of := func(list []float32) []float32 {
		var q []float32
		for k := range most {
			at := 0.01 + 0.98*float64(k)/float64(most-1)
			q = append(q, list[int(math.Round(at*float64(len(list)-1)))])
		}
		return slices.Compact(q)
	}
	if q := of(sorted); len(q) > 3 || len(q) == most {
		return q
	}
	return of(distinct)
}

// count counts sorted values by the nearest point.
func (c *ColumnDependence) count(sorted []float32) {
	c.Rows = make([]int, len(c.Values))
	at := 0
	for _, v := range sorted {
		for at+1 < len(c.Values) && math.Abs(c.Values[at+1]-float64(v)) <= math.Abs(c.Values[at]-float64(v)) {
			at++
		}
		c.Rows[at]++
	}
}

// predicted are the predictions of one point, for each output and row.
type predicted struct {
	m       *model.Model
	what    string
	outputs []string
	values  [][]float64
	proba   []float64
}

func newPredicted(m *model.Model, rows int) *predicted {
	d := &predicted{m: m, what: "score", outputs: OutputNames(m)}
	switch {
	case m.HasProbabilities():
		d.what, d.proba = "probability", make([]float64, max(len(m.Classes()), len(m.Labels())))
	case m.Classes() == nil && m.Labels() == nil:
		d.what = "value"
	}
	d.values = make([][]float64, len(d.outputs))
	for k := range d.values {
		d.values[k] = make([]float64, rows)
	}
	return d
}

// OutputNames name the scores of a model: the classes, of two the second alone; the labels; or the targets.
func OutputNames(m *model.Model) []string {
	switch classes := m.Classes(); {
	case classes != nil:
		return classes[len(classes)-m.Outputs():]
	case m.Labels() != nil:
		return m.Labels()
	}
	var names []string
	for t := range m.Outputs() {
		name := strconv.Itoa(t)
		if labels := m.Info().Schema.Labels; t < len(labels) {
			name = labels[t].Name
		}
		names = append(names, name)
	}
	return names
}

// add takes the prediction for a row.
func (d *predicted) add(row int, scores []float32) {
	if d.proba == nil {
		for k := range d.values {
			d.values[k][row] = d.m.Value(k, scores[k])
		}
		return
	}
	if err := d.m.Probabilities(d.proba, scores); err != nil {
		panic("explain: " + err.Error()) // it has some
	}
	for k := range d.values {
		d.values[k][row] = d.proba[len(d.proba)-len(d.values)+k]
	}
}

// into adds a point to a curve.
func (d *predicted) into(c *ColumnDependence) {
	for k, values := range d.values {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		slices.Sort(values)
		at := func(q float64) float64 { return values[int(math.Round(q*float64(len(values)-1)))] }
		c.Mean[k], c.Low[k], c.High[k] = append(c.Mean[k], sum/float64(len(values))), append(c.Low[k], at(0.1)), append(c.High[k], at(0.9))
	}
}
