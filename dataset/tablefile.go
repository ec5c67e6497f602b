package dataset

import (
	"context"
	"path/filepath"
	"strings"
)

// TableColumn is a column that a TableFile writes.
type TableColumn struct {
	Name string
	Kind string // KindText or KindNumber; "": whole numbers, numbers or text, by all its values
}

// TableFormat is a format of tables of ConvertFormats.
type TableFormat struct {
	Name string

	// Comma is what separates the cells of text, 0 in formats that are not such text.
	Comma rune

	// Objects says that rows are JSON objects, one a line.
	Objects bool
}

// TableFormatOf is the format that the name of a file implies; ok is false if that is none of a table.
func TableFormatOf(path string) (f TableFormat, ok bool) {
	f.Name, ok = convertEndings[strings.ToLower(filepath.Ext(path))]
	switch f.Name {
	case "csv":
		f.Comma = ','
	case "tsv":
		f.Comma = '\t'
	case "jsonl":
		f.Objects = true
	}
	return f, ok
}

// Typed says that the columns have types and are no text.
func (f TableFormat) Typed() bool { return f.Comma == 0 && !f.Objects }

// TableFile writes a table of text to a file in one of the formats of tables of ConvertFormats, which appears whole at Commit, or not at
// all. Until then its rows are in a temporary file. The caller must Close it.
type TableFile struct {
	out     tableWriter
	columns []TableColumn
	kinds   []valueKind
	rows    rowSpool
}

// CreateTable starts a file.
func CreateTable(path, format string, columns []TableColumn) (*TableFile, error) {
	names, texts := make([]string, len(columns)), make([]bool, len(columns))
	t := &TableFile{columns: columns, kinds: make([]valueKind, len(columns))}
	for i, c := range columns {
		names[i] = c.Name
		switch c.Kind {
		case KindText:
			t.kinds[i] = kindText
		case KindNumber:
			t.kinds[i] = kindNumber
		}
	}
	var err error
	if t.out, err = createTable(path, format, names); err != nil {
		return nil, err
	}
	t.rows = rowSpool{ctx: context.Background(), cellSpool: cellSpool{name: path}}
	if err := t.rows.Begin(names, texts); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Write appends a row; an empty cell has no value.
func (t *TableFile) Write(cells []string) error {
	for i, c := range cells {
		if t.columns[i].Kind == "" && t.kinds[i] != kindText {
			t.kinds[i] = max(t.kinds[i], kindOf(c))
		}
		t.rows.Text([]byte(c))
	}
	return t.rows.End()
}

// Commit completes the file and puts it in place.
func (t *TableFile) Commit() error {
	if err := t.rows.flush(); err != nil {
		return err
	}
	if err := t.out.begin(finalKinds(t.kinds)); err != nil {
		return err
	}
	if err := eachRow(context.Background(), &t.rows, t.out.row); err != nil {
		return err
	}
	return t.out.Commit()
}

// Close discards the file unless it was committed.
func (t *TableFile) Close() error {
	t.rows.Close()
	return t.out.Close()
}
