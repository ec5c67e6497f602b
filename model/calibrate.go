package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/safetensors"
	"mercer/learn"
	"mercer/matrix"
)

// Probabilities come from the learner, where its loss is a likelihood, or are fitted to scores
// of rows that the learner has not seen: the rows are divided into folds by a hash of their
// numbers, the learner is trained again without a fold and scores it. Scaling and map stay those
// of all rows, which know no labels, and λ or C that which all rows chose. Where there are many
// rows, not all folds are needed: it stops after calibrateRows scores.

// calibrateFolds is how many folds there are by default; calibrateRows how many scores suffice
// for functions of one number.
const calibrateFolds, calibrateRows = 5, 20_000

// prober is a predictor whose scores stand for probabilities without calibration.
type prober interface {
	// probabilities writes those of a row's scores: of the classes, or the labels. It is
	// false where the predictor has none after all.
	probabilities(dst []float64, scores []float32) bool
}

// probabilities are those of the logistic loss.
func (o onlineModel) probabilities(dst []float64, scores []float32) bool {
	if o.loss != "logistic" {
		return false
	}
	learn.Sigmoids(dst, len(scores), o.labels, func(t int) float64 { return float64(scores[t]) })
	return true
}

// CalibrationInfo says how scores become probabilities.
type CalibrationInfo struct {
	// Method is "platt", "isotonic" or "temperature".
	Method string `json:"method"`

	// Folds is into how many parts the rows were divided, Used how many of these were scored,
	// by as many trainings, and Rows how many rows they have.
	Folds int `json:"folds"`
	Used  int `json:"used"`
	Rows  int `json:"rows"`

	// Temperature is T of that method.
	Temperature float64 `json:"temperature,omitempty"`
}

// String is the calibration in words.
func (c *CalibrationInfo) String() string {
	text := c.Method
	if c.Temperature != 0 {
		text += fmt.Sprintf(" %.3g", c.Temperature)
	}
	return text + fmt.Sprintf(", fitted to the scores of %d rows of %d of %d folds that the learner had not seen", c.Rows, c.Used, c.Folds)
}

// checkCalibrate finds a wrong value among the options of calibration.
func (c *Config) checkCalibrate() error {
	known := append([]string{"none"}, learn.CalibrationMethods()...)
	switch {
	case c.Calibrate != "" && !slices.Contains(known, c.Calibrate):
		return fmt.Errorf("calibrate %q is not known; known are %s", c.Calibrate, strings.Join(known, ", "))
	case c.CalibrateFolds < 0 || c.CalibrateFolds == 1:
		return fmt.Errorf("calibrate_folds %d: give 2 or more", c.CalibrateFolds)
	case c.CalibrateFolds > 0 && !c.calibrates():
		return fmt.Errorf("calibrate_folds is given, but not how to calibrate; use one of %s", strings.Join(learn.CalibrationMethods(), ", "))
	case c.calibrates() && c.Task == "regress":
		return errors.New("numbers to predict have no probabilities; leave out calibrate")
	}
	return nil
}

func (c *Config) calibrates() bool { return c.Calibrate != "" && c.Calibrate != "none" }

// checkCalibration refuses a calibration that the task or the rows do not allow.
func (f *fit) checkCalibration(sum *dataset.Summary) error {
	switch {
	case !f.cfg.calibrates():
	case f.classes == nil && f.labels == nil:
		return fmt.Errorf("%s: numbers to predict (%s) have no probabilities; leave out --calibrate, or use --task classify", f.src.Name(), f.m.info.Training.Why["task"])
	case sum.Rows < 2*f.folds():
		return fmt.Errorf("%s: %d rows are too few to calibrate by %d folds", f.src.Name(), sum.Rows, f.folds())
	}
	return nil
}

func (f *fit) folds() int {
	if f.cfg.CalibrateFolds > 0 {
		return f.cfg.CalibrateFolds
	}
	return calibrateFolds
}

// calibrate fits the probabilities of a model that is trained.
func (f *fit) calibrate(sum *dataset.Summary) error {
	if !f.cfg.calibrates() {
		return nil
	}
	info := &CalibrationInfo{Method: f.cfg.Calibrate, Folds: f.folds()}
	k := f.m.info.Outputs
	var scores []float32
	var y, weights []float64
	sizes := make([]int, info.Folds)
	for row := range sum.Rows {
		sizes[dataset.FoldOf(row, info.Folds, f.cfg.Seed)]++
	}
	for fold := range info.Folds {
		if f.cfg.CalibrateFolds == 0 && len(y) >= calibrateRows*k {
			break
		}
		if sizes[fold] == 0 || sizes[fold] == sum.Rows {
			continue
		}
		rest, held := dataset.Fold(f.src, info.Folds, fold, f.cfg.Seed)
		inner, err := f.without(rest, sum, sum.Rows-sizes[fold])
		if err != nil {
			return err
		}
		err = inner.scored(f.ctx, held, func(b *matrix.Batch, s *matrix.Dense) error {
			n := len(y)
			y = append(y, make([]float64, b.X.Len()*k)...)
			if err := f.targets(b, y[n:]); err != nil {
				return err
			}
			for i := range b.X.Len() {
				scores = append(scores, s.Row(i)...)
				w := 1.0 // without the factors of classes, by which they would seem more frequent
				if b.Weights != nil {
					w = b.Weights[i]
				}
				weights = append(weights, w)
			}
			return nil
		})
		if err != nil {
			return err
		}
		info.Used++
	}
	info.Rows = len(y) / k
	c, err := learn.FitCalibration(info.Method, f.labels != nil, scores, y, weights, k)
	if err != nil {
		return err
	}
	info.Temperature = c.T
	f.m.calibration, f.m.info.Training.Calibration = c, info
	return nil
}

// without trains the learner anew on some of the rows, with all that has been chosen.
func (f *fit) without(src dataset.Source, sum *dataset.Summary, rows int) (*fit, error) {
	inner := &fit{ctx: f.ctx, src: src, cfg: f.cfg, report: f.report, classes: f.classes, labels: f.labels, learner: f.learner, classWeights: f.classWeights}
	inner.opt.Memory = f.opt.Memory
	inner.opt.Progress = func(_ string, rows int, share float64) { f.progress("calibrate", rows, share) }
	inner.cfg.Calibrate, inner.cfg.CalibrateFolds, inner.cfg.Path = "", 0, false
	t := &f.m.info.Training
	switch {
	case t.Ridge != nil:
		inner.cfg.Lambda, inner.cfg.LambdaBy = t.Ridge.Lambda, "given"
	case t.Lasso != nil:
		inner.cfg.Lambda = t.Lasso.Lambda
	case t.SVM != nil:
		inner.cfg.C = t.SVM.C
	case t.Primal != nil:
		inner.cfg.C = t.Primal.C
	case t.L1 != nil:
		inner.cfg.C = t.L1.C
	case t.KernelRidge != nil:
		inner.cfg.Lambda = t.KernelRidge.Lambda
	case t.Iterative != nil:
		inner.cfg.Lambda = t.Iterative.Lambda
	case t.Falkon != nil:
		inner.cfg.Lambda = t.Falkon.Lambda
	case t.Online != nil:
		inner.cfg.Lambda, inner.cfg.C, inner.cfg.Rate = t.Online.Lambda, 0, t.Online.Rate
	}
	inner.m = &Model{info: f.m.info}
	inner.m.info.Training.Why = maps.Clone(t.Why)
	from, to := &f.m.mapping, &inner.m.mapping
	to.in, to.scaler, to.fmap, to.domain = from.in, from.scaler, from.fmap, from.domain
	to.projection, inner.reduced = from.projection, true
	fewer := *sum
	fewer.Rows = rows
	if err := f.learner.train(inner, &fewer); err != nil {
		return nil, fmt.Errorf("training for probabilities, without a fold: %w", err)
	}
	return inner, nil
}

// scored hands out the rows of a source with their scores.
func (f *fit) scored(ctx context.Context, src dataset.Source, body func(b *matrix.Batch, scores *matrix.Dense) error) error {
	r, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var scores matrix.Dense
	rows := 0
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		scores.Reshape(b.X.Len(), f.m.info.Outputs)
		if err := f.m.Scores(&scores, b.X); err != nil {
			return fmt.Errorf("%s: %w", src.Name(), err)
		}
		if err := body(b, &scores); err != nil {
			return err
		}
		rows += b.X.Len()
		f.progress("calibrate", rows, r.Progress())
	}
}

// HasProbabilities says whether the model has probabilities: it was calibrated, or its learner
// has a logistic loss.
func (m *Model) HasProbabilities() bool {
	if m.calibration != nil {
		return true
	}
	p, ok := m.learned.(prober)
	return ok && p.probabilities(make([]float64, m.probable()), make([]float32, m.info.Outputs))
}

// probable is of how many classes or labels there are probabilities.
func (m *Model) probable() int {
	if m.info.Classes != nil {
		return len(m.info.Classes)
	}
	return m.info.Outputs
}

// Probabilities writes into dst what a row's scores say of its classes, in the order of Classes:
// probabilities that add up to 1; or of its labels, in the order of Labels: the probability of
// each apart. It fails for a model without probabilities. The class of the largest score,
// which is predicted, need not be the one of the largest probability where classes are
// calibrated one against all.
func (m *Model) Probabilities(dst []float64, scores []float32) error {
	if len(dst) != m.probable() || len(scores) != m.info.Outputs {
		panic(fmt.Sprintf("model: Probabilities of %d scores into %d numbers, want %d into %d", len(scores), len(dst), m.info.Outputs, m.probable()))
	}
	if m.calibration != nil {
		m.calibration.Probabilities(dst, scores)
		return nil
	}
	if p, ok := m.learned.(prober); ok && p.probabilities(dst, scores) {
		return nil
	}
	return m.NoProbabilities()
}

// NoProbabilities is the error of a model without probabilities, nil for all others.
func (m *Model) NoProbabilities() error {
	switch {
	case m.HasProbabilities():
		return nil
	case m.info.Task == "regress":
		return errors.New("the model predicts numbers, which have no probabilities")
	case m.info.Task == "outliers":
		return errors.New("the model tells outliers, which have no probabilities")
	case m.info.Classes == nil && m.info.Labels == nil:
		return errors.New("the model has no classes, and so no probabilities")
	}
	return fmt.Errorf("the model has no probabilities: the learner %s gives scores; train it with --calibrate platt (or isotonic, or temperature)", m.info.Training.Learner)
}

// saveCalibration puts the calibration and the golden probabilities into a model file.
func (m *Model) saveCalibration(tensors map[string]*safetensors.Tensor) {
	line := func(v []float64) *safetensors.Tensor { return &safetensors.Tensor{Shape: []int{len(v)}, F64: v} }
	if m.golden.proba != nil {
		tensors["golden.proba"] = &safetensors.Tensor{Shape: []int{goldenRows, m.probable()}, F64: m.golden.proba}
	}
	switch c := m.calibration; {
	case c == nil:
	case c.Method == "platt":
		tensors["calibration.a"], tensors["calibration.b"] = line(c.A), line(c.B)
	case c.Method == "isotonic":
		for t := range c.Knots {
			tensors[fmt.Sprintf("calibration.knots.%d", t)], tensors[fmt.Sprintf("calibration.rise.%d", t)] = line(c.Knots[t]), line(c.Rise[t])
		}
	}
}

// restoreCalibration is the counterpart of saveCalibration.
func (m *Model) restoreCalibration(t stored) error {
	if info := m.info.Training.Calibration; info != nil {
		if m.info.Task == "regress" {
			return errors.New("a calibrated model of numbers")
		}
		c := &learn.Calibration{Method: info.Method, Labels: m.info.Labels != nil, T: info.Temperature}
		var err error
		line := func(name string) (v []float64) {
			x := t["calibration."+name]
			if x == nil || len(x.Shape) != 1 || x.F64 == nil {
				err = fmt.Errorf("tensor %q is missing, or no list of float64", "calibration."+name)
				return nil
			}
			return x.F64
		}
		switch c.Method {
		case "platt":
			c.A, c.B = line("a"), line("b")
		case "isotonic":
			for k := range m.info.Outputs {
				c.Knots, c.Rise = append(c.Knots, line(fmt.Sprintf("knots.%d", k))), append(c.Rise, line(fmt.Sprintf("rise.%d", k)))
				if err != nil {
					break
				}
			}
		}
		if err == nil {
			err = c.Check(m.info.Outputs)
		}
		if err != nil {
			return fmt.Errorf("calibration: %w", err)
		}
		m.calibration = c
	}
	if !m.HasProbabilities() {
		return nil
	}
	p, err := t.want("golden.proba", true, goldenRows, m.probable())
	if err != nil {
		return err
	}
	m.golden.proba = p.F64
	return nil
}

// takeProba records the probabilities of the golden rows.
func (g *golden) takeProba(m *Model) {
	g.proba = nil
	if !m.HasProbabilities() {
		return
	}
	g.proba = make([]float64, goldenRows*m.probable())
	g.eachProba(m, g.proba)
}

func (g *golden) eachProba(m *Model, dst []float64) {
	n := m.probable()
	for i := range goldenRows {
		if err := m.Probabilities(dst[i*n:(i+1)*n], g.scores.Row(i)); err != nil {
			panic("model: " + err.Error()) // callers know that there are probabilities
		}
	}
}

// verifyProba recomputes the golden probabilities from the golden scores.
func (g *golden) verifyProba(m *Model) error {
	if g.proba == nil {
		return nil
	}
	p := make([]float64, len(g.proba))
	g.eachProba(m, p)
	for i, v := range p {
		if !(math.Abs(v-g.proba[i]) <= 1e-6) {
			return fmt.Errorf("the model gives a probability of %g where it gave %g when it was trained", v, g.proba[i])
		}
	}
	return nil
}
