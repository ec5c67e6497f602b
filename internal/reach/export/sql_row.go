package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sqlColumn is a column of the wide row in which a prediction is computed. It is an expression of columns of earlier stages, which
// the expression calls x.NAME, or a result of a segment.
type sqlColumn struct {
	name    string
	expr    string
	uses    []int
	stage   int
	segment *segment
}

// segment is a sum over the rows of a table of weights w, for each row x.
type segment struct {
	table  string
	uses   []int
	stage  int
	where  string   // of rows x that take part, or ""
	inner  []string // columns of the table and of sums over the dimensions
	look   string   // another table and the number of its row for these, whose columns are l; or ""
	values []string // from these
	keep   []string // columns of inner that sums take besides the values
	sums   map[int]string
	number int
}

// wide is the wide row: SELECTs one inside the other, each with the columns that the next one takes.
type wide struct {
	*dialect
	rows     string // of the dialects that carry rows along: the table
	columns  []sqlColumn
	segments int
	named    []string
}

// x is a column as an expression.
func (r *wide) x(c int) string { return "x." + r.columns[c].name }

// raw adds a column of the rows t that are scored.
func (r *wide) raw(expr string) int {
	r.columns = append(r.columns, sqlColumn{name: fmt.Sprintf("x%d", len(r.columns)), expr: expr})
	return len(r.columns) - 1
}

// put adds a column that takes others.
func (r *wide) put(expr string, uses ...int) int {
	c := r.raw(expr)
	r.columns[c].uses = slices.Compact(slices.Sorted(slices.Values(uses)))
	r.columns[c].stage = r.after(uses)
	return c
}

// putf adds a column of a format with %[i]s for the i-th of the columns that it takes.
func (r *wide) putf(format string, uses ...int) int {
	names := make([]any, len(uses))
	for i, c := range uses {
		names[i] = r.x(c)
	}
	return r.put(fmt.Sprintf(format, names...), uses...)
}

func (r *wide) after(uses []int) int {
	stage := 0
	for _, c := range uses {
		stage = max(stage, r.columns[c].stage+1)
	}
	return stage
}

// result adds a column with a sum of a segment, an expression of g.
func (r *wide) result(s *segment, sum string) int {
	if s.sums == nil {
		r.segments++
		s.number, s.sums = r.segments, map[int]string{}
		s.uses = slices.Compact(slices.Sorted(slices.Values(s.uses)))
		s.stage = max(1, r.after(s.uses))
	}
	c := r.raw("")
	r.columns[c].segment, r.columns[c].stage = s, s.stage
	s.sums[c] = sum
	return c
}

// query is a SELECT with some columns.
func (r *wide) query(columns []int) (string, error) {
	last := 0
	for _, c := range columns {
		last = max(last, r.columns[c].stage)
	}
	return r.stage(last, columns)
}

// stage is a SELECT with columns of a stage and of those before it.
func (r *wide) stage(n int, columns []int) (string, error) {
	if len(columns) > r.most {
		return "", fmt.Errorf("a row takes %d columns at once, and %s has %d at most; the target onnx has no such bound", len(columns), r.name, r.most)
	}
	before := map[int]bool{}
	parts := map[*segment][]int{}
	var list []string
	var segments []*segment
	for _, c := range columns {
		col := &r.columns[c]
		switch {
		case col.stage < n:
			before[c] = true
			list = append(list, "x."+col.name+" AS "+col.name)
		case col.segment != nil:
			if parts[col.segment] == nil {
				segments = append(segments, col.segment)
			}
			parts[col.segment] = append(parts[col.segment], c)
			list = append(list, fmt.Sprintf("g%d.%s AS %s", col.segment.number, col.name, col.name))
		default:
			for _, u := range col.uses {
				before[u] = true
			}
			list = append(list, col.expr+" AS "+col.name)
		}
	}
	if r.lateral && n == 0 {
		list = append(list, "t AS t_")
	} else if r.lateral {
		list = append(list, "x.t_ AS t_")
	}
	text := "SELECT " + strings.Join(list, ", ")
	if n == 0 {
		if r.lateral {
			text += " FROM " + r.rows + " t"
		}
		return text + r.fence, nil
	}
	var from []string
	for _, s := range segments {
		for _, u := range s.uses {
			before[u] = before[u] || r.lateral
		}
	}
	if len(before) > 0 || r.lateral {
		inner, err := r.stage(n-1, slices.Sorted(maps.Keys(before)))
		if err != nil {
			return "", err
		}
		if r.lateral && len(segments) > 0 {
			inner = r.apart(inner)
		} else {
			inner = r.nested(inner)
		}
		from = append(from, inner+" x")
	}
	for _, s := range segments {
		inner, err := r.sum(s, parts[s])
		if err != nil {
			return "", err
		}
		if inner = r.nested(inner); r.lateral {
			inner = "LATERAL " + inner
		}
		from = append(from, fmt.Sprintf("%s g%d", inner, s.number))
	}
	return text + " FROM " + strings.Join(from, " CROSS JOIN ") + r.fence, nil
}

// sum is a SELECT with sums of a segment.
func (r *wide) sum(s *segment, columns []int) (string, error) {
	rows := ""
	if !r.lateral {
		inner, err := r.stage(s.stage-1, s.uses)
		if err != nil {
			return "", err
		}
		rows = r.nested(inner) + " x CROSS JOIN "
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = s.sums[c] + " AS " + r.columns[c].name
	}
	where := ""
	if s.where != "" {
		where = " WHERE " + s.where
	}
	inner := fmt.Sprintf("SELECT %s FROM %s%s w%s%s", strings.Join(s.inner, ", "), rows, quoted(s.table), where, r.fence)
	var middle []string
	for i, v := range s.values {
		middle = append(middle, fmt.Sprintf("%s AS v%d", v, i))
	}
	for _, k := range s.keep {
		middle = append(middle, "f."+k+" AS "+k)
	}
	inner = r.nested(fmt.Sprintf("SELECT %s FROM %s f%s%s", strings.Join(middle, ", "), r.nested(inner), s.look, r.fence))
	return fmt.Sprintf("SELECT %s FROM %s g", strings.Join(list, ", "), inner), nil
}

// nested is a SELECT as one takes it that is around it: by a name, in a dialect whose parser goes down only so far.
func (r *wide) nested(text string) string {
	if !r.shallow {
		return "(" + text + ")"
	}
	return r.apart(text) // as many sums take the same rows
}

// apart is a SELECT by a name.
func (r *wide) apart(text string) string {
	at := slices.Index(r.named, text)
	if at < 0 {
		at, r.named = len(r.named), append(r.named, text)
	}
	return fmt.Sprintf("q%d", at+1)
}

// with is a SELECT with those before it that have names.
func (r *wide) with(text string) string {
	if len(r.named) == 0 {
		return text
	}
	var b strings.Builder
	for i, q := range r.named {
		fmt.Fprintf(&b, "%s q%d AS %s(%s)", map[bool]string{true: "WITH", false: ","}[i == 0], i+1, r.once, q)
	}
	r.named = nil
	return b.String() + " " + text
}
