package export

import (
	"fmt"
	"math"

	"mercer/kernel"
)

// unrolled is the number of dimensions up to which a sum over them has no loop.
const unrolled = 32

// summed is a kernel of a sum or a product over the dimensions, one after the other: the numbers of all pairs of rows in all
// dimensions would not fit into memory. Dimensions of two values each are a product of matrices.
func (o *onnx) summed(x string, k kernel.Kernel, y landmark) (string, error) {
	first := 0.0
	after := func(z string) string { return z }
	falling := func(gamma float64) func(string) string {
		return func(z string) string { return o.op("Exp", o.op("Mul", z, o.two(-gamma))) }
	}
	var step func(g *graph, sum, u, v string) string
	switch k.Name {
	case "laplacian":
		after = falling(k.Gamma)
		step = func(g *graph, sum, u, v string) string { return g.op("Add", sum, g.op("Abs", g.op("Sub", u, v))) }
	case "cauchy":
		first = 1
		step = func(g *graph, sum, u, v string) string {
			d := g.op("Mul", g.op("Sub", u, v), g.two(k.Gamma))
			return g.op("Div", sum, g.op("Add", g.op("Mul", d, d), g.two(1)))
		}
	case "chi2", "intersection", "jensen-shannon":
		step = func(g *graph, sum, u, v string) string {
			return g.op("Add", sum, weighted(g, k, u, v, additive(g, k.Name, u, v)))
		}
	case "exp-chi2":
		after = falling(k.Gamma)
		step = func(g *graph, sum, u, v string) string {
			d := g.op("Sub", u, v)
			return g.op("Add", sum, g.op("Div", g.op("Mul", d, d), positive(g, g.op("Add", u, v))))
		}
	case "skewed-chi2":
		first = 1
		step = func(g *graph, sum, u, v string) string {
			u, v = g.op("Add", u, g.two(k.Coef0)), g.op("Add", v, g.two(k.Coef0))
			mean := g.op("Mul", g.op("Add", u, v), g.two(0.5))
			return g.op("Mul", sum, g.op("Div", g.op("Sqrt", g.op("Mul", u, v)), mean))
		}
	case "skewed-intersection":
		after = falling(0.5)
		step = func(g *graph, sum, u, v string) string {
			u, v = g.op("Log", g.op("Add", u, g.two(k.Coef0))), g.op("Log", g.op("Add", v, g.two(k.Coef0)))
			return g.op("Add", sum, g.op("Abs", g.op("Sub", u, v)))
		}
	default:
		return "", fmt.Errorf("the kernel %s cannot be exported to ONNX", k.Name)
	}
	dims, twofold := y.split(k)
	start := o.columns(x, []int64{0})
	start = o.op("Add", o.op("Mul", o.op("MatMul", start, o.double([]int{1, y.n}, make([]float64, y.n))), o.two(0)), o.two(first))
	z := o.over(dims, start, x, y, step)
	if z = after(z); len(twofold) > 0 {
		z = o.op("Mul", z, o.op("Exp", o.op("Neg", o.unlike(twofold, x, k, y))))
	}
	return z, nil
}

// over adds a step for each of some dimensions: as many nodes, or a loop.
func (o *onnx) over(dims []int64, sum, x string, y landmark, step func(g *graph, sum, u, v string) string) string {
	column := func(j int64) []float32 {
		v := make([]float32, y.n)
		for i := range v {
			v[i] = y.v[i*y.d+int(j)]
		}
		return v
	}
	if len(dims) <= unrolled {
		for _, j := range dims {
			sum = step(&o.graph, sum, o.columns(x, []int64{j}), o.fixed([]int{1, y.n}, column(j)))
		}
		return sum
	}
	body := newGraph(o.value() + "_")
	before, a, b := body.value(), body.value(), body.value()
	next := step(&body, before, body.reshape(a, -1, 1), body.reshape(b, 1, -1))
	loop := body.message("body", [][]byte{described(before, typeDouble, -1, y.n), described(a, typeDouble, -1), described(b, typeDouble, y.n)},
		[][]byte{described(next, typeDouble, -1, y.n)})
	var rows []float32
	for _, j := range dims {
		rows = append(rows, column(j)...)
	}
	turned := o.fixed([]int{len(dims), y.n}, rows)
	return o.node("Scan", []string{sum, o.columns(x, dims), turned}, subgraph("body", loop), integer("num_scan_inputs", 2),
		ints("scan_input_axes", 1, 0))
}

// split divides the dimensions into those of any numbers and those in which rows have one of two values. A kernel must be a product
// over the dimensions of functions of differences for the second.
func (y landmark) split(k kernel.Kernel) (dims, twofold []int64) {
	for j := range y.d {
		two := y.pairs != nil && (k.Name == "laplacian" || k.Name == "cauchy") && y.pairs[j].known
		for i := 0; i < y.n && two; i++ {
			v := y.v[i*y.d+j]
			two = v == y.pairs[j].off || v == y.pairs[j].on
		}
		if two {
			twofold = append(twofold, int64(j))
		} else {
			dims = append(dims, int64(j))
		}
	}
	return dims, twofold
}

// unlike is -log k over the dimensions of two values: the sum of a number c_j for each in which two rows differ, which is
// Σ c_j·(u_j + v_j - 2u_j·v_j) of u and v that say which of its values a row has.
func (o *onnx) unlike(dims []int64, x string, k kernel.Kernel, y landmark) string {
	d := len(dims)
	on, c := make([]float64, d), make([]float64, d)
	w, sums := make([]float64, d*y.n), make([]float64, y.n)
	for t, j := range dims {
		p := y.pairs[j]
		on[t] = float64(p.on)
		apart := k.Gamma * math.Abs(float64(p.on)-float64(p.off))
		if c[t] = apart; k.Name == "cauchy" {
			c[t] = math.Log1p(apart * apart)
		}
		for i := range y.n {
			if y.v[i*y.d+int(j)] == p.on {
				sums[i] += c[t]
				w[t*y.n+i] = -2 * c[t]
			}
		}
	}
	for t := range dims {
		for i := range y.n {
			w[t*y.n+i] += c[t]
		}
	}
	u := o.cast(o.op("Equal", o.columns(x, dims), o.double([]int{1, d}, on)), typeDouble)
	return o.op("Add", o.op("MatMul", u, o.double([]int{d, y.n}, w)), o.double([]int{1, y.n}, sums))
}

// positive is a sum of two numbers that are not negative, or 1 if it is 0.
func positive(g *graph, sum string) string {
	return g.op("Where", g.op("Greater", sum, g.two(0)), sum, g.two(1))
}

// additive is k₁(u, v) of a kernel of histograms, of degree 1.
func additive(g *graph, name, u, v string) string {
	switch name {
	case "intersection":
		return g.op("Min", u, v)
	case "chi2":
		return g.op("Div", g.op("Mul", g.op("Mul", u, g.two(2)), v), positive(g, g.op("Add", u, v)))
	}
	entropy := func(p string) string { return g.op("Mul", p, g.op("Log", positive(g, p))) }
	e := g.op("Sub", entropy(g.op("Add", u, v)), g.op("Add", entropy(u), entropy(v)))
	return g.op("Mul", e, g.two(1/(2*math.Ln2)))
}

// weighted makes k₁ one of the kernel's degree of homogeneity.
func weighted(g *graph, k kernel.Kernel, u, v, k1 string) string {
	of, _ := k.Additive()
	if of.Homogeneity == 1 {
		return k1
	}
	weight := func(p string) string {
		power := g.op("Pow", positive(g, p), g.two((of.Homogeneity-1)/2))
		return g.op("Where", g.op("Greater", p, g.two(0)), power, g.two(0))
	}
	return g.op("Mul", k1, g.op("Mul", weight(u), weight(v)))
}

// hellinger is the product of the powers of rows.
func (o *onnx) hellinger(x string, k kernel.Kernel, y landmark) string {
	of, _ := k.Additive()
	half := of.Homogeneity / 2
	turned := make([]float64, len(y.v))
	for i := range y.n {
		for j, v := range y.v[i*y.d:][:y.d] {
			turned[j*y.n+i] = math.Pow(float64(v), half)
		}
	}
	return o.op("MatMul", o.op("Pow", x, o.two(half)), o.double([]int{y.d, y.n}, turned))
}

// arccos is the kernel of products p and squared lengths. The angle θ is 2φ with sin φ = √((1-cos θ)/2); the arc tangent is one of
// float32, and a step of Newton's method makes it one of float64.
func (o *onnx) arccos(degree int, p, square string, norms []float64) string {
	length := o.op("Sqrt", o.op("Mul", square, o.double([]int{1, len(norms)}, norms)))
	cos := o.op("Div", p, positive(&o.graph, length))
	cos = o.op("Max", o.op("Min", cos, o.two(1)), o.two(-1))
	half := func(v string) string { return o.op("Sqrt", o.op("Mul", v, o.two(0.5))) }
	s, c := half(o.op("Sub", o.two(1), cos)), half(o.op("Add", o.two(1), cos))
	phi := o.cast(o.op("Atan", o.cast(o.op("Div", s, c), typeFloat)), typeDouble)
	phi = o.op("Add", phi, o.op("Sub", o.op("Mul", s, o.op("Sin", o.op("Add", phi, o.two(math.Pi/2)))), o.op("Mul", c, o.op("Sin", phi))))
	rest := o.op("Sub", o.two(1), o.op("Mul", phi, o.two(2/math.Pi))) // (π-θ)/π
	if degree == 0 {
		return rest
	}
	return o.op("Mul", length, o.op("Add", o.op("Mul", o.op("Mul", s, c), o.two(2/math.Pi)), o.op("Mul", rest, cos)))
}
