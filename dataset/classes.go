package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"mercer/internal/option"
	"mercer/matrix"
)

// maxDistinct is how many different labels are counted; more cannot be classes.
// Numbers with fractions are ruled out long before.
const (
	maxDistinct  = 100_000
	maxFractions = 1000
)

// labelCounts count the different labels of a source with one target per row.
type labelCounts struct {
	numbers  map[float64]int // rows of each; empty again after an overflow
	texts    map[string]int
	overflow bool // too many to be classes
	rows     int
	fraction bool // some number is not an integer
	lists    bool // a row has any number of labels, which are counted one by one

	neither *float64 // of several targets, one that is neither 0 nor 1
}

func (l *labelCounts) add(b *matrix.Batch) {
	l.rows += b.X.Len()
	if b.Outputs != 1 {
		for _, y := range b.Y {
			if y != 0 && y != 1 && l.neither == nil {
				l.neither = &y
			}
		}
		return
	}
	if l.numbers == nil {
		l.numbers, l.texts = map[float64]int{}, map[string]int{}
	}
	for i, y := range b.Y {
		if l.lists {
			listItems(b, i, l.count)
			continue
		}
		text := ""
		if b.Names != nil {
			text = b.Names[i]
		}
		l.count(y, text)
	}
}

// count counts a label: text, or a number if text is "".
func (l *labelCounts) count(y float64, text string) {
	if text != "" {
		if _, known := l.texts[text]; known || len(l.texts) < maxDistinct {
			l.texts[text]++
		} else {
			l.overflow = true
		}
		return
	}
	if y != math.Trunc(y) {
		l.fraction = true
	}
	if l.overflow {
		return
	}
	l.numbers[y]++
	if n := len(l.numbers); n > maxDistinct || l.fraction && n > maxFractions {
		l.overflow = true
		l.numbers = map[float64]int{}
	}
}

func (l *labelCounts) distinct() int { return len(l.numbers) + len(l.texts) }

// Task decides whether the labels are classes or numbers to predict, and gives the reason. asked is
// "auto", "classify", "regress" or "multilabel". In automatic mode lists of labels mean
// multilabel, text means classes and several targets per row mean regression. Numbers are classes
// if there are two different ones, if they are integers and at most 20 different ones (and no more than
// half as many as rows), or if they are consecutive integers from 0 or 1 with at least ten rows each;
// otherwise they are numbers to predict.
func (s *Summary) Task(asked string) (task, why string, err error) {
	l := &s.labels
	switch {
	case s.Outputs == 0:
		return "", "", option.Errorf("the rows have no labels; name the column with %s or a file of labels with %s", option.Ref("label"),
			option.Ref("labels_file"))
	case asked == "multilabel" || l.lists && asked == "auto":
		why, err = s.multilabel()
		return "multilabel", why, err
	case l.lists:
		return "", "", option.Errorf("rows have lists of labels; use %s", option.Set("task", "multilabel"))
	case asked == "regress" && len(l.texts) > 0:
		return "", "", option.Errorf("the label %q is no number, so it cannot be predicted by regression; use %s",
			slices.Min(slices.Collect(maps.Keys(l.texts))), option.Set("task", "classify"))
	case asked == "classify" && s.Outputs > 1:
		return "", "", option.Errorf("%d label columns are numbers to predict, or labels of which a row may have several (%s), not classes; "+
			"name one with %s",
			s.Outputs, option.Set("task", "multilabel"), option.Ref("label"))
	case asked == "classify" || asked == "regress":
		return asked, "as asked", nil
	case s.Outputs > 1:
		return "regress", fmt.Sprintf("%d numbers a row", s.Outputs), nil
	case len(l.texts) > 0:
		return "classify", "labels are text", nil
	}
	n := len(l.numbers)
	if l.overflow {
		return "regress", "labels are very many different numbers", nil
	}
	many := fmt.Sprintf("labels are %d different numbers", n)
	if n <= 2 {
		return "classify", many, nil
	}
	if l.fraction {
		return "regress", many + ", not all whole", nil
	}
	if n <= 20 && n <= l.rows/2 {
		return "classify", many, nil
	}
	values := slices.Collect(maps.Keys(l.numbers))
	low, high := slices.Min(values), slices.Max(values)
	if (low == 0 || low == 1) && high-low == float64(n-1) && l.rows >= 10*n {
		return "classify", fmt.Sprintf("labels are the numbers %g to %g without a gap", low, high), nil
	}
	return "regress", many, nil
}

// Classes are the classes of the labels; a single one or too many are an error.
func (s *Summary) Classes() (*Classes, error) {
	l := &s.labels
	if l.overflow {
		return nil, option.Errorf("there are too many different labels for classes; if they are numbers to predict, use %s",
			option.Set("task", "regress"))
	}
	if n := l.distinct(); n > 100 && 2*n > l.rows {
		return nil, option.Errorf("the label has %d different values in %d rows, so it says nothing that other rows could "+
			"tell; name another column with %s, or predict numbers with %s", n, l.rows, option.Ref("label"), option.Set("task", "regress"))
	}
	if l.distinct() < 2 {
		only := ""
		for v := range l.numbers {
			only = number(v)
		}
		for t := range l.texts {
			only = t
		}
		return nil, option.Errorf("every row has the label %q; to tell classes apart at least two are needed (is %s the right column?)", only,
			option.Ref("label"))
	}
	var labels []string
	for _, v := range slices.Sorted(maps.Keys(l.numbers)) {
		labels = append(labels, number(v))
	}
	return NewClasses(append(labels, slices.Sorted(maps.Keys(l.texts))...)), nil
}

// ClassRows is the number of rows of each of the classes.
func (s *Summary) ClassRows(c *Classes) []int {
	rows := make([]int, len(c.labels))
	for v, n := range s.labels.numbers {
		if k, ok := c.numbers[v]; ok {
			rows[k] += n
		}
	}
	for t, n := range s.labels.texts {
		if k, ok := c.texts[t]; ok {
			rows[k] += n
		}
	}
	return rows
}

// number writes a number as a label: +1, 1 and 1.0 are the same.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Classes map labels to the numbers 0, 1, … of their classes.
type Classes struct {
	labels  []string
	numbers map[float64]int
	texts   map[string]int
}

// NewClasses makes classes of labels in the order given: numbers in numeric order, then
// text in the order of its bytes.
func NewClasses(labels []string) *Classes {
	c := &Classes{labels: labels, numbers: map[float64]int{}, texts: map[string]int{}}
	for i, l := range labels {
		c.texts[l] = i
		if v, err := strconv.ParseFloat(l, 64); err == nil {
			c.numbers[v] = i
		}
	}
	return c
}

// Labels are the labels of the classes in their order.
func (c *Classes) Labels() []string { return c.labels }

// Named is the class with a label, -1 if there is none.
func (c *Classes) Named(label string) int {
	if k, known := c.texts[label]; known {
		return k
	}
	if v, err := strconv.ParseFloat(label, 64); err == nil {
		if k, known := c.numbers[v]; known {
			return k
		}
	}
	return -1
}

// Of is the class of row i of a batch, -1 if its label is none of the classes.
func (c *Classes) Of(b *matrix.Batch, i int) int {
	var class int
	var known bool
	if b.Names != nil && b.Names[i] != "" {
		class, known = c.texts[b.Names[i]]
	} else {
		class, known = c.numbers[b.Y[i]]
	}
	if !known {
		return -1
	}
	return class
}
