package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mercer/dataset"
)

// encode turns the columns of rows t into the dimensions of a row.
func (q *sqlModel) encode() error {
	columns := q.Columns
	if len(columns) == 0 {
		for j := range q.Dim {
			columns = append(columns, column{Name: fmt.Sprintf("x%d", j), At: j})
		}
	}
	for i := range columns {
		c := &columns[i]
		if strings.ContainsRune(c.Name, 0) {
			return fmt.Errorf("the column %q has a name that SQL cannot write", c.Name)
		}
		if c.At != len(q.dims) {
			return fmt.Errorf("the column %q begins at dimension %d, and those before end at %d", c.Name, c.At, len(q.dims))
		}
		if err := q.column(c, "t."+quoted(c.Name)); err != nil {
			return err
		}
	}
	if len(q.dims) != q.Dim { // dimensions beyond the columns, as in LIBSVM text
		return fmt.Errorf("the columns have %d dimensions, and rows %d", len(q.dims), q.Dim)
	}
	return nil
}

// dim adds a dimension.
func (q *sqlModel) dim(expr string, uses ...int) {
	q.dims = append(q.dims, q.put(asDouble(expr), uses...))
}

// fill is what a missing number becomes.
func (q *sqlModel) fill(c *column) float64 {
	if q.Missing == "zero" {
		return 0
	}
	return c.Mean
}

func (q *sqlModel) column(c *column, cell string) error {
	missing := "%s IS NULL"
	at := -1
	switch {
	case c.Categories != nil:
		if slices.ContainsFunc(c.Categories, hasNUL) {
			return fmt.Errorf("the column %q has a category with a zero byte, which SQL cannot write", c.Name)
		}
		at = q.raw(q.plainText(cell))
		if q.Missing == "auto" {
			at = q.put("CASE WHEN "+q.missing(q.x(at))+" THEN '' ELSE "+q.x(at)+" END", at)
		}
		if c.Means != nil {
			q.means(c.Means, at, c.Categories)
		} else {
			for _, v := range c.Categories {
				q.dim("CASE WHEN "+q.x(at)+" = "+literal(v)+" THEN 1 ELSE 0 END", at)
			}
		}
		missing = q.missing("%s")
	case c.Coding == nil || c.Coding.Kind == dataset.CodedNumber:
		written := cell
		if c.Coding != nil && c.Coding.Bounds {
			written = q.withoutSigns(cell, c.Coding.Scales)
		}
		at = q.withoutMarks(c, cell, q.number(written))
		value := q.x(at)
		if c.Coding != nil || q.Missing != "error" {
			value = "coalesce(" + value + ", " + digits(q.fill(c)) + ")"
		} else {
			q.guards = append(q.guards, at)
		}
		if c.Means != nil {
			q.means(c.Means, q.put(value, at), nil)
		} else {
			q.dim(value, at)
		}
	case c.Coding.Kind == dataset.CodedOffset:
		return errOffset(c)
	case c.Coding.Kind == dataset.CodedOrdinal:
		at = q.raw(q.plainText(cell))
		text := "CASE"
		for i, v := range c.Coding.Values {
			text += " WHEN " + q.x(at) + " = " + literal(v) + " THEN " + fmt.Sprint(i)
		}
		q.dim(text+" WHEN "+q.missing(q.x(at))+" THEN "+digits(q.fill(c))+" ELSE "+digits(c.Mean)+" END", at)
		missing = q.missing("%s")
	case c.Coding.Kind == dataset.CodedHashed && c.Coding.Buckets == 1:
		at = q.raw(q.plainText(cell))
		if q.Missing == "zero" {
			at = q.put("CASE WHEN "+q.missing(q.x(at))+" THEN NULL ELSE "+q.x(at)+" END", at)
		} else {
			at = q.put("CASE WHEN "+q.missing(q.x(at))+" THEN '' ELSE "+q.x(at)+" END", at)
		}
		for _, v := range c.Coding.Values {
			q.dim("CASE WHEN "+q.x(at)+" = "+literal(v)+" THEN 1 ELSE 0 END", at)
		}
		if list := literals(c.Coding.Values); list != "" {
			q.dim("CASE WHEN "+q.x(at)+" NOT IN ("+list+") THEN 1 ELSE 0 END", at)
		} else {
			q.dim("CASE WHEN "+q.x(at)+" IS NOT NULL THEN 1 ELSE 0 END", at)
		}
		missing = "coalesce(" + q.missing("%s") + ", TRUE)"
	case c.Coding.Kind == dataset.CodedDate:
		at = q.date(c, cell)
	default:
		return fmt.Errorf("the column %q is coded as %s by hashes of its words, and SQL has not that hash; leave it out, or make it a category",
			c.Name, c.Coding.Kind)
	}
	if c.Indicator > 0 {
		q.dim("CASE WHEN "+strings.ReplaceAll(missing, "%s", q.x(at))+" THEN 1 ELSE 0 END", at)
	}
	return nil
}

// means adds the mean targets of the values of column at.
func (q *sqlModel) means(m *dataset.Means, at int, categories []string) {
	values := len(m.Values)/m.Outputs - 1
	for k := range m.Outputs {
		text := "CASE"
		for v := range values {
			of := ""
			if categories != nil {
				of = literal(categories[v])
			} else {
				of = digits(float64(m.Numbers[v]))
			}
			text += " WHEN " + q.x(at) + " = " + of + " THEN " + digits(float64(m.Values[v*m.Outputs+k]))
		}
		rest := digits(float64(m.Values[values*m.Outputs+k]))
		if values == 0 {
			q.dim(rest)
		} else {
			q.dim(text+" ELSE "+rest+" END", at)
		}
	}
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }

func literals(of []string) string {
	list := make([]string, len(of))
	for i, v := range of {
		list[i] = literal(v)
	}
	return strings.Join(list, ", ")
}

// missing says whether a text stands for a missing value.
func (q *sqlModel) missing(x string) string {
	text := "lower(" + x + ") IN (" + literals(missingWords) + ")"
	if len(q.NA) > 0 {
		text += " OR " + x + " IN (" + literals(q.NA) + ")"
	}
	return "(" + text + ")"
}

// withoutMarks is a column of the number or the date of a cell, NULL where a text stands for a missing one.
func (q *sqlModel) withoutMarks(c *column, cell, value string) int {
	own := slices.Concat(q.NA, c.Marks)
	text := "trim(CAST(" + cell + " AS " + q.text + "))"
	marks := "lower(" + text + ") IN (" + literals(slices.Concat(missingWords, absentWords)) + ")"
	if len(own) > 0 {
		marks += " OR " + text + " IN (" + literals(own) + ")"
	}
	gaps := gapsAmong(own)
	at := q.raw("CASE WHEN NOT (" + q.isText(cell) + " AND (" + marks + ")) THEN " + value + " END")
	if c.Coding != nil && c.Coding.Kind == dataset.CodedDate || gaps == nil {
		return at
	}
	return q.put("CASE WHEN "+q.x(at)+" NOT IN ("+strings.Join(gaps, ", ")+") THEN "+q.x(at)+" END", at)
}

// withoutSigns is a cell without what makes it a bound, such as <= before a number, + behind it, or words, unless letters multiply it.
func (q *sqlModel) withoutSigns(cell string, scales bool) string {
	text := "CAST(" + cell + " AS " + q.text + ")"
	if signs := "<>=≤≥≦≧⩽⩾+ "; scales {
		text = "rtrim(ltrim(" + text + ", '" + signs + "'), '+ ')"
	} else {
		signs += "abcdefghijklmnopqrstuvwxyz"
		text = "rtrim(ltrim(lower(" + text + "), '" + signs + "'), '" + signs + "')"
	}
	if q.name == "sqlite" { // which writes no number with all its digits
		return "(CASE WHEN " + q.isText(cell) + " THEN " + text + " ELSE " + cell + " END)"
	}
	return text
}

// gapsAmong are the numbers among marks of missing values.
func gapsAmong(marks []string) (gaps []string) {
	for _, mark := range marks {
		if v, err := strconv.ParseFloat(mark, 64); err == nil && v-v == 0 {
			gaps = append(gaps, digits(v))
		}
	}
	return gaps
}

// date adds the dimensions of a date, and returns a column that is NULL where it is missing.
func (q *sqlModel) date(c *column, cell string) int {
	layout := ""
	if len(c.Coding.Layouts) > 0 {
		layout = c.Coding.Layouts[0]
	}
	at := q.withoutMarks(c, cell, q.moment(cell, layout))
	epoch := q.put(q.part("epoch", q.x(at)), at)
	days := q.putf("floor(%s/86400e0)", epoch)
	within := q.putf("floor(%s - %s*86400e0)", epoch, days)
	year := q.put(q.part("year", q.x(at)), at)
	yearday := q.put("("+q.part("doy", q.x(at))+" - 1)", at)
	first, second := 0.0, 0.0
	if q.Missing != "zero" {
		first, second = float64(float32(c.Mean)), float64(time.Unix(int64(c.Mean*86400), 0).UTC().Year())
	}
	q.dim("coalesce("+q.x(days)+" + "+q.x(within)+"/86400e0, "+digits(first)+")", days, within)
	q.dim("coalesce("+q.x(year)+", "+digits(second)+")", year)
	cycle := func(format string, from int) {
		angle := q.putf("("+format+")*"+digits(2*math.Pi), from)
		q.dim("coalesce(sin("+q.x(angle)+"), 0)", angle)
		q.dim("coalesce(cos("+q.x(angle)+"), 0)", angle)
	}
	cycle("%s/365.25e0", yearday)
	cycle("(%[1]s + 4 - 7*floor((%[1]s + 4)/7e0))/7e0", days)
	if c.Coding.Hours {
		cycle("%s/86400e0", within)
	}
	return at
}

// scale scales the dimensions.
func (q *sqlModel) scale() {
	kind := q.Scale
	norm := -1
	if kind == "l1" || kind == "l2" {
		var terms []string
		for _, c := range q.dims {
			if x := q.x(c); kind == "l1" {
				terms = append(terms, "abs("+x+")")
			} else {
				terms = append(terms, x+"*"+x)
			}
		}
		text := joined(" + ", terms)
		if kind == "l2" {
			text = "sqrt(" + text + ")"
		}
		norm = q.put("coalesce(nullif("+text+", 0), 1)", q.dims...)
	}
	shift, factor := q.tensors["scale.shift"], q.tensors["scale.factor"]
	from := 0
	for j, c := range q.dims {
		text := q.x(c)
		switch {
		case norm >= 0:
			q.dims[j] = q.putf("(%s/%s)", c, norm)
			q.guards = append(q.guards, q.dims[j])
			continue
		case kind == "quantile":
			to := int(q.tensors["scale.ends"].F64[j])
			if from == to {
				text = "(" + text + "*0)"
			} else {
				q.dims[j] = q.line(c, q.tensors["scale.knots"].F64[from:to], q.tensors["scale.scores"].F64[from:to])
				text = q.x(c)
			}
			from = to
		default:
			if shift != nil && shift.F64[j] != 0 {
				text = "(" + text + " - " + digits(shift.F64[j]) + ")"
			}
			if factor != nil && factor.F64[j] != 1 {
				text = "(" + text + "*" + digits(factor.F64[j]) + ")"
			}
			if kind == "robust" {
				v := q.putf(strings.ReplaceAll(q.max(q.min(text, "1e100"), "-1e100"), q.x(c), "%[1]s")+"*"+digits(1.0/3), c)
				q.dims[j] = q.putf("(%[1]s*3/sqrt(%[1]s*%[1]s + 1))", v)
				continue
			}
		}
		if text != q.x(c) {
			q.dims[j] = q.put(text, c)
		}
	}
}

// metric applies a metric of a form to columns.
func (q *sqlModel) metric(cols []int, form, prefix string) ([]int, error) {
	switch form {
	case "axes":
		t := q.tensors[prefix+"metric.axes"]
		at := make([]int32, len(cols))
		for i, c := range cols {
			at[i] = int32(c)
		}
		y, err := q.product([]part{{len(at), columnsOf(at)}}, t.Shape[1], func(i int, add func(j int, v float64)) {
			for j := range t.Shape[1] {
				add(j, float64(t.F32[i*t.Shape[1]+j]))
			}
		})
		if err != nil {
			return nil, err
		}
		return q.held(y)
	case "weights":
		out := make([]int, len(cols))
		for j, c := range cols {
			out[j] = q.putf("(%s*"+digits(float64(q.tensors[prefix+"metric.weights"].F32[j]))+")", c)
		}
		return out, nil
	}
	return cols, nil
}
