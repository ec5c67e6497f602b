package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// A learner with leaves has five rounds after the survey, of which two are only for tables. In "means" each piece adds up its targets by the values of
// columns, and what is merged says which columns get mean targets; "columns" surveys all rows with these. In "sample" each piece gives its rows of a sample, and what is merged says how all rows are
// divided into parts. In "rows" each piece writes its rows into a file, part by part. In "leaves" each shard reads the rows of some of the parts from
// the files of all pieces and grows their leaves. What is merged in the last two are lists of files.

// sampleSum are the rows of a sample.
type sampleSum struct{ *rfm.Rows }

func (s sampleSum) rows() int            { return len(s.Keys) }
func (s sampleSum) merge(next sum) error { return s.Append(next.(sampleSum).Rows) }
func (s sampleSum) write(w io.Writer, meta map[string]string) error {
	return s.Write(w, meta)
}

// topSum is what was settled by the sample.
type topSum struct{ *train.Sharded }

func (s topSum) rows() int            { return len(s.Top().Sample().Keys) }
func (s topSum) merge(next sum) error { return errors.New("what a sample settled is not added to") }
func (s topSum) write(w io.Writer, meta map[string]string) error {
	return s.WriteTop(w, meta)
}

// listed is a file that a round wrote: the rows of a piece, or the leaves of a part.
type listed struct {
	Number int    `json:"number"` // of the piece or the part
	File   string `json:"file"`
	Rows   int    `json:"rows"`

	Parts []section `json:"parts,omitempty"` // of the rows of a piece: one for each part
	Sum   string    `json:"sha256,omitempty"`
}

// section is where the rows of a part are in the file of a piece.
type section struct {
	Rows int    `json:"rows"`
	At   int64  `json:"at"`
	Size int64  `json:"size"`
	CRC  uint32 `json:"crc"`
}

// listSum are files.
type listSum struct {
	files []listed
}

func (s *listSum) rows() (n int) {
	for _, f := range s.files {
		n += f.Rows
	}
	return n
}

func (s *listSum) merge(next sum) error {
	s.files = append(s.files, next.(*listSum).files...)
	return nil
}

// listFile is a file of a list.
type listFile struct {
	Meta  map[string]string `json:"meta"`
	Files []listed          `json:"files"`
}

func (s *listSum) write(w io.Writer, meta map[string]string) error {
	return json.NewEncoder(w).Encode(listFile{meta, s.files})
}

func readList(r io.Reader) (sum, map[string]string, error) {
	var f listFile
	d := json.NewDecoder(io.LimitReader(r, 1<<30))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, nil, err
	}
	_, err := io.Copy(io.Discard, r) // the checksum is of all
	return &listSum{f.Files}, f.Meta, err
}

// conclude makes of the sum of all pieces what the next round is to know.
func (w *Worker) conclude(ctx context.Context, round string, total sum) (sum, error) {
	if round == roundMeans {
		return total, w.sharded.SettleMeans(ctx, total.(meanSum).Means, w.all)
	}
	if pass, is := total.(passSum); is {
		return total, w.sharded.Conclude(ctx, pass.SharedSums)
	}
	if round != roundSample {
		return total, nil
	}
	if err := w.sharded.Settle(ctx, total.(sampleSum).Rows, w.Plan.Part); err != nil {
		return nil, err
	}
	return topSum{w.sharded}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// route writes the rows of a piece into a file, part by part.
func (w *Worker) route(ctx context.Context, src dataset.Source, first, piece int) (sum, error) {
	parts := make([]bytes.Buffer, w.sharded.Top().Parts())
	l := listed{Number: piece, File: fmt.Sprintf("%s/piece-%d.rows", roundRows, piece), Parts: make([]section, len(parts))}
	var row []byte
	err := w.sharded.Route(ctx, src, first, func(part, key int, x []float32, y []float64, weight float64) error {
		row = binary.LittleEndian.AppendUint64(row[:0], uint64(key))
		row = binary.LittleEndian.AppendUint64(row, math.Float64bits(weight))
		for _, v := range y {
			row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
		}
		for _, v := range x {
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v))
		}
		parts[part].Write(row)
		l.Parts[part].Rows++
		l.Rows++
		return nil
	})
	if err != nil {
		return nil, err
	}
	at := int64(0)
	for p := range parts {
		s := &l.Parts[p]
		s.At, s.Size, s.CRC = at, int64(parts[p].Len()), crc32.Checksum(parts[p].Bytes(), castagnoli)
		at += s.Size
	}
	return &listSum{[]listed{l}}, w.store.Write(ctx, l.File, func(out io.Writer) error {
		for p := range parts {
			if _, err := out.Write(parts[p].Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
}

// partsOf are the parts whose leaves a shard grows: from, and the first after.
func (p *Plan) partsOf(shard, parts int) (from, to int) {
	n := p.Shards()
	return shard * parts / n, (shard + 1) * parts / n
}

// leaves grows the leaves of the parts of the shard that a piece is the first of. Other pieces have none.
func (w *Worker) leaves(ctx context.Context, piece int) (sum, error) {
	s, shard := &listSum{}, w.Plan.shardOf(piece)
	if first, _ := w.Plan.Pieces(shard); piece != first {
		return s, nil
	}
	from, to := w.Plan.partsOf(shard, w.sharded.Top().Parts())
	for part := from; part < to; part++ {
		l := listed{Number: part, File: fmt.Sprintf("%s/part-%d.leaves", roundLeaves, part)}
		for _, f := range w.routed.files {
			if part < len(f.Parts) {
				l.Rows += f.Parts[part].Rows
			}
		}
		var err error
		if l.Sum, err = w.grown(ctx, l.File); err == nil && l.Sum == "" {
			l.Sum, err = w.grow(ctx, part, l.File)
		}
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, l)
	}
	return s, nil
}

// grow grows the leaves of a part, and returns the checksum of their file.
func (w *Worker) grow(ctx context.Context, part int, file string) (check string, err error) {
	rows, err := w.rowsOf(ctx, part)
	if err != nil {
		return "", err
	}
	made, err := w.sharded.Top().Grow(ctx, part, *rows, nil)
	if err != nil {
		return "", err
	}
	check, _, err = w.writeFile(ctx, file, func(out io.Writer) error { return made.Write(out, w.sharded.Top(), w.key(roundLeaves)) })
	return check, err
}

// grown is the checksum of the file of a part whose leaves have grown before its shard was stopped, "" if there is none that is whole: growing is
// nearly all the work of a training.
func (w *Worker) grown(ctx context.Context, file string) (check string, err error) {
	r, size, err := w.store.Read(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	_, meta, err := w.sharded.Top().ReadPart(io.TeeReader(r, h), size)
	if err != nil || w.same(roundLeaves, meta) != nil {
		return "", ctx.Err()
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// rowsOf reads the rows of a part from the files of all pieces.
func (w *Worker) rowsOf(ctx context.Context, part int) (*rfm.Rows, error) {
	sample := w.sharded.Top().Sample()
	d, k := sample.X.Cols, len(sample.Y)/len(sample.Keys)
	rows := &rfm.Rows{X: &matrix.Dense{Cols: d, Stride: d}}
	for _, f := range w.routed.files {
		if part >= len(f.Parts) {
			return nil, fmt.Errorf("%s: has %d parts, and part %d is asked for", w.store.Name(f.File), len(f.Parts), part)
		}
		if err := w.readSection(ctx, f, part, rows, d, k); err != nil {
			return nil, fmt.Errorf("%s: part %d: %w; run the round %s again", w.store.Name(f.File), part, err, roundRows)
		}
	}
	return rows, nil
}

var errSection = errors.New("the rows of the part are damaged")

// readSection adds the rows of a part in the file of a piece: d numbers and k targets each.
func (w *Worker) readSection(ctx context.Context, f listed, part int, rows *rfm.Rows, d, k int) error {
	s := f.Parts[part]
	width := int64(16 + 8*k + 4*d)
	r, size, err := w.store.Read(ctx, f.File)
	if err != nil {
		return err
	}
	defer r.Close()
	if s.Rows < 0 || s.Size != width*int64(s.Rows) || s.At < 0 || s.At > size-s.Size {
		return errSection
	}
	if at, ok := r.(io.Seeker); ok {
		_, err = at.Seek(s.At, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, r, s.At)
	}
	if err != nil {
		return err
	}
	text := make([]byte, s.Size)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	if crc32.Checksum(text, castagnoli) != s.CRC {
		return errSection
	}
	rows.X.Data = slices.Grow(rows.X.Data, s.Rows*d)
	for ; len(text) > 0; text = text[width:] {
		rows.Keys = append(rows.Keys, int(binary.LittleEndian.Uint64(text)))
		rows.Weights = append(rows.Weights, math.Float64frombits(binary.LittleEndian.Uint64(text[8:])))
		for t := range k {
			rows.Y = append(rows.Y, math.Float64frombits(binary.LittleEndian.Uint64(text[16+8*t:])))
		}
		for j := range d {
			rows.X.Data = append(rows.X.Data, math.Float32frombits(binary.LittleEndian.Uint32(text[16+8*k+4*j:])))
		}
		rows.X.Rows++
	}
	return nil
}

// joined makes the model of all leaves.
func (w *Worker) joined(ctx context.Context) (*model.Model, *train.Report, error) {
	files := w.total.(*listSum).files
	var parts []*rfm.Part
	for i, f := range files {
		if f.Number != i {
			return nil, nil, fmt.Errorf("the leaves of part %d are not there", i)
		}
		part, err := w.readPart(ctx, f)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w; run the round %s again", w.store.Name(f.File), err, roundLeaves)
		}
		parts = append(parts, part)
	}
	return w.sharded.Joined(ctx, parts)
}

func (w *Worker) readPart(ctx context.Context, f listed) (*rfm.Part, error) {
	r, size, err := w.store.Read(ctx, f.File)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	part, meta, err := w.sharded.Top().ReadPart(r, size)
	if err == nil {
		err = w.same(roundLeaves, meta)
	}
	return part, err
}
