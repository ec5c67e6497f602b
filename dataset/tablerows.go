package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// tableParser parses blocks of a table.
type tableParser struct {
	*table
	cut      cutter
	given    [][]byte // the cells of a sparse ARFF row; nil: they are yet to be cut
	interned map[string]string
	unknown  map[unseenKey]*Unseen
	key      string // the bag of the previous row
	line     int    // of the row, 0: unknown
	decimal  byte   // of columns of plain numbers

	pairs     []pair
	meant     []pair
	sparseRow [][]byte

	typedCells

	labels []int    // columns that say whether a row is left out
	second cutter   // of cells that are kept, or say so
	again  [][]byte // these cells

	coders []coder // by input column, nil for those that have no coding
	values []pair  // of a coded cell

	collecting
}

// typedCells are what a parser takes from a table whose cells have types.
type typedCells struct {
	typedCell cell
	text      []byte          // of a cell
	byRow     []int           // columns whose cells are taken row by row
	floats    []measuredFloat // by a hash
}

// collecting is what a parser collects of each column, in a pass that does.
type collecting struct {
	collector *collector       // nil: the pass does not collect
	met       []map[string]int // the texts that this parser met, by their number
	measures  []coder
	counts    [][]int64 // of documents
	texts     []*textCoder
	gaps      [][]float64    // numbers that stand for a missing value
	marked    map[string]int // rows of classes that are written like a missing value
	bounds    []boundCount   // among numbers
	signs     []boundCount   // other than those of most numbers
}

// pair is a value of a sparse row.
type pair struct {
	at int32
	v  float32
}

func sortPairs(pairs []pair) {
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.at, b.at) })
}

func (t *table) newParser(c *collector) *tableParser {
	p := &tableParser{table: t, cut: cutter{sep: t.sep, arff: t.arff, trailing: t.ends}, interned: map[string]string{},
		decimal: t.schema.decimal(), collecting: collecting{collector: c}}
	p.second = cutter{sep: t.sep, arff: t.arff, trailing: t.ends}
	if t.opt.DropUnlabelled {
		p.labels = t.labelCells()
	}
	if c != nil {
		p.beginCollecting()
		return p
	}
	p.coders = make([]coder, len(t.schema.Columns))
	for i := range t.schema.Columns {
		if t.schema.Columns[i].Coding != nil {
			p.coders[i] = newCoder(&t.schema.Columns[i])
			if n, isNumber := p.coders[i].(*numberCoder); isNumber {
				n.foreign = t.opt.Schema != nil
			}
		}
	}
	return p
}

func (p *tableParser) parse(text []byte, line int, rows *rowBuffer) error {
	switch {
	case p.collector != nil:
		rows.shape(len(p.attributes), 0, false)
		defer p.endCollecting()
	default:
		rows.shape(len(p.schema.Labels), p.schema.Dim, p.sparse)
	}
	p.unknown = nil
	quoted := !p.arff && bytes.IndexByte(text, '"') >= 0
	for len(text) > 0 {
		row, rest, lines := record(text, quoted)
		if err := p.row(row, line, lines > 1, rows); err != nil {
			p.adviseOfLine(row, lines > 1, err)
			return p.atLine(line, err)
		}
		text, line = rest, line+lines
	}
	p.noteUnseen()
	return nil
}

// adviseOfLine adds to the error of a cell that is no number that its line has no label either: such are totals, units and footnotes.
func (p *tableParser) adviseOfLine(line []byte, spans bool, err error) {
	var cell *RowError
	if !errors.As(err, &cell) || !errors.Is(cell.Err, errNoNumber) || len(p.schema.Labels) != 1 {
		return
	}
	at := p.schema.Labels[0].At
	cells, err := (&cutter{sep: p.sep, arff: p.cut.arff, trailing: p.cut.trailing}).all(line, spans, nil)
	if err == nil && at < len(cells) && p.unlabelledCell(at, cells[at]) {
		cell.Err = option.Errorf("%w; the line has no label either: remove it if it is none of the rows, or leave out all such with %s", cell.Err,
			option.Ref("drop_unlabelled"))
	}
}

// errNoNumber is a text in a column of numbers.
var errNoNumber = errors.New("is not a number")

// begin takes the cells of a sparse row of ARFF; some is false where there is no row at all.
func (p *tableParser) begin(line []byte) (some bool, err error) {
	if isBlank(line, p.sep) || p.arff && line[0] == '%' {
		return false, nil
	}
	p.given = nil
	if p.arff && bytes.HasPrefix(trim(line), openBrace) {
		p.given, err = p.sparseCells(line)
	}
	return true, err
}

// row parses one record, which starts at a line of the file.
func (p *tableParser) row(line []byte, number int, spans bool, rows *rowBuffer) error {
	if some, err := p.begin(line); err != nil || !some || p.unlabelled(line, spans) {
		return err
	}
	p.cut.start(line, spans)
	if p.line = number; p.collector != nil {
		return p.collectRow(rows)
	}
	targets := len(rows.Y)
	for range rows.Outputs {
		rows.Y = append(rows.Y, 0)
	}
	var out, dense []float32 // the row, and where cells are written to, if that is not p.pairs
	if !p.sparse {
		from := len(rows.dense.Data)
		rows.dense.Data = slices.Grow(rows.dense.Data, p.schema.Dim)[:from+p.schema.Dim]
		out = rows.dense.Data[from:]
		clear(out)
	}
	if p.means == nil {
		dense = out
	}
	p.pairs = p.pairs[:0]
	to := rowTo{rows: rows, dense: dense, targets: targets, line: number}
	for i := range p.roles {
		r := &p.roles[i]
		if r.kind == numeric && dense != nil && p.given == nil && p.cut.at >= 0 && p.schema.NA == nil && r.gaps == nil {
			// This handles nearly all cells of nearly all tables.
			at := p.cut.at
			if v, ok := p.cut.number(); ok && v <= maxValue && v >= -maxValue {
				dense[r.at] = float32(v)
				continue
			}
			p.cut.at = at
		}
		cell, err := p.cell(i)
		if err != nil {
			return err
		}
		if err := p.take(i, cell, &to); err != nil {
			return p.orRagged(err)
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	p.endPairs(out, rows)
	if p.carry != nil {
		if err := p.keep(line, spans, rows); err != nil {
			return err
		}
	}
	rows.endRow(to.name)
	return nil
}

// rowTo is where the cells of a row go.
type rowTo struct {
	rows    *rowBuffer
	dense   []float32 // nil: to pairs
	targets int       // the first of rows.Y
	line    int       // where the row starts
	name    string    // the label if it is text
}

// take takes the cell of a column.
func (p *tableParser) take(i int, cell []byte, to *rowTo) error {
	r := &p.roles[i]
	at, v := int32(r.at), float32(0)
	switch r.kind {
	case ignored:
		return nil
	case label:
		y, text, err := p.label(i, cell)
		if err != nil {
			return err
		}
		to.rows.Y[to.targets+r.at], to.name = y, text
		return nil
	case weight:
		w, ok := parseNumber(trim(cell))
		if !ok || w < 0 || math.IsInf(w, 0) {
			return p.wrong(i, cell, fmt.Errorf("%q is not a weight; weights are numbers of 0 or more", shorten(cell)))
		}
		to.rows.Weights = append(to.rows.Weights, w)
		return nil
	case group:
		if len(cell) == 0 {
			return p.wrong(i, nil, errors.New("the cell is empty, so nothing says which bag the row is of"))
		}
		if string(cell) != p.key {
			p.key = string(cell)
		}
		to.rows.keys, to.rows.lines = append(to.rows.keys, p.key), append(to.rows.lines, to.line)
		return nil
	case numeric:
		x, filled, err := p.number(i, cell)
		if err != nil {
			return err
		}
		switch {
		case filled && r.indicator > 0:
			p.put(to.dense, r.indicator, 1)
		case filled:
			p.noteGap(r.input)
		}
		v = float32(x)
	case coded:
		if err := p.coded(i, cell, to.dense); err != nil {
			return err
		}
		return nil
	case categorical:
		gap := p.auto() && p.isMissing(cell)
		if gap {
			cell = nil
		}
		code, known := r.codes[string(cell)]
		if gap && !known {
			p.noteGap(r.input)
			return nil
		}
		if !known {
			if p.opt.Schema == nil {
				return p.wrong(i, cell, fmt.Errorf("%q was not there in the pass before; did the file change?", shorten(cell)))
			}
			p.note(r.input, cell)
			return nil
		}
		at, v = at+code, 1
	}
	p.put(to.dense, int(at), v)
	return nil
}

// keep keeps cells of a row that was parsed.
func (p *tableParser) keep(line []byte, spans bool, rows *rowBuffer) error {
	cells := p.given
	if cells == nil {
		var err error
		if p.again, err = p.second.all(line, spans, p.again[:0]); err != nil {
			return err
		}
		cells = p.again
	}
	for _, place := range p.carry {
		rows.carried = append(rows.carried, string(cells[place.At]))
	}
	return nil
}

// endPairs ends a row of which something is in pairs: it writes what means are made of, or a sparse row. Columns may be in a
// different order than in training.
func (p *tableParser) endPairs(row []float32, rows *rowBuffer) {
	if p.means != nil {
		p.meant = p.means.expandPairs(p.meant[:0], p.pairs)
		p.pairs, p.meant = p.meant, p.pairs
		if row != nil {
			for _, q := range p.pairs {
				row[q.at] = q.v
			}
		}
	}
	if row != nil {
		return
	}
	sortPairs(p.pairs)
	for _, q := range p.pairs {
		rows.csr.Idx, rows.csr.Val = append(rows.csr.Idx, q.at), append(rows.csr.Val, q.v)
	}
}

// put writes a value of the row.
func (p *tableParser) put(dense []float32, at int, v float32) {
	if dense != nil {
		dense[at] = v
	} else if v != 0 {
		p.pairs = append(p.pairs, pair{int32(at), v})
	}
}

// coded writes a cell of a column that has a coding.
func (p *tableParser) coded(i int, cell []byte, dense []float32) error {
	r := &p.roles[i]
	c := p.coders[r.input]
	column := &p.schema.Columns[r.input]
	if p.isMissing(cell) || column.Coding.marked() && noNumber(cell) || among(column.Marks, cell) || r.gaps != nil && isGap(r.gaps, c, cell) {
		switch {
		case p.schema.Missing == "zero":
			p.values = p.values[:0]
		case p.auto() || p.schema.Missing == "mean" || column.Coding.Kind == CodedHashed || column.Coding.Kind == CodedText:
			p.values = c.fill(p.values[:0])
		default:
			return p.wrong(i, cell, option.Errorf("the value is missing (%q); %s or %s fills it in", cell,
				option.Set("missing", missingAuto), option.Set("missing", "zero")))
		}
		switch k := column.Coding.Kind; {
		case r.indicator > 0:
			p.put(dense, r.indicator, 1)
		case k != CodedHashed && k != CodedText:
			p.noteGap(r.input)
		}
	} else {
		var known bool
		var err error
		if p.values, known, err = c.code(p.values[:0], cell); err != nil {
			return p.wrong(i, cell, p.advised(i, cell, err))
		}
		if n, isNumber := c.(*numberCoder); !known && isNumber {
			p.noteWritten(r.input, cell, n.odd)
		} else if !known {
			p.note(r.input, cell)
		}
	}
	p.putValues(r, dense)
	return nil
}

// isGap says that the number of a cell stands for a missing value.
func isGap(gaps []float64, c coder, cell []byte) bool {
	n, isNumber := c.(*numberCoder)
	if !isNumber {
		return false
	}
	v, ok := n.value(cell)
	return ok && slices.Contains(gaps, v)
}

// putValues writes the values of a coded cell.
func (p *tableParser) putValues(r *role, dense []float32) {
	for _, v := range p.values {
		p.put(dense, r.at+int(v.at), v.v)
	}
}

var openBrace = []byte{'{'}

// cell takes cell i of the row.
func (p *tableParser) cell(i int) ([]byte, error) {
	if p.given != nil {
		return p.given[i], nil
	}
	if p.cut.at < 0 {
		return nil, p.ragged()
	}
	cell, err := p.cut.next()
	if err != nil {
		return nil, p.wrong(i, nil, err)
	}
	return cell, nil
}

// end is called after the last cell of a row.
func (p *tableParser) end() error {
	if p.given != nil || p.cut.at < 0 {
		return nil
	}
	if p.arff && bytes.HasPrefix(p.cut.line[p.cut.skip(p.cut.at):], openBrace) {
		return errRowWeight
	}
	return p.ragged()
}

// orRagged is the error of a cell, or rather that its row has too few or too many.
func (p *tableParser) orRagged(err error) error {
	if cells, wrong := p.cutAgain(); p.given == nil && wrong == nil && len(cells) != len(p.roles) {
		return p.ragged()
	}
	return err
}

// cutAgain cuts the row into all its cells.
func (p *tableParser) cutAgain() ([][]byte, error) {
	c := cutter{sep: p.sep, arff: p.arff} // a separator at the end is off the line already
	return c.all(p.cut.line, p.cut.spans, nil)
}

// ragged is the error for a row with the wrong number of cells.
func (p *tableParser) ragged() error {
	cells, err := p.cutAgain()
	if err != nil {
		return inColumn(fmt.Sprintf("column %d", len(cells)), strconv.Itoa(len(cells)), -1, nil, err)
	}
	if p.arff {
		return fmt.Errorf("%s where the header declares %d", units.Plural(len(cells), "column"), len(p.roles))
	}
	if p.ends {
		return fmt.Errorf("%s where the first row has %d and a separator at the end, behind which there is nothing in the first rows",
			units.Plural(len(cells), "column"), len(p.roles))
	}
	if len(cells) == 1 && !isNumber(string(cells[0])) {
		return fmt.Errorf("1 column where the first row has %d; remove the line if it is not part of the table (it is %q)", len(p.roles), shorten(cells[0]))
	}
	return fmt.Errorf("%s where the first row has %d", units.Plural(len(cells), "column"), len(p.roles))
}

// column names a column in a message.
func (t *table) column(i int) string {
	if t.schema.Header {
		return fmt.Sprintf("column %q", t.names[i])
	}
	return "column " + t.names[i]
}

// wrong is an error about the cell of column i.
func (p *tableParser) wrong(i int, cell []byte, err error) error {
	dim := -1
	if p.roles[i].kind == numeric {
		dim = p.roles[i].at
	}
	return inColumn(p.column(i), p.names[i], dim, cell, err)
}

// number is the value of a numeric cell; filled says that it was missing.
func (p *tableParser) number(i int, cell []byte) (v float64, filled bool, err error) {
	v, ok := parseNumber(trim(cell))
	switch {
	case p.schema.NA != nil && p.isMissing(cell):
		return p.filled(i, cell)
	case ok && slices.Contains(p.roles[i].gaps, v):
		return p.filled(i, cell)
	case ok && v <= maxValue && v >= -maxValue:
		return v, false, nil
	case ok:
		return 0, false, p.wrong(i, cell, fmt.Errorf("%s is out of float32's range (3.4e38)", shorten(cell)))
	case absent(cell) || among(p.schema.Columns[p.roles[i].input].Marks, cell):
		return p.filled(i, cell)
	case notFinite(cell):
		return 0, false, p.wrong(i, cell, p.notFinite("", cell))
	}
	if v, ok := parseOther(trim(cell), p.decimal); ok && v <= maxValue && v >= -maxValue {
		return v, false, nil
	}
	if v, how, ok := foreignNumber(cell, p.decimal); ok && p.opt.Schema != nil && v <= maxValue && v >= -maxValue {
		p.noteWritten(p.roles[i].input, cell, how)
		return v, false, nil
	}
	return 0, false, p.wrong(i, cell, p.advised(i, cell, fmt.Errorf("%q %w", shorten(cell), errNoNumber)))
}

// advised is the error of a cell that is no number, or no date, with what can be done.
func (p *tableParser) advised(i int, cell []byte, err error) error {
	switch {
	case p.schema.Header && string(trim(cell)) == p.names[i]:
		return errors.New("the name of the column is there again; remove the line if it repeats the header")
	case p.opt.Schema == nil && p.schema.Header:
		return option.Errorf("%w (%s counts such cells as missing, %s takes the column as text)", err,
			option.Set("na", string(shorten(cell))), option.Set("categorical", p.names[i]))
	}
	return err
}

// notFinite is the error of an infinity.
func (p *tableParser) notFinite(what string, cell []byte) error {
	if p.opt.Schema != nil {
		return fmt.Errorf("%s%q is not a finite number", what, cell)
	}
	return option.Errorf("%s%q is not a finite number; %s counts it as missing", what, cell, option.Set("na", string(cell)))
}

// filled is what stands for a missing number.
func (p *tableParser) filled(i int, cell []byte) (float64, bool, error) {
	switch p.schema.Missing {
	case "mean", missingAuto:
		return p.schema.Columns[p.roles[i].input].Mean, true, nil
	case "zero":
		return 0, true, nil
	}
	if p.opt.Schema != nil {
		return 0, false, p.wrong(i, cell, option.Errorf("%q is not a number (a missing value? The model was trained without a rule for them; train it "+
			"without %s, or fill in zeros by %s)", cell, option.Set("missing", "error"), option.Set("missing", "zero")))
	}
	return 0, false, p.wrong(i, cell, option.Errorf("%q is not a number (a missing value? %s or %s fills it in)", cell,
		option.Set("missing", "mean"), option.Set("missing", "zero")))
}

// label is the label in a cell: a number, or NaN and a text if text is allowed.
func (p *tableParser) label(i int, cell []byte) (float64, string, error) {
	if sep := p.schema.LabelSeparator; sep != "" {
		y, text, err := labelList(p.interned, cell, sep)
		if err != nil {
			return 0, "", p.wrong(i, cell, err)
		}
		return y, text, nil
	}
	v, ok := parseNumber(trim(cell))
	if v, ok := p.writtenLabel(i, cell, ok); ok {
		return v, "", nil
	}
	switch {
	case p.noLabel(i, cell, ok) && p.mayLackLabels():
		return math.NaN(), "", nil
	case p.noLabel(i, cell, ok):
		return 0, "", p.wrong(i, cell, missingLabel(cell))
	case !p.declares(i, trim(cell), v, ok):
		return 0, "", p.wrong(i, cell, fmt.Errorf("%q is not among the declared values", shorten(cell)))
	case ok && math.IsInf(v, 0):
		return 0, "", p.wrong(i, cell, fmt.Errorf("the label %s is out of float64's range", shorten(cell)))
	case ok && len(p.schema.Labels) == 1 && spelled(trim(cell), v):
		return v, intern(p.interned, trim(cell)), nil
	case ok:
		return v, "", nil
	case notFinite(cell) && !p.isClass(i, cell):
		return 0, "", p.wrong(i, cell, p.notFinite("the label ", cell))
	case len(p.schema.Labels) > 1 && bytes.EqualFold(trim(cell), []byte("true")):
		return 1, "", nil
	case len(p.schema.Labels) > 1 && bytes.EqualFold(trim(cell), []byte("false")):
		return 0, "", nil
	case len(p.schema.Labels) > 1:
		return 0, "", p.wrong(i, cell, fmt.Errorf("the label %q is not a number; with several outputs all must be", shorten(cell)))
	}
	return math.NaN(), intern(p.interned, cell), nil
}

// declares says that a label is one of the values that the file declares, as it is written or as a number, or that it declares none.
func (t *table) declares(i int, cell []byte, v float64, isNumber bool) bool {
	if len(t.attributes) == 0 || t.attributes[i].categories == nil {
		return true
	}
	values := t.attributes[i].categories // sorted
	if _, found := slices.BinarySearchFunc(values, cell, func(value string, cell []byte) int { return strings.Compare(value, string(cell)) }); found {
		return true
	}
	return isNumber && slices.ContainsFunc(values, func(value string) bool {
		w, ok := parseNumber([]byte(value))
		return ok && w == v
	})
}

// writtenLabel is a label that is written as people write numbers; plain says that it could be one as machines do.
func (p *tableParser) writtenLabel(i int, cell []byte, plain bool) (v float64, ok bool) {
	if len(p.attributes) == 0 || p.schema.NA != nil && p.isMissing(cell) { // of a column that nobody looked at, or missing
		return 0, false
	}
	a := &p.attributes[i]
	if b, isBound := cutBound(cell); isBound && a.bounds {
		return parseWritten(b, a.decimal[0])
	}
	if a.written && (!plain || a.decimal == "," && bytes.ContainsAny(cell, ",.")) {
		return parseWritten(cell, a.decimal[0])
	}
	return 0, false
}

// isClass says that a text that stands for a missing value elsewhere, such as none or NA, is the name of a class: the labels are words, and
// nobody says that it means that there is none.
func (t *table) isClass(i int, cell []byte) bool {
	if len(t.attributes) == 0 { // a list of labels
		return isWord(cell)
	}
	a := &t.attributes[i]
	return (a.text || a.categories != nil || len(a.cells) == 0) && len(t.schema.Labels) == 1 && isWord(cell) && !slices.Contains(t.schema.NA, string(cell))
}

// isMark says that a label is a sign that stands for a missing value among labels that are numbers.
func (t *table) isMark(i int, cell []byte) bool {
	return len(t.attributes) > 0 && !t.attributes[i].text && t.attributes[i].categories == nil && noNumber(cell) && !bytes.ContainsFunc(cell, unicode.IsLetter)
}

// isWord says that a text that stands for a missing value could be a name.
func isWord(cell []byte) bool {
	cell = trim(cell)
	return len(cell) > 0 && cell[0] != '?' && cell[0] != '-'
}
