package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"mercer/model"
)

// opset is the version of the operators that a graph takes, and that of graphs which cut dates.
const opset, opsetDates = 17, 20

// onnx is a model as a graph in the making.
type onnx struct {
	*matrices
	graph
	model   *model.Model
	inputs  [][]byte // ValueInfoProto
	outputs [][]byte
	taken   map[string]bool // names of inputs and outputs
	opset   int64

	row    string            // scaled, float32
	values map[int]string    // of the program
	wide   map[string]string // values converted to float64
	pairs  []pair

	inside  bool // a branch is written, and outside holds the nodes of the graph around it
	outside []byte
}

// toONNX is the model as a file of ONNX: from raw columns to label and probabilities. It fails for a model with a part
// that has no such form, and names it.
func toONNX(m *model.Model) ([]byte, error) {
	x, err := describeAny(m)
	if err != nil {
		return nil, err
	}
	o := &onnx{matrices: x, model: m, opset: opset, taken: map[string]bool{}, values: map[int]string{}, wide: map[string]string{}}
	o.graph = newGraph("_")
	for clash := true; clash; {
		clash = false
		for _, c := range x.Columns {
			clash = clash || strings.HasPrefix(c.Name, o.prefix)
		}
		if clash {
			o.prefix += "_"
		}
	}
	row, err := o.encode()
	if err != nil {
		return nil, err
	}
	o.row = o.metric(o.scale(row), x.Metric, "")
	scores, err := o.scores()
	if err != nil {
		return nil, err
	}
	o.results(scores)
	info, err := json.Marshal(m.Info())
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(x.description)
	if err != nil {
		return nil, err
	}
	doc := fmt.Sprintf("A model that mercer trained: the task is %s. Inputs are raw columns; a missing number is NaN.", x.Task)
	return o.graph.model(o.inputs, o.outputs, o.opset, doc, [][2]string{{"mercer", string(text)}, {"mercer.info", string(info)}})
}

// input adds an input, a column of n numbers or texts for each row.
func (o *onnx) input(name string, kind int64, n int) string {
	o.inputs, o.taken[name] = append(o.inputs, described(name, kind, -1, n)), true
	return name
}

// output gives a value the name of an output. An input of that name makes it another.
func (o *onnx) output(name, value string, kind int64, shape ...int) {
	for o.taken[name] {
		name = "output_" + name
	}
	o.taken[name] = true
	o.named("Identity", []string{value}, []string{name})
	o.outputs = append(o.outputs, described(name, kind, shape...))
}

// scale scales rows of float32 in float64.
func (o *onnx) scale(x string) string {
	kind, d := o.Scale, o.Dim
	if kind == "none" {
		return x
	}
	x = o.cast(x, typeDouble)
	switch {
	case kind == "l1" || kind == "l2":
		norm := o.sum(o.op("Abs", x), 1)
		if kind == "l2" {
			norm = o.op("Sqrt", o.sum(o.op("Mul", x, x), 1))
		}
		x = o.op("Div", x, o.op("Where", o.op("Equal", norm, o.two(0)), o.two(1), norm))
	case kind == "quantile":
		x = o.quantiles(x)
	default:
		if t := o.tensors["scale.shift"]; t != nil {
			x = o.op("Sub", x, o.double([]int{1, d}, t.F64))
		}
		if t := o.tensors["scale.factor"]; t != nil {
			x = o.op("Mul", x, o.double([]int{1, d}, t.F64))
		}
		if kind == "robust" {
			x = o.op("Mul", o.op("Max", o.op("Min", x, o.two(1e100)), o.two(-1e100)), o.two(1.0/3))
			x = o.op("Div", o.op("Mul", x, o.two(3)), o.op("Sqrt", o.op("Add", o.op("Mul", x, x), o.two(1))))
		}
	}
	return o.cast(x, typeFloat)
}

func (o *onnx) quantiles(x string) string {
	knots, rise := make([][]float64, o.Dim), make([][]float64, o.Dim)
	from := 0
	for j, end := range o.tensors["scale.ends"].F64 {
		if knots[j], rise[j] = []float64{0}, []float64{0}; int(end) > from {
			knots[j], rise[j] = o.tensors["scale.knots"].F64[from:int(end)], o.tensors["scale.scores"].F64[from:int(end)]
		}
		from = int(end)
	}
	return o.lines(x, knots, rise)
}

// lines applies to each column a function that is linear between knots and constant beyond them. The knots are found by
// bisection, side by side for all columns.
func (o *onnx) lines(x string, knots, rise [][]float64) string {
	length := 1
	for _, k := range knots {
		for length < len(k) {
			length *= 2
		}
	}
	n := len(knots)
	var at, to []float64
	starts := make([]int64, n)
	low, high := make([]float64, n), make([]float64, n)
	for j, k := range knots {
		starts[j], low[j], high[j] = int64(len(at)), k[0], k[len(k)-1]
		for i := range length + 1 { // beyond the last knot, it again
			i = min(i, len(k)-1)
			at, to = append(at, k[i]), append(to, rise[j][i])
		}
	}
	x = o.op("Min", o.op("Max", x, o.double([]int{1, n}, low)), o.double([]int{1, n}, high))
	table, scores := o.double([]int{len(at)}, at), o.double([]int{len(to)}, to)
	place := o.op("Add", o.op("Mul", o.cast(x, typeInt64), o.list(0)), o.whole([]int{1, n}, starts))
	for step := length / 2; step > 0; step /= 2 {
		further := o.op("Add", place, o.list(int64(step)))
		place = o.op("Where", o.op("Less", x, o.op("Gather", table, further)), place, further)
	}
	next := o.op("Add", place, o.list(1))
	left, right := o.op("Gather", table, place), o.op("Gather", table, next)
	width := o.op("Sub", right, left)
	level := o.op("LessOrEqual", width, o.two(0))
	share := o.op("Div", o.op("Sub", x, left), o.op("Where", level, o.two(1), width))
	share = o.op("Where", level, o.two(0), share)
	from := o.op("Gather", scores, place)
	return o.op("Add", from, o.op("Mul", share, o.op("Sub", o.op("Gather", scores, next), from)))
}

// metric applies a metric of a form to rows of float32.
func (o *onnx) metric(x, form, prefix string) string {
	switch form {
	case "axes":
		t := o.tensors[prefix+"metric.axes"]
		return o.op("MatMul", x, o.float(t.Shape, t.F32))
	case "weights":
		t := o.tensors[prefix+"metric.weights"]
		return o.op("Mul", x, o.float([]int{1, t.Shape[0]}, t.F32))
	}
	return x
}
