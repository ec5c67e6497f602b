package explain_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/explain"
	"mercer/internal/random"
	"mercer/internal/safetensors"
	"mercer/lab"
	"mercer/matrix"
	"mercer/model"
	"mercer/pipeline"
	"mercer/train"
)

var ctx = context.Background()

// function is a predictor whose score is a function of the row.
type function func(row []float32) float64

func (f function) Tensors() map[string]*safetensors.Tensor { return nil }

func (f function) Scores(dst *matrix.Dense, z matrix.Rows) {
	row := make([]float32, z.Dim())
	for i := range z.Len() {
		if z.CSR == nil {
			copy(row, z.Dense.Row(i))
		} else {
			clear(row)
			idx, val := z.CSR.Row(i)
			for k, j := range idx {
				row[j] = val[k]
			}
		}
		dst.Row(i)[0] = float32(f(row))
	}
}

// modelOf is a regression by a function of d numbers.
func modelOf(t *testing.T, d int, f function) *model.Model {
	t.Helper()
	m, err := model.New(model.Parts{Pipeline: pipeline.Identity(d), Predictor: f,
		Info: model.Info{Task: "regress", Outputs: 1, Schema: dataset.Schema{Format: "rows", Dim: d}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// normal are n rows of d normal numbers.
func normal(n, d int, seed uint64) *matrix.Dense {
	x := matrix.NewDense(n, d)
	random.New(seed, "explain.test").FillNormal(x.Data)
	return x
}

// sparse is a matrix as CSR, in which numbers below 0 are left out.
func sparse(x *matrix.Dense) *matrix.CSR {
	s := &matrix.CSR{Rows: x.Rows, Cols: x.Cols, Ptr: []int{0}}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v > 0 {
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, v)
			}
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	return s
}

// drawn are n rows of x with the targets y, which may be nil.
func drawn(t *testing.T, m *model.Model, x matrix.Rows, y []float64, n int) *explain.Rows {
	t.Helper()
	outputs := 1
	if y == nil {
		outputs = 0
	}
	src, err := dataset.FromRows(x, y, outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := explain.Draw(ctx, m, src, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contributions are those of all rows of x.
func contributions(t *testing.T, m *model.Model, x matrix.Rows, background *explain.Rows, opt explain.ContributionOptions) (list []*explain.Contribution) {
	t.Helper()
	for c, err := range explain.Contributions(ctx, m, x, background, opt) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func dense(x *matrix.Dense) matrix.Rows { return matrix.Rows{Dense: x} }

// The contributions of a linear model are w_j·(x_j - mean b_j), from permutations and from subsets alike, and
// permutations have no error.
func TestContributionsOfALinearModel(t *testing.T) {
	for _, d := range []int{4, 15} {
		weight := normal(1, d, 7).Row(0)
		m := modelOf(t, d, func(row []float32) float64 {
			sum := 0.25
			for j, v := range row {
				sum += float64(weight[j]) * float64(v)
			}
			return sum
		})
		back, x := drawn(t, m, dense(normal(30, d, 1)), nil, 20), normal(3, d, 2)
		for i, c := range contributions(t, m, dense(x), back, explain.ContributionOptions{}) {
			if c.Exact != (d == 4) {
				t.Errorf("%d columns: exact is %v", d, c.Exact)
			}
			for j, got := range c.Values[0] {
				mean := 0.0
				for b := range back.X.Len() {
					mean += float64(back.X.Dense.Row(b)[j]) / float64(back.X.Len())
				}
				want := float64(weight[j]) * (float64(x.Row(i)[j]) - mean)
				if math.Abs(got-want) > 2e-6 || c.SE[0][j] > 1e-6 { // scores are float32
					t.Errorf("%d columns, row %d, column %d: %.8f ± %.1g, want %.8f", d, i, j, got, c.SE[0][j], want)
				}
			}
		}
	}
}

// together is a function with interactions, symmetric in its columns 0 and 1, that ignores the last.
func together(row []float32) float64 {
	a, b, c := float64(row[0]), float64(row[1]), float64(row[2])
	v := a*b + math.Sin(a+b)*c
	for j := 3; j+1 < len(row); j++ {
		v += float64(row[j]) * float64(row[j-1])
	}
	return v
}

// Contributions and base add up to the score; a column that is ignored has none; those that count alike and have the
// same values contribute the same, by subsets exactly and by permutations within the error.
func TestContributionsAddUp(t *testing.T) {
	for _, d := range []int{6, 20} {
		m := modelOf(t, d, together)
		data, x := normal(40, d, 3), normal(5, d, 4)
		for _, rows := range []*matrix.Dense{data, x} {
			for i := range rows.Rows {
				rows.Row(i)[1] = rows.Row(i)[0]
			}
		}
		back := drawn(t, m, dense(data), nil, 40)
		for _, c := range contributions(t, m, dense(x), back, explain.ContributionOptions{Permutations: 20}) {
			sum := c.Base[0]
			for _, v := range c.Values[0] {
				sum += v
			}
			if math.Abs(sum-c.Score[0]) > 1e-12*float64(d)*(1+math.Abs(c.Score[0])) {
				t.Errorf("%d columns, row %d: base and contributions are %.17g, the score is %.17g", d, c.Row, sum, c.Score[0])
			}
			if last := c.Values[0][d-1]; last != 0 {
				t.Errorf("%d columns, row %d: the column that is ignored contributes %g", d, c.Row, last)
			}
			off, se := math.Abs(c.Values[0][0]-c.Values[0][1]), math.Hypot(c.SE[0][0], c.SE[0][1])
			if off > 5*se+1e-6 || c.Exact && se != 0 || !c.Exact && se == 0 {
				t.Errorf("%d columns, row %d, exact %v: columns that count alike contribute %g and %g, ± %g", d, c.Row, c.Exact,
					c.Values[0][0], c.Values[0][1], se)
			}
		}
	}
}

// Permutations have the mean of the exact values, and the standard error that they tell.
func TestPermutationsAgreeWithSubsets(t *testing.T) {
	const d, n = 7, 200
	m := modelOf(t, d, together)
	back, x := drawn(t, m, dense(normal(12, d, 5)), nil, 12), dense(normal(n, d, 6))
	exact := contributions(t, m, x, back, explain.ContributionOptions{Permutations: 40})
	near := contributions(t, m, x, back, explain.ContributionOptions{Permutations: 10})
	// Of each row, the errors and how far their squares are from what SE says: both are 0 in the mean. Pairs of an order
	// and its reverse have no error in the other columns, of which no more than two interact.
	var off, squares [3][]float64
	for i := range exact {
		if !exact[i].Exact || near[i].Exact {
			t.Fatal("40 permutations of 7 columns cost more than the subsets, 10 less")
		}
		for j := range off {
			e, se := near[i].Values[0][j]-exact[i].Values[0][j], near[i].SE[0][j]
			off[j], squares[j] = append(off[j], e), append(squares[j], e*e-se*se)
		}
	}
	for j := range off {
		for what, list := range map[string][]float64{"errors": off[j], "squares of errors less those of SE": squares[j]} {
			mean, sd := moments(list)
			if math.Abs(mean) > 5*sd/math.Sqrt(n) || sd == 0 {
				t.Errorf("column %d: the mean of the %s is %.3g ± %.3g", j, what, mean, sd/math.Sqrt(n))
			}
		}
	}
}

// moments are the mean and the standard deviation.
func moments(list []float64) (mean, sd float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		sd += (v - mean) * (v - mean) / float64(len(list)-1)
	}
	return mean, math.Sqrt(sd)
}

// Sparse rows are explained like dense ones.
func TestSparseRows(t *testing.T) {
	const d = 9
	m := modelOf(t, d, together)
	data, x := sparse(normal(60, d, 8)), sparse(normal(4, d, 9))
	full := func(s *matrix.CSR) matrix.Rows {
		var out matrix.Dense
		s.Densify(&out)
		return dense(&out)
	}
	y := make([]float64, 60)
	for i := range y {
		y[i] = together(full(data).Dense.Row(i)) + 0.1*float64(i%3)
	}
	a, b := drawn(t, m, matrix.Rows{CSR: data}, y, 50), drawn(t, m, full(data), y, 50)
	if got, want := contributions(t, m, matrix.Rows{CSR: x}, a, explain.ContributionOptions{}),
		contributions(t, m, full(x), b, explain.ContributionOptions{}); !reflect.DeepEqual(got, want) {
		t.Error("contributions of sparse rows differ")
	}
	for name, of := range map[string]func(r *explain.Rows) (any, error){
		"importance": func(r *explain.Rows) (any, error) { return explain.Importance(ctx, m, r, explain.ImportanceOptions{}) },
		"dependence": func(r *explain.Rows) (any, error) {
			return explain.Dependence(ctx, m, r, explain.DependenceOptions{Rows: 20})
		},
	} {
		got, err := of(a)
		want, other := of(b)
		if err != nil || other != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s of sparse rows differs: %v, %v\n%+v\n%+v", name, err, other, got, want)
		}
	}
}

// The rise of 1 - R² of a linear model is about 2·w²·Var x/Var y; a column of weight 0 has exactly none.
func TestImportanceOfALinearModel(t *testing.T) {
	const n, d = 4000, 4
	weight := []float64{3, 0, -1, 0.5}
	m := modelOf(t, d, func(row []float32) (sum float64) {
		for j, v := range row {
			sum += weight[j] * float64(v)
		}
		return sum
	})
	x, noise := normal(n, d, 10), normal(n, 1, 11)
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(noise.Data[i])
		for j, v := range x.Row(i) {
			y[i] += weight[j] * float64(v)
		}
	}
	imp, err := explain.Importance(ctx, m, drawn(t, m, dense(x), y, n), explain.ImportanceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range imp.Columns {
		order = append(order, c.Column)
		j := int(c.Column[0] - '0')
		r, want := c.Rises[0], 2*weight[j]*weight[j]/(1+9+1+0.25)
		// The variances of y and x of n rows are off by √(2/n) each.
		if math.Abs(r.Mean-want) > 5*math.Hypot(r.SE, 2*want/math.Sqrt(n)) || weight[j] == 0 && r != (explain.Rise{}) {
			t.Errorf("column %s rises by %+v, want %.4f", c.Column, r, want)
		}
		if weight[j] != 0 && !(r.SE > r.RepeatSE && r.RepeatSE > 0) {
			t.Errorf("column %s: the error over rows is %g, over repeats %g", c.Column, r.SE, r.RepeatSE)
		}
	}
	if got := strings.Join(order, ""); got != "0231" {
		t.Errorf("the order is %s", got)
	}
	if want := 1 / (1 + 9 + 1 + 0.25); imp.Measures[0] != "1-r2" || math.Abs(imp.Losses[0]-want) > 5*want*math.Sqrt(4.0/n) {
		t.Errorf("%s is %g, want %g", imp.Measures[0], imp.Losses[0], want)
	}
}

// planted is a table of n rows: a shape of three kinds and two numbers decide, a number and a colour do not. Numbers
// are missing here and there.
func planted(n int, classes bool) string {
	r := random.New(12, "explain.table")
	var b strings.Builder
	b.WriteString("noise,shape,size,colour,depth,target\n")
	for i := range n {
		shape, noise, size, depth := r.Intn(3), r.Normal(), r.Normal(), r.Normal()
		v := []float64{-2, 0, 2}[shape] + 1.5*size + math.Sin(2*depth) + 0.3*r.Normal()
		target := fmt.Sprintf("%.4f", v)
		if classes {
			target = []string{"low", "high"}[min(1, int(math.Max(0, math.Ceil(v))))]
		}
		cell := fmt.Sprintf("%.3f", depth)
		if i%29 == 0 {
			cell = ""
		}
		fmt.Fprintf(&b, "%.3f,%s,%.3f,%s,%s,%s\n", noise, []string{"ball", "cube", "rod"}[shape], size, []string{"red", "blue"}[r.Intn(2)],
			cell, target)
	}
	return b.String()
}

// fitted is a model of a planted table, and other rows of it.
func fitted(t *testing.T, classes bool, c train.Config) (*model.Model, dataset.Source) {
	t.Helper()
	src, err := dataset.OpenBytes(ctx, "planted.csv", []byte(planted(2400, classes)), dataset.Options{Missing: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	rest, held := dataset.Split(src, 0.5, 1)
	m, _, err := train.Fit(ctx, rest, c, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m, held
}

// The columns that decide are the most important ones, the others matter no more than their error; the losses are
// those that eval tells.
func TestPlantedColumns(t *testing.T) {
	for _, classes := range []bool{false, true} {
		c := train.Config{Features: 256, Learner: "ridge"}
		if classes {
			c.Learner = "logistic"
		}
		m, held := fitted(t, classes, c)
		rows, err := explain.Draw(ctx, m, held, 5000, 1)
		if err != nil {
			t.Fatal(err)
		}
		imp, err := explain.Importance(ctx, m, rows, explain.ImportanceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range imp.Columns {
			planted := strings.Contains("shape size depth", column.Column)
			if r := column.Rises[0]; planted != (i < 3) || planted && r.Mean < 10*r.SE || !planted && math.Abs(r.Mean) > 4*r.SE+0.01 {
				t.Errorf("classes %v: column %d is %+v", classes, i, column)
			}
		}
		metrics, err := lab.Evaluate(ctx, m, held, lab.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{}
		if classes {
			want = append(want, *metrics.LogLoss, *metrics.Error)
		} else {
			want = append(want, 1-*metrics.R2)
		}
		for k, v := range want {
			if len(imp.Losses) != len(want) || math.Abs(imp.Losses[k]-v) > 1e-9 {
				t.Errorf("%v are %v, and eval says %v", imp.Measures, imp.Losses, want)
			}
		}
	}
}

// The partial dependence of a linear model is a line, with the slope of the weight; the band has the quantiles of
// the other columns. Counts cover all rows.
func TestDependenceOfALinearModel(t *testing.T) {
	m := modelOf(t, 2, func(row []float32) float64 { return 2*float64(row[0]) - float64(row[1]) })
	x := normal(1000, 2, 13)
	for i := range x.Rows {
		x.Row(i)[1] = float32(i % 3)
	}
	d, err := explain.Dependence(ctx, m, drawn(t, m, dense(x), nil, 1000), explain.DependenceOptions{Rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if d.Of != "value" || d.Rows != 1000 || len(d.Curves) != 2 || !slices.Equal(d.Curves[1].Values, []float64{0, 1, 2}) ||
		!slices.Equal(d.Curves[1].Rows, []int{334, 333, 333}) {
		t.Fatalf("%+v", d)
	}
	c := d.Curves[0]
	rows := 0
	for p, v := range c.Values {
		if want := 2*v - 0.999; math.Abs(c.Mean[0][p]-want) > 1e-5 || math.Abs(c.Low[0][p]-(2*v-2)) > 1e-5 || math.Abs(c.High[0][p]-2*v) > 1e-5 {
			t.Errorf("at %g: %g (%g to %g), want %g", v, c.Mean[0][p], c.Low[0][p], c.High[0][p], want)
		}
		rows += c.Rows[p]
	}
	if len(c.Values) != 20 || rows != 1000 || !slices.IsSorted(c.Values) {
		t.Errorf("%d points count %d rows: %v", len(c.Values), rows, c.Values)
	}
}

// A categorical column has a point for each category, with its rows, and probabilities of the second of two classes.
func TestDependenceOnCategories(t *testing.T) {
	m, held := fitted(t, true, train.Config{Features: 256, Learner: "logistic"})
	rows, err := explain.Draw(ctx, m, held, 800, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := explain.Dependence(ctx, m, rows, explain.DependenceOptions{Columns: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	c := d.Curves[0]
	if d.Of != "probability" || !slices.Equal(d.Outputs, []string{"low"}) || !slices.Equal(c.Categories, []string{"ball", "cube", "rod"}) ||
		c.Rows[0]+c.Rows[1]+c.Rows[2] != 800 || !(c.Mean[0][0] > c.Mean[0][1] && c.Mean[0][1] > c.Mean[0][2]) || c.Mean[0][0] > 1 {
		t.Errorf("%+v", d)
	}
	two, err := explain.Dependence(ctx, m, rows, explain.DependenceOptions{Columns: []int{1}, Points: 2})
	if err != nil || len(two.Curves[0].Categories) != 2 || two.Curves[0].Left != 800-two.Curves[0].Rows[0]-two.Curves[0].Rows[1] {
		t.Errorf("%+v, %v", two, err)
	}
}

// A column that is nearly always 0 still gets points where it is not.
func TestDependenceOnARareValue(t *testing.T) {
	m := modelOf(t, 1, func(row []float32) float64 { return float64(row[0]) })
	x := matrix.NewDense(2000, 1)
	for i := range 30 {
		x.Data[i*60] = float32(i + 1)
	}
	d, err := explain.Dependence(ctx, m, drawn(t, m, dense(x), nil, 2000), explain.DependenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Curves[0]; len(c.Values) != 20 || c.Values[0] != 0 || c.Rows[0] < 1970 || c.Values[19] < 25 {
		t.Errorf("%v: %v", c.Values, c.Rows)
	}
}

// Everything is the same on any number of threads, and at another seed it is not.
func TestSameOnAnyNumberOfThreads(t *testing.T) {
	m, held := fitted(t, false, train.Config{Features: 128, Learner: "ridge"})
	all := func(threads int, seed uint64) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		rows, err := explain.Draw(ctx, m, held, 300, seed)
		if err != nil {
			t.Fatal(err)
		}
		imp, err := explain.Importance(ctx, m, rows, explain.ImportanceOptions{Seed: seed, Repeats: 2})
		if err != nil {
			t.Fatal(err)
		}
		dep, err := explain.Dependence(ctx, m, rows, explain.DependenceOptions{Seed: seed, Columns: imp.Leading(2), Points: 4, Rows: 30})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%+v %+v", imp, dep)
		for _, c := range contributions(t, m, rows.X.Slice(0, 2), rows, explain.ContributionOptions{Seed: seed, Permutations: 4}) {
			text += fmt.Sprintf("%+v", c)
		}
		return text
	}
	one := all(1, 1)
	if one != all(3, 1) {
		t.Error("results depend on the number of threads")
	}
	if one == all(1, 2) {
		t.Error("results do not depend on the seed")
	}
}

// A row has the same contributions alone and among others, whichever batch it is in.
func TestRowsAreExplainedAlone(t *testing.T) {
	m := modelOf(t, 12, together)
	back, x := drawn(t, m, dense(normal(9, 12, 1)), nil, 9), normal(3, 12, 2)
	all := contributions(t, m, dense(x), back, explain.ContributionOptions{})
	last := contributions(t, m, dense(x.Slice(2, 3)), back, explain.ContributionOptions{First: 2})
	if !reflect.DeepEqual(all[2], last[0]) {
		t.Errorf("%+v alone, %+v among others", last[0], all[2])
	}
}

// oblique is a table in which a wave along a combination of two of six numbers decides, and a shape moves it.
func oblique(n int) string {
	r := random.New(14, "explain.oblique")
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f,shape,target\n")
	for range n {
		v, shape := make([]float64, 6), r.Intn(3)
		for j := range v {
			v[j] = r.Normal()
			fmt.Fprintf(&b, "%.3f,", v[j])
		}
		fmt.Fprintf(&b, "%s,%.4f\n", []string{"ball", "cube", "rod"}[shape], math.Sin(v[1]+v[4])+0.5*float64(shape))
	}
	return b.String()
}

// Of a full metric, a pair is the cosine of the two rows of A, and of categories that of the blocks. The pair that
// acts together is the first; without a full metric the error says so.
func TestPairs(t *testing.T) {
	if _, err := explain.Pairs(modelOf(t, 2, together)); err == nil || !strings.Contains(err.Error(), "no learned metric") {
		t.Errorf("without a metric: %v", err)
	}
	src, err := dataset.OpenBytes(ctx, "oblique.csv", []byte(oblique(1500)), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	by := func(form string) *model.Model {
		m, _, err := train.Fit(ctx, src, train.Config{Features: 64, Learner: "ridge", Map: "nystrom", Metric: form, MetricLandmarks: 200}, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if _, err := explain.Pairs(by("diagonal")); err == nil || !strings.Contains(err.Error(), "is diagonal") {
		t.Errorf("of a diagonal metric: %v", err)
	}
	m := by("full")
	pairs, err := explain.Pairs(m)
	if err != nil || len(pairs) == 0 {
		t.Fatal(pairs, err)
	}
	if p := pairs[0]; p.First != "b" || p.Second != "e" || p.Strength < 0.9 {
		t.Errorf("the first pair is %+v", p)
	}
	axes := m.Pipeline().Metric().Axes
	norm := func(from, to explain.Column) float64 {
		sum := 0.0
		for i := from.From; i < from.To; i++ {
			for j := to.From; j < to.To; j++ {
				product := 0.0
				for k, v := range axes.Row(i) {
					product += float64(v) * float64(axes.Row(j)[k])
				}
				sum += product * product
			}
		}
		return math.Sqrt(sum)
	}
	columns := map[string]explain.Column{}
	for _, c := range explain.Columns(m) {
		columns[c.Name] = c
	}
	blocks := 0
	for i, p := range pairs {
		a, b := columns[p.First], columns[p.Second]
		want := norm(a, b) / math.Sqrt(norm(a, a)*norm(b, b))
		if math.Abs(p.Strength-want) > 1e-9 || p.Strength > 1 || i > 0 && p.Size > pairs[i-1].Size {
			t.Errorf("%+v, want %g", p, want)
		}
		if b.Categories != nil {
			blocks++
		}
	}
	if blocks == 0 {
		t.Errorf("no pair has the categories: %+v", pairs)
	}
}

// An interruption ends the work at the next column, even if no block of rows is full.
func TestInterruption(t *testing.T) {
	m := modelOf(t, 50, together)
	x := normal(5, 50, 1)
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	calls := 0
	_, err := explain.Importance(stopping, m, drawn(t, m, dense(x), []float64{1, 2, 3, 4, 5}, 5), explain.ImportanceOptions{Repeats: 2,
		Progress: func(float64) {
			calls++
			stop()
		}})
	if !errors.Is(err, context.Canceled) || calls > 2 {
		t.Errorf("%v after %d calls of Progress", err, calls)
	}
}

func TestErrors(t *testing.T) {
	m := modelOf(t, 3, together)
	x := normal(5, 3, 1)
	rows := drawn(t, m, dense(x), nil, 5)
	constant := drawn(t, m, dense(x), make([]float64, 5), 5)
	narrow, err := dataset.FromRows(dense(normal(2, 2, 1)), []float64{1, 2}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := explain.Draw(ctx, m, narrow, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	first := func(ctx context.Context, x matrix.Rows, background *explain.Rows, opt explain.ContributionOptions) error {
		for _, err := range explain.Contributions(ctx, m, x, background, opt) {
			return err
		}
		return nil
	}
	for i, c := range []struct {
		want string
		err  func() error
	}{
		{"no labels", func() error { _, err := explain.Importance(ctx, m, rows, explain.ImportanceOptions{}); return err }},
		{"constant", func() error { _, err := explain.Importance(ctx, m, constant, explain.ImportanceOptions{}); return err }},
		{"2 or more", func() error {
			_, err := explain.Importance(ctx, m, constant, explain.ImportanceOptions{Repeats: 1})
			return err
		}},
		{"have 2 dimensions", func() error { _, err := explain.Importance(ctx, m, wrong, explain.ImportanceOptions{}); return err }},
		{"model is nil", func() error { _, err := explain.Importance(ctx, nil, rows, explain.ImportanceOptions{}); return err }},
		{"no column 3", func() error {
			_, err := explain.Dependence(ctx, m, rows, explain.DependenceOptions{Columns: []int{3}})
			return err
		}},
		{"canceled", func() error { _, err := explain.Dependence(stopped, m, rows, explain.DependenceOptions{}); return err }},
		{"canceled", func() error { return first(stopped, rows.X, rows, explain.ContributionOptions{}) }},
		{"even number", func() error { return first(ctx, rows.X, rows, explain.ContributionOptions{Permutations: 5}) }},
		{"no background", func() error { return first(ctx, rows.X, nil, explain.ContributionOptions{}) }},
		{"is sparse", func() error { return first(ctx, matrix.Rows{CSR: sparse(x)}, rows, explain.ContributionOptions{}) }},
		{"0 rows", func() error { _, err := explain.Draw(ctx, m, narrow, 0, 1); return err }},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
	bags, err := model.New(model.Parts{Pipeline: pipeline.Identity(1), Predictor: function(together), Bag: new(pipeline.Bags)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := explain.Pairs(bags); err == nil || !strings.Contains(err.Error(), "bags") {
		t.Error(err)
	}
	if err := first(stopped, rows.X, rows, explain.ContributionOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
