package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"mercer/internal/engine/units"
	"mercer/train"
)

// CurveOptions say which points a learning curve has. The zero value is a good start.
type CurveOptions struct {
	// Rows are the numbers of training rows; nil means powers of two from 250 up to two thirds of
	// the rows that were drawn.
	Rows []int

	// Features are the numbers of features D of the second curve, on the most rows; nil means
	// powers of four from 64 to that of the training, and an empty list none.
	Features []int

	// Seeds is the number of trainings per point, with different rows and maps; 0 means 3.
	Seeds int

	// Memory is the number of bytes that a training may hold; 0 means no limit.
	Memory int64

	// Progress, if not nil, is called before each training with its number and the total.
	Progress func(training, trainings, rows int)

	// Forecast, if not nil, is called before the first training with what to expect, estimated by small trainings, if
	// that is ForecastFrom seconds or more.
	Forecast     func(Forecast)
	ForecastFrom float64

	lab
}

// Curve is how the error of a training depends on its rows and on its features.
type Curve struct {
	// Metric is the metric of the errors: "error" for classes, "rmse" for numbers, "hamming" for label sets.
	Metric string       `json:"metric"`
	Config train.Config `json:"config"`

	// SourceRows is the number of rows of the source, Held the number of rows per seed on which
	// test errors are measured, Seeds the number of trainings per point.
	SourceRows int `json:"source_rows"`
	Held       int `json:"held_rows"`
	Seeds      int `json:"seeds"`

	// ByRows are the points with growing rows, ByFeatures those with growing features.
	ByRows     []CurvePoint `json:"by_rows"`
	ByFeatures []CurvePoint `json:"by_features,omitempty"`

	// RowsLaw and FeaturesLaw are the laws of the test error, nil if there are fewer than four
	// points. Extrapolated are values of the first beyond the points.
	RowsLaw      *Law           `json:"rows_law,omitempty"`
	FeaturesLaw  *Law           `json:"features_law,omitempty"`
	Extrapolated []Extrapolated `json:"extrapolated,omitempty"`

	// Forecast is the forecast passed to CurveOptions.Forecast, nil if there was none.
	Forecast *Forecast `json:"forecast,omitempty"`

	// Seconds are about SecondsFactor·n^SecondsExponent; both are 0 with fewer than three points.
	SecondsFactor   float64 `json:"seconds_factor"`
	SecondsExponent float64 `json:"seconds_exponent"`
}

// CurvePoint is a point of a curve: means over the seeds, and standard deviations. Bytes is the memory that
// its training holds besides the data that are read, by its plan.
type CurvePoint struct {
	Rows     int `json:"rows"`
	Features int `json:"features"`

	Train   float64 `json:"train"`
	TrainSD float64 `json:"train_sd"`
	Test    float64 `json:"test"`
	TestSD  float64 `json:"test_sd"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// Extrapolated is what to expect beyond the measured points: the error and the seconds by the
// laws, the bytes by the plan of a training on that many rows with the features of the points.
type Extrapolated struct {
	Rows    int     `json:"rows"`
	Test    float64 `json:"test"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// LearningCurve trains cfg on growing, nested subsets of the rows of a sample, and on the largest of
// them with growing numbers of features, several times with different rows and seeds, and
// fits the laws of errors and seconds. The points with growing rows all have the number of features of a
// training on the most rows.
func LearningCurve(ctx context.Context, s *Sample, cfg train.Config, opt CurveOptions) (*Curve, error) {
	if opt.Seeds == 0 {
		opt.Seeds = 3
	}
	cfg.Task = s.Task
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	w := &curveWork{CurveOptions: opt, ctx: ctx, cfg: cfg}
	for i := range opt.Seeds {
		w.samples = append(w.samples, s.redivided(max(cfg.Seed, 1)+uint64(i)))
	}
	c, err := w.points(s)
	if err != nil {
		return nil, err
	}
	if c.Forecast = w.forecast(slices.Concat(c.ByRows, c.ByFeatures)); c.Forecast != nil {
		opt.Forecast(*c.Forecast)
	}
	d := c.ByRows[0].Features // point replaces it by what the model has
	if err := c.each(w.point); err != nil {
		return nil, err
	}
	c.fit(s.all)
	for i := range c.Extrapolated {
		p := CurvePoint{Rows: c.Extrapolated[i].Rows, Features: d}
		if err := w.plan(&p); err != nil {
			return nil, err
		}
		c.Extrapolated[i].Bytes = p.Bytes
	}
	return c, nil
}

// each calls body with the points in order.
func (c *Curve) each(body func(p *CurvePoint) error) error {
	for _, points := range [][]CurvePoint{c.ByRows, c.ByFeatures} {
		for i := range points {
			if err := body(&points[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// points plans the points, which all have the learner of a training on all rows; nothing is trained.
func (w *curveWork) points(s *Sample) (*Curve, error) {
	most := w.samples[0].trainRows()
	for _, v := range w.samples {
		most = min(most, v.trainRows())
	}
	rows, err := curveRows(w.Rows, most, s.source.Name())
	if err != nil {
		return nil, err
	}
	last := rows[len(rows)-1]
	plan, err := w.samples[0].planFrom(w.ctx, last, w.cfg, s.all, w.Memory)
	if err != nil {
		return nil, err
	}
	w.cfg.SetLearner(plan.Config.LearnerName())
	if plan, err = w.samples[0].planFrom(w.ctx, last, w.cfg, last, w.Memory); err != nil {
		return nil, err
	}
	d := 0 // the number of features of all points with growing rows
	features := w.Features
	if !plan.Fixed && !plan.Exact {
		d = plan.Features
		if features == nil {
			for f := 64; f < d; f *= 4 {
				features = append(features, f)
			}
			features = append(features, d)
		}
	}
	if plan.Fixed && len(features) > 0 {
		return nil, errors.New("this configuration has no number of features to vary; leave out the curve of features")
	}
	w.all = w.Seeds * (len(rows) + len(features))
	c := &Curve{Metric: map[string]string{"classify": "error", "multilabel": "hamming", "regress": "rmse"}[s.Task], Config: w.cfg,
		SourceRows: s.all, Held: w.samples[0].heldRows(), Seeds: w.Seeds}
	for _, n := range rows {
		c.ByRows = append(c.ByRows, CurvePoint{Rows: n, Features: d})
	}
	for _, d := range features {
		c.ByFeatures = append(c.ByFeatures, CurvePoint{Rows: last, Features: d})
	}
	return c, c.each(w.plan)
}

// fewestRows is the number of rows of the first point, unless others are asked for: of fewer rfm has none to choose by.
const fewestRows = 20

// curveRows returns the numbers of rows of the points.
func curveRows(asked []int, most int, name string) ([]int, error) {
	if len(asked) > 0 {
		rows := slices.Compact(slices.Sorted(slices.Values(asked)))
		if rows[0] < 1 || rows[len(rows)-1] > most {
			return nil, fmt.Errorf("%s: points of %s to %s rows, but there are %s to train on; the others are for the test",
				name, units.Count(rows[0]), units.Count(rows[len(rows)-1]), units.Count(most))
		}
		return rows, nil
	}
	var rows []int
	for n := min(250, max(most/8, fewestRows)); n < most; n *= 2 {
		rows = append(rows, n)
	}
	if k := len(rows); k > 1 && rows[k-1] > most*3/4 {
		rows = rows[:k-1]
	}
	return append(rows, most), nil
}

// curveWork is the state of a learning curve.
type curveWork struct {
	CurveOptions
	ctx       context.Context
	cfg       train.Config
	samples   []*Sample
	done, all int
}

// config is the configuration of a point; features may be 0, meaning that the configuration decides.
func (w *curveWork) config(p *CurvePoint) train.Config {
	cfg := w.cfg
	if p.Features > 0 {
		cfg.Map.Features = p.Features
	}
	return cfg
}

// plan finds the memory of the training of a point, which may have more rows than the sample.
func (w *curveWork) plan(p *CurvePoint) error {
	plan, err := w.samples[0].planFrom(w.ctx, p.Rows, w.config(p), p.Rows, w.Memory)
	if err == nil {
		p.Bytes = plan.Bytes
	}
	return err
}

// forecast is what to expect of the points, nil if they take little time or cannot be forecast.
func (w *curveWork) forecast(points []CurvePoint) *Forecast {
	if w.Forecast == nil {
		return nil
	}
	f := &Forecast{Configurations: len(points), Trainings: w.all}
	most := CurvePoint{}
	for _, p := range points {
		most.Rows, most.Features = max(most.Rows, p.Rows), max(most.Features, p.Features)
		f.Bytes = max(f.Bytes, p.Bytes)
	}
	s := w.samples[0].ofRows(most.Rows)
	s.perRow = 0 // they are in memory
	cfg := w.config(&most)
	if short, err := Short(w.ctx, s, cfg, w.Memory, w.ForecastFrom/float64(w.all)); short || err != nil {
		return nil
	}
	cost, err := Predict(w.ctx, s, cfg, PredictOptions{Memory: w.Memory, Seconds: 0.5})
	if err != nil {
		return nil
	}
	for _, p := range points {
		d := cmp.Or(p.Features, cost.Plan.Features)
		read, mapping, solve := cost.stages(p.Rows, d)
		_, judging, _ := cost.stages(s.heldRows()+min(p.Rows, mostHeld), d)
		f.Seconds += float64(len(w.samples)) * (read + mapping + solve + judging)
	}
	f.Bytes += s.bytes()
	if f.Seconds < w.ForecastFrom {
		return nil
	}
	return f
}

// point trains a point with every seed.
func (w *curveWork) point(p *CurvePoint) error {
	n, asked := p.Rows, w.config(p)
	var own, test []float64
	for i, s := range w.samples {
		w.done++
		if w.Progress != nil {
			w.Progress(w.done, w.all, n)
		}
		cfg := asked
		cfg.Seed = max(cfg.Seed, 1) + uint64(i)
		runtime.GC() // collect what the last training held
		start := w.now()
		m, _, err := w.train(w.ctx, s.train(0, n), cfg, train.Options{Memory: w.Memory})
		if err != nil {
			return err
		}
		p.Seconds += w.now().Sub(start).Seconds() / float64(len(w.samples))
		_, p.Features = m.Pipeline().Dims()
		ofOwn, err := losses(w.ctx, m, s.train(0, min(n, mostHeld)))
		if err != nil {
			return err
		}
		ofTest, err := losses(w.ctx, m, s.held(0))
		if err != nil {
			return err
		}
		own, test = append(own, meanLoss(s.Task, ofOwn)), append(test, meanLoss(s.Task, ofTest))
	}
	p.Train, p.TrainSD = meanDeviation(own)
	p.Test, p.TestSD = meanDeviation(test)
	return nil
}

// meanDeviation returns the mean of numbers and their standard deviation, 0 for a single number.
func meanDeviation(v []float64) (mean, sd float64) {
	mean, se := meanError(v)
	return mean, se * math.Sqrt(float64(len(v)))
}

// Law is an error a + b·n^-c: a is the part that more rows do not reduce.
type Law struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`

	// Misfit is the root mean squared distance of the points from the law.
	Misfit float64 `json:"misfit"`
}

// At is the law's error for n rows, or features.
func (l *Law) At(n float64) float64 { return l.A + l.B*math.Pow(n, -l.C) }

// fit fits the laws. The source has all rows.
func (c *Curve) fit(all int) {
	c.RowsLaw = fitLaw(c.ByRows, c.Seeds, func(p CurvePoint) float64 { return float64(p.Rows) })
	c.FeaturesLaw = fitLaw(c.ByFeatures, c.Seeds, func(p CurvePoint) float64 { return float64(p.Features) })
	var n, t []float64
	for _, p := range c.ByRows[max(0, len(c.ByRows)-4):] {
		n, t = append(n, float64(p.Rows)), append(t, p.Seconds)
	}
	if len(n) < 3 {
		return // no law for rows either
	}
	c.SecondsFactor, c.SecondsExponent = powerLaw(n, t)
	if c.SecondsExponent < 0 { // milliseconds, which are mostly noise
		c.SecondsFactor, c.SecondsExponent = slices.Max(t), 0
	}
	if c.RowsLaw == nil {
		return
	}
	last := c.ByRows[len(c.ByRows)-1].Rows
	for _, rows := range slices.Compact(slices.Sorted(slices.Values([]int{2 * last, 4 * last, all}))) {
		if rows > last {
			c.Extrapolated = append(c.Extrapolated, Extrapolated{Rows: rows, Test: c.RowsLaw.At(float64(rows)),
				Seconds: c.SecondsFactor * math.Pow(float64(rows), c.SecondsExponent)})
		}
	}
}

// fitLaw fits a + b·n^-c with a, b ≥ 0 and c in (0, 2] to the test errors of at least four points
// by weighted least squares: for each c of a fine grid, a and b follow. The weights come from
// the points' standard errors, taken as at least a hundredth of the error.
func fitLaw(points []CurvePoint, seeds int, size func(CurvePoint) float64) *Law {
	if len(points) < 4 {
		return nil
	}
	best, least := &Law{}, math.Inf(1)
	for c := 0.02; c <= 2.0001; c += 0.01 {
		var w, wx, wxx, wy, wxy float64
		for _, p := range points {
			x, y := math.Pow(size(p), -c), p.Test
			se := max(p.TestSD/math.Sqrt(float64(seeds)), 0.01*y, 1e-12)
			k := 1 / (se * se)
			w, wx, wxx, wy, wxy = w+k, wx+k*x, wxx+k*x*x, wy+k*y, wxy+k*x*y
		}
		b := (w*wxy - wx*wy) / (w*wxx - wx*wx)
		a := (wy - b*wx) / w
		if !(b >= 0) {
			a, b = wy/w, 0
		} else if a < 0 {
			a, b = 0, wxy/wxx
		}
		law := Law{A: a, B: b, C: c}
		loss := 0.0
		for _, p := range points {
			se := max(p.TestSD/math.Sqrt(float64(seeds)), 0.01*p.Test, 1e-12)
			e := (p.Test - law.At(size(p))) / se
			loss += e * e
			law.Misfit += (p.Test - law.At(size(p))) * (p.Test - law.At(size(p))) / float64(len(points))
		}
		law.Misfit = math.Sqrt(law.Misfit)
		if loss < least {
			*best, least = law, loss
		}
	}
	return best
}
