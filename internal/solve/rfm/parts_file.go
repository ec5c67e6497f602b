package rfm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/landmarks"
	"mercer/internal/solve/metric"
	"mercer/kernel"
	"mercer/matrix"
)

// Files of rows, of a Top and of a Part are safetensors with a description in JSON, under the name "rfm", and all their numbers in two tensors, in the
// order in which the description asks for them.

// numbersOf are the numbers of a file: what is written is added, and what is read is taken, from the beginning.
type numbersOf struct {
	f32 []float32
	f64 []float64
	err error
}

// narrow takes n numbers in float32.
func (p *numbersOf) narrow(n int) []float32 { return taken(p, &p.f32, n) }

// wide takes n numbers in float64.
func (p *numbersOf) wide(n int) []float64 { return taken(p, &p.f64, n) }

func taken[T any](p *numbersOf, from *[]T, n int) []T {
	if n < 0 || n > len(*from) {
		p.err = errors.New("has fewer numbers than it describes")
		return nil
	}
	some := (*from)[:n:n]
	*from = (*from)[n:]
	return some
}

// times is a product of sizes that come from a file, -1 if no file holds so many numbers.
func times(sizes ...int) int {
	all := 1
	for _, n := range sizes {
		if n < 0 || n > 0 && all > math.MaxInt/n {
			return -1
		}
		all *= n
	}
	return all
}

// store writes a file.
func (p *numbersOf) store(w io.Writer, meta map[string]string, described any) error {
	text, err := json.Marshal(described)
	if err != nil {
		return err
	}
	all := map[string]string{"rfm": string(text)}
	for key, value := range meta {
		all[key] = value
	}
	return safetensors.Write(w, all, map[string]*safetensors.Tensor{
		"f32": {Shape: []int{len(p.f32)}, F32: p.f32}, "f64": {Shape: []int{len(p.f64)}, F64: append([]float64{}, p.f64...)},
	})
}

// load reads a file of size bytes.
func load(r io.Reader, size int64, described any) (*numbersOf, map[string]string, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, nil, err
	}
	narrow, wide := tensors["f32"], tensors["f64"]
	if narrow == nil || wide == nil || narrow.F64 != nil || wide.F32 != nil {
		return nil, nil, errors.New("has no numbers")
	}
	if err := json.Unmarshal([]byte(meta["rfm"]), described); err != nil {
		return nil, nil, fmt.Errorf("its description: %w", err)
	}
	delete(meta, "rfm")
	return &numbersOf{f32: narrow.F32, f64: wide.F64}, meta, nil
}

// end says what was wrong, or that numbers are left over.
func (p *numbersOf) end() error {
	if p.err == nil && len(p.f32)+len(p.f64) > 0 {
		p.err = errors.New("has more numbers than it describes")
	}
	return p.err
}

// rowsFile describes rows.
type rowsFile struct {
	Rows    int `json:"rows"`
	Dim     int `json:"dim"`
	Outputs int `json:"outputs"`
}

// keyUnit divides a key into two numbers that are exact in float64.
const keyUnit = int64(1) << 40

func (p *numbersOf) addRows(r *Rows) rowsFile {
	n := r.X.Rows
	p.f32 = append(p.f32, r.X.Contiguous()...)
	p.f64 = append(append(p.f64, r.Y...), r.Weights...)
	for _, key := range r.Keys {
		p.f64 = append(p.f64, float64(int64(key)/keyUnit), float64(int64(key)%keyUnit))
	}
	return rowsFile{n, r.X.Cols, len(r.Y) / max(1, n)}
}

func (p *numbersOf) rows(f rowsFile) (r Rows) {
	x := p.narrow(times(f.Rows, f.Dim))
	r.Y, r.Weights = p.wide(times(f.Rows, f.Outputs)), p.wide(f.Rows)
	keys := p.wide(times(f.Rows, 2))
	if p.err != nil {
		return r
	}
	r.X = &matrix.Dense{Rows: f.Rows, Cols: f.Dim, Stride: f.Dim, Data: x}
	r.Keys = make([]int, f.Rows)
	for i := range r.Keys {
		unit, rest := keys[2*i], keys[2*i+1]
		if unit != math.Trunc(unit) || rest != math.Trunc(rest) || !(unit >= 0 && unit < 1<<22 && rest >= 0 && rest < 1<<40) {
			p.err = fmt.Errorf("row %d has no number", i)
			return r
		}
		if r.Keys[i] = int(int64(unit)*keyUnit + int64(rest)); i > 0 && r.Keys[i] <= r.Keys[i-1] || !(r.Weights[i] > 0) {
			p.err = fmt.Errorf("row %d follows one of a greater number, or its weight is not positive", i)
			return r
		}
	}
	for _, v := range x {
		if v-v != 0 {
			p.err = errors.New("has rows with numbers that are not finite")
		}
	}
	return r
}

// Write writes rows with a description of what they are.
func (r *Rows) Write(w io.Writer, meta map[string]string) error {
	var p numbersOf
	return p.store(w, meta, p.addRows(r))
}

// ReadRows reads what Write wrote.
func ReadRows(r io.Reader, size int64) (*Rows, map[string]string, error) {
	var f rowsFile
	p, meta, err := load(r, size, &f)
	if err != nil {
		return nil, nil, err
	}
	rows := p.rows(f)
	return &rows, meta, p.end()
}

// metricFile describes a metric: weights for each dimension, or axes, or nothing.
type metricFile struct {
	Weights bool `json:"weights,omitempty"`
	Axes    int  `json:"axes,omitempty"`
}

func (p *numbersOf) addMetric(m *metric.Metric) (f metricFile) {
	switch {
	case m == nil:
	case m.Axes != nil:
		p.f32 = append(p.f32, m.Axes.Contiguous()...)
		f.Axes = m.Axes.Cols
	default:
		p.f32 = append(p.f32, m.Weights...)
		f.Weights = true
	}
	return f
}

func (p *numbersOf) metric(f metricFile, dim int) (m *metric.Metric) {
	switch {
	case f.Axes > 0:
		m = &metric.Metric{Axes: &matrix.Dense{Rows: dim, Cols: f.Axes, Stride: f.Axes, Data: p.narrow(times(dim, f.Axes))}}
	case f.Weights:
		m = &metric.Metric{Weights: p.narrow(dim)}
	default:
		return nil
	}
	if p.err == nil {
		p.err = m.Check(dim)
	}
	return m
}

func (p *numbersOf) addTree(t Tree) int {
	for _, n := range t {
		p.f32 = append(p.f32, n.Direction...)
		p.f64 = append(p.f64, n.Low, n.High, float64(n.Below), float64(n.Above))
	}
	return len(t)
}

// tree takes a tree with n nodes.
func (p *numbersOf) tree(n, dim int) (t Tree) {
	if times(n, dim) < 0 || n > len(p.f64) {
		n, p.err = 0, errors.New("has fewer numbers than it describes")
	}
	for range n {
		direction, at := p.narrow(dim), p.wide(4)
		if p.err != nil {
			return nil
		}
		for _, to := range at[2:] {
			if to != math.Trunc(to) || math.Abs(to) > 1<<30 {
				p.err = fmt.Errorf("a node leads to %g", to)
				return nil
			}
		}
		t = append(t, Node{direction, at[0], at[1], int(at[2]), int(at[3])})
	}
	if p.err == nil {
		p.err = t.check(dim, n+1)
	}
	return t
}

// memberFile describes what is known about a member.
type memberFile struct {
	Kind
	Weight    float64      `json:"weight"`
	By        metricFile   `json:"by"`
	Shape     metric.Shape `json:"shape"`
	Settled   bool         `json:"settled,omitempty"`
	Round     metric.Round `json:"round"`
	Rows      int          `json:"rows"`
	Direction bool         `json:"direction,omitempty"`
}

func (p *numbersOf) addMembers(all []member) (files []memberFile) {
	for i := range all {
		m := &all[i]
		f := memberFile{Kind: m.Kind, Weight: m.weight, Shape: m.shape, Settled: m.settled, Round: m.round(), Rows: m.learned.Report.Rows}
		f.By = p.addMetric(m.metric)
		if d := m.learned.Direction; d != nil {
			f.Direction = true
			p.f64 = append(p.f64, d...)
		}
		files = append(files, f)
	}
	return files
}

func (p *numbersOf) members(files []memberFile, dim int) (all []member) {
	for _, f := range files {
		m := member{Kind: f.Kind, weight: f.Weight, shape: f.Shape, settled: f.Settled, metric: p.metric(f.By, dim)}
		m.learned = &metric.Learned{Metric: m.metric, Report: &metric.Report{Form: f.Form, Rows: f.Rows, Rounds: []metric.Round{f.Round}}}
		if f.Direction {
			m.learned.Direction = p.wide(dim)
		}
		if p.err == nil && (!(f.Weight > 0) || !(f.Round.Gamma > 0) || !(f.Round.Length > 0) || f.Rows < 1) {
			p.err = fmt.Errorf("a member of weight %g, width %g and %d rows", f.Weight, f.Round.Length, f.Rows)
		}
		all = append(all, m)
	}
	if p.err == nil && len(all) == 0 {
		p.err = errors.New("has no members")
	}
	return all
}

// topFile describes a Top.
type topFile struct {
	Sample rowsFile       `json:"sample"`
	Rows   int            `json:"rows"`
	Sizes  int            `json:"sizes,omitempty"`
	Nodes  int            `json:"nodes"`
	Parts  [][]memberFile `json:"parts"`
	Chosen []memberFile   `json:"chosen"`
	Report *Report        `json:"report"`
}

// Write writes t, but for its options, with a description of what it is.
func (t *Top) Write(w io.Writer, meta map[string]string) error {
	var p numbersOf
	f := topFile{Sample: p.addRows(&t.sample), Rows: t.rows, Sizes: len(t.sizes), Nodes: p.addTree(t.tree), Report: t.report}
	p.f64 = append(p.f64, t.sizes...)
	for _, members := range t.parts {
		f.Parts = append(f.Parts, p.addMembers(members))
	}
	f.Chosen = p.addMembers(t.chosen)
	return p.store(w, meta, f)
}

// ReadTop reads what Write wrote of a Top with options.
func ReadTop(r io.Reader, size int64, opt Options) (*Top, map[string]string, error) {
	var f topFile
	p, meta, err := load(r, size, &f)
	if err != nil {
		return nil, nil, err
	}
	t := &Top{opt: opt, rows: f.Rows, report: f.Report, outputs: f.Sample.Outputs}
	t.sample = p.rows(f.Sample)
	t.tree = p.tree(f.Nodes, f.Sample.Dim)
	if f.Sizes > 0 {
		t.sizes = p.wide(f.Sizes)
	}
	for _, members := range f.Parts {
		t.parts = append(t.parts, p.members(members, f.Sample.Dim))
	}
	t.chosen = p.members(f.Chosen, f.Sample.Dim)
	if err := p.end(); err != nil {
		return nil, nil, err
	}
	if f.Sample.Rows < 10 || f.Rows < f.Sample.Rows || len(t.tree) != len(t.parts)-1 || f.Sizes != 0 && f.Sizes != t.outputs || t.report == nil ||
		len(t.report.order()) != len(t.chosen) || len(t.parts[0]) != len(t.chosen) {
		return nil, nil, errors.New("does not describe how rows are divided")
	}
	t.opt.Leaf, _, t.opt.Members = sizes(t.rows, opt)
	return t, meta, nil
}

// leafFile describes a leaf: its machines, how many rows of the sample it held out, and which scores it has of them.
type leafFile struct {
	Machines []machineFile `json:"machines"`
	Held     int           `json:"held"`
	Scores   bool          `json:"scores,omitempty"`
	Logits   bool          `json:"logits,omitempty"`
}

// machineFile describes a machine and its solution by the logistic loss on the first landmarks, none if these are 0.
type machineFile struct {
	Kernel    kernel.Kernel `json:"kernel"`
	Weight    float64       `json:"weight"`
	By        metricFile    `json:"by"`
	Landmarks int           `json:"landmarks"`
	Logistic  int           `json:"logistic,omitempty"`
}

// partFile describes a Part.
type partFile struct {
	Dim     int        `json:"dim"`
	Outputs int        `json:"outputs"`
	Nodes   int        `json:"nodes"`
	Leaves  []leafFile `json:"leaves"`
}

// Write writes the part of a Top, with a description of what it is.
func (p *Part) Write(w io.Writer, t *Top, meta map[string]string) error {
	var to numbersOf
	f := partFile{Dim: t.sample.X.Cols, Outputs: t.outputs, Nodes: to.addTree(p.tree)}
	for i := range p.leaves {
		f.Leaves = append(f.Leaves, to.addLeaf(&p.leaves[i]))
	}
	return to.store(w, meta, f)
}

func (p *numbersOf) addLeaf(l *trained) leafFile {
	f := leafFile{Held: len(l.held), Scores: l.scores != nil, Logits: l.logits != nil}
	for i, one := range l.Leaf {
		m := machineFile{Kernel: one.Machine.Kernel(), Weight: one.Weight, By: p.addMetric(one.Metric)}
		rows := one.Machine.Rows()
		m.Landmarks = rows.Len()
		p.f32 = append(p.f32, rows.Dense.Contiguous()...)
		p.f64 = append(append(p.f64, one.Machine.Alpha()...), one.Machine.Intercepts()...)
		if l.logits != nil {
			s := l.solutions[i]
			m.Logistic = len(s.Alpha()) / len(s.Intercepts())
			p.f64 = append(append(p.f64, s.Alpha()...), s.Intercepts()...)
		}
		f.Machines = append(f.Machines, m)
	}
	for _, h := range l.held {
		p.f64 = append(p.f64, float64(h))
	}
	p.f64 = append(append(append(p.f64, l.scores...), l.logits...), l.later...)
	return f
}

// ReadPart reads what Write wrote of a part of t.
func (t *Top) ReadPart(r io.Reader, size int64) (*Part, map[string]string, error) {
	var f partFile
	from, meta, err := load(r, size, &f)
	if err != nil {
		return nil, nil, err
	}
	if f.Dim != t.sample.X.Cols || f.Outputs != t.outputs || f.Nodes != len(f.Leaves)-1 {
		return nil, nil, errors.New("is a part of another training")
	}
	p := &Part{tree: from.tree(f.Nodes, f.Dim)}
	for _, leaf := range f.Leaves {
		l, err := t.leaf(from, leaf)
		if err == nil {
			err = from.err
		}
		if err != nil {
			return nil, nil, err
		}
		p.leaves = append(p.leaves, *l)
	}
	return p, meta, from.end()
}

// leaf takes a leaf from the numbers of a part.
func (t *Top) leaf(p *numbersOf, f leafFile) (*trained, error) {
	dim, k := t.sample.X.Cols, t.outputs
	l := &trained{}
	if len(f.Machines) != len(t.chosen) {
		return nil, fmt.Errorf("a leaf of %d machines; expected %d", len(f.Machines), len(t.chosen))
	}
	for _, m := range f.Machines {
		by, width := p.metric(m.By, dim), dim
		if by != nil {
			_, width = by.Dims()
		}
		x := p.narrow(times(m.Landmarks, width))
		alpha, b := p.wide(times(m.Landmarks, k)), p.wide(k)
		if p.err != nil {
			return nil, p.err
		}
		rows := &matrix.Dense{Rows: m.Landmarks, Cols: width, Stride: width, Data: x}
		machine, err := exact.NewMachine(m.Kernel, matrix.Rows{Dense: rows}, alpha, b)
		if err != nil {
			return nil, err
		}
		l.Leaf = append(l.Leaf, Member{Weight: m.Weight, Metric: by, Machine: machine})
		if f.Logits {
			alpha, b := p.wide(times(m.Logistic, k)), p.wide(k)
			if p.err != nil || m.Logistic < 1 || m.Logistic > m.Landmarks {
				return nil, fmt.Errorf("a solution of %d of %d landmarks", m.Logistic, m.Landmarks)
			}
			l.solutions = append(l.solutions, landmarks.NewSolution(alpha, b))
		}
	}
	for i, h := range p.wide(f.Held) {
		at := int(h)
		if float64(at) != h || at < 0 || at >= t.sample.X.Rows || i > 0 && at <= l.held[i-1] {
			return nil, fmt.Errorf("a leaf that holds out row %g of %d", h, t.sample.X.Rows)
		}
		l.held = append(l.held, at)
	}
	n := times(f.Held, k)
	if f.Scores {
		l.scores = p.wide(n)
	}
	if f.Logits {
		l.logits, l.later = p.wide(n), p.wide(n)
	}
	return l, nil
}
