package model

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/exact"
	"mercer/feature"
	"mercer/kernel"
	"mercer/learn"
	"mercer/matrix"
	"mercer/pool"
	"mercer/reduce"
)

// Model is a trained model. It does not change and is safe for use by any number of
// goroutines at the same time.
type Model struct {
	info    Info
	bag     *BagMapping // nil: a model of rows
	mapping Mapping
	learned predictor
	golden  golden

	calibration *learn.Calibration // nil: none
}

// Info is what a model says about itself; it is stored in the model file.
type Info struct {
	// Task is "classify", "regress", "multilabel" or "outliers".
	Task string `json:"task"`

	// Classes are the labels of the classes in the order of their scores; nil for a
	// regression. Numbers come in numeric order, other labels in the order of their bytes.
	Classes []string `json:"classes,omitempty"`

	// Labels are those of a multi-label model, of which a row may have any number, in the
	// order of their scores.
	Labels []string `json:"labels,omitempty"`

	// Outputs is the number of scores of a row: the number of classes, but 1 for two
	// classes (positive: the second), or the number of labels, or of targets of a regression.
	Outputs int `json:"outputs"`

	// Bag says how bags became rows; nil for a model of rows. Schema and all else is about
	// these rows.
	Bag *BagInfo `json:"bag,omitempty"`

	// Schema says how the rows were read.
	Schema dataset.Schema `json:"schema"`

	// Scale is the kind of scaling.
	Scale string `json:"scale"`

	// Densify says that sparse rows are made dense before they are scaled, because most of
	// their values were not 0 in training.
	Densify bool `json:"densify,omitempty"`

	// Kernel is that of a learner that takes the kernel itself, nil for all others.
	Kernel *kernel.Kernel `json:"kernel,omitempty"`

	// Feature configures the map; nil for the linear kernel.
	Feature *feature.Config `json:"feature,omitempty"`

	// Config is what the user asked for.
	Config Config `json:"config"`

	// Training describes the training.
	Training Training `json:"training"`
}

// BagInfo says what a model does with bags.
type BagInfo struct {
	// Schema says how the members were read.
	Schema dataset.Schema `json:"schema"`

	// Scale and Densify are as in Info, for the members.
	Scale   string `json:"scale"`
	Densify bool   `json:"densify,omitempty"`

	// Pooling says how members are pooled.
	Pooling pool.Config `json:"pooling"`

	// Members is the number of members in training, Least and Most those of a bag.
	Members int `json:"members"`
	Least   int `json:"least"`
	Most    int `json:"most"`

	// Why says in words why a scaling, a γ or a map was chosen, by name.
	Why map[string]string `json:"why"`
}

// Training describes how a model was trained: what was chosen, and why.
type Training struct {
	// Rows is the number of training rows.
	Rows int `json:"rows"`

	// Why says in words why a scaling, a γ or a task was chosen, by name.
	Why map[string]string `json:"why"`

	// Learner is the learner's name.
	Learner string `json:"learner,omitempty"`

	// Reduction says which principal components the learner saw, nil if it saw the features.
	Reduction *reduce.Report `json:"reduction,omitempty"`

	// Ridge to Online hold the learner's own report; one of them is set.
	Ridge    *learn.RidgeReport    `json:"ridge,omitempty"`
	Lasso    *learn.LassoReport    `json:"lasso,omitempty"`
	SVM      *learn.SVMReport      `json:"svm,omitempty"`
	SVR      *learn.SVRReport      `json:"svr,omitempty"`
	OneClass *learn.OneClassReport `json:"one_class,omitempty"`
	Online   *learn.OnlineReport   `json:"online,omitempty"`
	// Primal is that of logistic, and of all that is solved in the primal, but with an L1 penalty.
	Primal *learn.PrimalReport `json:"primal,omitempty"`
	L1     *learn.L1Report     `json:"l1,omitempty"`

	// Calibration says how scores become probabilities, nil where they were not calibrated.
	Calibration *CalibrationInfo `json:"calibration,omitempty"`

	// KernelRidge, Iterative and Falkon are those of exact kernel ridge, of the same by
	// approximate products, and on landmarks.
	KernelRidge *exact.RidgeReport     `json:"kernel_ridge,omitempty"`
	Iterative   *exact.IterativeReport `json:"iterative,omitempty"`
	Falkon      *exact.FalkonReport    `json:"falkon,omitempty"`

	// KernelSVM is that of a support vector machine with a kernel.
	KernelSVM *exact.SVMReport `json:"kernel_svm,omitempty"`
}

// Lines tell a person how the learner went.
func (t *Training) Lines() []string {
	switch {
	case t.Ridge != nil:
		return t.Ridge.Lines()
	case t.Lasso != nil:
		return t.Lasso.Lines()
	case t.SVM != nil:
		return t.SVM.Lines()
	case t.SVR != nil:
		return t.SVR.Lines()
	case t.OneClass != nil:
		return t.OneClass.Lines()
	case t.Primal != nil:
		return t.Primal.Lines()
	case t.L1 != nil:
		return t.L1.Lines()
	case t.Online != nil:
		return t.Online.Lines()
	case t.KernelRidge != nil:
		return t.KernelRidge.Lines()
	case t.Iterative != nil:
		return t.Iterative.Lines()
	case t.Falkon != nil:
		return t.Falkon.Lines()
	case t.KernelSVM != nil:
		return t.KernelSVM.Lines()
	}
	return nil
}

// Info describes the model; it is to be read only.
func (m *Model) Info() *Info { return &m.info }

// Dim is the number of input dimensions.
func (m *Model) Dim() int { return m.info.Schema.Dim }

// Outputs is the number of scores of a row.
func (m *Model) Outputs() int { return m.info.Outputs }

// Classes are the labels of the classes, nil for a regression.
func (m *Model) Classes() []string { return m.info.Classes }

// Scores writes the scores of the rows x into dst, which must be Len×Outputs. It fails
// where x has another width than the model (sparse rows may be narrower) or holds a NaN or
// Inf. It allocates nothing once its working memory exists.
//
// A score of a classifier is positive for the class and negative against it; the
// prediction is the class with the largest score (Class).
func (m *Model) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if dst.Rows != x.Len() || dst.Cols != m.info.Outputs {
		panic(fmt.Sprintf("model: Scores wants a %d×%d dst, got %d×%d", x.Len(), m.info.Outputs, dst.Rows, dst.Cols))
	}
	if err := m.mapping.Each(x, func(i, j int, z matrix.Rows) error {
		m.learned.Scores(dst.Slice(i, j), z)
		return nil
	}); err != nil {
		return err
	}
	for i := range dst.Rows {
		for _, v := range dst.Row(i) {
			if v-v != 0 {
				return fmt.Errorf("row %d: its values are too large to score in float32", i)
			}
		}
	}
	return nil
}

// Bag is the part of a model of bags that turns them into rows, nil for a model of rows.
func (m *Model) Bag() *BagMapping { return m.bag }

// Mapping is the part of the model before the learner, behind that of bags.
func (m *Model) Mapping() *Mapping { return &m.mapping }

// Class is the index in Classes that a row's scores predict.
func (m *Model) Class(scores []float32) int { return learn.Predicted(scores) }

// AppendPrediction appends what a row's scores predict to dst: the label of a class, or the
// labels of a multi-label model separated by commas, or the numbers of a regression separated
// by tabs.
func (m *Model) AppendPrediction(dst []byte, scores []float32) []byte {
	if m.info.Labels != nil {
		return append(dst, strings.Join(m.Predicted(scores), ",")...)
	}
	if m.info.Classes != nil {
		return append(dst, m.info.Classes[m.Class(scores)]...)
	}
	for k, v := range scores {
		if k > 0 {
			dst = append(dst, '\t')
		}
		dst = strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
	}
	return dst
}

// golden are input rows with the scores that the model gave them when it was trained.
type golden struct {
	x, scores *matrix.Dense
	proba     []float64     // of the rows, nil in a model without probabilities
	members   *matrix.Dense // of the bags that the rows were, nil in a model of rows
}

// verify recomputes the golden pairs. A machine may round differently in the last bits; a
// larger difference means that this program would predict something else than the one that
// trained the model.
func (g *golden) verify(m *Model) error {
	if g.members != nil {
		rows := matrix.NewDense(g.x.Rows, g.x.Cols)
		if err := m.bag.Pool(rows, matrix.Rows{Dense: g.members}, goldenEnds); err != nil {
			return err
		}
		of := func(v float32) float64 { return float64(v) }
		if m.info.Bag.Pooling.Norm == "root-l2" {
			// A root makes much of a number that is 0 but for rounding.
			of = func(v float32) float64 { return float64(v) * math.Abs(float64(v)) }
		}
		if got, want, ok := alike(rows, g.x, of); !ok {
			return fmt.Errorf("the model pools a bag to %g where that was %g when it was trained", got, want)
		}
	}
	scores := matrix.NewDense(g.x.Rows, m.info.Outputs)
	if err := m.Scores(scores, matrix.Rows{Dense: g.x}); err != nil {
		return err
	}
	for _, v := range g.scores.Data {
		if v-v != 0 {
			return fmt.Errorf("a golden score is %g", v)
		}
	}
	if got, want, ok := alike(scores, g.scores, func(v float32) float64 { return float64(v) }); !ok {
		return fmt.Errorf("the model predicts %g where it predicted %g when it was trained", got, want)
	}
	return g.verifyProba(m)
}

// alike says whether a function of all numbers is as wanted to 10⁻⁴ of the largest, and if not
// shows one.
func alike(got, want *matrix.Dense, of func(float32) float64) (g, w float32, ok bool) {
	size := 0.0
	for _, v := range want.Data {
		size = max(size, math.Abs(of(v)))
	}
	for i, v := range got.Data {
		if d := math.Abs(of(v) - of(want.Data[i])); !(d <= 1e-4*size+1e-30) {
			return v, want.Data[i], false
		}
	}
	return 0, 0, true
}
