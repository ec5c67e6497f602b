package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/matrix"
)

// A row may have any number of labels. They are given as several columns of 0 and 1, or as a list
// in one cell or in front of a LIBSVM row ("3,7"; nothing for none). Such a list is text in
// Batch.Names, its labels separated by listMark, which alone stands for the empty list; a list of
// one number may also be a number in Batch.Y.

// listMark is the character that separates units in ASCII.
const listMark = "\x1f"

// labelList writes the labels of a cell, separated by sep, as a list of Batch.Names, or as a
// number if it is one.
func labelList(known map[string]string, cell []byte, sep string) (y float64, name string, err error) {
	var items [][]byte
	for item := range bytes.SplitSeq(cell, []byte(sep)) {
		if item = trim(item); len(item) == 0 {
			continue
		}
		if v, ok := parseNumber(item); notFinite(item) || ok && math.IsInf(v, 0) {
			return 0, "", fmt.Errorf("the label %s is not a finite number", shorten(item))
		}
		items = append(items, item)
	}
	if len(items) == 1 {
		if v, ok := parseNumber(items[0]); ok {
			return v, "", nil
		}
	}
	list := bytes.Join(items, []byte(listMark))
	if len(items) == 0 {
		list = []byte(listMark)
	}
	return math.NaN(), intern(known, list), nil
}

// multiLabelled reports whether rows of LIBSVM text have lists of labels: whether one of
// the first rows has two.
func multiLabelled(head []byte) bool {
	for line := range bytes.Lines(head) {
		f := bytes.Fields(line)
		if len(f) > 1 && isPair(f[1]) && f[0][0] != '#' && bytes.IndexByte(f[0], ',') >= 0 && bytes.IndexByte(f[0], ':') < 0 {
			return true
		}
	}
	return false
}

// listItems hands out the labels of row i one by one, as they are counted.
func listItems(b *matrix.Batch, i int, body func(y float64, text string)) {
	if b.Names == nil || b.Names[i] == "" {
		body(b.Y[i], "")
		return
	}
	for item := range strings.SplitSeq(b.Names[i], listMark) {
		if item == "" {
			continue
		}
		if v, ok := parseNumber([]byte(item)); ok {
			body(v, "")
		} else {
			body(math.NaN(), item)
		}
	}
}

// LabelSets are labels of which each row may have any number.
type LabelSets struct {
	labels  []string
	columns bool // each is a column of 0 and 1
	numbers map[float64]int
	texts   map[string]int
}

// NewLabelSets makes sets of the given labels; columns means that rows have a column for each.
func NewLabelSets(labels []string, columns bool) *LabelSets {
	c := NewClasses(labels)
	return &LabelSets{labels: labels, columns: columns, numbers: c.numbers, texts: c.texts}
}

// Labels are the labels in their order.
func (l *LabelSets) Labels() []string { return l.labels }

// Of writes which labels row i of a batch has. unknown are those outside the set. It
// fails on a column that is neither 0 nor 1.
func (l *LabelSets) Of(b *matrix.Batch, i int, has []bool) (unknown []string, err error) {
	clear(has)
	if b.Outputs > 1 || l.columns {
		if b.Outputs != len(l.labels) {
			return nil, fmt.Errorf("the row has %s, but there are %d labels", units.Plural(b.Outputs, "label column"), len(l.labels))
		}
		for t, v := range b.Y[i*b.Outputs : (i+1)*b.Outputs] {
			if v != 0 && v != 1 {
				return nil, fmt.Errorf("the label %q is %g; it has to be 0 or 1, or true or false", l.labels[t], v)
			}
			has[t] = v == 1
		}
		return nil, nil
	}
	listItems(b, i, func(y float64, text string) {
		t, known := l.texts[text]
		if text == "" {
			text = number(y)
			t, known = l.numbers[y]
		}
		if known {
			has[t] = true
		} else {
			unknown = append(unknown, text)
		}
	})
	return unknown, nil
}

// Targets writes 1 for each label that row i of a batch has and -1 for the others.
func (l *LabelSets) Targets(b *matrix.Batch, i int, dst []float64) error {
	has := make([]bool, len(l.labels))
	unknown, err := l.Of(b, i, has)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the label %q is none of those that the training began with", unknown[0])
	}
	for t, h := range has {
		dst[t] = -1
		if h {
			dst[t] = 1
		}
	}
	return nil
}

// LabelSets are the labels of rows that have any number of them, in numeric order, then text in
// the order of its bytes; or the label columns of the schema in their order.
func (s *Summary) LabelSets(schema *Schema) (*LabelSets, error) {
	l := &s.labels
	if s.Outputs > 1 {
		var names []string
		for t := range s.Outputs {
			name := strconv.Itoa(t)
			if t < len(schema.Labels) {
				name = schema.Labels[t].Name
			}
			names = append(names, name)
		}
		return NewLabelSets(names, true), nil
	}
	if l.overflow {
		return nil, fmt.Errorf("there are more than %d different labels", maxDistinct)
	}
	if l.distinct() == 0 {
		return nil, errors.New("no row has a label")
	}
	var labels []string
	for _, v := range slices.Sorted(maps.Keys(l.numbers)) {
		labels = append(labels, number(v))
	}
	return NewLabelSets(append(labels, slices.Sorted(maps.Keys(l.texts))...), false), nil
}

// multilabel decides whether the labels can be sets of labels, and gives the reason.
func (s *Summary) multilabel() (why string, err error) {
	switch l := &s.labels; {
	case l.lists:
		return "rows have lists of labels", nil
	case s.Outputs == 1:
		return "", option.Errorf("rows have one label each; for several name their columns of 0 and 1 (%s), or say what separates them within "+
			"a cell (%s)",
			option.Set("label", "a,b,c"), option.Ref("label_separator"))
	case l.neither != nil:
		return "", option.Errorf("a label column has the value %g, but each has to be 0 or 1, or true or false, for %s", *l.neither,
			option.Set("task", "multilabel"))
	}
	return fmt.Sprintf("%d columns of 0 and 1", s.Outputs), nil
}
