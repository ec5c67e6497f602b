package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// shops are rows of a shop, one of 200, by name or number, and of two numbers. The target depends on the shop, in no
// order and with this weight, on one of the numbers, and on noise.
func shops(t *testing.T, n int, effect float64, seed uint64, named bool) func(dataset.Options) dataset.Source {
	t.Helper()
	fixed, draw := random.New(1, "shops"), random.New(seed, "shop rows")
	effects := make([]float64, 200)
	for i := range effects {
		effects[i] = fixed.Normal()
	}
	var text strings.Builder
	text.WriteString("shop,a,b,y\n")
	for range n {
		shop, a := draw.Intn(len(effects)), draw.Normal()
		name := fmt.Sprint(1000 + shop)
		if named {
			name = fmt.Sprint("shop ", shop)
		}
		fmt.Fprintf(&text, "%s,%.4f,%.4f,%.4f\n", name, a, draw.Normal(), effect*effects[shop]+math.Sin(a)+draw.Normal())
	}
	return func(opt dataset.Options) dataset.Source {
		src, err := dataset.OpenBytes(context.Background(), "shops.csv", []byte(text.String()), opt)
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
}

// squared is the model's mean squared error on rows, and that of their mean.
func squared(t *testing.T, src dataset.Source, test func(dataset.Options) dataset.Source, cfg Config) (e float64, means string) {
	t.Helper()
	m, _, err := Fit(context.Background(), src, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for b, err := range dataset.Each(context.Background(), test(dataset.Options{Schema: &m.Info().Schema, Label: "y"})) {
		if err != nil {
			t.Fatal(err)
		}
		x := b.X.Dense
		if b.X.CSR != nil {
			x = &matrix.Dense{}
			b.X.CSR.Densify(x)
		}
		out := matrix.NewDense(x.Rows, 1)
		if err := m.Scores(out, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		for i := range x.Rows {
			d := float64(out.Row(i)[0]) - b.Y[i]
			e += d * d
			n++
		}
	}
	return e / float64(n), m.Info().Training.Why["means"]
}

// Numbers of shops say nothing by their order: their mean targets do, are found, and lower the error of new rows.
func TestMeansOfNumbersThatAreNames(t *testing.T) {
	testenv.Long(t, "numbers that are names are coded by target means, which lower the error of new rows")
	src, test := shops(t, 2000, 2, 1, false)(dataset.Options{}), shops(t, 2000, 2, 2, false)
	without, _ := squared(t, src, test, Config{Learner: Named{Options: map[string]any{"target_means": "none"}}})
	with, means := squared(t, src, test, Config{})
	if !strings.HasPrefix(means, "shop (") {
		t.Errorf("means of %q", means)
	}
	// The noise is 1, and the mean of the 10 rows of a shop errs by a tenth of it and of the sine.
	if with > 1.2 || without < 1.2*with {
		t.Errorf("squared error %g with means and %g without", with, without)
	}
}

// Where shops matter nothing, means bring nothing: they are not taken, and if they are asked for, rows that a model has
// learned give nothing away that others would miss.
func TestMeansOfNoise(t *testing.T) {
	testenv.Long(t, "target means of a column of noise are not taken, and do no harm if they are")
	src, test := shops(t, 1500, 0, 1, true)(dataset.Options{}), shops(t, 3000, 0, 2, true)
	without, means := squared(t, src, test, Config{})
	if means != "" {
		t.Errorf("means of %q", means)
	}
	with, means := squared(t, src, test, Config{Learner: Named{Options: map[string]any{"target_means": "categories"}}})
	if means != "shop (as asked)" {
		t.Errorf("means of %q", means)
	}
	// With their own targets, means of 7 rows would explain a seventh of the noise, and of no new row.
	if with > 1.03*without {
		t.Errorf("squared error %g with means of noise, %g without", with, without)
	}
}

// The model depends neither on batches nor on threads, and what cannot be is refused.
func TestMeansAreSettled(t *testing.T) {
	testenv.Long(t, "target means are the same in any batches and threads")
	var files [2]bytes.Buffer
	for i, batch := range []int{64, 1000} {
		threads := runtime.GOMAXPROCS(i + 1)
		m, _, err := Fit(context.Background(), shops(t, 1500, 1, 1, true)(dataset.Options{BatchRows: batch}),
			Config{Learner: Named{Options: map[string]any{"target_means": "all", "leaf": 500}}}, Options{})
		runtime.GOMAXPROCS(threads)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Info().Training.Why["means"], "shop") || m.Info().Schema.Columns[0].Means == nil {
			t.Errorf("means of %q", m.Info().Training.Why["means"])
		}
		if err := m.Write(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("other batches and threads make another model")
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: Named{Options: map[string]any{"target_means": "towns"}}}, "target_means"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"target_means": "all"}}}, "target-means"},
	} {
		if _, _, err := Fit(context.Background(), shops(t, 1500, 1, 1, true)(dataset.Options{}), c.cfg, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, which does not name %s", c.cfg, err, c.want)
		}
	}
}

// Categories of more dimensions than the default learner takes have means.
func TestMeansOfWideCategories(t *testing.T) {
	testenv.Long(t, "categories of 1,200 dimensions are coded by target means")
	var text strings.Builder
	text.WriteString("a,b,c,d,x,y\n")
	draw := random.New(1, "wide")
	for range 2000 {
		a := draw.Intn(300)
		fmt.Fprintf(&text, "a%d,b%d,c%d,d%d,%.3f,%.3f\n", a, draw.Intn(300), draw.Intn(300), draw.Intn(300), draw.Normal(), float64(a)/100+draw.Normal()/10)
	}
	src, err := dataset.OpenBytes(context.Background(), "wide.csv", []byte(text.String()), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Fit(context.Background(), src, Config{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info := m.Info(); src.Schema().Dim <= wideRows || m.Dim() != 5 || !strings.HasPrefix(info.Training.Why["means"], "a, b, c, d (") ||
		len(info.Schema.Columns[0].Categories) < 290 {
		t.Errorf("%d dimensions became %d: %v", src.Schema().Dim, m.Dim(), info.Training.Why)
	}
}
