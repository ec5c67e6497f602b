package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"mercer/internal/arrow"
	"mercer/internal/parquet"
)

// parquetMagic begins a Parquet file.
const parquetMagic = parquet.Magic

// parquetTable is a Parquet file as a table: of text, a line for each row after one with the names of the columns, or of columns. Numbers
// are written with as many digits as tell them apart, so a file in Parquet gives the same model as the same table in CSV. A page of each
// column is in memory.
type parquetTable struct {
	packed  *packed
	file    *parquet.File
	columns []parquetColumn
	head    []byte
}

// parquetColumn is how the values of a column are written.
type parquetColumn struct {
	text   bool // not a number, even if it looks like one
	quoted bool // may have separators or quotes
	write  func(dst []byte, c *parquet.Column, row int) ([]byte, error)
}

// newParquetTable opens a file, which must not be compressed as a whole.
func newParquetTable(in *packed) (t *parquetTable, err error) {
	t = &parquetTable{packed: in}
	if t.file, err = parquet.Open(in.file, in.size); err != nil {
		return nil, fmt.Errorf("%s: the Parquet file cannot be read: %w", in.name, err)
	}
	for i := range t.file.Fields {
		t.columns = append(t.columns, parquetWriter(&t.file.Fields[i]))
	}
	if len(t.columns) == 0 || t.file.Rows == 0 {
		return nil, fmt.Errorf("%s: the Parquet file has no rows", in.name)
	}
	t.head, err = headOf(t)
	return t, err
}

func (t *parquetTable) Name() string { return t.packed.name }
func (t *parquetTable) Head() []byte { return t.head }

// texts are the columns that are no numbers.
func (t *parquetTable) texts() map[string]bool {
	all := map[string]bool{}
	for i, c := range t.columns {
		all[t.file.Fields[i].Name] = c.text
	}
	return all
}

// Open implements input.
func (t *parquetTable) Open() (io.ReadCloser, func() float64, error) {
	p := &parquetPass{table: t, reader: t.file.Read()}
	for i := range t.file.Fields {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		p.line = appendQuoted(p.line, t.file.Fields[i].Name)
	}
	p.line = append(p.line, '\n')
	return p, func() float64 { return t.share(p.rows.Load()) }, nil
}

func (t *parquetTable) share(rows int64) float64 { return min(1, float64(rows)/float64(t.file.Rows)) }

// damaged is what is wrong with a file after some rows.
func (t *parquetTable) damaged(rows int64, err error) error {
	return fmt.Errorf("%s: the Parquet file is damaged after row %d: %w", t.packed.name, rows, err)
}

// errNotText is about bytes.
var errNotText = errors.New("a value is not text; leave the column out of the file")

// parquetWriter is how the values of a column are written, and whether they are texts.
func parquetWriter(f *parquet.Field) parquetColumn {
	number := func(write func(dst []byte, c *parquet.Column, row int) []byte) parquetColumn {
		return parquetColumn{write: func(dst []byte, c *parquet.Column, row int) ([]byte, error) { return write(dst, c, row), nil }}
	}
	text := func(write func(dst []byte, c *parquet.Column, row int) []byte) parquetColumn {
		c := number(write)
		c.text = true
		return c
	}
	instant := func(layout string) parquetColumn {
		per := int64(time.Second / f.Unit)
		return text(func(dst []byte, c *parquet.Column, row int) []byte {
			n := c.Ints[row]
			return time.Unix(n/per, n%per*int64(f.Unit)).UTC().AppendFormat(dst, layout)
		})
	}
	switch f.Kind {
	case parquet.Bool:
		return text(func(dst []byte, c *parquet.Column, row int) []byte { return strconv.AppendBool(dst, c.Ints[row] != 0) })
	case parquet.Uint:
		return number(func(dst []byte, c *parquet.Column, row int) []byte {
			return strconv.AppendUint(dst, uint64(c.Ints[row]), 10)
		})
	case parquet.Half:
		return number(func(dst []byte, c *parquet.Column, row int) []byte {
			return appendFloat(dst, halfFloat(binary.LittleEndian.Uint16(c.Texts[row])), 32)
		})
	case parquet.Float:
		return number(func(dst []byte, c *parquet.Column, row int) []byte {
			return appendFloat(dst, float64(c.Floats[row]), 32)
		})
	case parquet.Double:
		return number(func(dst []byte, c *parquet.Column, row int) []byte { return appendFloat(dst, c.Doubles[row], 64) })
	case parquet.Decimal:
		return parquetColumn{write: func(dst []byte, c *parquet.Column, row int) ([]byte, error) {
			if len(c.Ints) > 0 {
				return appendDecimal(dst, big.NewInt(c.Ints[row]), f.Scale)
			}
			if b := c.Texts[row]; len(b) <= 64 {
				return appendDecimal(dst, twosComplement(b), f.Scale)
			}
			return dst, errors.New("a decimal has more than 512 bits")
		}}
	case parquet.Date:
		return text(func(dst []byte, c *parquet.Column, row int) []byte {
			return time.Unix(c.Ints[row]*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
		})
	case parquet.Time:
		return instant("15:04:05.999999999")
	case parquet.Timestamp:
		return instant(timestamps)
	case parquet.Julian:
		return text(func(dst []byte, c *parquet.Column, row int) []byte {
			b := c.Texts[row] // nanoseconds of the day, and the Julian day
			nanos, day := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))
			return time.Unix((day-2440588)*86400, nanos).UTC().AppendFormat(dst, timestamps)
		})
	case parquet.UUID:
		return text(func(dst []byte, c *parquet.Column, row int) []byte { return appendUUID(dst, c.Texts[row]) })
	case parquet.Bytes:
		return parquetColumn{text: true, quoted: true, write: func(dst []byte, c *parquet.Column, row int) ([]byte, error) {
			b := c.Texts[row]
			if !utf8.Valid(b) {
				return dst, errNotText
			}
			return append(dst, b...), nil
		}}
	}
	return number(func(dst []byte, c *parquet.Column, row int) []byte { return strconv.AppendInt(dst, c.Ints[row], 10) })
}

// appendFloat appends a number with as many digits as tell it apart; NaN is missing.
func appendFloat(dst []byte, v float64, bits int) []byte {
	if v != v {
		return dst
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// halfFloat is a float16.
func halfFloat(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
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
