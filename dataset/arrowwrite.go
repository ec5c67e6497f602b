package dataset

import "mercer/internal/read/arrow"

// arrowFile writes int64, double and utf8, all of which may be null, as a file or a stream.
type arrowFile struct {
	tableFile
	file bool
	out  *arrow.Writer
}

func (t *arrowFile) begin(kinds []valueKind) (err error) {
	t.kinds = kinds
	fields := make([]arrow.Field, len(kinds))
	for j, k := range kinds {
		fields[j] = arrow.Field{Name: t.names[j], Kind: arrow.Bytes}
		switch k {
		case kindInteger:
			fields[j].Kind = arrow.Int
		case kindNumber:
			fields[j].Kind = arrow.Double
		}
	}
	t.out, err = arrow.NewWriter(t.w, t.file, fields)
	return err
}

func (t *arrowFile) row(cells []string) error { return t.typedRow(t.out, cells) }

func (t *arrowFile) Commit() error {
	if err := t.out.Close(); err != nil {
		return err
	}
	return t.tableFile.Commit()
}
