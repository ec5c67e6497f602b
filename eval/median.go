package eval

import (
	"cmp"
	"slices"
	"sort"
)

// middle finds the median of numbers with weights. Up to middleBytes for all outputs together
// it keeps them all, 16 bytes each; beyond that, it sums weights in bins between quantiles
// of those kept, and bounds the error of the median.
type middle struct {
	limit  int // most numbers to keep
	values []weighted
	edges  []float64 // ascending; nil while all are kept
	bins   []span
}

type weighted struct{ value, weight float64 }

// span is the weight of the numbers in a range.
type span struct{ weight, low, high float64 }

const middleBytes = 128 << 20

func newMiddle(outputs int) *middle { return &middle{limit: max(1024, middleBytes/16/outputs)} }

func (q *middle) add(v, weight float64) {
	if q.edges != nil {
		q.count(v, weight)
		return
	}
	q.values = append(q.values, weighted{v, weight})
	if len(q.values) < q.limit {
		return
	}
	q.sort()
	count := min(mostBins, q.limit/4)
	for i := range count {
		if v := q.values[i*len(q.values)/count].value; i == 0 || v > q.edges[len(q.edges)-1] {
			q.edges = append(q.edges, v)
		}
	}
	q.bins = make([]span, len(q.edges)+1)
	for _, v := range q.values {
		q.count(v.value, v.weight)
	}
	q.values = nil
}

// count adds a number to its bin: bin i is from edge i-1 on and below edge i.
func (q *middle) count(v, weight float64) {
	b := &q.bins[sort.Search(len(q.edges), func(i int) bool { return q.edges[i] > v })]
	if b.weight == 0 {
		b.low, b.high = v, v
	}
	b.weight += weight
	b.low, b.high = min(b.low, v), max(b.high, v)
}

func (q *middle) sort() {
	slices.SortFunc(q.values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
}

// median is the smallest number that half of the weight does not exceed; if that
// is exactly half, the mean of it and the next. within bounds its error.
func (q *middle) median() (median, within float64) {
	spans := q.bins
	if q.edges == nil {
		q.sort()
		spans = make([]span, len(q.values))
		for i, v := range q.values {
			spans[i] = span{v.weight, v.value, v.value}
		}
	}
	total, half := 0.0, 0.0
	for _, b := range spans {
		total += b.weight
	}
	for i, b := range spans {
		half += b.weight
		if b.weight == 0 || half < total/2 {
			continue
		}
		low, high := b.low, b.high
		median = low + (high-low)/2
		if half == total/2 {
			next := i + 1
			for spans[next].weight == 0 {
				next++
			}
			if q.edges == nil {
				return b.low + (spans[next].low-b.low)/2, 0
			}
			high = spans[next].high
			median = low + (high-low)/2
		}
		return median, (high - low) / 2
	}
	return 0, 0
}
