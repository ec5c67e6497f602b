package papers

import (
	"context"
	"fmt"
	"math"
	"sync"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/search/approx"
	"mercer/internal/solve/learn"
	"mercer/kernel"
	"mercer/matrix"
)

// accuracy trains linear support vector machines on z, chooses C on held-out
// rows unless it is given (not 0), and returns the accuracy on the test rows in
// percent, and C.
func accuracy(ctx context.Context, z, test labelled, classes int, c float64, seed uint64) (percent, used float64, err error) {
	if z.x.Dense != nil && z.x.Len() < z.x.Dim() { // the same machines by fewer numbers
		k := products(z.x.Dense)
		alpha, b, used, err := dualMachine(ctx, k, z, classes, c, seed)
		if err != nil {
			return 0, 0, err
		}
		return right(combined(z.x.Dense, alpha, b), test), used, nil
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

// passes bounds the passes of a machine over its rows: more would hardly change the class of any row.
const passes = 100

// share is the share of rows whose class their scores predict.
func share(scores *matrix.Dense, class []int) float64 {
	right := 0
	for i, c := range class {
		if learn.Predicted(scores.Row(i)) == c {
			right++
		}
	}
	return float64(right) / float64(max(1, len(class)))
}

// mapSplit maps both parts of a split by a map fitted to at most 20,000 rows of the
// training part. Sparse maps give sparse features.
func mapSplit(cfg feature.Config, s split) (z split, err error) {
	m, err := feature.Fit(context.Background(), cfg, draw(s.train.x, 20_000, cfg.Seed, "fit"))
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

// first runs a method with seed 1, which chooses its C, and with other seeds with that C: as in the
// papers, it is chosen once. It may be used by several goroutines, the first of which runs seed 1.
type first struct {
	once    sync.Once
	percent float64
	c       float64
	err     error
}

// run returns the result of the method with a seed. C = 0 makes the method choose C, and it
// returns the C used.
func (f *first) run(seed uint64, method func(seed uint64, c float64) (percent, used float64, err error)) (float64, error) {
	f.once.Do(func() { f.percent, f.c, f.err = method(1, 0) })
	if f.err != nil || seed == 1 {
		return f.percent, f.err
	}
	percent, _, err := method(seed, f.c)
	return percent, err
}

// firsts has one for each cell of a table.
func firsts(rows, columns int) [][]first {
	all := make([][]first, rows)
	for i := range all {
		all[i] = make([]first, columns)
	}
	return all
}

// exactMachine trains exact support vector machines of a kernel. It takes O(n³) operations and
// 20n² bytes for n training rows.
func exactMachine(ctx context.Context, k kernel.Kernel, s split, c float64, seed uint64) (percent, used float64, err error) {
	a, err := approx.Gram(k, s.train.x)
	if err != nil {
		return 0, 0, err
	}
	w, b, used, err := dualMachine(ctx, a, s.train, s.classes, c, seed)
	if err != nil {
		return 0, 0, err
	}
	g, err := kernel.NewGram(k, s.test.x, s.train.x)
	if err != nil {
		return 0, 0, err
	}
	n, outputs := s.train.x.Len(), len(b)
	scores := matrix.NewDense(s.test.x.Len(), outputs)
	const block = 256 // rows; the training rows are read once for all of them
	values := make([]float64, block*n)
	for i := 0; i < scores.Rows; i += block {
		j := min(i+block, scores.Rows)
		g.Rows(i, j, values[:(j-i)*n])
		for r := i; r < j; r++ {
			row := scores.Row(r)
			for o := range row {
				sum := b[o]
				for k, v := range values[(r-i)*n:][:n] {
					sum += v * w[k*outputs+o]
				}
				row[o] = float32(sum)
			}
		}
	}
	return 100 * share(scores, s.test.class), used, nil
}

// dualMachine trains the support vector machines of a kernel on the rows L of the Cholesky factor of
// the training rows' Gram matrix a, K = LLᵀ, whose inner products are the kernel's values. With
// their weights w the score of a row x is k(x)ᵀL⁻ᵀw + b; it returns α = L⁻ᵀw, n×outputs, and b. It
// overwrites a.
func dualMachine(ctx context.Context, a []float64, train labelled, classes int, c float64, seed uint64) (alpha,
	b []float64, used float64, err error) {
	n := train.x.Len()
	most := 0.0
	for i := range n {
		most = max(most, a[i*n+i])
	}
	for i := range n {
		a[i*n+i] += 1e-9 * most // equal rows make it singular
	}
	factor := append([]float64(nil), a...)
	if !vec.Cholesky(context.Background(), n, factor, n) {
		return nil, nil, 0, fmt.Errorf("the Gram matrix of %d rows is not positive definite", n)
	}
	z := matrix.NewDense(n, n)
	for i := range n { // the factor is upper: K = UᵀU, and L = Uᵀ
		for j, v := range factor[i*n+i : (i+1)*n] {
			z.Data[(i+j)*n+i] = float32(v)
		}
	}
	linear, used, err := machine(ctx, labelled{matrix.Rows{Dense: z}, train.class}, classes, c, seed)
	if err != nil {
		return nil, nil, 0, err
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
	if !vec.CholeskySolve(context.Background(), n, a, n, outputs, w, outputs) {
		return nil, nil, 0, fmt.Errorf("the Gram matrix of %d rows is not positive definite", n)
	}
	return w, linear.B, used, nil
}

// products is the Gram matrix ZZᵀ of n rows of many dimensions. Beyond it, it takes 4096·n bytes.
func products(z *matrix.Dense) []float64 {
	const block = 512 // columns
	n := z.Rows
	k := make([]float64, n*n)
	columns := make([]float64, block*n)
	for lo := 0; lo < z.Cols; lo += block {
		width := min(block, z.Cols-lo)
		vec.Parallel(width, 16, func(from, to int) {
			for i := range n {
				for j, v := range z.Row(i)[lo+from : lo+to] {
					columns[(from+j)*n+i] = float64(v)
				}
			}
		})
		vec.SyrkAdd(n, width, columns, n, k, n)
	}
	for i := range n {
		for j := range i {
			k[i*n+j] = k[j*n+i]
		}
	}
	return k
}

// combined is the linear model with the weights Zᵀα.
func combined(z *matrix.Dense, alpha, b []float64) *learn.Linear {
	outputs := len(b)
	l := &learn.Linear{W: matrix.NewDense(z.Cols, outputs), B: b}
	vec.Parallel(z.Cols, 512, func(lo, hi int) {
		sums := make([]float64, (hi-lo)*outputs)
		for i := range z.Rows {
			for j, v := range z.Row(i)[lo:hi] {
				for o, a := range alpha[i*outputs:][:outputs] {
					sums[j*outputs+o] += float64(v) * a
				}
			}
		}
		for j, v := range sums {
			l.W.Data[lo*outputs+j] = float32(v)
		}
	})
	return l
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

// table completes a table from its description.
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
		cells := firsts(len(a.methods), len(dims))
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				var all []float64
				for j, d := range dims {
					percent, err := cells[i][j].run(seed, func(seed uint64, c float64) (percent, used float64, err error) {
						cfg := a.methods[i].cfg
						cfg.Kernel, cfg.Features = a.kernel, d
						cfg.Seed = random.Hash(seed, "papers.accuracy", uint64(i*len(dims)+j))
						z, err := mapSplit(cfg, s)
						if err != nil {
							return 0, 0, err
						}
						standardise(z)
						return accuracy(ctx, z.train, z.test, z.classes, c, seed)
					})
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
