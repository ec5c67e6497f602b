package export

import (
	"fmt"
	"maps"
	"slices"

	"mercer/feature"
	"mercer/internal/engine/safetensors"
)

// scores are columns of the scores.
func (q *sqlModel) scores() ([]int, error) {
	last := 0
	if q.program != nil {
		last = len(q.program.Steps)
	}
	if q.Learner == "linear" {
		w, b := q.tensors["linear.w"], slices.Clone(q.tensors["linear.b"].F64)
		sums, err := q.dot(last, weighing{each(w.F32, len(w.F32)), w.Shape[1]}, b)
		if err != nil {
			return nil, err
		}
		return q.totals(sums, b), nil
	}
	x, err := q.value(last)
	if err != nil {
		return nil, err
	}
	cols, err := q.held(x)
	if err != nil {
		return nil, err
	}
	return q.machines(cols)
}

// totals are sums of columns and of numbers, and NULL where a column that guards is.
func (q *sqlModel) totals(sums [][]int, b []float64) []int {
	guard := -1
	if len(q.guards) > 0 {
		var terms []string
		for _, c := range q.guards {
			terms = append(terms, q.x(c))
		}
		guard = q.put(joined(" + ", terms), q.guards...)
	}
	out := make([]int, len(b))
	for t := range b {
		terms := []string{digits(b[t])}
		var uses []int
		for _, s := range sums {
			terms, uses = append(terms, q.x(s[t])), append(uses, s[t])
		}
		text := joined(" + ", terms)
		if guard >= 0 {
			text, uses = "CASE WHEN "+q.x(guard)+" IS NOT NULL THEN "+text+" END", append(uses, guard)
		}
		out[t] = q.put(asDouble(text), uses...)
	}
	return out
}

// part are the rows from i on.
func (w weighing) part(i, rows int) weighing {
	return weighing{w.w[i*w.outs : (i+rows)*w.outs], w.outs}
}

// dot is the product of a value and weights, as columns to add up. Operations that are linear become part of the weights.
func (q *sqlModel) dot(value int, w weighing, bias []float64) ([][]int, error) {
	if value > 0 && q.values[value] == nil {
		s := &q.program.Steps[value-1]
		turned := func(rows int) weighing { return weighing{make([]float64, rows*w.outs), w.outs} }
		switch s.Op {
		case feature.OpScale:
			if s.Width == q.width(s.From[0]) {
				to := turned(s.Width)
				for i, v := range w.w {
					to.w[i] = v * float64(s.V[i/w.outs%len(s.V)])
				}
				return q.dot(s.From[0], to, bias)
			}
		case feature.OpShift:
			for i, v := range w.w {
				bias[i%w.outs] += v * float64(s.V[i/w.outs%len(s.V)])
			}
			return q.dot(s.From[0], w, bias)
		case feature.OpJoin:
			return q.dots(s.From, w, bias)
		case feature.OpInverse:
			n := s.N
			re, im := inverse(n)
			to := turned(2 * len(re) / n)
			for f := range len(re) / n {
				for j := range n {
					for t := range w.outs {
						to.w[f*w.outs+t] += float64(re[f*n+j]) * w.w[j*w.outs+t]
						to.w[(len(re)/n+f)*w.outs+t] += float64(im[f*n+j]) * w.w[j*w.outs+t]
					}
				}
			}
			return q.dots(s.From, to, bias)
		case feature.OpProduct:
			if in := q.width(s.From[0]); s.From[0] > 0 || w.outs < s.W.Cols {
				to := turned(in)
				for i := range in {
					for c, v := range s.W.Row(i) {
						for t := range w.outs {
							to.w[i*w.outs+t] += float64(v) * w.w[c*w.outs+t]
						}
					}
				}
				return q.dot(s.From[0], to, bias)
			}
		case feature.OpKernel:
			if s.Weights == nil {
				break
			}
			to := turned(s.W.Rows)
			for i := range s.W.Rows {
				for c, v := range s.Weights[i*s.Width:][:s.Width] {
					for t := range w.outs {
						to.w[i*w.outs+t] += v * w.w[c*w.outs+t]
					}
				}
			}
			bare := *s
			bare.Weights, bare.Width = nil, s.W.Rows
			x, err := q.value(s.From[0])
			if err != nil {
				return nil, err
			}
			k, err := q.step(&bare, [][]part{x})
			if err != nil {
				return nil, err
			}
			return q.weighed(k, to)
		}
	}
	x, err := q.value(value)
	if err != nil {
		return nil, err
	}
	return q.weighed(x, w)
}

func (q *sqlModel) width(value int) int {
	return widthOf(q.program, value)
}

// dots is dot of values side by side.
func (q *sqlModel) dots(values []int, w weighing, bias []float64) ([][]int, error) {
	var all [][]int
	at := 0
	for _, v := range values {
		sums, err := q.dot(v, w.part(at, q.width(v)), bias)
		if err != nil {
			return nil, err
		}
		at += q.width(v)
		all = append(all, sums...)
	}
	return all, nil
}

// weighed is the product of features and weights: a column of sums for each output, of each part.
func (q *sqlModel) weighed(x []part, w weighing) ([][]int, error) {
	if s := linear(x); s != nil { // of the columns themselves
		to := make([]float64, len(s.cols)*w.outs)
		b := make([]float64, w.outs)
		for j := range s.b {
			for t := range w.outs {
				v := w.w[j*w.outs+t]
				b[t] += s.b[j] * v
				for k := range s.cols {
					to[k*w.outs+t] += s.w[k][j] * v
				}
			}
		}
		sums := make([]int, w.outs)
		for t := range w.outs {
			terms := []string{digits(b[t])}
			for k, c := range s.cols {
				terms = append(terms, q.x(c)+"*"+digits(to[k*w.outs+t]))
			}
			sums[t] = q.put(joined(" + ", terms), s.cols...)
		}
		return [][]int{sums}, nil
	}
	var all [][]int
	at := 0
	var parts []part
	var ws []weighing
	for i, p := range x {
		of := w.part(at, p.n)
		at += p.n
		if p.flat() && p.n*w.outs <= mostSparse {
			cols, err := q.held([]part{p})
			if err != nil {
				return nil, err
			}
			sums := make([]int, w.outs)
			for t := range w.outs {
				terms := make([]string, p.n)
				for i, c := range cols {
					terms[i] = q.x(c) + "*" + digits(of.w[i*w.outs+t])
				}
				sums[t] = q.put(joined(" + ", terms), cols...)
			}
			all = append(all, sums)
			continue
		}
		parts, ws = append(parts, p), append(ws, of)
		if i+1 < len(x) && alike(p, x[i+1]) {
			continue
		}
		s, err := q.segment(parts, ws)
		if err != nil {
			return nil, err
		}
		sums := make([]int, w.outs)
		for t := range w.outs {
			var terms, counts []string
			for v := range parts {
				terms, counts = append(terms, fmt.Sprintf("g.v%d*g.a%d_%d", v, v, t)), append(counts, fmt.Sprintf("g.v%d", v))
			}
			sums[t] = q.result(s, fmt.Sprintf("CASE WHEN count(%s) = count(*) THEN coalesce(sum(%s), 0) END", joined(" + ", counts), joined(" + ", terms)))
		}
		all, parts, ws = append(all, sums), nil, nil
	}
	return all, nil
}

// machines are the sums of kernel machines: those of all rows, and those of the leaves for the rows that reach them.
func (q *sqlModel) machines(cols []int) ([]int, error) {
	share, err := q.shares(cols)
	if err != nil {
		return nil, err
	}
	outs := len(q.tensors["member.0.b"].F64)
	b := make([]float64, outs)
	var all [][]int
	for i := range q.Members {
		m, prefix := &q.Members[i], fmt.Sprintf("member.%d.", i)
		by := m.Weight * (1 - q.Share)
		if m.Leaf < 0 {
			by = m.Weight * q.Share
		}
		by *= 1 - q.TreeShare
		if by == 0 {
			continue
		}
		q.where, q.uses = "", nil
		inLeaf := m.Leaf >= 0 && share != nil
		if inLeaf {
			q.where, q.uses = q.x(share[m.Leaf])+" > 0", []int{share[m.Leaf]}
		}
		y, alpha := q.tensors[prefix+"x"], q.tensors[prefix+"alpha"]
		x, err := q.metric(cols, m.Metric, prefix)
		if err != nil {
			return nil, err
		}
		rows := make([][]float64, y.Shape[0])
		for r := range rows {
			rows[r] = each(y.F32[r*y.Shape[1]:][:y.Shape[1]], y.Shape[1])
		}
		at := make([]int32, len(x))
		for j, c := range x {
			at[j] = int32(c)
		}
		k, err := q.against([]part{{len(at), columnsOf(at)}}, m.kernel, rows)
		if err != nil {
			return nil, err
		}
		sums, err := q.weighed(k, weighing{times(by, alpha), outs})
		if err != nil {
			return nil, err
		}
		bs := times(by, q.tensors[prefix+"b"])
		if !inLeaf {
			for t := range b {
				b[t] += bs[t]
			}
			all = append(all, sums...)
			continue
		}
		for _, some := range sums {
			for t, c := range some {
				some[t] = q.put("CASE WHEN "+q.where+" THEN "+q.x(share[m.Leaf])+"*("+q.x(c)+" + "+digits(bs[t])+") ELSE 0 END", c, share[m.Leaf])
			}
			all = append(all, some)
		}
	}
	q.where, q.uses = "", nil
	if q.TreeShare > 0 {
		sums, err := q.trees(cols, b)
		if err != nil {
			return nil, err
		}
		all = append(all, sums)
	}
	s := q.totals(all, b)
	if q.Votes {
		s = q.votes(s)
	}
	return s, nil
}

// trees are the sums of boosted trees by their share, without what they start with, which is added to b.
func (q *sqlModel) trees(cols []int, b []float64) ([]int, error) {
	for t, v := range times(q.TreeShare, q.tensors["trees.start"]) {
		b[t] += v
	}
	var sums []int
	for len(sums) < len(b) {
		some, err := q.treesOf(cols, len(sums), min(len(b), len(sums)+q.most-1))
		if err != nil {
			return nil, err
		}
		sums = append(sums, some...)
	}
	return sums, nil
}

// treesOf are those of the outputs from first to before last. A table has a row for each tree, the numbers of the columns that it asks for and
// thresholds, and another one for each leaf, with its values.
func (q *sqlModel) treesOf(cols []int, first, last int) ([]int, error) {
	columns, thresholds, values := q.tensors["trees.columns"], q.tensors["trees.thresholds"], q.tensors["trees.values"]
	levels, leaves, outs := columns.Shape[1], values.Shape[1], values.Shape[2]
	s, asks := &segment{inner: []string{"w.k AS k"}}, sqlTable{rows: columns.Shape[0]}
	leaf := []string{fmt.Sprintf("f.k * %d", leaves)}
	for l := range levels {
		asked := map[int]bool{}
		for tree := range asks.rows {
			asked[int(columns.F64[tree*levels+l])] = true
		}
		value := fmt.Sprintf("CASE w.c%d", l)
		for _, c := range slices.Sorted(maps.Keys(asked)) {
			value += fmt.Sprintf(" WHEN %d THEN %s", c, q.x(cols[c]))
			s.uses = append(s.uses, cols[c])
		}
		s.inner = append(s.inner, fmt.Sprintf("CASE WHEN %s END > w.t%d THEN %d ELSE 0 END AS b%d", value, l, 1<<l, l))
		asks.columns = append(asks.columns, fmt.Sprintf("c%d", l), fmt.Sprintf("t%d", l))
		leaf = append(leaf, fmt.Sprintf("f.b%d", l))
	}
	asks.cell = func(tree, column int) float64 {
		if level := tree*levels + column/2; column%2 == 0 {
			return columns.F64[level]
		} else {
			return float64(thresholds.F32[level])
		}
	}
	told := sqlTable{rows: asks.rows * leaves}
	for o := range last - first {
		told.columns = append(told.columns, fmt.Sprintf("v%d", o))
		s.values = append(s.values, fmt.Sprintf("l.v%d", o))
	}
	told.cell = func(row, o int) float64 { return q.TreeShare * float64(values.F32[row*outs+first+o]) }
	var err error
	if s.table, err = q.table(asks); err != nil {
		return nil, err
	}
	name, err := q.table(told)
	if err != nil {
		return nil, err
	}
	s.look = fmt.Sprintf(" JOIN %s l ON l.k = %s", quoted(name), joined(" + ", leaf))
	sums := make([]int, last-first)
	for o := range sums {
		sums[o] = q.result(s, fmt.Sprintf("sum(g.v%d)", o))
	}
	return sums, nil
}

// votes are the contests that each class wins less those that it loses.
func (q *sqlModel) votes(s []int) []int {
	classes := len(q.Classes)
	terms, uses := make([][]string, classes), make([][]int, classes)
	t := 0
	for a := range classes {
		for b := a + 1; b < classes; b++ {
			won := "CASE WHEN " + q.x(s[t]) + " > 0 THEN %d WHEN " + q.x(s[t]) + " <= 0 THEN %d END"
			terms[a], terms[b] = append(terms[a], fmt.Sprintf(won, 1, -1)), append(terms[b], fmt.Sprintf(won, -1, 1))
			uses[a], uses[b] = append(uses[a], s[t]), append(uses[b], s[t])
			t++
		}
	}
	out := make([]int, classes)
	for c := range out {
		out[c] = q.put(asDouble(joined(" + ", terms[c])), uses[c]...)
	}
	return out
}

// shares are columns of the shares of the leaves; nil without a tree.
func (q *sqlModel) shares(cols []int) ([]int, error) {
	t := q.tensors["tree.nodes"]
	if t == nil {
		return nil, nil
	}
	sides, err := q.sides(cols, q.tensors["tree.directions"])
	if err != nil {
		return nil, err
	}
	share, at := make([]int, q.Leaves), map[int]int{}
	for i, s := range sides {
		low, high := t.F64[4*i], t.F64[4*i+1]
		up := q.putf("CASE WHEN %s > "+digits(low)+" THEN 1e0 ELSE 0e0 END", s)
		if high > low {
			up = q.putf("((%s - "+digits(low)+")*"+digits(1/(high-low))+")", s)
			up = q.putf("CASE WHEN %[1]s <= 1e-3 THEN 0e0 WHEN %[1]s >= 0.999e0 THEN 1e0 ELSE %[1]s END", up)
		}
		for side, to := range []int{int(t.F64[4*i+2]), int(t.F64[4*i+3])} {
			text, uses := q.x(up), []int{up}
			if side == 0 {
				text = "(1 - " + text + ")"
			}
			if i > 0 {
				text, uses = text+"*"+q.x(at[i]), append(uses, at[i])
			}
			c := q.put(text, uses...)
			if to < 0 {
				share[-to-1] = c
			} else {
				at[to] = c
			}
		}
	}
	return share, nil
}

// sides are columns of the products with directions.
func (q *sqlModel) sides(cols []int, d *safetensors.Tensor) ([]int, error) {
	at := make([]int32, len(cols))
	for i, c := range cols {
		at[i] = int32(c)
	}
	n := d.Shape[0]
	y, err := q.product([]part{{len(at), columnsOf(at)}}, n, func(i int, add func(j int, v float64)) {
		for j := range n {
			add(j, float64(d.F32[j*d.Shape[1]+i]))
		}
	})
	if err != nil {
		return nil, err
	}
	return q.held(y)
}
