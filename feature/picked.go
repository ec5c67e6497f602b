package feature

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/freelist"
	"mercer/matrix"
)

// Group is the part of the input that a step of a [Sum] takes: a kernel for a group of columns. The zero value takes
// all dimensions as they are.
type Group struct {
	// Dims are ranges of dimensions [from, to), rising; nil means all.
	Dims [][2]int `json:"dims,omitempty"`

	// Norm, "l1" or "l2", divides what a row has in these dimensions by its norm; rows of zeros stay zero.
	Norm string `json:"norm,omitempty"`

	// Columns and Scale are what a training makes Dims, Norm and a scaling of: columns as in
	// dataset.ColumnOptions, and one of dataset.Scalings or "auto".
	Columns string `json:"columns,omitempty"`
	Scale   string `json:"scale,omitempty"`
}

// part says that a map takes a part of its input, or changes it first.
func (g *Group) part() bool { return g.Dims != nil || g.Norm != "" || g.Columns != "" || g.Scale != "" }

// width is the number of dimensions of a group of dim.
func (g *Group) width(dim int) (n int) {
	if g.Dims == nil {
		return dim
	}
	for _, r := range g.Dims {
		n += r[1] - r[0]
	}
	return n
}

// check returns what is wrong with a group for rows of dim dimensions.
func (g *Group) check(dim int) error {
	switch {
	case g.Norm != "" && g.Norm != "l1" && g.Norm != "l2":
		return fmt.Errorf("feature: norm %q is not known; known are l1, l2", g.Norm)
	case g.Columns != "" && g.Dims == nil:
		return fmt.Errorf("feature: the columns %q are names that only a training knows; give dims, such as [[0,16]]", g.Columns)
	}
	last := 0
	for _, r := range g.Dims {
		if r[0] < last || r[1] <= r[0] || r[1] > dim {
			return fmt.Errorf("feature: dims %v of rows of %d dimensions: ranges [from, to) have to rise and lie within these", g.Dims, dim)
		}
		last = r[1]
	}
	return nil
}

// Pick writes the part of rows that a group takes into the memory of dense or sparse. Rows that it takes whole are
// returned as they are.
func (g *Group) Pick(x matrix.Rows, dense *matrix.Dense, sparse *matrix.CSR) matrix.Rows {
	if !g.part() {
		return x
	}
	ranges := g.Dims
	if ranges == nil {
		ranges = [][2]int{{0, x.Dim()}}
	}
	if x.CSR == nil {
		dense.Reshape(x.Len(), g.width(x.Dim()))
		for i := range x.Len() {
			to, from := dense.Row(i)[:0], x.Dense.Row(i)
			for _, r := range ranges {
				to = append(to, from[r[0]:r[1]]...)
			}
			g.normalise(to)
		}
		return matrix.Rows{Dense: dense}
	}
	sparse.Rows, sparse.Cols = x.Len(), g.width(x.Dim())
	sparse.Ptr, sparse.Idx, sparse.Val = append(sparse.Ptr[:0], 0), sparse.Idx[:0], sparse.Val[:0]
	for i := range x.Len() {
		idx, val := x.CSR.Row(i)
		start, first := len(sparse.Val), 0
		for _, r := range ranges {
			lo, _ := slices.BinarySearch(idx, int32(r[0]))
			for ; lo < len(idx) && int(idx[lo]) < r[1]; lo++ {
				sparse.Idx, sparse.Val = append(sparse.Idx, idx[lo]-int32(r[0]-first)), append(sparse.Val, val[lo])
			}
			first += r[1] - r[0]
		}
		g.normalise(sparse.Val[start:])
		sparse.Ptr = append(sparse.Ptr, len(sparse.Val))
	}
	return matrix.Rows{CSR: sparse}
}

// normalise divides a row by its norm, in float64.
func (g *Group) normalise(row []float32) {
	if g.Norm == "" {
		return
	}
	norm := 0.0
	for _, v := range row {
		if g.Norm == "l1" {
			norm += math.Abs(float64(v))
		} else {
			norm += float64(v) * float64(v)
		}
	}
	if g.Norm == "l2" {
		norm = math.Sqrt(norm)
	}
	if norm == 0 {
		return
	}
	for j, v := range row {
		row[j] = float32(float64(v) / norm)
	}
}

// picked is a map of a group of dimensions.
type picked struct {
	Map
	group Group
	in    int
	free  freelist.List[pick]
}

// pick is the working memory of one call.
type pick struct {
	dense matrix.Dense
	csr   matrix.CSR
}

// ofGroup makes a map of a group: inner makes that of the group's dimensions.
func ofGroup(cfg Config, dim int, inner func(cfg Config, dim int) (Map, error)) (Map, error) {
	group := cfg.Group
	if err := group.check(dim); err != nil {
		return nil, err
	}
	cfg.Group = Group{}
	m, err := inner(cfg, group.width(dim))
	if err != nil {
		return nil, err
	}
	return &picked{Map: m, group: group, in: dim}, nil
}

func (p *picked) Dims() (in, out int) {
	_, out = p.Map.Dims()
	return p.in, out
}

func (p *picked) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := p.Dims()
	check(in, out, dst, x)
	w := p.free.Get()
	defer p.free.Put(w)
	p.Map.Transform(dst, p.group.Pick(x, &w.dense, &w.csr))
}

// Sparsely reports whether sparse features are better.
func (p *picked) Sparsely(x matrix.Rows) bool {
	s, ok := p.Map.(Sparse)
	return ok && s.Sparsely(x)
}

func (p *picked) TransformSparse(dst *matrix.CSR, x matrix.Rows) {
	checkSparse(p.in, x)
	w := p.free.Get()
	defer p.free.Put(w)
	p.Map.(Sparse).TransformSparse(dst, p.group.Pick(x, &w.dense, &w.csr))
}

// State is that of the map.
func (p *picked) State() map[string]*matrix.Dense {
	if f, ok := p.Map.(Fitted); ok {
		return f.State()
	}
	return nil
}

// Chosen is what the map chose.
func (p *picked) Chosen() string {
	if c, ok := p.Map.(Chooser); ok {
		return c.Chosen()
	}
	return ""
}

// least is what is added to a squared norm, and to a norm, so that rows of zeros stay zero.
const least = 0x1p-100

// picked writes out a group: its columns, divided by their norm, and the map.
func (p *Program) picked(m *picked, x int) (int, error) {
	if m.group.Dims != nil {
		var at []int32
		for _, r := range m.group.Dims {
			for j := r[0]; j < r[1]; j++ {
				at = append(at, int32(j))
			}
		}
		x = p.pick(at, x)
	}
	if m.group.Norm != "" {
		d := p.width(x)
		ones, err := newWritten(d, d)
		if err != nil {
			return 0, err
		}
		for i := range ones.Data {
			ones.Data[i] = 1
		}
		size := func() int {
			if m.group.Norm == "l2" {
				return p.step(Step{Op: OpMultiply}, x, x)
			}
			minus := p.step(Step{Op: OpScale, V: []float32{-1}}, x)
			return p.step(Step{Op: OpAdd}, p.step(Step{Op: OpRamp}, x), p.step(Step{Op: OpRamp}, minus))
		}()
		norm := p.step(Step{Op: OpShift, V: []float32{least}}, p.product(ones, size))
		if m.group.Norm == "l2" {
			norm = p.step(Step{Op: OpRoot}, norm)
		}
		x = p.step(Step{Op: OpDivide}, x, norm)
	}
	return p.add(m.Map, x)
}
