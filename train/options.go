package train

import (
	"mercer/dataset"
	"mercer/learn"
)

// Options are what a training run may be told beside its Config: nothing here changes the
// model, but that too little Memory leaves out the Newton steps which end what dual coordinate
// descent has not.
type Options struct {
	// Progress, if not nil, is told now and then what is going on ("read", "map", "solve"),
	// how many rows are done and which share of the stage, negative if unknown.
	Progress func(stage string, rows int, share float64)

	// Memory is how many bytes the training may hold; 0 means no bound. A training that
	// would need more fails before it starts to.
	Memory int64

	// Keep, if not nil, gets the statistics of a ridge regression before it is solved. They
	// are valid until it returns.
	Keep func(*Statistics) error

	// Surveyed, if not nil, is told how the rows are read that the model will predict, once
	// they were looked at and before the model is trained. Its error ends the training. It is
	// for rows, not for bags.
	Surveyed func(dataset.Schema) error

	// Unlabelled, if not nil, are more rows to find principal components with, and for nothing
	// else: it opens them, given how the rows of the training are read. Labels of theirs are not
	// looked at. It is for rows, not for bags.
	Unlabelled func(dataset.Schema) (dataset.Source, error)

	// Validated, if not nil, is told what progressive validation tells while an online learner
	// learns: after 1, 2, 4, … rows.
	Validated func(learn.OnlinePoint)
}

// Report says what a training took.
type Report struct {
	// Summary describes the data.
	Summary *dataset.Summary

	// Bags describes the bags that the rows were, nil where rows are no bags.
	Bags *dataset.BagSummary

	// Read, Map, Solve and Total are seconds: waiting for data and surveying them; pooling,
	// scaling and mapping rows; collecting statistics and solving; all.
	Read, Map, Solve, Total float64

	// Metric is how many seconds it took to learn a metric, beside the others.
	Metric float64

	// Features says where the features of a learner were that goes through them many times:
	// in memory, in a temporary file, or made anew on every pass. "" if it does not.
	Features string

	// Collect is how many of the seconds of Solve went into statistics of the rows, of learners
	// that need no more of them.
	Collect float64

	// Choose is how many of the seconds of Solve went into choosing λ of a ridge regression,
	// once the statistics were there, or C.
	Choose float64
}
