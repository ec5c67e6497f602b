// Package learn trains linear models on features: ridge regression from statistics that one
// pass collects, and support vector machines by dual coordinate descent.
package learn

import (
	"fmt"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Linear is a linear model with K outputs on D features: scores = zW + b.
type Linear struct {
	W *matrix.Dense // D×K
	B []float64     // K
}

// Scores writes the scores of the rows z into dst, which must be Len×K. A row's scores do
// not depend on the rows beside it. It allocates nothing and is safe for concurrent use.
func (l *Linear) Scores(dst *matrix.Dense, z matrix.Rows) {
	d, k := l.W.Rows, l.W.Cols
	if z.Dim() != d || dst.Rows != z.Len() || dst.Cols != k {
		panic(fmt.Sprintf("learn: Scores of %d×%d rows by a %d×%d model into %d×%d", z.Len(), z.Dim(), d, k, dst.Rows, dst.Cols))
	}
	if x := z.Dense; x != nil {
		vec.Gemm32(x.Rows, k, d, x.Data, x.Stride, l.W.Data, l.W.Stride, dst.Data, dst.Stride)
	} else {
		for i := range dst.Rows {
			row := dst.Row(i)
			clear(row)
			idx, val := z.CSR.Row(i)
			for t, j := range idx {
				vec.Axpy32(val[t], l.W.Row(int(j)), row)
			}
		}
	}
	l.addIntercepts(dst)
}

func (l *Linear) addIntercepts(dst *matrix.Dense) {
	for i := range dst.Rows {
		row := dst.Row(i)
		for t, b := range l.B {
			row[t] = float32(float64(row[t]) + b)
		}
	}
}

// TargetColumns is the number of outputs for c classes: one each, or a single one
// for two classes.
func TargetColumns(c int) int {
	if c == 2 {
		return 1
	}
	return c
}

// Target writes the targets of a row of the given class: 1 for its class and -1 for the
// others; with two classes one target, 1 for the second.
func Target(dst []float64, class int) {
	if len(dst) == 1 {
		dst[0] = float64(2*class - 1)
		return
	}
	for t := range dst {
		dst[t] = -1
	}
	dst[class] = 1
}

// packedBytes is the largest size of weights of which a packed copy is made for single rows.
const packedBytes = 16 << 20

// Packed is the model packed for single rows: the same scores to the bit, in a fraction of the time, for
// 4·D·K bytes, with K rounded up to the width of a panel. It is the model itself if that is too much, or if K is
// so small that a product of a single row needs no packing.
func (l *Linear) Packed() interface {
	Scores(dst *matrix.Dense, z matrix.Rows)
} {
	d, k := l.W.Rows, l.W.Cols
	if k <= vec.NarrowColumns || d == 0 || 4*d*((k+31)/32*32) > packedBytes {
		return l
	}
	return &packedLinear{l, vec.Pack32(d, k, l.W.Data, l.W.Stride)}
}

type packedLinear struct {
	*Linear
	w *vec.Packed[float32]
}

func (p *packedLinear) Scores(dst *matrix.Dense, z matrix.Rows) {
	if z.Dense == nil || z.Dim() != p.W.Rows {
		p.Linear.Scores(dst, z)
		return
	}
	p.w.Multiply(z.Len(), z.Dense.Data, z.Dense.Stride, dst.Data, dst.Stride, nil)
	p.addIntercepts(dst)
}
