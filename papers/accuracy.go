package papers

import (
	"context"
	"fmt"
	"math"

	"mercer/approx"
	"mercer/feature"
	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/learn"
	"mercer/matrix"
)

// accuracy trains linear support vector machines on z, chooses C on held-out rows of it unless
// it is given (not 0), and returns the share of test rows in percent whose class comes out
// right, and C.
func accuracy(ctx context.Context, z, test labelled, classes int, c float64, seed uint64) (percent, used float64, err error) {
	if z.x.Dense != nil && z.x.Len() < z.x.Dim() { // the same machines by fewer numbers
		return exactMachine(ctx, kernel.Kernel{Name: "linear"}, split{z, test, classes}, c, seed)
	}
	linear, used, err := machine(ctx, z, classes, c, seed)
	if err != nil {
		return 0, 0, err
	}
	return right(linear, test), used, nil
}

// right is the share of rows in percent whose class a linear machine predicts.
func right(l *learn.Linear, test labelled) float64 {
	scores := matrix.NewDense(test.x.Len(), l.W.Cols)
	l.Scores(scores, test.x)
	return 100 * share(scores, test.class)
}

// machine trains linear support vector machines on z and chooses C on held-out rows of it
// unless it is given.
func machine(ctx context.Context, z labelled, classes int, c float64, seed uint64) (l *learn.Linear, used float64, err error) {
	opt := learn.SVM{C: c, Seed: seed, MaxIter: passes}
	if c == 0 {
		if opt.C, _, err = learn.ChooseC(ctx, learn.InMemory(z.x), z.class, classes, nil, opt); err != nil {
			return nil, 0, err
		}
	}
	l, _, err = learn.FitSVM(ctx, learn.InMemory(z.x), z.class, classes, nil, opt)
	return l, opt.C, err
}

// weightedMachine is machine with a given C and weights of rows.
func weightedMachine(ctx context.Context, z labelled, weights []float64, classes int, c float64, seed uint64) (*learn.Linear, error) {
	l, _, err := learn.FitSVM(ctx, learn.InMemory(z.x), z.class, classes, weights, learn.SVM{C: c, Seed: seed, MaxIter: passes})
	return l, err
}

// passes bounds the passes of a machine over its rows: what is left then changes the class of hardly any row.
const passes = 100

// share is the share of rows of scores that predict their class.
func share(scores *matrix.Dense, class []int) float64 {
	right := 0
	for i, c := range class {
		if learn.Predicted(scores.Row(i)) == c {
			right++
		}
	}
	return float64(right) / float64(max(1, len(class)))
}

// mapSplit maps both parts of a split by a map fitted to the training part, 20,000 rows of it
// at most. Sparse maps give sparse features.
func mapSplit(cfg feature.Config, s split) (z split, err error) {
	m, err := feature.Fit(cfg, draw(s.train.x, 20_000, cfg.Seed, "fit"))
	if err != nil {
		return z, err
	}
	z = s
	z.train.x = feature.Apply(m, s.train.x, &matrix.Dense{}, &matrix.CSR{})
	z.test.x = feature.Apply(m, s.test.x, &matrix.Dense{}, &matrix.CSR{})
	return z, nil
}

// standardise gives every dense feature mean 0 and deviation 1 over the training part.
func standardise(s split) {
	train, test := s.train.x.Dense, s.test.x.Dense
	n, d := float64(train.Rows), train.Cols
	mean, square := make([]float64, d), make([]float64, d)
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			mean[j] += float64(v) / n
		}
	}
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			square[j] += (float64(v) - mean[j]) * (float64(v) - mean[j]) / n
		}
	}
	factor := make([]float32, d)
	for j, v := range square {
		if v > 1e-12*mean[j]*mean[j] {
			factor[j] = float32(1 / math.Sqrt(v))
		}
	}
	for _, part := range []*matrix.Dense{train, test} {
		vec.Parallel(part.Rows, 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := part.Row(i)
				for j := range row {
					row[j] = (row[j] - float32(mean[j])) * factor[j]
				}
			}
		})
	}
}

// exactMachine trains the support vector machines of a kernel itself: on the rows L of the
// Cholesky factor of the training rows' Gram matrix, K = LLᵀ, whose inner products are the
// kernel's values. With their weights w the score of a row x is k(x)ᵀL⁻ᵀw. It takes O(n³)
// operations and 12n² bytes for n training rows.
func exactMachine(ctx context.Context, k kernel.Kernel, s split, c float64, seed uint64) (percent, used float64, err error) {
	n := s.train.x.Len()
	a, err := approx.Gram(k, s.train.x)
	if err != nil {
		return 0, 0, err
	}
	most := 0.0
	for i := range n {
		most = max(most, a[i*n+i])
	}
	for i := range n {
		a[i*n+i] += 1e-9 * most // equal rows make it singular
	}
	factor := append([]float64(nil), a...)
	if !vec.Cholesky(n, factor, n) {
		return 0, 0, fmt.Errorf("the Gram matrix of %d rows is not positive definite", n)
	}
	z := matrix.NewDense(n, n)
	for i := range n { // the factor is upper: K = UᵀU, and L = Uᵀ
		for j, v := range factor[i*n+i : (i+1)*n] {
			z.Data[(i+j)*n+i] = float32(v)
		}
	}
	train := labelled{matrix.Rows{Dense: z}, s.train.class}
	linear, used, err := machine(ctx, train, s.classes, c, seed)
	if err != nil {
		return 0, 0, err
	}
	// L⁻ᵀw = K⁻¹(Lw).
	outputs := linear.W.Cols
	w := make([]float64, n*outputs)
	for i := range n {
		for j, v := range factor[i*n+i : (i+1)*n] {
			for o, weight := range linear.W.Row(i) {
				w[(i+j)*outputs+o] += v * float64(weight)
			}
		}
	}
	if !vec.CholeskySolve(n, a, n, outputs, w, outputs) {
		return 0, 0, fmt.Errorf("the Gram matrix of %d rows is not positive definite", n)
	}
	g, err := kernel.NewGram(k, s.test.x, s.train.x)
	if err != nil {
		return 0, 0, err
	}
	scores := matrix.NewDense(s.test.x.Len(), outputs)
	const block = 256 // rows; the training rows are read once for all of them
	values := make([]float64, block*n)
	for i := 0; i < scores.Rows; i += block {
		j := min(i+block, scores.Rows)
		g.Rows(i, j, values[:(j-i)*n])
		for r := i; r < j; r++ {
			row := scores.Row(r)
			for o := range row {
				sum := linear.B[o]
				for k, v := range values[(r-i)*n:][:n] {
					sum += v * w[k*outputs+o]
				}
				row[o] = float32(sum)
			}
		}
	}
	return 100 * share(scores, s.test.class), used, nil
}

// classified is a method of a table of accuracies by D.
type classified struct {
	name   string
	theirs string
	cfg    feature.Config
}

// accuracies describes a table of accuracies of linear machines on features: methods by D.
type accuracies struct {
	kernel  kernel.Kernel
	dims    []int
	methods []classified
	open    func(ctx context.Context, dir string) (split, error)
}

// quickTrain is how many training rows a quick run has.
const quickTrain = 3000

// table fills in what the description implies.
func (a accuracies) table(t Table) *Table {
	t.Corner, t.Gain = "accuracy, %", true
	for _, d := range a.dims {
		t.Columns = append(t.Columns, fmt.Sprintf("D = %d", d))
	}
	for _, m := range a.methods {
		t.Rows = append(t.Rows, Row{m.name, figures(m.theirs)})
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		s, err := a.open(ctx, dir)
		if err != nil {
			return nil, err
		}
		dims := a.dims
		if quick {
			dims = dims[:1]
			for _, part := range []*labelled{&s.train, &s.test} {
				n := min(quickTrain, part.x.Len())
				part.x, part.class = part.x.Slice(0, n), part.class[:n]
			}
		}
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				var all []float64
				for j, d := range dims {
					cfg := a.methods[i].cfg
					cfg.Kernel, cfg.Features = a.kernel, d
					cfg.Seed = random.Hash(seed, "papers.accuracy", uint64(i*len(dims)+j))
					z, err := mapSplit(cfg, s)
					if err != nil {
						return nil, err
					}
					standardise(z)
					percent, _, err := accuracy(ctx, z.train, z.test, z.classes, 0, seed)
					if err != nil {
						return nil, err
					}
					all = append(all, percent)
				}
				return all, nil
			}, nil
		}, nil
	}
	return &t
}
