package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"mercer/internal/engine/option"
	"mercer/internal/engine/remote"
)

// Pieces are a data set in parts that can be read apart, in any order and on different machines: ranges of bytes of text, row
// groups of Parquet files, rows of arrays, and otherwise whole files. The division depends on the files and the size of a
// piece alone.
type Pieces struct {
	// Path is the file, folder or pattern, and Several says that it is not a single file.
	Path    string `json:"path"`
	Several bool   `json:"several,omitempty"`

	// Table says that a look at all pieces comes before their schema is known.
	Table bool `json:"table,omitempty"`

	// Head are, of several files, those whose first rows say what the columns are.
	Head []string `json:"head,omitempty"`

	// Texts are, of several files, the columns that hold text in one of them.
	Texts map[string]bool `json:"texts,omitempty"`

	// All are the pieces in the order of their rows.
	All []Piece `json:"all"`

	heads heads
}

// Piece is one of them.
type Piece struct {
	// Path is the file, which has to have Size bytes, and if it is an object of a store this version.
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	Version string `json:"version,omitempty"`

	// Of is what From and To count: "bytes", "row groups" or "rows", or "" for the whole file.
	Of   string `json:"of,omitempty"`
	From int64  `json:"from,omitempty"`
	To   int64  `json:"to,omitempty"`

	// Lead is the number of bytes before the first row of text.
	Lead int64 `json:"lead,omitempty"`
}

// What pieces are ranges of.
const (
	ofBytes  = "bytes"
	ofGroups = "row groups"
	ofRows   = "rows"
)

// String names the piece in messages.
func (p Piece) String() string {
	if p.Of == "" {
		return p.Path
	}
	return fmt.Sprintf("%s, %s %d to %d", p.Path, p.Of, p.From, p.To)
}

// maxPieces bounds a division; RowKey has room for more.
const maxPieces = 1 << 20

// RowKey is the number of a row for everything that is drawn by number: row of a piece, both from 0. In a data set of one piece
// these are the numbers of the rows.
func RowKey(piece, row int) int { return int(int64(piece)<<40 + int64(row)) }

// Divide divides a data set into pieces of about size bytes. Compressed text, UTF-16, ARFF, JSON lines, Arrow, IDX, npz and files
// with labels of their own are not divided.
func Divide(ctx context.Context, path string, opt Options, size int64) (*Pieces, error) {
	if size < 1 {
		return nil, fmt.Errorf("pieces of %d bytes", size)
	}
	if path == "-" || !Local(path) && !remote.Is(path) || Database(path) {
		return nil, fmt.Errorf("%s: is not a file, a folder, a pattern or s3://…; only these are read in pieces", ShownPath(path))
	}
	d := &Pieces{Path: path}
	files, err := several(ctx, path)
	if err != nil {
		return nil, err
	}
	if d.Several = files != nil; d.Several {
		if opt.LabelsFile != "" {
			return nil, option.Errorf("%s: several files take no %s", path, option.Ref("labels_file"))
		}
		d.Table = true
		return d, d.divideSeveral(ctx, files, opt, size)
	}
	in, err := openInput(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { in.Close() }()
	all := Piece{Path: path, Size: in.size, Version: in.version}
	if in, err = seekable(in); err != nil {
		return nil, err
	}
	src, err := newSource(ctx, in, notLooking(opt))
	if d.Table = errors.Is(err, errLook); err != nil && !d.Table {
		return nil, err
	}
	if in.method != "" || opt.LabelsFile != "" {
		d.All = []Piece{all}
		return d, nil
	}
	switch t := src.(type) {
	case *libsvm:
		err = d.cutText(in, all, 0, false, opt, size)
	case *array:
		d.cutArray(all, t, size)
	case *table, nil:
		err = d.cutTable(in, all, opt, size)
	default:
		d.All = []Piece{all}
	}
	return d, err
}

// cutTable divides a single file that is a table.
func (d *Pieces) cutTable(in *packed, all Piece, opt Options, size int64) error {
	if f := formatOf(in.head, false); f != nil {
		return d.cutGroups(f, in, all, size)
	}
	text, err := asUTF8(in, opt.Encoding)
	if err != nil {
		return err
	}
	if f := formatOfText(text.Head(), opt.Format); f.whole {
		return d.cutGroups(f, in, all, size)
	}
	t := &table{in: text, opt: opt}
	if err := t.settleOptions(); err != nil {
		return err
	}
	if _, err := t.sniff(tableFormat(opt.Format)); err != nil {
		return err
	}
	return d.cutText(in, all, t.skip, true, opt, size)
}

// tableFormat is the format of a table as newTable takes it.
func tableFormat(asked string) string {
	if slices.Contains([]string{"csv", "tsv", "blank", "arff"}, asked) {
		return asked
	}
	return ""
}

// divideSeveral divides each of several files.
func (d *Pieces) divideSeveral(ctx context.Context, files []string, opt Options, size int64) error {
	j, err := newJoined(ctx, d.Path, files, opt)
	if err != nil {
		return err
	}
	d.Texts = j.texts
	if err := d.findHead(ctx, j, files, opt); err != nil {
		return err
	}
	for i := range j.files {
		f := &j.files[i]
		in, err := openInput(ctx, f.path)
		if err != nil {
			return err
		}
		all, binary := Piece{Path: f.path, Size: in.size, Version: in.version}, formatOf(in.head, false)
		switch {
		case in.method != "":
			d.All = append(d.All, all)
		case binary != nil:
			err = d.cutGroups(binary, in, all, size)
		case !f.raw || f.typed:
			d.All = append(d.All, all)
		default:
			err = d.cutText(in, all, f.skip, true, opt, size)
		}
		in.Close()
		if err != nil {
			return err
		}
	}
	if len(d.All) > maxPieces {
		return fmt.Errorf("%s: is divided into %d pieces, more than %d; make them larger", d.Path, len(d.All), maxPieces)
	}
	return nil
}

// mostHeads bounds the files that a piece of several files has to open.
const mostHeads = 16

// findHead finds the files that the head of all comes from, or the first of them.
func (d *Pieces) findHead(ctx context.Context, all *joined, files []string, opt Options) error {
	for n := 1; ; n *= 2 {
		d.Head = files[:min(n, mostHeads, len(files))]
		if len(d.Head) < n || n == mostHeads {
			return nil
		}
		j, err := newJoined(ctx, d.Path, d.Head, opt)
		if err != nil || bytes.Equal(j.head, all.head) {
			return err
		}
	}
}

// cutGroups divides a file between groups of rows, if its format has them.
func (d *Pieces) cutGroups(f *format, in *packed, all Piece, size int64) error {
	if f.groups == nil {
		d.All = append(d.All, all)
		return nil
	}
	groups, err := f.groups(in)
	held := int64(0)
	all.Of = ofGroups
	for i, packed := range groups {
		if held += max(packed, 1); held < size && i+1 < len(groups) {
			continue
		}
		p := all
		p.To = int64(i + 1)
		d.All = append(d.All, p)
		all.From, held = p.To, 0
	}
	return err
}

// cutArray divides an array by rows.
func (d *Pieces) cutArray(all Piece, a *array, size int64) {
	rows, each := int64(a.rows), int64(a.cols*a.kind.size)
	if a.fortran && a.cols > 1 || a.schema.Format != "npy" || !begins(npyMagic)(a.in.Head()) {
		d.All = append(d.All, all)
		return
	}
	step := max(1, size/max(1, each))
	all.Of = ofRows
	for all.From = 0; all.From < rows; all.From = all.To {
		if all.To = all.From + step; rows-all.To < step/2 {
			all.To = rows
		}
		d.All = append(d.All, all)
	}
}

// Open opens a piece. For a table, opt has the schema that Settle made, or that of a model; otherwise it is as for Divide.
func (d *Pieces) Open(ctx context.Context, i int, opt Options) (*File, error) {
	p := &d.All[i]
	if p.Of == ofBytes || d.Several {
		opt.heads = &d.heads
	}
	if d.Several {
		j, err := d.joined(ctx, p, opt)
		if err != nil {
			return nil, err
		}
		src, err := asTable(ctx, j, j.texts, opt)
		if err != nil {
			return nil, err
		}
		return &File{Source: src, in: j}, nil
	}
	in, err := p.input(ctx)
	if err != nil {
		return nil, err
	}
	var src Source
	switch p.Of {
	case ofBytes:
		src, err = newSource(ctx, &textPiece{packed: in, piece: p}, opt)
	case ofRows:
		src, err = newSource(ctx, &arrayPiece{packed: in, piece: p}, opt)
	case ofGroups:
		var t *parquetTable
		if t, err = newParquetTable(in); err == nil {
			if err = t.only(p); err == nil {
				src, err = newTypedTable(ctx, t, opt)
			}
		}
	default:
		return open(ctx, in, opt)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return &File{Source: src, in: in}, nil
}

// input opens the file of a piece, which must be as it was.
func (p *Piece) input(ctx context.Context) (*packed, error) {
	in, err := openInput(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	if err := p.same(in.size, in.version); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// same is an error if the file of a piece is no longer as it was.
func (p *Piece) same(size int64, version string) error {
	switch {
	case size != p.Size:
		return fmt.Errorf("%s: has %d bytes, and %d when it was divided; divide it again", p.Path, size, p.Size)
	case version != p.Version:
		return fmt.Errorf("%s: is another object than when it was divided; divide it again", p.Path)
	}
	return nil
}

// only leaves the row groups of a piece.
func (t *parquetTable) only(p *Piece) error {
	if n := int64(len(t.file.Groups())); p.To > n || p.From > p.To {
		return fmt.Errorf("%s: has %d row groups, not %d; divide it again", p.Path, n, p.To)
	}
	t.file = t.file.Only(int(p.From), int(p.To))
	return nil
}

// textPiece is a range of bytes of a text, after the lines before the first row.
type textPiece struct {
	*packed
	piece *Piece
}

// Open implements input.
func (t *textPiece) Open() (io.ReadCloser, func() float64, error) {
	p := t.piece
	counted := &countingReader{r: io.NewSectionReader(t.file, p.From, p.To-p.From)}
	lead := io.NewSectionReader(t.file, 0, p.Lead)
	share := func() float64 { return float64(counted.n.Load()) / float64(max(1, p.To-p.From)) }
	return io.NopCloser(io.MultiReader(lead, counted)), share, nil
}

// place implements placed: it counts the lines before the piece, which only an error needs.
func (t *textPiece) place(line int) (string, int) {
	lead, before := t.lines(0, t.piece.Lead), t.lines(0, t.piece.From)
	if line <= lead {
		return t.name, line
	}
	return t.name, line + before - lead
}

// lines counts the ends of lines in a range of bytes.
func (p *packed) lines(from, to int64) (n int) {
	buffer := make([]byte, 1<<20)
	for from < to {
		got, err := p.file.ReadAt(buffer[:min(int64(len(buffer)), to-from)], from)
		n += bytes.Count(buffer[:got], newline)
		from += int64(got)
		if got == 0 || err != nil {
			break
		}
	}
	return n
}

// arrayPiece is some rows of an array in C order, under a header of its own.
type arrayPiece struct {
	*packed
	piece *Piece
	head  []byte
}

// header makes the header of the rows of the piece, and says where these are in the file.
func (a *arrayPiece) header() (head []byte, at, length int64, err error) {
	h, err := npyHeader(a.packed.head)
	if err != nil || len(h.shape) == 0 || int64(h.shape[0]) < a.piece.To {
		return nil, 0, 0, fmt.Errorf("%s: is no longer an array of %d rows; divide it again", a.name, a.piece.To)
	}
	kind, err := npyElement(h.dtype)
	if err != nil {
		return nil, 0, 0, err
	}
	each := int64(kind.size)
	shape := fmt.Sprintf("%d,", a.piece.To-a.piece.From)
	for _, n := range h.shape[1:] {
		each *= int64(n)
		shape += fmt.Sprintf(" %d,", n)
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", h.dtype, shape)
	head = append([]byte(npyMagic), 1, 0, byte(len(text)), byte(len(text)>>8))
	return append(head, text...), int64(h.end) + a.piece.From*each, (a.piece.To - a.piece.From) * each, nil
}

// Head implements input.
func (a *arrayPiece) Head() []byte {
	if a.head == nil {
		head, at, length, err := a.header()
		if err != nil {
			return a.packed.head // which has more rows, so that Open fails
		}
		room := min(length, int64(headSize-len(head)))
		a.head = append(head, make([]byte, room)...)
		n, _ := a.file.ReadAt(a.head[len(head):], at)
		a.head = a.head[:len(head)+n]
	}
	return a.head
}

// Open implements input.
func (a *arrayPiece) Open() (io.ReadCloser, func() float64, error) {
	head, at, length, err := a.header()
	if err != nil {
		return nil, nil, err
	}
	counted := &countingReader{r: io.NewSectionReader(a.file, at, length)}
	share := func() float64 { return float64(counted.n.Load()) / float64(max(1, length)) }
	return io.NopCloser(io.MultiReader(bytes.NewReader(head), counted)), share, nil
}
