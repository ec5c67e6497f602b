package dataset

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
)

// heads keep what the head of a text says of its columns. Pieces of a file have one head, and so have those of several files, so a process looks at it
// once for each schema and not for each piece.
type heads struct {
	mu    sync.Mutex
	tells map[headKey]*told
	all   *joined               // several files, of which those of the head are known
	files map[string]joinedFile // the others that were looked at
}

// headKey is what a look depends on besides the options that all pieces have in common.
type headKey struct {
	schema *Schema
	format string
}

// told is what a look found: the columns, and what it sets of a table.
type told struct {
	head    []byte
	columns []attribute

	sep        byte
	ends, line bool // lines end with a separator; the first has names
	skip       int
	asked      string // Options.Header
	header     []string
	notices    []Notice
}

// lookOnce is sniff, but for pieces whose head is known.
func (t *table) lookOnce(format string) ([]attribute, error) {
	h := t.opt.heads
	if h == nil {
		return t.sniff(format)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := headKey{t.opt.Schema, format}
	f := h.tells[key]
	if f == nil || !bytes.Equal(f.head, t.in.Head()) {
		columns, err := t.sniff(format)
		if err != nil || t.arff {
			return columns, err
		}
		for i := range columns {
			columns[i].cells = slices.Clip(columns[i].cells)
		}
		f = &told{head: t.in.Head(), columns: columns, sep: t.sep, ends: t.ends, line: t.schema.Header, skip: t.skip, asked: t.opt.Header, header: t.header,
			notices: slices.Clip(t.notices)}
		if h.tells == nil {
			h.tells = map[headKey]*told{}
		}
		h.tells[key] = f
	}
	t.sep, t.ends, t.schema.Header, t.skip, t.opt.Header, t.header, t.notices = f.sep, f.ends, f.line, f.skip, f.asked, f.header, f.notices
	return slices.Clone(f.columns), nil
}

// joined is a piece of several files: one file, with the names of the columns and the first rows of all.
func (d *Pieces) joined(ctx context.Context, p *Piece, opt Options) (*joined, error) {
	in, err := p.input(ctx)
	if err != nil {
		return nil, err
	}
	in.Close()
	h := &d.heads
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		if h.all, err = newJoined(ctx, d.Path, d.Head, opt); err != nil {
			h.all = nil
			return nil, err
		}
		h.all.done()
		h.files = map[string]joinedFile{}
		for _, f := range h.all.files {
			h.files[f.path] = f
		}
	}
	j := &joined{path: d.Path, opt: h.all.opt, names: h.all.names, texts: maps.Clone(h.all.texts), head: h.all.head, total: h.all.total}
	j.ctx, j.done = Steady(ctx)
	f, known := h.files[p.Path]
	if !known {
		of, _, err := joinedOf(p.Path)
		if err != nil {
			return nil, err
		}
		if err := j.look(of); err != nil {
			return nil, err
		}
		f = *of
		h.files[p.Path] = f
	}
	f.piece = p
	j.files, j.texts = []joinedFile{f}, d.Texts
	return j, nil
}
