package kernel

import (
	"fmt"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Lines computes rows of the Gram matrix of x, or of some of its columns, rounded to float32. It is for
// solvers that ask for a few rows at a time, and computes these by one matrix product.
type Lines struct {
	gram  *Gram
	cols  []int32 // nil for all
	n     int
	sums  *sums
	width int
	tiles []*tile // laid out once for all, or nil
	xs    []float64
	outs  freelist.Slices[float64]
}

// lineColumns is how many columns are computed at a time: their rows in float64, of 784
// dimensions, are 1.6 MB.
const lineColumns = 256

// NewLines prepares the lines of x. It fails as [NewGram] does. Dense rows are laid out for the products
// once if that fits into memory, and in every call of Compute if not. It takes 8·n·d bytes, and up to
// three times as many for kernels of histograms.
func NewLines(k Kernel, x matrix.Rows, memory int64) (*Lines, error) {
	g, err := NewGram(k, x, x)
	if err != nil {
		return nil, err
	}
	l := &Lines{gram: g, sums: g.engine.sums(false), width: x.Dim()}
	if l.sums != nil {
		l.width = l.sums.of.Width(x.Dim())
	}
	return l.of(nil, memory), nil
}

// Columns returns lines with the given columns only, in this order. Their values are the same. memory is
// that of NewLines.
func (l *Lines) Columns(cols []int32, memory int64) *Lines { return l.of(cols, memory) }

func (l *Lines) of(cols []int32, memory int64) *Lines {
	m := &Lines{gram: l.gram, cols: cols, n: l.gram.x.Len(), sums: l.sums, width: l.width}
	if cols != nil {
		m.n = len(cols)
	}
	if l.gram.x.Dense != nil && m.bytes() <= memory {
		m.tiles = make([]*tile, (m.n+lineColumns-1)/lineColumns)
		vec.Parallel(len(m.tiles), 1, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				m.tiles[t] = m.tile(t, nil)
			}
		})
	}
	return m
}

// Bytes is the memory of the rows that are laid out for products; 0 if none are.
func (l *Lines) Bytes() int64 {
	if l.tiles == nil {
		return 0
	}
	return l.bytes()
}

func (l *Lines) bytes() int64 { return 8 * int64(l.width) * int64(l.n) }

// Compute writes line rows[i] into dst[i], which has an element for every column. A value depends on its
// two rows, and on the mean of x for dense rows, but not on the lines that are computed beside it.
// Compute runs on all threads; only one goroutine may call it at a time. It holds
// 8·(rows·d + 256·(rows + d)·T) bytes for T threads, up to three times as many for kernels of
// histograms, and keeps them for the next call.
func (l *Lines) Compute(rows []int32, dst [][]float32) {
	if len(dst) != len(rows) {
		panic(fmt.Sprintf("kernel: %d lines for %d rows", len(dst), len(rows)))
	}
	if len(rows) == 0 || l.n == 0 {
		return
	}
	if len(l.xs) < len(rows)*l.width {
		l.xs = make([]float64, len(rows)*l.width)
	}
	one := &block{Gram: l.gram, frame: l.gram.value, sums: l.sums, width: l.width}
	vec.Parallel(len(rows), 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			one.expand(l.gram.x, int(rows[i]), l.xs[i*l.width:][:l.width])
		}
	})
	vec.Parallel((l.n+lineColumns-1)/lineColumns, 1, func(lo, hi int) {
		out := l.outs.Get(len(rows) * lineColumns) // the values of a tile
		var ys []float64
		for t := lo; t < hi; t++ {
			var part *tile
			if l.tiles != nil {
				part = l.tiles[t]
			} else {
				if ys == nil && l.gram.x.Dense != nil {
					ys = make([]float64, lineColumns*l.width)
				}
				part = l.tile(t, ys)
			}
			part.write(rows, l.xs, out, dst, t*lineColumns)
		}
		l.outs.Put(out)
	})
}

// tile is a block of some columns.
type tile struct {
	block
	first  int     // number of the first
	cols   []int32 // of all, or nil if they follow the first
	n      int
	packed *vec.Packed[float64]
}

// tile lays out tile t. ys is work memory for its rows if the tile is used only once.
func (l *Lines) tile(t int, ys []float64) *tile {
	lo := t * lineColumns
	hi := min(lo+lineColumns, l.n)
	gram := *l.gram
	gram.same = false
	b := &tile{block: block{Gram: &gram, frame: l.gram.value, sums: l.sums, width: l.width, height: lineColumns}, first: lo, n: hi - lo}
	if l.cols == nil {
		gram.y = l.gram.x.Slice(lo, hi)
		if b.yNorm != nil {
			b.yNorm = b.yNorm[lo:hi]
		}
	} else {
		b.cols = l.cols[lo:hi]
		gram.y = matrix.Pick(l.gram.x, b.cols)
		if norms := b.yNorm; norms != nil {
			b.yNorm = make([]float64, 0, b.n)
			for _, j := range b.cols {
				b.yNorm = append(b.yNorm, norms[j])
			}
		}
	}
	switch {
	case gram.y.Dense == nil:
		b.expandY(0, b.n)
	case l.sums != nil:
		b.pairs, b.ys = vec.NewPairs(l.sums.of, l.gram.x.Dim(), b.n), make([]float64, l.width)
		b.expandY(0, b.n)
	case ys != nil:
		b.ys = ys
		b.expandY(0, b.n)
	default:
		b.ys = make([]float64, b.n*l.width)
		b.expandY(0, b.n)
		b.packed, b.ys = vec.PackT64(b.n, l.width, b.ys, l.width), nil
	}
	return b
}

// write writes the kernel values of rows into dst from column at on. The rows are expanded in xs; out is
// work memory.
func (t *tile) write(rows []int32, xs, out []float64, dst [][]float32, at int) {
	switch {
	case t.packed != nil:
		t.packed.Multiply(len(rows), xs, t.width, out, lineColumns, nil)
	case t.pairs != nil:
		t.pairs.Rows(len(rows), t.n, xs, out, lineColumns)
	case t.y.Dense != nil:
		vec.GemmNT(len(rows), t.n, t.width, xs, t.width, t.ys, t.width, out, lineColumns)
	}
	for i, r := range rows {
		values := out[i*lineColumns:][:t.n]
		switch x := xs[i*t.width:][:t.width]; {
		case t.y.CSR != nil && t.sums != nil:
			t.sparseSums(values, x, int(r), 0)
		case t.y.CSR != nil:
			t.sparseDots(values, x, 0)
		}
		t.engine.values(&t.block, int(r), 0, values)
		line := dst[i][at:][:t.n]
		for c, v := range values {
			line[c] = float32(v)
		}
		if t.unit {
			t.diagonal(r, line)
		}
	}
}

// diagonal sets k(x_r, x_r) = 1, if it is one of the tile's.
func (t *tile) diagonal(r int32, line []float32) {
	if t.cols == nil {
		if c := int(r) - t.first; c >= 0 && c < t.n {
			line[c] = 1
		}
		return
	}
	for c, j := range t.cols {
		if j == r {
			line[c] = 1
		}
	}
}
