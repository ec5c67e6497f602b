package dataset

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// batches hands out the rows of a batch in batches of a given size.
type batches struct {
	Source
	size int
}

func (s *batches) Open(ctx context.Context) (Reader, error) {
	r, err := s.Source.Open(ctx)
	return &batchesReader{Reader: r, size: s.size}, err
}

type batchesReader struct {
	Reader
	size, at int
	have     *matrix.Batch
	out      matrix.Batch
}

func (r *batchesReader) Next() (*matrix.Batch, error) {
	if r.have == nil || r.at == r.have.X.Len() {
		b, err := r.Reader.Next()
		if err != nil {
			return nil, err
		}
		r.have, r.at = b, 0
	}
	end := min(r.at+r.size, r.have.X.Len())
	r.out = r.have.Slice(r.at, end)
	r.at = end
	return &r.out, nil
}

func numbersSource(t testing.TB, sparse bool) (Source, *matrix.Dense) {
	t.Helper()
	s := random.New(1, "survey-test")
	x := matrix.NewDense(900, 6)
	y := make([]float64, 900)
	for i := range 900 {
		row := x.Row(i)
		row[0] = float32(1e6 + s.Normal()) // a mean far from 0
		row[1] = 5                         // constant
		row[2] = float32(s.Intn(4))
		row[3] = float32(s.Normal())
		if s.Intn(3) == 0 {
			row[4] = float32(-s.Uniform())
		}
		y[i] = s.Normal()
	}
	rows := matrix.Rows{Dense: x}
	if sparse {
		for i := range 900 {
			x.Row(i)[0] -= 1e6
		}
		m := &matrix.CSR{Rows: 900, Cols: 6, Ptr: []int{0}}
		for i := range 900 {
			for j, v := range x.Row(i) {
				if v != 0 {
					m.Idx, m.Val = append(m.Idx, int32(j)), append(m.Val, v)
				}
			}
			m.Ptr = append(m.Ptr, len(m.Idx))
		}
		rows = matrix.Rows{CSR: m}
	}
	src, err := FromRows(rows, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src, x
}

func TestSurveyIsTheNaiveComputation(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		src, x := numbersSource(t, sparse)
		sum, err := Survey(context.Background(), src, SurveyOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Rows != 900 || sum.Dim != 6 || sum.Sparse != sparse || sum.Outputs != 1 {
			t.Errorf("%+v", sum)
		}
		total := int64(0)
		for j, c := range sum.Columns {
			low, high, mean, nonZero, integer := math.Inf(1), math.Inf(-1), 0.0, int64(0), true
			for i := range 900 {
				v := float64(x.Row(i)[j])
				low, high, mean = min(low, v), max(high, v), mean+v/900
				if v != 0 {
					nonZero++
				}
				integer = integer && v == math.Trunc(v)
			}
			variance := 0.0
			for i := range 900 {
				e := float64(x.Row(i)[j]) - mean
				variance += e * e / 900
			}
			if c.Min != low || c.Max != high || c.NonZero != nonZero || c.Integer != integer ||
				math.Abs(c.Mean-mean) > 1e-9*(1+math.Abs(mean)) || math.Abs(c.Variance-variance) > 1e-6*variance+1e-20 {
				t.Errorf("sparse %t, column %d: %+v, want %g %g %g %g %d %t", sparse, j, c, low, high, mean, variance, nonZero, integer)
			}
			total += nonZero
		}
		if sum.NonZero != total || math.Abs(sum.Density()-float64(total)/5400) > 1e-12 {
			t.Errorf("%d values are not 0, want %d", sum.NonZero, total)
		}
		for _, size := range []int{1, 7, 1000} {
			again, err := Survey(context.Background(), &batches{src, size}, SurveyOptions{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again, sum) {
				t.Errorf("sparse %t: batches of %d change the survey", sparse, size)
			}
		}
	}
}

func TestSampleIsUniform(t *testing.T) {
	const n, k, seeds = 200, 50, 400
	x := matrix.NewDense(n, 1)
	for i := range n {
		x.Row(i)[0] = float32(i)
	}
	src, err := FromRows(matrix.Rows{Dense: x}, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]float64, n)
	for seed := range seeds {
		sum, err := Survey(context.Background(), src, SurveyOptions{Seed: uint64(seed), Sample: k})
		if err != nil {
			t.Fatal(err)
		}
		rows := sum.Sample.Dense.Data
		if len(rows) != k || !slices.IsSorted(rows) {
			t.Fatalf("seed %d: %v", seed, rows)
		}
		for _, v := range rows {
			counts[int(v)]++
		}
	}
	// Each row is in a sample with probability k/n; 5 deviations for 200 rows at once.
	p := float64(k) / n
	for i, c := range counts {
		if math.Abs(c-seeds*p) > 5*math.Sqrt(seeds*p*(1-p)) {
			t.Errorf("row %d was in %g of %d samples, want %g", i, c, seeds, seeds*p)
		}
	}
}

func TestSurveyOfGrowingWidths(t *testing.T) {
	f, err := openMemory([]byte("1 1:1\n2 3:2\n1 2:-1 7:0.5\n"), Options{BatchRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := Survey(context.Background(), f, SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Dim != 7 || len(sum.Columns) != 7 || sum.Sample.CSR.Cols != 7 {
		t.Errorf("%+v", sum)
	}
	if c := sum.Columns[1]; c.Min != -1 || c.Max != 0 {
		t.Errorf("column 1: %+v", c)
	}
	if c := sum.Columns[4]; c.Min != 0 || c.Max != 0 || c.Variance != 0 {
		t.Errorf("column 4 is empty: %+v", c)
	}
}

// summaryOf surveys labels alone.
func summaryOf(t testing.TB, y []float64, outputs int, names []string) *Summary {
	t.Helper()
	n := len(names)
	if y != nil {
		n = len(y) / outputs
	}
	src, err := FromRows(matrix.Rows{Dense: matrix.NewDense(max(n, 3), 1)}, y, outputs, names)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Survey(context.Background(), src, SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestTaskByLabels(t *testing.T) {
	labels := func(n int, f func(i int) float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = f(i)
		}
		return y
	}
	for _, c := range []struct {
		name string
		y    []float64
		want string
	}{
		{"-1 and 1", labels(50, func(i int) float64 { return float64(2*(i%2) - 1) }), "classify"},
		{"0.5 and 1.5", labels(50, func(i int) float64 { return float64(i%2) + 0.5 }), "classify"},
		{"digits", labels(500, func(i int) float64 { return float64(i % 10) }), "classify"},
		{"shuttle's classes 1 to 7", labels(500, func(i int) float64 { return float64(i%7 + 1) }), "classify"},
		{"letters 1 to 26", labels(1000, func(i int) float64 { return float64(i%26 + 1) }), "classify"},
		{"1000 classes", labels(20_000, func(i int) float64 { return float64(i % 1000) }), "classify"},
		{"rings 1 to 29 without 28", labels(4000, func(i int) float64 {
			if i%29 == 27 {
				return 5
			}
			return float64(i%29 + 1)
		}), "regress"},
		{"years", labels(5000, func(i int) float64 { return float64(1922 + i%90) }), "regress"},
		{"prices", labels(3000, func(i int) float64 { return float64(1000 * (i % 1500)) }), "regress"},
		{"fractions", labels(300, func(i int) float64 { return float64(i%5) / 4 }), "regress"},
		{"few rows, all different", labels(10, func(i int) float64 { return float64(i * i) }), "regress"},
		{"very many", labels(300_000, func(i int) float64 { return float64(i) }), "regress"},
	} {
		task, why, err := summaryOf(t, c.y, 1, nil).Task("auto")
		if err != nil || task != c.want || why == "" {
			t.Errorf("%s: %s (%s), %v, want %s", c.name, task, why, err, c.want)
		}
	}
}

func TestTaskErrors(t *testing.T) {
	for _, c := range []struct {
		sum  *Summary
		task string
		want string
	}{
		{summaryOf(t, nil, 0, nil), "auto", "no labels"},
		{summaryOf(t, nil, 0, []string{"b", "a", "b"}), "regress", `the label "a" is no number`},
		{summaryOf(t, []float64{1, 2, 3, 4, 5, 6}, 2, nil), "classify", "2 label columns"},
	} {
		if _, _, err := c.sum.Task(c.task); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if task, _, err := summaryOf(t, []float64{1, 2, 3, 4, 5, 6}, 2, nil).Task("auto"); task != "regress" || err != nil {
		t.Errorf("several outputs: %s, %v", task, err)
	}
	if task, _, err := summaryOf(t, []float64{1, 2, 3}, 1, nil).Task("regress"); task != "regress" || err != nil {
		t.Errorf("as asked: %s, %v", task, err)
	}
	if _, err := summaryOf(t, []float64{4, 4, 4}, 1, nil).Classes(); err == nil ||
		!strings.Contains(err.Error(), `every row has the label "4"`) {
		t.Errorf("one class: %v", err)
	}
}

func TestClassesAreInOrder(t *testing.T) {
	f, err := openMemory([]byte("1,10\n1,9\n1,x\n1,+1\n1,1.0\n1,-2\n1,abc\n"), Options{Header: "no"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := Survey(context.Background(), f, SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := sum.Classes()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"-2", "1", "9", "10", "abc", "x"}; !slices.Equal(c.Labels(), want) {
		t.Errorf("classes %q, want %q", c.Labels(), want)
	}
	again := NewClasses(c.Labels())
	b, err := everything(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{3, 2, 5, 1, 1, 0, 4} {
		if got := again.Of(b, i); got != want {
			t.Errorf("row %d has class %d, want %d", i, got, want)
		}
	}
	if got := again.Of(&matrix.Batch{Y: []float64{77}, Outputs: 1}, 0); got != -1 {
		t.Errorf("an unknown label has class %d", got)
	}
}
