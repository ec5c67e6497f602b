package export

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// sourceField is a column as a field of a row.
type sourceField struct {
	*column
	ident string
	text  bool
	date  bool // as seconds since 1970, of its clock
	whole bool // C keeps it in double
}

// goldenRows are rows of raw values that a file tests itself with, and their scores.
type goldenRows struct {
	values [][]any // of a row: float64, and string for texts
	scores *matrix.Dense
}

// newGolden makes raw rows of the synthetic ones of a model. One has missing values if the model knows them.
func newGolden(m *model.Model) (*goldenRows, error) {
	rows, _ := m.Golden()
	if rows == nil {
		return nil, fmt.Errorf("the model has no golden rows to test the file with")
	}
	schema := &m.Info().Schema
	g, x := &goldenRows{scores: matrix.NewDense(rows.Rows, m.Outputs())}, matrix.NewDense(rows.Rows, m.Dim())
	encoder := dataset.NewEncoder(schema)
	for i := range rows.Rows {
		var values []any
		if len(schema.Columns) == 0 {
			for _, v := range rows.Row(i) {
				values = append(values, float64(v))
			}
			copy(x.Row(i), rows.Row(i))
		} else {
			at := 0
			for c := range schema.Columns {
				values = append(values, rawValue(&schema.Columns[c], rows.Row(i), at, i))
				at += schema.Columns[c].Width()
			}
			if err := encoder.Values(x.Row(i), values...); err != nil {
				return nil, fmt.Errorf("a golden row: %w", err)
			}
		}
		g.values = append(g.values, values)
	}
	if err := m.Scores(g.scores, matrix.Rows{Dense: x}); err != nil {
		return nil, err
	}
	return g, nil
}

// rawValue is a value of a column that row x from at on may be of.
func rawValue(c *dataset.Column, x []float32, at, i int) any {
	texts := c.Categories
	if c.Coding != nil && (c.Coding.Kind == dataset.CodedOrdinal || c.Coding.Kind == dataset.CodedHashed) {
		texts = c.Coding.Values
	}
	switch {
	case c.Coding != nil && c.Coding.Kind == dataset.CodedDate:
		return time.Unix(int64(float64(x[at])*86400), 0).UTC()
	case texts != nil || c.Coding != nil && c.Coding.Kind == dataset.CodedText:
		if n := i % (len(texts) + 1); n < len(texts) {
			return texts[n]
		}
		return "\"*/ none of \\ them ??/"
	case c.Indicator && i == 3:
		return math.NaN()
	case c.Means != nil && len(c.Means.Numbers) > 0:
		return float64(c.Means.Numbers[i%len(c.Means.Numbers)])
	case c.Coding != nil && c.Coding.Kind == dataset.CodedOffset:
		return c.Coding.Offset + float64(x[at])
	}
	return float64(x[at])
}

// encoding writes the function that turns columns into the row x.
func (s *sourceCode) encoding() error {
	if err := s.nameFields(); err != nil {
		return err
	}
	before, err := s.wide, error(nil)
	s.wide = true
	text := s.aside(func() {
		s.loop("j", 0, s.Dim, func() { s.p("@x[j] = 0") })
		if s.Columns == nil {
			s.loop("j", 0, s.Dim, func() {
				s.p("@x[j] = %s", s.cell("j"))
				s.check("$x[j]", "j+1")
			})
		}
		for i := range s.fields {
			s.p("{")
			if err = s.encode(i); err != nil {
				return
			}
			s.p("}")
		}
	})
	s.wide = before
	head := map[string]string{"go": "// encode makes numbers of a row, and returns the column at fault, from 1, or 0.\nfunc (m *Model) encode(row *Row) int {\nx := &m.x\n",
		"js": "\nfunction encode(row) {\n", "c": "\nstatic int encode(const struct PREFIX_row *row) {\n"}[s.tongue.name]
	s.declared.WriteString(strings.ReplaceAll(head, "PREFIX", s.options.Package) + text)
	if s.tongue.name != "js" {
		s.declared.WriteString("return 0" + s.end + "\n")
	}
	s.declared.WriteString("}\n")
	return err
}

// check fails for a column whose number is not finite.
func (s *sourceCode) check(x, column string) {
	fault := "return " + column
	if s.tongue.name == "js" {
		fault = "fault(" + column + ")"
	}
	s.when(fmt.Sprintf("!(%s <= %s && %[1]s >= -%[2]s)", x, s.num(math.MaxFloat32)), func() { s.p("%s", fault) })
}

// cell is a raw value, an expression.
func (s *sourceCode) cell(ident string) string {
	switch s.tongue.name {
	case "go":
		if s.Columns == nil {
			return "row[" + ident + "]"
		}
		return "row." + ident
	case "c":
		if s.Columns == nil {
			return "row->x[" + ident + "]"
		}
		return "row->" + ident
	}
	return "number(row, " + ident + ")"
}

// nameFields makes a field of each column.
func (s *sourceCode) nameFields() error {
	taken := map[string]bool{}
	for i := range s.Columns {
		c := &s.Columns[i]
		f := sourceField{column: c, ident: s.identifier(c.Name, i, taken), text: c.Categories != nil}
		if c.Coding != nil {
			switch k := c.Coding.Kind; {
			case k == dataset.CodedOrdinal:
				f.text = true
			case k == dataset.CodedHashed && c.Coding.Buckets == 1:
				f.text = true
			case k == dataset.CodedOffset:
				f.whole = true
			case k == dataset.CodedDate:
				f.whole, f.date = true, true
			case k != dataset.CodedNumber:
				return fmt.Errorf("the column %q is coded as %s by hashes of its words, and source code has not that hash; leave it out, or make it a category",
					c.Name, k)
			}
		}
		list := c.Categories
		if c.Coding != nil {
			list = append(slices.Clone(list), c.Coding.Values...)
		}
		if s.tongue.name == "c" && slices.ContainsFunc(list, hasNUL) {
			return fmt.Errorf("the column %q has a category with a zero byte, which a text of C cannot have", c.Name)
		}
		s.fields = append(s.fields, f)
	}
	if n := len(s.fields); n > 0 && s.Dim != s.Columns[n-1].At+s.width(n-1) {
		return fmt.Errorf("the columns have %d dimensions, and rows %d", s.Columns[n-1].At+s.width(n-1), s.Dim)
	}
	return nil
}

// width is the number of dimensions of a column.
func (s *sourceCode) width(i int) int {
	c, n := &s.Columns[i], 1
	switch {
	case c.Means != nil:
		n = c.Means.Outputs
	case c.Categories != nil:
		n = len(c.Categories)
	case c.Coding != nil && c.Coding.Kind == dataset.CodedHashed:
		n = len(c.Coding.Values) + c.Coding.Buckets
	case s.fields[i].date && c.Coding.Hours:
		n = 8
	case s.fields[i].date:
		n = 6
	}
	if c.Indicator > 0 {
		n++
	}
	return n
}

// reserved are words that no field of C may have for a name, in C++ neither.
const reserved = ` alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr continue decltype default
 delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
 nullptr operator or or_eq private protected public register restrict return short signed sizeof static struct switch template this throw true
 try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq linux unix `

// identifier is the name of a field for a column: its letters and digits, and its number where that says nothing, or the same twice.
func (s *sourceCode) identifier(name string, i int, taken map[string]bool) string {
	if s.tongue.name == "js" {
		return fmt.Sprintf("columns[%d]", i)
	}
	var b strings.Builder
	up := true
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		switch {
		case !letter && (r < '0' || r > '9'):
			up = true
			continue
		case s.tongue.name == "go" && up:
			b.WriteString(strings.ToUpper(string(r)))
		case s.tongue.name == "c":
			if up && b.Len() > 0 {
				b.WriteByte('_')
			}
			b.WriteString(strings.ToLower(string(r)))
		default:
			b.WriteRune(r)
		}
		up = false
	}
	ident := b.String()
	if ident == "" || ident[0] <= '9' || taken[ident] || strings.Contains(reserved, " "+ident+" ") || strings.Contains(reserved, " "+ident+"\n") {
		ident = fmt.Sprintf("%s%d", map[string]string{"go": "Column", "c": "column_"}[s.tongue.name], i+1)
	}
	for taken[ident] {
		ident += "_"
	}
	taken[ident] = true
	return ident
}

// encode writes the dimensions of a column.
func (s *sourceCode) encode(i int) error {
	f := &s.fields[i]
	c := f.column
	switch {
	case f.text:
		return s.encodeText(i)
	case f.date:
		s.encodeDate(i)
		return nil
	}
	s.let("t", s.cell(f.ident))
	fills := c.Coding != nil || s.Missing != "error"
	if fills || c.Indicator > 0 {
		s.when("t != t", func() {
			if c.Indicator > 0 {
				s.p("@x[%d] = 1", c.Indicator)
			}
			fill := c.Mean
			if s.Missing == "zero" {
				fill = 0
				if c.Coding != nil {
					fill = c.Coding.Offset
				}
			}
			s.p("t = %s", s.num(fill))
		})
	}
	s.check("t", fmt.Sprint(i+1))
	if f.whole {
		s.p("t -= %s", s.num(c.Coding.Offset))
	}
	s.p("@x[%d] = t", c.At)
	if m := c.Means; m != nil {
		numbers := s.floats(append(slices.Clone(m.Numbers), 0))
		s.index("code", fmt.Sprintf("placeOf(%s, %d, $x[%d])", s.arg(numbers), len(m.Numbers), c.At))
		s.means(m, c.At)
	}
	return nil
}

// encodeDate writes the dimensions of a date: the year begins on the first of March while days are counted.
func (s *sourceCode) encodeDate(i int) {
	f := &s.fields[i]
	c := f.column
	s.let("t", s.cell(f.ident))
	s.p("if (t != t) {")
	if c.Indicator > 0 {
		s.p("@x[%d] = 1", c.Indicator)
	}
	if s.Missing != "zero" {
		s.p("@x[%d] = %s", c.At, s.num(c.Mean))
		s.p("@x[%d] = %d", c.At+1, time.Unix(int64(c.Mean*86400), 0).UTC().Year())
	}
	s.p("} else {")
	s.check("t", fmt.Sprint(i+1))
	s.let("days", "floorOf(t/86400)")
	s.let("era", "floorOf((days + 719468)/146097)")
	s.let("day", "days + 719468 - era*146097")
	s.let("year", "floorOf((day - floorOf(day/1460) + floorOf(day/36524) - floorOf(day/146096))/365)")
	s.p("day -= 365*year + floorOf(year/4) - floorOf(year/100)")
	s.p("year += 400*era")
	s.p("if (day >= 306) {")
	s.p("year += 1")
	s.p("day -= 306")
	s.p("} else {")
	s.p("day += 59")
	s.when("year == 4*floorOf(year/4) && (year != 100*floorOf(year/100) || year == 400*floorOf(year/400))", func() { s.p("day += 1") })
	s.p("}")
	s.p("@x[%d] = days + (t - days*86400)/86400", c.At)
	s.p("@x[%d] = year", c.At+1)
	cycle := func(at int, share string) {
		for k, of := range []string{"sinOf", "cosOf"} {
			s.p("@x[%d] = %s(%s*%s)", c.At+at+k, of, s.num(2*math.Pi), share)
		}
	}
	cycle(2, "day/"+s.num(365.25))
	cycle(4, "(days + 4 - 7*floorOf((days + 4)/7))/7")
	if c.Coding.Hours {
		cycle(6, "floorOf(t - days*86400)/86400")
	}
	s.p("}")
}

// means writes the mean targets of the value that code says.
func (s *sourceCode) means(m *dataset.Means, at int) {
	table := s.floats(m.Values)
	s.when("code < 0", func() { s.p("code = %d", len(m.Values)/m.Outputs-1) })
	s.loop("k", 0, m.Outputs, func() { s.p("@x[%d+k] = $%s[code*%d+k]", at, table, m.Outputs) })
}

// encodeText writes the dimensions of a column of texts.
func (s *sourceCode) encodeText(i int) error {
	f := &s.fields[i]
	c := f.column
	texts := c.Categories
	if c.Coding != nil {
		texts = c.Coding.Values
	}
	cell := s.cell(f.ident)
	if s.tongue.name == "js" {
		cell = "text(row, " + f.ident + ")"
	}
	s.index("code", s.codes(texts)+"("+cell+")")
	empty := slices.Index(texts, "")
	ordinal, hashed := c.Coding != nil && c.Coding.Kind == dataset.CodedOrdinal, c.Coding != nil && c.Coding.Kind == dataset.CodedHashed
	if hashed {
		s.when("code < 0", func() { s.p("code = %d", len(texts)) })
		if empty < 0 {
			empty = len(texts)
		}
		if s.Missing == "zero" {
			empty = -1
		}
	}
	if c.Indicator > 0 || s.Missing == "auto" || hashed || ordinal {
		s.when("missing("+cell+")", func() {
			if c.Indicator > 0 {
				s.p("@x[%d] = 1", c.Indicator)
			}
			switch {
			case ordinal:
				s.p("code = -2")
			case hashed || s.Missing == "auto":
				s.p("code = %d", empty)
			}
		})
	}
	if ordinal {
		fill := c.Mean
		if s.Missing == "zero" {
			fill = 0
		}
		s.p("if (code == -2) {")
		s.p("@x[%d] = %s", c.At, s.num(fill))
		s.p("} else if (code < 0) {")
		s.p("@x[%d] = %s", c.At, s.num(c.Mean))
		s.p("} else {")
		s.p("@x[%d] = %s", c.At, map[string]string{"go": "float64(code)"}[s.tongue.name]+map[bool]string{true: "code"}[s.tongue.name != "go"])
		s.p("}")
		return nil
	}
	if c.Means != nil {
		s.means(c.Means, c.At)
		return nil
	}
	s.when("code >= 0", func() { s.p("@x[%d+code] = 1", c.At) })
	return nil
}

// codes writes a function from texts to their numbers, and returns its name.
func (s *sourceCode) codes(texts []string) string {
	s.arrays++
	name := fmt.Sprintf("code%d", s.arrays)
	var b strings.Builder
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(texts[i], texts[j]) })
	switch s.tongue.name {
	case "go":
		fmt.Fprintf(&b, "func %s(text string) int {\nswitch text {\n", name)
		for _, i := range order {
			fmt.Fprintf(&b, "case %s:\nreturn %d\n", s.tongue.text(texts[i]), i)
		}
		b.WriteString("}\nreturn -1\n}\n\n")
	case "js":
		fmt.Fprintf(&b, "const map%s = new Map([", name)
		for _, i := range order {
			fmt.Fprintf(&b, "[%s, %d], ", s.tongue.text(texts[i]), i)
		}
		fmt.Fprintf(&b, "]);\nconst %s = (text) => map%[1]s.get(text) ?? -1;\n", name)
	default:
		n := len(texts)
		fmt.Fprintf(&b, "static int %s(const char *text) {\nstatic const char *const texts[%d] = {", name, max(n, 1))
		for _, i := range order {
			b.WriteString(s.tongue.text(texts[i]) + ",\n")
		}
		if n == 0 {
			b.WriteString(`""`)
		}
		fmt.Fprintf(&b, "};\nstatic const int codes[%d] = {", max(n, 1))
		for _, i := range order {
			fmt.Fprintf(&b, "%d, ", i)
		}
		if n == 0 {
			b.WriteByte('0')
		}
		fmt.Fprintf(&b, "};\nint at = found(texts, %d, text);\nreturn at < 0 ? -1 : codes[at];\n}\n\n", n)
	}
	s.declared.WriteString(b.String())
	return name
}
