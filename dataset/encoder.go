package dataset

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/vec"
)

// Encoder turns records into rows of numbers according to a schema: a number for each numeric column,
// one-hot for each categorical one. An unknown value of a categorical column counts as none of the known
// ones: all dimensions of the column are 0. A missing number is filled in according to the schema's Missing.
//
// It reuses its memory and must be used by one goroutine at a time.
type Encoder struct {
	schema  *Schema
	columns []encodedColumn
	names   []string  // of the columns
	decimal byte      // of text in columns of plain numbers
	wide    []float64 // values of the numeric columns before the first categorical one
	byName  map[string]int
	means   *meanRows // nil: no column has means
	plain   []float32 // a row without them
	scratch []byte
	got     cell
	text    []byte // of got
	pairs   []pair

	plans map[reflect.Type][]int // of struct types: the column of each field, -1 for none
	seen  []bool
}

// encodedColumn is an input column of the schema.
type encodedColumn struct {
	name  string
	at    int              // its first dimension
	codes map[string]int32 // nil: numeric, or coded
	mean  float64

	coder     coder    // nil: numeric, or one-hot
	marked    bool     // marks such as - stand for a missing value
	marks     []string // and these
	gaps      []float64
	indicator int // the dimension that says that the value is missing; 0: none
}

// NewEncoder makes an encoder of records by a schema. If the schema has no columns, as for an
// array or LIBSVM text, each dimension is a column named by its number in the file.
func NewEncoder(s *Schema) *Encoder {
	e := &Encoder{schema: s, decimal: s.decimal(), byName: map[string]int{}, means: newMeanRows(s.Columns)}
	columns, at := withoutMeans(s.Columns), 0
	for i := range columns {
		c := &columns[i]
		col := encodedColumn{name: c.Name, at: at, mean: c.Mean, marked: c.Categories == nil && c.Coding.marked(), marks: c.Marks}
		if c.Categories != nil {
			col.codes = make(map[string]int32, len(c.Categories))
			for code, value := range c.Categories {
				col.codes[value] = int32(code)
			}
		}
		if c.Coding != nil {
			col.coder = newCoder(c)
			if n, isNumber := col.coder.(*numberCoder); isNumber {
				n.foreign = true
			}
		}
		if c.kind() == KindNumber {
			col.gaps = gapsAmong(s.NA, c.Marks)
		}
		at += c.Width()
		if c.Indicator {
			col.indicator = at - 1
		}
		e.columns = append(e.columns, col)
	}
	for j := at; j < s.Dim && s.Columns == nil; j++ {
		e.columns = append(e.columns, encodedColumn{name: strconv.Itoa(j + s.Base), at: j})
	}
	for i, c := range e.columns {
		e.byName[c.name] = i
		e.names = append(e.names, c.name)
	}
	leading := slices.IndexFunc(e.columns, func(c encodedColumn) bool {
		return c.codes != nil || c.coder != nil || c.indicator > 0 || c.gaps != nil
	})
	if leading < 0 {
		leading = len(e.columns)
	}
	if e.means != nil {
		e.plain = make([]float32, e.means.dim)
	}
	e.wide = make([]float64, leading)
	e.seen = make([]bool, len(e.columns))
	return e
}

// Columns are the names of the columns, in the order of Values.
func (e *Encoder) Columns() []string {
	return slices.Clone(e.names)
}

// Dim is the number of dimensions of a row.
func (e *Encoder) Dim() int { return e.schema.Dim }

// Map writes the row of a record into dst, which must have Dim numbers. Fields unknown to the
// schema, such as a label, are ignored; absent fields are missing values. It fails with
// a [FieldError].
func (e *Encoder) Map(dst []float32, record map[string]any) error {
	row := e.begin(dst)
	n := len(e.wide)
	for i, name := range e.names[:n] {
		x, ok := record[name].(float64)
		if !ok {
			n = i
			break
		}
		e.wide[i] = x
	}
	for i := e.round(row, n); i < len(e.columns); i++ {
		c := &e.columns[i]
		v, there := record[c.name]
		if !there {
			if err := e.missing(row, c); err != nil {
				return err
			}
			continue
		}
		if err := e.value(row, c, v); err != nil {
			return err
		}
	}
	e.complete(dst)
	return nil
}

// Values is Map for values in the order of Columns.
func (e *Encoder) Values(dst []float32, values ...any) error {
	if len(values) != len(e.columns) {
		return fmt.Errorf("%d values for %d columns (%s)", len(values), len(e.columns), e.listed())
	}
	row := e.begin(dst)
	wide := e.wide
	for i, v := range values[:len(wide)] {
		x, ok := v.(float64)
		if !ok {
			wide = wide[:i]
			break
		}
		wide[i] = x
	}
	for i := e.round(row, len(wide)); i < len(values); i++ {
		if err := e.value(row, &e.columns[i], values[i]); err != nil {
			return err
		}
	}
	e.complete(dst)
	return nil
}

// Struct is Map for a struct, or a pointer to one: a field belongs to the column named by its tag mercer:"name",
// otherwise by its json tag, otherwise by its own name. With a pointer it does not allocate.
func (e *Encoder) Struct(dst []float32, record any) error {
	r := reflect.ValueOf(record)
	for r.Kind() == reflect.Pointer && !r.IsNil() {
		r = r.Elem()
	}
	if r.Kind() != reflect.Struct {
		return fmt.Errorf("%T is no struct", record)
	}
	plan, known := e.plans[r.Type()]
	if !known {
		plan = e.plan(r.Type())
	}
	row := e.begin(dst)
	clear(e.seen)
	for f, column := range plan {
		if column < 0 {
			continue
		}
		c := &e.columns[column]
		e.seen[column] = true
		e.text = e.text[:0]
		if !e.got.setReflect(r.Field(f), &e.text) {
			return &FieldError{c.name, r.Field(f).Interface(), fmt.Sprintf("%v is neither a number nor a text", r.Field(f))}
		}
		if err := e.cell(row, c, &e.got); err != nil {
			return err
		}
	}
	for i, seen := range e.seen {
		if !seen {
			if err := e.missing(row, &e.columns[i]); err != nil {
				return err
			}
		}
	}
	e.complete(dst)
	return nil
}

// plan finds the column of each field of a struct type.
func (e *Encoder) plan(t reflect.Type) []int {
	plan := make([]int, t.NumField())
	for f := range plan {
		plan[f] = -1
		name := fieldName(t.Field(f))
		if column, ok := e.byName[name]; ok && name != "" {
			plan[f] = column
		}
	}
	if e.plans == nil {
		e.plans = map[reflect.Type][]int{}
	}
	e.plans[t] = plan
	return plan
}

// fieldName is the column of a field of a struct, "" for none.
func fieldName(f reflect.StructField) string {
	if !f.IsExported() {
		return ""
	}
	for _, key := range []string{"mercer", "json"} {
		if tag, ok := f.Tag.Lookup(key); ok {
			name, _, _ := strings.Cut(tag, ",")
			if name == "-" {
				return ""
			}
			if name != "" {
				return name
			}
		}
	}
	return f.Name
}

// begin clears the row and returns where its columns are written to.
func (e *Encoder) begin(dst []float32) []float32 {
	if len(dst) != e.schema.Dim {
		panic(fmt.Sprintf("dataset: Encoder wants a dst of %d numbers, got %d", e.schema.Dim, len(dst)))
	}
	clear(dst)
	if e.means == nil {
		return dst
	}
	clear(e.plain)
	return e.plain
}

// complete writes into dst what follows from the row without means.
func (e *Encoder) complete(dst []float32) {
	if e.means != nil {
		e.means.expand(dst, e.plain)
	}
}

// round writes the first n of e.wide, which are float64 and no values of other types, as the first n columns. It
// returns the first column that is left: 0 if some of these are missing or out of range.
func (e *Encoder) round(dst []float32, n int) int {
	vec.Round32(dst[:n], e.wide[:n])
	if vec.Finite32(dst[:n]) {
		return n
	}
	clear(dst[:n])
	return 0
}

// value writes a value into its dimensions.
func (e *Encoder) value(dst []float32, c *encodedColumn, v any) error {
	// The most common case.
	if x, ok := v.(float64); ok && c.codes == nil && c.coder == nil && c.gaps == nil && math.Abs(x) <= maxValue {
		dst[c.at] = float32(x)
		return nil
	}
	e.text = e.text[:0]
	if !e.got.set(v, &e.text) {
		return &FieldError{c.name, v, fmt.Sprintf("%v is neither a number nor a text", v)}
	}
	return e.cell(dst, c, &e.got)
}

func (e *Encoder) cell(dst []float32, c *encodedColumn, v *cell) error {
	isMissing := v.kind == cellMissing || v.kind == cellText && (e.isMissing(v.text) || c.marked && noNumber(v.text) || among(c.marks, v.text))
	if c.gaps != nil && !isMissing {
		x, ok := v.value(e.decimal)
		isMissing = ok && slices.Contains(c.gaps, x) || v.kind == cellText && isGap(c.gaps, c.coder, v.text)
	}
	switch {
	case isMissing && (c.coder != nil || e.schema.Missing == missingAuto):
		return e.missing(dst, c)
	case c.coder != nil:
		return e.coded(dst, c, v)
	}
	if c.codes != nil {
		code, known := v.category(c.codes, &e.scratch)
		if known {
			dst[c.at+int(code)] = 1
		}
		return nil
	}
	if isMissing {
		return e.missing(dst, c)
	}
	x, ok := v.value(e.decimal)
	if !ok && v.kind == cellText {
		x, _, ok = foreignNumber(v.text, e.decimal)
	}
	switch {
	case !ok:
		text := v.bytes(&e.scratch)
		return &FieldError{c.name, string(text), fmt.Sprintf("%q is not a number", shorten(text))}
	case !(x <= maxValue && x >= -maxValue):
		return &FieldError{c.name, x, fmt.Sprintf("%g is out of float32's range (3.4e38)", x)}
	}
	dst[c.at] = float32(x)
	return nil
}

// isMissing says that a text stands for a missing value.
func (e *Encoder) isMissing(text []byte) bool {
	return missing(text) || among(e.schema.NA, text)
}

// coded writes a value of a column that has a coding.
func (e *Encoder) coded(dst []float32, c *encodedColumn, v *cell) error {
	if coder, ok := c.coder.(cellCoder); ok {
		if values, ok := coder.codeCell(e.pairs[:0], v); ok {
			e.put(dst, c, values)
			return nil
		}
	}
	e.scratch = e.scratch[:0]
	if v.kind == cellNumber { // without an exponent
		e.scratch = strconv.AppendFloat(e.scratch, v.number, 'f', -1, 64)
	} else {
		e.scratch = v.append(e.scratch)
	}
	values, _, err := c.coder.code(e.pairs[:0], e.scratch)
	if err != nil {
		return &FieldError{c.name, string(e.scratch), err.Error()}
	}
	e.put(dst, c, values)
	return nil
}

func (e *Encoder) put(dst []float32, c *encodedColumn, values []pair) {
	e.pairs = values
	for _, v := range values {
		dst[c.at+int(v.at)] = v.v
	}
}

// missing fills in an absent value.
func (e *Encoder) missing(dst []float32, c *encodedColumn) error {
	if c.indicator > 0 {
		dst[c.indicator] = 1
	}
	if c.coder != nil {
		if e.schema.Missing != "zero" {
			e.put(dst, c, c.coder.fill(e.pairs[:0]))
		}
		return nil
	}
	if c.codes != nil {
		if code, known := c.codes[""]; known {
			dst[c.at+int(code)] = 1
		}
		return nil
	}
	switch e.schema.Missing {
	case "mean", missingAuto:
		dst[c.at] = float32(c.mean)
		return nil
	case "zero":
		return nil
	}
	return &FieldError{Field: c.name, Reason: "the value is missing, and the model was trained without a rule for missing values (missing: " +
		"mean or zero)"}
}

// listed are the first columns, for messages.
func (e *Encoder) listed() string {
	names := e.Columns()
	if len(names) > 12 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:12], ", "), len(names)-12)
	}
	return strings.Join(names, ", ")
}
