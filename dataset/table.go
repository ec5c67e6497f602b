package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// Tables are text with one row per line and cells separated by commas, semicolons,
// tabs or blanks, and ARFF's data section. A column is an input, a label, the weight, or
// ignored; an input is numeric, or categorical with one dimension per value (one-hot). Cells
// that stand for a missing value (empty, ?, NA, N/A, NaN, null, none) are a value like any
// other in a categorical column; elsewhere they are errors, or filled in according to
// Options.Missing.

// table is such a file.
type table struct {
	in     input      // of text; nil if there is a
	typed  typedTable // instead
	opt    Options
	schema Schema
	sep    byte // ' ' stands for runs of blanks and tabs
	arff   bool
	ends   bool             // lines end with a separator
	skip   int              // lines before the data
	roles  []role           // one per column of the file
	sparse bool             // emit CSR
	means  *meanRows        // nil: no column has means
	values map[int][]string // by input column that is CodedHashed: all its values
	names  []string         // of the columns, for messages
	header []string         // the names as the file gives them, of which several columns may have the same; nil: names

	declared [][]byte // ARFF: the value of a column that a sparse row omits
	decimal  string   // the decimal separator

	attributes []attribute // what is known of the columns, before a training
	profile    *Profile    // nil unless all rows were looked at
	notices    []Notice
	carry      []Place // columns whose cells are kept beside the rows
	split      []Place // the column by which rows are divided, if there is one

	mu     sync.Mutex
	unseen map[unseenKey]*Unseen

	dropped atomic.Int64 // rows without a label that the last pass left out
}

// role is the use of a column of the file.
type role struct {
	kind  kind
	input int // number of the input column
	at    int // first dimension of an input; number of the target of a label
	codes map[string]int32

	indicator int       // the dimension that says that the value is missing; 0: none
	gaps      []float64 // numbers that stand for a missing value, in a column of numbers
}

func (r *role) isInput() bool { return r.kind == numeric || r.kind == categorical || r.kind == coded }

type kind uint8

const (
	ignored kind = iota
	numeric
	categorical
	coded // by a Coding
	label
	weight
	group
)

// Unseen describes values of a column that the model was not trained on.
type Unseen struct {
	Column  string // the column's name
	Value   string // one of the values of a column of categories
	Rows    int    // how many rows have such a value
	Missing int    // how many rows have none, in a column where the training had one in each row
	Dropped int    // how many rows were left out, in a column of labels

	// Written says how Value, a number that is not written as those of the training are, is taken; "" is for a category. Line is that of the first.
	Written string
	Line    int
}

// unseenKey is an input column, and Unseen.Written.
type unseenKey struct {
	input   int
	written string
}

// A table whose one-hot coding makes it wider than this comes as sparse rows.
const wideTable = 512

// maxCategories bounds the values of a categorical column.
const maxCategories = 1_000_000

func (t *table) Name() string {
	if t.typed != nil {
		return t.typed.Name()
	}
	return t.in.Name()
}

func (t *table) Schema() *Schema { return &t.schema }

// UnseenCategories lists the columns that had values in the last pass that the model does not
// know, or none where training had no gaps. Such a value counts as none of the known ones: all dimensions of the column
// are 0. A missing number is the mean. The last of the list may be the label, for rows that were left out.
func (t *table) UnseenCategories() []Unseen {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Unseen
	for _, key := range slices.SortedFunc(maps.Keys(t.unseen), func(a, b unseenKey) int {
		return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.written, b.written))
	}) {
		list = append(list, *t.unseen[key])
	}
	if n := int(t.dropped.Load()); n > 0 && t.opt.Schema != nil && len(t.schema.Labels) > 0 {
		list = append(list, Unseen{Column: t.schema.Labels[0].Name, Dropped: n})
	}
	return list
}

// newTable determines the columns of a table. format is "csv", "tsv", "blank",
// "arff", or "" to detect it. Unless a model's schema gives the categories, a table with
// categorical columns or mean-filled gaps is read once for them.
func newTable(ctx context.Context, in input, opt Options, format string) (Source, error) {
	t := &table{in: in, opt: opt}
	if err := t.settleOptions(); err != nil {
		return nil, err
	}
	columns, err := t.lookOnce(format)
	if err != nil {
		return nil, err
	}
	return t.planned(ctx, columns)
}

// newTypedTable is newTable for a table whose cells have types.
func newTypedTable(ctx context.Context, typed typedTable, opt Options) (Source, error) {
	if err := checkFields(typed); err != nil {
		return nil, err
	}
	opt.Format, opt.Header, opt.texts = "csv", "yes", map[string]bool{}
	if _, is := typed.(*arrayTable); is {
		opt.Header = "no" // its columns have no names
	}
	for _, f := range typed.fields() {
		opt.texts[f.name] = opt.texts[f.name] || f.text
	}
	t := &table{typed: typed, opt: opt}
	if err := t.settleOptions(); err != nil {
		return nil, err
	}
	if err := tooManyColumns(len(typed.fields()), opt.Memory); err != nil && opt.Schema == nil {
		return nil, fmt.Errorf("%s: %w", t.Name(), err)
	}
	columns, err := t.lookTyped(ctx)
	if err != nil {
		return nil, err
	}
	return t.planned(ctx, columns)
}

func (t *table) planned(ctx context.Context, columns []attribute) (Source, error) {
	if err := t.plan(ctx, columns); err != nil {
		return nil, err
	}
	if err := t.carryColumns(); err != nil {
		return nil, err
	}
	return t, nil
}

// sniff finds out what cuts the cells, and what the columns are, from the head of the file.
func (t *table) sniff(format string) (columns []attribute, err error) {
	head, err := wholeLines(t.in)
	if err != nil {
		return nil, err
	}
	if format == "arff" || format == "" && looksLikeARFF(head) {
		t.arff, t.sep = true, ','
		columns, err := t.readARFFHeader(head)
		if err == nil {
			t.sep = arffSeparator(head, t.skip, len(columns))
		}
		return columns, err
	}
	switch format {
	case "csv":
		t.sep = separator(head, ",;\t|")
	case "tsv":
		t.sep = '\t'
	case "blank":
		t.sep = ' '
	default:
		t.sep = separator(head, "\t;,| ")
	}
	return t.look(head)
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
	if t.opt.Missing == "" {
		t.schema.Missing = missingAuto
	}
	t.attributes = columns
	if t.arff {
		t.schema.Format = "arff"
	}
	if err := t.assignLabels(); err != nil {
		return err
	}
	if l := t.schema.Labels; len(l) == 1 {
		t.schema.nominal = t.isNominal(l[0].At)
	}
	if t.opt.Schema != nil {
		return t.planFor(t.opt.Schema)
	}
	if err := t.choose(columns); err != nil {
		return err
	}
	texts, err := t.settleInputs()
	if err != nil {
		return err
	}
	if err := t.lookAtAll(ctx, texts || t.schema.Missing == "mean"); err != nil {
		return err
	}
	t.layOut()
	t.tell()
	return nil
}

// planFor gives the columns the roles that they had when a model was trained.
func (t *table) planFor(m *Schema) error {
	if err := t.follow(m); err != nil {
		return err
	}
	if err := t.contradiction(m); err != nil {
		return err
	}
	if m.Unlabelled && t.schema.Group == nil {
		for _, l := range t.schema.Labels {
			t.roles[l.At] = role{}
		}
		t.schema.Labels = nil
	}
	for i, c := range t.attributes {
		if c.text && !c.code && t.roles[i].kind == numeric && !t.hasMarks(i) && !allForeign(c.cells, m.decimal()) {
			it := "the model"
			if t.opt.like != "" {
				it = "it"
			}
			return fmt.Errorf("%s: %s holds text where %s numbers; %s has %s, the file %s", t.Name(), t.column(i), t.opt.trainedOn(), it,
				m.countInputs(len(t.schema.Columns)), units.Plural(len(t.attributes), "column"))
		}
	}
	t.layOut()
	return nil
}

// hasMarks says that the first rows of a column have texts that stand for a missing value there alone: if others are wrong, their place is told.
func (t *table) hasMarks(i int) bool {
	marks := t.schema.Columns[t.roles[i].input].Marks
	return marks != nil && slices.ContainsFunc(t.attributes[i].cells, func(cell string) bool { return slices.Contains(marks, cell) })
}

// settleInputs settles how each input is read, and how labels are measured; texts says that one is categorical or coded.
func (t *table) settleInputs() (texts bool, err error) {
	for i, c := range t.attributes {
		r := &t.roles[i]
		if r.kind == label {
			t.settleLabel(i)
		}
		if r.kind != ignored || c.kind == KindID || c.kind == KindIgnored {
			continue // a label, the weight, the group, or no input
		}
		column, err := t.settle(i)
		if err != nil {
			return false, err
		}
		texts = texts || r.kind == categorical || r.kind == coded
		r.input = len(t.schema.Columns)
		t.schema.Columns = append(t.schema.Columns, column)
	}
	if len(t.schema.Columns) == 0 {
		return false, fmt.Errorf("%s: no column is left as input beside labels and weights (%d in all; is the separator one of , ; tab | blank?)",
			t.Name(), len(t.attributes))
	}
	return texts, nil
}

// settleLabel settles how a column of labels is measured.
func (t *table) settleLabel(i int) {
	c := &t.attributes[i]
	if c.written && strings.Contains(c.cells[0], "%") {
		t.notice(i, "label", "has labels such as %q, which are taken for, and predicted as, parts of 1", c.cells[0])
	}
	if c.unit != "" || c.scales || c.written && c.marks != nil { // labels stay what they are
		c.text, c.written = true, false
	}
	if c.found == KindDate && c.kind == "" && t.opt.Schema == nil {
		t.notice(i, "label", "has dates, each of which is a class; name another column by %s if that is not what is to be predicted", option.Ref("label"))
	}
	if c.bounds {
		t.notice(i, "label", "has labels such as %q, which count as their numbers", c.bound)
	}
	c.measure = measureNumber
	if c.text || c.categories != nil {
		c.measure = measureText
	}
}

// lookAtAll reads all rows once, if the columns need it or the options leave anything open.
func (t *table) lookAtAll(ctx context.Context, needed bool) error {
	switch {
	case streamed(t.in) && needed:
		return option.Errorf("%s: columns of text, or %s, need a look at all rows before the first is learned; leave out %s", t.Name(),
			option.Set("missing", "mean"), option.Ref("survey_rows"))
	case streamed(t.in):
		t.schema.Missing = t.opt.Missing
		fallthrough
	case !needed && !t.auto():
		if l := t.schema.Labels; len(l) == 1 && t.schema.LabelSeparator == "" {
			if word := t.attributes[l[0].At].word; word != "" && t.isClass(l[0].At, []byte(word)) {
				t.tellOfMarked(l[0].At, map[string]int{word: 0}, 0)
			}
		}
		return nil
	}
	err := t.complete(ctx)
	var row *RowError
	if !needed && errors.As(err, &row) {
		t.schema.Missing = t.opt.Missing // the next pass says what is wrong and where
		return nil
	}
	return err
}

// isNominal says that the file declares a column as one of given values: nominal in ARFF, a dictionary in Arrow or in
// the notes of Parquet, an enumeration there.
func (t *table) isNominal(at int) bool {
	if t.attributes[at].categories != nil {
		return true
	}
	file, ok := t.typed.(interface{ nominal(at int) bool })
	return ok && file.nominal(at)
}

// missingAuto fills in missing values by themselves.
const missingAuto = "auto"

// settleOptions checks the options of columns, and completes those that a file of kinds gives.
func (t *table) settleOptions() (err error) {
	if t.opt.Schema != nil {
		t.decimal, t.schema.NA = ".", t.opt.Schema.NA
		return nil
	}
	o := &t.opt
	if o.Missing == missingAuto {
		o.Missing = ""
	}
	if t.decimal, err = o.Columns.decimal(); err != nil {
		return err
	}
	t.schema.NA = o.Columns.markers()
	for _, c := range []struct {
		option *string
		kind   string
	}{{&o.Label, KindLabel}, {&o.Weight, KindWeight}, {&o.Group, KindGroup}} {
		if *c.option == "" {
			*c.option = o.Columns.Kinds.named(c.kind)
		}
	}
	return nil
}

// isMissing reports whether a cell stands for a missing value.
func (t *table) isMissing(cell []byte) bool {
	return missing(cell) || among(t.schema.NA, cell)
}

// layOut assigns dimensions to the input columns and codes to their categories.
func (t *table) layOut() {
	starts := make([]int, len(t.schema.Columns))
	at, oneHot := 0, false
	columns := withoutMeans(t.schema.Columns)
	for i := range columns {
		starts[i] = at
		at += columns[i].Width()
		oneHot = oneHot || columns[i].Categories != nil || columns[i].Coding != nil
	}
	t.means = newMeanRows(t.schema.Columns)
	if t.means != nil {
		at = 0
		for i := range t.schema.Columns {
			at += t.schema.Columns[i].Width()
		}
	}
	t.schema.Dim = at
	t.sparse = oneHot && at > wideTable
	for i := range t.roles {
		r := &t.roles[i]
		if r.kind != numeric && r.kind != categorical && r.kind != coded {
			continue
		}
		r.at = starts[r.input]
		c := &columns[r.input]
		if c.Indicator {
			r.indicator = r.at + c.Width() - 1
		}
		if c.kind() == KindNumber {
			r.gaps = gapsAmong(t.schema.NA, c.Marks)
		}
		if r.kind == categorical {
			r.codes = map[string]int32{}
			for code, value := range t.schema.Columns[r.input].Categories {
				r.codes[value] = int32(code)
			}
		}
	}
}

func (t *table) Open(ctx context.Context) (Reader, error) {
	t.mu.Lock()
	t.unseen = map[unseenKey]*Unseen{}
	t.mu.Unlock()
	r, err := t.read(ctx, nil)
	if err == nil {
		r.explain = func(err error) error { return t.counted(ctx, err) }
	}
	return r, err
}

// read starts a pass; if c is not nil, the pass collects.
func (t *table) read(ctx context.Context, c *collector) (*textReader, error) {
	return t.readBy(ctx, func() parser { return t.newParser(c) })
}

// readBy starts a pass of some parsers.
func (t *table) readBy(ctx context.Context, newParser func() parser) (*textReader, error) {
	t.dropped.Store(0)
	if t.typed != nil {
		return t.readTyped(ctx, newParser)
	}
	return readText(ctx, t.in, textFormat{
		name: t.Name(), batch: t.opt.BatchRows, skipLines: t.skip, quoted: !t.arff,
		newParser: newParser,
	})
}
