package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
)

// ContributionOptions are the options of Contributions; the zero value has useful defaults.
type ContributionOptions struct {
	// Permutations is the number of orders of the columns for each background row, even and at least 4, half of
	// them the other half reversed; 0 means as many as 600 predictions allow, from 4 to 40. If all subsets of the
	// columns in which two rows differ take no more predictions, they are used instead, and the result is exact.
	Permutations int

	// Seed draws the permutations; 0 means 1.
	Seed uint64

	// First is the number of the first row, which the permutations of each row depend on.
	First int
}

// BackgroundRows is how many background rows suffice for most tables.
const BackgroundRows = 100

// Contribution is what the columns contribute to the score of one row. Score - Base is the sum of Values, up to the
// rounding of float64.
type Contribution struct {
	// Row is the number of the row, from 0.
	Row int `json:"row"`

	// Base is the mean score of the background rows, Score that of the row, one of each for every output.
	Base  []float64 `json:"base"`
	Score []float64 `json:"score"`

	// Values are the contributions, for each output and column; SE are their standard errors, of the permutations
	// drawn.
	Values [][]float64 `json:"values"`
	SE     [][]float64 `json:"se"`

	// Exact says that no permutations were drawn, so that SE is 0.
	Exact bool `json:"exact"`
}

// Contributions divides the difference between the score of each row of x and the mean score of background rows
// among the columns, by interventional Shapley values (Lundberg and Lee, "A unified approach to interpreting model
// predictions", 2017; Janzing, Minorics and Blöbaum, "Feature relevance quantification in explainable AI", 2020). With
//
//	v(S) = mean over background rows b of f(x in the columns S, b in all others)
//
// the contribution of a column is the mean, over all orders of the columns, of the rise of v when the column joins
// those before it. f is the learner's score: the log-odds of a logistic model, a margin, or the number; for two classes
// it is positive for the second. A column that the model does not use contributes 0; columns that count alike
// contribute alike; and if f is a sum of functions of single columns, g_j(x_j) - mean g_j(b_j) is exact, from one order.
//
// Orders are drawn for each background row in pairs of an order and its reverse (Mitchell, Cooper, Frank and Holmes,
// "Sampling permutations for Shapley value estimation", 2022), among the columns in which the two rows differ; others
// contribute nothing.
//
// Time per row: at most background rows × permutations × (columns - 1) predictions.
// Memory beside the rows: 4 bytes × predictions of a background row × outputs.
func Contributions(ctx context.Context, m *model.Model, x matrix.Rows, background *Rows,
	opt ContributionOptions) iter.Seq2[*Contribution, error] {
	return func(yield func(*Contribution, error) bool) {
		s, err := newSharer(ctx, m, x, background, opt)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range x.Len() {
			c, err := s.row(i)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// sharer divides scores among columns.
type sharer struct {
	opt     ContributionOptions
	m       *model.Model
	columns []Column
	of      []int32 // column of each dimension
	x, y    matrix.Rows
	scores  matrix.Dense  // of the row at hand
	back    *matrix.Dense // scores of the background rows
	base    []float64
	mask    []bool
	block   *block[*versus]
	out     *Contribution
}

// versus is a row against a background row.
type versus struct {
	back     int
	columns  []int     // in which they differ
	orders   [][]int   // of these columns, each of which is also taken in reverse; nil: all subsets
	scores   []float32 // of the rows put together, row-major
	expected int       // how many numbers these will be
}

func newSharer(ctx context.Context, m *model.Model, x matrix.Rows, background *Rows, opt ContributionOptions) (*sharer, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	if p := opt.Permutations; p != 0 && (p < 4 || p%2 != 0) {
		return nil, fmt.Errorf("%d permutations; an even number of 4 or more has pairs with a spread", p)
	}
	if background == nil || background.X.Len() == 0 {
		return nil, errors.New("there are no background rows to compare with")
	}
	if (x.CSR == nil) != (background.X.CSR == nil) {
		return nil, errors.New("the rows are dense and the background is sparse, or the other way round; both have to be the same")
	}
	s := &sharer{opt: opt, m: m, columns: Columns(m), x: x, y: background.X, mask: make([]bool, m.Dim()), base: make([]float64, m.Outputs())}
	s.of = columnOf(s.columns)
	var err error
	if s.back, err = background.scores(ctx, m); err != nil {
		return nil, err
	}
	for i := range s.back.Rows {
		for k, v := range s.back.Row(i) {
			s.base[k] += float64(v)
		}
	}
	for k := range s.base {
		s.base[k] /= float64(s.back.Rows)
	}
	s.block = newBlock(ctx, m, x, func(v *versus, scores []float32) {
		if v.scores = append(v.scores, scores...); len(v.scores) == v.expected {
			s.add(v)
		}
	})
	s.scores.Reshape(1, m.Outputs())
	return s, nil
}

// row divides the score of a row.
func (s *sharer) row(i int) (*Contribution, error) {
	if err := s.m.Learned(&s.scores, s.x.Slice(i, i+1)); err != nil {
		var at *dataset.RowError
		if errors.As(err, &at) {
			at.Row = i
		}
		return nil, err
	}
	k := s.m.Outputs()
	s.out = &Contribution{Row: s.opt.First + i, Base: slices.Clone(s.base), Exact: true,
		Score: make([]float64, k), Values: make([][]float64, k), SE: make([][]float64, k)}
	for t, v := range s.scores.Row(0) {
		s.out.Score[t] = float64(v)
		s.out.Values[t], s.out.SE[t] = make([]float64, len(s.columns)), make([]float64, len(s.columns))
	}
	for b := range s.back.Rows {
		v := &versus{back: b, columns: differing(nil, s.of, s.x, i, s.y, b)}
		if err := s.plan(v, i); err != nil {
			return nil, err
		}
	}
	if err := s.block.flush(); err != nil {
		return nil, err
	}
	n := float64(s.back.Rows)
	for t := range k {
		if offset := s.m.Info().Offset; offset != nil { // which the differences are without
			s.out.Base[t] += offset[t]
			s.out.Score[t] += offset[t]
		}
		for c := range s.columns {
			s.out.Values[t][c] /= n
			s.out.SE[t][c] = math.Sqrt(s.out.SE[t][c]) / n
		}
	}
	return s.out, nil
}

// plan puts together the rows that two rows are compared by. The two themselves are scored already.
func (s *sharer) plan(v *versus, i int) error {
	n := len(v.columns)
	switch {
	case n == 0:
		return nil
	case n == 1:
		s.add(v)
		return nil
	}
	permutations := s.opt.Permutations
	if permutations == 0 {
		permutations = min(40, max(4, 600/(n-1)&^1))
	}
	put := func() error { return s.block.add(v, s.y, v.back, s.x, i, s.mask) }
	clearMask := func() { cover(s.mask, s.columns, v.columns, false) }
	if subsets := 1<<min(n, 30) - 2; subsets <= permutations*(n-1) {
		v.expected = subsets * s.m.Outputs()
		for set := 1; set <= subsets; set++ {
			for c := range n {
				cover(s.mask, s.columns, v.columns[c:c+1], set>>c&1 == 1)
			}
			if err := put(); err != nil {
				return err
			}
		}
		clearMask()
		return nil
	}
	s.out.Exact = false
	v.expected = permutations * (n - 1) * s.m.Outputs()
	draw := random.New(max(s.opt.Seed, 1), "explain.contributions", uint64(s.opt.First+i), uint64(v.back))
	for range permutations / 2 {
		v.orders = append(v.orders, draw.Perm(n))
	}
	for _, order := range v.orders {
		for _, reversed := range []bool{false, true} {
			for step := range n - 1 {
				c := place(order, step, reversed)
				cover(s.mask, s.columns, v.columns[c:c+1], true)
				if err := put(); err != nil {
					return err
				}
			}
			clearMask()
		}
	}
	return nil
}

// place is the element of an order, or of its reverse.
func place(order []int, step int, reversed bool) int {
	if reversed {
		return order[len(order)-1-step]
	}
	return order[step]
}

// add adds what a background row says.
func (s *sharer) add(v *versus) {
	for t := range s.m.Outputs() {
		from, to := float64(s.back.Row(v.back)[t]), s.out.Score[t]
		if v.orders == nil {
			s.addSubsets(v, t, from, to)
		} else {
			s.addOrders(v, t, from, to)
		}
	}
}

// addSubsets adds exact values: Σ_S |S|!(n-1-|S|)!/n! (f(S ∪ c) - f(S)) over the subsets S without c.
func (s *sharer) addSubsets(v *versus, t int, from, to float64) {
	n, k := len(v.columns), s.m.Outputs()
	last := 1<<n - 1
	score := func(set int) float64 {
		switch set {
		case 0:
			return from
		case last:
			return to
		}
		return float64(v.scores[(set-1)*k+t])
	}
	weight := make([]float64, n) // by the size of S
	weight[0] = 1 / float64(n)
	for size := 1; size < n; size++ {
		weight[size] = weight[size-1] * float64(size) / float64(n-size)
	}
	for set := range last {
		size := 0
		for c := range n {
			size += set >> c & 1
		}
		for c := range n {
			if set>>c&1 == 0 {
				s.out.Values[t][v.columns[c]] += weight[size] * (score(set|1<<c) - score(set))
			}
		}
	}
}

// addOrders adds the means over the pairs of orders, and to SE the variances of these means.
func (s *sharer) addOrders(v *versus, t int, from, to float64) {
	n, k, pairs := len(v.columns), s.m.Outputs(), float64(len(v.orders))
	mean, spread, one := make([]float64, n), make([]float64, n), make([]float64, n)
	at := t
	for p, order := range v.orders {
		clear(one)
		for _, reversed := range []bool{false, true} {
			before := from
			for step := range n {
				after := to
				if step < n-1 {
					after, at = float64(v.scores[at]), at+k
				}
				one[place(order, step, reversed)] += (after - before) / 2
				before = after
			}
		}
		for c, value := range one {
			d := value - mean[c]
			mean[c] += d / float64(p+1)
			spread[c] += d * (value - mean[c])
		}
	}
	for c, column := range v.columns {
		s.out.Values[t][column] += mean[c]
		s.out.SE[t][column] += spread[c] / (pairs - 1) / pairs
	}
}
