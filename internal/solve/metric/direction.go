package metric

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// direction is the leading eigenvector of the average outer product of the gradients of f, which uses the metric by.
func (l *learner) direction(ctx context.Context, f *function, by *Metric) ([]float64, error) {
	var work Work
	x := matrix.Rows{Dense: l.train.x}
	if by != nil {
		x = by.Apply(x, &work)
	}
	if l.d >= rawSlopesFrom {
		return l.wideDirection(ctx, f, x.Dense, by)
	}
	r := x.Dim()
	g := make([]float64, r*r)
	if err := f.outer(ctx, x.Dense, l.train.weights, g, false); err != nil {
		return nil, err
	}
	switch {
	case by == nil:
	case by.Axes != nil:
		g = around(by.Axes, g)
	default:
		for i, v := range by.Weights {
			for j := i; j < r; j++ {
				g[i*r+j] *= float64(v) * float64(by.Weights[j])
			}
		}
	}
	first := axesOf(ctx, g, l.d, 1, Shape{})
	if first == nil {
		return nil, ctx.Err()
	}
	d, length := make([]float64, l.d), 0.0
	for j := range d {
		d[j] = float64(first.Axes.Row(j)[0])
		length += d[j] * d[j]
	}
	for j := range d {
		d[j] /= math.Sqrt(length)
	}
	return d, nil
}

// wideDirection is direction for wide rows u = Aᵀx, of which directionRows tell: no matrix of d×d is made. The leading eigenvector is
// found by multiplying with the gradients and their transpose until it stays.
func (l *learner) wideDirection(ctx context.Context, f *function, u *matrix.Dense, by *Metric) ([]float64, error) {
	var all [][]float32
	err := f.each(ctx, u.Slice(0, min(u.Rows, directionRows)), l.train.weights, func(grad *matrix.Dense) {
		for i := range grad.Rows {
			all = append(all, by.turned(grad.Row(i)))
		}
	})
	if err != nil {
		return nil, err
	}
	d := make([]float64, l.d) // sums of squares to begin with, which are 0 where the answer does not depend on a column
	for _, g := range all {
		for j, v := range g {
			d[j] += float64(v) * float64(v)
		}
	}
	for range directionSteps {
		if ctx.Err() != nil || !toUnit(d) {
			return nil, ctx.Err()
		}
		next := make([]float64, len(d))
		for _, g := range all {
			product := 0.0
			for j, v := range g {
				product += float64(float64(v) * d[j])
			}
			vec.AxpyWide(product, g, next)
		}
		if !toUnit(next) {
			return nil, nil
		}
		change := 0.0
		for j, v := range next {
			change += float64((v - d[j]) * (v - d[j]))
		}
		if d = next; change < directionChange {
			break
		}
	}
	if largest(d) < 0 {
		for j := range d {
			d[j] = -d[j]
		}
	}
	return d, nil
}

const (
	directionRows   = 2000
	directionSteps  = 200
	directionChange = 1e-10 // of the squared distance between a vector and the next
)

// toUnit gives v unit length; it says no if v has none.
func toUnit(v []float64) bool {
	length := 0.0
	for _, x := range v {
		length += float64(x * x)
	}
	if !(length > 0) || math.IsInf(length, 0) {
		return false
	}
	length = math.Sqrt(length)
	for j := range v {
		v[j] /= length
	}
	return true
}

// turned is A·g: of the gradient of a function of u = Aᵀx by u, that by x. It is a copy of g where m is nil.
func (m *Metric) turned(g []float32) []float32 {
	if m == nil {
		return slices.Clone(g)
	}
	in, _ := m.Dims()
	x := make([]float32, in)
	for j := range x {
		if m.Axes == nil {
			x[j] = m.Weights[j] * g[j]
			continue
		}
		sum := 0.0
		for k, a := range m.Axes.Row(j) {
			sum += float64(a) * float64(g[k])
		}
		x[j] = float32(sum)
	}
	return x
}
