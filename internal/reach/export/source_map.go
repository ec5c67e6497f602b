package export

import (
	"fmt"
	"math"

	"mercer/feature"
	"mercer/matrix"
)

// lazy is a value of the map that is not computed before somebody asks for its elements, each of them once.
type lazy struct {
	n       int
	at      func(i string) string // an element, as an expression
	from    []string              // the arrays that it reads
	aligned bool                  // element i needs element i of the arrays and no other
}

// scaling scales the row in place, and applies the metric of all machines.
func (s *sourceCode) scaling() {
	s.widely(func() {
		kind, d := s.Scale, s.Dim
		switch {
		case kind == "l1" || kind == "l2":
			s.let("norm", s.num(0))
			s.loop("j", 0, d, func() {
				if kind == "l1" {
					s.p("norm += sizeOf($x[j])")
				} else {
					s.p("norm += $x[j]*$x[j]")
				}
			})
			if kind == "l2" {
				s.p("norm = rootOf(norm)")
			}
			s.when("norm > 0", func() {
				s.loop("j", 0, d, func() { s.p("@x[j] = $x[j]/norm") })
			})
		case kind == "quantile":
			s.quantiles()
		case s.tensors["scale.shift"] != nil || s.tensors["scale.factor"] != nil:
			text := "$x[j]"
			if t := s.tensors["scale.shift"]; t != nil {
				text = fmt.Sprintf("(%s - $%s[j])", text, s.constant(kindDouble, t.F64))
			}
			if t := s.tensors["scale.factor"]; t != nil {
				text = fmt.Sprintf("%s*$%s[j]", text, s.constant(kindDouble, t.F64))
			}
			s.loop("j", 0, d, func() {
				if kind != "robust" {
					s.p("@x[j] = %s", text)
					return
				}
				s.let("u", "maxOf(minOf("+text+", "+s.num(1e100)+"), "+s.num(-1e100)+")")
				s.p("@x[j] = 3*u/rootOf(9 + u*u)")
			})
		}
	})
}

func (s *sourceCode) quantiles() {
	ends := s.tensors["scale.ends"].F64
	bounds := make([]int32, len(ends)+1)
	for j, end := range ends {
		bounds[j+1] = int32(end)
	}
	if s.tensors["scale.knots"] == nil {
		s.loop("j", 0, s.Dim, func() { s.p("@x[j] = 0") })
		return
	}
	b, knots, rise := s.wholes(bounds), s.constant(kindDouble, s.tensors["scale.knots"].F64), s.constant(kindDouble, s.tensors["scale.scores"].F64)
	s.loop("j", 0, s.Dim, func() {
		s.let("u", s.num(0))
		s.when(fmt.Sprintf("#%[1]s[j] < #%[1]s[j+1]", b), func() {
			s.p("u = lineOf(%s, %s, #%[3]s[j], #%[3]s[j+1], $x[j])", s.arg(knots), s.arg(rise), b)
		})
		s.p("@x[j] = u")
	})
}

// arg is an array as an argument.
func (s *sourceCode) arg(name string) string { return fmt.Sprintf(s.slice, name) }

// measured applies a metric of a form to the row in an array, and returns the array of the result.
func (s *sourceCode) measure(x, form, prefix string, d int) (string, int) {
	switch form {
	case "axes":
		t := s.tensors[prefix+"metric.axes"]
		w := &matrix.Dense{Rows: t.Shape[0], Cols: t.Shape[1], Stride: t.Shape[1], Data: t.F32}
		y := s.scratch(w.Cols)
		s.product(y, w, func(i string) string { return "$" + x + "[" + i + "]" })
		return y, w.Cols
	case "weights":
		w, y := s.floats(s.tensors[prefix+"metric.weights"].F32), s.scratch(d)
		s.loop("j", 0, d, func() { s.p("@%s[j] = $%s[j]*$%s[j]", y, x, w) })
		return y, d
	}
	return x, d
}

// product computes y = x·W: each element is a sum, over all elements or those that are not 0.
func (s *sourceCode) product(y string, w *matrix.Dense, x func(i string) string) {
	some := 0
	for i := range w.Rows {
		for _, v := range w.Row(i) {
			if v != 0 {
				some++
			}
		}
	}
	if 2*some < w.Rows*w.Cols {
		var rows, ends []int32
		var values []float64
		for j := range w.Cols {
			for i := range w.Rows {
				if v := w.Row(i)[j]; v != 0 {
					rows, values = append(rows, int32(i)), append(values, float64(v))
				}
			}
			ends = append(ends, int32(len(rows)))
		}
		at, end, v := s.wholes(append(rows, 0)), s.wholes(append([]int32{0}, ends...)), s.weighed(values, 1)
		s.loop("j", 0, w.Cols, func() {
			s.let("sum", s.num(0))
			s.loop("e", fmt.Sprintf("#%s[j]", end), fmt.Sprintf("#%s[j+1]", end), func() {
				s.p("sum += %s*%s", v("e", "0"), x("#"+at+"[e]"))
			})
			s.p("@%s[j] = sum", y)
		})
		return
	}
	turned := make([]float64, 0, w.Rows*w.Cols)
	for j := range w.Cols {
		for i := range w.Rows {
			turned = append(turned, float64(w.Row(i)[j]))
		}
	}
	v := s.weighed(turned, 1)
	s.loop("j", 0, w.Cols, func() {
		s.let("sum", s.num(0))
		s.loop("i", 0, w.Rows, func() { s.p("sum += %s*%s", v(fmt.Sprintf("j*%d+i", w.Rows), "0"), x("i")) })
		s.p("@%s[j] = sum", y)
	})
}

// weighed declares weights, row by row of some outputs. Those that are whole multiples of one number, from -1 to 1 times, take a
// byte each, and so do others by request, rounded to multiples of one number for each output.
func (s *sourceCode) weighed(w []float64, outs int) func(i, out string) string {
	unit := 0.0
	exact := true
	for _, v := range w {
		if v != 0 && unit == 0 {
			unit = math.Abs(v)
		}
		exact = exact && (v == 0 || math.Abs(v) == unit)
	}
	if !exact && !s.options.Int8 {
		name := s.constant(kindFloat, w)
		return func(i, _ string) string { return "$" + name + "[" + i + "]" }
	}
	units := make([]float64, outs)
	for i, v := range w {
		units[i%outs] = max(units[i%outs], math.Abs(v)/127)
	}
	if exact {
		for k := range units {
			units[k] = unit
		}
	}
	small := make([]float64, len(w))
	for i, v := range w {
		if u := units[i%outs]; u > 0 {
			small[i] = math.Round(v / u)
		}
	}
	s.small = true
	name := s.constant(kindSmall, small)
	if outs == 1 {
		by := s.num(units[0])
		return func(i, _ string) string { return by + "*$" + name + "[" + i + "]" }
	}
	by := s.constant(kindFloat, units)
	return func(i, out string) string { return "$" + by + "[" + out + "]*$" + name + "[" + i + "]" }
}

// inArray are the elements of an array, from the first on.
func inArray(name string, n int) lazy {
	return lazy{n: n, at: func(i string) string { return "$" + name + "[" + i + "]" }, from: []string{name}, aligned: true}
}

// plain is the array that a value is, "" if it is not simply one.
func (v lazy) plain() string {
	if len(v.from) == 1 && v.at("i") == "$"+v.from[0]+"[i]" {
		return v.from[0]
	}
	return ""
}

// value is a value of the map. One that is used several times is held in an array.
func (s *sourceCode) value(n int) (lazy, error) {
	if n == 0 {
		return inArray(s.row, s.rowWidth), nil
	}
	if v, known := s.values[n]; known {
		return v, nil
	}
	v, err := s.step(&s.program.Steps[n-1])
	if err == nil && s.uses[n] > 1 {
		v = inArray(s.hold(v), v.n)
		s.readers[v.from[0]] = s.uses[n]
	}
	s.values[n] = v
	return v, err
}

// fresh is a new array with a value, that one reader will read.
func (s *sourceCode) fresh(name string, n int) lazy {
	s.readers[name] = 1
	return inArray(name, n)
}

// hold computes a value: in the place of an array that nobody else reads, or in one of its own.
func (s *sourceCode) hold(v lazy) string {
	y := ""
	for _, name := range v.from {
		readers := 0
		for _, other := range v.from {
			if other == name {
				readers++
			}
		}
		if v.aligned && s.readers[name] == readers {
			y = name
		}
	}
	if y == "" {
		y = s.scratch(v.n)
	}
	if v.plain() != y {
		s.loop("i", 0, v.n, func() { s.p("@%s[i] = %s", y, v.at("i")) })
	}
	for _, name := range v.from {
		if name != y {
			s.read(name)
		}
	}
	s.readers[y] = 1
	return y
}

// read says that a reader of an array is done.
func (s *sourceCode) read(name string) {
	if s.readers[name]--; s.readers[name] <= 0 {
		s.release(name)
	}
}

func (s *sourceCode) used(v lazy) {
	for _, name := range v.from {
		s.read(name)
	}
}

// held is a value as an array, which one reader will read.
func (s *sourceCode) held(n int) (string, error) {
	v, err := s.value(n)
	if err != nil {
		return "", err
	}
	if name := v.plain(); name != "" {
		return name, nil
	}
	return s.hold(v), nil
}

// mapped is a value whose elements follow from those of others, one by one.
func (s *sourceCode) mapped(form string, from ...int) (lazy, error) {
	var all []lazy
	out := lazy{aligned: true}
	for _, f := range from {
		v, err := s.value(f)
		if err != nil {
			return v, err
		}
		all = append(all, v)
		out.n, out.aligned, out.from = v.n, out.aligned && v.aligned, append(out.from, v.from...)
	}
	out.at = func(i string) string {
		var args []any
		for _, v := range all {
			args = append(args, v.at(i))
		}
		return fmt.Sprintf(form, args...)
	}
	return out, nil
}

// elementwise are the operations on elements.
var elementwise = map[string]string{feature.OpAdd: "(%s + %s)", feature.OpSubtract: "(%s - %s)", feature.OpMultiply: "%s*%s",
	feature.OpDivide: "%s/(%s)", feature.OpCos: "cosOf(%s)", feature.OpSin: "sinOf(%s)", feature.OpExp: "expOf(%s)", feature.OpRoot: "rootOf(%s)",
	feature.OpRamp: "rampOf(%s)", feature.OpStep: "stepOf(%s)", feature.OpSigmoid: "sigmoidOf(%s)"}

// step is the value of a step.
func (s *sourceCode) step(t *feature.Step) (lazy, error) {
	if form := elementwise[t.Op]; form != "" {
		return s.mapped(form, t.From...)
	}
	switch t.Op {
	case feature.OpLog:
		return s.mapped("logOf(maxOf(%s, "+s.num(0x1p-126)+"))", t.From[0])
	case feature.OpScale, feature.OpShift:
		return s.byNumbers(t)
	case feature.OpPick:
		return s.pick(t)
	case feature.OpJoin, feature.OpPad:
		return s.join(t)
	}
	x, err := s.held(t.From[0])
	if err != nil {
		return lazy{}, err
	}
	y := ""
	switch t.Op {
	case feature.OpHadamard:
		y = s.hold(inArray(x, t.Width))
		s.p("hadamard(%s, %d, %d)", s.arg(y), t.N, t.Width)
		return s.fresh(y, t.Width), nil
	case feature.OpProduct:
		y = s.scratch(t.Width)
		s.product(y, t.W, inArray(x, 0).at)
	case feature.OpInverse:
		var im string
		if im, err = s.held(t.From[1]); err == nil {
			y, err = s.inverse(t, x, im)
			s.read(im)
		}
	case feature.OpThermometer:
		y = s.scratch(t.Width)
		s.thermometer(t, x, y)
	case feature.OpKernel:
		y = s.scratch(t.Width)
		err = s.kernels(t, x, y)
	default:
		err = fmt.Errorf("the operation %s of the map is not known", t.Op)
	}
	s.read(x)
	return s.fresh(y, t.Width), err
}

// byNumbers multiplies by numbers or adds them.
func (s *sourceCode) byNumbers(t *feature.Step) (lazy, error) {
	sign := map[string]string{feature.OpScale: "*", feature.OpShift: " + "}[t.Op]
	v, err := s.value(t.From[0])
	if err != nil {
		return v, err
	}
	in := v.n
	if t.Width > in && v.plain() == "" {
		v = s.fresh(s.hold(v), in)
	}
	x := func(i string) string {
		if t.Width > in {
			return v.at(fmt.Sprintf("(%s)%%%d", i, in))
		}
		return v.at(i)
	}
	out := lazy{n: t.Width, from: v.from, aligned: v.aligned && t.Width == in}
	if len(t.V) == 1 {
		out.at = func(i string) string { return "(" + x(i) + sign + s.num(float64(t.V[0])) + ")" }
		return out, nil
	}
	if unit, bits := signs(t.V); bits != nil && t.Op == feature.OpScale {
		name := s.constant(kindSmall, bits)
		out.at = func(i string) string {
			text := "signOf(" + s.arg(name) + ", " + i + ", " + x(i) + ")"
			if unit != 1 {
				text = s.num(unit) + "*" + text
			}
			return text
		}
		return out, nil
	}
	name := s.floats(t.V)
	out.at = func(i string) string { return "(" + x(i) + sign + "$" + name + "[" + i + "])" }
	return out, nil
}

// signs are the signs of numbers of one size, a bit each.
func signs(v []float32) (unit float64, bits []float64) {
	unit = math.Abs(float64(v[0]))
	raw := make([]int8, (len(v)+7)/8)
	for i, x := range v {
		if math.Abs(float64(x)) != unit {
			return 0, nil
		}
		if x < 0 {
			raw[i/8] |= int8(uint8(1) << (i % 8))
		}
	}
	for _, b := range raw {
		bits = append(bits, float64(b))
	}
	return unit, bits
}

func (s *sourceCode) pick(t *feature.Step) (lazy, error) {
	v, err := s.value(t.From[0])
	if err != nil {
		return v, err
	}
	run := true
	for i, j := range t.At {
		run = run && j == t.At[0]+int32(i)
	}
	out := lazy{n: t.Width, from: v.from, aligned: v.aligned && run && len(t.At) > 0 && t.At[0] == 0}
	switch {
	case out.aligned:
		out.at = v.at
	case run && len(t.At) > 0:
		out.at = func(i string) string { return v.at(fmt.Sprintf("%s+%d", i, t.At[0])) }
	default:
		name := s.wholes(t.At)
		out.at = func(i string) string { return v.at("#" + name + "[" + i + "]") }
	}
	return out, nil
}

// join writes values side by side, and after them zeros.
func (s *sourceCode) join(t *feature.Step) (lazy, error) {
	y, at := s.scratch(t.Width), 0
	for _, f := range t.From {
		v, err := s.value(f)
		if err != nil {
			return v, err
		}
		s.loop("i", 0, v.n, func() { s.p("@%s[%d+i] = %s", y, at, v.at("i")) })
		at += v.n
		s.used(v)
	}
	if at < t.Width {
		s.loop("i", at, t.Width, func() { s.p("@%s[i] = %s", y, s.num(0)) })
	}
	return s.fresh(y, t.Width), nil
}

// inverse is an inverse Fourier transform, term by term.
func (s *sourceCode) inverse(t *feature.Step, re, im string) (string, error) {
	n := t.N
	if n >= 1<<15 {
		return "", fmt.Errorf("the inverse Fourier transform of %d terms takes too long term by term", n)
	}
	cos, sin := make([]float64, n), make([]float64, n)
	for j := range n {
		sin[j], cos[j] = math.Sincos(2 * math.Pi * float64(j) / float64(n))
	}
	c, d, y := s.constant(kindFloat, cos), s.constant(kindFloat, sin), s.scratch(n)
	s.loop("j", 0, n, func() {
		s.let("sum", s.num(0))
		s.loop("f", 1, (n+1)/2, func() { s.p("sum += $%s[f]*$%s[f*j%%%d] - $%s[f]*$%s[f*j%%%d]", re, c, n, im, d, n) })
		last := ""
		if n%2 == 0 && n > 1 {
			last = fmt.Sprintf(" + $%s[%d]*$%s[%d*j%%%d]", re, n/2, c, n/2, n)
		}
		s.p("@%s[j] = (2*sum + $%s[0]%s)/%d", y, re, last, n)
	})
	return y, nil
}

func (s *sourceCode) thermometer(t *feature.Step, x, y string) {
	s.widely(func() {
		stretch := s.floats(t.V)
		s.loop("j", 0, len(t.V), func() {
			s.let("t", fmt.Sprintf("minOf($%s[j]*$%s[j]*%d, %d)", stretch, x, t.N, t.N))
			if t.Round {
				s.p("t = floorOf(t + %s)", s.num(0.5))
			}
			s.loop("i", 0, t.N, func() {
				s.p("@%s[j*%d+i] = maxOf(minOf(t, %s), %s)", y, t.N, s.num(1), s.num(0))
				s.p("t -= %s", s.num(1))
			})
		})
	})
}

// kernels are the values of a kernel with rows, or sums of them.
func (s *sourceCode) kernels(t *feature.Step, x, y string) (err error) {
	s.widely(func() {
		rows, d := t.W.Rows, t.W.Cols
		name, of := "", s.floats(t.W.Contiguous())
		if name, err = s.compare(t.Kernel, d); err != nil {
			return
		}
		if t.Weights == nil {
			s.loop("i", 0, rows, func() { s.p("@%s[i] = %s(%s, %s, i*%d)", y, name, s.arg(x), s.arg(of), d) })
			return
		}
		sums, w := s.buffer(fmt.Sprintf("v%d", len(s.buffers)), kindDouble, t.Width), s.constant(kindDouble, t.Weights)
		s.loop("c", 0, t.Width, func() { s.p("%s[c] = 0", sums) })
		s.loop("i", 0, rows, func() {
			s.let("k", fmt.Sprintf("%s(%s, %s, i*%d)", name, s.arg(x), s.arg(of), d))
			s.loop("c", 0, t.Width, func() { s.p("%s[c] += k*$%s[i*%d+c]", sums, w, t.Width) })
		})
		s.loop("c", 0, t.Width, func() { s.p("@%s[c] = %s[c]", y, sums) })
	})
	return err
}
