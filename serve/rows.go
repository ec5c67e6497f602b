package serve

import (
	"errors"
	"fmt"
	"strings"

	"mercer/dataset"
	"mercer/eval"
	"mercer/matrix"
	"mercer/model"
)

// input turns what requests hold into rows of numbers for one model. It reuses its memory and is for one request at a time.
type input struct {
	m       *model.Model
	encoder *dataset.Encoder
	columns []string
	at      map[string]int // the position of a column
	plain   bool           // every column is a number, and a dimension

	x      matrix.Dense // the rows
	scores matrix.Dense
	values []any     // of one record
	other  []bool    // those of an array that are no numbers
	row    []float64 // of one array
	parser parser
	out    []byte
	proba  []float64
	most   int // rows of a request
	lease  *lease

	probable  bool   // the model has probabilities
	named     int    // bytes of a row's probabilities by their names, about
	binaries  []byte // of outputs
	sure      sureness
	explained []eval.Column
	parts     []part // of each row
}

func newInput(m *model.Model, most int) *input {
	in := &input{m: m, encoder: dataset.NewEncoder(&m.Info().Schema), at: map[string]int{}, most: most}
	in.columns = in.encoder.Columns()
	for i, name := range in.columns {
		in.at[name] = i
	}
	in.plain = len(in.columns) == m.Dim()
	for i := range m.Info().Schema.Columns {
		in.plain = in.plain && m.Info().Schema.Columns[i].Categories == nil
	}
	in.probable = m.HasProbabilities()
	in.sure.know(m)
	for _, name := range names(m) {
		in.named += len(name) + numberBytes
	}
	in.values, in.other = make([]any, len(in.columns)), make([]bool, len(in.columns))
	return in
}

// begin forgets the rows of the last request.
func (in *input) begin(body []byte, l *lease) {
	in.lease = l
	in.x.Reshape(0, in.m.Dim())
	in.x.Data = in.x.Data[:0]
	in.parser = parser{data: body, text: in.parser.text}
	in.sure.asked, in.sure.level = false, 0
}

// size is the memory that an input has for rows and answers.
func (in *input) size() int64 {
	return 4*int64(cap(in.x.Data)+cap(in.scores.Data)) + int64(cap(in.out)+cap(in.binaries))
}

// next appends a row of zeros and returns it.
func (in *input) next() ([]float32, error) {
	d := in.m.Dim()
	if in.x.Rows == in.most {
		return nil, fmt.Errorf("more than %d rows; send fewer at a time", in.most)
	}
	n := len(in.x.Data)
	if n+d > cap(in.x.Data) {
		size := max(2*cap(in.x.Data), n+d)
		if err := in.lease.take(4 * int64(size)); err != nil {
			return nil, err
		}
		more := make([]float32, n, size)
		copy(more, in.x.Data)
		in.x.Data = more
	}
	in.x.Data = in.x.Data[:n+d]
	in.x.Rows, in.x.Cols, in.x.Stride = in.x.Rows+1, d, d
	row := in.x.Data[n:]
	clear(row)
	return row, nil
}

// columnsOf are the columns of the model that names stand for, -1 for none; what has the names is for messages.
func (in *input) columnsOf(names []string, what string) ([]int, error) {
	if most := len(in.columns) + 100_000; len(names) > most {
		return nil, badf("%s has %d columns; the model has %d, and at most %d are read", what, len(names), len(in.columns), most)
	}
	to := make([]int, len(names))
	seen := map[string]bool{}
	known := 0
	for i, name := range names {
		name = strings.TrimSpace(name)
		if seen[name] {
			return nil, badf("%s names %q twice", what, shortened([]byte(name)))
		}
		seen[name] = true
		at, ok := in.at[name]
		if to[i] = -1; ok {
			to[i] = at
			known++
		}
	}
	if known == 0 {
		return nil, badf("%s names no column of the model; it has %s", what, listed(in.columns))
	}
	return to, nil
}

// located says in which row an error is.
func (in *input) located(err error) error {
	if err == nil {
		return nil
	}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return err
	}
	return fmt.Errorf("row %d (from 1): %w", in.x.Rows, err)
}

// record reads a JSON object with a value for each column by its name. Names that the model does not know are left out,
// and columns that are not there are missing.
func (in *input) record() error {
	dst, err := in.next()
	if err != nil {
		return err
	}
	clear(in.values)
	p := &in.parser
	err = p.object(func(key []byte) error {
		at, known := in.at[string(key)]
		if !known {
			return p.skip()
		}
		v, err := p.scalar()
		in.values[at] = v
		return err
	})
	if err != nil {
		return err
	}
	return in.located(in.encoder.Values(dst, in.values...))
}

// list reads a JSON array: a value for each column in their order, or the Dim numbers of an encoded row.
func (in *input) list() error {
	dst, err := in.next()
	if err != nil {
		return err
	}
	p, n, numbers := &in.parser, 0, true
	in.row = in.row[:0]
	clear(in.values)
	err = p.array(func() error {
		c := p.next()
		var v any
		var number float64
		var err error
		if c == '-' || c >= '0' && c <= '9' {
			number, err = p.number()
		} else {
			v, err = p.scalar()
			numbers = false
		}
		in.row = append(in.row, number)
		if n < len(in.values) {
			in.other[n], in.values[n] = c != '-' && (c < '0' || c > '9'), v
		}
		n++
		return err
	})
	switch {
	case err != nil:
		return err
	case in.plain && numbers && n == len(in.columns), n != len(in.columns) && numbers && n == in.m.Dim():
		return in.located(in.numbers(dst, in.row))
	case n != len(in.columns):
		return in.located(in.wrongLength(n))
	}
	for i, v := range in.row {
		if !in.other[i] {
			in.values[i] = v
		}
	}
	return in.located(in.encoder.Values(dst, in.values...))
}

func (in *input) wrongLength(n int) error {
	d := in.m.Dim()
	if d == len(in.columns) {
		return fmt.Errorf("%d values; the model takes %d", n, d)
	}
	return fmt.Errorf("%d values; the model takes %d columns, or %d numbers after its categories have become numbers", n, len(in.columns), d)
}

// numbers writes the numbers of an encoded row.
func (in *input) numbers(dst []float32, row []float64) error {
	for i, v := range row {
		if dst[i] = float32(v); dst[i]-dst[i] != 0 {
			return fmt.Errorf("%s: %g is not a finite number of float32", in.m.Info().Schema.DimName(i), v)
		}
	}
	return nil
}

// rowOrRecord reads one row in either form.
func (in *input) rowOrRecord() error {
	switch in.parser.next() {
	case '{':
		return in.record()
	case '[':
		return in.list()
	}
	return in.parser.errorf("expected a record {…} or a row […], found %s", in.parser.found())
}
