package dataset

import (
	"context"
	"slices"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

const (
	meanFolds    = 5       // parts of the rows whose means come from the other parts
	leastValues  = 3       // fewer values of a category are as near to each other as they are
	leastNumbers = 32      // fewer numbers are told apart by their order
	mostValues   = 1 << 17 // of a column of numbers
	manyOfEach   = 50      // rows of each value, of which one tells next to nothing, while means by folds would tell folds apart
	mostMeans    = 1 << 24 // sums that are held for a column

	mostExact = 1 << 24 // largest whole number up to which float32 has all

	// A column of numbers is one of names only if the means of its values differ by so many standard deviations of what
	// they would by chance.
	surelyDifferent = 4
)

// MeanSums are the sums of targets by the values of columns from which Means are made. Add takes the rows of a source,
// Source gives the same rows with means: each from the rows of the other folds, so that no row's own target is in
// its means.
type MeanSums struct {
	schema  Schema
	outputs int
	seed    uint64
	columns []meanSums
}

// meanSums are those of a column. Of each value and fold there are the weight of the rows and the sums of their targets.
type meanSums struct {
	column    int // its number in the schema
	from      int // its first dimension
	values    int // dimensions, of which one is set; 0: numbers
	numbers   map[float32]int32
	sums      []float64
	squares   []float64 // of the targets of each fold
	rows      int
	excessive bool // it has too many values
}

// NewMeanSums begins with no rows. The columns are those of categories, and those of numbers of which whole says that all
// are whole; nil if there are none.
func NewMeanSums(schema *Schema, outputs int, whole func(column int) bool, seed uint64) *MeanSums {
	m := &MeanSums{schema: *schema, outputs: outputs, seed: seed}
	at := 0
	for i := range schema.Columns {
		c := &schema.Columns[i]
		values := c.oneHot()
		isNumber := c.Categories == nil && (c.Coding == nil || c.Coding.Kind == CodedNumber)
		switch {
		case c.Means != nil:
		case values >= leastValues && values*meanFolds*(outputs+1) <= mostMeans:
			m.columns = append(m.columns, meanSums{column: i, from: at, values: values,
				sums: make([]float64, values*meanFolds*(outputs+1)), squares: make([]float64, meanFolds*outputs)})
		case isNumber && whole(i):
			m.columns = append(m.columns, meanSums{column: i, from: at, numbers: map[float32]int32{}, squares: make([]float64, meanFolds*outputs)})
		}
		at += c.Width()
	}
	if len(m.columns) == 0 {
		return nil
	}
	return m
}

// AllValues is a source in which each value of a column of many has a dimension, so that each can have a mean, where src
// hashes them; otherwise src.
func AllValues(src Source) Source {
	switch s := src.(type) {
	case *File:
		if all := AllValues(s.Source); all != s.Source {
			return &File{all, s.in, s.notice}
		}
	case *part:
		if all := AllValues(s.Source); all != s.Source {
			return &part{all, s.keep}
		}
	case *table:
		if s.values == nil || s.opt.Schema != nil {
			return src
		}
		t := &table{in: s.in, typed: s.typed, opt: s.opt, schema: s.schema, sep: s.sep, arff: s.arff, skip: s.skip, roles: slices.Clone(s.roles), names: s.names,
			declared: s.declared, decimal: s.decimal, carry: s.carry}
		t.schema.Columns = slices.Clone(s.schema.Columns)
		for i := range t.roles {
			r := &t.roles[i]
			if values := s.values[r.input]; r.kind == coded && values != nil {
				c := &t.schema.Columns[r.input]
				c.Coding, c.Categories, r.kind = nil, values, categorical
			}
		}
		t.layOut()
		return t
	}
	return src
}

// fold is the fold of a row.
func (m *MeanSums) fold(row int) int {
	return int(random.Hash(m.seed, "means", uint64(row)) % meanFolds)
}

// Add adds rows with their targets, outputs a row, and weights.
func (m *MeanSums) Add(b *matrix.Batch, y, weights []float64) {
	for c := range m.columns {
		s := &m.columns[c]
		for i := range b.X.Len() {
			value := s.number(b.X, i)
			if value < 0 {
				continue
			}
			fold := m.fold(b.First + i)
			sums := s.sums[(value*meanFolds+fold)*(m.outputs+1):][:m.outputs+1]
			w := weights[i]
			sums[0] += w
			for k, v := range y[i*m.outputs:][:m.outputs] {
				sums[k+1] += w * v
				s.squares[fold*m.outputs+k] += w * v * v
			}
			s.rows++
		}
		s.bound()
	}
}

// bound gives up a column of numbers with too many values.
func (s *meanSums) bound() {
	if s.excessive || s.numbers != nil && (len(s.numbers) > mostValues || len(s.sums) > mostMeans) {
		s.excessive, s.numbers, s.sums, s.rows = true, map[float32]int32{}, nil, 0
		clear(s.squares)
	}
}

// number is the number of a row's value, which is made if it is a new number; -1 for none.
func (s *meanSums) number(x matrix.Rows, i int) int {
	if s.excessive {
		return -1
	}
	if s.numbers == nil {
		return firstSet(x, i, s.from, s.values)
	}
	return s.known(valueAt(x, i, s.from))
}

// known is the place of the sums of a number, which are made if it is a new one.
func (s *meanSums) known(v float32) int {
	value, known := s.numbers[v]
	if !known {
		value = int32(len(s.numbers))
		s.numbers[v] = value
		s.sums = append(s.sums, make([]float64, s.width())...)
	}
	return int(value)
}

// width is the number of sums of a value.
func (s *meanSums) width() int { return meanFolds + len(s.squares) }

// firstSet is the first of n dimensions of a row that is not 0, -1 for none.
func firstSet(x matrix.Rows, i, from, n int) int {
	if x.CSR == nil {
		return slices.IndexFunc(x.Dense.Row(i)[from:][:n], func(v float32) bool { return v != 0 })
	}
	idx, val := x.CSR.Row(i)
	k, _ := slices.BinarySearch(idx, int32(from))
	for ; k < len(idx) && int(idx[k]) < from+n; k++ {
		if val[k] != 0 {
			return int(idx[k]) - from
		}
	}
	return -1
}

// valueAt is a number of a row.
func valueAt(x matrix.Rows, i, dim int) float32 {
	if x.CSR == nil {
		return x.Dense.Row(i)[dim]
	}
	idx, val := x.CSR.Row(i)
	if k, found := slices.BinarySearch(idx, int32(dim)); found {
		return val[k]
	}
	return 0
}

// used are the columns that get means: those of categories and, if numbers is true, those of numbers that are names.
func (m *MeanSums) used(numbers bool) (list []*meanSums) {
	for c := range m.columns {
		if s := &m.columns[c]; s.numbers == nil || numbers && s.isName(m.outputs) {
			list = append(list, s)
		}
	}
	return list
}

// isName says that a column of whole numbers names things, such as a person or a shop: its values repeat, targets differ
// between values, and most of this is not shared by neighbouring values, as it would be for a quantity.
func (s *meanSums) isName(outputs int) bool {
	n := len(s.numbers)
	if s.excessive || n < leastNumbers || 2*n > s.rows {
		return false
	}
	order, numbers := s.order(n)
	if numbers[0] < -mostExact || numbers[n-1] > mostExact {
		return false // float32 takes several whole numbers for one
	}
	sums, squares := s.total(order, outputs, nil)
	for k := range outputs {
		a := varianceOf(sums, outputs, k, squares[k])
		if a.spread <= 0 || a.surely() < surelyDifferent {
			continue
		}
		rough, weight := 0.0, 0.0
		for v := 1; v < n; v++ {
			this, last := sums[v*(outputs+1):], sums[(v-1)*(outputs+1):]
			if this[0] <= 0 || last[0] <= 0 {
				continue
			}
			d := this[k+1]/this[0] - last[k+1]/last[0]
			noise := 1/this[0] + 1/last[0]
			rough += (d*d - a.within*noise) / noise
			weight += 2 / noise
		}
		if rough > a.spread*weight/2 {
			return true
		}
	}
	return false
}

// total are the sums of all folds that use is true for, or of all folds, by value in order, and the squares.
func (s *meanSums) total(order []int, outputs int, use func(fold int) bool) (sums, squares []float64) {
	width := outputs + 1
	sums, squares = make([]float64, len(order)*width), make([]float64, outputs)
	for fold := range meanFolds {
		if use != nil && !use(fold) {
			continue
		}
		for to, from := range order {
			for k, v := range s.sums[(from*meanFolds+fold)*width:][:width] {
				sums[to*width+k] += v
			}
		}
		for k := range squares {
			squares[k] += s.squares[fold*outputs+k]
		}
	}
	return sums, squares
}

// Apart says that a row is of the fold that Source leaves out where its rows are to be told apart.
func (m *MeanSums) Apart(row int) bool { return m.fold(row) == meanFolds-1 }

// ApartShare is the share of rows that are Apart.
const ApartShare = 1.0 / meanFolds

// Source is the rows of src, which were added, with the means of their categories and, if numbers is true, of the whole
// numbers that are names. Its schema is for other rows. With apart, the rows that are Apart are taken for such other rows:
// no other row's means know their targets. It is nil if no column has means.
func (m *MeanSums) Source(src Source, numbers, apart bool) *MeanSource {
	used := m.used(numbers)
	if len(used) == 0 {
		return nil
	}
	t := &MeanSource{Source: src, sums: m, schema: *src.Schema()}
	t.schema.Columns = slices.Clone(t.schema.Columns)
	for _, s := range used {
		column := &t.schema.Columns[s.column]
		order, numbers := s.order(len(s.sums) / (meanFolds * (m.outputs + 1)))
		column.Means = &Means{Outputs: m.outputs, Numbers: numbers}
		many := s.rows >= manyOfEach*len(order)
		for out := range meanFolds + 1 { // the last is none
			sums, squares := s.total(order, m.outputs, func(fold int) bool {
				return (fold != out || many) && !(apart && fold == meanFolds-1)
			})
			means := Means{Outputs: m.outputs, Numbers: numbers, Values: shrunk(sums, m.outputs, squares)}
			if out == meanFolds {
				*column.Means = means
			} else {
				t.folds[out] = append(t.folds[out], means)
			}
		}
	}
	t.schema.Dim = 0
	for i := range t.schema.Columns {
		t.schema.Dim += t.schema.Columns[i].Width()
	}
	return t
}

// Columns are the names of the columns that Source gives means.
func (m *MeanSums) Columns(numbers bool) (names []string) {
	for _, s := range m.used(numbers) {
		names = append(names, m.schema.Columns[s.column].Name)
	}
	return names
}

// order are the values by number, for numbers in ascending order, which come with it.
func (s *meanSums) order(values int) (order []int, numbers []float32) {
	if s.numbers == nil {
		for v := range values {
			order = append(order, v)
		}
		return order, nil
	}
	for v := range s.numbers {
		numbers = append(numbers, v)
	}
	slices.Sort(numbers)
	for _, v := range numbers {
		order = append(order, int(s.numbers[v]))
	}
	return order, numbers
}

// MeanSource is the rows of a source with their means.
type MeanSource struct {
	Source
	sums   *MeanSums
	schema Schema
	first  int                // the number of the first row, by which it has a fold
	folds  [meanFolds][]Means // by column with means: those of the rows of the other folds
}

// Schema is that of rows with means.
func (t *MeanSource) Schema() *Schema { return &t.schema }

// Piece is the rows of src with the means of t, of whose rows they are some: first is the number of the first one.
func (t *MeanSource) Piece(src Source, first int) *MeanSource {
	piece := *t
	piece.Source, piece.first = src, first
	return &piece
}

// Expand gives some rows of t their means, by their numbers.
func (t *MeanSource) Expand(rows matrix.Rows, numbers []int) matrix.Rows {
	r := t.reader(nil)
	return r.expand(rows, func(i int) int { return numbers[i] })
}

func (t *MeanSource) reader(r Reader) *meanReader {
	return &meanReader{Reader: r, MeanSource: t, rows: newMeanRows(t.schema.Columns)}
}

// Origin implements Renumbered.
func (t *MeanSource) Origin(row int) int { return Origin(t.Source, row) }

// Open implements Source.
func (t *MeanSource) Open(ctx context.Context) (Reader, error) {
	r, err := t.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return t.reader(r), nil
}

type meanReader struct {
	Reader
	*MeanSource
	rows  *meanRows
	batch matrix.Batch
	dense matrix.Dense
	csr   matrix.CSR

	row, with []pair
}

// WithMeans is the rows of src, a table, as a model takes them that was trained on other rows of it: with the means of targets that the
// model's schema has in place of the values themselves. Rows that need none, or have them, are src as it is.
func WithMeans(src Source, model *Schema) Source {
	means, columns := newMeanRows(model.Columns), src.Schema().Columns
	if means == nil || columns == nil || newMeanRows(columns) != nil {
		return src
	}
	all := src
	if src.Schema().Dim != means.dim {
		all = AllValues(src)
	}
	if all.Schema().Dim != means.dim {
		return src // of another table: the model will say so
	}
	return &MeanSource{Source: all, schema: *model}
}

// of gives rows the means of a row of the training, or, without sums, those that other rows have.
func (r *meanReader) of(row int) *meanRows {
	if r.sums == nil {
		return r.rows
	}
	folds := r.folds[r.sums.fold(row)]
	for c := range folds {
		r.rows.means[c].Means = &folds[c]
	}
	return r.rows
}

func (r *meanReader) Next() (*matrix.Batch, error) {
	b, err := r.Reader.Next()
	if err != nil {
		return nil, err
	}
	r.batch = *b
	first := r.first + b.First
	r.batch.X = r.expand(b.X, func(i int) int { return first + i })
	return &r.batch, nil
}

// expand gives rows their means, by their numbers. They are valid until the next call.
func (r *meanReader) expand(rows matrix.Rows, number func(i int) int) matrix.Rows {
	if rows.CSR == nil {
		r.dense.Reshape(rows.Len(), r.schema.Dim)
		for i := range rows.Len() {
			r.of(number(i)).expand(r.dense.Row(i), rows.Dense.Row(i))
		}
		return matrix.Rows{Dense: &r.dense}
	}
	x := &r.csr
	x.Rows, x.Cols = rows.Len(), r.schema.Dim
	x.Ptr, x.Idx, x.Val = append(x.Ptr[:0], 0), x.Idx[:0], x.Val[:0]
	for i := range x.Rows {
		idx, val := rows.CSR.Row(i)
		r.row = r.row[:0]
		for k, j := range idx {
			r.row = append(r.row, pair{j, val[k]})
		}
		r.with = r.of(number(i)).expandPairs(r.with[:0], r.row)
		sortPairs(r.with)
		for _, p := range r.with {
			x.Idx, x.Val = append(x.Idx, p.at), append(x.Val, p.v)
		}
		x.Ptr = append(x.Ptr, len(x.Idx))
	}
	if x.Cols > wideTable {
		return matrix.Rows{CSR: x}
	}
	x.Densify(&r.dense)
	return matrix.Rows{Dense: &r.dense}
}
