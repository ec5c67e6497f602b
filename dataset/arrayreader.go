package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/units"
	"mercer/matrix"
)

// Open implements Source.
func (a *array) Open(ctx context.Context) (Reader, error) {
	r, err := a.read(ctx, a.opt.BatchRows)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// read begins a pass of batches of so many rows, 0 for the usual number.
func (a *array) read(ctx context.Context, batch int) (*arrayReader, error) {
	r := &arrayReader{array: a, ctx: ctx, batch: batch}
	if r.batch <= 0 {
		r.batch = defaultBatch
	}
	// Wide rows come a few at a time, because a batch's bytes are bounded too.
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
		if errors.Is(err, errChanged) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: is cut short in its header", a.Name())
	}
	return r, nil
}

// randomAccess gives access to an input's bytes in any order: the file itself, or, if
// it is compressed, a temporary decompressed copy.
func randomAccess(in input) (io.ReaderAt, func() error, error) {
	if p, ok := in.(*packed); ok && p.method == "" {
		return p.file, func() error { return nil }, nil
	}
	src, _, err := in.Open()
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	f, err := atomicfile.CreateTemporary("", "mercer-array-*")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot be unpacked: %w", in.Name(), err)
	}
	most := int64(mostFetched)
	if p, ok := in.(*packed); ok {
		most = mostInflated(p.size)
	}
	if err := inflate(f, src, most); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return f, f.Close, nil
}

// mostInflated is how many bytes a file of so many may take on disk when it is unpacked: 1 GiB, or a hundred times as many.
func mostInflated(size int64) int64 { return min(max(1<<30, 100*size), mostFetched) }

// inflate copies what is unpacked, up to so many bytes.
func inflate(to io.Writer, from io.Reader, most int64) error {
	n, err := io.Copy(to, io.LimitReader(from, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("takes more than %s when it is unpacked; unpack it first if that is right", units.Bytes(most))
	}
	return err
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

// cell is an error about a number: that of input dim, or, if dim is -1, another one.
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

// fill reads the bytes of the next rows, and says how many they are; io.EOF after the last.
func (r *arrayReader) fill() (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.row == r.rows {
		if r.src != nil {
			var extra [1]byte
			switch n, err := io.ReadFull(r.src, extra[:]); {
			case n > 0:
				return 0, fmt.Errorf("%s: goes on after the %d×%d numbers that its header promises", r.Name(), r.rows, r.cols)
			case !errors.Is(err, io.EOF):
				return 0, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
		return 0, io.EOF
	}
	n = min(r.batch, r.rows-r.row)
	size := r.kind.size
	if need := n * r.cols * size; cap(r.buf) < need {
		r.buf = make([]byte, need)
	}
	r.buf = r.buf[:n*r.cols*size]
	if r.src != nil {
		if got, err := io.ReadFull(r.src, r.buf); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return 0, r.cutShort(r.row + got/(r.cols*size))
			}
			return 0, fmt.Errorf("%s: %w", r.Name(), err)
		}
	} else {
		// Column j of these rows goes to buf[j*n:].
		for j := range r.cols {
			from := r.offset + (int64(j)*int64(r.rows)+int64(r.row))*int64(size)
			if _, err := r.at.ReadAt(r.buf[j*n*size:(j+1)*n*size], from); err != nil && !errors.Is(err, io.EOF) {
				return 0, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
	}
	return n, nil
}

func (r *arrayReader) next() (*matrix.Batch, error) {
	n, err := r.fill()
	if err != nil {
		return nil, err
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

// element is the bytes of column j of row i, of n rows that were read.
func (r *arrayReader) element(i, j, n int) []byte {
	k := i*r.cols + j
	if r.src == nil {
		k = j*n + i
	}
	return r.buf[k*r.kind.size : (k+1)*r.kind.size]
}

// decode turns the bytes of n rows into numbers.
func (r *arrayReader) decode(n int) error {
	size := r.kind.size
	element := func(i, j int) []byte { return r.element(i, j, n) }
	r.dense.Reshape(n, r.schema.Dim)
	r.y, r.w, r.keys = r.y[:0], r.w[:0], r.keys[:0]
	key, last := "", 0.0
	// Adjacent inputs, the usual case, are decoded in one go.
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
				break // integers are within the range of float32
			}
			if v-v != 0 {
				j := k
				if r.inputs != nil {
					j = r.inputs[k]
				}
				v := r.kind.value(element(i, j))
				err := fmt.Errorf("%g is not a number that float32 holds; replace or remove it", v)
				if v != v && r.opt.Schema != nil && r.opt.Missing != "error" {
					err = fmt.Errorf("NaN, a missing value, where %s rows without any; replace it, or train on an array that has some", r.opt.trainedOn())
				}
				return r.cell(r.row+i, j, k, v, err)
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
				return r.cell(r.row+i, r.weight, -1, v, fmt.Errorf("%g is not a weight; weights are numbers of 0 or more", v))
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
