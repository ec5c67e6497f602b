package serve

import (
	"mercer/dataset"
	"mercer/internal/read/arrow"
)

// plainArrow answers an Arrow stream or file by one of the same form.
func (c *call) plainArrow(want wish, file bool) error {
	if err := c.readArrow(); err != nil {
		return err
	}
	if err := c.plainScores(want); err != nil {
		return err
	}
	in := c.in
	columns := in.answerColumns(want)
	fields := make([]arrow.Field, len(columns))
	for k := range columns {
		fields[k] = arrow.Field{Name: columns[k].name, Kind: arrow.Double}
		if columns[k].text != nil {
			fields[k].Kind = arrow.Bytes
		} else if columns[k].bits == 32 {
			fields[k].Kind = arrow.Float
		}
	}
	out := (*appended)(&in.out)
	*out = (*out)[:0]
	w, err := arrow.NewWriter(out, file, fields)
	for i := range in.x.Rows {
		for k := range columns {
			if err != nil {
				return err
			}
			switch col := &columns[k]; fields[k].Kind {
			case arrow.Bytes:
				err = w.Text(col.text(i))
			case arrow.Float:
				err = w.Float(float32(col.number(i)))
			default:
				err = w.Double(col.number(i))
			}
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return c.written(c.r.Header.Get("Content-Type"), in.out)
}

// Arrow data may stand for this multiple of the bound of a body, and of their own bytes.
const unpacked, ofOwn = 8, 64

// readArrow reads rows whose columns have names, in any order.
func (c *call) readArrow() error {
	in, most := c.in, min(unpacked*c.opt.Body, 1<<20+ofOwn*int64(len(c.body)))
	if err := c.lease.take(most); err != nil {
		return err
	}
	var to []int // the column of each field, -1 for none
	return dataset.ArrowRecords(c.body, most, func(fields []string, values []any) error {
		if to == nil {
			var err error
			if to, err = in.columnsOf(fields, "the Arrow schema"); err != nil {
				return err
			}
		}
		dst, err := in.next()
		if err != nil {
			return err
		}
		clear(in.values)
		for k, at := range to {
			if at >= 0 {
				in.values[at] = values[k]
			}
		}
		return in.located(in.encoder.Values(dst, in.values...))
	})
}
