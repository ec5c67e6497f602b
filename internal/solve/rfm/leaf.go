package rfm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/landmarks"
	"mercer/internal/solve/metric"
	"mercer/kernel"
	"mercer/matrix"
)

// mostDirect is the number of centres up to which machines are trained by normal equations, whose time grows like
// m³, and above it by conjugate gradients.
const mostDirect = 4096

// trained is a leaf with what its machines say of its held-out rows before they are trained on these as well.
type trained struct {
	Leaf
	held   []int     // their numbers, ascending
	scores []float64 // of them, len(held)×outputs, if they are wanted; nil for machines that are trained by conjugate gradients
	half   []float64 // the same of machines on the first half of the landmarks, if these are few

	// The same of machines by the logistic loss, and these; nil if there are none.
	logits    []float64
	solutions []*landmarks.Solution
	rates     []float64 // λ of each for a row
	later     []float64 // logits of judges by machines that were trained on all others

	// What they were trained on, if more landmarks may follow.
	rows    []int
	members []member
}

// train trains machines on rows, with at most so many landmarks each. That these are few says that more may follow. before are
// the machines on few landmarks, nil if there are none.
func (f *fitting) train(rows []int, members []member, centres int, few bool, before *trained) (made trained, err error) {
	x, y, weights := f.part(rows)
	few = few && centres < len(rows)
	centres = min(centres, len(rows))
	main, held := f.divided(rows)
	for _, r := range held {
		made.held = append(made.held, rows[r])
	}
	if centres <= mostDirect {
		made.scores = make([]float64, len(held)*f.outputs)
	}
	if few {
		made.rows, made.members, made.half = rows, members, make([]float64, len(held)*f.outputs)
	}
	if f.opt.Logistic && centres <= mostDirect {
		made.logits, made.later = make([]float64, len(held)*f.outputs), make([]float64, len(held)*f.outputs)
	}
	for i, m := range members {
		u := x
		var work metric.Work
		if m.metric != nil {
			u = m.metric.Apply(x, &work)
		}
		k := m.Kernel
		gamma, err := kernel.MedianGamma(u, f.opt.Seed, k.Name)
		if errors.Is(err, kernel.ErrEqual) { // any γ will do
			gamma, err = 1, nil
		}
		if err != nil {
			return made, fmt.Errorf("rfm: %w", err)
		}
		k.Gamma = gamma * m.round().Gamma
		var machine *exact.Machine
		if centres > mostDirect {
			machine, _, err = exact.FitFalkon(f.ctx, k, u, y, f.outputs, weights, exact.Falkon{
				Centres: centres, Lambda: f.opt.Lambda * float64(len(rows)) / float64(f.x.Rows), Tolerance: 1e-4, Memory: f.opt.Memory, Seed: f.opt.Seed,
			})
		} else {
			s := &solving{fitting: f, kernel: k, x: u.Dense, weights: weights, main: main, held: held, choosing: f.choosing(made.held), few: few}
			if before != nil && before.solutions != nil {
				s.rate, s.solution = before.rates[i], before.solutions[i]
			}
			machine, err = s.direct(y, centres, m.perRow())
			made.add(s, m.weight)
			for i, v := range s.scores {
				made.scores[i] += float64(m.weight * v)
			}
			for i, v := range s.half {
				made.half[i] += float64(m.weight * v)
			}
		}
		if err != nil {
			return made, fmt.Errorf("rfm: %w", err)
		}
		made.Leaf = append(made.Leaf, Member{Weight: m.weight, Metric: m.metric, Machine: machine})
	}
	return made, nil
}

// add adds what a member's training by the logistic loss found. If one has none there are none.
func (t *trained) add(s *solving, weight float64) {
	if s.solution == nil {
		t.logits = nil
	}
	if t.logits == nil {
		t.solutions, t.rates = nil, nil
		return
	}
	for i, v := range s.logits {
		t.logits[i] += float64(weight * v)
		t.later[i] += float64(weight * s.later[i])
	}
	t.solutions, t.rates = append(t.solutions, s.solution), append(t.rates, s.rate)
}

// hold draws the rows that choose metrics, λ and the rest: the same ones for all machines, so that they also tell what a mean of machines
// does. Metrics are learned from the others only: scores of rows whose labels are in the metric look better than those of new rows,
// and λ and probabilities would be chosen by them. Scores of rows that chose look better as well, if by less; some of those held out choose
// nothing of a machine, and judge it beside others of its kind and beside boosted trees.
func (f *fitting) hold() {
	draw := random.New(f.opt.Seed, "rfm.held")
	f.held, f.judges = make([]bool, f.x.Rows), make([]bool, f.x.Rows)
	held, judges := f.shares()
	for i := range f.held {
		u := draw.Uniform()
		f.held[i], f.judges[i] = u < held, u < judges
	}
}

// shares are those of the rows that are held out, and that judge.
func (f *fitting) shares() (held, judges float64) {
	if f.rows < fewRows {
		return fewHeldShare, 0
	}
	return heldShare, judgeShare
}

// choosers are the rows that do not judge.
func (f *fitting) choosers(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return f.judges[i] })
}

// choosing are the weights of rows with 0 for those that judge.
func (f *fitting) choosing(rows []int) []float64 {
	weights := make([]float64, len(rows))
	for r, i := range rows {
		switch {
		case f.judges[i]:
		case f.weights == nil:
			weights[r] = 1
		default:
			weights[r] = f.weights[i]
		}
	}
	return weights
}

// divided returns the positions in rows of those that a machine is trained on before λ is chosen, and of those that
// choose it.
func (f *fitting) divided(rows []int) (main, held []int) {
	for r, i := range rows {
		if f.held[i] && len(held) < mostHeld {
			held = append(held, r)
		} else {
			main = append(main, r)
		}
	}
	return main, held
}

// perRow is λ of the member's best machine, for each row that it was trained on.
func (m *member) perRow() float64 { return m.round().Lambda / float64(m.learned.Report.Rows) }

// solving is the training of one machine.
type solving struct {
	*fitting
	kernel     kernel.Kernel // with its γ
	x, z       *matrix.Dense
	y, weights []float64 // y less its mean
	main, held []int     // rows of x
	choosing   []float64 // weights of the rows held, 0 for those that judge
	few        bool      // half is wanted

	// What the machine says of the held-out rows before it is trained on these as well, and what one on the first half of
	// the landmarks says.
	scores, half []float64

	codes []float64 // y as it was

	// The machine by the logistic loss: scores of held-out rows, λ for a row, and what was trained on all rows; of
	// fewer landmarks before, if there are any.
	logits   []float64
	rate     float64
	solution *landmarks.Solution
	later    []float64
}

// direct trains a machine on landmarks among the rows.
func (s *solving) direct(y []float64, centres int, start float64) (*exact.Machine, error) {
	b := means(y, s.weights, s.outputs)
	s.y, s.codes = slices.Clone(y), y
	for i := range s.y {
		s.y[i] -= b[i%s.outputs]
	}
	order := landmarks.Distinct(s.x, random.New(s.opt.Seed, "rfm.centres").Perm(s.x.Rows), centres)
	centres = len(order)
	s.z = matrix.Pick(matrix.Rows{Dense: s.x}, order).Dense
	alpha, err := s.choose(start)
	if err != nil {
		return nil, err
	}
	for _, scores := range [][]float64{s.scores, s.half} {
		for i := range scores {
			scores[i] += b[i%s.outputs]
		}
	}
	turned := make([]float64, len(alpha))
	for t := range s.outputs {
		for j := range centres {
			turned[j*s.outputs+t] = alpha[t*centres+j]
		}
	}
	z := matrix.NewDense(centres, s.x.Cols)
	copy(z.Data, s.z.Contiguous())
	return exact.NewMachine(s.kernel, matrix.Rows{Dense: z}, turned, b)
}

var errSingular = errors.New("a machine has weights that are not finite; scale the inputs, or give a larger λ")

// room is the memory of a machine's training.
type room struct {
	ridge      landmarks.Ridge
	main, held []float32 // values of the kernel
}

// some are rows of a machine with their values of the kernel.
type some struct {
	values     []float32
	y, weights []float64
}

// part are some rows, whose values are kept in memory.
func (s *solving) part(r *landmarks.Ridge, rows []int, memory *[]float32) some {
	*memory = r.Values(*memory, matrix.Pick(matrix.Rows{Dense: s.x}, rows).Dense)
	p := some{values: *memory}
	for _, i := range rows {
		p.y = append(p.y, s.y[i*s.outputs:][:s.outputs]...)
		if s.weights != nil {
			p.weights = append(p.weights, s.weights[i])
		}
	}
	return p
}

// choose returns α, with λ chosen by held-out rows, and finds their scores, less the mean.
func (s *solving) choose(rate float64) (alpha []float64, err error) {
	room := s.rooms.Get()
	defer s.rooms.Put(room)
	r := &room.ridge
	if err := r.Begin(s.kernel, s.z, s.outputs, rate >= landmarks.RoughLambda); err != nil {
		return nil, err
	}
	var kept []float32 // values for the logistic loss, of the first landmarks
	first := logisticLandmarks(s.x.Rows, r.Landmarks())
	if s.opt.Logistic {
		kept = make([]float32, 0, s.x.Rows*first)
	}
	// A leaf that could not be divided may have any number of rows.
	for i := 0; i < len(s.main); i += valueRows {
		in := s.part(r, s.main[i:min(i+valueRows, len(s.main))], &room.main)
		if err := r.Add(s.ctx, in.values, in.y, in.weights); err != nil {
			return nil, err
		}
		if s.opt.Logistic {
			kept = keep(kept, in.values, r.Landmarks(), first)
		}
	}
	out := s.part(r, s.held, &room.held)
	rate, err = s.chooseRate(r, out, len(s.main), rate)
	if err != nil {
		return nil, err
	}
	if s.rows > s.opt.Leaf || s.opt.Held || s.few || !s.opt.Smooth { // machines for all rows and boosted trees want them
		if alpha = r.Solve(s.ctx, rate*float64(len(s.main)), r.Landmarks()); alpha == nil {
			return nil, cmp.Or(s.ctx.Err(), errSingular)
		}
		s.scores = r.Scores(out.values, alpha)
	}
	if s.few {
		if alpha = r.Solve(s.ctx, rate*float64(len(s.main)), (r.Landmarks()+1)/2); alpha == nil {
			return nil, cmp.Or(s.ctx.Err(), errSingular)
		}
		s.half = r.Scores(out.values, alpha)
	}
	if s.opt.Logistic {
		if err := s.chooseLogistic(r, s.logistic(s.main, kept), out, rate); err != nil {
			return nil, err
		}
	}
	// The held-out rows are added, so that the machine is trained on all.
	if s.solution != nil {
		err = s.finishLogistic(r, out, kept)
	} else {
		err = r.Add(s.ctx, out.values, out.y, out.weights)
	}
	if err != nil {
		return nil, err
	}
	if alpha = r.Solve(s.ctx, rate*float64(s.x.Rows), r.Landmarks()); alpha == nil {
		return nil, cmp.Or(s.ctx.Err(), errSingular)
	}
	return alpha, nil
}

// failed is the squared error of a λ on held-out rows, +Inf if there is no machine.
func (s *solving) failed(r *landmarks.Ridge, held some, lambda float64) float64 {
	alpha := r.Solve(s.ctx, lambda, r.LambdaLandmarks())
	if alpha == nil {
		return math.Inf(1)
	}
	sum := 0.0
	for i, v := range r.Scores(held.values, alpha) {
		sum += float64(s.choosing[i/s.outputs] * (v - held.y[i]) * (v - held.y[i]))
	}
	return sum
}

// chooseRate chooses λ for each row by held-out rows, from start on; opt.Lambda if that is given.
func (s *solving) chooseRate(r *landmarks.Ridge, held some, rows int, start float64) (rate float64, err error) {
	if s.opt.Lambda > 0 {
		return s.opt.Lambda / float64(s.fitting.x.Rows), nil
	}
	least := math.Inf(1)
	err = search(start, rateStep, func(next float64) (bool, error) {
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
		e := s.failed(r, held, next*float64(rows))
		better := e < least
		if better {
			rate, least = next, e
		}
		return better, nil
	})
	if err == nil && math.IsInf(least, 1) {
		err = errSingular
	}
	return rate, err
}

// search tries λ for a row from one on, in steps as long as each is better than all before; in steps the other way if the first was not.
func search(from, step float64, try func(rate float64) (better bool, err error)) error {
	if _, err := try(from); err != nil {
		return err
	}
	for _, step := range []float64{step, 1 / step} {
		moved := false
		for next := from * step; next >= leastRate && next <= mostRate; next *= step {
			better, err := try(next)
			if err != nil {
				return err
			}
			if !better {
				break
			}
			moved = true
		}
		if moved {
			return nil
		}
	}
	return nil
}

// heldShare is the share of the rows that are held out, at most mostHeld of a machine's, and judgeShare that of those that judge. Of fewer than
// fewRows, fewHeldShare are held out, and all of them choose and judge. Values of the kernel are computed for valueRows at a time.
const (
	heldShare    = 0.25
	judgeShare   = 0.1
	fewRows      = 1000
	fewHeldShare = 0.2
	mostHeld     = 5000
	valueRows    = 2048
)

// λ for each row is tried in steps of about √10 within these bounds.
const (
	rateStep  = 3.2
	leastRate = 1e-13
	mostRate  = 1
)

// means are the means of the outputs.
func means(y, weights []float64, outputs int) []float64 {
	b, total := make([]float64, outputs), 0.0
	for i := range len(y) / outputs {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		total += w
		for t, v := range y[i*outputs:][:outputs] {
			b[t] += float64(w * v)
		}
	}
	for t := range b {
		b[t] /= max(total, math.SmallestNonzeroFloat64)
	}
	return b
}

// standardise divides the targets by their standard deviations, which it returns, if there are several outputs that are
// not classes: all have one metric and one λ, which the largest would choose alone.
func (f *fitting) standardise() (sizes []float64) {
	if f.outputs == 1 || f.opt.Classes {
		return nil
	}
	b := means(f.y, f.weights, f.outputs)
	squares := make([]float64, len(f.y))
	for i, v := range f.y {
		squares[i] = float64((v - b[i%f.outputs]) * (v - b[i%f.outputs]))
	}
	sizes = means(squares, f.weights, f.outputs)
	for t, v := range sizes {
		if sizes[t] = math.Sqrt(v); !(v > 0) || math.IsInf(v, 0) {
			sizes[t] = 1
		}
	}
	y := make([]float64, len(f.y))
	for i, v := range f.y {
		y[i] = v / sizes[i%f.outputs]
	}
	f.y = y
	return sizes
}

// resize turns machines for standardised targets into those for the targets themselves.
func (l Leaf) resize(sizes []float64) error {
	if sizes == nil {
		return nil
	}
	times := func(numbers []float64) []float64 {
		all := make([]float64, len(numbers))
		for i, v := range numbers {
			all[i] = v * sizes[i%len(sizes)]
		}
		return all
	}
	for i := range l {
		m := l[i].Machine
		machine, err := exact.NewMachine(m.Kernel(), m.Rows(), times(m.Alpha()), times(m.Intercepts()))
		if err != nil {
			return fmt.Errorf("rfm: %w", err)
		}
		l[i].Machine = machine
	}
	return nil
}
