package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mercer/internal/engine/option"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// Ridge are the options of ridge regression, which minimises ‖y - Zw - b‖² + λ‖w‖².
type Ridge struct {
	// Lambda is λ; 0 means that LambdaBy chooses it, one of
	// learn.LambdaBy ("" means "auto"). To get λ = 0 itself, set LambdaBy to "given".
	Lambda   float64 `json:"lambda,omitempty" range:"positive"`
	LambdaBy string  `json:"lambda_by,omitempty" search:"no"`

	// Path asks to report every λ of the path, with LambdaBy "auto" also the
	// leave-one-out errors.
	Path bool `json:"path,omitempty" search:"no"`

	// Variance asks a regression for the standard deviations of its predictions, which make the
	// model larger by 4·D² bytes (Model.Deviations).
	Variance bool `json:"variance,omitempty" search:"no"`

	// Conformal asks a regression for prediction intervals that contain the truth with this
	// probability (Model.Intervals); a tenth of the rows is held back for calibration.
	Conformal float64 `json:"conformal,omitempty" search:"no"`
}

func (Ridge) learner() string { return "ridge" }

// ridgeLearner is ridge regression, also for classes; one pass, no memory for rows.
var ridgeLearner = Traits{
	name:    Ridge{}.learner(),
	tasks:   []string{"classify", "regress", "multilabel"},
	options: Ridge{},
	squares: true,
	help: map[string]*option.Phrase{
		"lambda": option.Phrasef("λ of the ridge, 0 being least squares, or trace*NUMBER for parts of the mean variance of the "+
			"features, or auto (default: chosen by %s); of lasso, elastic-net and group-lasso (default: chosen on a held-out tenth "+
			"of the rows); of online (default 1e-5); of rfm, for all rows (default: chosen in each leaf)", option.Ref("lambda_by")),
		"lambda_by": option.Phrasef("how the ridge chooses λ: " + strings.Join(lambdaNames(), ", ") + " (default: auto, " +
			"folds for fewer than 20,000 rows and up to 2,048 features, else held-out)"),
		"path":     option.Phrasef("show every λ of the ridge's path with its error (by default leave-one-out)"),
		"variance": option.Phrasef("keep in the model what the ridge needs for standard deviations of predictions, 4·D² bytes"),
		"conformal": option.Phrasef("probability of intervals around the ridge's predictions, such as 0.9; a tenth of the rows is " +
			"held back for them"),
	},
	check: checked((*Ridge).check),

	parts:  func(f *job) int { return learn.Parts(f.lambdaBy()) },
	solver: (*job).ridge,
	kept:   true,
	memory: (*job).ridgeMemory,
	resolve: func(f *job, c *Config) {
		if by := f.lambdaBy(); by != "given" {
			c.Set("lambda_by", by)
		}
	},
	fix: func(c *Config, r model.Report) {
		o := c.Learner.(Ridge)
		o.Path = false
		o.Lambda, o.LambdaBy = r.(*learn.RidgeReport).Lambda, "given"
		c.Learner = o
	},
	sharing: sharing{
		setting: "lambda",
		able: func(c *Config, _ string) bool {
			o := As[Ridge](c.Learner)
			return o.Lambda > 0 && !o.Variance && !o.Path && o.Conformal == 0
		},
		parts: ridgeOfParts,
	},
	tried: tried{
		first: func(d Data) bool { return d.Task == "regress" || d.Classes > manyClasses }, // its time hardly depends on the number of classes
		variants: func(c Config, d Data) []Config {
			if d.Task == "classify" && d.Classes <= manyClasses || d.Task == "multilabel" {
				return []Config{c}
			}
			return nil
		},
		onePass: true,
	},
}

// ridgeOfParts shares statistics of parts of the rows: those of all rows except one part are a difference, and
// each λ costs one Cholesky factorisation.
func ridgeOfParts(parts []*moments.Stats) (PartsFit, error) {
	shared, err := learn.NewRidgeParts(parts)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, some []int, cfgs []Config) ([]*learn.Linear, []error) {
		all, errs := make([]*learn.Linear, len(cfgs)), make([]error, len(cfgs))
		for _, trace := range []bool{false, true} {
			var which []int
			var lambdas []float64
			for k, c := range cfgs {
				if o := As[Ridge](c.Learner); (o.LambdaBy == "trace") == trace {
					which, lambdas = append(which, k), append(lambdas, o.Lambda)
				}
			}
			if which == nil {
				continue
			}
			models, own, err := shared.Fit(ctx, some, lambdas, trace)
			for e, k := range which {
				if errs[k] = err; err == nil {
					all[k], errs[k] = models[e], own[e]
				}
			}
		}
		return all, errs
	}, nil
}

// check checks how λ is chosen and what is asked for besides the predictions.
func (o *Ridge) check(*Config) error {
	o.LambdaBy = strings.ToLower(o.LambdaBy)
	names := lambdaNames()
	switch {
	case o.LambdaBy != "" && !slices.Contains(names, o.LambdaBy):
		return fmt.Errorf("lambda_by %q is not known; known are %s", o.LambdaBy, strings.Join(names, ", "))
	case o.LambdaBy == "trace" && o.Lambda == 0:
		return errors.New("lambda_by trace multiplies lambda by the mean variance of the features; give a lambda, such as 1e-3")
	case o.Lambda != 0 && o.LambdaBy != "" && o.LambdaBy != "given" && o.LambdaBy != "trace":
		return fmt.Errorf("lambda %g is given, so that lambda_by %s has nothing to choose; leave one of them out", o.Lambda, o.LambdaBy)
	case o.Path && (o.Lambda != 0 || o.LambdaBy == "given"):
		return fmt.Errorf("lambda %g is given, so that there is no path of others; leave one of them out", o.Lambda)
	case o.Conformal != 0:
		return learn.CheckLevel(o.Conformal)
	}
	return nil
}

// lambdaNames are the ways to choose λ.
func lambdaNames() []string {
	names, _ := learn.LambdaBy()
	return names
}

// lambdaBy says how λ is chosen.
func (f *job) lambdaBy() string {
	switch c := As[Ridge](f.cfg.Learner); {
	case c.Lambda != 0 && c.LambdaBy != "trace":
		return "given"
	case c.LambdaBy != "" && c.LambdaBy != "auto":
		return c.LambdaBy
	case c.Variance:
		return "evidence"
	case c.Path:
		return "loo"
	}
	return learn.AutoLambda(f.sum.Rows, f.learnDim())
}

// ridgeMemory is the number of bytes of the statistics of a ridge regression.
func (f *job) ridgeMemory() (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.outputs)
	o, by := As[Ridge](f.cfg.Learner), f.lambdaBy()
	parts := float64(learn.Parts(by))
	if f.collected != nil {
		parts = float64(len(f.collected))
	}
	work := 8.0
	switch by {
	case "folds":
		work = 16
	case "gcv", "loo", "evidence":
		work = 24
	}
	if o.Variance || by == "given" && o.Lambda == 0 {
		work = 24
	}
	if o.Variance {
		work += 4
	}
	square := 8*parts + work
	// The statistics are of all features, the solver's work is on their principal components.
	all := float64(f.mapDim())
	return 8*parts*all*all + work*d*d + 4096*parts*all + 8192*all + 8*(parts+3)*all*k, fmt.Sprintf("%g·D² bytes with λ by %s", square, by)
}

// ridge is the solver of the ridge learner. It goes over the rows once more to choose λ by leave-one-out, and to calibrate intervals.
func (f *job) ridge() (solver, error) {
	opt := learn.Ridge{By: f.lambdaBy(), Rows: f.passAgain, Room: learn.NewRoom(f.learnDim(), f.outputs)}
	if f.collected != nil { // the rows are gone
		opt.By, opt.Rows = As[Ridge](f.cfg.Learner).LambdaBy, nil
	}
	return func(parts []*moments.Stats) (*solution, error) { return f.solveRidge(parts, opt) }, nil
}

// newParts returns empty statistics.
func (f *job) newParts(n int) []*moments.Stats {
	parts := make([]*moments.Stats, n)
	for i := range parts {
		parts[i] = moments.New(f.mapDim(), f.outputs)
	}
	return parts
}

// collect adds all rows to the parts of the statistics, except those that calibrate; first is the
// number of the first row.
func (f *job) collect(parts []*moments.Stats, first int) error {
	lists := make([][]int, len(parts))
	return f.pass(first, func(row, i int, _ []float64) {
		if !f.cfg.heldBack(row) {
			p := f.cfg.part(len(parts), row)
			lists[p] = append(lists[p], i)
		}
	}, func(z *matrix.Dense, y, w []float64) error {
		for p, list := range lists {
			parts[p].AddSome(list, z, y, w)
			lists[p] = list[:0]
		}
		return nil
	})
}

// passAgain goes over the training rows once more, giving those that calibrate a weight of 0.
func (f *job) passAgain(body func(z *matrix.Dense, y, w []float64) error) error {
	return f.pass(0, func(row, i int, w []float64) {
		if f.cfg.heldBack(row) {
			w[i] = 0
		}
	}, body)
}

// pass goes over all rows, a block at a time. It calls each for every row, with its number and its
// place in the block and in the block's weights, then block for all of them.
func (f *job) pass(first int, each func(row, i int, w []float64), block func(z *matrix.Dense, y, w []float64) error) error {
	k := f.outputs
	targets, weights := make([]float64, pipeline.Chunk*k), make([]float64, pipeline.Chunk)
	var dense matrix.Dense
	return f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
		start := time.Now()
		defer func() {
			took := time.Since(start).Seconds()
			f.report.Solve += took
			f.report.Collect += took
		}()
		rows := z.Dense
		if z.CSR != nil {
			z.CSR.Densify(&dense)
			rows = &dense
		}
		y, w := targets[:rows.Rows*k], weights[:rows.Rows]
		if err := f.targets(b, y); err != nil {
			return err
		}
		for i := range w {
			w[i] = f.weight(b, i)
			each(first+b.First+i, i, w)
		}
		return block(rows, y, w)
	})
}

// part is the part, of n, that a row belongs to. With two, the second is a tenth of the rows, held out
// to choose λ; more than two are folds.
func (c *Config) part(n, row int) int {
	switch {
	case n == 2 && random.Hash(c.Seed, "held-out", uint64(row)) < math.MaxUint64/10:
		return 1
	case n > 2:
		return int(random.Hash(c.Seed, "fold", uint64(row)) % uint64(n))
	}
	return 0
}

// heldBack says whether a row is in the tenth that is held back for intervals.
func (c *Config) heldBack(row int) bool {
	o, ridge := c.Learner.(Ridge)
	return ridge && o.Conformal != 0 && random.Hash(c.Seed, "calibrate", uint64(row)) < math.MaxUint64/10
}

// solveRidge makes the predictor from the statistics.
func (f *job) solveRidge(parts []*moments.Stats, opt learn.Ridge) (*solution, error) {
	o := f.cfg.Learner.(Ridge)
	if f.task != "regress" && (o.Variance || o.Conformal != 0) {
		return nil, fmt.Errorf("%s: deviations and intervals are for numbers to predict, but the labels are classes (%s)", f.src.Name(),
			f.why["task"])
	}
	f.progress("solve", 0, -1)
	start := time.Now()
	before := f.report.Map + f.report.Solve
	opt.Lambda, opt.Path, opt.Variance = o.Lambda, o.Path, o.Variance
	fitted, err := opt.Fit(f.ctx, parts)
	if err != nil {
		return nil, f.located(err)
	}
	// The time of a second pass is already counted.
	f.report.Solve += max(0, time.Since(start).Seconds()-(f.report.Map+f.report.Solve-before))
	f.report.Choose = fitted.Report.Seconds
	s := &solution{predictor: model.Linear{Linear: fitted.Linear}, report: fitted.Report}
	if fitted.Variance != nil {
		s.predictor = model.Ridge{Linear: model.Linear{Linear: fitted.Linear}, Variance: fitted.Variance}
	}
	if o.Conformal != 0 {
		fitted.Report.Conformal, err = f.calibrateIntervals(s.predictor, fitted.Variance)
	}
	return s, err
}

// calibrateIntervals measures the errors of the model on the rows that were held back.
func (f *job) calibrateIntervals(p model.Predictor, variance *learn.Variance) (*learn.Conformal, error) {
	k := f.outputs
	var residuals []float64
	var at []int
	scores, deviations, work := new(matrix.Dense), new(matrix.Dense), new(matrix.Dense)
	err := f.pass(0, func(row, i int, _ []float64) {
		if f.cfg.heldBack(row) {
			at = append(at, i)
		}
	}, func(z *matrix.Dense, y, _ []float64) error {
		scores.Reshape(z.Rows, k)
		p.Scores(scores, matrix.Rows{Dense: z})
		if variance != nil {
			deviations.Reshape(z.Rows, k)
			variance.Deviations(deviations, matrix.Rows{Dense: z}, work)
		}
		for _, i := range at {
			for t := range k {
				e := math.Abs(y[i*k+t] - float64(scores.Row(i)[t]))
				if variance != nil {
					e /= float64(deviations.Row(i)[t])
				}
				residuals = append(residuals, e)
			}
		}
		at = at[:0]
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, e := range residuals {
		if e-e != 0 {
			return nil, option.Errorf("%s: a prediction of a held-back row, or its deviation of 0, gives no interval; train without %s",
				f.src.Name(), option.Ref("variance"))
		}
	}
	c, err := learn.NewConformal(f.cfg.Learner.(Ridge).Conformal, residuals, k, variance != nil)
	if err != nil {
		return nil, f.located(err)
	}
	return c, nil
}
