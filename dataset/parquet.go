package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"mercer/internal/read/arrow"
	"mercer/internal/read/parquet"
)

// parquetMagic begins a Parquet file.
const parquetMagic = parquet.Magic

// parquetTable is a Parquet file as a typed table. A page of each column is in memory.
type parquetTable struct {
	packed *packed
	file   *parquet.File
	stored []stored // how the columns are
}

// newParquetTable opens a file, which must not be compressed as a whole.
func newParquetTable(in *packed) (*parquetTable, error) {
	t := &parquetTable{packed: in}
	var err error
	if t.file, err = parquet.Open(in.file, in.size); err != nil {
		return nil, orChanged(err, fmt.Errorf("%s: the Parquet file cannot be read: %w", in.name, err))
	}
	for i := range t.file.Fields {
		f := &t.file.Fields[i]
		t.stored = append(t.stored, stored{parquetKinds[f.Kind], f.Unit, f.Scale})
	}
	if len(t.stored) == 0 || t.file.Rows == 0 {
		return nil, fmt.Errorf("%s: the Parquet file has no rows", in.name)
	}
	return t, nil
}

func (t *parquetTable) Name() string { return t.packed.name }

func (t *parquetTable) fields() []field {
	all := make([]field, len(t.stored))
	for i := range all {
		all[i] = field{t.file.Fields[i].Name, t.stored[i].textual()}
	}
	return all
}

// parquetPass is one pass over a Parquet file.
type parquetPass struct {
	*parquetTable
	reader *parquet.Reader
	rows   atomic.Int64 // read so far
}

func (t *parquetTable) pass() (columnPass, error) {
	return &parquetPass{parquetTable: t, reader: t.file.Read()}, nil
}

func (p *parquetPass) share() float64 { return min(1, float64(p.rows.Load())/float64(p.file.Rows)) }

// Close implements columnPass.
func (p *parquetPass) Close() error {
	p.reader.Close()
	return nil
}

// next implements columnPass.
func (p *parquetPass) next(b *columnBatch) error {
	read, ok := b.held.(*parquet.Batch)
	if !ok {
		read = &parquet.Batch{}
		b.held, b.columns = read, make([]column, len(p.stored))
	}
	b.rows = 0
	if err := p.reader.Next(read); err == io.EOF {
		return err
	} else if err != nil {
		return orChanged(err, fmt.Errorf("%s: the Parquet file is damaged after row %d: %w", p.packed.name, p.rows.Load(), err))
	}
	for i := range read.Columns {
		from, c := &read.Columns[i], &b.columns[i]
		c.valid = from.Valid()
		switch {
		case from.Kind == parquet.Float:
			c.kind, c.floats = columnFloats, from.Floats
		case from.Kind == parquet.Double:
			c.kind, c.doubles = columnDoubles, from.Doubles
		case from.Kind == parquet.Int:
			c.kind, c.wholes = columnWholes, from.Ints
		case c.lazy == nil:
			how := &p.stored[i]
			c.kind, c.lazy = columnLazy, func(row int, to *cell, text *[]byte) error {
				if *to = (cell{}); from.Missing(row) {
					return nil
				}
				return parquetCell(from, row, how, to, text)
			}
		}
	}
	b.rows = read.Rows
	p.rows.Add(int64(read.Rows))
	return nil
}

var parquetKinds = map[parquet.Kind]storedKind{parquet.Bool: storedBool, parquet.Uint: storedUint, parquet.Half: storedHalf, parquet.Decimal: storedDecimal,
	parquet.Date: storedDay, parquet.Time: storedClock, parquet.Timestamp: storedInstant, parquet.Julian: storedInstant, parquet.UUID: storedUUID,
	parquet.Bytes: storedText}

// parquetCell reads a cell that is there.
func parquetCell(c *parquet.Column, row int, how *stored, to *cell, text *[]byte) error {
	if len(c.Ints) > 0 {
		return how.cell(to, c.Ints[row], nil, text)
	}
	b := c.Texts[row]
	switch c.Kind {
	case parquet.Half:
		return how.cell(to, int64(binary.LittleEndian.Uint16(b)), nil, text)
	case parquet.Julian: // nanoseconds of the day, and the Julian day
		nanos, day := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))
		to.setTime(time.Unix((day-2440588)*86400, nanos).UTC())
		return nil
	}
	return how.cell(to, 0, b, text)
}

// nominal says that column at is declared as one of given values: by its type, or by what pandas and Arrow note of the
// table that was written.
func (t *parquetTable) nominal(at int) bool {
	if at >= len(t.file.Fields) {
		return false
	}
	f := &t.file.Fields[at]
	if f.Enum {
		return true
	}
	var pandas struct {
		Columns []struct {
			Field string `json:"field_name"`
			Type  string `json:"pandas_type"`
		} `json:"columns"`
	}
	if json.Unmarshal(t.file.Metadata["pandas"], &pandas) == nil {
		for _, c := range pandas.Columns {
			if c.Field == f.Name && c.Type == "categorical" {
				return true
			}
		}
	}
	schema, err := base64.StdEncoding.DecodeString(string(t.file.Metadata["ARROW:schema"]))
	if err != nil {
		return false
	}
	stream, err := arrow.NewStream(bytes.NewReader(schema), int64(len(schema)))
	if err != nil {
		return false
	}
	defer stream.Close()
	for i := range stream.Fields {
		if stream.Fields[i].Name == f.Name {
			return stream.Fields[i].Dictionary()
		}
	}
	return false
}

// parquetGroups are the sizes of the groups of rows of a file.
func parquetGroups(in *packed) ([]int64, error) {
	t, err := newParquetTable(in)
	if err != nil {
		return nil, err
	}
	return t.file.Groups(), nil
}
