package export

import (
	"fmt"
	"math/bits"
	"slices"

	"mercer/feature"
	"mercer/kernel"
)

// mostCells bounds the numbers of a script.
const mostCells = 1 << 26

// sqlModel is a model as SQL in the making.
type sqlModel struct {
	*matrices
	wide
	prefix string
	dims   []int // columns of the row, encoded and then scaled
	guards []int // columns without which there is no prediction
	values map[int][]part
	tables []sqlTable
	cells  int
	where  string // of what is computed now, and the columns that it takes
	uses   []int
	square map[string]int
}

// sqlTable is a table of weights.
type sqlTable struct {
	name    string
	columns []string
	rows    int
	cell    func(row, column int) float64
}

// table adds a table. Its first column is k, the number of the row.
func (q *sqlModel) table(t sqlTable) (string, error) {
	if len(t.columns)+1 > q.most {
		return "", fmt.Errorf("a table of weights takes %d columns, and those of %s have %d at most; the target onnx has no such bound", len(t.columns)+1,
			q.name, q.most)
	}
	if q.cells += t.rows * len(t.columns); q.cells > mostCells {
		return "", fmt.Errorf("the tables of weights take more than %d numbers; the target onnx has no such bound", mostCells)
	}
	t.name = fmt.Sprintf("%s_%d", q.prefix, len(q.tables)+1)
	q.tables = append(q.tables, t)
	return t.name, nil
}

// value is a value of the map.
func (q *sqlModel) value(n int) ([]part, error) {
	if v, known := q.values[n]; known {
		return v, nil
	}
	if n == 0 {
		at := make([]int32, len(q.dims))
		for j, c := range q.dims {
			at[j] = int32(c)
		}
		return []part{{len(at), columnsOf(at)}}, nil
	}
	s := &q.program.Steps[n-1]
	var from [][]part
	for _, f := range s.From {
		v, err := q.value(f)
		if err != nil {
			return nil, err
		}
		from = append(from, v)
	}
	v, err := q.step(s, from)
	q.values[n] = v
	return v, err
}

// step is the value of a step of a map.
func (q *sqlModel) step(s *feature.Step, from [][]part) ([]part, error) {
	x := from[0]
	in := 0
	for _, p := range x {
		in += p.n
	}
	switch s.Op {
	case feature.OpProduct:
		return q.product(x, s.W.Cols, func(i int, add func(j int, v float64)) {
			for j, v := range s.W.Row(i) {
				add(j, float64(v))
			}
		})
	case feature.OpScale:
		if s.Width > in {
			var repeated []part
			for range s.Width / in {
				repeated = append(repeated, x...)
			}
			x = repeated
		}
		return byNumbers(scaledOp, x, each(s.V, s.Width)), nil
	case feature.OpShift:
		return byNumbers(shiftedOp, x, each(s.V, s.Width)), nil
	case feature.OpPick:
		return q.pick(x, s.At), nil
	case feature.OpPad:
		none := columnsOf(make([]int32, s.Width-in))
		for i := range none.at {
			none.at[i] = -1
		}
		return together(append(slices.Clone(x), part{s.Width - in, none})), nil
	case feature.OpJoin:
		var all []part
		for _, v := range from {
			all = append(all, v...)
		}
		return together(all), nil
	case feature.OpHadamard:
		return q.product(x, s.Width, func(i int, add func(j int, v float64)) {
			for j := range s.N {
				add(i/s.N*s.N+j, float64(1-2*(bits.OnesCount(uint(i%s.N&j))&1)))
			}
		})
	case feature.OpInverse:
		if n := s.N * (s.N/2 + 1); n > mostRows {
			return nil, fmt.Errorf("the inverse Fourier transform of %d terms is too large a matrix", s.N)
		}
		re, im := inverse(s.N)
		return q.product(append(slices.Clone(x), from[1]...), s.N, func(i int, add func(j int, v float64)) {
			w := re
			if i >= in {
				w, i = im, i-in
			}
			for j := range s.N {
				add(j, float64(w[i*s.N+j]))
			}
		})
	case feature.OpThermometer:
		at, by, less := make([]int32, s.Width), make([]float64, s.Width), make([]float64, s.Width)
		for i := range at {
			at[i] = int32(i / s.N)
			by[i], less[i] = float64(s.V[i/s.N])*float64(s.N), -float64(i%s.N)
		}
		t := byNumbers(scaledOp, q.pick(x, at), by)
		t = opOf(cappedOp, t)
		for _, p := range t {
			p.e.v = make([]float64, p.n)
			for i := range p.e.v {
				p.e.v[i] = float64(s.N)
			}
		}
		if s.Round {
			t = opOf(roundOp, t)
		}
		return opOf(clipOp, byNumbers(shiftedOp, t, less)), nil
	case feature.OpKernel:
		rows := make([][]float64, s.W.Rows)
		for i := range rows {
			rows[i] = each(s.W.Row(i), s.W.Cols)
		}
		k, err := q.against(x, s.Kernel, rows)
		if err == nil && s.Weights != nil {
			k, err = q.product(k, s.Width, func(i int, add func(j int, v float64)) {
				for j, v := range s.Weights[i*s.Width:][:s.Width] {
					add(j, v)
				}
			})
		}
		return k, err
	}
	if sqlFunctions[s.Op] == nil {
		return nil, fmt.Errorf("the operation %s of the map has no form in SQL", s.Op)
	}
	return opOf(s.Op, from...), nil
}

// against are the kernel's values with rows.
func (q *sqlModel) against(x []part, k kernel.Kernel, rows [][]float64) ([]part, error) {
	cols, err := q.held(x)
	if err != nil {
		return nil, err
	}
	return []part{{len(rows), &node{op: againstOp, at: counted(len(rows)),
		rows: &landmark64{kernel: k, cols: cols, w: rows}}}}, nil
}

// pick are features of a value, in runs of the same part.
func (q *sqlModel) pick(x []part, at []int32) []part {
	ends := endsOf(x)
	var out []part
	for i := 0; i < len(at); {
		p := 0
		for ends[p] <= int(at[i]) {
			p++
		}
		from := ends[p] - x[p].n
		var list []int32
		for ; i < len(at) && int(at[i]) >= from && int(at[i]) < ends[p]; i++ {
			list = append(list, at[i]-int32(from))
		}
		out = append(out, part{len(list), x[p].e.pick(list)})
	}
	return together(out)
}

// product is the product of a value and a matrix, whose row i add is told of. What is not linear is computed first.
func (q *sqlModel) product(x []part, outs int, row func(i int, add func(j int, v float64))) ([]part, error) {
	s := linear(x)
	if s == nil {
		cols, err := q.held(x)
		if err != nil {
			return nil, err
		}
		at := make([]int32, len(cols))
		for i, c := range cols {
			at[i] = int32(c)
		}
		s = linear([]part{{len(at), columnsOf(at)}})
	}
	if n := float64(len(s.cols)) * float64(outs); n > mostCells {
		return nil, fmt.Errorf("the map takes a matrix of %d×%d, and one has %d numbers at most", len(s.cols), outs, mostCells)
	}
	to := &source{cols: s.cols, b: make([]float64, outs)}
	for range s.cols {
		to.w = append(to.w, make([]float64, outs))
	}
	for i := range s.b {
		row(i, func(j int, v float64) {
			if v == 0 {
				return
			}
			for k := range s.w {
				if a := s.w[k][i]; a != 0 {
					to.w[k][j] += a * v
				}
			}
			to.b[j] += s.b[i] * v
		})
	}
	return lin(to), nil
}
