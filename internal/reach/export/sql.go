package export

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mercer/model"
)

// sqlAbout is a row of the table that says what the view is.
type sqlAbout struct{ key, value string }

// toSQL is the model as a script of a database: tables of weights, and a view that predicts the rows of a table. It fails for a
// model with a part that has no such form, and names it.
func toSQL(m *model.Model, o Options, d *dialect) (func(w io.Writer) error, error) {
	x, err := describe(m)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(append(slices.Concat(x.Classes, x.Labels, x.NA), o.View, o.Table), hasNUL) {
		return nil, fmt.Errorf("a name has a zero byte, which SQL cannot write")
	}
	q := &sqlModel{matrices: x, wide: wide{dialect: d, rows: quoted(o.Table)}, prefix: o.View, values: map[int][]part{}, square: map[string]int{}}
	if err := q.encode(); err != nil {
		return nil, err
	}
	if q.scale(); q.Metric != "none" {
		if q.dims, err = q.metric(q.dims, q.Metric, ""); err != nil {
			return nil, err
		}
	}
	scores, err := q.scores()
	if err != nil {
		return nil, err
	}
	view, err := q.view(o.View, o.Table, q.results(scores))
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(m.Info())
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(x.description)
	if err != nil {
		return nil, err
	}
	names, err := json.Marshal(append(slices.Clone(x.Classes), x.Labels...))
	if err != nil {
		return nil, err
	}
	about := []sqlAbout{{"classes", string(names)}, {"mercer", string(text)}, {"mercer.info", string(info)}}
	return func(w io.Writer) error { return q.script(w, view, o.View, about) }, nil
}

// script writes all statements, in one transaction.
func (q *sqlModel) script(w io.Writer, view, name string, about []sqlAbout) error {
	s := &statements{w: w}
	s.add("BEGIN")
	if q.name == "postgres" {
		s.add("SET LOCAL standard_conforming_strings = on")
	}
	for i := range q.tables {
		t := &q.tables[i]
		columns := []string{"k INTEGER PRIMARY KEY"}
		for _, c := range t.columns {
			columns = append(columns, c+" "+double+" NOT NULL")
		}
		s.add("CREATE TABLE " + quoted(t.name) + " (" + strings.Join(columns, ", ") + ")")
		s.insert(t)
		if q.name != "sqlite" {
			s.add("ANALYZE " + quoted(t.name))
		}
	}
	s.add("CREATE TABLE " + quoted(name+"_about") + " (key " + q.text + " PRIMARY KEY, value " + q.text + ")")
	for _, a := range about {
		s.add("INSERT INTO " + quoted(name+"_about") + " VALUES (" + literal(a.key) + ", " + literal(a.value) + ")")
	}
	s.add(view)
	s.add("COMMIT")
	return s.err
}

// statements writes statements, and keeps the first error.
type statements struct {
	w   io.Writer
	err error
}

func (s *statements) add(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text+";\n")
	}
}

// insert fills a table, a few hundred rows a statement.
func (s *statements) insert(t *sqlTable) {
	var b strings.Builder
	for i := range t.rows {
		if b.Len() == 0 {
			b.WriteString("INSERT INTO " + quoted(t.name) + " VALUES\n(")
		} else {
			b.WriteString(",\n(")
		}
		fmt.Fprint(&b, i)
		for c := range t.columns {
			b.WriteString(", " + digits(t.cell(i, c)))
		}
		if b.WriteByte(')'); b.Len() > 1<<18 || i+1 == t.rows {
			s.add(b.String())
			b.Reset()
		}
	}
}
