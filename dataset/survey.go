package dataset

import (
	"container/heap"
	"context"
	"fmt"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// SurveyOptions are the options of a survey.
type SurveyOptions struct {
	// Seed draws the sample.
	Seed uint64

	// Sample is the number of sample rows; 0 means 2000, fewer for very wide rows. More than
	// 2000 dense rows are kept only if they fit in 1 GB.
	Sample int

	// Rows is how many rows are surveyed; 0 means all.
	Rows int

	// First is the number of the first row, by which the sample is drawn.
	First int

	// Progress, if not nil, is called with the rows read and the share of the source.
	Progress func(rows int, share float64)
}

// Summary is what one pass over a source finds.
type Summary struct {
	// Rows is n, Dim is d: the largest width of a batch, or the schema's.
	Rows, Dim int

	// Columns describe each dimension.
	Columns []ColumnStats

	// Sparse means that the rows were CSR; NonZero counts the nonzero values.
	Sparse  bool
	NonZero int64

	// Outputs is the number of targets per row, 0 if the rows have no labels.
	Outputs int

	// Sample holds rows drawn at random, in their order.
	Sample matrix.Rows

	targets []spreads
	labels  labelCounts
	weights weightCounts
	format  string
	name    string
	label   string // the column, if it is a single one
}

// ColumnStats describe the values of one dimension, zeros of sparse rows included.
type ColumnStats struct {
	Min, Max, Mean, Variance float64

	// NonZero counts the nonzero values; Integer means that all are integers.
	NonZero int64
	Integer bool
}

// Density is the share of nonzero values.
func (s *Summary) Density() float64 {
	if s.Rows == 0 || s.Dim == 0 {
		return 0
	}
	return float64(s.NonZero) / (float64(s.Rows) * float64(s.Dim))
}

// Numbers is the number of dimensions that are neither categories nor say that a value is missing, with the share of their
// values that are not 0, of rows that sum describes.
func (s *Schema) Numbers(sum *Summary) (dims int, filled float64) {
	dims, at := sum.Dim, 0
	all, of := int64(0), int64(0) // values of Columns that are not 0, and those of numbers
	for _, c := range sum.Columns {
		all += c.NonZero
	}
	of = all
	for i := range s.Columns {
		c := &s.Columns[i]
		from, to := at, at+c.Width()
		at = to
		if c.Categories == nil && (c.Coding == nil || c.Coding.Kind != CodedHashed) {
			from = to
			if c.Indicator {
				from--
			}
		}
		if to <= len(sum.Columns) {
			dims -= to - from
			for _, one := range sum.Columns[from:to] {
				of -= one.NonZero
			}
		}
	}
	if all == 0 {
		return dims, 0
	}
	return dims, float64(sum.NonZero) * float64(of) / float64(all) / (float64(max(1, dims)) * float64(max(1, sum.Rows)))
}

// Survey reads src once and describes it. The result does not depend on the size of the
// batches. Memory: O(d), the sample, and the labels if they are classes.
func Survey(ctx context.Context, src Source, opt SurveyOptions) (*Summary, error) {
	s, err := surveyRows(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	sum, err := s.finish()
	if err == nil {
		tellRounded(src, sum)
	}
	return sum, err
}

// surveyRows is a survey without its end.
func surveyRows(ctx context.Context, src Source, opt SurveyOptions) (*surveyor, error) {
	s := &surveyor{opt: opt, sum: &Summary{name: src.Name(), format: src.Schema().Format, Dim: src.Schema().Dim}}
	if labels := src.Schema().Labels; len(labels) == 1 {
		s.sum.label = labels[0].Name
	}
	s.sum.labels.lists, s.sum.labels.nominal = src.Schema().LabelSeparator != "", src.Schema().nominal
	for step, err := range Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		b := step.Batch
		if err := CheckRowWeights(src, b); err != nil {
			return nil, err
		}
		if left := opt.Rows - s.sum.Rows; opt.Rows > 0 && left < b.X.Len() {
			first := b.Slice(0, left)
			b = &first
			if b.X.CSR != nil && src.Schema().Dim == 0 {
				b.X.CSR.Cols = widest(b.X.CSR)
			}
		}
		if err := s.add(b); err != nil {
			return nil, err
		}
		if opt.Progress != nil {
			opt.Progress(s.sum.Rows, step.Pass.Progress())
		}
		if opt.Rows > 0 && s.sum.Rows == opt.Rows {
			break // not another batch, for which a stream might wait
		}
	}
	return s, nil
}

// widest is the width of sparse rows by their largest index, for batches of different width.
func widest(x *matrix.CSR) int {
	cols := 0
	for i := range x.Rows {
		if idx, _ := x.Row(i); len(idx) > 0 {
			cols = max(cols, int(idx[len(idx)-1])+1)
		}
	}
	return cols
}

// surveyor is the state of a survey.
type surveyor struct {
	opt    SurveyOptions
	sum    *Summary
	cols   vec.Survey32 // around the first row, if rows are dense
	sample rowHeap
}

func (s *surveyor) add(b *matrix.Batch) error {
	n := b.X.Len()
	if n == 0 {
		return nil
	}
	if s.sum.Rows == 0 {
		s.sum.Sparse = b.X.CSR != nil
		s.sum.Outputs = b.Outputs
	}
	s.sum.Dim = max(s.sum.Dim, b.X.Dim())
	s.cols.Grow(s.sum.Dim)
	if x := b.X.CSR; x != nil {
		for k := x.Ptr[0]; k < x.Ptr[n]; k++ {
			s.cols.Add(int(x.Idx[k]), x.Val[k])
		}
	} else {
		x := b.X.Dense
		if s.sum.Rows == 0 {
			for j, v := range x.Row(0) {
				s.cols.Shift[j] = float64(v)
			}
		}
		s.cols.AddRows(n, x.Cols, x.Data, x.Stride)
	}
	s.sum.weights.add(b, s.sum.labels.lists)
	if b.Outputs > 0 {
		s.sum.labels.add(b)
		s.sum.addTargets(b)
	}
	s.drawSample(b)
	s.sum.Rows += n
	return nil
}

// drawSample keeps the rows with the smallest hashes: a uniform sample that depends on row
// numbers only.
func (s *surveyor) drawSample(b *matrix.Batch) {
	if s.opt.Sample == 0 {
		s.opt.Sample = min(2000, max(200, (1<<26)/max(1, b.X.Dim())))
		if b.X.CSR != nil {
			s.opt.Sample = 2000
		}
	}
	if b.X.Dense != nil && s.opt.Sample > 2000 {
		s.opt.Sample = min(s.opt.Sample, max(2000, (1<<28)/max(1, b.X.Dim()))) // 1 GB of rows
	}
	for i := range b.X.Len() {
		number := s.opt.First + s.sum.Rows + i
		h := random.Hash(s.opt.Seed, "survey-sample", uint64(number))
		if len(s.sample) == s.opt.Sample && h >= s.sample[0].hash {
			continue
		}
		row := sampleRow{hash: h, number: number}
		if b.X.CSR != nil {
			idx, val := b.X.CSR.Row(i)
			row.idx, row.val = slices.Clone(idx), slices.Clone(val)
		} else {
			row.val = slices.Clone(b.X.Dense.Row(i))
		}
		if len(s.sample) == s.opt.Sample {
			s.sample[0] = row
			heap.Fix(&s.sample, 0)
		} else {
			heap.Push(&s.sample, row)
		}
	}
}

// sampleRow is a row of the sample.
type sampleRow struct {
	hash   uint64
	number int
	idx    []int32
	val    []float32
}

// rowHeap has the row with the largest hash on top.
type rowHeap []sampleRow

func (h rowHeap) Len() int           { return len(h) }
func (h rowHeap) Less(i, j int) bool { return h[i].hash > h[j].hash }
func (h rowHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rowHeap) Push(x any)        { *h = append(*h, x.(sampleRow)) }
func (h *rowHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (s *surveyor) finish() (*Summary, error) {
	sum := s.sum
	if sum.Rows == 0 {
		return nil, fmt.Errorf("%s: has no rows", sum.name)
	}
	if sum.Dim == 0 {
		return nil, fmt.Errorf("%s: the rows have no input dimensions", sum.name)
	}
	n := float64(sum.Rows)
	sum.Columns = make([]ColumnStats, sum.Dim)
	c := &s.cols
	c.Grow(sum.Dim)
	for j := range sum.Columns {
		least, greatest := c.Least[j], c.Greatest[j]
		if sum.Sparse && c.NonZero[j] < int64(sum.Rows) {
			least, greatest = min(least, 0), max(greatest, 0)
		}
		m := c.Sum[j] / n
		sum.NonZero += c.NonZero[j]
		sum.Columns[j] = ColumnStats{
			Min: float64(least), Max: float64(greatest), Mean: c.Shift[j] + m,
			Variance: max(0, c.Square[j]/n-m*m), NonZero: c.NonZero[j], Integer: c.Fractions[j] == 0,
		}
		if least == greatest {
			sum.Columns[j].Variance = 0
		}
	}
	rows := []sampleRow(s.sample)
	slices.SortFunc(rows, func(a, b sampleRow) int { return a.number - b.number })
	if sum.Sparse {
		x := &matrix.CSR{Rows: len(rows), Cols: sum.Dim, Ptr: []int{0}}
		for _, r := range rows {
			x.Idx = append(x.Idx, r.idx...)
			x.Val = append(x.Val, r.val...)
			x.Ptr = append(x.Ptr, len(x.Idx))
		}
		sum.Sample.CSR = x
	} else {
		x := matrix.NewDense(len(rows), sum.Dim)
		for i, r := range rows {
			copy(x.Row(i), r.val)
		}
		sum.Sample.Dense = x
	}
	return sum, nil
}
