package eval

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"mercer/internal/engine/option"
	"mercer/internal/engine/vec"
	"mercer/model"
)

// Pair is two columns that act together.
type Pair struct {
	First  string `json:"first"`
	Second string `json:"second"`

	// Strength is |M_ij|/√(M_ii·M_jj) of the learned metric M, from 0 to 1. With categorical columns it is that of the
	// Frobenius norms of the blocks of M.
	Strength float64 `json:"strength"`

	// Size is |M_ij|, or the norm of the block, as a share of the trace of M.
	Size float64 `json:"size"`
}

// Pairs lists the pairs of columns that act together in a learned metric, those of the largest |M_ij| first, since a
// strength of two columns that hardly count is that of noise. M_ij is the mean product of the slopes of the learned
// function along i and j, so such a function changes along combinations of the two. Slopes of one sign make M_ij positive
// even for a sum of functions of i and j: a pair need not be an interaction. It fails for a model whose metric has no
// off-diagonal. Time: d²r for a metric of d dimensions and r axes; memory: 8·d² bytes.
func Pairs(m *model.Model) ([]Pair, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	by := m.Pipeline().Metric()
	switch {
	case by == nil:
		return nil, option.Errorf("the model has no learned metric to tell which columns act together; train it with %s",
			option.Set("metric", "full"))
	case by.Axes == nil:
		return nil, option.Errorf("the model's metric is diagonal, which does not tell which columns act together; train it with %s",
			option.Set("metric", "full"))
	}
	columns := Columns(m)
	d, r := by.Dims()
	a, square := make([]float64, d*r), make([]float64, d*d)
	for j := range d {
		for k, v := range by.Axes.Row(j) {
			a[j*r+k] = float64(v)
		}
	}
	vec.GemmNT(d, d, r, a, r, a, r, square, d)
	trace := 0.0
	for j := range d {
		trace += square[j*d+j]
	}
	if !(trace > 0) {
		return nil, errors.New("the model's metric is 0")
	}
	norm := func(c, e int) float64 {
		sum := 0.0
		for i := columns[c].From; i < columns[c].To; i++ {
			for j := columns[e].From; j < columns[e].To; j++ {
				sum += square[i*d+j] * square[i*d+j]
			}
		}
		return math.Sqrt(sum)
	}
	own := make([]float64, len(columns))
	var pairs []Pair
	for c := range columns {
		own[c] = norm(c, c)
		for e := range c {
			if both := norm(c, e); both > 0 {
				pairs = append(pairs, Pair{columns[e].Name, columns[c].Name, min(1, both/math.Sqrt(own[c]*own[e])), both / trace})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Size, a.Size) })
	return pairs, nil
}
