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
	for i, m := range members {
		u := x
		var work metric.Work
		if m.metric != nil {
			u = m.metric.Apply(x, &work)
		}
		k := m.Kernel
		gamma, err := kernel.MedianGamma(u, f.opt.Seed, k.Name)
		if err != nil {
			return nil, fmt.Errorf("rfm: %w", err)
		}
		k.Gamma = gamma * m.round().Gamma
		centres := min(f.opt.Centres, len(rows))
		var machine *exact.Machine
		if centres > mostDirect {
			machine, _, err = exact.FitFalkon(f.ctx, k, u, y, f.outputs, weights, exact.Falkon{
				Centres: centres, Lambda: f.opt.Lambda, Tolerance: 1e-4, Memory: f.opt.Memory, Seed: f.opt.Seed,
			})
		} else {
			machine, err = f.direct(k, u.Dense, y, weights, centres, &f.plans[i], m.perRow())
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

// plan is what the first leaves choose for the others: λ for each row, and the share of the landmarks that is worth
// its time.
type plan struct {
	rates []float64 // the logarithms of those chosen
	share float64   // 0: not chosen yet
}

// The first leaves choose λ; the others take the median of theirs.
const choosingLeaves = 3

// Landmarks are halved while that raises the squared error on held-out rows by no more than this share.
const worthless = 0.003

// direct trains a machine on landmarks among the rows x.
func (f *fitting) direct(k kernel.Kernel, x *matrix.Dense, y, weights []float64, centres int, p *plan, start float64) (*exact.Machine, error) {
	n := x.Rows
	if p.share > 0 {
		centres = max(1, int(math.Ceil(p.share*float64(centres))))
	}
	order := random.New(f.opt.Seed, "rfm.centres").Perm(n)[:centres]
	z := matrix.Pick(matrix.Rows{Dense: x}, order).Dense
	ridge, err := landmarks.New(k, z, f.outputs)
	if err != nil {
		return nil, err
	}
	values := ridge.Values(x)
	b := means(y, weights, f.outputs)
	centred := slices.Clone(y)
	for i := range centred {
		centred[i] -= b[i%f.outputs]
	}
	lambda, choose := f.opt.Lambda*float64(n)/float64(f.x.Rows), false
	if lambda == 0 {
		if choose = len(p.rates) < choosingLeaves; !choose {
			rates := slices.Sorted(slices.Values(p.rates))
			lambda = float64(n) * math.Exp(rates[len(rates)/2])
		}
	}
	if choose {
		// Every tenth row is held out: the rows are in no order that matters here, as they keep that of the data.
		var main, held []int
		draw := random.New(f.opt.Seed, "rfm.held")
		for i := range n {
			if draw.Uniform() < heldShare {
				held = append(held, i)
			} else {
				main = append(main, i)
			}
		}
		part := func(rows []int) (v []float32, t, w []float64) {
			v = make([]float32, 0, len(rows)*centres)
			for _, i := range rows {
				v = append(v, values[i*centres:][:centres]...)
				t = append(t, centred[i*f.outputs:][:f.outputs]...)
				if weights != nil {
					w = append(w, weights[i])
				}
			}
			return v, t, w
		}
		v, t, w := part(main)
		if err := ridge.Add(f.ctx, v, t, w); err != nil {
			return nil, err
		}
		v, t, w = part(held)
		rate, most, err := f.tune(ridge, v, t, w, len(main), start, p.share == 0)
		if err != nil {
			return nil, err
		}
		p.rates = append(p.rates, math.Log(rate))
		if p.share == 0 {
			p.share = float64(most) / float64(centres)
		}
		if err := ridge.Add(f.ctx, v, t, w); err != nil {
			return nil, err
		}
		lambda, centres = rate*float64(n), most
	} else if err := ridge.Add(f.ctx, values, centred, weights); err != nil {
		return nil, err
	}
	alpha := ridge.Solve(lambda, centres)
	if alpha == nil {
		return nil, errors.New("a machine has weights that are not finite; scale the inputs, or give a larger λ")
	}
	turned := make([]float64, len(alpha))
	for t := range f.outputs {
		for j := range centres {
			turned[j*f.outputs+t] = alpha[t*centres+j]
		}
	}
	kept := z.Slice(0, centres)
	return exact.NewMachine(k, matrix.Rows{Dense: &matrix.Dense{Rows: centres, Cols: z.Cols, Stride: z.Cols, Data: kept.Contiguous()}}, turned, b)
}

// heldShare is the share of a leaf's rows that choose λ.
const heldShare = 0.12

// tune chooses λ for each row by held-out rows with values of the kernel, from start on, and with that the
// number of landmarks.
func (f *fitting) tune(ridge *landmarks.Ridge, values []float32, y, weights []float64, rows int, start float64, fewer bool) (rate float64, m int, err error) {
	m = ridge.Landmarks()
	failed := func(rate float64, m int) float64 {
		alpha := ridge.Solve(rate*float64(rows), m)
		if alpha == nil {
			return math.Inf(1)
		}
		sum := 0.0
		for i, s := range ridge.Scores(values, alpha) {
			w := 1.0
			if weights != nil {
				w = weights[i/f.outputs]
			}
			sum += float64(w * (s - y[i]) * (s - y[i]))
		}
		return sum
	}
	rate = start
	least := failed(rate, m)
	for _, step := range []float64{rateStep, 1 / rateStep} {
		moved := false
		for {
			if err := f.ctx.Err(); err != nil {
				return 0, 0, err
			}
			next := rate * step
			if next < leastRate || next > mostRate {
				break
			}
			e := failed(next, m)
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
		return 0, 0, errors.New("the kernel of the rows is singular; scale the inputs, or give a larger λ")
	}
	for fewer && m >= 200 && failed(rate, m/2) <= (1+worthless)*least {
		m /= 2
	}
	return rate, m, nil
}

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
