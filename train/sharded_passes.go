package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// passes train by sums over all rows, one pass after the other. Every process brings its own to the same state by the same sums.
type passes interface {
	// empty are the sums of no rows for the next pass.
	empty() *learn.SharedSums

	// add adds rows with their classes or, if byClass is false, their targets.
	byClass() bool
	add(ctx context.Context, to *learn.SharedSums, rows matrix.Rows, class []int, y, weights []float64) error

	// conclude completes sums over all rows by what one process finds for all.
	conclude(ctx context.Context, sums *learn.SharedSums) error

	// advance goes on by completed sums, and says whether they were the last; solution is then what they came to.
	advance(sums *learn.SharedSums) (done bool, err error)
	solution(f *job) (*solution, error)
}

// primalPasses are those of a linear learner of classes.
type primalPasses struct{ *learn.SharedPrimal }

func (f *job) primalPasses(context.Context) (passes, error) {
	if f.task != "classify" {
		return nil, option.Errorf("%s: the learner %s in pieces is for classes, and the task is to %s", f.src.Name(), f.learner.name, f.task)
	}
	o := As[SVM](f.cfg.Learner)
	shared, err := learn.NewSharedPrimal(f.learnDim(), len(f.names), learn.Primal{
		Loss: f.learner.shared(&f.cfg), C: o.C, Tolerance: o.Tolerance, MaxIter: o.MaxIter,
	})
	return primalPasses{shared}, err
}

func (p primalPasses) empty() *learn.SharedSums { return p.Empty() }
func (primalPasses) byClass() bool              { return true }
func (p primalPasses) add(ctx context.Context, to *learn.SharedSums, rows matrix.Rows, class []int, _, weights []float64) error {
	return p.Add(ctx, to, rows, class, weights)
}
func (primalPasses) conclude(context.Context, *learn.SharedSums) error       { return nil }
func (p primalPasses) advance(sums *learn.SharedSums) (done bool, err error) { return p.Advance(sums) }
func (p primalPasses) solution(f *job) (*solution, error)                    { return f.likely(p.Model()), nil }

// falkonPasses are those of machines on landmarks. What a pass is for is found once for all processes, by who has the preconditioner.
type falkonPasses struct{ *exact.SharedFalkon }

func (p falkonPasses) empty() *learn.SharedSums {
	return &learn.SharedSums{Pass: p.Pass(), Values: make([]float64, p.Len())}
}
func (falkonPasses) byClass() bool { return false }
func (p falkonPasses) add(ctx context.Context, to *learn.SharedSums, rows matrix.Rows, _ []int, y, weights []float64) error {
	to.Rows += rows.Len()
	return p.Add(ctx, to.Values, rows, y, weights)
}
func (p falkonPasses) conclude(ctx context.Context, sums *learn.SharedSums) (err error) {
	sums.Next, sums.Done, err = p.Next(ctx, sums.Values)
	return err
}
func (p falkonPasses) advance(sums *learn.SharedSums) (done bool, err error) {
	return sums.Done, p.Go(sums.Values, sums.Next)
}
func (p falkonPasses) solution(f *job) (*solution, error) {
	machine, report, err := p.Machine(f.ctx)
	if err != nil {
		return nil, f.located(err)
	}
	return f.expanded(machine, report)
}

// Passes says whether a training in pieces takes many passes over the rows.
func (c Config) Passes() bool {
	l := c.Traits()
	return l != nil && l.passes != nil
}

// Pass adds up what the next pass wants of some rows.
func (s *Sharded) Pass(ctx context.Context, src dataset.Source) (*learn.SharedSums, error) {
	f := *s.f
	f.ctx, f.src, f.report = ctx, src, &Report{}
	sums := s.passes.empty()
	// Blocks begin at fixed rows, since the sums depend on them.
	var held kept
	var class []int
	var y, targets, weights []float64
	flush := func() error {
		if len(weights) == 0 {
			return nil
		}
		rows := held.X
		if rows.CSR != nil {
			rows.CSR.Cols = f.learnDim()
		}
		err := s.passes.add(ctx, sums, rows, class, y, weights)
		held.clear()
		class, y, weights = class[:0], y[:0], weights[:0]
		return err
	}
	err := f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
		k := f.outputs
		if !s.passes.byClass() {
			targets = slices.Grow(targets[:0], z.Len()*k)[:z.Len()*k]
			if err := f.targets(b, targets); err != nil {
				return err
			}
		}
		for i := 0; i < z.Len(); {
			n := min(z.Len()-i, learn.BlockRows-len(weights))
			held.add(z.Slice(i, i+n), learn.BlockRows)
			for ; n > 0; n-- {
				if s.passes.byClass() {
					c, err := f.class(b, i)
					if err != nil {
						return err
					}
					class = append(class, c)
				} else {
					y = append(y, targets[i*k:][:k]...)
				}
				weights = append(weights, f.weight(b, i))
				i++
			}
			if len(weights) == learn.BlockRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return sums, err
}

// Conclude completes the sums of a pass over all rows, which then serve every process.
func (s *Sharded) Conclude(ctx context.Context, sums *learn.SharedSums) error {
	if err := s.whole(sums); err != nil {
		return err
	}
	if err := s.passes.conclude(ctx, sums); err != nil {
		return s.f.located(err)
	}
	return nil
}

// Advance goes on by the completed sums of a pass, and says whether it was the last.
func (s *Sharded) Advance(sums *learn.SharedSums) (done bool, err error) {
	if err := s.whole(sums); err != nil {
		return false, err
	}
	return s.passes.advance(sums)
}

// whole wants sums of the next pass over all rows.
func (s *Sharded) whole(sums *learn.SharedSums) error {
	if sums.Rows != s.f.sum.Rows {
		return fmt.Errorf("%s: the sums of a pass are of %d rows, the survey of %d", s.f.src.Name(), sums.Rows, s.f.sum.Rows)
	}
	if want := s.passes.empty().Pass; sums.Pass != want {
		return fmt.Errorf("the sums are of pass %d, the fit is at pass %d", sums.Pass, want)
	}
	return nil
}

// Passed is the model after the last pass.
func (s *Sharded) Passed(ctx context.Context) (*model.Model, *Report, error) {
	start := time.Now()
	t := s.goOn(ctx)
	solved, err := s.passes.solution(t.job)
	if err != nil {
		return nil, nil, err
	}
	t.solved = solved
	return t.trained(start, t.take(ofSolution))
}
