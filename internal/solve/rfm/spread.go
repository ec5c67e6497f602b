package rfm

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// Spread says how far the numbers that a machine predicts are from the truth, by rows that it had not seen: split conformal prediction
// (Lei et al. 2018), by residuals that are divided by how large they usually are near a row.
type Spread struct {
	// Sizes are the usual residuals in each leaf, leaves×outputs, by absolute values.
	Sizes []float64

	// Ratios are absolute residuals divided by those that are usual for the row, outputs×n, ascending for each output.
	Ratios []float64
}

const (
	mostRatios  = 10_000 // residuals that are kept
	spreadPrior = 10     // rows of a leaf that the residuals of all leaves count for
)

// spread judges residuals of the judges by the tree and leaves that were chosen. How large they usually are in a leaf comes from the rows
// held out that do not judge; if those that judge are all there are, it is the same everywhere.
func (f *fitting) spread(tree Tree, leaves int, all, best judged) *Spread {
	if f.opt.Classes || len(best.held) == 0 {
		return nil
	}
	s := &Spread{Sizes: make([]float64, leaves*f.outputs)}
	for i := range s.Sizes {
		s.Sizes[i] = 1
	}
	var shares []share
	if len(best.held) < len(all.held) && leaves > 1 {
		sums, rows, mean, n := make([]float64, leaves*f.outputs), make([]float64, leaves), make([]float64, f.outputs), 0.0
		for h, i := range all.held {
			if f.judges[i] {
				continue
			}
			n++
			shares = tree.route(shares[:0], f.x.Row(i), 0)
			for t := range f.outputs {
				size := math.Abs(f.y[i*f.outputs+t] - all.scores[h*f.outputs+t])
				mean[t] += size
				for _, s := range shares {
					sums[int(s.leaf)*f.outputs+t] += float64(float64(s.of) * size)
				}
			}
			for _, s := range shares {
				rows[s.leaf] += float64(s.of)
			}
		}
		for i, sum := range sums {
			usual := mean[i%f.outputs] / n
			if usual > 0 && usual <= math.MaxFloat64 {
				s.Sizes[i] = (sum + float64(spreadPrior*usual)) / (rows[i/f.outputs] + spreadPrior)
			}
		}
	}
	held, scores := best.held, best.scores
	if len(held) > mostRatios {
		held, scores = held[:mostRatios], scores[:mostRatios*f.outputs] // their numbers say nothing of them
	}
	sizes := make([]float64, f.outputs)
	s.Ratios = make([]float64, len(held)*f.outputs)
	for h, i := range held {
		shares = s.at(sizes, tree, f.x.Row(i), shares)
		for t, size := range sizes {
			s.Ratios[t*len(held)+h] = math.Abs(f.y[i*f.outputs+t]-scores[h*f.outputs+t]) / size
		}
	}
	for t := range f.outputs {
		slices.Sort(s.Ratios[t*len(held):][:len(held)])
	}
	return s
}

// at writes the usual residuals of a row into sizes.
func (s *Spread) at(sizes []float64, tree Tree, x []float32, shares []share) []share {
	clear(sizes)
	shares = tree.route(shares[:0], x, 0)
	for _, part := range shares {
		for t, size := range s.Sizes[int(part.leaf)*len(sizes):][:len(sizes)] {
			sizes[t] += float64(float64(part.of) * size)
		}
	}
	return shares
}

// resize turns the spread of standardised targets into that of the targets themselves.
func (s *Spread) resize(sizes []float64) {
	for i := range s.Sizes {
		s.Sizes[i] *= sizes[i%len(sizes)]
	}
}

// check says whether a spread, which may come from a file, fits a machine.
func (s *Spread) check(leaves, outputs int) error {
	if len(s.Sizes) != leaves*outputs || len(s.Ratios) == 0 || len(s.Ratios)%outputs != 0 {
		return fmt.Errorf("%d usual residuals and %d ratios of them for %d leaves and %d outputs", len(s.Sizes), len(s.Ratios), leaves, outputs)
	}
	for _, v := range s.Sizes {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("a usual residual of %g; expected a positive number", v)
		}
	}
	n := len(s.Ratios) / outputs
	for i, v := range s.Ratios {
		if !(v >= 0) || i%n > 0 && v < s.Ratios[i-1] {
			return fmt.Errorf("a residual of %g times the usual one; expected numbers of 0 or more, ascending", v)
		}
	}
	return nil
}

// SetSpread adds a spread, which may come from a file, to a machine that nobody uses yet. It fails if it does not fit.
func (m *Machine) SetSpread(s *Spread) error {
	if err := s.check(len(m.leaves), m.outputs); err != nil {
		return err
	}
	m.spread = s
	return nil
}

// Spread says how far predictions are from the truth, nil if nothing is known of it; it must not be changed.
func (m *Machine) Spread() *Spread { return m.spread }

// Radii writes half the widths of intervals around the predictions for the rows x, len×outputs, into dst. The truth of a new row is in
// its interval with probability level or a little more. It fails without a spread, and for a level that takes more rows than judged.
func (m *Machine) Radii(dst *matrix.Dense, x matrix.Rows, level float64) error {
	s := m.spread
	if s == nil {
		return fmt.Errorf("the model knows nothing of how far its predictions are from the truth")
	}
	n := len(s.Ratios) / m.outputs
	rank, err := learn.ConformalRank(level, n)
	if err != nil {
		return err
	}
	w := m.works.Get()
	defer m.works.Put(w)
	rows, sizes := w.dense(x), make([]float64, m.outputs)
	for i := range rows.Rows {
		w.shares = s.at(sizes, m.tree, rows.Row(i), w.shares)
		for t, size := range sizes {
			dst.Row(i)[t] = float32(size * s.Ratios[t*n+rank-1])
		}
	}
	return nil
}
