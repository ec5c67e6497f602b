package export

import (
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/safetensors"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// double64 is a value in float64, converted once.
func (o *onnx) double64(v string) string {
	if o.wide[v] == "" {
		o.wide[v] = o.cast(v, typeDouble)
	}
	return o.wide[v]
}

// landmark are the rows that a machine or a map compares with: kept as float32, computed with as float64.
type landmark struct {
	v     []float32
	n, d  int
	pairs []pair // of the dimensions; nil if nothing is known of them
}

func (o *onnx) rows(v []float32, n, d int) landmark { return landmark{v: v, n: n, d: d} }

// pair are the two values that scaled rows have in a dimension of a category, or of an indicator.
type pair struct {
	known   bool
	off, on float32
}

// twofold are the dimensions of two values, and these once scaled and by the model's metric; nil if these mix dimensions.
func (o *onnx) twofold() []pair {
	if o.Scale == "l1" || o.Scale == "l2" || o.Metric == "axes" || o.program != nil {
		return nil
	}
	bits := matrix.NewDense(2, o.Dim)
	for j := range o.Dim {
		bits.Row(1)[j] = 1
	}
	rows := o.model.Pipeline().Pass().Scale(matrix.Rows{Dense: bits}).Dense
	pairs := make([]pair, o.Dim)
	known := func(from, n int) {
		for j := from; j < from+n; j++ {
			pairs[j] = pair{true, rows.Row(0)[j], rows.Row(1)[j]}
		}
	}
	for _, c := range o.Columns {
		switch {
		case c.Means != nil:
		case c.Coding != nil && c.Coding.Kind == dataset.CodedHashed:
			known(c.At, len(c.Coding.Values)+c.Coding.Buckets)
		default:
			known(c.At, len(c.Categories))
		}
		if c.Indicator > 0 {
			known(c.Indicator, 1)
		}
	}
	return pairs
}

// measuredPairs are pairs in the metric of a machine.
func measuredPairs(pairs []pair, weights []float32) []pair {
	out := slices.Clone(pairs)
	for j := range out {
		out[j].off *= weights[j]
		out[j].on *= weights[j]
	}
	return out
}

// direct are the kernels of a few operators on products or distances. Others are sums over the dimensions.
var direct = []string{"linear", "rbf", "matern", "poly", "exp", "arccos"}

// kernel is k(x, y) of rows x in float64 and landmarks, in float64.
func (o *onnx) kernel(x string, k kernel.Kernel, y landmark) (string, error) {
	if k.Name == "hellinger" {
		return o.hellinger(x, k, y), nil
	}
	if !slices.Contains(direct, k.Name) {
		return o.summed(x, k, y)
	}
	turned := make([]float32, len(y.v))
	norms := make([]float64, y.n)
	for i := range y.n {
		for j, v := range y.v[i*y.d:][:y.d] {
			turned[j*y.n+i] = v
			norms[i] += float64(v) * float64(v)
		}
	}
	p := o.op("MatMul", x, o.fixed([]int{y.d, y.n}, turned))
	gamma := o.two(k.Gamma)
	switch k.Name {
	case "linear":
		return p, nil
	case "exp":
		return o.op("Exp", o.op("Mul", p, gamma)), nil
	case "poly":
		p = o.op("Add", o.op("Mul", p, gamma), o.two(k.Coef0))
		power := p
		for range k.Degree - 1 {
			power = o.op("Mul", power, p)
		}
		return power, nil
	}
	square := o.sum(o.op("Mul", x, x), 1)
	if k.Name == "arccos" {
		return o.arccos(k.Degree, p, square, norms), nil
	}
	r := o.op("Sub", o.op("Add", square, o.double([]int{1, y.n}, norms)), o.op("Mul", p, o.two(2)))
	r = o.op("Max", r, o.two(0))
	if k.Name == "rbf" {
		return o.op("Exp", o.op("Mul", r, o.two(-k.Gamma))), nil
	}
	n := int(k.Nu)
	if k.Nu != float64(n)+0.5 || n > 8 {
		return "", fmt.Errorf("the kernel matern with nu %g cannot be exported: it is no elementary function; nu = 0.5, 1.5, … 8.5 can", k.Nu)
	}
	z := o.op("Sqrt", o.op("Mul", r, o.two(4*k.Nu*k.Gamma)))
	z = o.op("Min", z, o.two(1000)) // exp(-1000) is 0, and ∞·0 no number
	fall := o.op("Exp", o.op("Neg", z))
	coefficients := polynomial(n)
	if n == 0 {
		return fall, nil
	}
	sum := o.two(coefficients[n])
	for i := n - 1; i >= 0; i-- {
		sum = o.op("Add", o.op("Mul", sum, z), o.two(coefficients[i]))
	}
	return o.op("Mul", sum, fall), nil
}

// scores are the scores of rows, float32.
func (o *onnx) scores() (string, error) {
	if o.Learner == "linear" {
		w, b := o.tensors["linear.w"], slices.Clone(o.tensors["linear.b"].F64)
		all := weights{make([]float64, len(w.F32)), w.Shape[1]}
		for i, v := range w.F32 {
			all.w[i] = float64(v)
		}
		last := 0
		if o.program != nil {
			last = len(o.program.Steps)
		}
		s, err := o.dot(last, all, b)
		if err != nil {
			return "", err
		}
		low := make([]float32, len(b))
		for i, v := range b {
			low[i] = float32(v)
		}
		return o.op("Add", s, o.float([]int{1, len(b)}, low)), nil
	}
	x := o.row
	if o.program != nil {
		var err error
		if x, err = o.features(len(o.program.Steps)); err != nil {
			return "", err
		}
	}
	var s string
	var err error
	switch p := o.model.Predictor().(type) {
	case model.Nearest:
		s, err = o.nearest(x, p.Of)
	case model.Residual:
		s = o.residual(x, p)
	default:
		s, err = o.machines(x)
	}
	if err != nil {
		return "", err
	}
	if o.Votes {
		s = o.votes(s)
	}
	return o.cast(s, typeFloat), nil
}

// votes are the contests that each class wins less those that it loses.
func (o *onnx) votes(s string) string {
	classes := len(o.Classes)
	pairs := classes * (classes - 1) / 2
	m, t := make([]float64, pairs*classes), 0
	for a := range classes {
		for b := a + 1; b < classes; b++ {
			m[t*classes+a], m[t*classes+b] = 1, -1
			t++
		}
	}
	won := o.op("Where", o.op("Greater", s, o.two(0)), o.two(1), o.two(-1))
	return o.op("MatMul", won, o.double([]int{pairs, classes}, m))
}

// machines are the sums of kernel machines: those of all rows, and those of the leaves for the rows that reach them.
func (o *onnx) machines(x string) (string, error) {
	share := o.shares(x)
	o.pairs = o.twofold()
	all := ""
	var leaves [][]int
	for i, m := range o.Members {
		if m.Leaf >= 0 && share != nil {
			for len(leaves) <= m.Leaf {
				leaves = append(leaves, nil)
			}
			leaves[m.Leaf] = append(leaves[m.Leaf], i)
			continue
		}
		part := 1 - o.Share
		if m.Leaf < 0 {
			part = o.Share
		}
		if part == 0 {
			continue
		}
		s, err := o.machine(i, x, part)
		if err != nil {
			return "", err
		}
		if all != "" {
			s = o.op("Add", all, s)
		}
		all = s
	}
	if all == "" {
		outs := len(o.tensors["member.0.b"].F64)
		first := o.columns(o.double64(x), []int64{0})
		all = o.op("MatMul", o.op("Mul", first, o.two(0)), o.double([]int{1, outs}, make([]float64, outs)))
	}
	for leaf, members := range leaves {
		if len(members) == 0 || o.Share == 1 {
			continue
		}
		part := o.reshape(share[leaf], -1)
		at := o.reshape(o.op("NonZero", o.op("Greater", part, o.two(0))), -1)
		some := o.op("Greater", o.op("Size", at), o.whole([]int{}, []int64{0}))
		before := all
		then, err := o.branch(func() (string, error) { return o.leaf(members, before, x, at, share[leaf]) })
		if err != nil {
			return "", err
		}
		other, _ := o.branch(func() (string, error) { return o.op("Identity", before), nil })
		all = o.node("If", []string{some}, subgraph("then_branch", then), subgraph("else_branch", other))
	}
	if o.TreeShare > 0 {
		all = o.op("Add", o.op("Mul", all, o.two(1-o.TreeShare)), o.trees(x))
	}
	return all, nil
}

// trees are the sums of boosted trees by their share.
func (o *onnx) trees(x string) string {
	columns, values := o.tensors["trees.columns"], o.tensors["trees.values"]
	n, levels, leaves, outs := columns.Shape[0], columns.Shape[1], values.Shape[1], values.Shape[2]
	asked, powers, firsts, by := make([]int64, n*levels), make([]float32, levels), make([]float32, n), make([]float64, len(values.F32))
	for i, c := range columns.F64 {
		asked[i] = int64(c)
	}
	for l := range powers {
		powers[l] = float32(int(1) << l)
	}
	for i := range firsts {
		firsts[i] = float32(i * leaves)
	}
	for i, v := range values.F32 {
		by[i] = o.TreeShare * float64(v)
	}
	bits := o.cast(o.op("Greater", o.columns(x, asked), o.float([]int{1, n * levels}, o.tensors["trees.thresholds"].F32)), typeFloat)
	leaf := o.reshape(o.op("MatMul", o.reshape(bits, -1, int64(levels)), o.float([]int{levels, 1}, powers)), -1, int64(n))
	at := o.cast(o.op("Add", leaf, o.float([]int{1, n}, firsts)), typeInt64)
	sums := o.sum(o.op("Gather", o.double([]int{n * leaves, outs}, by), at), 1)
	return o.op("Add", o.reshape(sums, -1, int64(outs)), o.double([]int{1, outs}, times(o.TreeShare, o.tensors["trees.start"])))
}

// branch is a graph of its own with what of adds, except for its constants.
func (o *onnx) branch(of func() (string, error)) ([]byte, error) {
	o.outside, o.nodes = o.nodes, nil
	o.inside = true
	out, err := of()
	b := graph{nodes: o.nodes}
	o.nodes, o.inside = o.outside, false
	return b.message("branch", nil, [][]byte{described(out, typeDouble, -1, -1)}), err
}

// fixed is a constant kept as float32 and computed with as float64, outside all branches.
func (o *onnx) fixed(shape []int, v []float32) string {
	if o.inside {
		o.outside, o.nodes = o.nodes, o.outside
		defer func() { o.outside, o.nodes = o.nodes, o.outside }()
	}
	return o.cast(o.float(shape, v), typeDouble)
}

// leaf adds the scores of the machines of a leaf to all scores, for the rows at a list of numbers.
func (o *onnx) leaf(members []int, all, x, at, share string) (string, error) {
	rows, sum := o.op("Gather", x, at), ""
	for _, i := range members {
		s, err := o.machine(i, rows, 1-o.Share)
		if err != nil {
			return "", err
		}
		if sum != "" {
			s = o.op("Add", sum, s)
		}
		sum = s
	}
	sum = o.op("Mul", sum, o.op("Gather", share, at))
	return o.op("ScatterND", all, o.reshape(at, -1, 1), o.op("Add", o.op("Gather", all, at), sum)), nil
}

// machine are the scores of a machine times its weight and a part.
func (o *onnx) machine(i int, x string, part float64) (string, error) {
	m, prefix := &o.Members[i], fmt.Sprintf("member.%d.", i)
	y, alpha, b := o.tensors[prefix+"x"], o.tensors[prefix+"alpha"], o.tensors[prefix+"b"]
	x = o.double64(o.metric(x, m.Metric, prefix))
	pairs := o.pairs
	switch {
	case pairs == nil || m.Metric == "axes":
		pairs = nil
	case m.Metric == "weights":
		pairs = measuredPairs(pairs, o.tensors[prefix+"metric.weights"].F32)
	}
	k, err := o.kernel(x, m.kernel, landmark{y.F32, y.Shape[0], y.Shape[1], pairs})
	if err != nil {
		return "", err
	}
	by := part * m.Weight
	s := o.op("MatMul", k, o.double(alpha.Shape, times(by, alpha)))
	return o.op("Add", s, o.double([]int{1, len(b.F64)}, times(by, b))), nil
}

func times(by float64, t *safetensors.Tensor) []float64 {
	out := make([]float64, len(t.F64))
	for i, v := range t.F64 {
		out[i] = by * v
	}
	return out
}

// shares are the shares of the leaves, n×1 each in float64; nil without a tree.
func (o *onnx) shares(x string) []string {
	t := o.tensors["tree.nodes"]
	if t == nil {
		return nil
	}
	d := o.tensors["tree.directions"]
	nodes := d.Shape[0]
	turned := make([]float32, len(d.F32))
	for i, v := range d.F32 {
		turned[i%d.Shape[1]*nodes+i/d.Shape[1]] = v
	}
	lows, widths, hard := make([]float64, nodes), make([]float64, nodes), make([]float64, nodes)
	for i := range nodes {
		low, high := t.F64[4*i], t.F64[4*i+1]
		if lows[i], widths[i] = low, high-low; !(high > low) {
			widths[i], hard[i] = 1, 1
		}
	}
	row := func(v []float64) string { return o.double([]int{1, nodes}, v) }
	s := o.op("MatMul", o.double64(x), o.fixed([]int{d.Shape[1], nodes}, turned))
	above := o.op("Sub", s, row(lows))
	up := o.op("Max", o.op("Min", o.op("Div", above, row(widths)), o.two(1)), o.two(0))
	up = o.op("Where", o.op("LessOrEqual", up, o.two(1e-3)), o.two(0), up)
	up = o.op("Where", o.op("GreaterOrEqual", up, o.two(1-1e-3)), o.two(1), up)
	if slices.Contains(hard, 1) {
		side := o.cast(o.op("Greater", above, o.two(0)), typeDouble)
		up = o.op("Where", o.op("Greater", row(hard), o.two(0)), side, up)
	}
	share, at := make([]string, o.Leaves), map[int]string{}
	for i := range nodes {
		part := o.columns(up, []int64{int64(i)})
		for side, to := range []int{int(t.F64[4*i+2]), int(t.F64[4*i+3])} {
			part := part
			if side == 0 {
				part = o.op("Sub", o.two(1), part)
			}
			if i > 0 {
				part = o.op("Mul", at[i], part)
			}
			if to < 0 {
				share[-to-1] = part
			} else {
				at[to] = part
			}
		}
	}
	return share
}
