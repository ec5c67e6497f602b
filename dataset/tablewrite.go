package dataset

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/read/parquet"
)

// tableWriter writes lines of cells to a file that appears whole or not at all.
type tableWriter interface {
	// typed says whether the format wants to know what the columns are.
	typed() bool
	begin(kinds []valueKind) error
	row(cells []string) error
	Commit() error
	Close() error
}

// createTable starts a file with the named columns.
func createTable(path, format string, names []string) (tableWriter, error) {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] && format != "csv" && format != "tsv" {
			return nil, fmt.Errorf("%s: two columns are named %q", path, name)
		}
		seen[name] = true
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	base := tableFile{file: file, w: bufio.NewWriterSize(file, 1<<16), names: names}
	switch format {
	case "csv", "tsv":
		w := &csvTable{tableFile: base, csv: csv.NewWriter(base.w)}
		if format == "tsv" {
			w.csv.Comma = '\t'
		}
		return w, nil
	case "jsonl":
		return &jsonLines{tableFile: base}, nil
	case "parquet":
		return &parquetFile{tableFile: base}, nil
	case "arrow", "arrows":
		return &arrowFile{tableFile: base, file: format == "arrow"}, nil
	}
	file.Close()
	panic(fmt.Sprintf("dataset: a table in the format %q", format))
}

// tableFile is what all have.
type tableFile struct {
	file  *atomicfile.File
	w     *bufio.Writer
	names []string
	kinds []valueKind
}

func (t *tableFile) typed() bool { return true }

func (t *tableFile) Commit() error {
	if err := t.w.Flush(); err != nil {
		return err
	}
	return t.file.Commit()
}

func (t *tableFile) Close() error { return t.file.Close() }

// absent says whether a cell has no value: an empty one, and in a column of numbers what else stands for a missing number.
func (t *tableFile) absent(j int, cell string) bool {
	return cell == "" || t.kinds[j] != kindText && absent([]byte(cell))
}

// csvTable writes text as it is.
type csvTable struct {
	tableFile
	csv *csv.Writer
}

func (t *csvTable) typed() bool { return false }

func (t *csvTable) begin([]valueKind) error { return t.csv.Write(t.names) }

func (t *csvTable) row(cells []string) error {
	if len(cells) == 1 && cells[0] == "" { // or the line would be empty, and no row
		t.csv.Flush()
		_, err := t.w.WriteString("\"\"\n")
		return err
	}
	return t.csv.Write(cells)
}

func (t *csvTable) Commit() error {
	if t.csv.Flush(); t.csv.Error() != nil {
		return t.csv.Error()
	}
	return t.tableFile.Commit()
}

// jsonLines writes an object for each row; missing values are null, and numbers as they were written where that is JSON.
type jsonLines struct {
	tableFile
	line []byte
	keys [][]byte
}

func (t *jsonLines) begin(kinds []valueKind) error {
	t.kinds = kinds
	for _, name := range t.names {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		t.keys = append(t.keys, append(key, ':'))
	}
	return nil
}

func (t *jsonLines) row(cells []string) error {
	t.line = append(t.line[:0], '{')
	for j, cell := range cells {
		if j > 0 {
			t.line = append(t.line, ',')
		}
		t.line = append(t.line, t.keys[j]...)
		switch {
		case t.absent(j, cell):
			t.line = append(t.line, "null"...)
		case t.kinds[j] == kindText:
			text, err := json.Marshal(cell)
			if err != nil {
				return err
			}
			t.line = append(t.line, text...)
		case json.Valid([]byte(cell)):
			t.line = append(t.line, cell...)
		default: // such as +1 or .5
			v, ok := parseNumber([]byte(cell))
			if !ok || v-v != 0 {
				return fmt.Errorf("column %q: %q is no number that JSON has", t.names[j], cell)
			}
			t.line = strconv.AppendFloat(t.line, v, 'g', -1, 64)
		}
	}
	_, err := t.w.Write(append(t.line, "}\n"...))
	return err
}

// typedOut writes the values of a file with types, row by row.
type typedOut interface {
	Missing() error
	Int(v int64) error
	Double(v float64) error
	Text(v string) error
	Close() error
}

// typedRow writes a row by the kinds of its columns.
func (t *tableFile) typedRow(out typedOut, cells []string) error {
	for j, cell := range cells {
		var err error
		switch {
		case t.absent(j, cell):
			err = out.Missing()
		case t.kinds[j] == kindInteger:
			n, wrong := strconv.ParseInt(cell, 10, 64)
			if wrong != nil {
				return fmt.Errorf("column %q: %q is no whole number any more", t.names[j], cell)
			}
			err = out.Int(n)
		case t.kinds[j] == kindNumber:
			n, ok := parseNumber([]byte(cell))
			if !ok {
				return fmt.Errorf("column %q: %q is no number any more", t.names[j], cell)
			}
			err = out.Double(n)
		default:
			err = out.Text(cell)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parquetFile writes INT64, DOUBLE and strings, all of which may be null, compressed by zstd.
type parquetFile struct {
	tableFile
	out *parquet.Writer
}

func (t *parquetFile) begin(kinds []valueKind) (err error) {
	t.kinds = kinds
	fields := make([]parquet.Field, len(kinds))
	for j, k := range kinds {
		fields[j] = parquet.Field{Name: t.names[j], Kind: parquet.Bytes}
		switch k {
		case kindInteger:
			fields[j].Kind = parquet.Int
		case kindNumber:
			fields[j].Kind = parquet.Double
		}
	}
	t.out, err = parquet.NewWriter(t.w, fields)
	return err
}

func (t *parquetFile) row(cells []string) error { return t.typedRow(t.out, cells) }

func (t *parquetFile) Commit() error {
	if err := t.out.Close(); err != nil {
		return err
	}
	return t.tableFile.Commit()
}
