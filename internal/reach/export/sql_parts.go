package export

import (
	"slices"

	"mercer/kernel"
)

// source are linear functions of columns: x·w + b, w with a row for each column.
type source struct {
	cols []int
	w    [][]float64
	b    []float64
	held []int // the columns of its values, once they are computed
}

// flat says that the functions are written out with their numbers.
func (s *source) flat() bool {
	n, all := 0, len(s.cols)*len(s.b)
	for _, row := range s.w {
		for _, v := range row {
			if v != 0 {
				n++
			}
		}
	}
	return len(s.b) <= mostFlat && (n <= mostDense || 2*n <= all && n <= mostSparse)
}

// node is an expression for each of several features: a column times v plus b, a linear function, kernels with rows, or an
// operation on others.
type node struct {
	op   string // of feature, or one of those below
	args []*node
	at   []int32   // of columns: their numbers, -1 for 0; of lin: those of its functions; of against: of its rows
	v, b []float64 // of columns, scaled and shifted
	src  *source
	rows *landmark64
}

// The operations beside those of maps.
const (
	columnsOp = "columns"
	linOp     = "lin"
	scaledOp  = "scaled"
	shiftedOp = "shifted"
	cappedOp  = "capped" // at most N
	roundOp   = "round"
	clipOp    = "clip" // within [0, 1]
	againstOp = "against"
)

// landmark64 are rows that x is compared with, and the columns of x.
type landmark64 struct {
	kernel kernel.Kernel
	cols   []int
	w      [][]float64 // a row for each
}

// part are features of one expression.
type part struct {
	n int
	e *node
}

func columnsOf(at []int32) *node {
	one, zero := make([]float64, len(at)), make([]float64, len(at))
	for i := range one {
		one[i] = 1
	}
	return &node{op: columnsOp, at: at, v: one, b: zero}
}

// pick are the features at a list of numbers.
func (e *node) pick(at []int32) *node {
	out := *e
	out.args = nil
	for _, a := range e.args {
		out.args = append(out.args, a.pick(at))
	}
	if e.at != nil {
		out.at = make([]int32, len(at))
	}
	if e.v != nil {
		out.v = make([]float64, len(at))
	}
	if e.b != nil {
		out.b = make([]float64, len(at))
	}
	for i, j := range at {
		if e.at != nil {
			out.at[i] = e.at[j]
		}
		if e.v != nil {
			out.v[i] = e.v[j]
		}
		if e.b != nil {
			out.b[i] = e.b[j]
		}
	}
	return &out
}

// cutAt cuts values into parts with ends at a list of numbers.
func cutAt(value []part, ends []int) []part {
	var out []part
	from, next := 0, 0
	for _, p := range value {
		for lo := 0; lo < p.n; {
			for ends[next] <= from+lo {
				next++
			}
			hi := min(p.n, ends[next]-from)
			if lo == 0 && hi == p.n {
				out = append(out, p)
			} else {
				at := make([]int32, hi-lo)
				for i := range at {
					at[i] = int32(lo + i)
				}
				out = append(out, part{hi - lo, p.e.pick(at)})
			}
			lo = hi
		}
		from += p.n
	}
	return out
}

func endsOf(value []part) (ends []int) {
	at := 0
	for _, p := range value {
		at += p.n
		ends = append(ends, at)
	}
	return ends
}

// op applies an operation to values, element by element.
func opOf(name string, values ...[]part) []part {
	var ends []int
	for _, v := range values {
		ends = append(ends, endsOf(v)...)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	var out []part
	for i, v := range values {
		for j, p := range cutAt(v, ends) {
			if i == 0 {
				out = append(out, part{p.n, &node{op: name}})
			}
			out[j].e.args = append(out[j].e.args, p.e)
		}
	}
	return out
}

// each returns v for n features, where one number is for all.
func each(v []float32, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(v[i%len(v)])
	}
	return out
}

// times and plus change values by a number each.
func byNumbers(op string, value []part, v []float64) []part {
	var out []part
	at := 0
	for _, p := range value {
		w := v[at : at+p.n]
		at += p.n
		if p.e.op == columnsOp {
			e := *p.e
			e.v, e.b = slices.Clone(e.v), slices.Clone(e.b)
			for i, f := range w {
				if op == scaledOp {
					e.v[i] *= f
					e.b[i] *= f
				} else {
					e.b[i] += f
				}
			}
			out = append(out, part{p.n, &e})
			continue
		}
		out = append(out, part{p.n, &node{op: op, args: []*node{p.e}, v: slices.Clone(w)}})
	}
	return out
}

// linear are values as linear functions of columns; nil if they are none.
func linear(value []part) *source {
	at := map[int]int{}
	s := &source{}
	n := 0
	row := func(c int) []float64 {
		if _, known := at[c]; !known {
			at[c] = len(s.cols)
			s.cols, s.w = append(s.cols, c), append(s.w, nil)
		}
		return s.w[at[c]]
	}
	for _, p := range value {
		switch p.e.op {
		case columnsOp:
			for _, c := range p.e.at {
				if c >= 0 {
					row(int(c))
				}
			}
		case linOp:
			for _, c := range p.e.src.cols {
				row(c)
			}
		case scaledOp, shiftedOp:
			if p.e.args[0].op != linOp {
				return nil
			}
			for _, c := range p.e.args[0].src.cols {
				row(c)
			}
		default:
			return nil
		}
		n += p.n
	}
	s.b = make([]float64, n)
	for i := range s.w {
		s.w[i] = make([]float64, n)
	}
	from := 0
	for _, p := range value {
		e := p.e
		if e.op != columnsOp && e.op != linOp {
			e = e.args[0]
		}
		for i := range p.n {
			if e.op == columnsOp {
				if c := e.at[i]; c >= 0 {
					s.w[at[int(c)]][from+i] = e.v[i]
				}
				s.b[from+i] = e.b[i]
				continue
			}
			for k, c := range e.src.cols {
				s.w[at[c]][from+i] += e.src.w[k][e.at[i]]
			}
			s.b[from+i] = e.src.b[e.at[i]]
		}
		switch p.e.op {
		case scaledOp:
			for i, f := range p.e.v {
				for k := range s.w {
					s.w[k][from+i] *= f
				}
				s.b[from+i] *= f
			}
		case shiftedOp:
			for i, f := range p.e.v {
				s.b[from+i] += f
			}
		}
		from += p.n
	}
	return s
}

// lin is the value of linear functions.
func lin(s *source) []part {
	return []part{{len(s.b), &node{op: linOp, src: s, at: counted(len(s.b))}}}
}

func counted(n int) []int32 {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}

// together makes neighbours that are all columns one part.
func together(value []part) []part {
	var out []part
	for _, p := range value {
		if n := len(out); n > 0 && p.e.op == columnsOp && out[n-1].e.op == columnsOp {
			a := out[n-1].e
			out[n-1] = part{out[n-1].n + p.n, &node{op: columnsOp, at: slices.Concat(a.at, p.e.at), v: slices.Concat(a.v, p.e.v),
				b: slices.Concat(a.b, p.e.b)}}
			continue
		}
		out = append(out, p)
	}
	return out
}

// leaves are the linear functions and kernels of an expression.
func (e *node) leaves(to []*node) []*node {
	if e.op == columnsOp || e.op == linOp || e.op == againstOp {
		return append(to, e)
	}
	for _, a := range e.args {
		to = a.leaves(to)
	}
	return to
}

// alike says that two parts take the same linear functions, so that one table serves both.
func alike(a, b part) bool {
	of := b.e.leaves(nil)
	for _, l := range a.e.leaves(nil) {
		if !slices.Contains(of, l) {
			return false
		}
	}
	return a.n == b.n
}
