package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Tables are text with a row a line and cells separated by commas, semicolons, tabs or
// blanks, and ARFF's data section. A column is an input, a label, the weight, or ignored;
// an input is numeric, or categorical and becomes one dimension a value (one-hot).

// table is such a file.
type table struct {
	in     input
	opt    Options
	schema Schema
	sep    byte // ' ' stands for runs of blanks and tabs
	arff   bool
	skip   int      // lines before the data
	roles  []role   // one a column of the file
	sparse bool     // emit CSR
	names  []string // of the columns, for messages

	declared []string // ARFF: the first declared value of each column

	mu     sync.Mutex
	unseen map[int]*Unseen // by input column
}

// role is what a column of the file is for.
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
)

// Unseen tells of values of a categorical column that the model was not trained on.
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

// UnseenCategories tells which columns had values in the last pass that the model does not
// know. Such a value counts as none of the known ones: all its dimensions are 0.
func (t *table) UnseenCategories() []Unseen {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Unseen
	for _, i := range slices.Sorted(maps.Keys(t.unseen)) {
		list = append(list, *t.unseen[i])
	}
	return list
}

// newTable finds out the columns of a table. format is "csv", "tsv", "blank", "arff", or ""
// to find that out too. Unless a model's schema says what categories there are, a table with
// categorical columns or with mean-filled gaps is read once for them.
func newTable(ctx context.Context, in input, opt Options, format string) (Source, error) {
	t := &table{in: in, opt: opt}
	head := wholeLines(in.Head())
	if format == "arff" || format == "" && looksLikeARFF(head) {
		attributes, err := t.readARFFHeader(head)
		if err != nil {
			return nil, err
		}
		t.arff, t.sep = true, ','
		if err := t.sortDeclared(attributes); err != nil {
			return nil, err
		}
		return t, t.plan(ctx, attributes)
	}
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
	return t, t.plan(ctx, t.look(head))
}

// wholeLines drops a last line that the head cuts off.
func wholeLines(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if len(head) < headSize-3 {
		return head
	}
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		return head[:i+1]
	}
	return head
}

// separator picks the character among those of candidates that cuts most of the first lines
// into the same number of cells, more than one; the earlier one where two do as well.
func separator(head []byte, candidates string) byte {
	best, bestShare := candidates[0], 0.0
	if strings.IndexByte(candidates, ',') >= 0 {
		best = ','
	}
	var cells [][]byte
	var scratch []byte
	for i := range len(candidates) {
		counts := map[int]int{}
		lines := 0
		rest := head
		for len(rest) > 0 && lines < 100 {
			var line []byte
			line, rest, _ = record(rest, candidates[i] != ' ')
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			cells, scratch = split(line, candidates[i], cells[:0], scratch)
			counts[len(cells)]++
			lines++
		}
		for count, n := range counts {
			if share := float64(n) / float64(lines); count > 1 && share > bestShare+0.05 {
				best, bestShare = candidates[i], share
			}
		}
	}
	return best
}

// record cuts the first record off a text: up to a newline outside double quotes, if quoted.
// lines counts the newlines in it.
func record(text []byte, quoted bool) (line, rest []byte, lines int) {
	at := 0
	odd := false
	for {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return text, nil, lines + 1
		}
		i += at
		lines++
		if quoted && bytes.Count(text[at:i], []byte{'"'})%2 == 1 {
			odd = !odd
		}
		if !odd {
			return text[:i], text[i+1:], lines
		}
		at = i + 1
	}
}

// split cuts a record into cells without the blanks around them. Cells in double quotes are
// taken out of them, doubled quotes made single; such cells live in scratch.
func split(line []byte, sep byte, cells [][]byte, scratch []byte) ([][]byte, []byte) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if sep == ' ' {
		return append(cells, bytes.Fields(line)...), scratch
	}
	if bytes.IndexByte(line, '"') < 0 {
		start := 0
		for i, c := range line {
			if c == sep {
				cells = append(cells, trim(line[start:i]))
				start = i + 1
			}
		}
		return append(cells, trim(line[start:])), scratch
	}
	scratch = scratch[:0]
	if cap(scratch) < len(line) {
		scratch = make([]byte, 0, 2*len(line))
	}
	for i := 0; ; i++ {
		start := i
		for i < len(line) && (line[i] == ' ' || line[i] == '\t' && sep != '\t') {
			i++
		}
		if i < len(line) && line[i] == '"' {
			from := len(scratch)
			for i++; i < len(line); i++ {
				if line[i] == '"' {
					if i+1 < len(line) && line[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				scratch = append(scratch, line[i])
			}
			cells = append(cells, scratch[from:len(scratch):len(scratch)])
			for i < len(line) && line[i] != sep {
				i++
			}
		} else {
			for i < len(line) && line[i] != sep {
				i++
			}
			cells = append(cells, trim(line[start:i]))
		}
		if i >= len(line) {
			return cells, scratch
		}
	}
}

// trim removes blanks on both sides.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// missing says whether a cell stands for a missing value.
func missing(cell []byte) bool {
	if len(cell) > 4 {
		return false
	}
	switch lower(cell) {
	case "", "?", "na", "n/a", "nan", "null", "none", "-nan":
		return true
	}
	return false
}

// attribute is what is known of a column before its role is.
type attribute struct {
	name       string
	text       bool     // most of its values are no numbers
	categories []string // declared, or nil
}

// look tells the columns of a table from its head: names, and which hold text.
func (t *table) look(head []byte) []attribute {
	const most = 2000
	var rows [][]string
	line := 0
	first := 0 // line of the first row
	for rest := head; len(rest) > 0 && len(rows) < most; {
		var text []byte
		var n int
		text, rest, n = record(rest, t.sep != ' ')
		line += n
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if len(rows) == 0 {
			first = line
		}
		cells, _ := split(text, t.sep, nil, nil)
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	isText := func(rows [][]string, j int) bool {
		texts, known := 0, 0
		for _, row := range rows {
			if j >= len(row) || missing([]byte(row[j])) {
				continue
			}
			known++
			if _, ok := parseNumber([]byte(row[j])); !ok && !notFinite([]byte(row[j])) {
				texts++
			}
		}
		return known > 0 && 2*texts > known
	}
	header := t.opt.Header == "yes" || t.opt.Header != "no" && hasHeader(rows, isText)
	columns := make([]attribute, len(rows[0]))
	if header {
		t.schema.Header = true
		t.skip = first
		rows = rows[1:]
	}
	for j := range columns {
		columns[j].name = strconv.Itoa(j)
		if header {
			columns[j].name = t.headerName(head, j)
		}
		columns[j].text = isText(rows, j)
	}
	return columns
}

// headerName is cell j of the first line.
func (t *table) headerName(head []byte, j int) string {
	for rest := head; len(rest) > 0; {
		var text []byte
		text, rest, _ = record(rest, t.sep != ' ')
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		cells, _ := split(text, t.sep, nil, nil)
		if name := string(cells[j]); name != "" {
			return name
		}
		break
	}
	return strconv.Itoa(j)
}

// hasHeader says whether the first row holds names: a text above a column of numbers, or
// only texts, all different, that never occur again in their columns.
func hasHeader(rows [][]string, isText func([][]string, int) bool) bool {
	if len(rows) < 2 {
		return false
	}
	seen := map[string]bool{}
	for j, cell := range rows[0] {
		if _, ok := parseNumber([]byte(cell)); ok {
			return false
		}
		if cell != "" && !missing([]byte(cell)) && !notFinite([]byte(cell)) && !isText(rows[1:], j) {
			for _, row := range rows[1:] {
				if j < len(row) && !missing([]byte(row[j])) {
					return true
				}
			}
		}
		if cell == "" || seen[cell] {
			return false
		}
		seen[cell] = true
	}
	for _, row := range rows[1:] {
		for j, cell := range row {
			if j < len(rows[0]) && cell == rows[0][j] {
				return false
			}
		}
	}
	return true
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
		t.schema.Format, t.schema.Header = "arff", true
	}
	if err := t.assignLabels(); err != nil {
		return err
	}
	if t.opt.Schema != nil {
		return t.follow(t.opt.Schema)
	}
	collect := t.opt.Missing == "mean"
	for i, c := range columns {
		if t.roles[i].kind == label || t.roles[i].kind == weight {
			continue
		}
		column := Column{Place: Place{Name: c.name, At: i}}
		t.roles[i].kind, t.roles[i].input = numeric, len(t.schema.Columns)
		if c.text || c.categories != nil {
			t.roles[i].kind = categorical
			column.Categories = c.categories
			collect = collect || c.categories == nil
		}
		t.schema.Columns = append(t.schema.Columns, column)
	}
	if len(t.schema.Columns) == 0 {
		return fmt.Errorf("%s: there is one column only, so no inputs are left beside the label (is the separator one of , ; tab blank?)", t.Name())
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

// assignLabels gives the columns that the options name the roles of labels and weight.
func (t *table) assignLabels() error {
	switch {
	case t.opt.Label == "none" || t.opt.Label == "" && t.opt.LabelsFile != "":
	case t.opt.Label != "":
		places, err := t.find("label", t.opt.Label)
		if err != nil {
			return err
		}
		for i, p := range places {
			t.roles[p.At] = role{kind: label, at: i}
		}
		t.schema.Labels = places
	case t.opt.Schema == nil:
		last := len(t.roles) - 1
		if t.opt.Weight != "" {
			w, err := t.find("weight", t.opt.Weight)
			if err != nil {
				return err
			}
			if len(w) == 1 && w[0].At == last {
				last--
			}
		}
		if last < 0 {
			return fmt.Errorf("%s: no column is left for the label", t.Name())
		}
		t.roles[last] = role{kind: label}
		t.schema.Labels = []Place{{t.names[last], last}}
	}
	if t.opt.Weight == "" {
		return nil
	}
	places, err := t.find("weight", t.opt.Weight)
	if err != nil {
		return err
	}
	if len(places) != 1 {
		return fmt.Errorf("%s: --weight %q names %d columns; one is possible", t.Name(), t.opt.Weight, len(places))
	}
	if t.roles[places[0].At].kind == label {
		return fmt.Errorf("%s: column %q is the label and the weight; name another --weight or --label", t.Name(), places[0].Name)
	}
	t.roles[places[0].At] = role{kind: weight}
	t.schema.Weight = &places[0]
	return nil
}

// find looks up columns by name or by position, several separated by commas.
func (t *table) find(flag, spec string) ([]Place, error) {
	if i := slices.Index(t.names, spec); i >= 0 && t.schema.Header {
		return []Place{{spec, i}}, nil
	}
	var places []Place
	for _, part := range strings.Split(spec, ",") {
		part = strings.TrimSpace(part)
		i := -1
		if t.schema.Header {
			i = slices.Index(t.names, part)
		}
		if i < 0 {
			v, err := strconv.Atoi(part)
			if err != nil {
				return nil, fmt.Errorf("%s: there is no column %q for --%s; %s", t.Name(), part, flag, t.listColumns())
			}
			if v < 0 {
				v += len(t.names)
			}
			if v < 0 || v >= len(t.names) {
				return nil, fmt.Errorf("%s: there is no column %s for --%s; %s", t.Name(), part, flag, t.listColumns())
			}
			i = v
		}
		for _, p := range places {
			if p.At == i {
				return nil, fmt.Errorf("%s: --%s names column %q twice", t.Name(), flag, t.names[i])
			}
		}
		places = append(places, Place{t.names[i], i})
	}
	return places, nil
}

// listColumns says what columns there are.
func (t *table) listColumns() string {
	if !t.schema.Header {
		return fmt.Sprintf("the columns are 0 to %d and have no names", len(t.names)-1)
	}
	shown := t.names
	more := ""
	if len(shown) > 12 {
		shown, more = shown[:12], fmt.Sprintf(" and %d more", len(t.names)-12)
	}
	return "the columns are " + strings.Join(shown, ", ") + more
}

// follow gives columns the roles that they had in training.
func (t *table) follow(m *Schema) error {
	inputs := m.Columns
	if inputs == nil {
		// Trained on rows without columns: as many numbers as dimensions.
		for j := range m.Dim {
			inputs = append(inputs, Column{Place: Place{strconv.Itoa(j), j}})
		}
	}
	t.schema.Columns, t.schema.Missing = inputs, m.Missing
	if t.opt.Missing != "" && t.opt.Missing != "error" {
		t.schema.Missing = t.opt.Missing
	}
	set := func(file, in int) {
		t.roles[file] = role{kind: numeric, input: in}
		if inputs[in].Categories != nil {
			t.roles[file].kind = categorical
		}
	}
	if m.Header && t.schema.Header {
		for i, c := range inputs {
			file := slices.Index(t.names, c.Name)
			if file < 0 {
				return fmt.Errorf("%s: there is no column %q, which the model was trained on; %s", t.Name(), c.Name, t.listColumns())
			}
			if t.roles[file].kind == label || t.roles[file].kind == weight {
				return fmt.Errorf("%s: column %q was an input when the model was trained; it cannot be the label or weight", t.Name(), c.Name)
			}
			set(file, i)
		}
		if t.opt.Label == "" && t.opt.LabelsFile == "" {
			var places []Place
			for _, l := range m.Labels {
				if file := slices.Index(t.names, l.Name); file >= 0 {
					places = append(places, Place{l.Name, file})
				}
			}
			t.labelAt(places, m)
		}
		t.layOut()
		return nil
	}
	// By position.
	var free []int
	taken := 0
	for i := range t.roles {
		if t.roles[i].kind == ignored {
			free = append(free, i)
		} else {
			taken++
		}
	}
	if t.opt.Label == "" && t.opt.LabelsFile == "" && len(free) > len(inputs) {
		var places []Place
		switch {
		case m.Columns != nil && len(t.roles) == m.Width:
			places = m.Labels
			if m.Weight != nil && t.opt.Weight == "" {
				free = slices.DeleteFunc(free, func(i int) bool { return i == m.Weight.At })
			}
		case len(free) == len(inputs)+1:
			places = []Place{{t.names[free[len(free)-1]], free[len(free)-1]}}
		}
		t.labelAt(places, m)
		free = slices.DeleteFunc(free, func(i int) bool { return t.roles[i].kind == label })
	}
	if len(free) != len(inputs) {
		return fmt.Errorf("%s: %d columns are there as inputs (%d in all), but the model was trained on %d; check --label and the file", t.Name(), len(free), len(t.roles), len(inputs))
	}
	for i, file := range free {
		set(file, i)
	}
	t.layOut()
	return nil
}

// labelAt makes columns the labels, if they are all that the model has.
func (t *table) labelAt(places []Place, m *Schema) {
	if len(places) == 0 || m.Columns != nil && len(places) != len(m.Labels) {
		return
	}
	for i, p := range places {
		t.roles[p.At] = role{kind: label, at: i}
	}
	t.schema.Labels = places
}

// collect reads the whole table for the categories and the means of its columns.
func (t *table) collect(ctx context.Context) error {
	seen := make([]map[string]bool, len(t.schema.Columns))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	r, err := t.read(ctx, seen)
	if err != nil {
		return err
	}
	defer r.Close()
	sums, counts := make([]float64, len(seen)), make([]float64, len(seen))
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
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
	for i := range t.roles {
		r := &t.roles[i]
		switch c := &t.schema.Columns[min(r.input, len(seen)-1)]; {
		case r.kind == categorical && c.Categories == nil:
			c.Categories = slices.Sorted(maps.Keys(seen[r.input]))
			if len(c.Categories) == 0 {
				c.Categories = []string{""}
			}
		case r.kind == numeric && counts[r.input] > 0:
			c.Mean = sums[r.input] / counts[r.input]
		}
	}
	return nil
}

func (t *table) Open(ctx context.Context) (Reader, error) {
	t.mu.Lock()
	t.unseen = map[int]*Unseen{}
	t.mu.Unlock()
	return t.read(ctx, nil)
}

// read starts a pass; with seen it is one that collects.
func (t *table) read(ctx context.Context, seen []map[string]bool) (*textReader, error) {
	return readText(ctx, t.in, textFormat{
		name: t.Name(), batch: t.opt.BatchRows, skipLines: t.skip,
		quoted: t.sep != ' ' && !t.arff,
		newParser: func() parser {
			p := &tableParser{table: t, interned: map[string]string{}, seen: seen}
			for range seen {
				p.mine = append(p.mine, map[string]bool{})
			}
			return p
		},
	})
}

// tableParser parses blocks of a table.
type tableParser struct {
	*table
	interned map[string]string
	cells    [][]byte
	scratch  []byte
	pairs    []pair
	seen     []map[string]bool // while collecting: shared by all parsers, under mu
	mine     []map[string]bool // what this parser has put there
	unknown  map[int]*Unseen
}

// pair is a value of a sparse row.
type pair struct {
	at int32
	v  float32
}

func (p *tableParser) parse(text []byte, line int, rows *rowBuffer) error {
	rows.Outputs = len(p.schema.Labels)
	if p.seen != nil {
		rows.Outputs = 0
		rows.dense.Cols = len(p.schema.Columns)
		rows.dense.Stride = rows.dense.Cols
	} else if p.sparse {
		rows.csr.Cols = p.schema.Dim
	} else {
		rows.dense.Cols, rows.dense.Stride = p.schema.Dim, p.schema.Dim
	}
	p.unknown = map[int]*Unseen{}
	for len(text) > 0 {
		row, rest, lines := record(text, p.sep != ' ' && !p.arff)
		if err := p.row(row, rows); err != nil {
			return fmt.Errorf("%s:%d: %w", p.Name(), line, err)
		}
		text, line = rest, line+lines
	}
	if len(p.unknown) > 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i, u := range p.unknown {
			if p.table.unseen[i] == nil {
				p.table.unseen[i] = u
			} else {
				known := p.table.unseen[i]
				known.Rows += u.Rows
				known.Value = min(known.Value, u.Value)
			}
		}
	}
	return nil
}

// row parses one record.
func (p *tableParser) row(line []byte, rows *rowBuffer) error {
	if p.arff {
		if done, err := p.arffRow(line); done || err != nil {
			return err
		}
	} else {
		if blank(line) {
			return nil
		}
		p.cells, p.scratch = split(line, p.sep, p.cells[:0], p.scratch)
	}
	if len(p.cells) != len(p.roles) {
		return fmt.Errorf("%d columns where the first line has %d", len(p.cells), len(p.roles))
	}
	if p.seen != nil {
		return p.collectRow(rows)
	}
	var dense []float32
	targets := len(rows.Y)
	for range rows.Outputs {
		rows.Y = append(rows.Y, 0)
	}
	if !p.sparse {
		from := len(rows.dense.Data)
		rows.dense.Data = slices.Grow(rows.dense.Data, p.schema.Dim)[:from+p.schema.Dim]
		dense = rows.dense.Data[from:]
		clear(dense)
	}
	p.pairs = p.pairs[:0]
	name := ""
	for i, cell := range p.cells {
		r := &p.roles[i]
		at, v := int32(r.at), float32(0)
		switch r.kind {
		case ignored:
			continue
		case label:
			y, text, err := p.label(i, cell, rows.Outputs)
			if err != nil {
				return p.undo(rows, targets, err)
			}
			rows.Y[targets+r.at] = y
			name = text
			continue
		case weight:
			w, ok := parseNumber(cell)
			if !ok || w < 0 || math.IsInf(w, 0) {
				return p.undo(rows, targets, fmt.Errorf("%s: %q is not a weight, a number from 0 on", p.column(i), shorten(cell)))
			}
			rows.Weights = append(rows.Weights, w)
			continue
		case numeric:
			x, err := p.number(i, cell)
			if err != nil {
				return p.undo(rows, targets, err)
			}
			v = float32(x)
		case categorical:
			code, known := r.codes[string(cell)]
			if !known {
				if !p.arff || !missing(cell) {
					p.note(r.input, cell)
				}
				continue
			}
			at, v = at+code, 1
		}
		if dense != nil {
			dense[at] = v
		} else if v != 0 {
			p.pairs = append(p.pairs, pair{at, v})
		}
	}
	n := 0
	if dense != nil {
		rows.dense.Rows++
		n = rows.dense.Rows
	} else {
		// Columns may stand in another order than in training.
		slices.SortFunc(p.pairs, func(a, b pair) int { return cmp.Compare(a.at, b.at) })
		for _, q := range p.pairs {
			rows.csr.Idx, rows.csr.Val = append(rows.csr.Idx, q.at), append(rows.csr.Val, q.v)
		}
		rows.csr.Rows++
		rows.csr.Ptr = append(rows.csr.Ptr, len(rows.csr.Idx))
		n = rows.csr.Rows
	}
	rows.addName(name, n)
	return nil
}

// undo takes back what a bad row has added already.
func (p *tableParser) undo(rows *rowBuffer, targets int, err error) error {
	rows.Y = rows.Y[:targets]
	n := rows.csr.Rows
	if !p.sparse {
		n = rows.dense.Rows
		rows.dense.Data = rows.dense.Data[:n*p.schema.Dim]
	}
	rows.Weights = rows.Weights[:min(n, len(rows.Weights))]
	return err
}

// collectRow is row for a pass that collects: numbers or NaN where they are missing.
func (p *tableParser) collectRow(rows *rowBuffer) error {
	from := len(rows.dense.Data)
	for range rows.dense.Cols {
		rows.dense.Data = append(rows.dense.Data, float32(math.NaN()))
	}
	for i, cell := range p.cells {
		switch r := &p.roles[i]; r.kind {
		case numeric:
			if p.opt.Missing == "mean" && !missing(cell) {
				v, err := p.number(i, cell)
				if err != nil {
					rows.dense.Data = rows.dense.Data[:from]
					return err
				}
				rows.dense.Data[from+r.input] = float32(v)
			}
		case categorical:
			if p.mine[r.input][string(cell)] {
				continue
			}
			value := string(cell)
			p.mine[r.input][value] = true
			p.mu.Lock()
			p.seen[r.input][value] = true
			n := len(p.seen[r.input])
			p.mu.Unlock()
			if n > maxCategories {
				rows.dense.Data = rows.dense.Data[:from]
				return fmt.Errorf("%s: more than %d different texts; leave the column out", p.column(i), maxCategories)
			}
		}
	}
	rows.dense.Rows++
	return nil
}

// column names a column in a message.
func (t *table) column(i int) string {
	if t.schema.Header {
		return fmt.Sprintf("column %q", t.names[i])
	}
	return "column " + t.names[i]
}

// number is the value of a numeric cell.
func (p *tableParser) number(i int, cell []byte) (float64, error) {
	v, ok := parseNumber(cell)
	switch {
	case ok && v <= maxValue && v >= -maxValue:
		return v, nil
	case ok:
		return 0, fmt.Errorf("%s: %s is larger than float32 holds (3.4e38)", p.column(i), shorten(cell))
	case missing(cell):
		switch p.schema.Missing {
		case "mean":
			return p.schema.Columns[p.roles[i].input].Mean, nil
		case "zero":
			return 0, nil
		}
		return 0, fmt.Errorf("%s: %q is not a number (a missing value? --missing mean or --missing zero fills it in)", p.column(i), cell)
	case notFinite(cell):
		return 0, fmt.Errorf("%s: %s is not a finite number", p.column(i), cell)
	}
	return 0, fmt.Errorf("%s: %q is not a number", p.column(i), shorten(cell))
}

// label is the label in a cell: a number, or NaN and a text where one is allowed.
func (p *tableParser) label(i int, cell []byte, outputs int) (float64, string, error) {
	if v, ok := parseNumber(cell); ok {
		if math.IsInf(v, 0) {
			return 0, "", fmt.Errorf("%s: the label %s is too large", p.column(i), shorten(cell))
		}
		return v, "", nil
	}
	if missing(cell) || notFinite(cell) {
		return 0, "", fmt.Errorf("%s: the label %q is missing; remove the row or give it a label", p.column(i), cell)
	}
	if outputs > 1 {
		return 0, "", fmt.Errorf("%s: the label %q is not a number; with several outputs all must be", p.column(i), shorten(cell))
	}
	return math.NaN(), intern(p.interned, cell), nil
}

// note counts a value that the model does not know.
func (p *tableParser) note(input int, cell []byte) {
	u := p.unknown[input]
	if u == nil {
		u = &Unseen{Column: p.schema.Columns[input].Name, Value: string(cell)}
		p.unknown[input] = u
	}
	u.Rows++
}

// blank says whether a line holds nothing.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
