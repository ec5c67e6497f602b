package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/digits"
	"mercer/internal/app/render"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/units"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/learn"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// demo is the state of the command of that name.
type demo struct {
	part     string
	rows     int
	dims     int
	features int
	batch    int
	seed     uint64
	out      string
	write    string
	json     bool
	progress string

	w    io.Writer // for text; discards with --json
	bars *Progress
}

func newDemo() *cobra.Command {
	d := &demo{}
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "See what Mercer does, on data inside the program",
		Long: `Learn handwritten digits (1,797 real images inside the program) with a linear model, with
Mercer and with the exact kernel machine, side by side; then learn from a generated stream of
a million rows that is never in memory; save the model, load it, predict. Takes seconds and
needs no files.`,
		Example: `  mercer demo
  mercer demo --part stream --rows 10000000 --features 512
  mercer demo --write digits    # digits/train.csv and digits/test.csv, to try the other commands on`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&d.part, "part", "all", "what to show: all, digits, stream")
	f.IntVar(&d.rows, "rows", 1_000_000, "rows of the stream")
	f.IntVar(&d.dims, "dims", 20, "dimensions of the stream")
	f.IntVar(&d.features, "features", 512, "features of the model that learns the stream")
	f.IntVar(&d.batch, "batch", 4096, "largest number of rows handled at a time (the result is the same)")
	f.Uint64Var(&d.seed, "seed", 1, "seed of all that is random")
	f.StringVarP(&d.out, "output", "o", "", "file to keep the stream's model in")
	f.StringVar(&d.write, "write", "", "only write the digits as train.csv and test.csv into this directory")
	f.BoolVar(&d.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &d.progress)
	return cmd
}

func (d *demo) run(cmd *cobra.Command) error {
	if !contains("all digits stream", d.part) {
		return usagef("--part %q is not known; known are all, digits, stream", d.part)
	}
	if d.rows < 1000 || d.dims < 5 || d.features < 2 || d.batch < 1 {
		return usagef("the stream needs at least 1000 --rows, 5 --dims, 2 --features and 1 row a --batch")
	}
	var err error
	if d.bars, err = NewProgress(cmd, d.progress); err != nil {
		return err
	}
	d.w = cmd.OutOrStdout()
	if d.json {
		d.w = io.Discard
	}
	if d.write != "" {
		return d.writeDigits(cmd.Context())
	}
	var result render.DemoJSON
	fmt.Fprintln(d.w, "Mercer: kernel machines at linear cost")
	if d.part != "stream" {
		if result.Digits, err = d.digits(cmd.Context()); err != nil {
			return err
		}
	}
	if d.part != "digits" {
		if result.Stream, err = d.stream(cmd.Context()); err != nil {
			return err
		}
	}
	if d.json {
		return render.JSON(cmd.OutOrStdout(), result)
	}
	fmt.Fprint(d.w, "\nYour own data:  mercer train DATA.csv -o MODEL --holdout 0.2\n")
	return nil
}

func openDigits(ctx context.Context, seed uint64) (rows, test dataset.Source, err error) {
	src, err := dataset.OpenBytes(ctx, "digits.csv.gz", digits.CSVGz, dataset.Options{})
	if err != nil {
		return nil, nil, err
	}
	rows, test = dataset.Split(src, 0.25, seed)
	return rows, test, nil
}

// digitsLambda is the λ of all machines on the digits, so that they differ in the kernel alone;
// it is small, as is usual for data with little noise.
const digitsLambda = 1e-3

// digits compares a linear model, Mercer's and the exact kernel machine.
func (d *demo) digits(ctx context.Context) ([]render.DigitsJSON, error) {
	rows, test, err := openDigits(ctx, d.seed)
	if err != nil {
		return nil, err
	}
	trainRows, err := dataset.Collect(ctx, rows, 0)
	if err != nil {
		return nil, err
	}
	testRows, err := dataset.Collect(ctx, test, 0)
	if err != nil {
		return nil, err
	}
	render.DigitsHead(d.w, trainRows.X.Len(), testRows.X.Len())
	var results []render.DigitsJSON
	more := float64(render.ManyDigits) / float64(trainRows.X.Len())
	show := func(method string, of machineTest, power, bytes float64) {
		results = append(results, render.DigitsJSON{Method: method, Error: of.wrong, Train: of.training.Seconds(),
			Predict: of.predicting.Seconds(), ManySeconds: of.training.Seconds() * math.Pow(more, power), ManyBytes: bytes})
	}

	var rbf *model.Model
	for _, c := range []struct {
		name  string
		width float64 // of the features, whose second moments are kept
		cfg   train.Config
	}{
		{"linear model", float64(trainRows.X.Dim()), train.Config{Kernel: train.Kernel{Name: kernel.Linear.Name()}, Learner: train.Ridge{Lambda: digitsLambda},
			Seed: d.seed}},
		{"Mercer, 2,048 random features", 2048, train.Config{Learner: train.Ridge{Lambda: digitsLambda}, Map: train.Map{Features: 2048},
			Seed: d.seed}},
	} {
		m, tested, err := testFeatures(ctx, c.cfg, rows, test)
		if err != nil {
			return nil, err
		}
		show(c.name, tested, 1, 8*c.width*c.width)
		rbf = m
	}
	tested, err := testExact(ctx, rbf, trainRows, testRows)
	if err != nil {
		return nil, err
	}
	show("exact kernel machine", tested, 3, 8*render.ManyDigits*render.ManyDigits)
	return results, d.showDigits(rbf, testRows.X, results)
}

// machineTest is the share of the test rows that a machine gets wrong, and how long it takes.
type machineTest struct {
	wrong                float64
	training, predicting time.Duration
}

// testFeatures trains a linear machine on features of the rows, and tests it.
func testFeatures(ctx context.Context, cfg train.Config, rows, test dataset.Source) (*model.Model, machineTest, error) {
	start := time.Now()
	m, _, err := train.Fit(ctx, rows, cfg, train.Options{})
	if err != nil {
		return nil, machineTest{}, err
	}
	trained := time.Now()
	metrics, err := eval.Evaluate(ctx, m, test, eval.Options{})
	if err != nil {
		return nil, machineTest{}, err
	}
	return m, machineTest{*metrics.Error, trained.Sub(start), time.Since(trained)}, nil
}

// testExact trains and tests the exact machine with the scaling, the kernel and γ of a model.
func testExact(ctx context.Context, of *model.Model, rows, test *matrix.Batch) (machineTest, error) {
	classes := dataset.NewClasses(of.Classes())
	start := time.Now()
	x, err := of.Pipeline().Scale(rows.X)
	if err != nil {
		return machineTest{}, err
	}
	k := len(of.Classes())
	targets := make([]float64, x.Len()*k)
	for i := range x.Len() {
		learn.Target(targets[i*k:(i+1)*k], classes.Of(rows, i))
	}
	machine, _, err := exact.FitRidge(ctx, of.Info().Feature.Kernel, x, targets, k, nil, exact.Ridge{Lambda: digitsLambda})
	if err != nil {
		return machineTest{}, err
	}
	trained := time.Now()
	xt, err := of.Pipeline().Scale(test.X)
	if err != nil {
		return machineTest{}, err
	}
	scores := matrix.NewDense(xt.Len(), k)
	if err := machine.Scores(scores, xt); err != nil {
		return machineTest{}, err
	}
	wrong := 0
	for i := range scores.Rows {
		if of.Class(scores.Row(i)) != classes.Of(test, i) {
			wrong++
		}
	}
	return machineTest{float64(wrong) / float64(xt.Len()), trained.Sub(start), time.Since(trained)}, nil
}

// drawnDigits is how many of the test digits are drawn.
const drawnDigits = 7

// showDigits draws the first test digits and what the model reads, and compares the methods.
func (d *demo) showDigits(m *model.Model, test matrix.Rows, methods []render.DigitsJSON) error {
	scores := matrix.NewDense(drawnDigits, m.Outputs())
	if err := m.Scores(scores, test.Slice(0, drawnDigits)); err != nil {
		return err
	}
	var digits []render.Digit
	for i := range drawnDigits {
		digits = append(digits, render.Digit{Pixels: test.Dense.Row(i), Read: m.Classes()[m.Class(scores.Row(i))]})
	}
	render.DigitsPicture(d.w, digits)
	render.DigitsTitle(d.w, digitsLambda)
	for _, of := range methods {
		render.DigitsLine(d.w, of)
	}
	render.DigitsBars(d.w, methods)
	return nil
}

// testRows is the number of fresh rows that the stream's model is tested on.
const testRows = 50_000

// stream learns from rows that are generated as they are read.
func (d *demo) stream(ctx context.Context) (*render.StreamJSON, error) {
	rows := dataset.Generate(dataset.Synthetic{Rows: d.rows, Dim: d.dims, Seed: d.seed, BatchRows: d.batch})
	// Fresh rows of the same function: those after the training rows.
	test := dataset.Generate(dataset.Synthetic{First: d.rows, Rows: testRows, Dim: d.dims, Seed: d.seed, BatchRows: d.batch})
	res := &render.StreamJSON{Rows: d.rows, Dims: d.dims, Features: d.features}
	render.StreamHead(d.w, d.rows, d.dims)

	start := time.Now()
	m, report, err := train.Fit(ctx, rows, train.Config{Map: train.Map{Features: d.features}, Seed: d.seed},
		train.Options{Progress: d.bars.Report})
	d.bars.Done()
	if err != nil {
		return nil, err
	}
	res.Seconds = time.Since(start).Seconds()
	res.RowsPerSec = float64(d.rows) / res.Seconds
	res.PeakRSS = peakRSS()
	metrics, err := eval.Evaluate(ctx, m, test, eval.Options{})
	if err != nil {
		return nil, err
	}
	res.R2 = *metrics.R2

	render.StreamTrained(d.w, res, report.Read, report.Map, report.Solve)

	// A tenth of the rows tells what a linear model can do.
	few := dataset.Generate(dataset.Synthetic{Rows: max(1000, d.rows/10), Dim: d.dims, Seed: d.seed, BatchRows: d.batch})
	linear, _, err := train.Fit(ctx, few, train.Config{Kernel: train.Kernel{Name: kernel.Linear.Name()}, Seed: d.seed}, train.Options{})
	if err != nil {
		return nil, err
	}
	if metrics, err = eval.Evaluate(ctx, linear, test, eval.Options{}); err != nil {
		return nil, err
	}
	res.LinearR2 = *metrics.R2
	render.StreamScores(d.w, res)

	dir, err := os.MkdirTemp("", "mercer-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "stream.mercer")
	if err := m.Save(path); err != nil {
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	res.ModelBytes = st.Size()
	loaded, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	if res.Identical, err = samePredictions(ctx, m, loaded, test); err != nil {
		return nil, err
	}
	if !res.Identical {
		return nil, errors.New("the loaded model predicts something else than the trained one")
	}
	if d.out != "" { // once nothing is left to be interrupted
		if err := m.Save(d.out); err != nil {
			return nil, err
		}
	}
	render.StreamSaved(d.w, res, testRows)
	return res, nil
}

// samePredictions says whether two models give the rows of src the same scores.
func samePredictions(ctx context.Context, a, b *model.Model, src dataset.Source) (bool, error) {
	var sa, sb matrix.Dense
	for batch, err := range dataset.Each(ctx, src) {
		if err != nil {
			return false, err
		}
		sa.Reshape(batch.X.Len(), a.Outputs())
		sb.Reshape(batch.X.Len(), b.Outputs())
		if err := errors.Join(a.Scores(&sa, batch.X), b.Scores(&sb, batch.X)); err != nil {
			return false, err
		}
		for i, v := range sa.Data {
			if v != sb.Data[i] {
				return false, nil
			}
		}
	}
	return true, nil
}

// writeDigits writes the digits as CSV files.
func (d *demo) writeDigits(ctx context.Context) error {
	rows, test, err := openDigits(ctx, d.seed)
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(d.write, 0o755); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		src  dataset.Source
	}{{"train.csv", rows}, {"test.csv", test}} {
		all, err := dataset.Collect(ctx, part.src, 0)
		if err != nil {
			return err
		}
		path := filepath.Join(d.write, part.name)
		f, err := atomicfile.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var text []byte
		for i := range all.X.Len() {
			for _, v := range all.X.Dense.Row(i) {
				text = fmt.Appendf(text, "%g,", v)
			}
			text = fmt.Appendf(text, "%g\n", all.Y[i])
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
		if err := f.Commit(); err != nil {
			return err
		}
		render.Line(d.w, "wrote", "%s: %s rows", path, units.Count(all.X.Len()))
	}
	return nil
}

// demoModel trains features of the rbf kernel on the digits, with probabilities.
func demoModel(ctx context.Context) (*model.Model, error) {
	rows, _, err := openDigits(ctx, 1)
	if err != nil {
		return nil, err
	}
	m, _, err := train.Fit(ctx, rows, train.Config{Learner: train.Logistic{}, Map: train.Map{Features: 2048}, Seed: 1}, train.Options{})
	return m, err
}
