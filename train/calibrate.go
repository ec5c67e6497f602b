package train

import (
	"context"
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
func (f *fit) unseenOf(all *gathered, rows []int, scores []float32) unseen {
	targets, k := f.allTargets(all), f.info.Outputs
	kept := unseen{scores: scores}
	for _, i := range rows {
		kept.y = append(kept.y, targets[i*k:][:k]...)
		w := 1.0 // without class weights, which would distort the frequencies
		if all.weights != nil {
			w = all.weights[i]
			if f.classWeights != nil && w != 0 {
				w /= f.classWeights[all.class[i]]
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
func (f *fit) givesProbabilities() bool {
	r, err := learn.ParseThreshold(f.cfg.Threshold)
	given := f.cfg.Threshold != "" && err == nil && r.Kind == "probability"
	return !f.cfg.calibrates() && f.cfg.Calibrate.Method != "none" && f.classWeights == nil && !given
}

// checkCalibration rejects a calibration that the task or the rows do not allow.
func (f *fit) checkCalibration() error {
	switch {
	case !f.cfg.calibrates():
	case f.classes == nil && f.labels == nil:
		return option.Errorf("%s: numbers to predict (%s) have no probabilities; leave out %s, or use %s", f.src.Name(),
			f.info.Training.Why["task"], option.Ref("calibrate"), option.Set("task", "classify"))
	case f.sum.Rows < 2*f.folds():
		return fmt.Errorf("%s: %d rows are too few to calibrate by %d folds", f.src.Name(), f.sum.Rows, f.folds())
	}
	return nil
}

func (f *fit) folds() int {
	if f.cfg.Calibrate.Folds > 0 {
		return f.cfg.Calibrate.Folds
	}
	return calibrateFolds
}

// calibrate fits the probabilities of a trained model.
func (f *fit) calibrate() error {
	fewest := freeRows
	if f.cfg.calibrates() {
		fewest = 1
	}
	free := len(f.solved.unseen.weights) >= fewest && f.cfg.Calibrate.Folds == 0
	switch {
	case f.cfg.Calibrate.Method == "none":
		return nil
	case f.cfg.calibrates() && free:
		return f.fitCalibration(&model.CalibrationInfo{Method: f.cfg.Calibrate.Method}, f.solved.unseen)
	case f.cfg.calibrates():
		return f.calibrateByFolds()
	case f.classWeights != nil: // whose scores are no estimates of probabilities
		return nil
	case free:
		return f.fitCalibration(&model.CalibrationInfo{Method: rfm.Temperature(f.info.Training.Report.(*rfm.Report).Logistic)}, f.solved.unseen)
	case len(f.solved.judged.weights) > 0:
		return f.fitTemperature(&model.CalibrationInfo{}, f.solved.judged)
	case f.halves():
		return f.calibrateByHalves()
	}
	return nil
}

// halves says whether a learner of scores is trained again on half of the rows, or fewer, for its probabilities. One that learns row by row could not
// go on from a calibrated model.
func (f *fit) halves() bool {
	_, machines := f.info.Training.Report.(*rfm.Report) // which say too little of each other if they choose by few rows
	if machines || !f.opt.Probabilities || !f.givesProbabilities() || f.classes == nil && f.labels == nil || f.stats != nil || f.bag != nil ||
		f.learner.online || f.cfg.surveyRows() > 0 || f.sum.Rows < leastHalved {
		return false
	}
	m, err := f.unjudged()
	return err == nil && !m.HasProbabilities()
}

// calibrateByHalves fits T to scores of rows by a training on the other half, or a smaller part, of them. The model stays without probabilities if that
// fails, as it does if a class is in one half alone.
func (f *fit) calibrateByHalves() error {
	solved := f.solved
	enough := 1
	if f.sum.Rows < fewHalved {
		enough = f.sum.Rows
	}
	folds := max(2, (f.sum.Rows+mostHalved-1)/mostHalved)
	used, err := f.scoreFolds(folds, enough, calibrateRows, true)
	to := f.solved.unseen
	if f.solved = solved; err != nil || used == 0 {
		return f.ctx.Err()
	}
	info := &model.CalibrationInfo{Folds: folds, Used: used}
	if f.learner.squares {
		info.Method = "logit"
		return f.fitCalibration(info, to)
	}
	return f.fitTemperature(info, to)
}

// fitTemperature fits T to scores of machines with margins. Where all of n rows are on the right side nothing bounds their
// probabilities: a row at the margin, s = 1, then has one of at most (n+1)/(n+2).
func (f *fit) fitTemperature(info *model.CalibrationInfo, to unseen) error {
	info.Method = "temperature"
	if err := f.fitCalibration(info, to); err != nil {
		return err
	}
	f.calibration.T = max(f.calibration.T, 1/math.Log(float64(info.Rows+1)))
	info.Temperature = f.calibration.T
	return nil
}

// fitCalibration fits a calibration to scores.
func (f *fit) fitCalibration(info *model.CalibrationInfo, to unseen) error {
	info.Rows = len(to.weights)
	c, err := learn.FitCalibration(info.Method, f.labels != nil, to.scores, to.y, to.weights, f.info.Outputs)
	if err != nil {
		return err
	}
	info.Temperature = c.T
	f.calibration, f.info.Training.Calibration = c, info
	return nil
}

// calibrateByFolds fits a calibration to the scores of rows by trainings without them.
func (f *fit) calibrateByFolds() error {
	used, err := f.scoreUnseen()
	if err != nil {
		return err
	}
	return f.fitCalibration(&model.CalibrationInfo{Method: f.cfg.Calibrate.Method, Folds: f.folds(), Used: used}, f.solved.unseen)
}

// scoreUnseen finds scores of rows by trainings without them, and says how many folds that took.
func (f *fit) scoreUnseen() (used int, err error) {
	enough := calibrateRows
	if f.cfg.Calibrate.Folds > 0 {
		enough = math.MaxInt
	}
	return f.scoreFolds(f.folds(), enough, math.MaxInt, false)
}

// errScored ends a pass once there are scores enough.
var errScored = errors.New("scores of enough rows")

// scoreFolds goes on with the next fold until there are scores of enough rows, of at most so many in each: by a training without the fold,
// or, if few, of the others by a training on the fold.
func (f *fit) scoreFolds(folds, enough, most int, few bool) (used int, err error) {
	sum, k := f.sum, f.info.Outputs
	var to unseen
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
		inner, err := f.without(some, rows)
		if err != nil {
			return used, err
		}
		before := len(to.weights)
		err = inner.scored(f.ctx, held, func(b *matrix.Batch, s *matrix.Dense) error {
			if len(to.weights)-before >= most {
				return errScored
			}
			n := len(to.y)
			to.y = append(to.y, make([]float64, b.X.Len()*k)...)
			if err := f.targets(b, to.y[n:]); err != nil {
				return err
			}
			for i := range b.X.Len() {
				to.scores = append(to.scores, s.Row(i)...)
				w := 1.0 // without class weights, which would distort the frequencies
				if b.Weights != nil {
					w = b.Weights[i]
				}
				to.weights = append(to.weights, w)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errScored) {
			return used, err
		}
		used++
	}
	f.solved.unseen = to
	return used, nil
}

// without trains the learner again on some of the rows, with everything else as chosen.
func (f *fit) without(src dataset.Source, rows int) (*fit, error) {
	fewer := *f.sum
	fewer.Rows = rows
	inner := &fit{
		ctx: f.ctx, src: src, sum: &fewer, cfg: f.cfg, report: f.report, learner: f.learner,
		classes: f.classes, labels: f.labels, classWeights: f.classWeights,
	}
	inner.opt.Memory = f.opt.Memory
	inner.opt.Progress = func(_ string, rows int, share float64) { f.progress("calibrate", rows, share) }
	inner.cfg.Calibrate, inner.cfg.Threshold = Calibration{}, ""
	t := &f.info.Training
	if f.learner.fix != nil {
		f.learner.fix(&inner.cfg, t.Report)
	}
	inner.info = f.info
	inner.info.Training.Why = maps.Clone(t.Why)
	inner.pipe, inner.reduced = f.pipe, true
	if f.cfg.discriminates() { // which know the labels of the rows left out
		inner.pipe, inner.reduced = f.pipe.Reduced(nil, nil), false
		if err := inner.reduce(); err != nil {
			return nil, err
		}
	}
	if err := inner.solve(); err != nil {
		return nil, fmt.Errorf("training without a fold, for probabilities or a threshold: %w", err)
	}
	return inner, nil
}

// scored yields the rows of a source with their scores.
func (f *fit) scored(ctx context.Context, src dataset.Source, body func(b *matrix.Batch, scores *matrix.Dense) error) error {
	m, err := model.New(f.parts())
	if err != nil {
		return err
	}
	var scores matrix.Dense
	rows := 0
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		scores.Reshape(b.X.Len(), f.info.Outputs)
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
