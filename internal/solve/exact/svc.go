package exact

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// FitSVC trains a classifier of the rows x, row i of class[i] in [0, classes), by support vector
// machines with a kernel: C-SVC (Cortes and Vapnik 1995), whose dual program is
//
//	min ½ Σ y_i y_j α_i α_j k(x_i, x_j) - Σ α_i,  Σ y_i α_i = 0, 0 ≤ α_i ≤ C·weight_i,
//
// or ν-SVC if opt.Nu is set. Two classes need one machine, more of them k(k-1)/2 or k.
//
// It takes the memory that [SVMMemory] states, and time that grows like n² or faster: for more
// than about 10⁵ rows, feature maps are the better choice. It fails if a class has no rows with a
// weight above 0, and stops with the context's error.
func FitSVC(ctx context.Context, k kernel.Kernel, x matrix.Rows, class []int, classes int, opt SVM) (*Classifier, *SVMReport, error) {
	if len(class) != x.Len() {
		panic(fmt.Sprintf("exact: %d classes of %d rows", len(class), x.Len()))
	}
	o, err := opt.filled(x.Len(), classes)
	if err != nil {
		return nil, nil, err
	}
	if err := checkRows(k, x); err != nil {
		return nil, nil, err
	}
	f := &svc{SVM: o, kernel: k, class: class, members: make([][]int32, classes)}
	for i, c := range class {
		if c < 0 || c >= classes {
			panic(fmt.Sprintf("exact: row %d is of class %d of %d", i, c, classes))
		}
		if o.weight(i, c) > 0 {
			f.members[c] = append(f.members[c], int32(i))
		}
	}
	for c, m := range f.members {
		if len(m) == 0 {
			return nil, nil, fmt.Errorf("exact: class %d of %d has no rows with a weight above 0; it takes one at least", c+1, classes)
		}
	}
	if classes < 2 {
		return nil, nil, fmt.Errorf("exact: all rows are of one class; a classifier takes two or more")
	}
	if err := f.feasible(); err != nil {
		return nil, nil, err
	}
	f.contests = contests(classes, o.Multiclass)
	f.x, f.Memory = denser(x, f.largest(), o.Memory)
	solutions, err := f.train(ctx)
	if err != nil {
		return nil, nil, err
	}
	kind := "c-svc"
	if o.Nu > 0 {
		kind = "nu-svc"
	}
	machine, report, err := collect(k, x, solutions, &o, kind)
	if err != nil {
		return nil, nil, err
	}
	if classes > 2 {
		report.Multiclass = o.Multiclass
	}
	c, err := NewClassifier(machine, classes, o.Multiclass)
	return c, report, err
}

// feasible checks that there is a solution for ν, before hours of solving.
func (f *svc) feasible() error {
	if f.Nu == 0 {
		return nil
	}
	sums := make([]float64, len(f.members))
	for c, members := range f.members {
		for _, i := range members {
			sums[c] += f.weight(int(i), c)
		}
	}
	most, class, against := MostNu(sums, f.Multiclass)
	if f.Nu <= most*(1+1e-12) {
		return nil
	}
	return fmt.Errorf("exact: nu is %g; with classes of these sizes, %s, it is %.4g at most", f.Nu, contest{class, against},
		math.Floor(1e4*most)/1e4)
}

// MostNu is the largest ν that ν-SVC has a solution for (Crisp and Burges 2000), where sums are
// the total weights of the rows of every class and multiclass is as in [SVM]: for the two sides
// of a contest 2·min(s, t)/(s + t). It also returns the two classes of the most restrictive contest;
// against is -1 for all others.
func MostNu(sums []float64, multiclass string) (nu float64, class, against int) {
	total := 0.0
	for _, s := range sums {
		total += s
	}
	nu = math.Inf(1)
	for _, c := range contests(len(sums), multiclass) {
		s, t := sums[c.class], total-sums[c.class]
		if c.against >= 0 {
			t = sums[c.against]
		}
		if most := 2 * min(s, t) / (s + t); most < nu {
			nu, class, against = most, c.class, c.against
		}
	}
	return nu, class, against
}

// svc trains the machines of a classifier.
type svc struct {
	SVM
	kernel   kernel.Kernel
	x        matrix.Rows
	class    []int
	members  [][]int32 // the rows of every class, in order
	contests []contest
	telling  sync.Mutex
}

// train solves the programs of all contests. Those of two classes have different rows, and
// as many as there are threads are solved at the same time; those of one class against all
// others share the rows, and are solved one after the other with a common cache.
func (f *svc) train(ctx context.Context) ([]*solution, error) {
	solutions := make([]*solution, len(f.contests))
	errs := make([]error, len(f.contests))
	if f.contests[0].against < 0 {
		f.all(ctx, solutions, errs)
	} else {
		share := f.share()
		workers := min(vec.Threads(), len(f.contests), int(f.Memory/share))
		var next atomic.Int64
		vec.Parallel(workers, 1, func(int, int) {
			for t := int(next.Add(1)) - 1; t < len(f.contests); t = int(next.Add(1)) - 1 {
				solutions[t], errs[t] = f.two(ctx, t, share)
			}
		})
	}
	for t, err := range errs {
		if err != nil {
			if len(f.contests) > 1 {
				err = fmt.Errorf("%s: %w", f.contests[t], err)
			}
			return nil, err
		}
	}
	return solutions, nil
}

// share is the memory of a contest: the total divided by a power of 2, such that it is enough for the
// largest contest, or, if there is not that much, half or all of the total. It does not depend on
// the number of threads, so the result does not either.
func (f *svc) share() int64 {
	if len(f.contests) == 1 {
		return f.Memory
	}
	n := f.largest()
	least, most := SVMMemory(n, f.x.Dim(), f.x.CSR != nil)
	copied := 4 * int64(n) * int64(f.x.Dim())
	shares := int64(1)
	for shares < 1<<10 && f.Memory/(2*shares) >= most+copied {
		shares *= 2
	}
	if shares == 1 && f.Memory/2 >= least+copied {
		shares = 2
	}
	return f.Memory / shares
}

// largest is the number of rows of the largest contest.
func (f *svc) largest() int {
	var sizes []int
	all := 0
	for _, m := range f.members {
		sizes = append(sizes, len(m))
		all += len(m)
	}
	if f.contests[0].against < 0 {
		return all
	}
	slices.Sort(sizes)
	return sizes[len(sizes)-1] + sizes[len(sizes)-2]
}

// two solves the program of two classes on copies of their rows.
func (f *svc) two(ctx context.Context, t int, memory int64) (*solution, error) {
	c := f.contests[t]
	rows := slices.Concat(f.members[c.class], f.members[c.against])
	slices.Sort(rows)
	x := f.x
	if len(rows) < x.Len() {
		x = matrix.Pick(x, rows)
		memory -= 4 * int64(len(rows)) * int64(x.Dim())
	}
	cache, err := newRowCache(f.kernel, x, memory)
	if err != nil {
		return nil, err
	}
	places := make([]int32, len(rows))
	for i := range places {
		places[i] = int32(i)
	}
	return f.solve(ctx, t, rows, places, cache, rows)
}

// all solves programs that have all rows.
func (f *svc) all(ctx context.Context, solutions []*solution, errs []error) {
	cache, err := newRowCache(f.kernel, f.x, f.Memory)
	if err != nil {
		errs[0] = err
		return
	}
	rows := slices.Concat(f.members...)
	slices.Sort(rows)
	for t := range f.contests {
		if solutions[t], errs[t] = f.solve(ctx, t, rows, rows, cache, nil); errs[t] != nil {
			return
		}
	}
}

// solve trains one machine on rows, which are at places of the cache.
func (f *svc) solve(ctx context.Context, t int, rows, places []int32, cache *rowCache, names []int32) (*solution, error) {
	p := &program{row: places, separate: f.Nu > 0}
	var bounds [2]float64 // Σ C of each side
	for _, i := range rows {
		sign := f.contests[t].sign(f.class[i])
		bound := f.weight(int(i), f.class[i])
		target := 0.0
		if f.Nu == 0 {
			target, bound = sign, bound*f.C
		}
		p.sign, p.target, p.bound = append(p.sign, sign), append(p.target, target), append(p.bound, bound)
		side := 0
		if sign < 0 {
			side = 1
		}
		bounds[side] += bound
	}
	p.alpha = make([]float64, len(rows))
	if f.Nu > 0 {
		half := f.Nu * (bounds[0] + bounds[1]) / 2
		left := [2]float64{half, half}
		for v := range p.alpha {
			side := 0
			if p.sign[v] < 0 {
				side = 1
			}
			p.alpha[v] = min(p.bound[v], left[side])
			left[side] -= p.alpha[v]
		}
	}
	sol, s, err := run(ctx, p, cache, names, &f.SVM, f.tell(t))
	if err != nil || f.Nu == 0 {
		return sol, err
	}
	return sol, f.rescale(sol, s)
}

// rescale scales a solution of ν-SVC to a margin of 1. With b⁺ and b⁻ the intercepts for
// the variables of the two signs, the margin is ρ = (b⁻ - b⁺)/2 and the intercept (b⁺ + b⁻)/2.
func (f *svc) rescale(sol *solution, s *smo) error {
	plus, minus := s.intercept(1), s.intercept(-1)
	margin := (minus - plus) / 2
	if !(margin > 0) || math.IsInf(margin, 0) {
		return fmt.Errorf("exact: with nu %g the margin is 0, so that no machine follows; give another nu", f.Nu)
	}
	sol.b = (plus + minus) / 2 / margin
	for i := range sol.beta {
		sol.beta[i] /= margin
	}
	sol.objective /= margin * margin
	return nil
}

// tell receives the progress of a machine's solver.
func (f *svc) tell(t int) func(violation float64) {
	if f.Progress == nil {
		return nil
	}
	return func(violation float64) {
		f.telling.Lock()
		defer f.telling.Unlock()
		f.Progress(t, len(f.contests), violation)
	}
}
