package exact

import (
	"context"
	"fmt"
	"slices"

	"mercer/kernel"
	"mercer/matrix"
)

// FitSVR trains a machine on numbers y, n×outputs row by row, by support vector regression of each
// output: ε-SVR (Vapnik 1995), whose dual program in β = α - α* is
//
//	min ½ Σ β_i β_j k(x_i, x_j) + ε Σ |β_i| - Σ y_i β_i,  Σ β_i = 0, |β_i| ≤ C·weight_i,
//
// or ν-SVR if opt.Nu is set, which chooses ε. It takes memory and time as [FitSVC] does. Outputs
// are solved one after the other and share the rows of the Gram matrix; each of them holds
// 12 bytes per support vector, and 8 more when the machine is assembled.
func FitSVR(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, opt SVM) (*Machine, *SVMReport, error) {
	n := x.Len()
	if outputs < 1 || len(y) != n*outputs {
		panic(fmt.Sprintf("exact: %d numbers for %d rows of %d outputs", len(y), n, outputs))
	}
	for i, v := range y {
		if !finite(v) {
			return nil, nil, fmt.Errorf("exact: row %d: the number to predict is %g, not a finite number", i/outputs+1, v)
		}
	}
	o, err := opt.filled(n, 0)
	if err != nil {
		return nil, nil, err
	}
	cache, err := allRows(k, x, &o)
	if err != nil {
		return nil, nil, err
	}
	kind := "epsilon-svr"
	if o.Nu > 0 {
		kind = "nu-svr"
	}
	solutions, epsilon := make([]*solution, outputs), make([]float64, outputs)
	for t := range outputs {
		var s *smo
		if solutions[t], s, err = run(ctx, svrProgram(y, t, outputs, &o), cache, nil, &o, o.teller(t, outputs)); err != nil {
			return nil, nil, err
		}
		epsilon[t] = o.Epsilon
		if o.Nu > 0 {
			// At α between its bounds y - f is b + ε, at α* b - ε.
			plus, minus := s.intercept(1), s.intercept(-1)
			epsilon[t] = (plus - minus) / 2
			solutions[t].b = (plus + minus) / 2
		}
	}
	m, r, err := collect(k, x, solutions, &o, kind)
	if err != nil {
		return nil, nil, err
	}
	r.Epsilon = epsilon
	return m, r, nil
}

// svrProgram is that of output t: variable 2m is α of a row, variable 2m+1 its α*.
func svrProgram(y []float64, t, outputs int, o *SVM) *program {
	p := &program{separate: o.Nu > 0}
	epsilon, sum := o.Epsilon, 0.0
	if o.Nu > 0 {
		epsilon = 0
	}
	for i := range len(y) / outputs {
		bound := o.C * o.weight(i, -1)
		if bound == 0 {
			continue
		}
		v := y[i*outputs+t]
		p.row = append(p.row, int32(i), int32(i))
		p.sign = append(p.sign, 1, -1)
		p.target = append(p.target, v-epsilon, v+epsilon)
		p.bound = append(p.bound, bound, bound)
		sum += bound
	}
	p.alpha = make([]float64, len(p.row))
	if o.Nu > 0 { // each sign's sum is ν Σ C / 2
		left := o.Nu * sum / 2
		for t := 0; t < len(p.alpha); t += 2 {
			p.alpha[t] = min(left, p.bound[t])
			p.alpha[t+1] = p.alpha[t]
			left -= p.alpha[t]
		}
	}
	return p
}

// FitOneClass trains a machine with one output whose score is above 0 where most rows are: the
// one-class machine of Schölkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), whose dual
// program is
//
//	min ½ Σ α_i α_j k(x_i, x_j),  Σ α_i = ν Σ weight_i, 0 ≤ α_i ≤ weight_i.
//
// opt.Nu, where 0 means 1/2, is about the share of rows with scores below 0. It takes
// memory and time as [FitSVC] does.
func FitOneClass(ctx context.Context, k kernel.Kernel, x matrix.Rows, opt SVM) (*Machine, *SVMReport, error) {
	o, err := opt.filled(x.Len(), 0)
	if err != nil {
		return nil, nil, err
	}
	if o.Nu == 0 {
		o.Nu = 0.5
	}
	cache, err := allRows(k, x, &o)
	if err != nil {
		return nil, nil, err
	}
	p := &program{}
	sum := 0.0
	for i := range x.Len() {
		w := o.weight(i, -1)
		if w == 0 {
			continue
		}
		p.row, p.sign, p.target = append(p.row, int32(i)), append(p.sign, 1), append(p.target, 0)
		p.bound = append(p.bound, w)
		sum += w
	}
	p.alpha = make([]float64, len(p.row))
	left := o.Nu * sum
	for t, c := range p.bound {
		p.alpha[t] = min(left, c)
		left -= p.alpha[t]
	}
	sol, _, err := run(ctx, p, cache, nil, &o, o.teller(0, 1))
	if err != nil {
		return nil, nil, err
	}
	return collect(k, x, []*solution{sol}, &o, "one-class")
}

// allRows makes the cache of programs over all rows, some of which must have a weight.
func allRows(k kernel.Kernel, x matrix.Rows, o *SVM) (*rowCache, error) {
	if !slices.ContainsFunc(o.Weights, func(w float64) bool { return w > 0 }) && (o.Weights != nil || x.Len() == 0) {
		return nil, fmt.Errorf("exact: there are no rows with a weight above 0 to train on")
	}
	if err := checkRows(k, x); err != nil {
		return nil, err
	}
	rows, memory := denser(x, x.Len(), o.Memory)
	return newRowCache(k, rows, memory)
}

// teller receives the progress of a machine's solver.
func (o *SVM) teller(machine, machines int) func(violation float64) {
	if o.Progress == nil {
		return nil
	}
	return func(violation float64) { o.Progress(machine, machines, violation) }
}
