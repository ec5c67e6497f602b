package dataset

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"mercer/internal/option"
	"mercer/internal/units"
)

// Tables are text with one row per line and cells separated by commas, semicolons,
// tabs or blanks, and ARFF's data section. A column is an input, a label, the weight, or
// ignored; an input is numeric, or categorical with one dimension per value (one-hot). Cells
// that stand for a missing value (empty, ?, NA, N/A, NaN, null, none) are a value like any
// other in a categorical column; elsewhere they are errors, or filled in according to
// Options.Missing.

// table is such a file.
type table struct {
	in     input
	opt    Options
	schema Schema
	sep    byte // ' ' stands for runs of blanks and tabs
	arff   bool
	skip   int      // lines before the data
	roles  []role   // one per column of the file
	sparse bool     // emit CSR
	names  []string // of the columns, for messages

	declared [][]byte // ARFF: the value of a column that a sparse row omits

	mu     sync.Mutex
	unseen map[int]*Unseen // by input column
}

// role is the use of a column of the file.
type role struct {
	kind  kind
	input int // number of the input column
	at    int // first dimension of an input; number of the target of a label
	codes map[string]int32
}

type kind uint8

const (
	ignored kind = iota
	numeric
	categorical
	label
	weight
	group
)

// Unseen describes values of a categorical column that the model was not trained on.
type Unseen struct {
	Column string // the column's name
	Value  string // one of the values
	Rows   int    // how many rows have such a value
}

// A table whose one-hot coding makes it wider than this comes as sparse rows.
const wideTable = 512

// maxCategories bounds the values of a categorical column.
const maxCategories = 1_000_000

func (t *table) Name() string    { return t.in.Name() }
func (t *table) Schema() *Schema { return &t.schema }

// UnseenCategories lists the columns that had values in the last pass that the model does not
// know. Such a value counts as none of the known ones: all dimensions of the column are 0.
func (t *table) UnseenCategories() []Unseen {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Unseen
	for _, i := range slices.Sorted(maps.Keys(t.unseen)) {
		list = append(list, *t.unseen[i])
	}
	return list
}

// newTable determines the columns of a table. format is "csv", "tsv", "blank",
// "arff", or "" to detect it. Unless a model's schema gives the categories, a table with
// categorical columns or mean-filled gaps is read once for them.
func newTable(ctx context.Context, in input, opt Options, format string) (Source, error) {
	t := &table{in: in, opt: opt}
	head, err := wholeLines(in)
	if err != nil {
		return nil, err
	}
	var columns []attribute
	if format == "arff" || format == "" && looksLikeARFF(head) {
		t.arff, t.sep = true, ','
		columns, err = t.readARFFHeader(head)
	} else {
		switch format {
		case "csv":
			t.sep = separator(head, ",;")
		case "tsv":
			t.sep = '\t'
		case "blank":
			t.sep = ' '
		default:
			t.sep = separator(head, "\t;, ")
		}
		columns, err = t.look(head)
	}
	if err != nil {
		return nil, err
	}
	if err := t.plan(ctx, columns); err != nil {
		return nil, err
	}
	return t, nil
}

// wholeLines is the head of a file without a byte order mark and without an incomplete
// last line.
func wholeLines(in input) ([]byte, error) {
	head := in.Head()
	whole := len(head) < headSize
	head = bytes.TrimPrefix(head, byteOrderMark)
	if whole {
		return head, nil
	}
	i := bytes.LastIndexByte(head, '\n')
	if i < 0 {
		return nil, atLine(in.Name(), 1,
			fmt.Errorf("the line is longer than %s, too long for a table; NPY and LIBSVM files may have rows so wide", units.Bytes(headSize)))
	}
	return head[:i+1], nil
}

// plan gives each column its role and completes the schema.
func (t *table) plan(ctx context.Context, columns []attribute) error {
	if len(columns) == 0 {
		return fmt.Errorf("%s: has no rows", t.Name())
	}
	t.roles = make([]role, len(columns))
	for i := range columns {
		t.names = append(t.names, columns[i].name)
	}
	t.schema.Format, t.schema.Width, t.schema.Missing = "csv", len(columns), t.opt.Missing
	if t.arff {
		t.schema.Format = "arff"
	}
	if err := t.assignLabels(); err != nil {
		return err
	}
	if t.opt.Schema != nil {
		if err := t.follow(t.opt.Schema); err != nil {
			return err
		}
		for i, c := range columns {
			if c.text && t.roles[i].kind == numeric {
				it := "the model"
				if t.opt.like != "" {
					it = "it"
				}
				return fmt.Errorf("%s: %s holds text where %s numbers; %s has %s, the file %s",
					t.Name(), t.column(i), t.opt.trainedOn(), it, t.opt.Schema.countInputs(len(t.schema.Columns)), units.Plural(len(columns), "column"))
			}
		}
		t.layOut()
		return nil
	}
	collect := t.opt.Missing == "mean"
	for i, c := range columns {
		if t.roles[i].kind != ignored {
			continue // a label, the weight or the group
		}
		column := Column{Place: Place{Name: c.name, At: i}}
		t.roles[i].kind, t.roles[i].input = numeric, len(t.schema.Columns)
		if c.text || c.categories != nil {
			t.roles[i].kind = categorical
			column.Categories = c.categories
			collect = true
		}
		t.schema.Columns = append(t.schema.Columns, column)
	}
	if len(t.schema.Columns) == 0 {
		return fmt.Errorf("%s: no column is left as input beside labels and weights (%d in all; is the separator one of , ; tab blank?)",
			t.Name(), len(columns))
	}
	if collect && streamed(t.in) {
		return option.Errorf("%s: columns of text, or %s, need a look at all rows before the first is learned; leave out %s", t.Name(),
			option.Set("missing", "mean"), option.Ref("survey_rows"))
	}
	if collect {
		if err := t.collect(ctx); err != nil {
			return err
		}
	}
	t.layOut()
	return nil
}

// layOut assigns dimensions to the input columns and codes to their categories.
func (t *table) layOut() {
	starts := make([]int, len(t.schema.Columns))
	at, oneHot := 0, false
	for i := range t.schema.Columns {
		starts[i] = at
		at += t.schema.Columns[i].Width()
		oneHot = oneHot || t.schema.Columns[i].Categories != nil
	}
	t.schema.Dim = at
	t.sparse = oneHot && at > wideTable
	for i := range t.roles {
		r := &t.roles[i]
		if r.kind != numeric && r.kind != categorical {
			continue
		}
		r.at = starts[r.input]
		if r.kind == categorical {
			r.codes = map[string]int32{}
			for code, value := range t.schema.Columns[r.input].Categories {
				r.codes[value] = int32(code)
			}
		}
	}
}

// collect reads the whole table to find the categories and the means of its columns.
// The means are of the values as float32.
func (t *table) collect(ctx context.Context) error {
	c := newCollection(t)
	r, err := t.read(ctx, c)
	if err != nil {
		return err
	}
	defer r.Close()
	sums, counts := make([]float64, len(t.schema.Columns)), make([]float64, len(t.schema.Columns))
	for b, err := range restOf(r) {
		if err != nil {
			return err
		}
		for i := range b.X.Len() {
			for j, v := range b.X.Dense.Row(i) {
				if v == v {
					sums[j] += float64(v)
					counts[j]++
				}
			}
		}
	}
	for _, r := range t.roles {
		switch {
		case r.kind == categorical:
			t.schema.Columns[r.input].Categories = slices.Sorted(maps.Keys(c.values[r.input]))
		case r.kind == numeric && counts[r.input] > 0:
			t.schema.Columns[r.input].Mean = sums[r.input] / counts[r.input]
		}
	}
	return nil
}

// collection gathers the values of categorical columns from several parsers.
type collection struct {
	mu       sync.Mutex
	values   []map[string]bool // by input column
	declared []bool            // the column takes no other values, except missing ones
}

func newCollection(t *table) *collection {
	c := &collection{}
	for _, column := range t.schema.Columns {
		values := map[string]bool{}
		for _, v := range column.Categories {
			values[v] = true
		}
		c.values = append(c.values, values)
		c.declared = append(c.declared, column.Categories != nil)
	}
	return c
}

// add puts a value into a column.
func (c *collection) add(input int, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	values := c.values[input]
	if c.declared[input] && !values[value] && !missing([]byte(value)) {
		return fmt.Errorf("%q is not among the declared values", shorten([]byte(value)))
	}
	if values[value] = true; len(values) > maxCategories {
		return fmt.Errorf("more than %d different texts are too many categories; leave the column out", maxCategories)
	}
	return nil
}

func (t *table) Open(ctx context.Context) (Reader, error) {
	t.mu.Lock()
	t.unseen = map[int]*Unseen{}
	t.mu.Unlock()
	return t.read(ctx, nil)
}

// read starts a pass; if c is not nil, the pass collects.
func (t *table) read(ctx context.Context, c *collection) (*textReader, error) {
	return readText(ctx, t.in, textFormat{
		name: t.Name(), batch: t.opt.BatchRows, skipLines: t.skip, quoted: !t.arff,
		newParser: func() parser { return t.newParser(c) },
	})
}
