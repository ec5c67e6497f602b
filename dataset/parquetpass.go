package dataset

import (
	"fmt"
	"io"
	"sync/atomic"

	"mercer/internal/parquet"
)

// parquetPass is one pass over a Parquet file that gives lines of text.
type parquetPass struct {
	table  *parquetTable
	reader *parquet.Reader
	batch  parquet.Batch
	row    int          // of the batch, the next
	rows   atomic.Int64 // given so far
	cell   []byte
	line   []byte // what is to be read next
	at     int
	err    error
}

// tableText is how many bytes of text a pass over a typed file makes at a time.
const tableText = 1 << 16

// Read implements io.Reader.
func (p *parquetPass) Read(dst []byte) (int, error) {
	if p.at == len(p.line) {
		if p.err != nil {
			return 0, p.err
		}
		p.line, p.at = p.line[:0], 0
		for len(p.line) < tableText && p.err == nil {
			p.err = p.next()
		}
		if len(p.line) == 0 {
			return 0, p.err
		}
	}
	n := copy(dst, p.line[p.at:])
	p.at += n
	return n, nil
}

// next appends the text of a row.
func (p *parquetPass) next() error {
	if p.row == p.batch.Rows {
		p.row = 0
		if err := p.reader.Next(&p.batch); err != nil {
			p.batch.Rows = 0
			if err != io.EOF {
				err = p.table.damaged(p.rows.Load(), err)
			}
			return err
		}
	}
	first := len(p.line)
	for i := range p.batch.Columns {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		c, w := &p.batch.Columns[i], &p.table.columns[i]
		if c.Missing(p.row) {
			continue
		}
		var err error
		if w.quoted {
			if p.cell, err = w.write(p.cell[:0], c, p.row); err == nil {
				p.line = appendQuoted(p.line, string(p.cell))
			}
		} else {
			p.line, err = w.write(p.line, c, p.row)
		}
		if err != nil {
			p.line = p.line[:first]
			return fmt.Errorf("%s: row %d, column %q: %w", p.table.packed.name, p.rows.Load()+1, c.Name, err)
		}
	}
	if len(p.batch.Columns) == 1 && len(p.line) == first {
		p.line = append(p.line, `""`...) // or the line would be empty, and no row
	}
	p.line = append(p.line, '\n')
	p.row++
	p.rows.Add(1)
	return nil
}

// Close implements io.Closer.
func (p *parquetPass) Close() error {
	p.reader.Close()
	return nil
}
