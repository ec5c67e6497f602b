// Package export writes trained models so that other programs can predict with them: as a graph of ONNX, as SQL, or as matrices
// with a description. docs/export.md describes the files.
package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/rfm"
	"mercer/internal/solve/trees"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// description is the JSON of an exported model: everything but the matrices.
type description struct {
	Format        string   `json:"format"`
	Version       int      `json:"version"`
	Task          string   `json:"task"`
	Classes       []string `json:"classes,omitempty"`
	Labels        []string `json:"labels,omitempty"`
	Outputs       int      `json:"outputs"`
	Dim           int      `json:"dim"`
	Missing       string   `json:"missing"`
	NA            []string `json:"na,omitempty"`
	Columns       []column `json:"columns"`
	Scale         string   `json:"scale"`
	Metric        string   `json:"metric"`
	Map           string   `json:"map,omitempty"`
	Factor        float64  `json:"factor,omitempty"`
	Learner       string   `json:"learner"`
	Members       []member `json:"members,omitempty"`
	Leaves        int      `json:"leaves,omitempty"`
	Share         float64  `json:"share,omitempty"`
	TreeShare     float64  `json:"tree_share,omitempty"` // of boosted trees in the scores; the machines have the rest
	Votes         bool     `json:"votes,omitempty"`
	Probabilities string   `json:"probabilities"`
	Temperature   float64  `json:"temperature,omitempty"`
	Threshold     *float64 `json:"threshold,omitempty"` // the least score of the second of two classes, a float32
}

// column is one input column, which takes the dimensions from At on: one, or one for each category.
type column struct {
	Name       string          `json:"name"`
	At         int             `json:"at"`
	Categories []string        `json:"categories,omitempty"`
	Mean       float64         `json:"mean,omitempty"`
	Coding     *dataset.Coding `json:"coding,omitempty"`
	Marks      []string        `json:"marks,omitempty"` // of missing values, in this column alone
	Means      *dataset.Means  `json:"means,omitempty"`
	Indicator  int             `json:"indicator,omitempty"` // the dimension that is 1 where the value is missing
}

// member is a kernel machine. Its leaf is -1 for a machine of all rows.
type member struct {
	Leaf       int       `json:"leaf"`
	Weight     float64   `json:"weight"`
	Metric     string    `json:"metric"`
	Kernel     string    `json:"kernel"`
	Gamma      float64   `json:"gamma"`
	Degree     int       `json:"degree,omitempty"`
	Coef0      float64   `json:"coef0,omitempty"`
	Nu         float64   `json:"nu,omitempty"`
	Polynomial []float64 `json:"polynomial,omitempty"`

	kernel kernel.Kernel
}

// matrices is a model as a description and named tensors.
type matrices struct {
	description
	tensors map[string]*safetensors.Tensor
	program *feature.Program // from scaled rows to features; nil: they are the same
}

// machine is a predictor with the methods of a kernel machine; that of one-against-one has them too.
type machine interface {
	Kernel() kernel.Kernel
	Alpha() []float64
	Intercepts() []float64
	Rows() matrix.Rows
}

// describe returns everything that prediction needs. It fails for a model with a part that has no such form.
func describe(m *model.Model) (*matrices, error) {
	switch m.Predictor().(type) {
	case model.Residual:
		return nil, errors.New("residuals of principal components cannot be exported as linear or kernel machines; the target onnx can hold them")
	case model.Nearest:
		return nil, errors.New("nearest neighbours cannot be exported: their prediction is a search and no formula; the target onnx can hold them")
	}
	return describeAny(m)
}

// describeAny is describe for targets that have the learners without a form in matrices too.
func describeAny(m *model.Model) (*matrices, error) {
	info, p := m.Info(), m.Pipeline()
	if m.Bag() != nil {
		return nil, errors.New("the model predicts bags, and pooling has no form in matrices")
	}
	x := &matrices{tensors: map[string]*safetensors.Tensor{}}
	x.description = description{Format: "mercer-export", Version: 1, Task: info.Task, Classes: info.Classes, Labels: info.Labels,
		Outputs: info.Outputs, Dim: m.Dim(), Missing: info.Schema.Missing, NA: info.Schema.NA, Scale: p.Scaler().Kind, Votes: model.Votes(info)}
	if x.Missing == "" {
		x.Missing = "error"
	}
	at := 0
	for i := range info.Schema.Columns {
		c := &info.Schema.Columns[i]
		of := column{Name: c.Name, At: at, Categories: c.Categories, Mean: c.Mean, Coding: c.Coding, Marks: c.Marks, Means: c.Means}
		if at += c.Width(); c.Indicator {
			of.Indicator = at - 1
		}
		x.Columns = append(x.Columns, of)
	}
	x.scaling(m)
	x.Metric = x.measured("", p.Metric())
	var err error
	if x.program, err = program(p); err != nil {
		return nil, fmt.Errorf("the map %s cannot be exported: %w", info.Feature.Map, err)
	}
	if err := x.learner(m); err != nil {
		return nil, err
	}
	x.addOffset(info.Offset)
	if t := info.Threshold; t != nil {
		least := float64(t.Score)
		x.Threshold, x.Version = &least, max(2, x.Version)
	}
	return x, x.probabilities(m)
}

func (x *matrices) scaling(m *model.Model) {
	s := m.Pipeline().Scaler()
	if s.Shift != nil {
		x.tensors["scale.shift"] = safetensors.Vector(s.Shift)
	}
	if s.Factor != nil {
		x.tensors["scale.factor"] = safetensors.Vector(s.Factor)
	}
	if s.Ranks == nil {
		return
	}
	ends := make([]float64, len(s.Ranks.Ends))
	for j, end := range s.Ranks.Ends {
		ends[j] = float64(end)
	}
	x.tensors["scale.ends"] = safetensors.Vector(ends)
	if len(s.Ranks.Knots) > 0 {
		x.tensors["scale.knots"], x.tensors["scale.scores"] = safetensors.Vector(s.Ranks.Knots), safetensors.Vector(s.Ranks.Scores)
	}
}

// measured adds the tensors of a metric, whose names begin with prefix, and returns its form.
func (x *matrices) measured(prefix string, m *metric.Metric) string {
	switch {
	case m == nil:
		return "none"
	case m.Axes != nil:
		x.tensors[prefix+"metric.axes"] = &safetensors.Tensor{Shape: []int{m.Axes.Rows, m.Axes.Cols}, F32: m.Axes.Contiguous()}
		return "axes"
	}
	x.tensors[prefix+"metric.weights"] = &safetensors.Tensor{Shape: []int{len(m.Weights)}, F32: m.Weights}
	return "weights"
}

func (x *matrices) learner(m *model.Model) error {
	x.Learner = "machines"
	switch p := m.Predictor().(type) {
	case model.Linear:
		x.linear(p.Linear)
	case model.Logistic:
		x.linear(p.Linear.Linear)
	case model.Ridge:
		x.linear(p.Linear.Linear)
	case model.Online:
		x.linear(p.Linear.Linear)
	case model.Recursive:
		return x.recursive(p.Machine)
	case model.Machine:
		var asked struct {
			Lookup int `json:"lookup"`
		}
		if err := json.Unmarshal(m.Info().Config, &asked); err != nil {
			return fmt.Errorf("the model's configuration: %w", err)
		}
		if p.Fast() && asked.Lookup > 0 {
			return errors.New("the machine with lookup cannot be exported: its scores come from tables; train it without")
		}
		return x.single(p)
	case machine:
		return x.single(p)
	case model.Residual:
		x.Learner = "residual"
	case model.Nearest:
		x.Learner = "nearest"
	default:
		return fmt.Errorf("the learner's weights (%T) cannot be exported: they are neither linear nor kernel machines", p)
	}
	return nil
}

// addOffset adds the offset of a regression to the intercepts. The weights of a row's members, and trees, add up to 1.
func (x *matrices) addOffset(offset []float64) {
	if offset == nil {
		return
	}
	for name, t := range x.tensors {
		if name != "linear.b" && name != "trees.start" && !(strings.HasPrefix(name, "member.") && strings.HasSuffix(name, ".b")) {
			continue
		}
		b := slices.Clone(t.F64)
		for k := range b {
			b[k] += offset[k]
		}
		x.tensors[name] = safetensors.Vector(b)
	}
}

func (x *matrices) linear(l *learn.Linear) {
	x.Learner = "linear"
	x.tensors["linear.w"] = &safetensors.Tensor{Shape: []int{l.W.Rows, l.W.Cols}, F32: l.W.Contiguous()}
	x.tensors["linear.b"] = safetensors.Vector(l.B)
}

// single is a machine by itself, which is a tree of one leaf.
func (x *matrices) single(p machine) error {
	rows, err := landmarks(p.Rows())
	if err != nil {
		return err
	}
	x.Leaves = 1
	return x.add(member{Weight: 1, Metric: "none"}, p.Kernel(), rows, p.Alpha(), p.Intercepts())
}

// mostRows bounds the numbers of a machine's rows written out: 1 GiB.
const mostRows = 1 << 28

// landmarks are the rows of a machine, dense.
func landmarks(rows matrix.Rows) (*safetensors.Tensor, error) {
	if rows.CSR != nil {
		if n := float64(rows.Len()) * float64(rows.Dim()); n > mostRows {
			return nil, fmt.Errorf("the machine keeps %d sparse rows of %d dimensions, which take %.3g bytes written out, of %d at most",
				rows.Len(), rows.Dim(), 4*n, 4*mostRows)
		}
		rows.Dense = &matrix.Dense{}
		rows.CSR.Densify(rows.Dense)
	}
	return &safetensors.Tensor{Shape: []int{rows.Len(), rows.Dim()}, F32: rows.Dense.Contiguous()}, nil
}

func (x *matrices) recursive(m *rfm.Machine) error {
	var nodes []float64
	var directions []float32
	for _, n := range m.Tree() {
		nodes = append(nodes, n.Low, n.High, float64(n.Below), float64(n.Above))
		directions = append(directions, n.Direction...)
	}
	if len(nodes) > 0 {
		d, _ := m.Dims()
		x.tensors["tree.nodes"] = &safetensors.Tensor{Shape: []int{len(m.Tree()), 4}, F64: nodes}
		x.tensors["tree.directions"] = &safetensors.Tensor{Shape: []int{len(m.Tree()), d}, F32: directions}
	}
	x.steps(m.Steps())
	whole := m.Whole()
	x.Leaves, x.Share = len(m.Leaves()), whole.Share
	for l, leaf := range append(slices.Clone(m.Leaves()), whole.Leaf) {
		if l == x.Leaves {
			l = -1
		}
		for _, one := range leaf {
			form := x.measured(fmt.Sprintf("member.%d.", len(x.Members)), one.Metric)
			rows, err := landmarks(one.Machine.Rows())
			if err != nil {
				return err
			}
			k, alpha, b := one.Machine.Kernel(), one.Machine.Alpha(), one.Machine.Intercepts()
			if err := x.add(member{Leaf: l, Weight: one.Weight, Metric: form}, k, rows, alpha, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// steps adds boosted trees. Those who know version 2 know none.
func (x *matrices) steps(s rfm.Steps) {
	if s.Trees == nil {
		return
	}
	n := s.Trees.Len()
	columns := make([]float64, len(s.Trees.Columns))
	for i, c := range s.Trees.Columns {
		columns[i] = float64(c)
	}
	x.Version, x.TreeShare = 3, s.Share
	x.tensors["trees.start"] = safetensors.Vector(s.Trees.Start)
	x.tensors["trees.columns"] = &safetensors.Tensor{Shape: []int{n, trees.Levels}, F64: columns}
	x.tensors["trees.thresholds"] = &safetensors.Tensor{Shape: []int{n, trees.Levels}, F32: s.Trees.Thresholds}
	x.tensors["trees.values"] = &safetensors.Tensor{Shape: []int{n, trees.Leaves, s.Trees.Outputs}, F32: s.Trees.Values}
}

func (x *matrices) add(one member, k kernel.Kernel, rows *safetensors.Tensor, alpha, b []float64) error {
	one.Kernel, one.Gamma, one.Degree, one.Coef0, one.Nu = k.Name, k.Gamma, k.Degree, k.Coef0, k.Nu
	one.kernel = k
	if k.Name == "matern" {
		n := int(k.Nu)
		if k.Nu != float64(n)+0.5 || n > 8 {
			return fmt.Errorf("the kernel matern with nu %g cannot be exported: it is no elementary function; nu = 0.5, 1.5, … 8.5 can", k.Nu)
		}
		one.Polynomial = polynomial(n)
	}
	prefix := fmt.Sprintf("member.%d.", len(x.Members))
	x.tensors[prefix+"x"] = rows
	x.tensors[prefix+"alpha"] = &safetensors.Tensor{Shape: []int{rows.Shape[0], len(b)}, F64: alpha}
	x.tensors[prefix+"b"] = safetensors.Vector(b)
	x.Members = append(x.Members, one)
	return nil
}

// polynomial holds the coefficients, lowest first, of p with k = p(z)exp(-z), z = √(4ν·γ‖x-y‖²), for ν = n + ½.
func polynomial(n int) []float64 {
	p := []float64{1}
	for m := range n {
		p = append(p, p[m]*float64(2*(n-m))/float64((2*n-m)*(m+1)))
	}
	return p
}

func (x *matrices) probabilities(m *model.Model) error {
	x.Probabilities = "none"
	c := m.Calibration()
	switch {
	case !m.HasProbabilities():
	case c != nil:
		x.Probabilities, x.Temperature = c.Method, c.T
		if c.Method == "platt" || c.Method == "quota" { // which differ in how A and B were found
			x.Probabilities = "platt"
			x.tensors["calibration.a"], x.tensors["calibration.b"] = safetensors.Vector(c.A), safetensors.Vector(c.B)
		}
		for k := range c.Knots {
			x.tensors[knotsName(k)] = safetensors.Vector(c.Knots[k])
			x.tensors[riseName(k)] = safetensors.Vector(c.Rise[k])
		}
	default:
		x.Probabilities = "sigmoid"
		if m.Labels() == nil && m.Outputs() > 1 && joint(m) {
			x.Probabilities = "softmax"
		}
	}
	return nil
}

// joint says whether the probabilities of a logistic model of several classes are a softmax of its scores, which they
// are if they follow their differences alone.
func joint(m *model.Model) bool {
	scores, p := make([]float32, m.Outputs()), make([]float64, m.Outputs())
	scores[0] = 1
	if m.Probabilities(p, scores) != nil {
		return false
	}
	return math.Abs(p[0]/p[1]-math.E) < 1e-6
}

// knotsName and riseName are the tensors of an output's isotonic calibration.
func knotsName(k int) string { return fmt.Sprintf("calibration.knots.%d", k) }

func riseName(k int) string { return fmt.Sprintf("calibration.rise.%d", k) }

// errOffset says why no target has a column that is coded as an offset.
func errOffset(c *column) error {
	return fmt.Errorf("the column %q is taken less %.17g in float64, because float32 does not hold its numbers, and exports compute in float32; "+
		"subtract that from the data before training", c.Name, c.Coding.Offset)
}
