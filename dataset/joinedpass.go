package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

// tableText is how many bytes of text a pass over several files makes at a time.
const tableText = 1 << 16

// joinedPass is one pass over several files: their rows as text.
type joinedPass struct {
	j     *joined
	file  int // the next
	lines int // given so far
	done  atomic.Int64

	in    *packed
	r     io.ReadCloser
	share atomic.Pointer[func() float64]
	text  *bufio.Reader
	odd   bool // within double quotes

	out []byte
	at  int
	err error
}

// Open implements input.
func (j *joined) Open() (io.ReadCloser, func() float64, error) {
	j.mu.Lock()
	j.starts = nil
	j.mu.Unlock()
	end := bytes.IndexByte(j.head, '\n') + 1
	if _, rest, _ := record(j.head, true); rest != nil {
		end = len(j.head) - len(rest)
	}
	p := &joinedPass{j: j, out: slices.Clone(j.head[:end]), lines: bytes.Count(j.head[:end], newline)}
	return p, func() float64 {
		now := float64(p.done.Load())
		if share := p.share.Load(); share != nil {
			now += max(0, (*share)())
		}
		return min(1, now/float64(len(j.files)))
	}, nil
}

// Read implements io.Reader.
func (p *joinedPass) Read(dst []byte) (int, error) {
	if p.at == len(p.out) {
		p.out, p.at = p.out[:0], 0
		for len(p.out) < tableText && p.err == nil {
			p.err = p.next()
		}
		if len(p.out) == 0 {
			return 0, p.err
		}
	}
	n := copy(dst, p.out[p.at:])
	p.at += n
	return n, nil
}

// next appends a line.
func (p *joinedPass) next() error {
	if p.text == nil {
		if p.file == len(p.j.files) {
			return io.EOF
		}
		p.j.mu.Lock()
		p.j.starts = append(p.j.starts, p.lines+1)
		p.j.mu.Unlock()
		if err := p.begin(&p.j.files[p.file]); err != nil {
			return err
		}
		p.file++
	}
	f := &p.j.files[p.file-1]
	from, first := len(p.out), true
	for {
		part, err := p.text.ReadSlice('\n')
		if first && !p.odd && len(f.prefix) > 0 && len(bytes.TrimSpace(part)) > 0 {
			p.out = append(p.out, f.prefix...)
		}
		first = false
		if p.out = append(p.out, part...); len(p.out)-from > maxRecord {
			return fmt.Errorf("%s: a line is longer than %d bytes", f.path, maxRecord)
		}
		if bytes.Count(part, quote)%2 == 1 {
			p.odd = !p.odd
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF:
			if len(p.out) > from && p.out[len(p.out)-1] != '\n' {
				p.out = append(p.out, '\n')
				p.lines++
			}
			p.end()
			return nil
		case err != nil:
			return err
		default:
			p.lines++
			return nil
		}
	}
}

// begin opens a file and passes over its header.
func (p *joinedPass) begin(f *joinedFile) error {
	in, err := openInput(p.j.ctx, f.path)
	if err != nil {
		return err
	}
	if in, err = seekable(in); err != nil {
		return err
	}
	p.in = in
	typed, err := typedOf(p.j.ctx, in, p.j.opt)
	if err != nil {
		return err
	}
	if t, ok := typed.(*parquetTable); ok && f.piece != nil && f.piece.Of == ofGroups {
		if err := t.only(f.piece); err != nil {
			return err
		}
	}
	if typed != nil {
		var names []string
		for _, f := range typed.fields() {
			names = append(names, f.name)
		}
		each := func(ctx context.Context, row func([]string) error) error { return eachRow(ctx, typed, row) }
		return p.reorder(f, &names, each)
	}
	var text input = in
	if f.piece != nil && f.piece.Of == ofBytes {
		text = &textPiece{packed: in, piece: f.piece}
	}
	if text, err = asUTF8(text, p.j.opt.Encoding); err != nil {
		return err
	}
	if !f.raw {
		return p.reorderText(f, text)
	}
	var share func() float64
	if p.r, share, err = text.Open(); err != nil {
		return err
	}
	p.share.Store(&share)
	p.text = bufio.NewReaderSize(p.r, 1<<16)
	if mark, _ := p.text.Peek(3); bytes.Equal(mark, byteOrderMark) {
		_, _ = p.text.Discard(3)
	}
	for skip := f.skip; skip > 0; {
		switch _, err := p.text.ReadSlice('\n'); {
		case err == nil:
			skip--
		case err == io.EOF:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
	return nil
}

// reorderText reorders a file of text.
func (p *joinedPass) reorderText(f *joinedFile, text input) error {
	t := &table{in: text, opt: p.j.opt}
	columns, err := t.sniff(p.j.opt.Format)
	if err != nil {
		return err
	}
	for _, c := range columns {
		t.names = append(t.names, c.name)
	}
	if t.arff || t.sep == ' ' {
		return p.reorder(f, &t.names, lineCells(text, t))
	}
	return p.reorder(f, &t.names, csvCells(text, t, false, &t.names))
}

// reorder writes the cells of a file with commas and in the order of the first file. names are known with the first row.
func (p *joinedPass) reorder(f *joinedFile, names *[]string, each func(ctx context.Context, row func([]string) error) error) error {
	r, pipe := io.Pipe()
	w := bufio.NewWriterSize(pipe, tableText)
	go func() {
		var line []byte
		var at []int
		err := each(p.j.ctx, func(cells []string) error {
			if at == nil {
				for k, name := range p.j.names {
					i := slices.Index(*names, name)
					if *names == nil {
						i = k
					}
					at = append(at, i)
				}
			}
			if len(cells) != len(at) {
				return fmt.Errorf("%s: a row has %d cells, and there are %d columns", f.path, len(cells), len(at))
			}
			line = line[:0]
			for k, i := range at {
				if i < 0 {
					return fmt.Errorf("%s: the file has changed while it is read", f.path)
				}
				if k > 0 {
					line = append(line, ',')
				}
				if c := cells[i]; strings.ContainsAny(c, ",\"\r\n") || c == "" && len(at) == 1 {
					line = appendQuoted(line, c)
				} else {
					line = append(line, c...)
				}
			}
			_, err := w.Write(append(line, '\n'))
			return err
		})
		if flushed := w.Flush(); err == nil {
			err = flushed
		}
		pipe.CloseWithError(err)
	}()
	p.r, p.text = r, bufio.NewReaderSize(r, 1<<16)
	return nil
}

// end closes a file.
func (p *joinedPass) end() {
	p.share.Store(nil)
	if p.r != nil {
		p.r.Close()
	}
	if p.in != nil {
		p.in.Close()
	}
	p.r, p.in, p.text, p.odd = nil, nil, nil, false
	p.done.Add(1)
}

// Close implements io.Closer.
func (p *joinedPass) Close() error {
	p.end()
	p.err = io.ErrClosedPipe
	return nil
}

// appendQuoted appends a cell in double quotes.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			break
		}
		dst = append(append(dst, text[:i]...), `""`...)
		text = text[i+1:]
	}
	return append(append(dst, text...), '"')
}
