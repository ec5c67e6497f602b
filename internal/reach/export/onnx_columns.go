package export

import (
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
)

// encode adds an input for each column, or one of all numbers where the data have no columns, and turns them into rows of
// float32.
func (o *onnx) encode() (string, error) {
	if len(o.Columns) == 0 {
		return o.input("x", typeFloat, o.Dim), nil
	}
	var parts []string
	at := 0
	for i := 0; i < len(o.Columns); i++ {
		c := &o.Columns[i]
		if c.At != at {
			return "", fmt.Errorf("the column %q begins at dimension %d, and those before end at %d", c.Name, c.At, at)
		}
		if !c.plain() {
			part, width, err := o.column(c)
			if err != nil {
				return "", err
			}
			parts, at = append(parts, part...), at+width
			continue
		}
		// Numbers side by side are filled in together.
		var run []string
		var means []float32
		for ; i < len(o.Columns) && o.Columns[i].plain(); i++ {
			run, means = append(run, o.input(o.Columns[i].Name, typeFloat, 1)), append(means, o.fill(&o.Columns[i]))
			at++
		}
		i--
		part := o.join(run)
		if o.fills() {
			part = o.op("Where", o.op("IsNaN", part), o.float([]int{1, len(means)}, means), part)
		}
		parts = append(parts, part)
	}
	if at != o.Dim { // dimensions beyond the columns, as in LIBSVM text
		return "", fmt.Errorf("the columns have %d dimensions, and rows %d", at, o.Dim)
	}
	return o.join(parts), nil
}

// plain says that a column is a number without anything beside it.
func (c *column) plain() bool {
	return c.Categories == nil && c.Coding == nil && c.Means == nil && c.Indicator == 0
}

// fills says that missing numbers are filled in.
func (o *onnx) fills() bool { return o.Missing != "error" }

// fill is what a missing number becomes.
func (o *onnx) fill(c *column) float32 {
	if o.Missing == "zero" {
		return 0
	}
	return float32(c.Mean)
}

// column adds an input and returns its dimensions and their number.
func (o *onnx) column(c *column) ([]string, int, error) {
	var part, missing string // n×w; and a bool, n×1
	width := 1
	switch {
	case c.Categories != nil:
		in := o.input(c.Name, typeString, 1)
		codes := map[string]int64{}
		for i, v := range c.Categories {
			codes[v] = int64(i)
		}
		if empty, known := codes[""]; known && o.Missing == "auto" {
			for _, word := range o.missingTexts() {
				codes[word] = empty
			}
		} else if o.Missing == "auto" {
			for _, word := range o.missingTexts() {
				delete(codes, word)
			}
		}
		width = len(c.Categories)
		part = o.oneHot(o.codes(in, codes, -1), width)
		missing = in
	case c.Coding == nil || c.Coding.Kind == dataset.CodedNumber:
		part = o.input(c.Name, typeFloat, 1)
		nan := o.op("IsNaN", part)
		missing = nan
		if c.Coding != nil || o.fills() {
			part = o.op("Where", nan, o.one(o.fill(c)), part)
		}
		if c.Means != nil {
			part, width = o.means(c.Means, part), c.Means.Outputs
		}
		parts := []string{part}
		if c.Indicator > 0 {
			parts, width = append(parts, o.cast(nan, typeFloat)), width+1
		}
		return parts, width, nil
	case c.Coding.Kind == dataset.CodedOffset:
		return nil, 0, errOffset(c)
	case c.Coding.Kind == dataset.CodedOrdinal:
		in := o.input(c.Name, typeString, 1)
		keys, levels := make([]string, 0, len(c.Coding.Values)), []float32{}
		at := map[string]int{}
		add := func(key string, level float32) {
			if i, known := at[key]; known {
				levels[i] = level
				return
			}
			at[key] = len(keys)
			keys, levels = append(keys, key), append(levels, level)
		}
		for i, v := range c.Coding.Values {
			add(v, float32(i))
		}
		for _, word := range o.missingTexts() {
			add(word, o.fill(c))
		}
		part = o.node("ml:LabelEncoder", []string{in}, texts("keys_strings", keys), numbers("values_floats", levels),
			number("default_float", float32(c.Mean)))
		missing = in
	case c.Coding.Kind == dataset.CodedHashed && c.Coding.Buckets == 1:
		in := o.input(c.Name, typeString, 1)
		codes := map[string]int64{}
		rare := int64(len(c.Coding.Values))
		for i, v := range c.Coding.Values {
			codes[v] = int64(i)
		}
		empty, known := codes[""]
		if !known {
			empty = rare
		}
		if o.Missing == "zero" {
			empty = -1
		}
		for _, word := range o.missingTexts() {
			codes[word] = empty
		}
		width = len(c.Coding.Values) + 1
		part = o.oneHot(o.codes(in, codes, rare), width)
		missing = in
	case c.Coding.Kind == dataset.CodedDate:
		in := o.input(c.Name, typeString, 1)
		var err error
		if part, width, err = o.date(c, in); err != nil {
			return nil, 0, fmt.Errorf("the column %q cannot be expressed in ONNX: %w", c.Name, err)
		}
		missing = in
	default:
		return nil, 0, fmt.Errorf("the column %q is coded as %s by hashes of its words, and ONNX has no hash; leave it out, or make it a category",
			c.Name, c.Coding.Kind)
	}
	if c.Means != nil {
		part, width = o.means(c.Means, part), c.Means.Outputs
	}
	parts := []string{part}
	if c.Indicator > 0 {
		parts, width = append(parts, o.cast(o.isMissing(missing), typeFloat)), width+1
	}
	return parts, width, nil
}

// means are the mean targets of a column's values, n×K, of the dimensions that it would have without.
func (o *onnx) means(m *dataset.Means, part string) string {
	rows := len(m.Values) / m.Outputs
	table := o.float([]int{rows, m.Outputs}, m.Values)
	if m.Numbers == nil {
		none := o.op("Sub", o.one(1), o.sum(part, 1))
		return o.op("MatMul", o.join([]string{part, none}), table)
	}
	of := make([]int64, len(m.Numbers))
	for i := range of {
		of[i] = int64(i)
	}
	at := o.node("ml:LabelEncoder", []string{part}, numbers("keys_floats", m.Numbers), ints("values_int64s", of...),
		integer("default_int64", int64(rows-1)))
	return o.reshape(o.op("Gather", table, at), -1, int64(m.Outputs))
}

// codes are the numbers of texts, n×1.
func (o *onnx) codes(in string, of map[string]int64, other int64) string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	values := make([]int64, len(keys))
	for i, key := range keys {
		values[i] = of[key]
	}
	if len(keys) == 0 { // LabelEncoder wants one
		keys, values = []string{""}, []int64{other}
	}
	return o.node("ml:LabelEncoder", []string{in}, texts("keys_strings", keys), ints("values_int64s", values...), integer("default_int64", other))
}

// oneHot is 1 in the column of the code.
func (o *onnx) oneHot(code string, width int) string {
	each := make([]int64, width)
	for i := range each {
		each[i] = int64(i)
	}
	return o.cast(o.op("Equal", code, o.whole([]int{1, width}, each)), typeFloat)
}

// missingWords are the texts that stand for missing values in columns of all kinds, in lower case.
var missingWords = []string{"", "?", "na", "n/a", "nan", "-nan", "null", "none", "<na>", `\n`, "#na", "#n/a", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan",
	"-1.#qnan"}

// absentWords are those that do so among numbers and dates besides.
var absentWords = []string{"-", "--", "–", "—", ".", "..", "...", "_", "*", "nat", "nil", "nd", "n.a.", "n.a", "n/d", "(null)", "[null]", "missing", "unknown",
	"undefined", "not available", "not applicable", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!", "0000-00-00", "0000-00-00 00:00:00"}

// isMissing says which texts stand for missing values, other marks besides.
func (o *onnx) isMissing(in string, marks ...string) string {
	codes := map[string]int64{}
	for _, word := range append(o.missingTexts(), marks...) {
		codes[word] = 1
	}
	return o.op("Equal", o.codes(in, codes, 0), o.list(1))
}

// missingTexts are the texts that stand for missing values, in any case.
func (o *onnx) missingTexts() []string {
	all := slices.Clone(o.NA)
	for _, word := range missingWords {
		for bits := range 1 << len(word) {
			mixed := []byte(word)
			for i := range mixed {
				if bits>>i&1 == 1 {
					mixed[i] = strings.ToUpper(word[i : i+1])[0]
				}
			}
			all = append(all, string(mixed))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
