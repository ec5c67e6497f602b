package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
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
func drawn(t *testing.T, m *model.Model, x matrix.Rows, y []float64, n int) *eval.Rows {
	t.Helper()
	outputs := 1
	if y == nil {
		outputs = 0
	}
	src, err := dataset.FromRows(x, y, outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := eval.Draw(ctx, m, src, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contributions are those of all rows of x.
func contributions(t *testing.T, m *model.Model, x matrix.Rows, background *eval.Rows,
	opt eval.ContributionOptions) (list []*eval.Contribution) {
	t.Helper()
	for c, err := range eval.Contributions(ctx, m, x, background, opt) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func dense(x *matrix.Dense) matrix.Rows { return matrix.Rows{Dense: x} }

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
	if got, want := contributions(t, m, matrix.Rows{CSR: x}, a, eval.ContributionOptions{}),
		contributions(t, m, full(x), b, eval.ContributionOptions{}); !reflect.DeepEqual(got, want) {
		t.Error("contributions of sparse rows differ")
	}
	for name, of := range map[string]func(r *eval.Rows) (any, error){
		"importance": func(r *eval.Rows) (any, error) { return eval.Importance(ctx, m, r, eval.ImportanceOptions{}) },
		"dependence": func(r *eval.Rows) (any, error) {
			return eval.Dependence(ctx, m, r, eval.DependenceOptions{Rows: 20})
		},
	} {
		got, err := of(a)
		want, other := of(b)
		if err != nil || other != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s of sparse rows differs: %v, %v\n%+v\n%+v", name, err, other, got, want)
		}
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
		c := train.Config{Map: train.Map{Features: 256}, Learner: train.Ridge{}}
		if classes {
			c.SetLearner("logistic")
		}
		m, held := fitted(t, classes, c)
		rows, err := eval.Draw(ctx, m, held, 5000, 1)
		if err != nil {
			t.Fatal(err)
		}
		imp, err := eval.Importance(ctx, m, rows, eval.ImportanceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range imp.Columns {
			planted := strings.Contains("shape size depth", column.Column)
			if r := column.Rises[0]; planted != (i < 3) || planted && r.Mean < 10*r.SE || !planted && math.Abs(r.Mean) > 4*r.SE+0.01 {
				t.Errorf("classes %v: column %d is %+v", classes, i, column)
			}
		}
		metrics, err := eval.Evaluate(ctx, m, held, eval.Options{})
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

// Everything is the same on any number of threads, and at another seed it is not.
func TestSameOnAnyNumberOfThreads(t *testing.T) {
	m, held := fitted(t, false, train.Config{Map: train.Map{Features: 128}, Learner: train.Ridge{}})
	all := func(threads int, seed uint64) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		rows, err := eval.Draw(ctx, m, held, 300, seed)
		if err != nil {
			t.Fatal(err)
		}
		imp, err := eval.Importance(ctx, m, rows, eval.ImportanceOptions{Seed: seed, Repeats: 2})
		if err != nil {
			t.Fatal(err)
		}
		dep, err := eval.Dependence(ctx, m, rows, eval.DependenceOptions{Seed: seed, Columns: imp.Leading(2), Points: 4, Rows: 30})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%+v %+v", imp, dep)
		for _, c := range contributions(t, m, rows.X.Slice(0, 2), rows, eval.ContributionOptions{Seed: seed, Permutations: 4}) {
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
	all := contributions(t, m, dense(x), back, eval.ContributionOptions{})
	last := contributions(t, m, dense(x.Slice(2, 3)), back, eval.ContributionOptions{First: 2})
	if !reflect.DeepEqual(all[2], last[0]) {
		t.Errorf("%+v alone, %+v among others", last[0], all[2])
	}
}

// An interruption ends the work at the next column, even if no block of rows is full.
func TestInterruption(t *testing.T) {
	m := modelOf(t, 50, together)
	x := normal(5, 50, 1)
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	calls := 0
	_, err := eval.Importance(stopping, m, drawn(t, m, dense(x), []float64{1, 2, 3, 4, 5}, 5), eval.ImportanceOptions{Repeats: 2,
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
	wrong, err := eval.Draw(ctx, m, narrow, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	first := func(ctx context.Context, x matrix.Rows, background *eval.Rows, opt eval.ContributionOptions) error {
		for _, err := range eval.Contributions(ctx, m, x, background, opt) {
			return err
		}
		return nil
	}
	for i, c := range []struct {
		want string
		err  func() error
	}{
		{"no labels", func() error { _, err := eval.Importance(ctx, m, rows, eval.ImportanceOptions{}); return err }},
		{"constant", func() error { _, err := eval.Importance(ctx, m, constant, eval.ImportanceOptions{}); return err }},
		{"2 or more", func() error {
			_, err := eval.Importance(ctx, m, constant, eval.ImportanceOptions{Repeats: 1})
			return err
		}},
		{"have 2 dimensions", func() error { _, err := eval.Importance(ctx, m, wrong, eval.ImportanceOptions{}); return err }},
		{"model is nil", func() error { _, err := eval.Importance(ctx, nil, rows, eval.ImportanceOptions{}); return err }},
		{"no column 3", func() error {
			_, err := eval.Dependence(ctx, m, rows, eval.DependenceOptions{Columns: []int{3}})
			return err
		}},
		{"canceled", func() error { _, err := eval.Dependence(stopped, m, rows, eval.DependenceOptions{}); return err }},
		{"canceled", func() error { return first(stopped, rows.X, rows, eval.ContributionOptions{}) }},
		{"even number", func() error { return first(ctx, rows.X, rows, eval.ContributionOptions{Permutations: 5}) }},
		{"no background", func() error { return first(ctx, rows.X, nil, eval.ContributionOptions{}) }},
		{"is sparse", func() error { return first(ctx, matrix.Rows{CSR: sparse(x)}, rows, eval.ContributionOptions{}) }},
		{"0 rows", func() error { _, err := eval.Draw(ctx, m, narrow, 0, 1); return err }},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
	bags, err := model.New(model.Parts{Pipeline: pipeline.Identity(1), Predictor: function(together), Bag: new(pipeline.Bags)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eval.Pairs(bags); err == nil || !strings.Contains(err.Error(), "bags") {
		t.Error(err)
	}
	if err := first(stopped, rows.X, rows, eval.ContributionOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
