package liblinear

import (
	"context"
	"slices"

	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// primal trains one class against the rest by a solver of the primal problem. All classes
// share the passes over the rows, unless weights make the costs of a row differ between them:
// LIBLINEAR multiplies the cost of a class's own rows in its own problem only.
func (t *trainer) primal(ctx context.Context, class []int, weights []float64) (*learn.Linear, error) {
	k := len(weights)
	one := func(w float64) bool { return w == 1 }
	if k == 2 || !slices.ContainsFunc(weights, func(w float64) bool { return !one(w) }) {
		costs := make([]float64, len(class))
		for i, c := range class {
			costs[i] = weights[c]
		}
		return t.primalProblem(ctx, class, k, costs)
	}
	l := &learn.Linear{W: matrix.NewDense(t.x.Cols, k), B: make([]float64, k)}
	mine := make([]int, len(class))
	costs := make([]float64, len(class))
	total := Report{Converged: true}
	for c := range k {
		for i, other := range class {
			mine[i], costs[i] = 0, 1
			if other == c {
				mine[i], costs[i] = 1, weights[c]
			}
		}
		single, err := t.primalProblem(ctx, mine, 2, costs)
		if err != nil {
			return nil, err
		}
		for j := range l.W.Rows {
			l.W.Row(j)[c] = single.W.Row(j)[0]
		}
		l.B[c] = single.B[0]
		total.Iterations = max(total.Iterations, t.report.Iterations)
		total.Objective += t.report.Objective
		total.Converged = total.Converged && t.report.Converged
	}
	t.report = total
	return l, nil
}

// primalProblem trains k classes at once; costs multiply C.
func (t *trainer) primalProblem(ctx context.Context, class []int, k int, costs []float64) (*learn.Linear, error) {
	rows := make([]int, k)
	for _, c := range class {
		rows[c]++
	}
	// The rarest class has the smallest tolerance; it is good for all others too.
	rarest := len(class)
	for _, n := range rows {
		rarest = min(rarest, max(1, min(n, len(class)-n)))
	}
	tolerance := t.tolerance(0.01) * float64(rarest) / float64(len(class))
	loss := "squared_hinge"
	if t.opt.Solver.Logistic() {
		loss = "logistic"
	}
	if t.opt.Solver == L1RL2LossSVC || t.opt.Solver == L1RLR {
		l, r, err := learn.FitL1(ctx, t.features(), class, k, costs, learn.L1{
			C: t.opt.C, Loss: loss, Tolerance: tolerance, NoIntercept: !t.opt.FreeBias, Seed: t.opt.Seed,
		})
		if err != nil {
			return nil, err
		}
		t.done(r.Iterations, sum(r.Objective), r.Converged)
		return l, nil
	}
	l, r, err := learn.FitPrimal(ctx, t.features(), class, k, costs,
		learn.Primal{C: t.opt.C, Loss: loss, Tolerance: tolerance, NoIntercept: !t.opt.FreeBias})
	if err != nil {
		return nil, err
	}
	t.done(r.Iterations, sum(r.Objective), r.Converged || r.Rounding)
	return l, nil
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
