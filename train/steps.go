package train

// entry is one of the ways into a training, each of which takes its steps from the one list.
type entry uint

const (
	ofRows       entry = 1 << iota // Fit
	ofBags                         // FitBags
	ofPipeline                     // FitPipeline: the part before the learner
	ofPrepared                     // Prepare: everything before the learner
	ofPlan                         // Resolve: what is decided without a look at the rows
	ofStatistics                   // FitStatistics: rows are added to those of another training
	ofPieces                       // NewSharded
	ofPasses                       // NewSharded of a learner that goes through the pieces several times
	ofSums                         // Sharded.Fit, from the sums of the pieces
	ofSolution                     // Sharded.Passed, from what the passes came to
)

// inOnePlace are the entries that go from data to a model in one place.
const inOnePlace = ofRows | ofBags

// step is one step of a training.
type step struct {
	do func(*fit) error
	in entry

	// tell, if not nil, adds to a plan what the step will do.
	tell func(*fit, *Plan)
}

// steps are those of all trainings, in their order, which nothing else knows.
var steps []step

func init() { // not a value of steps: some of them train again
	steps = []step{
		{(*fit).pool, ofBags, nil},
		{(*fit).labelled, ofBags, nil},
		{(*fit).resume, ofStatistics, nil},
		{(*fit).survey, inOnePlace | ofPipeline | ofPrepared, tellSurvey},
		{(*fit).task, inOnePlace | ofPrepared | ofPlan | ofPieces | ofPasses, tellTask},
		{(*fit).extrapolate, ofPlan, nil},
		{(*fit).chooseDefault, inOnePlace | ofPlan | ofPieces | ofPasses, nil},
		{(*fit).agree, inOnePlace | ofPieces | ofPasses, nil},
		{(*fit).noMetric, ofPipeline, nil},
		{(*fit).classesFor, ofPipeline, nil},
		{(*fit).learnMeans, inOnePlace, tellMeans},
		{(*fit).learnScale, inOnePlace | ofPrepared, tellScale},
		{(*fit).learnMetric, inOnePlace | ofPrepared, tellMetric},
		{(*fit).planMetric, ofPlan, nil},
		{(*fit).settle, inOnePlace | ofPipeline | ofPrepared | ofPlan | ofPieces | ofPasses, tellMap},
		{(*fit).noWeights, ofPipeline | ofPrepared | ofPieces | ofPasses, nil},
		{(*fit).reduceApart, ofPipeline | ofPrepared, nil},
		{(*fit).choose, inOnePlace | ofPrepared | ofPlan | ofPieces | ofPasses, nil},
		{(*fit).affordable, ofStatistics, nil},
		{(*fit).admit, inOnePlace | ofPieces, nil},
		{(*fit).drawGolden, ofPasses, nil}, // its memory is not that of a training in one place
		{(*fit).addRows, ofStatistics, nil},
		{(*fit).weigh, inOnePlace, nil},
		{(*fit).reduce, inOnePlace | ofSums, tellComponents},
		{(*fit).solve, inOnePlace | ofSums, tellLearner},
		{(*fit).calibrate, inOnePlace | ofSums | ofSolution, tellCalibration},
		{(*fit).divide, inOnePlace, tellThreshold},
		{(*fit).oneAnswer, inOnePlace, nil},
		{(*fit).judge, inOnePlace | ofStatistics | ofSums | ofSolution, nil},
	}
}

// run takes the steps of an entry in order, until the context ends.
func (f *fit) run(e entry) error {
	for _, s := range steps {
		if s.in&e == 0 {
			continue
		}
		if err := s.do(f); err != nil {
			return err
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
