package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"mercer/internal/option"
	"mercer/internal/units"
	"mercer/matrix"
)

// array is a binary file of numbers, NPY or IDX.
type array struct {
	in     input
	opt    Options
	schema Schema
	kind   element
	rows   int
	cols   int // of the file, labels and weights included
	bag    int // rows that make a bag one after the other, the locations of an image; 0: rows are no bags
	offset int64
	// Fortran order: columns one after the other.
	fortran bool

	inputs  []int // the columns that are inputs, nil if all are
	targets []int // the columns that are labels
	weight  int   // the column of weights, -1 if there is none
	group   int   // the column that says which bag a row is of, -1 if there is none
}

// element is how a number is stored.
type element struct {
	kind byte // 'f' float, 'i' signed, 'u' unsigned, 'b' bool
	size int
	big  bool // big-endian
}

// value decodes one element.
func (e element) value(b []byte) float64 {
	var order binary.ByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	switch e.size {
	case 1:
		if e.kind == 'i' {
			return float64(int8(b[0]))
		}
		return float64(b[0])
	case 2:
		v := order.Uint16(b)
		switch e.kind {
		case 'i':
			return float64(int16(v))
		case 'f':
			return half(v)
		}
		return float64(v)
	case 4:
		v := order.Uint32(b)
		switch e.kind {
		case 'i':
			return float64(int32(v))
		case 'f':
			return float64(math.Float32frombits(v))
		}
		return float64(v)
	}
	v := order.Uint64(b)
	switch e.kind {
	case 'i':
		return float64(int64(v))
	case 'f':
		return math.Float64frombits(v)
	}
	return float64(v)
}

// floats decodes len(dst) elements; the common types have loops of their own.
func (e element) floats(dst []float32, b []byte) {
	switch {
	case e.kind == 'u' && e.size == 1:
		for i, v := range b[:len(dst)] {
			dst[i] = float32(v)
		}
	case e.kind == 'f' && e.size == 4 && !e.big:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case e.kind == 'f' && e.size == 8 && !e.big:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	default:
		for i := range dst {
			dst[i] = float32(e.value(b[i*e.size:]))
		}
	}
}

// half decodes an IEEE 754 half-precision number.
func half(v uint16) float64 {
	sign, exponent, fraction := 1.0, int(v>>10&31), float64(v&1023)
	if v>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction == 0 {
			return sign * math.Inf(1)
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// assign gives the columns their roles as inputs, labels and weight.
func (a *array) assign() error {
	place := func(asked, spec string) ([]int, error) {
		list, err := positions(spec, a.cols)
		if err != nil {
			return nil, option.Errorf("%s: %s: %w", a.in.Name(), option.Ref(asked), err)
		}
		return list, nil
	}
	var err error
	m := a.opt.Schema
	want := 0
	if m != nil {
		want = m.Dim
	}
	if a.opt.Group != "" {
		g, err := place("group", a.opt.Group)
		if err != nil {
			return err
		}
		if len(g) != 1 {
			return option.Errorf("%s: %s %q names %d columns; one is possible", a.in.Name(), option.Ref("group"), a.opt.Group, len(g))
		}
		a.group = g[0]
	} else if m != nil && m.Group != nil && a.bag == 0 && m.Format == "npy" && a.cols == m.Width {
		a.group = m.Group.At
	}
	grouped := 0
	if a.group >= 0 {
		grouped = 1
	}
	switch {
	case a.bag > 0:
	case a.opt.Label == "none" || a.schema.Format == "idx" && a.opt.Label == "":
	case a.opt.Label != "":
		if a.targets, err = place("label", a.opt.Label); err != nil {
			return err
		}
	case a.opt.LabelsFile != "":
	case m != nil && a.cols == want+grouped:
		// Rows to predict, without labels.
	case m != nil && m.Format == "npy" && a.cols == m.Width:
		for _, l := range m.Labels {
			a.targets = append(a.targets, l.At)
		}
	case a.cols > 1+grouped:
		a.targets = []int{a.cols - 1}
		if a.group == a.cols-1 {
			a.targets[0]--
		}
	}
	if a.opt.Weight != "" {
		w, err := place("weight", a.opt.Weight)
		if err != nil {
			return err
		}
		if len(w) != 1 {
			return option.Errorf("%s: %s %q names %d columns; one is possible", a.in.Name(), option.Ref("weight"), a.opt.Weight, len(w))
		}
		a.weight = w[0]
		a.schema.Weight = &Place{strconv.Itoa(w[0]), w[0]}
	} else if m != nil && m.Weight != nil && a.bag == 0 && m.Format == "npy" && a.cols == m.Width {
		a.weight = m.Weight.At
	}
	used := map[int]bool{}
	for _, t := range a.targets {
		used[t] = true
		a.schema.Labels = append(a.schema.Labels, Place{strconv.Itoa(t), t})
	}
	if a.weight >= 0 {
		if used[a.weight] {
			return option.Errorf("%s: column %d is the label and the weight; name another %s or %s", a.in.Name(), a.weight, option.Ref("weight"), option.Ref("label"))
		}
		used[a.weight] = true
	}
	if a.group >= 0 {
		if used[a.group] {
			return option.Errorf("%s: column %d says which bag a row is of and is the label or the weight; name another %s, %s or %s", a.in.Name(), a.group,
				option.Ref("group"), option.Ref("label"), option.Ref("weight"))
		}
		used[a.group] = true
		a.schema.Group = &Place{strconv.Itoa(a.group), a.group}
	}
	a.schema.Dim, a.schema.Width = a.cols-len(used), a.cols
	if len(used) > 0 {
		for j := range a.cols {
			if !used[j] {
				a.inputs = append(a.inputs, j)
			}
		}
	}
	if a.schema.Dim == 0 {
		return fmt.Errorf("%s: no inputs are left beside the label", a.in.Name())
	}
	if m != nil && a.schema.Dim != want {
		return option.Errorf("%s: rows have %d inputs, but %s %d; check %s and the file", a.in.Name(), a.schema.Dim, a.opt.trainedOn(), want, option.Ref("label"))
	}
	if m != nil && hasCategories(m) {
		return fmt.Errorf("%s: the model was trained on a table with columns of text (%s), so it needs a table", a.in.Name(), firstCategorical(m))
	}
	return nil
}

func hasCategories(m *Schema) bool { return firstCategorical(m) != "" }

func firstCategorical(m *Schema) string {
	for _, c := range m.Columns {
		if c.Categories != nil {
			return c.Name
		}
	}
	return ""
}

// positions reads a list of positions among n columns, separated by commas.
func positions(spec string, n int) ([]int, error) {
	var list []int
	for part := range bytes.SplitSeq([]byte(spec), []byte{','}) {
		v, err := strconv.Atoi(string(bytes.TrimSpace(part)))
		if err != nil {
			return nil, fmt.Errorf("there is no column %q; the columns are 0 to %d and have no names", part, n-1)
		}
		if v < 0 {
			v += n
		}
		if v < 0 || v >= n {
			return nil, fmt.Errorf("there is no column %s; the columns are 0 to %d", part, n-1)
		}
		for _, u := range list {
			if u == v {
				return nil, fmt.Errorf("column %d is named twice", v)
			}
		}
		list = append(list, v)
	}
	return list, nil
}

func (a *array) Name() string    { return a.in.Name() }
func (a *array) Schema() *Schema { return &a.schema }

// maxRow is how many bytes a row may take: what a header says is believed only so far.
const maxRow = 256 << 20

// checkSize refuses sizes that the file cannot have, before anything is allocated for them.
func (a *array) checkSize() error {
	row := int64(a.cols) * int64(max(4, a.kind.size))
	if row > maxRow {
		return fmt.Errorf("%s: rows of %d numbers are wider than any that this program reads", a.in.Name(), a.cols)
	}
	if p, ok := a.in.(*packed); ok && p.method == "" {
		if have := (p.size - a.offset) / int64(a.kind.size) / int64(a.cols); have < int64(a.rows) {
			return a.cutShort(max(0, int(have)))
		}
	}
	return nil
}

// checkBag refuses images that are too large to be held at once, and options that need columns.
func (a *array) checkBag() error {
	if a.opt.Group != "" || a.opt.Weight != "" || a.opt.Label != "" && a.opt.Label != "none" {
		return option.Errorf("%s: is an array of %d images of %d locations × %d channels, and has no columns for %s, %s or %s; labels come from %s, one an image",
			a.Name(), a.rows/a.bag, a.bag, a.cols, option.Ref("group"), option.Ref("label"), option.Ref("weight"), option.Set("labels_file", "FILE"))
	}
	if size := 4 * float64(a.bag) * float64(a.cols); size > maxBag {
		takes, most := units.BytesApart(size, maxBag)
		return fmt.Errorf("%s: images of %d locations × %d channels take %s each; a bag may take %s", a.Name(), a.bag, a.cols, takes, most)
	}
	return nil
}

// cutShort is the error for a file that ends within a row.
func (a *array) cutShort(row int) error {
	what, rows := "row", a.rows
	if a.bag > 0 {
		what, row, rows = "image", row/a.bag, rows/a.bag
	}
	return fmt.Errorf("%s: is cut short: it ends in %s %d (from 0) of the %d that its header promises", a.Name(), what, row, rows)
}

// Open implements Source.
func (a *array) Open(ctx context.Context) (Reader, error) {
	r := &arrayReader{array: a, ctx: ctx, batch: a.opt.BatchRows}
	if r.batch <= 0 {
		r.batch = defaultBatch
	}
	// Wide rows come a few at a time: a batch's bytes are bounded, too.
	r.batch = max(1, min(r.batch, a.rows, (64<<20)/(a.cols*max(4, a.kind.size))))
	if a.fortran && a.cols > 1 {
		f, closer, err := randomAccess(a.in)
		if err != nil {
			return nil, err
		}
		r.at, r.closer = f, closer
		if err := r.checkEnd(); err != nil {
			closer()
			return nil, err
		}
		return r, nil
	}
	src, _, err := a.in.Open()
	if err != nil {
		return nil, err
	}
	r.src, r.closer = src, src.Close
	if _, err := io.CopyN(io.Discard, src, a.offset); err != nil {
		src.Close()
		return nil, fmt.Errorf("%s: is cut short in its header", a.Name())
	}
	return r, nil
}

// randomAccess gives an input's bytes in any order: the file itself, or where it is
// compressed a temporary copy of what is in it.
func randomAccess(in input) (io.ReaderAt, func() error, error) {
	if p, ok := in.(*packed); ok && p.method == "" {
		return p.file, func() error { return nil }, nil
	}
	src, _, err := in.Open()
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	f, err := temporary("mercer-array-*")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot be unpacked: %w", in.Name(), err)
	}
	if _, err := io.Copy(f, src); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return f, f.Close, nil
}

// arrayReader is one pass over an array.
type arrayReader struct {
	*array
	ctx    context.Context
	src    io.Reader   // C order
	at     io.ReaderAt // Fortran order
	closer func() error
	batch  int
	row    int
	buf    []byte
	dense  matrix.Dense
	y, w   []float64
	keys   []string
	err    error
}

// groups implements grouped.
func (r *arrayReader) groups() []string { return r.keys }

func (r *arrayReader) wrong(i int, err error) *RowError {
	row := r.row - r.dense.Rows + i
	return &RowError{Source: r.Name(), Row: row, Dim: -1, Err: err, place: fmt.Sprintf("%s: row %d (from 0)", r.Name(), row)}
}

// cell is an error about a number, which is input dim or, if that is -1, something else.
func (a *array) cell(row, column, dim int, v float64, err error) *RowError {
	e := &RowError{Source: a.Name(), Row: row, Column: strconv.Itoa(column), Dim: dim, Value: number(v), Err: err}
	e.place = fmt.Sprintf("%s: row %d, column %d (from 0)", a.Name(), row, column)
	if a.bag > 0 {
		e.place = fmt.Sprintf("%s: image %d, location %d, channel %d (from 0)", a.Name(), row/a.bag, row%a.bag, column)
	}
	return e
}

// checkEnd compares the length of a file in Fortran order with what its header says.
func (r *arrayReader) checkEnd() error {
	end := r.offset + int64(r.rows)*int64(r.cols)*int64(r.kind.size)
	var b [1]byte
	if n, _ := r.at.ReadAt(b[:], end-1); n != 1 {
		return fmt.Errorf("%s: is cut short: the header promises %d×%d numbers", r.Name(), r.rows, r.cols)
	}
	if n, _ := r.at.ReadAt(b[:], end); n == 1 {
		return fmt.Errorf("%s: goes on after the %d×%d numbers that its header promises", r.Name(), r.rows, r.cols)
	}
	return nil
}

// Next implements Reader.
func (r *arrayReader) Next() (*matrix.Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.next()
	r.err = err
	return b, err
}

func (r *arrayReader) next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == r.rows {
		if r.src != nil {
			var extra [1]byte
			switch n, err := io.ReadFull(r.src, extra[:]); {
			case n > 0:
				return nil, fmt.Errorf("%s: goes on after the %d×%d numbers that its header promises", r.Name(), r.rows, r.cols)
			case !errors.Is(err, io.EOF):
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
		return nil, io.EOF
	}
	n := min(r.batch, r.rows-r.row)
	size := r.kind.size
	if need := n * r.cols * size; cap(r.buf) < need {
		r.buf = make([]byte, need)
	}
	r.buf = r.buf[:n*r.cols*size]
	if r.src != nil {
		if got, err := io.ReadFull(r.src, r.buf); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, r.cutShort(r.row + got/(r.cols*size))
			}
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
	} else {
		// Column j of these rows goes to buf[j*n:].
		for j := range r.cols {
			from := r.offset + (int64(j)*int64(r.rows)+int64(r.row))*int64(size)
			if _, err := r.at.ReadAt(r.buf[j*n*size:(j+1)*n*size], from); err != nil && !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
	}
	if err := r.decode(n); err != nil {
		return nil, err
	}
	b := &matrix.Batch{X: matrix.Rows{Dense: &r.dense}, First: r.row, Outputs: len(r.targets)}
	if len(r.targets) > 0 {
		b.Y = r.y
	}
	if r.weight >= 0 {
		b.Weights = r.w
	}
	r.row += n
	return b, nil
}

// decode turns the bytes of n rows into numbers.
func (r *arrayReader) decode(n int) error {
	size := r.kind.size
	element := func(i, j int) []byte {
		k := i*r.cols + j
		if r.src == nil {
			k = j*n + i
		}
		return r.buf[k*size : (k+1)*size]
	}
	r.dense.Reshape(n, r.schema.Dim)
	r.y, r.w, r.keys = r.y[:0], r.w[:0], r.keys[:0]
	key, last := "", 0.0
	// Inputs that stand side by side, as they mostly do, are decoded in one go.
	first, adjacent := 0, r.src != nil
	for k, j := range r.inputs {
		if k == 0 {
			first = j
		}
		adjacent = adjacent && j == first+k
	}
	for i := range n {
		row := r.dense.Row(i)
		if adjacent {
			from := (i*r.cols + first) * size
			r.kind.floats(row, r.buf[from:from+len(row)*size])
		} else {
			for k := range row {
				j := k
				if r.inputs != nil {
					j = r.inputs[k]
				}
				row[k] = float32(r.kind.value(element(i, j)))
			}
		}
		for k, v := range row {
			if r.kind.kind != 'f' {
				break // whole numbers are in reach of float32
			}
			if v-v != 0 {
				j := k
				if r.inputs != nil {
					j = r.inputs[k]
				}
				v := r.kind.value(element(i, j))
				return r.cell(r.row+i, j, k, v, fmt.Errorf("%g is not a number that float32 holds; replace or remove it", v))
			}
		}
		for _, j := range r.targets {
			v := r.kind.value(element(i, j))
			if v-v != 0 {
				return r.cell(r.row+i, j, -1, v, fmt.Errorf("the label is %g; remove the row or give it a label", v))
			}
			r.y = append(r.y, v)
		}
		if r.weight >= 0 {
			v := r.kind.value(element(i, r.weight))
			if !(v >= 0) || math.IsInf(v, 0) {
				return r.cell(r.row+i, r.weight, -1, v, fmt.Errorf("%g is not a weight, a number from 0 on", v))
			}
			r.w = append(r.w, v)
		}
		if r.group >= 0 {
			v := r.kind.value(element(i, r.group))
			if v-v != 0 {
				return r.cell(r.row+i, r.group, -1, v, fmt.Errorf("%g does not say which bag the row is of", v))
			}
			if i == 0 || v != last {
				key, last = number(v), v
			}
			r.keys = append(r.keys, key)
		}
	}
	return nil
}

// Progress implements Reader.
func (r *arrayReader) Progress() float64 { return float64(r.row) / float64(r.rows) }

// Close implements Reader.
func (r *arrayReader) Close() error {
	if r.err == nil {
		r.err = errors.New("dataset: reader is closed")
	}
	if r.closer == nil {
		return nil
	}
	c := r.closer
	r.closer = nil
	return c()
}
