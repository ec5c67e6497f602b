package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// ConvertFormats are the formats that Convert writes.
func ConvertFormats() []string {
	return []string{"csv", "tsv", "jsonl", "parquet", "arrow", "arrows", "npy", "npz", "libsvm"}
}

// convertEndings are the file name extensions of tables, beside those of RowFormat.
var convertEndings = map[string]string{".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrows"}

// ConvertFormat is the format that a file's name implies, with ".gz" or ".zst" behind it if it is to be compressed.
func ConvertFormat(path string) (string, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if format := convertEndings[ext]; format != "" {
		return format, nil
	}
	if ext != "" {
		if format, err := RowFormat(path); err == nil {
			return format, nil
		}
	}
	return "", fmt.Errorf("%s: the ending %q is of no format that is written: .csv, .tsv, .jsonl, .parquet, .arrow, .arrows, .npy, .npz, .libsvm", path, ext)
}

// Convert writes the data at path to a file out in one of ConvertFormats, which appears whole or not at all, and returns the
// number of rows; arrow is a file, arrows a stream. Tables stay tables with all their columns (but those that Ignore and Only leave out), texts and missing values; a column of the table is whole numbers,
// numbers or text, by all its values, and text if it was text in JSON, Parquet or Arrow. npy, npz and libsvm have the rows of numbers that a
// training gets, libsvm with the labels. Rows without names of columns get their numbers as names, and "label".
func Convert(ctx context.Context, path, out, format string, opt Options) (rows int, err error) {
	switch format {
	case "npy", "npz", "libsvm":
		return convertRows(ctx, path, out, format, opt)
	}
	if opt.DropUnlabelled {
		return 0, option.Errorf("%s: a table keeps rows without a label; leave out %s", out, option.Ref("drop_unlabelled"))
	}
	if told := opt.Columns.Notice; told != nil { // all columns stay what they are
		opt.Columns.Notice = func(n Notice) {
			if n.Kind == "header" {
				told(n)
			}
		}
	}
	t, err := openText(ctx, path, opt)
	if err != nil {
		return 0, err
	}
	defer t.close()
	w, err := createTable(out, format, t.names)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	kinds := make([]valueKind, len(t.names))
	for j, name := range t.names {
		if t.texts[name] {
			kinds[j] = kindText
		}
	}
	if w.typed() {
		err := t.each(ctx, func(cells []string) error {
			for j, c := range cells {
				kinds[j] = max(kinds[j], kindOf(c))
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if err := w.begin(finalKinds(kinds)); err != nil {
		return 0, err
	}
	err = t.each(ctx, func(cells []string) error {
		rows++
		return w.row(cells)
	})
	if err != nil {
		return 0, err
	}
	return rows, w.Commit()
}

// convertRows writes rows of numbers.
func convertRows(ctx context.Context, path, out, format string, opt Options) (rows int, err error) {
	opt.LabelsOptional = !WantsLabels(format)
	src, err := Open(ctx, path, opt)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	dim := src.Schema().Dim
	if dim == 0 { // LIBSVM text tells it at its end
		for b, err := range Each(ctx, src) {
			if err != nil {
				return 0, err
			}
			dim = max(dim, b.X.Dim())
		}
	}
	w, err := CreateRows(out, format, dim)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	for b, err := range Each(ctx, src) {
		if err != nil {
			return 0, err
		}
		if b.X.CSR != nil {
			b.X.CSR.Cols = dim
		}
		if err := w.Write(b.Batch); err != nil {
			return 0, err
		}
		rows += b.X.Len()
	}
	return rows, w.Commit()
}

// finalKinds are kinds at the end of the values.
func finalKinds(kinds []valueKind) []valueKind {
	for j, k := range kinds {
		switch k {
		case kindNothing:
			kinds[j] = kindInteger
		case kindMarks:
			kinds[j] = kindText
		}
	}
	return kinds
}

// valueKind is what the values of a column are, each including those before it.
type valueKind uint8

const (
	kindNothing valueKind = iota // at first
	kindMarks                    // such as - and NA, which are missing numbers if there are others
	kindInteger                  // also of a column without values
	kindNumber
	kindDigits // among them whole numbers that neither 64 bits nor a float64 hold, such as IDs of 20 digits: text, but in JSON numbers
	kindText
)

// kindOf is what a text is. Whole numbers with leading zeros, such as postal codes, are text.
func kindOf(text string) valueKind {
	switch {
	case text == "":
		return kindNothing
	case noNumber([]byte(text)) || missing([]byte(text)):
		return kindMarks
	}
	digits := strings.TrimPrefix(text, "-")
	whole := len(digits) > 0 && strings.Trim(digits, "0123456789") == ""
	if whole && (digits[0] != '0' || digits == "0") {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return kindInteger
		}
	}
	v, ok := parseNumber([]byte(text))
	switch {
	case !ok || whole && digits[0] == '0':
		return kindText
	case whole && spelled([]byte(text), v):
		return kindDigits
	}
	return kindNumber
}

// textTable is a table of any format as lines of cells; an empty one is missing.
type textTable struct {
	names []string
	texts map[string]bool // columns that are text, whatever is in them
	each  func(ctx context.Context, row func(cells []string) error) error
	close func() error
}

// openText opens data as a table of text.
func openText(ctx context.Context, path string, opt Options) (*textTable, error) {
	files, err := several(ctx, path)
	if err != nil {
		return nil, err
	}
	if files != nil {
		j, err := newJoined(ctx, path, files, opt)
		if err != nil {
			return nil, err
		}
		t := &textTable{texts: j.texts, close: func() error { return nil }}
		t.each = csvCells(j, &table{sep: ','}, true, &t.names)
		if err := t.header(ctx); err != nil || !opt.leavesOut() {
			return t, err
		}
		src, err := asTable(ctx, j, j.texts, opt.ofText())
		if err != nil {
			return nil, err
		}
		return t.without(src.Schema().Ignored), nil
	}
	in, err := openData(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	if in, err = seekable(in); err != nil {
		return nil, err
	}
	t, err := textOf(ctx, in, opt)
	if err != nil {
		in.Close()
		return nil, err
	}
	return t, nil
}

func textOf(ctx context.Context, in *packed, opt Options) (*textTable, error) {
	typed, err := typedOf(ctx, in, opt)
	if err != nil {
		return nil, err
	}
	if typed != nil {
		t := &textTable{texts: map[string]bool{}, close: in.Close}
		for _, f := range typed.fields() {
			t.names, t.texts[f.name] = append(t.names, f.name), f.text
		}
		t.each = func(ctx context.Context, row func([]string) error) error { return eachRow(ctx, typed, row) }
		if !opt.leavesOut() {
			return t, nil
		}
		src, err := newSource(ctx, in, opt.ofText())
		if err != nil {
			return nil, err
		}
		return t.without(src.Schema().Ignored), nil
	}
	src, err := newSource(ctx, in, opt.ofText())
	if err != nil {
		return nil, err
	}
	table, ok := src.(*table)
	if !ok {
		return numbersAsText(ctx, in, opt)
	}
	t := &textTable{names: table.names, close: in.Close}
	switch {
	case table.typed != nil: // an array with missing values
		t.each = func(ctx context.Context, row func([]string) error) error { return eachRow(ctx, table.typed, row) }
	case !table.arff && table.sep != ' ':
		if table.header != nil {
			t.names = table.header
		}
		t.each = csvCells(table.in, table, false, &t.names)
	default:
		t.each = lineCells(table.in, table)
	}
	return t.without(table.schema.Ignored), nil
}

// ofText are the options of a table whose columns are all alike.
func (o Options) ofText() Options {
	o.Label, o.LabelSeparator, o.Weight, o.Group, o.Missing = "none", "", "", "", "zero"
	return o
}

// leavesOut says whether there are columns that a table in another format shall not have.
func (o Options) leavesOut() bool { return o.Columns.Ignore != "" || o.Columns.Only != "" }

// without leaves out some columns.
func (t *textTable) without(columns []Place) *textTable {
	if len(columns) == 0 {
		return t
	}
	var kept []int
	fewer := &textTable{texts: t.texts, close: t.close}
	for j, name := range t.names {
		if !slices.ContainsFunc(columns, func(p Place) bool { return p.At == j }) {
			kept, fewer.names = append(kept, j), append(fewer.names, name)
		}
	}
	cells := make([]string, len(kept))
	fewer.each = func(ctx context.Context, row func([]string) error) error {
		return t.each(ctx, func(all []string) error {
			for i, j := range kept {
				cells[i] = all[j]
			}
			return row(cells)
		})
	}
	return fewer
}

// errEnough ends a pass early.
var errEnough = errors.New("enough")

// header reads the names of the columns.
func (t *textTable) header(ctx context.Context) error {
	err := t.each(ctx, func([]string) error { return errEnough })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// csvCells reads cells of the rows of a table, with names in its first line if header is set.
func csvCells(in input, t *table, header bool, names *[]string) func(ctx context.Context, row func([]string) error) error {
	return func(ctx context.Context, row func([]string) error) error {
		r, _, err := in.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		buffered := bufio.NewReaderSize(r, 1<<16)
		if mark, _ := buffered.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
			_, _ = buffered.Discard(3)
		}
		for range t.skip {
			if _, err := buffered.ReadBytes('\n'); err != nil && err != io.EOF {
				return err
			}
		}
		c := csv.NewReader(buffered)
		c.Comma, c.ReuseRecord, c.LazyQuotes, c.FieldsPerRecord = rune(t.sep), true, true, -1
		for n := 0; ; n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			cells, err := c.Read()
			if err == io.EOF {
				return nil
			} else if err != nil {
				var at *csv.ParseError
				if errors.As(err, &at) {
					return fmt.Errorf("%s:%d: %w", in.Name(), at.Line+t.skip, at.Err)
				}
				return err
			}
			if n == 0 && header {
				*names = slices.Clone(cells)
				continue
			}
			if width := len(*names); t.ends && len(cells) == width+1 && cells[width] == "" {
				cells = cells[:width]
			} else if len(cells) != width {
				line, _ := c.FieldPos(0)
				return fmt.Errorf("%s:%d: %s where there are %d names", in.Name(), line+t.skip, units.Plural(len(cells), "column"), width)
			}
			if err := row(cells); err != nil {
				return err
			}
		}
	}
}

// lineCells reads the lines of a table that is cut by blanks, or of ARFF.
func lineCells(in input, t *table) func(ctx context.Context, row func([]string) error) error {
	return func(ctx context.Context, row func([]string) error) error {
		r, _, err := in.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 1<<16), longestObject)
		c := cutter{sep: t.sep, arff: t.arff, trailing: t.ends}
		var cells [][]byte
		out := make([]string, len(t.names))
		for n := 1; lines.Scan(); n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			line := lines.Bytes()
			if n <= t.skip || isBlank(line, t.sep) || t.arff && bytes.HasPrefix(bytes.TrimSpace(line), []byte("%")) {
				continue
			}
			var err error
			if cells, err = c.all(line, false, cells[:0]); err != nil {
				return fmt.Errorf("%s:%d: %w", in.Name(), n, err)
			}
			if len(cells) != len(out) {
				return fmt.Errorf("%s:%d: %d values for %d columns", in.Name(), n, len(cells), len(out))
			}
			for j, cell := range cells {
				if out[j] = string(cell); missing(cell) {
					out[j] = ""
				}
			}
			if err := row(out); err != nil {
				return err
			}
		}
		return lines.Err()
	}
}

// numbersAsText are rows of numbers, with their labels last if they have some.
func numbersAsText(ctx context.Context, in *packed, opt Options) (*textTable, error) {
	opt.Label, opt.Missing = "", ""
	src, err := newSource(ctx, in, opt)
	if err != nil {
		return nil, err
	}
	if opt.LabelsFile != "" {
		if src, err = withLabelsFile(ctx, src, opt.LabelsFile, opt); err != nil {
			return nil, err
		}
	}
	t := &textTable{close: in.Close}
	dim, labels := src.Schema().Dim, 0
	for b, err := range Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		dim = max(dim, b.X.Dim())
		labels = max(labels, min(1, len(b.Names)+len(b.Y)))
	}
	for j := range dim {
		t.names = append(t.names, fmt.Sprint(j+src.Schema().Base))
	}
	if labels > 0 {
		t.names = append(t.names, "label")
	}
	t.each = func(ctx context.Context, row func([]string) error) error {
		cells := make([]string, len(t.names))
		var line []byte
		for b, err := range Each(ctx, src) {
			if err != nil {
				return err
			}
			for i := range b.X.Len() {
				for j := range dim {
					cells[j] = "0"
				}
				eachValue(b.X, i, func(col int32, v float32) {
					line = appendFloat32(line[:0], v)
					cells[col] = string(line)
				})
				switch {
				case labels == 0:
				case i < len(b.Names) && b.Names[i] != "":
					cells[dim] = b.Names[i]
				case i < len(b.Y):
					cells[dim] = string(appendFloat(line[:0], b.Y[i], 64))
				}
				if err := row(cells); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return t, nil
}
