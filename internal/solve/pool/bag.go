package pool

import (
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// bag is the vectors of one bag: x_l of the first stream, y_l of the second. With one stream
// they are the same.
type bag struct {
	n      int // locations
	x, y   []float32
	stride int // of both
	d, e   int // channels of x and of y
	two    bool

	csr *matrix.CSR // in place of x and y until dense was called
}

// dense makes sparse vectors dense.
func (b *bag) dense(w *work) {
	if b.csr == nil {
		return
	}
	b.stride = b.csr.Cols
	b.x = w.take(b.n * b.stride)
	clear(b.x)
	for l := range b.n {
		idx, val := b.csr.Row(l)
		row := b.x[l*b.stride:]
		for k, j := range idx {
			row[j] = val[k]
		}
	}
	b.y, b.csr = b.x, nil
	if b.two {
		b.y = b.x[b.d:]
	}
}

// lanes divides the width of vectors that stand side by side.
const lanes = 16

// abreast writes rows×cols numbers of src to dst, cols×width, with zeros after its rows.
func abreast(dst []float32, width int, src []float32, lds, rows, cols int) {
	vec.Transpose32(dst, width, src, lds, rows, cols)
	for j := range cols {
		clear(dst[j*width:][rows:width])
	}
}

// work is the memory of one goroutine. It grows to what the largest bag needs.
type work struct {
	numbers    []float32
	used, need int
	sums       []float64

	b      bag
	csr    matrix.CSR
	in     matrix.Dense // views
	out    matrix.Dense
	dx, dy matrix.Dense
}

func (p *Pooling) putBack(w *work) {
	w.b, w.csr, w.in, w.dx, w.dy = bag{}, matrix.CSR{}, matrix.Dense{}, matrix.Dense{}, matrix.Dense{}
	p.free.Put(w)
}

// reset takes back everything that take returned.
func (w *work) reset() {
	if w.need > len(w.numbers) {
		w.numbers = make([]float32, w.need)
	}
	w.used, w.need = 0, 0
}

// take returns n numbers with arbitrary contents, valid until the next reset.
func (w *work) take(n int) []float32 {
	const line = 16
	whole := (n + line - 1) / line * line
	w.need += whole
	if w.used+n > len(w.numbers) {
		return make([]float32, n)
	}
	s := w.numbers[w.used:][:n:n]
	w.used += whole
	return s
}

// bag is rows [lo, hi) of x.
func (w *work) bag(x matrix.Rows, lo, hi, split int, two bool) *bag {
	b := &w.b
	*b = bag{n: hi - lo, d: split, e: x.Dim() - split, two: two}
	if !two {
		b.e = b.d
	}
	switch {
	case b.n == 0:
	case x.CSR != nil:
		w.rows(x, lo, hi)
		b.csr = &w.csr
	default:
		b.stride = x.Dense.Stride
		b.x = x.Dense.Data[lo*b.stride:]
		b.y = b.x
		if two {
			b.y = b.x[split:]
		}
	}
	return b
}

// rows is x.Slice(lo, hi) without an allocation.
func (w *work) rows(x matrix.Rows, lo, hi int) matrix.Rows {
	if c := x.CSR; c != nil {
		w.csr = matrix.CSR{Rows: hi - lo, Cols: c.Cols, Ptr: c.Ptr[lo : hi+1], Idx: c.Idx, Val: c.Val}
		return matrix.Rows{CSR: &w.csr}
	}
	w.in = view(x.Dense, lo, hi, 0, x.Dense.Cols)
	return matrix.Rows{Dense: &w.in}
}

// gradient sets dx and dy to the gradients with respect to the two streams of rows [lo, hi), which are the same
// if there is one stream.
func (w *work) gradient(dx *matrix.Dense, lo, hi, split int) {
	w.dx, w.dy = view(dx, lo, hi, 0, split), view(dx, lo, hi, split, dx.Cols)
	if split == dx.Cols {
		w.dy = w.dx
	}
}

// view is rows [lo, hi), at least one, and columns [from, to) of m.
func view(m *matrix.Dense, lo, hi, from, to int) matrix.Dense {
	return matrix.Dense{Rows: hi - lo, Cols: to - from, Stride: m.Stride, Data: m.Data[lo*m.Stride+from:]}
}
