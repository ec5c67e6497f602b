package rfm

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/solve/exact"
	"mercer/internal/solve/landmarks"
	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// Classes have machines by squared error and, on the same landmarks, by the logistic loss, which cost little beside the choice of kinds
// and metrics. Held-out rows say which ones become the leaves: those whose probabilities have the smaller log loss, after a
// temperature is fitted to each. Kinds, metrics, numbers of landmarks and the weights of members are chosen by squared error, which is
// a proper score, too.

// logisticValues bounds the values of the kernel that are kept for the logistic loss, 256 MiB: of more rows there are
// fewer landmarks.
const logisticValues = 1 << 26

// Steps of the logistic loss end when one promises to gain less for a row than roughGain where λ is chosen, and finalGain for the machine itself.
// The loss of a few hundred held-out rows has a standard error of a hundredth.
const (
	roughGain = 1e-3
	finalGain = 2e-4
)

// logisticLandmarks is how many of m landmarks the logistic loss of n rows takes.
func logisticLandmarks(n, m int) int { return max(1, min(m, logisticValues/max(1, n))) }

// keep adds values of the kernel of some rows to those that are kept, of the first landmarks only.
func keep(kept, values []float32, m, first int) []float32 {
	for ; len(values) > 0; values = values[m:] {
		kept = append(kept, values[:first]...)
	}
	return kept
}

// logistic are the rows of a machine for the logistic loss, with their values of the kernel.
func (s *solving) logistic(rows []int, values []float32) landmarks.Logistic {
	l := landmarks.Logistic{Values: values}
	for _, i := range rows {
		l.Y = append(l.Y, s.codes[i*s.outputs:][:s.outputs]...)
		if s.weights != nil {
			l.Weights = append(l.Weights, s.weights[i])
		}
	}
	return l
}

// chooseLogistic trains a machine by the logistic loss on the rows that were added. Machines of half the landmarks choose λ by the loss of held-out
// rows, from that of the squared error for each row on, unless it is known. There is none if numbers are not finite.
func (s *solving) chooseLogistic(r *landmarks.Ridge, main landmarks.Logistic, held some, squared float64) error {
	y, least := s.logistic(s.held, nil), math.Inf(1)
	first := logisticLandmarks(s.x.Rows, r.Landmarks())
	var best *landmarks.Solution
	start := r.Start(min(first, r.LambdaLandmarks()), nil)
	try := func(rate float64) (better bool, err error) {
		made, err := r.SolveLogistic(s.ctx, main, rate*float64(len(s.main)), roughGain, start)
		if err != nil || made == nil {
			return false, err
		}
		start = made
		if loss := landmarks.LogLoss(made.Scores(r, held.values), y.Y, s.choosing, s.outputs); loss < least {
			best, s.rate, least, better = made, rate, loss, true
		}
		return better, nil
	}
	switch {
	case s.rate > 0:
		best = s.solution
	case s.opt.Lambda > 0:
		s.rate = s.opt.Lambda / float64(s.fitting.x.Rows)
	default:
		if err := search(max(leastRate, squared/rateStep), 1/rateStep, try); err != nil {
			return err
		}
	}
	s.solution = nil
	made, err := r.SolveLogistic(s.ctx, main, s.rate*float64(len(s.main)), roughGain, r.Start(first, best))
	if err != nil || made == nil {
		return err
	}
	if scores := made.Scores(r, held.values); landmarks.LogLoss(scores, y.Y, s.choosing, s.outputs) < math.Inf(1) {
		s.solution, s.logits = made, scores
	}
	return nil
}

// finishLogistic adds the rows held out to those that were added, whose values of the kernel were kept, and trains the machine by the logistic
// loss on all of them: first without the judges, because T is fitted to what it says of rows that it has not seen, and the more rows it was
// trained on the surer it may be.
func (s *solving) finishLogistic(r *landmarks.Ridge, held some, kept []float32) error {
	m, k, of := r.Landmarks(), s.outputs, slices.Clone(s.main)
	s.later = slices.Clone(s.logits)
	for _, judge := range []bool{false, true} {
		var next some
		var at []int
		for h, row := range s.held {
			if judges := s.choosing[h] == 0; judges != judge {
				continue
			}
			at, of = append(at, h), append(of, row)
			next.values, next.y = append(next.values, held.values[h*m:][:m]...), append(next.y, held.y[h*k:][:k]...)
			if held.weights != nil {
				next.weights = append(next.weights, held.weights[h])
			}
		}
		if judge && len(at) == 0 {
			break
		}
		if judge && s.solution != nil {
			for i, v := range s.solution.Scores(r, next.values) {
				s.later[at[i/k]*k+i%k] = v
			}
		}
		if err := r.Add(s.ctx, next.values, next.y, next.weights); err != nil {
			return err
		}
		if s.solution == nil { // numbers were not finite
			continue
		}
		var err error
		kept = keep(kept, next.values, m, logisticLandmarks(s.x.Rows, m))
		if s.solution, err = r.SolveLogistic(s.ctx, s.logistic(of, kept), s.rate*float64(len(of)), finalGain, s.solution); err != nil {
			return err
		}
	}
	return nil
}

// likelier says whether logits of held-out rows have a smaller log loss than scores of the squared error, both after a
// temperature is fitted.
func (f *fitting) likelier(held []int, scores, logits []float64) bool {
	if logits == nil || len(held) == 0 {
		return false
	}
	loss := func(scores []float64, method string) float64 {
		y, narrow, weights := make([]float64, 0, len(scores)), make([]float32, len(scores)), make([]float64, len(held))
		for h, i := range held {
			y = append(y, f.y[i*f.outputs:][:f.outputs]...)
			weights[h] = 1
			if f.weights != nil {
				weights[h] = f.weights[i]
			}
		}
		for i, v := range scores {
			narrow[i] = float32(v)
		}
		c, err := learn.FitCalibration(method, false, narrow, y, weights, f.outputs)
		if err != nil {
			return math.Inf(1)
		}
		p, sum := make([]float64, max(2, f.outputs)), 0.0
		for h := range held {
			c.Probabilities(p, narrow[h*f.outputs:][:f.outputs])
			own := 0
			if f.outputs > 1 {
				own = slices.Index(y[h*f.outputs:][:f.outputs], 1)
			} else if y[h] > 0 {
				own = 1
			}
			sum -= weights[h] * math.Log(max(p[max(0, own)], math.SmallestNonzeroFloat64))
		}
		return sum
	}
	return loss(logits, Temperature(true)) < loss(scores, Temperature(false))
}

// Temperature is the method of learn.FitCalibration for the scores of a machine, by Report.Logistic.
func Temperature(logistic bool) string {
	if logistic {
		return "temperature"
	}
	return "logit"
}

// byLogistic puts the machines by the logistic loss in the place of those by squared error.
func (t *trained) byLogistic() error {
	for i, s := range t.solutions {
		m := t.Leaf[i].Machine
		z := m.Rows().Dense.Slice(0, len(s.Alpha())/len(s.Intercepts()))
		machine, err := exact.NewMachine(m.Kernel(), matrix.Rows{Dense: z}, s.Alpha(), s.Intercepts())
		if err != nil {
			return fmt.Errorf("rfm: %w", err)
		}
		t.Leaf[i].Machine = machine
	}
	return nil
}

// byLogistic does so in all leaves, and in machines for all rows if there are any.
func (f *fitting) byLogistic(whole *trained) error {
	f.report.Logistic = true
	for i := range f.leaves {
		if err := f.leaves[i].byLogistic(); err != nil {
			return err
		}
	}
	if whole == nil {
		return nil
	}
	return whole.byLogistic()
}

// shareSteps is the number of shares of machines for all rows that are tried by their log loss.
const shareSteps = 20

// logisticShare is the share of machines for all rows with which the mean of their logits and of those of the tree has the smallest log loss.
func (f *fitting) logisticShare(held []int, ofTree, ofAll []float64) (share float64) {
	y, weights := f.targets(held)
	least, mean := math.Inf(1), make([]float64, len(ofTree))
	for step := range shareSteps + 1 {
		a := float64(step) / shareSteps
		for i, v := range ofAll {
			mean[i] = ofTree[i] + float64(a*(v-ofTree[i]))
		}
		if loss := landmarks.LogLoss(mean, y, weights, f.outputs); loss < least {
			share, least = a, loss
		}
	}
	return share
}
