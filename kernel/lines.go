package kernel

import (
	"fmt"

	"mercer/internal/vec"
	"mercer/matrix"
)

// Lines computes parts of the Gram matrix of x with itself for solvers that ask for a few of
// its rows at a time: many rows in one product of matrices, rounded to float32. It holds
// O(n + d) numbers.
type Lines struct{ *Gram }

// NewLines prepares the lines of x; it fails as [NewGram] does.
func NewLines(k Kernel, x matrix.Rows) (*Lines, error) {
	g, err := NewGram(k, x, x)
	if err != nil {
		return nil, err
	}
	return &Lines{g}, nil
}

// lineColumns is how many columns a task takes at a time: their rows in float64, of 784
// dimensions, are 1.6 MB.
const lineColumns = 256

// Compute writes k(x_i, x_j) for every i of rows and every j of cols, all columns if that is nil,
// into dst, which has a slice of that many numbers for each of rows. A value depends on its
// two rows (and on all of x, whose mean dense rows are moved by), not on what is computed beside
// it. It runs on all threads and holds rows·d + 256·d numbers of float64 a thread, or of the
// kernels of histograms as many times that as their sums have arrays, 3 at most.
func (l *Lines) Compute(rows, cols []int32, dst [][]float32) {
	n := l.y.Len()
	if cols != nil {
		n = len(cols)
	}
	if len(dst) != len(rows) {
		panic(fmt.Sprintf("kernel: %d lines for %d rows", len(dst), len(rows)))
	}
	if len(rows) == 0 || n == 0 {
		return
	}
	sums := l.kernel.sums(false)
	width := l.x.Dim()
	if sums != nil {
		width = sums.of.Width(width)
	}
	shared := &block{Gram: l.Gram, frame: l.value, sums: sums, width: width}
	xs := make([]float64, len(rows)*width)
	vec.Parallel(len(rows), 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			shared.expand(l.x, int(rows[i]), xs[i*width:][:width])
		}
	})
	vec.Parallel(n, lineColumns, func(lo, hi int) {
		t := l.tile(sums, width)
		out := make([]float64, len(rows)*lineColumns)
		for c := lo; c < hi; c += lineColumns {
			t.take(c, min(c+lineColumns, hi), cols)
			t.values(rows, xs, out)
			for i := range rows {
				line := dst[i][c:min(c+lineColumns, hi)]
				for j, v := range out[i*lineColumns:][:len(line)] {
					line[j] = float32(v)
				}
			}
		}
	})
}

// tile is a block whose y are some columns, copied side by side.
type tile struct {
	lines *Lines
	block
	numbers []int32 // of the columns
}

func (l *Lines) tile(sums *sums, width int) *tile {
	t := &tile{lines: l, numbers: make([]int32, 0, lineColumns)}
	gram := *l.Gram
	gram.same = false
	t.block = block{Gram: &gram, frame: l.value, sums: sums, width: width, height: lineColumns}
	t.yNorm = make([]float64, 0, lineColumns)
	switch {
	case l.y.Dense == nil:
		gram.y.CSR = &matrix.CSR{Cols: l.y.Dim()}
	case sums != nil:
		t.pairs, t.ys = vec.NewPairs(sums.of, l.x.Dim(), lineColumns), make([]float64, width)
		fallthrough
	default:
		gram.y.Dense = matrix.NewDense(lineColumns, l.y.Dim())
		if sums == nil {
			t.ys = make([]float64, lineColumns*width)
		}
	}
	return t
}

// take makes columns [lo, hi) of those asked for the tile's.
func (t *tile) take(lo, hi int, cols []int32) {
	t.numbers = t.numbers[:0]
	for c := lo; c < hi; c++ {
		j := int32(c)
		if cols != nil {
			j = cols[c]
		}
		t.numbers = append(t.numbers, j)
	}
	if norms := t.lines.value.yNorm; norms != nil {
		t.yNorm = t.yNorm[:0]
		for _, j := range t.numbers {
			t.yNorm = append(t.yNorm, norms[j])
		}
	}
	if s := t.lines.y.CSR; s != nil {
		y := t.y.CSR
		y.Rows, y.Ptr, y.Idx, y.Val = len(t.numbers), append(y.Ptr[:0], 0), y.Idx[:0], y.Val[:0]
		for _, j := range t.numbers {
			idx, val := s.Row(int(j))
			y.Idx, y.Val = append(y.Idx, idx...), append(y.Val, val...)
			y.Ptr = append(y.Ptr, len(y.Idx))
		}
	} else {
		t.y.Dense.Rows = len(t.numbers)
		for c, j := range t.numbers {
			copy(t.y.Dense.Row(c), t.lines.y.Dense.Row(int(j)))
		}
	}
	t.expandY(0, len(t.numbers))
}

// values writes the kernel's values of rows, expanded in xs, with the tile's columns into out,
// lineColumns numbers a row.
func (t *tile) values(rows []int32, xs, out []float64) {
	n := len(t.numbers)
	if t.lines.y.Dense != nil && t.sums != nil {
		t.pairs.Rows(len(rows), n, xs, out, lineColumns)
	} else if t.lines.y.Dense != nil {
		vec.GemmNT(len(rows), n, t.width, xs, t.width, t.ys, t.width, out, lineColumns)
	}
	for i, r := range rows {
		line, x := out[i*lineColumns:][:n], xs[i*t.width:][:t.width]
		switch {
		case t.lines.y.CSR != nil && t.sums != nil:
			t.sparseSums(line, x, int(r), 0)
		case t.lines.y.CSR != nil:
			t.sparseDots(line, x, 0)
		}
		t.block.values(int(r), 0, line)
		if !t.kernel.unit() {
			continue
		}
		for c, j := range t.numbers {
			if j == r {
				line[c] = 1
			}
		}
	}
}
