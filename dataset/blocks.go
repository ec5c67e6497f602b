package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Text is parsed in parallel: one goroutine reads blocks of whole records, others parse them
// into batches, and the results come out in the order of the file. Blocks and batches are
// reused, so a pass holds a few of them, however long the file is.

const (
	blockSize = 1 << 20  // bytes read at a time
	maxRecord = 64 << 20 // longer lines are an error: memory must not grow with the file
)

// block is a piece of text that ends with a record, on its way to a parser and back.
type block struct {
	text []byte
	line int // number of its first line, from 1

	columnar bool        // there is a batch instead of text
	batch    columnBatch // of a typed table
	first    int         // its first row, from 0

	rows rowBuffer
	err  error
	done chan struct{} // closed when parsed
}

// rowBuffer collects parsed rows.
type rowBuffer struct {
	matrix.Batch // all but X
	dense        matrix.Dense
	csr          matrix.CSR
	rows         int
	sparse       bool // the rows are in csr
	names        bool // some label is text

	// Of data with a column of groups, one per row: the bag, and the line where the row starts.
	keys  []string
	lines []int

	carried []string // cells that are kept beside each row
}

// shape sets the layout of the rows to come, before there are any.
func (r *rowBuffer) shape(outputs, dim int, sparse bool) {
	r.rows, r.names, r.sparse, r.Outputs = 0, false, sparse, outputs
	r.Y, r.Weights, r.Names = r.Y[:0], r.Weights[:0], r.Names[:0]
	r.keys, r.lines, r.carried = r.keys[:0], r.lines[:0], r.carried[:0]
	r.dense.Data, r.dense.Cols, r.dense.Stride = r.dense.Data[:0], dim, dim
	r.csr.Ptr, r.csr.Idx, r.csr.Val, r.csr.Cols = append(r.csr.Ptr[:0], 0), r.csr.Idx[:0], r.csr.Val[:0], dim
}

// endRow completes a row: values that were appended for a row that turned out to be wrong,
// and so was never completed, belong to no batch. name is its label if that is text.
func (r *rowBuffer) endRow(name string) {
	r.rows++
	if r.sparse {
		r.csr.Ptr = append(r.csr.Ptr, len(r.csr.Idx))
	}
	if name != "" && !r.names {
		r.names = true
		for range r.rows - 1 {
			r.Names = append(r.Names, "")
		}
	}
	if r.names {
		r.Names = append(r.Names, name)
	}
}

// view sets out to the batch of rows [i, j).
func (r *rowBuffer) view(i, j int, out *matrix.Batch) {
	*out = matrix.Batch{Outputs: r.Outputs}
	if r.sparse {
		r.csr.Rows = r.rows
		out.X.CSR = r.csr.Slice(i, j)
	} else {
		r.dense.Rows = r.rows
		out.X.Dense = r.dense.Slice(i, j)
	}
	if o := r.Outputs; o > 0 {
		out.Y = r.Y[i*o : j*o : j*o]
	}
	if r.names {
		out.Names = r.Names[i:j:j]
	}
	if len(r.Weights) > 0 {
		out.Weights = r.Weights[i:j:j]
	}
}

// parser turns blocks into rows; each goroutine has its own. On an error it keeps the rows
// before it.
type parser interface {
	parse(text []byte, line int, rows *rowBuffer) error
}

// textReader is one pass over a text file.
type textReader struct {
	cancel context.CancelFunc
	ctx    context.Context
	share  func() float64
	batch  int // most rows in a batch

	queue chan *block // blocks in the order of the file
	free  chan *block // blocks to be reused
	wait  sync.WaitGroup

	current *block // being handed out
	at      int    // rows of it handed out
	rows    int    // rows handed out in all
	out     matrix.Batch
	err     error

	name    string
	explain func(error) error // what to say of an error, if not nil
	placed  placed            // nil: all is one file
	keys    []string          // of the batch handed out
	lines   []int
	beside  []string
}

// carried are the cells kept beside the rows of the batch handed out.
func (r *textReader) carried() []string { return r.beside }

// groups implements grouped.
func (r *textReader) groups() []string { return r.keys }

func (r *textReader) wrong(i int, err error) *RowError {
	name, line := r.name, r.lines[i]
	if r.placed != nil {
		name, line = r.placed.place(line)
	}
	e := atLine(name, line, err)
	e.Row = r.out.First + i
	return e
}

// textFormat defines how a text is cut into records and parsed.
type textFormat struct {
	name      string
	quoted    bool // newlines inside double quotes do not end a record
	batch     int
	skipLines int // lines before the first record
	newParser func() parser
}

// readText starts a pass.
func readText(ctx context.Context, in input, f textFormat) (*textReader, error) {
	src, share, err := in.Open()
	if err != nil {
		return nil, err
	}
	r := newTextReader(ctx, f.batch, f.name, share)
	r.placed, _ = in.(placed)
	r.start(f.newParser, func() { src.Close() }, func(work chan<- *block) { r.cut(src, f, work) })
	return r, nil
}

func newTextReader(ctx context.Context, batch int, name string, share func() float64) *textReader {
	parsers := vec.Threads()
	r := &textReader{name: name, share: share, batch: batch, queue: make(chan *block, parsers+1), free: make(chan *block, parsers+3)}
	if r.batch <= 0 {
		r.batch = defaultBatch
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	for range parsers + 3 {
		r.free <- &block{}
	}
	return r
}

// start starts a goroutine that fills blocks and then closes what it read, and others that parse them.
func (r *textReader) start(newParser func() parser, closed func(), fill func(work chan<- *block)) {
	work := make(chan *block, vec.Threads())
	r.wait.Go(func() {
		defer closed()
		defer close(work)
		defer close(r.queue)
		fill(work)
	})
	for range vec.Threads() {
		p := newParser()
		r.wait.Go(func() {
			for b := range work {
				switch {
				case b.err != nil:
				case b.columnar:
					b.err = p.(batchParser).parseBatch(&b.batch, b.first, &b.rows)
				default:
					b.err = p.parse(b.text, b.line, &b.rows)
				}
				close(b.done)
			}
		})
	}
}

// take is a block to be filled; ok is false if nobody wants it any more.
func (r *textReader) take() (b *block, ok bool) {
	select {
	case b = <-r.free:
		b.err, b.done, b.rows.rows = nil, make(chan struct{}), 0
		return b, true
	case <-r.ctx.Done():
		return nil, false
	}
}

// give sends a block on. The queue has the order of the file, whichever block is parsed first.
func (r *textReader) give(b *block, work chan<- *block) (ok bool) {
	for _, to := range []chan<- *block{r.queue, work} {
		select {
		case to <- b:
		case <-r.ctx.Done():
			return false
		}
	}
	return true
}

// defaultBatch is the largest number of rows in a batch unless the user gives one.
const defaultBatch = 4096

// cut reads the text and sends it on block by block.
func (r *textReader) cut(src io.Reader, f textFormat, work chan<- *block) {
	var rest []byte // read, but not part of a whole record yet
	line := 1
	skip := f.skipLines
	for first, end := true, false; !end; first = false {
		b, ok := r.take()
		if !ok {
			return
		}
		b.line = line
		b.text = append(b.text[:0], rest...)
		for size := blockSize; ; size *= 2 {
			var err error
			b.text, err = fill(src, b.text, max(size, len(b.text)+blockSize/2))
			end = err != nil
			if at, ok := err.(*RowError); ok {
				b.err = at
			} else if err != nil && !errors.Is(err, io.EOF) {
				b.err = orChanged(err, fmt.Errorf("%s: line %d or after: %w", f.name, line, bare(f.name, err)))
			}
			if first && size == blockSize {
				b.text = bytes.TrimPrefix(b.text, byteOrderMark)
			}
			cut := len(b.text)
			if !end {
				cut = lastRecord(b.text, f.quoted)
			}
			if cut > 0 || end {
				rest = append(rest[:0], b.text[cut:]...)
				b.text = b.text[:cut]
				break
			}
			if len(b.text) >= maxRecord {
				b.err = atLine(f.name, line, fmt.Errorf("the line is longer than %s%s", units.Bytes(maxRecord), quoteHint(f.quoted)))
				end = true
				break
			}
		}
		lines := bytes.Count(b.text, newline)
		for skip > 0 && len(b.text) > 0 {
			i := bytes.IndexByte(b.text, '\n') + 1
			if i == 0 {
				i = len(b.text)
			}
			b.text = b.text[i:]
			b.line++
			skip--
		}
		line += lines
		if !r.give(b, work) {
			return
		}
	}
}

var (
	newline       = []byte{'\n'}
	quote         = []byte{'"'}
	byteOrderMark = []byte("\xef\xbb\xbf")
)

func quoteHint(quoted bool) string {
	if quoted {
		return "; is a double quote left open in it?"
	}
	return ""
}

// fill reads until text has size bytes or the source ends, which is io.EOF. A truncated
// source returns io.ErrUnexpectedEOF, which io.ReadFull would not distinguish from its
// own. Memory grows with the data, as most files are short.
func fill(src io.Reader, text []byte, size int) ([]byte, error) {
	for len(text) < size {
		if len(text) == cap(text) {
			text = slices.Grow(text, min(size-len(text), max(len(text), 1<<13)))
		}
		n, err := src.Read(text[len(text):min(size, cap(text))])
		text = text[:len(text)+n]
		if err != nil {
			return text, err
		}
	}
	return text, nil
}

// lastRecord is where the last whole record of text ends, 0 if there is none.
func lastRecord(text []byte, quoted bool) int {
	end := bytes.LastIndexByte(text, '\n') + 1
	if !quoted || end == 0 || bytes.IndexByte(text[:end], '"') < 0 {
		return end
	}
	// A newline ends a record if the number of quotes before it is even.
	odd := bytes.Count(text[:end], quote)%2 == 1
	for end > 0 && odd {
		before := bytes.LastIndexByte(text[:end-1], '\n') + 1
		odd = odd != (bytes.Count(text[before:end], quote)%2 == 1)
		end = before
	}
	return end
}

// Next implements Reader.
func (r *textReader) Next() (*matrix.Batch, error) {
	for {
		if r.err != nil {
			return nil, r.err
		}
		if r.current != nil {
			n := r.current.rows.rows
			if r.at < n {
				j := min(r.at+r.batch, n)
				r.current.rows.view(r.at, j, &r.out)
				r.out.First = r.rows
				if rows := &r.current.rows; len(rows.keys) > 0 {
					r.keys, r.lines = rows.keys[r.at:j], rows.lines[r.at:j]
				}
				if rows := &r.current.rows; len(rows.carried) > 0 {
					k := len(rows.carried) / n
					r.beside = rows.carried[r.at*k : j*k]
				}
				r.rows += j - r.at
				r.at = j
				return &r.out, nil
			}
			if r.err = r.current.err; r.err != nil {
				if e, ok := r.err.(*RowError); ok {
					e.Row = r.rows
				}
				if r.explain != nil {
					r.err = r.explain(r.err)
				}
				continue
			}
			r.free <- r.current
			r.current = nil
		}
		select {
		case b, ok := <-r.queue:
			if !ok {
				r.err = io.EOF
				if err := r.ctx.Err(); err != nil {
					r.err = err
				}
				continue
			}
			select {
			case <-b.done:
				r.current, r.at = b, 0
			case <-r.ctx.Done():
				r.err = r.ctx.Err()
			}
		case <-r.ctx.Done():
			r.err = r.ctx.Err()
		}
	}
}

// Progress implements Reader.
func (r *textReader) Progress() float64 { return r.share() }

// Close implements Reader. It stops the goroutines and waits for them.
func (r *textReader) Close() error {
	r.cancel()
	if r.err == nil {
		r.err = errors.New("dataset: reader is closed")
	}
	r.wait.Wait()
	return nil
}
