package train

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
	"mercer/model"
)

// Probabilities come from the learner if its loss is a likelihood. Otherwise they are fitted to the scores
// of rows that the learner has not seen: a hash of the row number divides the rows into folds, and for
// each fold the learner is trained on the others and scores it. The scaling and the map, which use no
// labels, stay those of all rows, and so does λ or C. With many rows not all folds are needed: it stops
// after calibrateRows scores.
//
// The learner rfm has scores of rows that it held out for its own choices, so that its probabilities cost nothing: they are fitted
// if nothing else is asked for, by the method temperature of machines by the logistic loss, and by logit of others: both keep the predicted
// classes. So does a support vector machine whose C was chosen on held-out rows, by temperature. Other learners of scores hold out nothing:
// where probabilities are wanted without being asked for (Options.Probabilities), they are trained once more on half of the rows, which takes
// half the time or less, and the scores of the other half tell the temperature.

// unseen are rows with the scores of machines that were trained without them, and targets ±1: n×outputs.
type unseen struct {
	scores     []float32
	y, weights []float64
}

// unseenOf are some of the rows with their scores, side by side.
func (a *answers) unseenOf(all *gathered, rows []int, scores []float32) unseen {
	targets, k := a.allTargets(all), a.outputs
	kept := unseen{scores: scores}
	for _, i := range rows {
		kept.y = append(kept.y, targets[i*k:][:k]...)
		w := 1.0 // without class weights, which would distort the frequencies
		if all.weights != nil {
			w = all.weights[i]
			if a.classWeights != nil && w != 0 {
				w /= a.classWeights[all.class[i]]
			}
		}
		kept.weights = append(kept.weights, w)
	}
	return kept
}

// calibrateFolds is the default number of folds. calibrateRows is the number of scores that suffice
// to fit functions of one variable, and freeRows the number of held-out rows from which probabilities are fitted unasked.
const calibrateFolds, calibrateRows, freeRows = 5, 20_000, 10

// Of fewer than fewHalved rows both halves are scored, each by a training on the other. Fewer than leastHalved tell nothing.
// Of many rows a part of at most mostHalved takes the place of a half, so that it takes little memory beside the first training.
const fewHalved, leastHalved, mostHalved = 1000, 10, 8192

// Calibration turns the scores of classes into probabilities.
type Calibration struct {
	// Method is "platt", "isotonic", "temperature", "logit" or "quota"
	// (learn.Calibration), fitted on rows that the learner has not seen (Model.Probabilities), or "none". "auto", or "", is "temperature" or "logit" for
	// the learner rfm and for an svm that chooses C, which hold out rows anyway, without ClassWeight; with Options.Probabilities also for others,
	// by a training on half of the rows; and "none" otherwise.
	Method string `json:"calibrate,omitempty" search:"no"`

	// Folds is the number of folds for that; 0 means 5.
	Folds int `json:"calibrate_folds,omitempty" search:"no"`
}

// Help says what a setting of calibration is, by its name in JSON.
func (Calibration) Help(setting string) string {
	return map[string]string{
		"calibrate": "fit probabilities to scores of rows that the learner has not seen: none, " + strings.Join(learn.CalibrationMethods(), ", ") +
			" (default: logit or temperature, which keep the predicted classes; none with class weights, bags or a learner that may be continued)",
		"calibrate_folds": "folds to fit probabilities by (default 5, or as many as give 20,000 scores)",
	}[setting]
}

// checkCalibrate checks the options of calibration.
func (c *Config) checkCalibrate() error {
	known := append([]string{"auto", "none"}, learn.CalibrationMethods()...)
	switch {
	case c.Calibrate.Method != "" && !slices.Contains(known, c.Calibrate.Method):
		return fmt.Errorf("calibrate %q is not known; known are %s", c.Calibrate.Method, strings.Join(known, ", "))
	case c.Calibrate.Folds < 0 || c.Calibrate.Folds == 1:
		return fmt.Errorf("calibrate_folds %d: give 2 or more", c.Calibrate.Folds)
	case c.Calibrate.Folds > 0 && !c.calibrates():
		return fmt.Errorf("calibrate_folds is given, but not how to calibrate; use one of %s", strings.Join(learn.CalibrationMethods(), ", "))
	case c.calibrates() && c.Task == "regress":
		return errors.New("numbers to predict have no probabilities; leave out calibrate")
	}
	return nil
}

// calibrates says whether a calibration is asked for, which takes scores of folds if the learner has no others.
func (c *Config) calibrates() bool {
	return c.Calibrate.Method != "" && c.Calibrate.Method != "auto" && c.Calibrate.Method != "none"
}

// givesProbabilities says that scores of rows which the learner held out for its own choices become probabilities unasked. A threshold
// that is a probability has those that are fitted to all rows.
func (f *problem) givesProbabilities() bool {
	r, err := learn.ParseThreshold(f.cfg.Threshold)
	given := f.cfg.Threshold != "" && err == nil && r.Kind == "probability"
	return !f.cfg.calibrates() && f.cfg.Calibrate.Method != "none" && f.classWeights == nil && !given
}

// checkCalibration rejects a calibration that the task or the rows do not allow.
func (f *problem) checkCalibration() error {
	switch {
	case !f.cfg.calibrates():
	case f.classes == nil && f.labels == nil:
		return option.Errorf("%s: numbers to predict (%s) have no probabilities; leave out %s, or use %s", f.src.Name(),
			f.why["task"], option.Ref("calibrate"), option.Set("task", "classify"))
	case f.sum.Rows < 2*f.cfg.folds():
		return fmt.Errorf("%s: %d rows are too few to calibrate by %d folds", f.src.Name(), f.sum.Rows, f.cfg.folds())
	}
	return nil
}

func (c *Config) folds() int {
	if c.Calibrate.Folds > 0 {
		return c.Calibrate.Folds
	}
	return calibrateFolds
}

// calibrate fits the probabilities of a trained model.
func (f *job) calibrate(s *solution) error {
	fewest := freeRows
	if f.cfg.calibrates() {
		fewest = 1
	}
	free := len(s.unseen.weights) >= fewest && f.cfg.Calibrate.Folds == 0
	switch {
	case f.cfg.Calibrate.Method == "none":
		return nil
	case f.cfg.calibrates() && free:
		return f.fitCalibration(s, &model.CalibrationInfo{Method: f.cfg.Calibrate.Method}, s.unseen)
	case f.cfg.calibrates():
		used, err := f.scoreUnseen(s)
		if err != nil {
			return err
		}
		return f.fitCalibration(s, &model.CalibrationInfo{Method: f.cfg.Calibrate.Method, Folds: f.cfg.folds(), Used: used}, s.unseen)
	case f.classWeights != nil: // whose scores are no estimates of probabilities
		return nil
	case free:
		return f.fitCalibration(s, &model.CalibrationInfo{Method: rfm.Temperature(s.report.(*rfm.Report).Logistic)}, s.unseen)
	case len(s.judged.weights) > 0:
		return f.fitCalibration(s, &model.CalibrationInfo{Method: "temperature"}, s.judged)
	case f.halves(s):
		return f.calibrateByHalves(s)
	}
	return nil
}

// halves says whether a learner of scores is trained again on half of the rows, or fewer, for its probabilities. One that learns row by row could not
// go on from a calibrated model.
func (f *job) halves(s *solution) bool {
	_, machines := s.report.(*rfm.Report) // which say too little of each other if they choose by few rows
	if machines || !f.opt.Probabilities || !f.givesProbabilities() || f.classes == nil && f.labels == nil || f.bag != nil ||
		f.learner.online || f.cfg.surveyRows() > 0 || f.sum.Rows < leastHalved {
		return false
	}
	m, err := f.unjudged(s)
	return err == nil && !m.HasProbabilities()
}

// calibrateByHalves fits T to scores of rows by a training on the other half, or a smaller part, of them. The model stays without probabilities if that
// fails, as it does if a class is in one half alone.
func (f *job) calibrateByHalves(s *solution) error {
	enough := 1
	if f.sum.Rows < fewHalved {
		enough = f.sum.Rows
	}
	folds := max(2, (f.sum.Rows+mostHalved-1)/mostHalved)
	to, used, err := f.scoreFolds(s, folds, enough, calibrateRows, true)
	if err != nil || used == 0 {
		return f.ctx.Err()
	}
	info := &model.CalibrationInfo{Method: "temperature", Folds: folds, Used: used}
	if f.learner.squares {
		info.Method = "logit"
	}
	return f.fitCalibration(s, info, to)
}

// fitCalibration fits a calibration to scores.
func (f *job) fitCalibration(s *solution, info *model.CalibrationInfo, to unseen) error {
	info.Rows = len(to.weights)
	var c *learn.Calibration
	if _, own := s.report.(*rfm.Report); own && (info.Method == "temperature" || info.Method == "logit") {
		c = learn.FitOwn(info.Method, f.labels != nil, to.scores, to.y, to.weights, f.outputs, f.sum.Rows)
	} else {
		var err error
		if c, err = learn.FitCalibration(info.Method, f.labels != nil, to.scores, to.y, to.weights, f.outputs); err != nil {
			return err
		}
	}
	info.Temperature = c.T
	s.calibration, s.calibrated = c, info
	return nil
}

// scoreUnseen finds scores of rows by trainings without them, and says how many folds that took.
func (f *job) scoreUnseen(s *solution) (used int, err error) {
	enough := calibrateRows
	if f.cfg.Calibrate.Folds > 0 {
		enough = math.MaxInt
	}
	s.unseen, used, err = f.scoreFolds(s, f.cfg.folds(), enough, math.MaxInt, false)
	return used, err
}

// errScored ends a pass once there are scores enough.
var errScored = errors.New("scores of enough rows")

// scoreFolds goes on with the next fold until there are scores of enough rows, of at most so many in each: by a training without the fold,
// or, if few, of the others by a training on the fold.
func (f *job) scoreFolds(s *solution, folds, enough, most int, few bool) (to unseen, used int, err error) {
	sum, k := f.sum, f.outputs
	sizes := make([]int, folds)
	for row := range sum.Rows {
		sizes[dataset.FoldOf(row, folds, f.cfg.Seed)]++
	}
	for fold := range folds {
		if len(to.weights) >= enough {
			break
		}
		if sizes[fold] == 0 || sizes[fold] == sum.Rows {
			continue
		}
		some, held := dataset.Fold(f.src, folds, fold, f.cfg.Seed)
		rows := sum.Rows - sizes[fold]
		if few {
			some, held, rows = held, some, sizes[fold]
		}
		inner, solved, err := f.without(s.report, some, rows)
		if err != nil {
			return to, used, err
		}
		before := len(to.weights)
		err = inner.scored(solved, held, func(b *matrix.Batch, scores *matrix.Dense) error {
			if len(to.weights)-before >= most {
				return errScored
			}
			n := len(to.y)
			to.y = append(to.y, make([]float64, b.X.Len()*k)...)
			if err := f.targets(b, to.y[n:]); err != nil {
				return err
			}
			for i := range b.X.Len() {
				to.scores = append(to.scores, scores.Row(i)...)
				w := 1.0 // without class weights, which would distort the frequencies
				if b.Weights != nil {
					w = b.Weights[i]
				}
				to.weights = append(to.weights, w)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errScored) {
			return to, used, err
		}
		used++
	}
	return to, used, nil
}

// without trains the learner again on some of the rows, with everything else as chosen in the training of the report.
func (f *job) without(report model.Report, src dataset.Source, rows int) (*job, *solution, error) {
	inner, fewer := *f, *f.sum
	fewer.Rows = rows
	inner.src, inner.sum, inner.bag, inner.why = src, &fewer, nil, maps.Clone(f.why)
	inner.opt = Options{Memory: f.opt.Memory, Progress: func(_ string, rows int, share float64) { f.progress("calibrate", rows, share) }}
	inner.cfg.Calibrate, inner.cfg.Threshold = Calibration{}, ""
	if f.learner.fix != nil {
		f.learner.fix(&inner.cfg, report)
	}
	inner.reduced = true
	if f.cfg.discriminates() { // which know the labels of the rows left out
		inner.pipe, inner.reduced = f.pipe.Reduced(nil, nil), false
		if err := inner.reduce(); err != nil {
			return nil, nil, err
		}
	}
	place := f.report.Features // of all rows, not of those that fewer leave room for
	s, err := inner.solve()
	f.report.Features = place
	if err != nil {
		return nil, nil, fmt.Errorf("training without a fold, for probabilities or a threshold: %w", err)
	}
	return &inner, s, nil
}

// scored yields the rows of a source with their scores.
func (f *job) scored(s *solution, src dataset.Source, body func(b *matrix.Batch, scores *matrix.Dense) error) error {
	m, err := f.unjudged(s)
	if err != nil {
		return err
	}
	var scores matrix.Dense
	rows := 0
	for b, err := range dataset.Each(f.ctx, src) {
		if err != nil {
			return err
		}
		scores.Reshape(b.X.Len(), f.outputs)
		if err := m.Scores(&scores, b.X); err != nil {
			return fmt.Errorf("%s: %w", src.Name(), err)
		}
		if err := body(b.Batch, &scores); err != nil {
			return err
		}
		rows += b.X.Len()
		f.progress("calibrate", rows, b.Pass.Progress())
	}
	return nil
}
