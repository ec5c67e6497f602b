package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"mercer/internal/arrow"
	"mercer/internal/parquet"
)

// parquetMagic begins a Parquet file.
const parquetMagic = parquet.Magic

// parquetTable is a Parquet file as a typed table. A page of each column is in memory.
type parquetTable struct {
	packed *packed
	file   *parquet.File
	cells  []parquetCell
	texts  []bool
}

// parquetCell reads a cell that is there; what has to be written as text goes to the end of text.
type parquetCell func(c *parquet.Column, row int, to *cell, text *[]byte) error

// newParquetTable opens a file, which must not be compressed as a whole.
func newParquetTable(in *packed) (*parquetTable, error) {
	t := &parquetTable{packed: in}
	var err error
	if t.file, err = parquet.Open(in.file, in.size); err != nil {
		return nil, fmt.Errorf("%s: the Parquet file cannot be read: %w", in.name, err)
	}
	for i := range t.file.Fields {
		read, text := parquetCells(&t.file.Fields[i])
		t.cells, t.texts = append(t.cells, read), append(t.texts, text)
	}
	if len(t.cells) == 0 || t.file.Rows == 0 {
		return nil, fmt.Errorf("%s: the Parquet file has no rows", in.name)
	}
	return t, nil
}

func (t *parquetTable) Name() string { return t.packed.name }

func (t *parquetTable) fields() []field {
	all := make([]field, len(t.cells))
	for i := range all {
		all[i] = field{t.file.Fields[i].Name, t.texts[i]}
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
		b.held, b.columns = read, make([]column, len(p.cells))
	}
	b.rows = 0
	if err := p.reader.Next(read); err == io.EOF {
		return err
	} else if err != nil {
		return fmt.Errorf("%s: the Parquet file is damaged after row %d: %w", p.packed.name, p.rows.Load(), err)
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
			read := p.cells[i]
			c.kind, c.lazy = columnLazy, func(row int, to *cell, text *[]byte) error {
				if from.Missing(row) {
					*to = cell{}
					return nil
				}
				return read(from, row, to, text)
			}
		}
	}
	b.rows = read.Rows
	p.rows.Add(int64(read.Rows))
	return nil
}

// errNotText is about bytes.
var errNotText = errors.New("a value is not text; leave the column out of the file")

// parquetCells reads the cells of a column that is no plain number, and says whether they are texts.
func parquetCells(f *parquet.Field) (read parquetCell, text bool) {
	instant := func(c *parquet.Column, row int) time.Time { return sinceEpochIn(c.Ints[row], f.Unit) }
	switch f.Kind {
	case parquet.Bool:
		return func(c *parquet.Column, row int, to *cell, _ *[]byte) error {
			*to = cell{kind: cellBool, whole: c.Ints[row]}
			return nil
		}, true
	case parquet.Uint:
		return func(c *parquet.Column, row int, to *cell, text *[]byte) error {
			to.setUint(uint64(c.Ints[row]), text)
			return nil
		}, false
	case parquet.Half:
		return func(c *parquet.Column, row int, to *cell, text *[]byte) error {
			*to = cell{kind: cellNumber, number: shortest(float32(half(binary.LittleEndian.Uint16(c.Texts[row]))), text)}
			return nil
		}, false
	case parquet.Decimal:
		return func(c *parquet.Column, row int, to *cell, text *[]byte) error {
			if len(c.Ints) > 0 {
				return to.setDecimal(big.NewInt(c.Ints[row]), f.Scale, text)
			}
			if b := c.Texts[row]; len(b) <= 64 {
				return to.setDecimal(twosComplement(b), f.Scale, text)
			}
			return errors.New("a decimal has more than 512 bits")
		}, false
	case parquet.Date:
		return func(c *parquet.Column, row int, to *cell, _ *[]byte) error {
			*to = cell{kind: cellDay, whole: c.Ints[row] * 86400}
			return nil
		}, true
	case parquet.Time:
		return func(c *parquet.Column, row int, to *cell, text *[]byte) error {
			*text = instant(c, row).AppendFormat(*text, clockTime)
			*to = cell{kind: cellText, text: *text}
			return nil
		}, true
	case parquet.Timestamp:
		return func(c *parquet.Column, row int, to *cell, _ *[]byte) error {
			to.setTime(instant(c, row))
			return nil
		}, true
	case parquet.Julian:
		return func(c *parquet.Column, row int, to *cell, _ *[]byte) error {
			b := c.Texts[row] // nanoseconds of the day, and the Julian day
			nanos, day := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))
			to.setTime(time.Unix((day-2440588)*86400, nanos).UTC())
			return nil
		}, true
	case parquet.UUID:
		return func(c *parquet.Column, row int, to *cell, text *[]byte) error {
			*text = appendUUID(*text, c.Texts[row])
			*to = cell{kind: cellText, text: *text}
			return nil
		}, true
	case parquet.Bytes:
		return func(c *parquet.Column, row int, to *cell, _ *[]byte) error {
			*to = cell{kind: cellText, text: c.Texts[row]}
			if !utf8.Valid(to.text) {
				return errNotText
			}
			return nil
		}, true
	}
	return nil, false
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
