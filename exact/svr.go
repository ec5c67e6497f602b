package exact

import (
	"context"
	"fmt"

	"mercer/kernel"
	"mercer/matrix"
)

// FitSVR trains a machine with one output on numbers y by support vector regression: ε-SVR
// (Vapnik 1995), whose dual program in β = α - α* is
//
//	min ½ Σ β_i β_j k(x_i, x_j) + ε Σ |β_i| - Σ y_i β_i,  Σ β_i = 0, |β_i| ≤ C·weight_i,
//
// or ν-SVR if opt.Nu is set, which chooses ε. It takes memory and time as [FitSVC] does.
func FitSVR(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, opt SVM) (*Machine, *SVMReport, error) {
	n := x.Len()
	if len(y) != n {
		panic(fmt.Sprintf("exact: %d numbers for %d rows", len(y), n))
	}
	for i, v := range y {
		if !finite(v) {
			return nil, nil, fmt.Errorf("exact: row %d: the number to predict is %g, not a finite number", i+1, v)
		}
	}
	o, err := opt.filled(n, 0)
	if err != nil {
		return nil, nil, err
	}
	kind := "epsilon-svr"
	if o.Nu > 0 {
		kind = "nu-svr"
	}
	// Variable 2m is α of a row, variable 2m+1 its α*.
	p := &program{separate: o.Nu > 0}
	sum := 0.0
	for i, v := range y {
		bound := o.C * o.weight(i, -1)
		if bound == 0 {
			continue
		}
		epsilon := o.Epsilon
		if o.Nu > 0 {
			epsilon = 0
		}
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
	m, r, s, err := fitOne(ctx, k, x, p, &o, kind)
	if err != nil {
		return nil, nil, err
	}
	if r.Epsilon = o.Epsilon; o.Nu > 0 {
		// At α between its bounds y - f is b + ε, at α* b - ε.
		plus, minus := s.intercept(1), s.intercept(-1)
		r.Epsilon = (plus - minus) / 2
		m.b[0] = (plus + minus) / 2
	}
	return m, r, nil
}

// FitOneClass trains a machine with one output whose score is above 0 where most rows are: the
// one-class machine of Schölkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), whose dual
// program is
//
//	min ½ Σ α_i α_j k(x_i, x_j),  Σ α_i = ν Σ weight_i, 0 ≤ α_i ≤ weight_i.
//
// opt.Nu, 0 meaning 1/2, is about the share of rows that is to have scores below 0. It takes
// memory and time as [FitSVC] does.
func FitOneClass(ctx context.Context, k kernel.Kernel, x matrix.Rows, opt SVM) (*Machine, *SVMReport, error) {
	o, err := opt.filled(x.Len(), 0)
	if err != nil {
		return nil, nil, err
	}
	if o.Nu == 0 {
		o.Nu = 0.5
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
	m, r, _, err := fitOne(ctx, k, x, p, &o, "one-class")
	return m, r, err
}

// fitOne solves a program over all rows.
func fitOne(ctx context.Context, k kernel.Kernel, x matrix.Rows, p *program, o *SVM, kind string) (*Machine, *SVMReport, *smo, error) {
	if len(p.row) == 0 {
		return nil, nil, nil, fmt.Errorf("exact: there are no rows with a weight above 0 to train on")
	}
	if err := checkRows(k, x); err != nil {
		return nil, nil, nil, err
	}
	rows, memory := denser(x, o.Memory)
	cache, err := newRowCache(k, rows, memory)
	if err != nil {
		return nil, nil, nil, err
	}
	var progress func(float64)
	if o.Progress != nil {
		progress = func(violation float64) { o.Progress(0, 1, violation) }
	}
	sol, s, err := run(ctx, p, cache, nil, o, progress)
	if err != nil {
		return nil, nil, nil, err
	}
	m, r, err := collect(k, x, []*solution{sol}, o, kind)
	return m, r, s, err
}
