package eval

import (
	"math"
	"slices"
	"sort"

	"mercer/internal/engine/vec"
)

// ranking gathers scores, one per class (or label) and row, for the areas under the curves of
// one class against the rest. Up to rankingBytes it keeps all scores and is exact; it takes
// 4·K + 4 bytes per row for K columns (labels: 5·K), 8 more if rows have weights, and 8 per row
// and thread while it sorts. Beyond that, it counts scores in bins between quantiles of
// those kept, 24 bytes each and no more than rankingBytes in all, and bounds the errors of the areas:
// within a bin any order is possible.
type ranking struct {
	columns int
	rows    int
	scores  []float32 // rows×columns
	truth   []int32   // class of each row; nil if rows have labels
	has     []bool    // rows×columns; nil if rows have a class
	weights []float64 // nil while all are 1

	limit int         // most bytes of scores
	edges [][]float32 // of each column, ascending; nil while all scores are kept
	bins  [][]bin
}

// bin are the rows of one column with scores in a range.
type bin struct {
	positive, negative float64 // sums of weights
	low, high          float32 // the scores in it
}

const (
	rankingBytes = 128 << 20
	mostBins     = 1 << 16
)

func newRanking(columns int) *ranking { return &ranking{columns: columns, limit: rankingBytes} }

// add adds a row of a class.
func (r *ranking) add(scores []float32, truth int, weight float64) {
	if r.edges != nil {
		for k, s := range scores {
			r.count(k, s, truth == r.class(k), weight)
		}
		return
	}
	r.truth = append(r.truth, int32(truth))
	r.keep(scores, weight)
}

// addLabels adds a row of labels.
func (r *ranking) addLabels(scores []float32, has []bool, weight float64) {
	if r.edges != nil {
		for k, s := range scores {
			r.count(k, s, has[k], weight)
		}
		return
	}
	r.has = append(r.has, has...)
	r.keep(scores, weight)
}

// class is the positive class of a column: the second if two classes share one column.
func (r *ranking) class(column int) int {
	if r.columns == 1 {
		return 1
	}
	return column
}

func (r *ranking) positive(row, column int) bool {
	if r.has != nil {
		return r.has[row*r.columns+column]
	}
	return int(r.truth[row]) == r.class(column)
}

func (r *ranking) weight(row int) float64 {
	if r.weights == nil {
		return 1
	}
	return r.weights[row]
}

func (r *ranking) keep(scores []float32, weight float64) {
	r.scores = append(r.scores, scores...)
	if r.weights == nil && weight != 1 {
		r.weights = slices.Repeat([]float64{1}, r.rows)
	}
	if r.weights != nil {
		r.weights = append(r.weights, weight)
	}
	r.rows++
	if 4*len(r.scores)+4*len(r.truth)+len(r.has)+8*len(r.weights) >= r.limit {
		r.coarsen()
	}
}

// coarsen sorts the scores into bins.
func (r *ranking) coarsen() {
	count := min(mostBins, max(2, r.limit/(28*r.columns)))
	edges, bins := make([][]float32, r.columns), make([][]bin, r.columns)
	for k := range r.columns {
		order := r.order(k)
		for i := range count {
			s := scoreOf(order[len(order)-1-i*len(order)/count])
			if n := len(edges[k]); n == 0 || s > edges[k][n-1] {
				edges[k] = append(edges[k], s)
			}
		}
		bins[k] = make([]bin, len(edges[k])+1)
	}
	r.edges, r.bins = edges, bins
	for i := range r.rows {
		for k := range r.columns {
			r.count(k, r.scores[i*r.columns+k], r.positive(i, k), r.weight(i))
		}
	}
	r.scores, r.truth, r.has, r.weights = nil, nil, nil, nil
}

// count adds a score to its bin: bin i is from edge i-1 on and below edge i.
func (r *ranking) count(column int, s float32, positive bool, weight float64) {
	edges := r.edges[column]
	b := &r.bins[column][sort.Search(len(edges), func(i int) bool { return edges[i] > s })]
	if b.positive+b.negative == 0 {
		b.low, b.high = s, s
	}
	b.low, b.high = min(b.low, s), max(b.high, s)
	if positive {
		b.positive += weight
	} else {
		b.negative += weight
	}
}

// order sorts the rows by a column's scores, the largest first. The upper half of each number
// is the score, the lower half twice the row, plus 1 if it is positive. It is nil if there
// are bins, which are in order.
func (r *ranking) order(column int) []uint64 {
	if r.edges != nil {
		return nil
	}
	order := make([]uint64, r.rows)
	for i := range order {
		b := math.Float32bits(r.scores[i*r.columns+column] + 0) // -0 becomes 0
		if b>>31 == 1 {
			b = ^b
		} else {
			b |= 1 << 31
		}
		order[i] = uint64(^b)<<32 | uint64(i)<<1
		if r.positive(i, column) {
			order[i]++
		}
	}
	slices.Sort(order)
	return order
}

// scoreOf is the score of a number of order.
func scoreOf(v uint64) float32 {
	b := ^uint32(v >> 32)
	if b>>31 == 1 {
		b &^= 1 << 31
	} else {
		b = ^b
	}
	return math.Float32frombits(b)
}

// each calls visit with the rows of each score or bin, the largest score first.
func (r *ranking) each(column int, order []uint64, visit func(b bin)) {
	if r.edges != nil {
		for _, b := range slices.Backward(r.bins[column]) {
			if b.positive+b.negative > 0 {
				visit(b)
			}
		}
		return
	}
	for i := 0; i < len(order); {
		key, s := order[i]>>32, scoreOf(order[i])
		b := bin{low: s, high: s}
		for ; i < len(order) && order[i]>>32 == key; i++ {
			weight := r.weight(int(uint32(order[i]) >> 1))
			if order[i]&1 == 1 {
				b.positive += weight
			} else {
				b.negative += weight
			}
		}
		if b.positive+b.negative > 0 {
			visit(b)
		}
	}
}

// areas are those under a column's curves.
type areas struct {
	auc, average             float64
	aucWithin, averageWithin float64 // bounds on their errors, 0 if all scores are kept
	positive, negative       float64
}

// all are the areas of all columns.
func (r *ranking) all() []areas {
	all := make([]areas, r.columns)
	vec.Parallel(r.columns, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			all[k] = r.areas(k, r.order(k))
		}
	})
	return all
}

func (r *ranking) areas(column int, order []uint64) areas {
	var a areas
	r.each(column, order, func(b bin) {
		// The pairs of the bin's negative rows with the positive ones before, and half of
		// those within.
		a.auc += b.negative * (a.positive + b.positive/2)
		precision := (a.positive + b.positive) / (a.positive + b.positive + a.negative + b.negative)
		a.average += b.positive * precision
		if b.high > b.low && b.positive > 0 && b.negative > 0 {
			// All of its positive rows may come first, or all of its negative ones.
			a.aucWithin += b.negative * b.positive / 2
			best := (a.positive + b.positive) / (a.positive + b.positive + a.negative)
			worst := share(a.positive, a.positive+a.negative+b.negative)
			a.averageWithin += b.positive * max(best-precision, precision-worst)
		}
		a.positive += b.positive
		a.negative += b.negative
	})
	pairs := a.positive * a.negative
	a.auc, a.average = min(1, share(a.auc, pairs)), min(1, share(a.average, a.positive)) // up to rounding
	a.aucWithin, a.averageWithin = share(a.aucWithin, pairs), share(a.averageWithin, a.positive)
	return a
}

// into writes the areas into the metrics of their class or label, and the bounds on their errors into m.
func (a areas) into(l *LabelMetrics, m *Metrics) {
	if a.positive > 0 && a.negative > 0 {
		l.AUC = &a.auc
	}
	if a.positive > 0 {
		l.AveragePrecision = &a.average
	}
	if a.aucWithin > 0 && (m.AUCWithin == nil || a.aucWithin > *m.AUCWithin) {
		m.AUCWithin = &a.aucWithin
	}
	if a.averageWithin > 0 && (m.AveragePrecisionWithin == nil || a.averageWithin > *m.AveragePrecisionWithin) {
		m.AveragePrecisionWithin = &a.averageWithin
	}
}
