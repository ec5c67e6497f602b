package export

import (
	"errors"
	"fmt"
	"slices"
)

// weighing are the weights of a part's features: a row for each, a column for each output.
type weighing struct {
	w    []float64
	outs int
}

// segment are parts of equally many features in a table, with weights if there are any: columns a0_1, the weight of part 0 for
// output 1, and so on.
func (q *sqlModel) segment(parts []part, ws []weighing) (*segment, error) {
	s := &segment{inner: []string{"w.k AS k"}, where: q.where, uses: slices.Clone(q.uses)}
	n := parts[0].n
	t := sqlTable{rows: n}
	var cells []func(row int) float64
	column := func(cell func(row int) float64) string {
		name := fmt.Sprintf("c%d", len(cells))
		cells, t.columns = append(cells, cell), append(t.columns, name)
		return name
	}
	leaf := func(expr string) string {
		name := fmt.Sprintf("l%d", len(s.inner))
		s.inner = append(s.inner, expr+" AS "+name)
		return "f." + name
	}
	numbers := func(v []float64) string {
		if len(slices.Compact(slices.Clone(v))) == 1 {
			return digits(v[0])
		}
		return leaf("w." + column(func(row int) float64 { return v[row] }))
	}
	var err error
	known := map[*node]string{}
	var write func(e *node) string
	write = func(e *node) string {
		if text, ok := known[e]; ok {
			return text
		}
		var text string
		switch e.op {
		case columnsOp, linOp:
			of := linear([]part{{n, e}})
			var terms []string
			for k, c := range of.cols {
				v := of.w[k]
				some := slices.ContainsFunc(v, func(f float64) bool { return f != 0 })
				switch {
				case !some:
				case len(slices.Compact(slices.Clone(v))) == 1:
					terms = append(terms, q.x(c)+"*"+digits(v[0]))
					s.uses = append(s.uses, c)
				default:
					terms = append(terms, q.x(c)+"*w."+column(func(row int) float64 { return v[row] }))
					s.uses = append(s.uses, c)
				}
			}
			if slices.ContainsFunc(of.b, func(f float64) bool { return f != 0 }) {
				terms = append(terms, "w."+column(func(row int) float64 { return of.b[row] }))
			}
			text = leaf(joined(" + ", terms))
		case againstOp:
			var why error
			if text, why = q.compare(e.rows, e.at, s, column, leaf); why != nil {
				err = errors.Join(err, why)
			}
		default:
			var args []string
			for _, a := range e.args {
				args = append(args, write(a))
			}
			if e.v != nil {
				args = append(args, numbers(e.v))
			}
			text = sqlFunctions[e.op](q.dialect, args)
		}
		known[e] = text
		return text
	}
	for i, p := range parts {
		s.values = append(s.values, write(p.e))
		if ws == nil {
			continue
		}
		w := ws[i]
		for t := range w.outs {
			name := fmt.Sprintf("a%d_%d", i, t)
			s.inner = append(s.inner, "w."+column(func(row int) float64 { return w.w[row*w.outs+t] })+" AS "+name)
			s.keep = append(s.keep, name)
		}
	}
	if err != nil {
		return nil, err
	}
	t.cell = func(row, column int) float64 { return cells[column](row) }
	s.table, err = q.table(t)
	return s, err
}
