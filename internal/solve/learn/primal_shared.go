package learn

import (
	"context"
	"errors"
	"fmt"

	"mercer/matrix"
)

// SharedPrimal is FitPrimal for rows that other processes read, in parts: a loop of passes, each of which adds up sums over all rows.
// Each process has one, brings it to the same state by the same sums (Advance), and computes what it wants of its own rows (Sums.Add).
// Sums of parts are merged, and the result depends on how they are grouped only by rounding.
//
// The first pass takes the means and mean squares of all features. The others are those of FitPrimal, except that the curvatures
// of rows are computed again for each product with the Hessian, because no process keeps anything of its rows.
type SharedPrimal struct {
	f      *primalFit
	opt    Primal
	report *PrimalReport
}

// NewSharedPrimal begins a fit on rows of d features, of at least two classes.
func NewSharedPrimal(d, classes int, opt Primal) (*SharedPrimal, error) {
	if classes < 2 || d < 1 {
		panic(fmt.Sprintf("learn: NewSharedPrimal of %d features and %d classes", d, classes))
	}
	if opt.Start != nil || opt.ClassWeights != nil || opt.NoIntercept {
		return nil, errors.New("a shared fit starts at 0 and takes the weights of rows alone")
	}
	if opt.C == 0 {
		opt.C = 1
	}
	if _, err := costs(1, nil, opt.C); err != nil {
		return nil, err
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = 0.01
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 1000
	}
	f := &primalFit{z: noFeatures(d), k: TargetColumns(classes), class: []int{}, intercept: true}
	if err := f.setLoss(&opt); err != nil {
		return nil, err
	}
	return &SharedPrimal{f: f, opt: opt, report: &PrimalReport{Loss: opt.Loss, C: opt.C}}, nil
}

// noFeatures are no rows of some features.
type noFeatures int

func (noFeatures) Len() int                            { return 0 }
func (d noFeatures) Dim() int                          { return int(d) }
func (noFeatures) Block(int, int) (matrix.Rows, error) { return matrix.Rows{}, nil }
func (noFeatures) Resident() bool                      { return true }

// SharedSums are sums over some of the rows for a pass.
type SharedSums struct {
	// Rows is the number of rows, and Pass that of the pass, from 0.
	Rows, Pass int

	// Values are the sums: of the first pass for each feature those of c·z² and c·z, the total cost, and for each class the number of rows
	// with a weight; of others for each output that is not finished those of the gradient or product, the loss and the curvature.
	Values []float64

	// Next is what the pass after this one is for, and Done says that there is none, of sums over all rows whose learner finds that out
	// once for all processes.
	Next []float64
	Done bool
}

// Empty are the sums of no rows for the next pass.
func (s *SharedPrimal) Empty() *SharedSums {
	n := 2*s.f.z.Dim() + 1 + max(2, s.f.k)
	if s.f.machines != nil {
		n = 0
		for _, m := range s.f.machines {
			if !m.end {
				n += s.f.outputs() * (s.f.parameters() + 2)
			}
		}
	}
	return &SharedSums{Pass: s.pass(), Values: make([]float64, n)}
}

// pass is the number of the next pass.
func (s *SharedPrimal) pass() int {
	if s.f.machines == nil {
		return 0
	}
	return 1 + s.report.Passes
}

// Merge adds the sums of the rows that follow.
func (a *SharedSums) Merge(b *SharedSums) error {
	if a.Pass != b.Pass || len(a.Values) != len(b.Values) {
		return fmt.Errorf("%d sums of pass %d, and %d of pass %d before", len(b.Values), b.Pass, len(a.Values), a.Pass)
	}
	a.Rows += b.Rows
	for i, v := range b.Values {
		a.Values[i] += v
	}
	return nil
}

// Add adds rows to the sums. The order of additions depends on how rows are divided among calls.
func (s *SharedPrimal) Add(ctx context.Context, to *SharedSums, z matrix.Rows, class []int, weights []float64) error {
	n := z.Len()
	if n == 0 {
		return nil
	}
	if z.Dim() != s.f.z.Dim() || len(class) != n || weights != nil && len(weights) != n {
		panic(fmt.Sprintf("learn: %d rows of %d features with %d classes and %d weights, for %d features", n, z.Dim(), len(class), len(weights), s.f.z.Dim()))
	}
	if to.Pass != s.pass() {
		return fmt.Errorf("the sums are of pass %d, the fit is at pass %d", to.Pass, s.pass())
	}
	cost := make([]float64, n)
	for i := range cost {
		if cost[i] = s.opt.C; weights != nil {
			cost[i] *= weights[i]
		}
	}
	to.Rows += n
	g := &primalFit{z: InMemory(z), k: s.f.k, class: class, loss: s.f.loss, joint: s.f.joint, cost: cost, intercept: true}
	if s.f.machines == nil {
		s.addMeans(to.Values, g)
		return nil
	}
	return s.addPass(ctx, to.Values, g)
}

// addMeans adds what the first pass wants.
func (s *SharedPrimal) addMeans(to []float64, g *primalFit) {
	d := g.z.Dim()
	square, mean, rest := to[:d], to[d:2*d], to[2*d:]
	rows, _ := g.z.Block(0, g.z.Len())
	for i, c := range g.cost {
		if x := rows.CSR; x != nil {
			idx, val := x.Row(i)
			for e, j := range idx {
				v := float64(val[e])
				square[j] += float64(c * v * v)
				mean[j] += float64(c * v)
			}
		} else {
			for j, x := range rows.Dense.Row(i) {
				v := float64(x)
				square[j] += float64(c * v * v)
				mean[j] += float64(c * v)
			}
		}
		rest[0] += c
		if c > 0 {
			rest[1+g.class[i]]++
		}
	}
}

// addPass adds what the machines want.
func (s *SharedPrimal) addPass(ctx context.Context, to []float64, g *primalFit) error {
	g.curve = make([]float32, g.z.Len()*g.k)
	g.sums.prepare(g)
	// Products with the Hessian take the curvatures at the last point accepted, which evaluating there gives.
	curving := false
	for _, m := range s.f.machines {
		at := &newton{x: m.w, out: make([]float64, len(m.out)), state: trying, newtonEnd: newtonEnd{end: m.end || m.evaluates()}}
		curving = curving || !at.end
		g.machines = append(g.machines, at)
	}
	if curving {
		if err := g.pass(ctx); err != nil {
			return err
		}
	}
	for i, m := range s.f.machines {
		g.machines[i] = &newton{x: m.x, out: make([]float64, len(m.out)), state: m.state, newtonEnd: newtonEnd{end: m.end}}
	}
	if err := g.pass(ctx); err != nil {
		return err
	}
	p := g.parameters()
	for c, col := range g.sums.columns {
		for j, v := range col.out {
			to[j] += v
		}
		if c == 0 || g.sums.columns[c-1].machine != col.machine {
			to[p] += col.machine.loss
		}
		to[p+1] += col.curvature
		to = to[p+2:]
	}
	return nil
}

// Advance goes on by the sums over all rows, and says whether the fit is done.
func (s *SharedPrimal) Advance(sums *SharedSums) (done bool, err error) {
	if want := s.Empty(); sums.Pass != want.Pass || len(sums.Values) != len(want.Values) {
		return false, fmt.Errorf("%d sums of pass %d, where the fit wants %d of pass %d", len(sums.Values), sums.Pass, len(want.Values), want.Pass)
	}
	for _, v := range sums.Values {
		if v-v != 0 {
			return false, errors.New("the sums over the rows exceed the numbers of float32: scale the columns, or lower C")
		}
	}
	f, values := s.f, sums.Values
	if f.machines == nil {
		return false, s.begin(values)
	}
	p := f.parameters()
	f.sums.gather()
	for _, col := range f.sums.columns {
		if col.at == 0 {
			col.machine.loss = 0
		}
		copy(col.out, values[:p])
		col.machine.loss += values[p]
		col.curvature = values[p+1]
		values = values[p+2:]
	}
	s.report.Passes++
	done = true
	for _, m := range f.machines {
		if !m.end {
			m.advance(func(diagonal []float64) { f.diagonal(m, diagonal) })
		}
		done = done && m.end
	}
	return done, nil
}

// begin makes the machines from the sums of the first pass.
func (s *SharedPrimal) begin(values []float64) error {
	f, d := s.f, s.f.z.Dim()
	f.square, f.mean = make([]float64, d), make([]float64, d)
	total := values[2*d]
	if total == 0 {
		return fmt.Errorf("no row has a weight above 0: there is nothing to train on")
	}
	for j := range d {
		f.square[j], f.mean[j] = values[j]/total, values[d+j]/total
	}
	rows := values[2*d+1:]
	all := 0.0
	for _, n := range rows {
		all += n
	}
	share := []float64{1 / float64(f.k)}
	if !f.joint {
		share = make([]float64, f.k)
		for t := range share {
			positive := rows[t]
			if f.k == 1 {
				positive = rows[1]
			}
			share[t] = max(min(positive, all-positive), 1) / all
		}
	}
	f.makeMachines(s.opt, share)
	f.sums.fit = f
	return nil
}

// Model is the model when the fit is done.
func (s *SharedPrimal) Model() (*Linear, *PrimalReport) {
	return s.f.finish(s.report, s.opt)
}
