package rfm

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/exact"
	"mercer/internal/landmarks"
	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/metric"
)

// mostDirect is the number of centres up to which machines are trained by normal equations, whose time grows like
// m³, and above it by conjugate gradients.
const mostDirect = 4096

// leaf trains the machines of a leaf.
func (f *fitting) leaf(rows []int, members []member) (Leaf, error) {
	x, y, weights := f.part(rows)
	var leaf Leaf
	for _, m := range members {
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
			return nil, fmt.Errorf("rfm: %w", err)
		}
		k.Gamma = gamma * m.round().Gamma
		centres := min(f.centres, len(rows))
		var machine *exact.Machine
		if centres > mostDirect {
			machine, _, err = exact.FitFalkon(f.ctx, k, u, y, f.outputs, weights, exact.Falkon{
				Centres: centres, Lambda: f.opt.Lambda * float64(len(rows)) / float64(f.x.Rows), Tolerance: 1e-4, Memory: f.opt.Memory, Seed: f.opt.Seed,
			})
		} else {
			machine, err = f.direct(k, u.Dense, y, weights, centres, m.perRow())
		}
		if err != nil {
			return nil, fmt.Errorf("rfm: %w", err)
		}
		leaf = append(leaf, Member{Weight: m.weight, Metric: m.metric, Machine: machine})
	}
	return leaf, nil
}

// perRow is λ of the member's best machine, for each row that it was trained on.
func (m *member) perRow() float64 { return m.round().Lambda / float64(m.learned.Report.Rows) }

// direct trains a machine on landmarks among the rows x.
func (f *fitting) direct(k kernel.Kernel, x *matrix.Dense, y, weights []float64, centres int, start float64) (*exact.Machine, error) {
	n := x.Rows
	b := means(y, weights, f.outputs)
	centred := slices.Clone(y)
	for i := range centred {
		centred[i] -= b[i%f.outputs]
	}
	order := random.New(f.opt.Seed, "rfm.centres").Perm(n)[:centres]
	s := &solving{fitting: f, kernel: k, x: x, z: matrix.Pick(matrix.Rows{Dense: x}, order).Dense, y: centred, weights: weights}
	alpha, err := s.choose(start)
	if err != nil {
		return nil, err
	}
	centres = len(alpha) / f.outputs
	turned := make([]float64, len(alpha))
	for t := range f.outputs {
		for j := range centres {
			turned[j*f.outputs+t] = alpha[t*centres+j]
		}
	}
	z := matrix.NewDense(centres, x.Cols)
	copy(z.Data, s.z.Contiguous())
	return exact.NewMachine(k, matrix.Rows{Dense: z}, turned, b)
}

// solving is the training of one machine.
type solving struct {
	*fitting
	kernel     kernel.Kernel // with its γ
	x, z       *matrix.Dense
	y, weights []float64 // y less its mean
}

var errSingular = errors.New("a machine has weights that are not finite; scale the inputs, or give a larger λ")

// some are rows of a machine with their values of the kernel.
type some struct {
	values     []float32
	y, weights []float64
}

func (s *solving) part(r *landmarks.Ridge, rows []int) some {
	p := some{values: r.Values(matrix.Pick(matrix.Rows{Dense: s.x}, rows).Dense)}
	for _, i := range rows {
		p.y = append(p.y, s.y[i*s.outputs:][:s.outputs]...)
		if s.weights != nil {
			p.weights = append(p.weights, s.weights[i])
		}
	}
	return p
}

// choose returns α, with λ chosen by held-out rows.
func (s *solving) choose(rate float64) ([]float64, error) {
	r, err := landmarks.New(s.kernel, s.z, s.outputs)
	if err != nil {
		return nil, err
	}
	var main, held []int
	draw := random.New(s.opt.Seed, "rfm.held")
	for i := range s.x.Rows {
		if draw.Uniform() < heldShare && len(held) < mostHeld {
			held = append(held, i)
		} else {
			main = append(main, i)
		}
	}
	// A leaf that could not be divided may have any number of rows.
	for i := 0; i < len(main); i += valueRows {
		in := s.part(r, main[i:min(i+valueRows, len(main))])
		if err := r.Add(s.ctx, in.values, in.y, in.weights); err != nil {
			return nil, err
		}
	}
	out := s.part(r, held)
	rate, err = s.rate(r, out, len(main), rate)
	if err != nil {
		return nil, err
	}
	// The held-out rows are added, so that the machine is trained on all.
	if err := r.Add(s.ctx, out.values, out.y, out.weights); err != nil {
		return nil, err
	}
	alpha := r.Solve(rate*float64(s.x.Rows), r.Landmarks())
	if alpha == nil {
		return nil, errSingular
	}
	return alpha, nil
}

// failed is the squared error of a λ on held-out rows, +Inf if there is no machine. Half of the landmarks tell as much
// about λ as all, in an eighth of the time.
func (s *solving) failed(r *landmarks.Ridge, held some, lambda float64) float64 {
	alpha := r.Solve(lambda, (r.Landmarks()+1)/2)
	if alpha == nil {
		return math.Inf(1)
	}
	sum := 0.0
	for i, v := range r.Scores(held.values, alpha) {
		w := 1.0
		if held.weights != nil {
			w = held.weights[i/s.outputs]
		}
		sum += float64(w * (v - held.y[i]) * (v - held.y[i]))
	}
	return sum
}

// rate chooses λ for each row by held-out rows, from start on; opt.Lambda if that is given.
func (s *solving) rate(r *landmarks.Ridge, held some, rows int, start float64) (rate float64, err error) {
	try := func(rate float64) float64 { return s.failed(r, held, rate*float64(rows)) }
	if s.opt.Lambda > 0 {
		rate = s.opt.Lambda / float64(s.fitting.x.Rows)
		return rate, nil
	}
	rate = start
	least := try(rate)
	for _, step := range []float64{rateStep, 1 / rateStep} {
		moved := false
		for next := rate * step; next >= leastRate && next <= mostRate; next *= step {
			if err := s.ctx.Err(); err != nil {
				return 0, err
			}
			e := try(next)
			if !(e < least) {
				break
			}
			rate, least, moved = next, e, true
		}
		if moved {
			break
		}
	}
	if math.IsInf(least, 1) {
		return 0, errSingular
	}
	return rate, nil
}

// heldShare is the share of a leaf's rows that choose λ, at most mostHeld. Values of the kernel are computed for valueRows
// at a time.
const (
	heldShare = 0.12
	mostHeld  = 4000
	valueRows = 2048
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
func (f *fitting) resize(sizes []float64) error {
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
	for _, leaf := range f.leaves {
		for i := range leaf {
			m := leaf[i].Machine
			machine, err := exact.NewMachine(m.Kernel(), m.Rows(), times(m.Alpha()), times(m.Intercepts()))
			if err != nil {
				return fmt.Errorf("rfm: %w", err)
			}
			leaf[i].Machine = machine
		}
	}
	return nil
}
