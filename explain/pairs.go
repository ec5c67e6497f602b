package explain

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"mercer/internal/option"
	"mercer/internal/vec"
	"mercer/model"
)

// Pair is two columns that act together.
type Pair struct {
	First  string `json:"first"`
	Second string `json:"second"`

	// Strength is |M_ij|/√(M_ii·M_jj) of the learned metric M, from 0 to 1. With categorical columns it is that of the
	// Frobenius norms of the blocks of M.
	Strength float64 `json:"strength"`

	// Share is the smaller of the shares that the two columns have of the metric's diagonal (Model.Relevance).
	Share float64 `json:"share"`
}

// Pairs lists the pairs of columns that act together in a learned metric, the strongest first: those along whose
// combinations the learned function changes, since M_ij is the mean product of its slopes along i and j. Slopes of one
// sign make M_ij positive even for a sum of functions of i and j, so a pair need not be an interaction. Columns with
// less than a tenth of the mean share are left out, because their strength is that of noise. It fails for a model
// whose metric has no off-diagonal. Time: d²r for a metric of d dimensions and r axes; memory: 8·d² bytes.
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
	share := make([]float64, len(columns))
	for c, column := range columns {
		for j := column.From; j < column.To; j++ {
			share[c] += square[j*d+j]
		}
		trace += share[c]
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
	least := 0.1 * trace / float64(len(columns))
	var pairs []Pair
	for c := range columns {
		for e := range c {
			if share[c] < least || share[e] < least {
				continue
			}
			pairs = append(pairs, Pair{First: columns[e].Name, Second: columns[c].Name, Share: min(share[c], share[e]) / trace,
				Strength: min(1, norm(c, e)/math.Sqrt(norm(c, c)*norm(e, e)))})
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Strength, a.Strength) })
	return pairs, nil
}
