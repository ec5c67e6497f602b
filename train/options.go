package train

import (
	"mercer/dataset"
	"mercer/internal/solve/learn"
)

// Options are the settings of a training run that are not in its Config. None of them changes the
// model, with three exceptions. Probabilities adds a calibration. Too little Memory leaves out the Newton steps that finish what dual coordinate
// descent has not, and the learner rfm where nobody named it; Keep and Unlabelled, which are for other learners, leave
// that out too.
type Options struct {
	// Progress, if not nil, is called now and then with the current stage ("read", "map", "solve"),
	// the number of rows done, and the share of the stage that is done, negative if unknown.
	Progress func(stage string, rows int, share float64)

	// Memory is the number of bytes that the training may hold; 0 means no limit. A training that
	// would need more fails before it starts.
	Memory int64

	// Keep, if not nil, is called with the statistics of a ridge regression before it is solved. They
	// are valid until it returns.
	Keep func(*Statistics) error

	// Surveyed, if not nil, is called after the survey and before the training, with the schema by which the
	// rows to be predicted are read. Its error ends the training. It is for rows, not for bags.
	Surveyed func(dataset.Schema) error

	// Unlabelled, if not nil, opens more rows, which are used only to find principal components. It is
	// called with the schema by which the rows of the training are read. Their labels are
	// ignored. It is for rows, not for bags.
	Unlabelled func(dataset.Schema) (dataset.Source, error)

	// Probabilities asks for probabilities of classes where the learner has none of its own and Config.Calibrate says nothing: by scores of rows
	// that the learner held out, or of half of the rows by a training on the other half. Neither changes scores or predicted classes.
	Probabilities bool

	// Validated, if not nil, is called with the progressive validation of an online learner while it
	// learns: after 1, 2, 4, … rows.
	Validated func(learn.OnlinePoint)
}

// Report says what a training used and how long it took.
type Report struct {
	// Summary describes the data.
	Summary *dataset.Summary

	// Bags describes the bags that became the rows, nil if there are none.
	Bags *dataset.BagSummary

	// Read, Map, Solve and Total are seconds: waiting for data and surveying them; pooling,
	// scaling and mapping rows; collecting statistics and solving; everything.
	Read, Map, Solve, Total float64

	// Metric is the number of seconds spent on learning a metric, not part of the others.
	Metric float64

	// Features says where features were kept, for learners that reread them:
	// in memory, in a temporary file, or recomputed on every pass. "" for other learners.
	Features string

	// Collect is the part of the seconds of Solve spent on statistics of the rows, for learners
	// that need nothing else of them.
	Collect float64

	// Choose is the part of the seconds of Solve spent on choosing λ of a ridge regression,
	// once the statistics were there, or C.
	Choose float64
}
