package export

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// graph writes the protobuf messages of ONNX: nodes and constants in the order in which they are added.
type graph struct {
	nodes     []byte
	constants []constant
	used      map[string]bool // values that nodes take
	prefix    string          // of the names of values, which no input's name begins with
	count     int
	small     map[string]string // constants by their bytes
}

// constant is a TensorProto.
type constant struct {
	name   string
	tensor []byte
}

func newGraph(prefix string) graph {
	return graph{prefix: prefix, used: map[string]bool{}, small: map[string]string{}}
}

// The types of elements.
const (
	typeFloat  = 1
	typeInt64  = 7
	typeString = 8
	typeBool   = 9
	typeDouble = 11
)

func field(to []byte, n protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), message)
}

func textField(to []byte, n protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, n, protowire.BytesType), text)
}

func intField(to []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, n, protowire.VarintType), uint64(v))
}

// attribute is an AttributeProto of a node.
type attribute []byte

func ints(name string, v ...int64) attribute {
	a := textField(nil, 1, name)
	for _, i := range v {
		a = intField(a, 8, i)
	}
	return intField(a, 20, 7)
}

func integer(name string, v int64) attribute {
	return intField(intField(textField(nil, 1, name), 3, v), 20, 2)
}

func number(name string, v float32) attribute {
	a := protowire.AppendFixed32(protowire.AppendTag(textField(nil, 1, name), 2, protowire.Fixed32Type), math.Float32bits(v))
	return intField(a, 20, 1)
}

func numbers(name string, v []float32) attribute {
	a := textField(nil, 1, name)
	for _, f := range v {
		a = protowire.AppendFixed32(protowire.AppendTag(a, 7, protowire.Fixed32Type), math.Float32bits(f))
	}
	return intField(a, 20, 6)
}

func text(name, v string) attribute { return intField(textField(textField(nil, 1, name), 4, v), 20, 3) }

func texts(name string, v []string) attribute {
	a := textField(nil, 1, name)
	for _, s := range v {
		a = textField(a, 9, s)
	}
	return intField(a, 20, 8)
}

func subgraph(name string, body []byte) attribute {
	return intField(field(textField(nil, 1, name), 6, body), 20, 5)
}

// value is a new name.
func (g *graph) value() string {
	g.count++
	return fmt.Sprintf("%s%d", g.prefix, g.count)
}

// op adds a node with one output, whose name it returns.
func (g *graph) op(kind string, inputs ...string) string { return g.node(kind, inputs) }

// node is op with attributes. A domain comes before the kind: "ml:LabelEncoder".
func (g *graph) node(kind string, inputs []string, attributes ...attribute) string {
	out := g.value()
	g.named(kind, inputs, []string{out}, attributes...)
	return out
}

// named adds a node with outputs of given names.
func (g *graph) named(kind string, inputs, outputs []string, attributes ...attribute) {
	var n []byte
	for _, in := range inputs {
		n = textField(n, 1, in)
		g.used[in] = true
	}
	for _, out := range outputs {
		n = textField(n, 2, out)
	}
	kind, ml := strings.CutPrefix(kind, "ml:")
	n = textField(textField(n, 3, kind+outputs[0]), 4, kind)
	for _, a := range attributes {
		n = field(n, 5, a)
	}
	if ml {
		n = textField(n, 7, "ai.onnx.ml")
	}
	g.nodes = field(g.nodes, 1, n)
}

// constant adds a TensorProto without its name.
func (g *graph) constant(shape []int, kind int64, content []byte) string {
	var dims []byte
	for _, n := range shape {
		dims = protowire.AppendVarint(dims, uint64(n))
	}
	t := intField(field(nil, 1, dims), 2, kind)
	t = append(t, content...)
	if name, known := g.small[string(t)]; known && len(t) < 256 {
		return name
	}
	name := g.value()
	if len(t) < 256 {
		g.small[string(t)] = name
	}
	g.constants = append(g.constants, constant{name, textField(t, 8, name)})
	return name
}

func (g *graph) float(shape []int, v []float32) string {
	raw := make([]byte, 0, 4*len(v))
	for _, f := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	return g.constant(shape, typeFloat, field(nil, 9, raw))
}

func (g *graph) double(shape []int, v []float64) string {
	raw := make([]byte, 0, 8*len(v))
	for _, f := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(f))
	}
	return g.constant(shape, typeDouble, field(nil, 9, raw))
}

// one and two are constants of a single number, which every shape takes.
func (g *graph) one(v float32) string { return g.float([]int{1}, []float32{v}) }

func (g *graph) two(v float64) string { return g.double([]int{1}, []float64{v}) }

// list is a row of whole numbers.
func (g *graph) list(v ...int64) string { return g.whole([]int{len(v)}, v) }

func (g *graph) whole(shape []int, v []int64) string {
	raw := make([]byte, 0, 8*len(v))
	for _, i := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(i))
	}
	return g.constant(shape, typeInt64, field(nil, 9, raw))
}

func (g *graph) strings(shape []int, v []string) string {
	var content []byte
	for _, s := range v {
		content = textField(content, 6, s)
	}
	return g.constant(shape, typeString, content)
}

func (g *graph) cast(v string, kind int64) string {
	return g.node("Cast", []string{v}, integer("to", kind))
}

func (g *graph) reshape(v string, shape ...int64) string { return g.op("Reshape", v, g.list(shape...)) }

// sum is the sum over an axis, which stays.
func (g *graph) sum(v string, axis int64) string { return g.op("ReduceSum", v, g.list(axis)) }

// columns picks columns.
func (g *graph) columns(v string, at []int64) string {
	return g.node("Gather", []string{v, g.list(at...)}, integer("axis", 1))
}

// join puts values side by side.
func (g *graph) join(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return g.node("Concat", values, integer("axis", 1))
}

// described is a ValueInfoProto. A negative length of the shape is unknown.
func described(name string, kind int64, shape ...int) []byte {
	var dims []byte
	for _, n := range shape {
		if n < 0 {
			dims = field(dims, 1, nil)
		} else {
			dims = field(dims, 1, intField(nil, 1, int64(n)))
		}
	}
	return field(textField(nil, 1, name), 2, field(nil, 1, field(intField(nil, 1, kind), 2, dims)))
}

// message is the GraphProto.
func (g *graph) message(name string, inputs, outputs [][]byte) []byte {
	out := textField(append([]byte(nil), g.nodes...), 2, name)
	for _, c := range g.constants {
		if g.used[c.name] {
			out = field(out, 5, c.tensor)
		}
	}
	for _, in := range inputs {
		out = field(out, 11, in)
	}
	for _, of := range outputs {
		out = field(out, 12, of)
	}
	return out
}

// mostONNX is what a message of protobuf can hold.
const mostONNX = math.MaxInt32

// model is the ModelProto.
func (g *graph) model(inputs, outputs [][]byte, opset int64, doc string, about [][2]string) ([]byte, error) {
	size := float64(len(g.nodes))
	for _, c := range g.constants {
		size += float64(len(c.tensor))
	}
	if size > mostONNX {
		return nil, fmt.Errorf("the model takes %.3g bytes, and an ONNX file holds 2 GiB at most", size)
	}
	ir := int64(8)
	if opset > 18 {
		ir = 9
	}
	m := textField(intField(nil, 1, ir), 2, "mercer")
	m = textField(m, 6, doc)
	m = field(m, 7, g.message("mercer", inputs, outputs))
	m = field(m, 8, intField(textField(nil, 1, ""), 2, opset))
	m = field(m, 8, intField(textField(nil, 1, "ai.onnx.ml"), 2, 3))
	for _, entry := range about {
		m = field(m, 14, textField(textField(nil, 1, entry[0]), 2, entry[1]))
	}
	return m, nil
}
