package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/matrix"
)

// maxDistinct is how many different labels are counted; more cannot be classes.
// Numbers with fractions are ruled out long before.
// mostNumberClasses is the most different whole numbers that are taken for classes whatever they are.
const mostNumberClasses = 20

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
	nominal  bool // the file declares them as classes

	neither *float64 // of several targets, one that is neither 0 nor 1
}

func (l *labelCounts) add(b *matrix.Batch) {
	if b.Outputs != 1 {
		l.rows += b.X.Len()
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
		text := ""
		if b.Names != nil {
			text = b.Names[i]
		}
		switch {
		case l.lists:
			listItems(b, i, l.count)
		case text == "" && y != y: // no label
			continue
		default:
			l.count(y, text)
		}
		l.rows++
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

// words says that some label is no number.
func (l *labelCounts) words() bool {
	for text := range l.texts {
		if !Numeric(text) {
			return true
		}
	}
	return false
}

// strayed says that labels are numbers to predict, but for words in fewer than a tenth of the rows.
func (l *labelCounts) strayed() bool {
	if !l.words() || !l.overflow && !l.fraction && len(l.numbers) <= mostNumberClasses {
		return false
	}
	words := 0
	for text, n := range l.texts {
		if !Numeric(text) {
			words += n
		}
	}
	return 10*words < l.rows
}

// stray is the error about these words.
func (l *labelCounts) stray() error {
	word, others := "", 0
	for _, text := range slices.Sorted(maps.Keys(l.texts)) {
		if !Numeric(text) {
			others++
			if l.texts[text] > l.texts[word] {
				word = text
			}
		}
	}
	rest := ""
	if others > 1 {
		rest = fmt.Sprintf(" (and %s more)", units.Plural(others-1, "word"))
	}
	return option.Errorf("the labels are numbers, but in %s of %s %q%s; if that means that the label is missing, give %s and %s, and if all labels are classes, %s",
		units.Count(l.texts[word]), units.Plural(l.rows, "row"), word, rest, option.Set("na", word), option.Ref("drop_unlabelled"), option.Set("task", "classify"))
}

func (l *labelCounts) distinct() int { return len(l.numbers) + len(l.texts) }

// Task decides whether the labels are classes or numbers to predict, and gives the reason. asked is
// "auto", "classify", "regress" or "multilabel". In automatic mode lists of labels mean
// multilabel, text or values that the file declares mean classes, and several targets per row mean regression. Numbers are classes
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
	case asked == "regress" && l.words():
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
	case l.strayed():
		return "", "", l.stray()
	case l.words():
		return "classify", "labels are text", nil
	case l.nominal:
		return "classify", "the file declares the labels as classes", nil
	}
	n := l.distinct()
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
	if n <= mostNumberClasses && n <= l.rows/2 {
		return "classify", many, nil
	}
	values := slices.Collect(maps.Keys(l.numbers))
	if len(l.texts) > 0 {
		return "regress", many, nil
	}
	low, high := slices.Min(values), slices.Max(values)
	if (low == 0 || low == 1) && high-low == float64(n-1) && l.rows >= 10*n {
		return "classify", fmt.Sprintf("labels are the numbers %g to %g without a gap", low, high), nil
	}
	return "regress", many, nil
}

// labelled is what messages call the labels.
func (s *Summary) labelled() string {
	if s.label == "" {
		return "the label"
	}
	return fmt.Sprintf("the label, column %q,", s.label)
}

// Classes are the classes of the labels; a single one or too many are an error.
func (s *Summary) Classes() (*Classes, error) {
	l := &s.labels
	if l.overflow {
		most := maxDistinct
		if l.fraction {
			most = maxFractions
		}
		return nil, option.Errorf("%s has more than %s different values in %s rows, too many for classes; name another column with %s, or predict "+
			"numbers with %s", s.labelled(), units.Count(most), units.Count(l.rows), option.Ref("label"), option.Set("task", "regress"))
	}
	if n := l.distinct(); !l.nominal && (n > 20 && n == l.rows || n > 100 && 2*n > l.rows) {
		return nil, option.Errorf("%s has %d different values in %d rows, so it says nothing that other rows could "+
			"tell; name another column with %s, or predict numbers with %s", s.labelled(), n, l.rows, option.Ref("label"), option.Set("task", "regress"))
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

// number writes a number as a label: +1, 1 and 1.0 are the same. Whole ones are written out, 1000000 and not 1e+06.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e21 {
		return strconv.FormatFloat(v+0, 'f', -1, 64) // +0: no -0
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Numeric says that a label that is kept as text is a number all the same, of which float64 has not all digits or zeros.
func Numeric(label string) bool {
	v, err := strconv.ParseFloat(label, 64)
	return err == nil && spelled([]byte(label), v)
}

// spelled says that a label is a whole number of which float64 loses digits, such as an ID of 19, or leading zeros, or -0: it is kept as
// text beside the number.
func spelled(label []byte, v float64) bool {
	if string(label) == "-0" {
		return true
	}
	if len(label) > 0 && label[0] == '-' {
		label = label[1:]
	}
	for _, c := range label {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(label) > 1 && label[0] == '0' || math.Abs(v) >= 1<<53 && number(math.Abs(v)) != string(label)
}

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
			if k, two := c.numbers[v]; !two || l == number(v) {
				c.numbers[v] = i
			} else if k >= 0 && labels[k] != number(v) {
				c.numbers[v] = -1 // which of them a number is cannot be told
			}
		}
	}
	return c
}

// Labels are the labels of the classes in their order.
func (c *Classes) Labels() []string { return c.labels }

// Alike are the first two classes that a person would take for one: they differ in capitals, in white space, or in how their letters
// are composed of code points.
func (c *Classes) Alike() (one, other string, ok bool) {
	seen := make(map[string]string, len(c.labels))
	for _, name := range c.labels {
		plain := strings.ToLower(norm.NFKC.String(strings.Join(strings.Fields(name), " ")))
		if before, ok := seen[plain]; ok {
			return before, name, true
		}
		seen[plain] = name
	}
	return "", "", false
}

// Named is the class with a label, -1 if there is none.
func (c *Classes) Named(label string) int {
	if k, known := c.texts[label]; known {
		return k
	}
	if v, err := strconv.ParseFloat(label, 64); err == nil {
		if k, known := c.numbers[v]; known && k >= 0 && c.spelledAs(k, label) {
			return k
		}
	}
	return -1
}

// spelledAs says that a number written so is the label of class k, which may have other zeros in front, and not only the same float64.
func (c *Classes) spelledAs(k int, number string) bool {
	v, err := strconv.ParseFloat(number, 64)
	return err != nil || math.Abs(v) < 1<<53 || strings.TrimLeft(c.labels[k], "0") == strings.TrimLeft(number, "0")
}

// Of is the class of row i of a batch, -1 if its label is none of the classes.
func (c *Classes) Of(b *matrix.Batch, i int) int {
	var class int
	var known bool
	if b.Names != nil && b.Names[i] != "" {
		if class, known = c.texts[b.Names[i]]; !known && !math.IsNaN(b.Y[i*b.Outputs]) {
			class, known = c.numbers[b.Y[i*b.Outputs]]
			known = known && class >= 0 && c.spelledAs(class, b.Names[i])
		}
	} else {
		class, known = c.numbers[b.Y[i]]
	}
	if !known {
		return -1
	}
	return class
}
