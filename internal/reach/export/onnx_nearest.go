package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/solve/exact"
	"mercer/kernel"
	"mercer/model"
)

// distant are the kernels whose distances are a function of their values with two different rows alone.
var distant = []string{"linear", "rbf", "matern", "laplacian", "cauchy", "exp-chi2", "skewed-chi2", "skewed-intersection"}

// distances are those of [kernel.Distances], or a multiple of them.
func (o *onnx) distances(x string, k kernel.Kernel, y landmark) (string, error) {
	switch k.Name {
	case "linear", "rbf", "matern":
		p, err := o.kernel(x, kernel.Linear.Usual(), y)
		if err != nil {
			return "", err
		}
		norms := make([]float64, y.n)
		for i, v := range y.v {
			norms[i/y.d] += float64(v) * float64(v)
		}
		r := o.op("Add", o.sum(o.op("Mul", x, x), 1), o.double([]int{1, y.n}, norms))
		return o.op("Max", o.op("Sub", r, o.op("Mul", p, o.two(2))), o.two(0)), nil
	}
	if !slices.Contains(distant, k.Name) {
		return "", fmt.Errorf("nearest neighbours by the kernel %s cannot be exported; those by %s can", k.Name, strings.Join(distant, ", "))
	}
	if !kernel.OrdersBy(k.Name, "gamma") {
		k.Gamma /= 1024 // so that values far away do not become 0
	}
	v, err := o.kernel(x, k, y)
	if err != nil {
		return "", err
	}
	return o.op("Max", o.op("Neg", o.op("Log", v)), o.two(0)), nil
}

// nearest are the means of the targets of the nearest rows, of equally near ones the first.
func (o *onnx) nearest(x string, p *exact.Nearest) (string, error) {
	m, outs := p.Machine(), o.Outputs
	rows, err := landmarks(m.Rows())
	if err != nil {
		return "", err
	}
	d := rows.Shape[1]
	var y []float32
	var targets, weights []float64
	for i := range rows.Shape[0] {
		w := 1.0
		if p.Weights() != nil {
			w = p.Weights()[i]
		}
		if w > 0 {
			y, weights, targets = append(y, rows.F32[i*d:][:d]...), append(weights, w), append(targets, m.Alpha()[i*outs:][:outs]...)
		}
	}
	n, k := len(weights), int64(p.Neighbours)
	all, err := o.distances(o.double64(x), m.Kernel(), o.rows(y, n, d))
	if err != nil {
		return "", err
	}
	near, at := o.value(), o.value()
	o.named("TopK", []string{all, o.list(k)}, []string{near, at}, integer("axis", 1), integer("largest", 0))
	near = o.op("Min", near, o.two(math.MaxFloat64))
	w := o.op("Gather", o.double([]int{n}, weights), at)
	if p.Weighting == "distance" {
		apart := o.op("Greater", near, o.two(0))
		share := o.op("Div", o.columns(near, []int64{0}), o.op("Where", apart, near, o.two(1)))
		w = o.op("Mul", w, o.op("Where", apart, o.op("Sqrt", share), o.two(1)))
	}
	w = o.op("Div", w, o.sum(w, 1))
	found := o.op("Gather", o.double([]int{n, outs}, targets), at)
	s := o.reshape(o.sum(o.op("Mul", found, o.reshape(w, -1, k, 1)), 1), -1, int64(outs))
	if offset := o.model.Info().Offset; offset != nil {
		s = o.op("Add", s, o.double([]int{1, outs}, offset))
	}
	return s, nil
}

// residual is the limit less the squared distance from the plane of components.
func (o *onnx) residual(x string, p model.Residual) string {
	d, k := p.Dims()
	u := make([]float64, d*k)
	for c := range k {
		for j, v := range p.Component(c) {
			u[j*k+c] = v
		}
	}
	z := o.op("Sub", o.double64(x), o.double([]int{1, d}, p.Mean()))
	c := o.op("MatMul", z, o.double([]int{d, k}, u))
	return o.op("Sub", o.two(p.Limit), o.op("Sub", o.sum(o.op("Mul", z, z), 1), o.sum(o.op("Mul", c, c), 1)))
}
