package export

import (
	"fmt"

	"mercer/feature"
)

// What a flat expression may hold: numbers of a dense matrix, of one in which at least half of the numbers are 0, and features.
const mostDense, mostSparse, mostFlat = 4000, 20_000, 1000

// flatTerms is the number of terms of the expressions, -1 if a part needs a table.
func flatTerms(e *node) int {
	switch e.op {
	case columnsOp:
		return 1
	case linOp:
		if e.src.flat() {
			return 1
		}
		return -1
	case againstOp:
		return -1
	}
	n := 0
	for _, a := range e.args {
		t := flatTerms(a)
		if t < 0 {
			return -1
		}
		n += t
	}
	return n
}

func (p part) flat() bool {
	t := flatTerms(p.e)
	return t > 0 && p.n <= mostFlat && p.n*t <= mostSparse
}

// hold computes the linear functions of a flat source as columns.
func (q *sqlModel) hold(s *source) []int {
	if s.held == nil {
		for j := range s.b {
			s.held = append(s.held, q.put(q.sumOf(s, j), s.cols...))
		}
	}
	return s.held
}

// sumOf is a linear function written out. Numbers of one size are factored out, so that a projection of signs is sums and
// differences.
func (q *sqlModel) sumOf(s *source, j int) string {
	var plus, minus, terms []string
	size := 0.0
	same := true
	for k, c := range s.cols {
		v := s.w[k][j]
		if v == 0 {
			continue
		}
		a := max(v, -v)
		if size == 0 {
			size = a
		}
		if same = same && a == size; v > 0 {
			plus = append(plus, q.x(c))
		} else {
			minus = append(minus, q.x(c))
		}
		terms = append(terms, q.x(c)+"*"+digits(v))
	}
	e := joined(" + ", terms)
	if same && len(terms) > 1 {
		if e = joined(" + ", plus); len(plus) == 0 {
			e = joined(" + ", minus)
			size = -size
		} else if len(minus) > 0 {
			e = "(" + e + " - " + joined(" + ", minus) + ")"
		}
		e += "*" + digits(size)
	}
	if s.b[j] != 0 {
		e = "(" + e + " + " + digits(s.b[j]) + ")"
	}
	return e
}

// held are values as columns.
func (q *sqlModel) held(x []part) ([]int, error) {
	var out []int
	n := 0
	for _, p := range x {
		if p.e.op != columnsOp || !plainColumns(p.e) {
			n += p.n
		}
	}
	if n > mostFlat {
		return nil, fmt.Errorf("%d features are input of a further step, and %d can be in SQL; the target onnx has no such bound", n, mostFlat)
	}
	for _, p := range x {
		if p.e.op == columnsOp && plainColumns(p.e) {
			for _, c := range p.e.at {
				out = append(out, int(c))
			}
			continue
		}
		if p.flat() {
			for i := range p.n {
				var uses []int
				e := q.flat(p.e, i, &uses)
				out = append(out, q.put(e, uses...))
			}
			continue
		}
		s, err := q.segment([]part{p}, nil)
		if err != nil {
			return nil, err
		}
		s.keep = append(s.keep, "k")
		for i := range p.n {
			out = append(out, q.result(s, fmt.Sprintf("max(CASE WHEN g.k = %d THEN g.v0 END)", i)))
		}
	}
	return out, nil
}

func plainColumns(e *node) bool {
	for i, c := range e.at {
		if c < 0 || e.v[i] != 1 || e.b[i] != 0 {
			return false
		}
	}
	return true
}

// sqlFunctions are the operations of maps in SQL, of which a name stands for an argument.
var sqlFunctions = map[string]func(d *dialect, a []string) string{
	feature.OpAdd:      func(_ *dialect, a []string) string { return "(" + a[0] + " + " + a[1] + ")" },
	feature.OpSubtract: func(_ *dialect, a []string) string { return "(" + a[0] + " - " + a[1] + ")" },
	feature.OpMultiply: func(_ *dialect, a []string) string { return "(" + a[0] + "*" + a[1] + ")" },
	feature.OpDivide:   func(_ *dialect, a []string) string { return "(" + a[0] + "/" + a[1] + ")" },
	feature.OpCos:      func(_ *dialect, a []string) string { return "cos(" + a[0] + ")" },
	feature.OpSin:      func(_ *dialect, a []string) string { return "sin(" + a[0] + ")" },
	feature.OpExp:      func(_ *dialect, a []string) string { return "exp(" + a[0] + ")" },
	feature.OpLog: func(d *dialect, a []string) string {
		return "CASE WHEN " + a[0] + " >= 0 THEN ln(" + d.max(a[0], digits(0x1p-126)) + ") END"
	},
	feature.OpRoot: func(_ *dialect, a []string) string { return "CASE WHEN " + a[0] + " >= 0 THEN sqrt(" + a[0] + ") END" },
	feature.OpStep: func(_ *dialect, a []string) string {
		return "CASE WHEN " + a[0] + " > 0 THEN " + digits(1) + " WHEN " + a[0] + " < 0 THEN " + digits(0) + " ELSE " + digits(0.5) + " END"
	},
	feature.OpRamp:    func(d *dialect, a []string) string { return d.max(a[0], digits(0)) },
	feature.OpSigmoid: func(d *dialect, a []string) string { return d.sigmoid(a[0]) },
	roundOp:           func(_ *dialect, a []string) string { return "floor(" + a[0] + " + " + digits(0.5) + ")" },
	clipOp:            func(d *dialect, a []string) string { return d.max(d.min(a[0], digits(1)), digits(0)) },
	scaledOp:          func(_ *dialect, a []string) string { return "(" + a[0] + "*" + a[1] + ")" },
	shiftedOp:         func(_ *dialect, a []string) string { return "(" + a[0] + " + " + a[1] + ")" },
	cappedOp:          func(d *dialect, a []string) string { return d.min(a[0], a[1]) },
}

// sigmoid is 1/(1 + exp(-z)), within what PostgreSQL computes.
func (d *dialect) sigmoid(z string) string {
	return "(1/(1 + exp(-(" + d.max(d.min(z, digits(300)), digits(-300)) + "))))"
}

// flat is feature i of a flat expression.
func (q *sqlModel) flat(e *node, i int, uses *[]int) string {
	switch e.op {
	case columnsOp:
		text := digits(0)
		if c := int(e.at[i]); c >= 0 {
			*uses = append(*uses, c)
			if text = q.x(c); e.v[i] != 1 {
				text = "(" + text + "*" + digits(e.v[i]) + ")"
			}
		}
		if e.b[i] != 0 {
			text = "(" + text + " + " + digits(e.b[i]) + ")"
		}
		return text
	case linOp:
		c := q.hold(e.src)[e.at[i]]
		*uses = append(*uses, c)
		return q.x(c)
	}
	var args []string
	for _, a := range e.args {
		args = append(args, q.flat(a, i, uses))
	}
	if e.v != nil {
		args = append(args, digits(e.v[i]))
	}
	return sqlFunctions[e.op](q.dialect, args)
}
