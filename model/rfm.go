package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/rfm"
	"mercer/internal/solve/trees"
	"mercer/matrix"
)

// Recursive is the predictor of recursive feature machines: a tree with kernel machines in its leaves, each with a
// metric of its own.
type Recursive struct {
	*rfm.Machine
	kinds []rfm.Kind
}

// NewRecursive makes the predictor of a machine whose members are of the kinds that were chosen.
func NewRecursive(m *rfm.Machine, report *rfm.Report) Recursive {
	return Recursive{m, report.Chosen()}
}

// Scores writes the scores of scaled rows into dst, rows×outputs.
func (p Recursive) Scores(dst *matrix.Dense, z matrix.Rows) {
	if err := p.Machine.Scores(dst, z); err != nil {
		panic("model: " + err.Error()) // the pipeline has checked the rows
	}
}

// The numbers of rfm.members and of rfm.nodes.
const (
	memberNumbers = 4
	nodeNumbers   = 4
)

// The tensors are, for L leaves of M machines each:
//
//	rfm.nodes       (L-1)×4  where a node begins and ends to divide rows, and its Below and Above
//	rfm.directions  (L-1)×d
//	rfm.members     LM×4     weight, γ, number of landmarks, and number of axes of the metric: 0 for weights, -1 for none
//	rfm.metrics              the weights, d numbers, or axes, d×r, of all metrics one after the other
//	rfm.x, rfm.alpha         the landmarks and their weights, K each, of all machines
//	rfm.b           LM×K     intercepts
//	rfm.whole       1        the share of machines for all rows in the scores, if there are any; they are the last M
//	rfm.trees       1+K      the share of boosted trees in the scores, if there are any, and what they start with
//	rfm.questions   T×6×2    column and threshold of each question of T trees
//	rfm.values      T×64×K   of the leaves of each tree; a row's leaf is Σ 2^l over the questions l that it affirms
//	rfm.sizes       L×K      of a regression: absolute residuals that are usual in each leaf
//	rfm.ratios      K×n      residuals of n held-out rows, divided by the usual ones, ascending
func (p Recursive) Tensors() map[string]*safetensors.Tensor {
	d, k := p.Dims()
	tree, leaves, whole := p.Tree(), p.Leaves(), p.Whole()
	if whole.Share > 0 {
		leaves = append(slices.Clone(leaves), whole.Leaf)
	}
	var nodes, members, alpha, b []float64
	var directions, metrics, rows []float32
	for _, n := range tree {
		nodes = append(nodes, n.Low, n.High, float64(n.Below), float64(n.Above))
		directions = append(directions, n.Direction...)
	}
	for _, leaf := range leaves {
		for _, one := range leaf {
			axes := -1
			switch {
			case one.Metric == nil:
			case one.Metric.Axes != nil:
				axes = one.Metric.Axes.Cols
				metrics = append(metrics, one.Metric.Axes.Contiguous()...)
			default:
				axes = 0
				metrics = append(metrics, one.Metric.Weights...)
			}
			x := one.Machine.Rows()
			members = append(members, one.Weight, one.Machine.Kernel().Gamma, float64(x.Len()), float64(axes))
			rows = append(rows, x.Dense.Contiguous()...)
			alpha = append(alpha, one.Machine.Alpha()...)
			b = append(b, one.Machine.Intercepts()...)
		}
	}
	machines := len(leaves) * len(p.kinds)
	t := map[string]*safetensors.Tensor{
		"rfm.members": {Shape: []int{machines, memberNumbers}, F64: members},
		"rfm.x":       {Shape: []int{len(rows)}, F32: rows},
		"rfm.alpha":   {Shape: []int{len(alpha)}, F64: alpha},
		"rfm.b":       {Shape: []int{machines, k}, F64: b},
	}
	if len(tree) > 0 {
		t["rfm.nodes"] = &safetensors.Tensor{Shape: []int{len(tree), nodeNumbers}, F64: nodes}
		t["rfm.directions"] = &safetensors.Tensor{Shape: []int{len(tree), d}, F32: directions}
	}
	if whole.Share > 0 {
		t["rfm.whole"] = &safetensors.Tensor{Shape: []int{1}, F64: []float64{whole.Share}}
	}
	if s := p.Steps(); s.Trees != nil {
		n := s.Trees.Len()
		var questions []float64
		for i, c := range s.Trees.Columns {
			questions = append(questions, float64(c), float64(s.Trees.Thresholds[i]))
		}
		t["rfm.trees"] = safetensors.Vector(append([]float64{s.Share}, s.Trees.Start...))
		t["rfm.questions"] = &safetensors.Tensor{Shape: []int{n, trees.Levels, 2}, F64: questions}
		t["rfm.values"] = &safetensors.Tensor{Shape: []int{n, trees.Leaves, k}, F32: s.Trees.Values}
	}
	if s := p.Spread(); s != nil {
		t["rfm.sizes"] = &safetensors.Tensor{Shape: []int{len(s.Sizes) / k, k}, F64: s.Sizes}
		t["rfm.ratios"] = &safetensors.Tensor{Shape: []int{k, len(s.Ratios) / k}, F64: s.Ratios}
	}
	if len(metrics) > 0 {
		t["rfm.metrics"] = &safetensors.Tensor{Shape: []int{len(metrics)}, F32: metrics}
	}
	return t
}

// restoreRecursive makes the predictor of a model of d dimensions from the tensors of its file.
func (m *Model) restoreRecursive(t safetensors.Tensors, report *rfm.Report, d int) (Predictor, error) {
	kinds := report.Chosen()
	table := t["rfm.members"]
	if table == nil || len(table.Shape) != 2 || len(kinds) == 0 || table.Shape[0]%len(kinds) != 0 || table.Shape[0] == 0 {
		return nil, fmt.Errorf("tensor %q is missing, or does not go with the %d kinds of machines", "rfm.members", len(kinds))
	}
	machines, k := table.Shape[0], m.info.Outputs
	leaves := machines / len(kinds)
	members, err := t.Want("rfm.members", true, machines, memberNumbers)
	if err != nil {
		return nil, err
	}
	b, err := t.Want("rfm.b", true, machines, k)
	if err != nil {
		return nil, err
	}
	var whole rfm.Whole
	if t["rfm.whole"] != nil {
		share, err := t.Want("rfm.whole", true, 1)
		if err != nil {
			return nil, err
		}
		whole.Share = share.F64[0]
		if leaves--; leaves == 0 {
			return nil, fmt.Errorf("tensor %q belongs to a model with leaves, and there are none", "rfm.whole")
		}
	}
	tree, err := restoreTree(t, leaves-1, d)
	if err != nil {
		return nil, err
	}
	all := recursiveNumbers{t: t, d: d, k: k}
	made := make([]rfm.Leaf, machines/len(kinds))
	for i := range machines {
		one, err := all.member(members.F64[i*memberNumbers:][:memberNumbers], kinds[i%len(kinds)], b.F64[i*k:][:k:k])
		if err != nil {
			return nil, fmt.Errorf("machine %d: %w", i+1, err)
		}
		made[i/len(kinds)] = append(made[i/len(kinds)], one)
	}
	if err := all.done(); err != nil {
		return nil, err
	}
	if leaves < len(made) {
		whole.Leaf = made[leaves]
	}
	steps, err := restoreSteps(t, d, k)
	if err != nil {
		return nil, err
	}
	machine, err := rfm.NewMachine(d, tree, made[:leaves], whole, steps)
	if err != nil {
		return nil, err
	}
	if err := restoreSpread(machine, t, leaves, k); err != nil {
		return nil, err
	}
	return Recursive{machine, kinds}, nil
}

// restoreTree reads a tree of n nodes for rows of d dimensions.
func restoreTree(t safetensors.Tensors, n, d int) (rfm.Tree, error) {
	if n == 0 {
		return nil, nil
	}
	nodes, err := t.Want("rfm.nodes", true, n, nodeNumbers)
	if err != nil {
		return nil, err
	}
	directions, err := t.Want("rfm.directions", false, n, d)
	if err != nil {
		return nil, err
	}
	tree := make(rfm.Tree, n)
	for i := range tree {
		v := nodes.F64[i*nodeNumbers:]
		for _, to := range v[2:4] {
			if to != math.Trunc(to) || math.Abs(to) > 1<<30 {
				return nil, fmt.Errorf("tensor %q: node %d leads to %g, which is no node", "rfm.nodes", i+1, to)
			}
		}
		tree[i] = rfm.Node{Low: v[0], High: v[1], Below: int(v[2]), Above: int(v[3]), Direction: directions.F32[i*d:][:d:d]}
	}
	return tree, nil
}

// restoreSteps reads boosted trees for rows of d dimensions and k outputs, if there are any.
func restoreSteps(t safetensors.Tensors, d, k int) (steps rfm.Steps, err error) {
	if t["rfm.trees"] == nil {
		if t["rfm.questions"] != nil || t["rfm.values"] != nil {
			return steps, fmt.Errorf("there are boosted trees, and tensor %q with their share is missing", "rfm.trees")
		}
		return steps, nil
	}
	share, err := t.Want("rfm.trees", true, 1+k)
	if err != nil {
		return steps, err
	}
	n := 0
	if q := t["rfm.questions"]; q != nil && len(q.Shape) == 3 {
		n = q.Shape[0]
	}
	questions, err := t.Want("rfm.questions", true, n, trees.Levels, 2)
	if err != nil {
		return steps, err
	}
	values, err := t.Want("rfm.values", false, n, trees.Leaves, k)
	if err != nil {
		return steps, err
	}
	all := &trees.Trees{Dim: d, Outputs: k, Start: share.F64[1:], Values: values.F32}
	for i := 0; i < len(questions.F64); i += 2 {
		c := questions.F64[i]
		if c != math.Trunc(c) || !(c >= 0 && c < float64(d)) {
			return steps, fmt.Errorf("tensor %q: a question is about column %g of %d", "rfm.questions", c, d)
		}
		all.Columns, all.Thresholds = append(all.Columns, int32(c)), append(all.Thresholds, float32(questions.F64[i+1]))
	}
	return rfm.Steps{Trees: all, Share: share.F64[0]}, nil
}

// restoreSpread reads how far predictions are from the truth, if the file has it.
func restoreSpread(m *rfm.Machine, t safetensors.Tensors, leaves, k int) error {
	if t["rfm.sizes"] == nil && t["rfm.ratios"] == nil {
		return nil
	}
	sizes, err := t.Want("rfm.sizes", true, leaves, k)
	if err != nil {
		return err
	}
	n := 0
	if r := t["rfm.ratios"]; r != nil && len(r.Shape) == 2 {
		n = r.Shape[1]
	}
	ratios, err := t.Want("rfm.ratios", true, k, n)
	if err != nil {
		return err
	}
	return m.SetSpread(&rfm.Spread{Sizes: sizes.F64, Ratios: ratios.F64})
}

// recursiveNumbers deals out the numbers of machines that lie one after the other.
type recursiveNumbers struct {
	t                      safetensors.Tensors
	d, k                   int
	metrics, rows, centres int // how many were dealt out
}

// take returns the next n numbers of a tensor of float32 or float64.
func take[F float32 | float64](all []F, at *int, n int) ([]F, error) {
	if n < 0 || n > len(all)-*at {
		return nil, errors.New("the tensors of the machines are too short")
	}
	some := all[*at:][:n:n]
	*at += n
	return some, nil
}

func (r *recursiveNumbers) member(v []float64, kind rfm.Kind, b []float64) (one rfm.Member, err error) {
	const most = 1 << 30
	n, axes := int(v[2]), int(v[3])
	if v[2] != math.Trunc(v[2]) || v[3] != math.Trunc(v[3]) || !(v[2] >= 1 && v[2] < most) || !(v[3] >= -1 && v[3] <= float64(r.d)) {
		return one, fmt.Errorf("%g landmarks and %g axes", v[2], v[3])
	}
	var metrics, rows []float32
	var alpha []float64
	if x := r.t["rfm.metrics"]; x != nil {
		metrics = x.F32
	}
	if x := r.t["rfm.x"]; x != nil {
		rows = x.F32
	}
	if x := r.t["rfm.alpha"]; x != nil {
		alpha = x.F64
	}
	width := r.d
	switch {
	case axes > 0 != (kind.Form == "full") && axes >= 0:
		return one, fmt.Errorf("a metric of %d axes, which is not %s", axes, kind.Form)
	case axes == 0:
		w, err := take(metrics, &r.metrics, r.d)
		if err != nil {
			return one, err
		}
		one.Metric = &metric.Metric{Weights: w}
	case axes > 0:
		w, err := take(metrics, &r.metrics, r.d*axes)
		if err != nil {
			return one, err
		}
		width = axes
		one.Metric = &metric.Metric{Axes: &matrix.Dense{Rows: r.d, Cols: axes, Stride: axes, Data: w}}
	}
	x, err := take(rows, &r.rows, n*width)
	if err != nil {
		return one, err
	}
	a, err := take(alpha, &r.centres, n*r.k)
	if err != nil {
		return one, err
	}
	kernel := kind.Kernel
	kernel.Gamma = v[1]
	one.Weight = v[0]
	one.Machine, err = exact.NewMachine(kernel, matrix.Rows{Dense: &matrix.Dense{Rows: n, Cols: width, Stride: width, Data: x}}, a, b)
	return one, err
}

// done checks that all numbers were dealt out.
func (r *recursiveNumbers) done() error {
	for _, c := range []struct {
		name string
		used int
	}{{"rfm.metrics", r.metrics}, {"rfm.x", r.rows}, {"rfm.alpha", r.centres}} {
		if x := r.t[c.name]; x != nil && len(x.F32)+len(x.F64) != c.used {
			return fmt.Errorf("tensor %q holds %d numbers, the machines take %d", c.name, len(x.F32)+len(x.F64), c.used)
		}
	}
	return nil
}
