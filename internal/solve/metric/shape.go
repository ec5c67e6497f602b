package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Shape says how M follows from the average outer product G of the gradients:
//
//	M ∝ Gᵖ + floor·mean(Gᵖ)·I
//
// where the mean is that of the diagonal. A power above 1 lets what matters most count for more; a floor keeps what seems
// not to matter, which is right where many columns matter a little.
type Shape struct {
	Power float64 `json:"power"` // 0 means 1
	Floor float64 `json:"floor"`
}

// mostPower bounds powers: beyond it next to nothing but the largest eigenvalue is left.
const mostPower = 10

func (s Shape) check() error {
	if !(s.Power >= 0 && s.Power <= mostPower && s.Floor >= 0) || math.IsInf(s.Floor, 0) {
		return fmt.Errorf("a metric by the power %g with the floor %g: it takes a power up to %d, and numbers that are not negative",
			s.Power, s.Floor, mostPower)
	}
	return nil
}

// String describes a shape that is not plain.
func (s Shape) String() string {
	var parts []string
	if s.Power != 0 && s.Power != 1 {
		parts = append(parts, fmt.Sprintf("to the power %g", s.Power))
	}
	if s.Floor != 0 {
		parts = append(parts, fmt.Sprintf("with a floor of %g", s.Floor))
	}
	return strings.Join(parts, ", ")
}

func (s Shape) plain() bool { return (s.Power == 0 || s.Power == 1) && s.Floor == 0 }

// of replaces the eigenvalues of G, which are not negative but for rounding, by those of M.
func (s Shape) of(values []float64) {
	most, mean := slices.Max(values), 0.0
	if s.plain() || !(most > 0) {
		return
	}
	power := cmp.Or(s.Power, 1)
	for j, v := range values {
		values[j] = math.Pow(max(0, v/most), power)
		mean += values[j]
	}
	mean /= float64(len(values))
	for j := range values {
		values[j] += float64(s.Floor * mean)
	}
}

// shaped is the metric with another shape; m has the plain one.
func (m *Metric) shaped(ctx context.Context, s Shape) *Metric {
	if m.Axes == nil {
		g := make([]float64, len(m.Weights))
		for j, w := range m.Weights {
			g[j] = float64(w) * float64(w)
		}
		return diagonalOf(g, s)
	}
	d, r := m.Axes.Rows, m.Axes.Cols
	wide, g := make([]float64, d*r), make([]float64, d*d)
	for i := range d {
		for k, v := range m.Axes.Row(i) {
			wide[i*r+k] = float64(v)
		}
	}
	vec.GemmNT(d, d, r, wide, r, wide, r, g, d)
	return axesOf(ctx, g, d, 0, s)
}

// The shapes that are tried: for each list the first, and while one is better than all before the next. A list is left out
// once one before it has changed what it would.
var (
	floors = [][]float64{{0.3, 1}, {0.1}}
	powers = [][]float64{{1.4, 2}, {0.7, 0.5}}
)

// worthShape is the ratio of errors that makes another shape worth having. Small machines find its width, and say what is not worth
// a large one: few rows tell shapes that are a little better from those that are a little worse no better than a coin.
const (
	worthShape  = 0.99
	worseShape  = 1.01 // from which no other width is tried
	worthTrying = 1.002

	smallRows, smallLandmarks = 2000, 500
)

// smaller is l with fewer rows and landmarks.
func (l *learner) smaller() *learner {
	s := *l
	s.room, s.hopeless, s.landmarks, s.train = nil, 0, nil, part{}
	step := max(1, l.train.x.Rows/smallRows)
	var rows []int
	for i := 0; i < l.train.x.Rows; i += step {
		rows = append(rows, i)
		s.train.y = append(s.train.y, l.train.y[i*l.outputs:][:l.outputs]...)
		if l.train.weights != nil {
			s.train.weights = append(s.train.weights, l.train.weights[i])
		}
	}
	s.train.x = matrix.Pick(matrix.Rows{Dense: l.train.x}, rows).Dense
	var some []int
	for _, i := range l.landmarks {
		if i%step == 0 {
			some = append(some, i/step)
		}
	}
	n := min(len(some), smallLandmarks)
	for i := range n {
		s.landmarks = append(s.landmarks, some[i*len(some)/n])
	}
	return &s
}

// shape looks for the shape of a metric, which has the plain one, whose machine has the smallest error on held-out rows.
func (l *learner) shape(ctx context.Context, plain *Metric, best *function, told Round) (_ *Metric, _ *function, _ Round, err error) {
	now, at := plain, Shape{Power: 1}
	small := l.smaller()
	_, smallest, err := small.fit(ctx, plain, both)
	if err != nil {
		return nil, nil, told, err
	}
	try := func(s Shape) (bool, error) {
		m := plain.shaped(ctx, s)
		if m == nil {
			return false, ctx.Err()
		}
		small.width = l.width
		if _, guess, err := small.fit(ctx, m, both); err != nil || guess.Error > worthTrying*smallest.Error {
			return false, err
		}
		// More landmarks ask for a narrower kernel, if at all.
		l.hopeless, l.width = worseShape*told.Error, small.width
		f, round, err := l.fit(ctx, m, both[1:])
		if err != nil || !(round.Error < worthShape*told.Error) {
			return false, err
		}
		round.Shape = &s
		now, best, told, at = m, f, round, s
		return true, nil
	}
	search := func(lists [][]float64, with func(v float64) Shape) error {
		for _, list := range lists {
			for i, v := range list {
				if better, err := try(with(v)); err != nil || !better && i > 0 {
					return err
				} else if !better {
					break
				}
				if i == len(list)-1 {
					return nil
				}
			}
		}
		return nil
	}
	if err := search(floors, func(v float64) Shape { return Shape{at.Power, v} }); err != nil {
		return nil, nil, told, err
	}
	if err := search(powers, func(v float64) Shape { return Shape{v, at.Floor} }); err != nil {
		return nil, nil, told, err
	}
	return now, best, told, nil
}
