package exact

import (
	"context"
	"math"
	"slices"
)

// Shrinking (Joachims 1999): variables at a bound that cannot be in a violating pair
// are left out until the others are solved. It is used if rows of the Gram matrix do not
// fit in memory: with fewer columns more of them fit. If all fit, it would not pay,
// since recomputing f of the omitted variables takes a row for each support vector.

const (
	shrinkEvery  = 8 // working sets, at least, between two attempts to leave variables out
	mostRestores = 3 // after this many all variables stay
)

// shrink leaves out variables, if that removes at least half of the columns.
func (s *smo) shrink() {
	s.cache.evicted = false
	top, bottom := [2]float64{math.Inf(-1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(1)}
	s.each(func(t int) {
		up, low := s.may(t)
		g, v := s.group(t), s.v(t)
		if up {
			top[g] = max(top[g], v)
		}
		if low {
			bottom[g] = min(bottom[g], v)
		}
	})
	var active, cols []int32
	s.each(func(t int) {
		up, low := s.may(t)
		g, v := s.group(t), s.v(t)
		if !low && v < bottom[g] || !up && v > top[g] {
			return
		}
		active, cols = append(active, int32(t)), append(cols, s.row[t])
	})
	slices.Sort(cols)
	cols = slices.Compact(cols)
	if len(cols) == 0 || 2*len(cols) > s.cache.width() {
		return
	}
	if s.all == nil {
		s.all = s.f
	} else {
		s.keep()
	}
	f := make([]float64, len(cols))
	for p, j := range cols {
		f[p] = s.all[j]
	}
	// The rows of omitted variables are no longer needed, but the last
	// working set must be among the others.
	s.cache.restrict(cols)
	s.f, s.active = f, active
	s.last = slices.DeleteFunc(slices.Clone(s.last), func(t int32) bool {
		_, in := slices.BinarySearch(active, t)
		return !in
	})
}

// keep copies f of the columns into that of all rows.
func (s *smo) keep() {
	for p, j := range s.cache.cols {
		s.all[j] = s.f[p]
	}
}

// restore brings back all variables, with the f of the omitted ones.
func (s *smo) restore(ctx context.Context) error {
	s.keep()
	var out []int32
	for j, p := range s.cache.at {
		if p < 0 {
			out = append(out, int32(j))
		}
	}
	beta := make([]float64, s.cache.n)
	for t, a := range s.alpha {
		beta[s.row[t]] += float64(s.sign[t] * a)
	}
	var rows []int32
	for i, b := range beta {
		if b != 0 {
			rows = append(rows, int32(i))
		}
	}
	s.cache.forget() // makes room for the lines
	lines := s.cache.lines.Columns(out, 0)
	f := make([]float64, len(out))
	dst := make([][]float32, min(len(rows), lineBatch))
	for i := range dst {
		dst[i] = make([]float32, len(out))
	}
	for lo := 0; lo < len(rows); lo += lineBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := rows[lo:min(lo+lineBatch, len(rows))]
		lines.Compute(part, dst[:len(part)])
		coef := make([]float64, len(part))
		for k, i := range part {
			coef[k] = beta[i]
		}
		addLines(f, coef, dst)
		s.cache.computed += len(part)
	}
	for p, j := range out {
		s.all[j] = f[p]
	}
	s.f, s.all, s.active = s.all, nil, nil
	s.cache.widen()
	s.restores++
	s.cache.evicted = s.restores < mostRestores // so that useless variables are left out again
	return nil
}
