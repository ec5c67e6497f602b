package export

import (
	"fmt"
	"math"
	"math/bits"

	"mercer/feature"
)

// features is the value of a program, float32, which is written when it is first asked for.
func (o *onnx) features(value int) (string, error) {
	if value == 0 {
		return o.row, nil
	}
	if v, known := o.values[value]; known {
		return v, nil
	}
	s := &o.program.Steps[value-1]
	var from []string
	for _, f := range s.From {
		v, err := o.features(f)
		if err != nil {
			return "", err
		}
		from = append(from, v)
	}
	v, err := o.step(s, from)
	o.values[value] = v
	return v, err
}

func (o *onnx) width(value int) int {
	return widthOf(o.program, value)
}

// elementary are the steps that are one operator.
var elementary = map[string]string{feature.OpAdd: "Add", feature.OpSubtract: "Sub", feature.OpMultiply: "Mul", feature.OpDivide: "Div",
	feature.OpCos: "Cos", feature.OpSin: "Sin", feature.OpExp: "Exp", feature.OpRoot: "Sqrt", feature.OpRamp: "Relu", feature.OpSigmoid: "Sigmoid"}

// step writes a step of a program.
func (o *onnx) step(s *feature.Step, from []string) (string, error) {
	x := from[0]
	if op := elementary[s.Op]; op != "" {
		return o.op(op, from...), nil
	}
	switch s.Op {
	case feature.OpProduct:
		return o.op("MatMul", x, o.float([]int{s.W.Rows, s.W.Cols}, s.W.Contiguous())), nil
	case feature.OpScale:
		if in := o.width(s.From[0]); s.Width > in {
			x = o.op("Mul", o.reshape(x, -1, 1, int64(in)), o.float([]int{1, s.Width / in, in}, s.V))
			return o.reshape(x, -1, int64(s.Width)), nil
		}
		return o.op("Mul", x, o.float([]int{1, len(s.V)}, s.V)), nil
	case feature.OpShift:
		return o.op("Add", x, o.float([]int{1, len(s.V)}, s.V)), nil
	case feature.OpPick:
		at := make([]int64, len(s.At))
		for i, j := range s.At {
			at[i] = int64(j)
		}
		return o.columns(x, at), nil
	case feature.OpPad:
		return o.op("Pad", x, o.list(0, 0, 0, int64(s.Width-o.width(s.From[0])))), nil
	case feature.OpJoin:
		return o.join(from), nil
	case feature.OpHadamard:
		return o.hadamard(x, s.N, s.Width), nil
	case feature.OpInverse:
		if n := s.N * (s.N/2 + 1); n > mostRows {
			return "", fmt.Errorf("the inverse Fourier transform of %d terms is too large a matrix", s.N)
		}
		re, im := inverse(s.N)
		shape := []int{s.N/2 + 1, s.N}
		return o.op("Add", o.op("MatMul", x, o.float(shape, re)), o.op("MatMul", from[1], o.float(shape, im))), nil
	case feature.OpLog:
		return o.op("Log", o.op("Max", x, o.one(0x1p-126))), nil
	case feature.OpStep:
		return o.op("Mul", o.op("Add", o.op("Sign", x), o.one(1)), o.one(0.5)), nil
	case feature.OpThermometer:
		return o.thermometer(x, s), nil
	case feature.OpKernel:
		k, err := o.kernel(o.double64(x), s.Kernel, o.rows(s.W.Contiguous(), s.W.Rows, s.W.Cols))
		if err == nil && s.Weights != nil {
			k = o.op("MatMul", k, o.double([]int{s.W.Rows, s.Width}, s.Weights))
		}
		return o.cast(k, typeFloat), err
	}
	return "", fmt.Errorf("the operation %s of the map is not known", s.Op)
}

// hadamard multiplies by a Hadamard matrix on both sides of a square, or nearly so: H_n is the Kronecker product of H_a and H_b.
func (o *onnx) hadamard(x string, n, width int) string {
	if n == 1 {
		return x
	}
	a := 1 << (bits.Len(uint(n-1)) / 2)
	b := n / a
	square := func(n int) string {
		h := make([]float32, n*n)
		for i := range h {
			h[i] = float32(1 - 2*(bits.OnesCount(uint(i/n&(i%n)))&1))
		}
		return o.float([]int{n, n}, h)
	}
	x = o.op("MatMul", o.reshape(x, -1, int64(a), int64(b)), square(b))
	if a > 1 {
		x = o.op("MatMul", square(a), x)
	}
	return o.reshape(x, -1, int64(width))
}

// inverse are the matrices of an inverse Fourier transform, for the real parts of n/2+1 terms and for the imaginary ones.
func inverse(n int) (re, im []float32) {
	terms := n/2 + 1
	re, im = make([]float32, terms*n), make([]float32, terms*n)
	for f := range terms {
		c := 2 / float64(n)
		if f == 0 || 2*f == n {
			c /= 2
		}
		for j := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(f*j%n) / float64(n))
			re[f*n+j], im[f*n+j] = float32(c*cos), float32(-c*sin)
		}
	}
	return re, im
}

func (o *onnx) thermometer(x string, s *feature.Step) string {
	d, n := len(s.V), int64(s.N)
	by := make([]float64, d)
	for j, a := range s.V {
		by[j] = float64(a) * float64(s.N)
	}
	t := o.op("Min", o.op("Mul", o.double64(x), o.double([]int{1, d}, by)), o.two(float64(n)))
	if s.Round {
		t = o.op("Floor", o.op("Add", t, o.two(0.5)))
	}
	cells := make([]float64, n)
	for i := range cells {
		cells[i] = float64(i)
	}
	t = o.op("Sub", o.reshape(t, -1, int64(d), 1), o.double([]int{1, 1, len(cells)}, cells))
	t = o.op("Max", o.op("Min", t, o.two(1)), o.two(0))
	return o.cast(o.reshape(t, -1, int64(s.Width)), typeFloat)
}

// weights is a matrix with a row for each feature and a column for each output.
type weights struct {
	w    []float64
	outs int
}

// part are the rows from i on.
func (w weights) part(i, rows int) weights { return weights{w.w[i*w.outs : (i+rows)*w.outs], w.outs} }

// dot is the product of a value and weights, float32. Operations that are linear become part of the weights; bias takes what does
// not depend on rows.
func (o *onnx) dot(value int, w weights, bias []float64) (string, error) {
	if value > 0 {
		s := &o.program.Steps[value-1]
		switch s.Op {
		case feature.OpScale:
			if s.Width > o.width(s.From[0]) {
				break
			}
			scaled := weights{make([]float64, len(w.w)), w.outs}
			for i, v := range w.w {
				scaled.w[i] = v * float64(s.V[i/w.outs%len(s.V)])
			}
			return o.dot(s.From[0], scaled, bias)
		case feature.OpShift:
			for i, v := range w.w {
				bias[i%w.outs] += v * float64(s.V[i/w.outs%len(s.V)])
			}
			return o.dot(s.From[0], w, bias)
		case feature.OpJoin:
			return o.dots(s.From, w, bias)
		case feature.OpInverse:
			return o.folded(s, w, bias)
		case feature.OpProduct:
			if w.outs < s.W.Cols {
				return o.dot(s.From[0], product(s, w), bias)
			}
		case feature.OpKernel:
			x, err := o.features(s.From[0])
			if err != nil {
				return "", err
			}
			k, err := o.kernel(o.double64(x), s.Kernel, o.rows(s.W.Contiguous(), s.W.Rows, s.W.Cols))
			if s.Weights != nil {
				w = turned(s, w)
			}
			return o.cast(o.op("MatMul", k, o.double([]int{s.W.Rows, w.outs}, w.w)), typeFloat), err
		}
	}
	x := o.row
	if o.program != nil {
		var err error
		if x, err = o.features(value); err != nil {
			return "", err
		}
	}
	low := make([]float32, len(w.w))
	for i, v := range w.w {
		low[i] = float32(v)
	}
	return o.op("MatMul", x, o.float([]int{len(low) / w.outs, w.outs}, low)), nil
}

// dots is dot of values side by side.
func (o *onnx) dots(values []int, w weights, bias []float64) (string, error) {
	sum, at := "", 0
	for _, v := range values {
		part, err := o.dot(v, w.part(at, o.width(v)), bias)
		if err != nil {
			return "", err
		}
		if at += o.width(v); sum != "" {
			part = o.op("Add", sum, part)
		}
		sum = part
	}
	return sum, nil
}

// product is the product of a step's matrix and weights.
func product(s *feature.Step, w weights) weights {
	out := weights{make([]float64, s.W.Rows*w.outs), w.outs}
	for i := range s.W.Rows {
		for c, v := range s.W.Row(i) {
			for t := range w.outs {
				out.w[i*w.outs+t] += float64(v) * w.w[c*w.outs+t]
			}
		}
	}
	return out
}

// turned are weights of the kernel's values of a step that do what weights of its features would.
func turned(s *feature.Step, w weights) weights {
	out := weights{make([]float64, s.W.Rows*w.outs), w.outs}
	for i := range s.W.Rows {
		for c, v := range s.Weights[i*s.Width:][:s.Width] {
			for t := range w.outs {
				out.w[i*w.outs+t] += v * w.w[c*w.outs+t]
			}
		}
	}
	return out
}

// folded is the product of an inverse Fourier transform and weights.
func (o *onnx) folded(s *feature.Step, w weights, bias []float64) (string, error) {
	return o.dots(s.From, spectrum(s.N, w), bias)
}

// spectrum are weights of real and of imaginary parts that do what weights of an inverse Fourier transform of n numbers would.
func spectrum(n int, w weights) weights {
	terms := n/2 + 1
	cos, sin := make([]float64, n), make([]float64, n)
	for j := range n {
		sin[j], cos[j] = math.Sincos(2 * math.Pi * float64(j) / float64(n))
	}
	all := weights{make([]float64, 2*terms*w.outs), w.outs}
	for f := range terms {
		c := 2 / float64(n)
		if f == 0 || 2*f == n {
			c /= 2
		}
		for j := range n {
			at := f * j % n
			for t := range w.outs {
				all.w[f*w.outs+t] += c * cos[at] * w.w[j*w.outs+t]
				all.w[(terms+f)*w.outs+t] -= c * sin[at] * w.w[j*w.outs+t]
			}
		}
	}
	return all
}
