package learn

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Trial is one C that was tried for a model of probabilities, or for one with an L1 penalty.
type Trial struct {
	C float64 `json:"c"`

	// LogLoss is the mean of -ln p(class) over held-out rows, for logistic losses and, by LogLosses, if a class is rare.
	LogLoss float64 `json:"log_loss,omitempty"`

	// Error is the share of held-out rows whose class is predicted wrongly.
	Error float64 `json:"error"`

	// OneClass says that all held-out rows are predicted as one class, though they are of several.
	OneClass bool `json:"-"`

	// NonZero is the number of nonzero weights, with an L1 penalty.
	NonZero int `json:"non_zero,omitempty"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

// pathLines describes how C was chosen, if it was.
func pathLines(path []Trial) []string {
	for _, t := range path {
		if t.Chosen {
			by := fmt.Sprintf("error %.3g %%", 100*t.Error)
			if t.LogLoss > 0 {
				by = fmt.Sprintf("log-loss %.4g, %s", t.LogLoss, by)
			}
			return []string{fmt.Sprintf("C is the best of %d from %.4g to %.4g on held-out rows (%s)", len(path),
				path[0].C, path[len(path)-1].C, by)}
		}
	}
	return nil
}

const (
	// trialFirst, trialLast and trialStep are the C that are tried without an L1 penalty.
	trialFirst = 1e-3
	trialLast  = 1e5
	trialStep  = 10

	// trialTolerance is accurate enough to judge a C.
	trialTolerance = 0.01

	// l1PathStep and l1PathLength define the path up from the smallest C with a nonzero weight.
	l1PathStep   = 3.1622776601683795 // √10
	l1PathLength = 10

	// trialGain is the share of log loss or error that a larger C has to save.
	trialGain = 0.01
)

// ChoosePrimalC tries C = 0.001, 0.01, … 100,000, each fit starting from the last, as
// long as they lower the log loss on held-out rows (with squared_hinge the error, unless a class is rare) by 1 %, or are too
// small to fit anything (idleShare), and returns the best. It fits on a random sample of at most 4,096 rows, and judges on others,
// a third of the rows or 4,096; both are copied, at most 4·8,192·D bytes if dense. With
// fewer than 100 rows it returns 1 without trying. weights may be nil, as in FitPrimal.
func ChoosePrimalC(ctx context.Context, z Features, class []int, classes int, weights []float64, opt Primal,
	seed uint64) (c float64, path []Trial, err error) {
	if z.Len() < minChoose {
		return 1, nil, nil
	}
	s, err := sampled(ctx, z, class, weights, seed)
	if err != nil {
		return 0, nil, err
	}
	opt.Tolerance = max(opt.Tolerance, trialTolerance)
	opt.Start, opt.Progress = nil, nil
	judge := judgement{probable: opt.Loss != "squared_hinge", joint: opt.Loss == "multinomial", classes: classes,
		rare: Unbalanced(s.heldClass, classes)}
	idle := idleShare * constantLoss(opt.Loss, s.class, classes, s.weights, opt.ClassWeights, opt.NoIntercept)
	for c := trialFirst; c <= 1.01*trialLast; c *= trialStep {
		opt.C = c
		l, report, err := FitPrimal(ctx, InMemory(s.rows), s.class, classes, s.weights, opt)
		if err != nil {
			return 0, nil, err
		}
		opt.Start = l
		if judge.ends(&path, Trial{C: c}, l, s, addUp(report.Objective) > c*idle) {
			break
		}
	}
	return judge.choose(path), path, nil
}

// ChooseL1C is ChoosePrimalC for an L1 penalty. It begins at the smallest C at which a weight is
// not zero, and goes up by factors of √10, at most 10 times. With fewer than 100 rows it returns ten times that C, or 1
// if that is larger.
func ChooseL1C(ctx context.Context, z Features, class []int, classes int, weights []float64, opt L1) (c float64, path []Trial, err error) {
	if z.Len() < minChoose {
		columns, err := newColumns(ctx, z)
		if err != nil {
			return 0, nil, err
		}
		smallest, err := smallestC(columns, class, classes, weights, opt)
		return max(1, 10*smallest), nil, err
	}
	s, err := sampled(ctx, z, class, weights, opt.Seed)
	if err != nil {
		return 0, nil, err
	}
	columns, err := newColumns(ctx, InMemory(s.rows))
	if err != nil {
		return 0, nil, err
	}
	opt.Tolerance = max(opt.Tolerance, trialTolerance)
	opt.Start, opt.Progress = nil, nil
	smallest, err := smallestC(columns, s.class, classes, s.weights, opt)
	if err != nil {
		return 0, nil, err
	}
	judge := judgement{probable: opt.Loss == "logistic", classes: classes, rare: Unbalanced(s.heldClass, classes)}
	idle := idleShare * constantLoss(opt.Loss, s.class, classes, s.weights, opt.ClassWeights, opt.NoIntercept)
	for step := range l1PathLength {
		opt.C = smallest * math.Pow(l1PathStep, float64(step)+0.5)
		l, report, err := fitL1(ctx, columns, s.class, classes, s.weights, opt)
		if err != nil {
			return 0, nil, err
		}
		opt.Start = l
		if judge.ends(&path, Trial{C: opt.C, NonZero: report.NonZero}, l, s, addUp(report.Objective) > opt.C*idle) {
			break
		}
	}
	return judge.choose(path), path, nil
}

// smallestC is the largest C for which w = 0 is optimal in all outputs: with the
// optimal intercept no gradient there exceeds 1.
func smallestC(z *columns, class []int, classes int, weights []float64, opt L1) (float64, error) {
	cost, err := costs(z.rows, weights, 1)
	if err != nil {
		return 0, err
	}
	k := TargetColumns(classes)
	largest := 0.0
	r := make([]float32, z.rows)
	for t := range k {
		own := costsOf(t, k, cost, class, opt.ClassWeights)
		_, mean := meanSide(own, class, t, k)
		if opt.NoIntercept {
			mean = 0
		}
		for i, c := range own {
			// The derivatives of both losses at the best constant score: for logistic
			// -c(y - mean)/2, of squared hinge, whose best score is the mean, -2c(y - mean).
			by := 2.0
			if opt.Loss == "logistic" {
				by = 0.5
			}
			r[i] = float32(by * c * (side(class[i], t, k) - mean))
		}
		for j := range z.count {
			largest = max(largest, math.Abs(z.dot(j, r)))
		}
	}
	if largest == 0 {
		return 1, nil // all columns are constant: any C will do
	}
	return 1 / largest, nil
}

// trialRows are what a C is chosen on.
type trialRows struct {
	rows    matrix.Rows // fitted on
	class   []int
	weights []float64

	held        matrix.Rows // judged on
	heldClass   []int
	heldWeights []float64
}

// sampled draws rows to fit on and others to judge on. Rows of weight 0 are in neither set.
func sampled(ctx context.Context, z Features, class []int, weights []float64, seed uint64) (*trialRows, error) {
	n := z.Len()
	role := make([]int8, n) // 1: fitted on, 2: held out
	fit, held := 0, 0
	for _, i := range random.New(seed, "choose-c").Perm(n) {
		switch {
		case weights != nil && weights[i] == 0:
		case held < min(n/3, chooseHeld):
			role[i] = 2
			held++
		case fit < chooseTrain:
			role[i] = 1
			fit++
		}
	}
	s := &trialRows{}
	a, b := &taken{room: fit}, &taken{room: held}
	for lo := 0; lo < n; lo += BlockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+BlockRows, n)
		rows, err := z.Block(lo, hi)
		if err != nil {
			return nil, err
		}
		for i := lo; i < hi; i++ {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			switch role[i] {
			case 1:
				a.add(rows, i-lo)
				s.class, s.weights = append(s.class, class[i]), append(s.weights, w)
			case 2:
				b.add(rows, i-lo)
				s.heldClass, s.heldWeights = append(s.heldClass, class[i]), append(s.heldWeights, w)
			}
		}
	}
	s.rows, s.held = a.all(z.Dim()), b.all(z.Dim())
	return s, nil
}

// taken are copies of rows.
type taken struct {
	room   int // how many rows there will be
	rows   int
	dense  []float32
	sparse *matrix.CSR
}

func (t *taken) add(from matrix.Rows, i int) {
	t.rows++
	if from.CSR == nil {
		if t.dense == nil {
			t.dense = make([]float32, 0, t.room*from.Dim())
		}
		t.dense = append(t.dense, from.Dense.Row(i)...)
		return
	}
	if t.sparse == nil {
		t.sparse = &matrix.CSR{Ptr: []int{0}}
	}
	idx, val := from.CSR.Row(i)
	t.sparse.Idx, t.sparse.Val = append(t.sparse.Idx, idx...), append(t.sparse.Val, val...)
	t.sparse.Ptr = append(t.sparse.Ptr, len(t.sparse.Idx))
}

func (t *taken) all(d int) matrix.Rows {
	if t.sparse != nil {
		t.sparse.Rows, t.sparse.Cols = t.rows, d
		return matrix.Rows{CSR: t.sparse}
	}
	return matrix.Rows{Dense: &matrix.Dense{Rows: t.rows, Cols: d, Stride: d, Data: t.dense}}
}

// judgement compares trials.
type judgement struct {
	probable bool // by log-loss, else by error
	rare     bool // a class is rare, so that the log loss decides of other scores, too
	classes  int
	joint    bool
	idle     int // the first trials of the path that fitted nothing
}

func (j *judgement) value(t Trial) float64 {
	if j.probable || j.rare {
		return t.LogLoss
	}
	return t.Error
}

// ends judges a trial on the held-out rows and adds it to the path; it reports whether the path
// may end, because the last two trials that fitted anything saved next to nothing. idle means that this one
// fitted nothing.
func (j *judgement) ends(path *[]Trial, t Trial, l *Linear, s *trialRows, idle bool) bool {
	if idle && j.idle == len(*path) {
		j.idle++
	}
	t.LogLoss, t.Error = heldOutLoss(l, s, j.joint)
	if !j.probable {
		t.LogLoss = 0
	}
	if by, err := judgeRows(l, s.held, s.heldClass, j.classes, j.rare && !j.probable); err == nil {
		t.OneClass = by.oneClass
		if by.losses != nil {
			t.LogLoss = by.loss
		}
	}
	*path = append(*path, t)
	return len(*path)-1-max(j.best(*path), j.idle) >= 2
}

// best is the trial with the smallest C that no larger one improves on by trialGain: a larger
// C takes longer and gives a less simple model.
func (j *judgement) best(path []Trial) int {
	least := math.Inf(1)
	for _, p := range path {
		least = min(least, j.value(p))
	}
	for i, p := range path {
		if (1-trialGain)*j.value(p) <= least {
			return i
		}
	}
	return 0
}

// choose marks and returns the best C.
func (j *judgement) choose(path []Trial) float64 {
	best := j.best(path)
	path[best].Chosen = true
	return path[best].C
}

// heldOutLoss is the mean log-loss and the share of wrong classes on the held-out rows, weighted.
func heldOutLoss(l *Linear, s *trialRows, joint bool) (logLoss, wrong float64) {
	k := l.W.Cols
	scores := matrix.NewDense(min(256, s.held.Len()), k)
	p := make([]float64, max(k, 2))
	total := 0.0
	for lo := 0; lo < s.held.Len(); lo += 256 {
		hi := min(lo+256, s.held.Len())
		part := scores.Slice(0, hi-lo)
		l.Scores(part, s.held.Slice(lo, hi))
		for i := lo; i < hi; i++ {
			row, w := part.Row(i-lo), s.heldWeights[i]
			Probabilities(p, row, joint)
			total += w
			logLoss -= w * math.Log(max(p[s.heldClass[i]], 1e-15))
			if Predicted(row) != s.heldClass[i] {
				wrong += w
			}
		}
	}
	return logLoss / total, wrong / total
}
