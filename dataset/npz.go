package dataset

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/option"
	"mercer/matrix"
)

// A matrix in compressed rows as scipy.sparse.save_npz writes it: a zip archive of NPY arrays.
// format is "csr" and shape has the numbers of rows and columns. Row i has the values
// data[indptr[i]:indptr[i+1]] in the columns indices[indptr[i]:indptr[i+1]], which increase.
//
// A pass reads the three arrays side by side, so it holds one batch.

const zipMagic = "PK\x03\x04"

// npz is such a file.
type npz struct {
	in     input
	batch  int
	schema Schema
	rows   int
	values int
}

func newNPZ(ctx context.Context, in input, opt Options) (Source, error) {
	n := &npz{in: in, batch: opt.BatchRows, schema: Schema{Format: "npz"}}
	if n.batch <= 0 {
		n.batch = defaultBatch
	}
	if streamed(in) {
		return nil, option.Errorf("%s: is an npz archive, whose directory is at its end; leave out %s, so that it is kept for several passes",
			in.Name(), option.Ref("survey_rows"))
	}
	a, err := n.open()
	if err != nil {
		return nil, err
	}
	defer a.close()
	if src, err := n.unpackedSource(ctx, a, opt); src != nil || err != nil {
		return src, err
	}
	if err := noLists(in, opt); err != nil {
		return nil, err
	}
	if err := n.look(a); err != nil {
		return nil, err
	}
	for _, o := range []struct{ name, value string }{{"label", opt.Label}, {"weight", opt.Weight}, {"group", opt.Group}} {
		if o.value != "" && (o.name != "label" || o.value != "none") {
			return nil, option.Errorf("%s: is a sparse matrix, all of whose columns are inputs, so there is none for %s; labels come from %s",
				in.Name(), option.Ref(o.name), option.Set("labels_file", "FILE"))
		}
	}
	if opt.Schema == nil {
		if err := tooWide(int64(n.schema.Dim), opt.Memory); err != nil {
			return nil, fmt.Errorf("%s: its shape has %d columns: %w", in.Name(), n.schema.Dim, err)
		}
	}
	if m := opt.Schema; m != nil {
		if hasCategories(m) {
			return nil, fmt.Errorf("%s: the model was trained on a table with columns of text (%s), so it needs a table", in.Name(),
				firstCategorical(m))
		}
		if n.schema.Dim != m.Dim {
			return nil, fmt.Errorf("%s: rows have %d inputs, but %s %d", in.Name(), n.schema.Dim, opt.trainedOn(), m.Dim)
		}
	}
	return n, nil
}

func (n *npz) Name() string    { return n.in.Name() }
func (n *npz) Schema() *Schema { return &n.schema }

// npzArchive is an open archive.
type npzArchive struct {
	of    *npz
	files map[string]*zip.File
	done  func() error
	open  []*npzArray
}

// npzArray is one array of an archive, read sequentially.
type npzArray struct {
	name string // its name in messages
	kind element
	len  int
	r    *bufio.Reader
	c    io.Closer
	at   int // elements read
	buf  []byte
}

// open reads the archive's directory.
func (n *npz) open() (*npzArchive, error) {
	at, done, err := randomAccess(n.in)
	if err != nil {
		return nil, err
	}
	size, err := sizeOf(n.in, at)
	if err != nil {
		done()
		return nil, fmt.Errorf("%s: %w", n.Name(), err)
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		done()
		return nil, orChanged(err, fmt.Errorf("%s: is a zip or npz archive that is cut short or damaged (%w); copy the file again", n.Name(), err))
	}
	a := &npzArchive{of: n, files: map[string]*zip.File{}, done: done}
	for _, f := range z.File {
		a.files[f.Name] = f
	}
	return a, nil
}

// sizeOf is the number of decompressed bytes of an input that at gives access to.
func sizeOf(in input, at io.ReaderAt) (int64, error) {
	if t, ok := at.(*atomicfile.Temporary); ok {
		return t.Seek(0, io.SeekEnd)
	}
	return in.(*packed).size, nil
}

func (a *npzArchive) close() error {
	var err error
	for _, m := range a.open {
		err = errors.Join(err, m.c.Close())
	}
	return errors.Join(err, a.done())
}

// names are the arrays that an archive has, for a message.
func (a *npzArchive) names() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		list = append(list, shorten([]byte(name)))
	}
	if len(list) > 5 {
		return fmt.Sprintf("%d files", len(list))
	}
	return strings.Join(list, ", ")
}

// array opens one of the arrays of a matrix, of elements of the kinds given.
func (a *npzArchive) array(name, kinds string) (*npzArray, error) {
	f := a.files[name+".npy"]
	if f == nil && a.files["xl/workbook.xml"] != nil {
		return nil, fmt.Errorf("%s: is an Excel workbook; save its sheet as CSV (read are %s)", a.of.Name(), formats)
	}
	if f == nil {
		return nil, fmt.Errorf("%s: is a zip archive (of %s) without %s.npy, so no sparse matrix as scipy.sparse.save_npz writes it", a.of.Name(),
			a.names(), name)
	}
	m := &npzArray{name: fmt.Sprintf("%s: array %s", a.of.Name(), name)}
	r, err := f.Open()
	if err != nil {
		return nil, m.damaged(err)
	}
	a.open = append(a.open, m)
	m.c, m.r = r, bufio.NewReaderSize(r, 1<<16)
	head, err := m.r.Peek(1 << 16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, m.damaged(err)
	}
	if !bytes.HasPrefix(head, []byte(npyMagic)) {
		return nil, fmt.Errorf("%s: is not in the NPY format", m.name)
	}
	h, err := npyHeader(head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	switch {
	case kinds == "S":
		// One byte per character, or four in files of older versions of SciPy.
		dtype := strings.TrimLeft(h.dtype, "<|")
		size := 1
		if strings.HasPrefix(dtype, "U") {
			size = 4
		}
		n, err := strconv.Atoi(strings.TrimLeft(dtype, "SU"))
		if err != nil || n < 1 || n > 16 || len(h.shape) != 0 {
			return nil, fmt.Errorf("%s: is of type %q and shape %v, not the name of a format", m.name, h.dtype, h.shape)
		}
		m.kind, m.len = element{kind: 'u', size: 1}, n*size
	case len(h.shape) != 1:
		return nil, fmt.Errorf("%s: has %d dimensions, not one", m.name, len(h.shape))
	default:
		if m.kind, err = npyElement(h.dtype); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if !strings.Contains(kinds, string(m.kind.kind)) {
			return nil, fmt.Errorf("%s: is of type %q, where integers are expected", m.name, h.dtype)
		}
		m.len = h.shape[0]
	}
	_, err = m.r.Discard(h.end)
	return m, err
}

// damaged is the error for an array that cannot be read.
func (m *npzArray) damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: is cut short: it ends at %d of the %d numbers that its header promises", m.name, m.at, m.len)
	}
	return orChanged(err, fmt.Errorf("%s: is damaged (%w); copy the file again", m.name, err))
}

// next reads the bytes of the next count elements, which must exist; they are valid until the next call.
func (m *npzArray) next(count int) ([]byte, error) {
	need := count * m.kind.size
	if cap(m.buf) < need {
		m.buf = make([]byte, need)
	}
	got, err := io.ReadFull(m.r, m.buf[:need])
	m.at += got / m.kind.size
	if err != nil {
		return nil, m.damaged(err)
	}
	return m.buf[:need], nil
}

// whole reads the next element, an integer.
func (m *npzArray) whole() (float64, error) {
	b, err := m.next(1)
	if err != nil {
		return 0, err
	}
	return m.kind.value(b), nil
}

// end checks that an array ends where it should, and its checksum.
func (m *npzArray) end() error {
	switch _, err := m.r.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%s: goes on after the %d numbers that its header promises", m.name, m.len)
	case !errors.Is(err, io.EOF):
		return m.damaged(err)
	}
	return nil
}

// look reads the archive's description of the matrix.
func (n *npz) look(a *npzArchive) error {
	format, err := a.array("format", "S")
	if err != nil {
		return err
	}
	text, err := format.next(format.len)
	if err != nil {
		return err
	}
	if name := string(bytes.ReplaceAll(text, []byte{0}, nil)); name != "csr" {
		return fmt.Errorf("%s: is a sparse matrix of the format %q; save it by rows: scipy.sparse.save_npz(PATH, x.tocsr())", n.Name(), name)
	}
	shape, err := a.array("shape", "iu")
	if err != nil {
		return err
	}
	if shape.len != 2 {
		return fmt.Errorf("%s: has %d numbers, not those of rows and columns", shape.name, shape.len)
	}
	var size [2]float64
	for i := range size {
		if size[i], err = shape.whole(); err != nil {
			return err
		}
	}
	switch {
	case size[0] == 0 || size[1] == 0:
		return fmt.Errorf("%s: is empty: its shape is [%g %g]", n.Name(), size[0], size[1])
	case !(size[0] > 0 && size[0] < math.MaxInt/8 && size[1] > 0 && size[1] <= math.MaxInt32):
		return fmt.Errorf("%s: has the shape %g×%g, which no matrix that this program reads has", n.Name(), size[0], size[1])
	}
	n.rows, n.schema.Dim = int(size[0]), int(size[1])
	n.schema.Width = n.schema.Dim
	arrays, err := n.arrays(a)
	if err != nil {
		return err
	}
	indptr, indices, data := arrays[0], arrays[1], arrays[2]
	if indptr.len != n.rows+1 {
		return fmt.Errorf("%s: has %d numbers, but %d rows take %d", indptr.name, indptr.len, n.rows, n.rows+1)
	}
	if n.values = data.len; indices.len != n.values {
		return fmt.Errorf("%s: has %d numbers, but data has %d", indices.name, indices.len, data.len)
	}
	return nil
}

// arrays opens the arrays that grow with the rows.
func (n *npz) arrays(a *npzArchive) (list [3]*npzArray, err error) {
	for i, m := range []struct{ name, kinds string }{{"indptr", "iu"}, {"indices", "iu"}, {"data", "fiub"}} {
		if list[i], err = a.array(m.name, m.kinds); err != nil {
			return list, err
		}
	}
	return list, nil
}

// Open implements Source.
func (n *npz) Open(ctx context.Context) (Reader, error) {
	a, err := n.open()
	if err != nil {
		return nil, err
	}
	r := &npzReader{npz: n, ctx: ctx, archive: a}
	arrays, err := n.arrays(a)
	if err == nil {
		r.indptr, r.indices, r.data = arrays[0], arrays[1], arrays[2]
		var first float64
		if first, err = r.indptr.whole(); err == nil && first != 0 {
			err = fmt.Errorf("%s: begins with %g, not with 0", r.indptr.name, first)
		}
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return r, nil
}

// npzReader is one pass over a matrix.
type npzReader struct {
	*npz
	ctx                   context.Context
	archive               *npzArchive
	indptr, indices, data *npzArray
	row                   int // rows read
	csr                   matrix.CSR
	err                   error
}

// npzBatch is the largest number of values of a batch of more than one row.
const npzBatch = 4 << 20

// Next implements Reader.
func (r *npzReader) Next() (*matrix.Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.next()
	r.err = err
	return b, err
}

func (r *npzReader) next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == r.rows {
		if r.indices.at != r.values {
			return nil, fmt.Errorf("%s: ends with %d, but there are %d values", r.indptr.name, r.indices.at, r.values)
		}
		for _, m := range []*npzArray{r.indptr, r.indices, r.data} {
			if err := m.end(); err != nil {
				return nil, err
			}
		}
		return nil, io.EOF
	}
	x := &r.csr
	x.Rows, x.Cols, x.Ptr, x.Idx, x.Val = 0, r.schema.Dim, append(x.Ptr[:0], 0), x.Idx[:0], x.Val[:0]
	first := r.row
	for x.Rows < r.batch && r.row < r.rows && len(x.Idx) < npzBatch {
		if err := r.readRow(); err != nil {
			return nil, err
		}
		x.Rows++
		x.Ptr = append(x.Ptr, len(x.Idx))
		r.row++
	}
	return &matrix.Batch{X: matrix.Rows{CSR: x}, First: first}, nil
}

// readRow appends the nonzero values of the next row.
func (r *npzReader) readRow() error {
	wrong := func(format string, args ...any) *RowError {
		return &RowError{Source: r.Name(), Row: r.row, Dim: -1, Err: fmt.Errorf(format, args...),
			place: fmt.Sprintf("%s: row %d (from 0)", r.Name(), r.row)}
	}
	end, err := r.indptr.whole()
	if err != nil {
		return err
	}
	begin := r.indices.at
	switch {
	case end < float64(begin) || end > float64(r.values):
		return wrong("indptr has %.0f as its end, which is not from %d, where it begins, to %d, the number of values", end, begin, r.values)
	case end-float64(begin) > float64(r.schema.Dim):
		return wrong("has %.0f values in %d columns", end-float64(begin), r.schema.Dim)
	}
	last := int64(-1)
	// In pieces: indptr is not trusted with a large allocation.
	for left := int(end) - begin; left > 0; {
		n := min(left, 1<<16)
		left -= n
		columns, err := r.indices.next(n)
		if err != nil {
			return err
		}
		values, err := r.data.next(n)
		if err != nil {
			return err
		}
		for k := range n {
			j := int64(r.indices.kind.value(columns[k*r.indices.kind.size:]))
			v := r.data.kind.value(values[k*r.data.kind.size:])
			value := float32(v)
			switch {
			case j < 0 || j >= int64(r.schema.Dim):
				return wrong("has a value in column %d; the columns are 0 to %d", j, r.schema.Dim-1)
			case j == last:
				return wrong("column %d comes twice; call x.sum_duplicates() before saving", j)
			case j < last:
				return wrong("column %d comes after %d; call x.sort_indices() before saving", j, last)
			case value-value != 0:
				e := wrong("%g is not a number that float32 holds; replace or remove it", v)
				e.Column, e.Dim, e.Value = strconv.FormatInt(j, 10), int(j), number(v)
				e.place += ", column " + e.Column
				return e
			}
			last = j
			if value != 0 {
				r.csr.Idx, r.csr.Val = append(r.csr.Idx, int32(j)), append(r.csr.Val, value)
			}
		}
	}
	return nil
}

// Progress implements Reader.
func (r *npzReader) Progress() float64 { return float64(r.row) / float64(r.rows) }

// Close implements Reader.
func (r *npzReader) Close() error {
	if r.err == nil {
		r.err = errors.New("dataset: reader is closed")
	}
	a := r.archive
	if r.archive = nil; a == nil {
		return nil
	}
	return a.close()
}
