package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Words maps a row to its nearest word, one of D centres of clusters: z_j(x) = 1 for the nearest centre μ_j, the first of several,
// and 0 for all others. The mean over a bag of rows is the histogram of its words, the bag-of-words coding that Kumar 2010 sets beside the means of
// kernel maps (Csurka, Dance, Fan, Willamowsky and Bray 2004); the histogram can have any kernel.
//
// z(x)·z(y) approximates no kernel, and the kernel of the configuration is ignored unless it chooses the centres. A row takes O(dD) operations, in
// float64; the map holds 12dD bytes.
const Words = "words"

// words is the map [Words].
type words struct {
	centres *matrix.Dense // D×d
	packed  *vec.Packed[float64]
	half    []float64 // ½‖μ_j‖²
	height  int
	free    freelist.Slices[float64]
}

func fitWords(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	h, err := chooseLandmarks(ctx, cfg, sample, "kmeans")
	if err != nil {
		return nil, err
	}
	return newWords(h), nil
}

func newWords(h *matrix.Dense) *words {
	m, d := h.Rows, h.Cols
	w := &words{centres: h, half: make([]float64, m), height: max(1, min(56, 1<<18/(d+m)))}
	columns := make([]float64, d*m)
	for j := range m {
		for c, v := range h.Row(j) {
			columns[c*m+j] = float64(v)
			w.half[j] += float64(v) * float64(v) / 2
		}
	}
	w.packed = vec.Pack64(d, m, columns, m)
	return w
}

// State has the centres.
func (f *words) State() map[string]*matrix.Dense { return map[string]*matrix.Dense{"rows": f.centres} }

func restoreWords(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	h := state["rows"]
	if h == nil || h.Cols != dim || h.Rows < 1 || h.Rows > cfg.Features {
		return nil, fmt.Errorf("feature: %s: the state is not that of %d features of %d dimensions", cfg.Map, cfg.Features, dim)
	}
	if err := finite(h); err != nil {
		return nil, fmt.Errorf("feature: %s: the state's centres: %w", cfg.Map, err)
	}
	return newWords(h), nil
}

func (f *words) Dims() (in, out int) { return f.centres.Cols, f.centres.Rows }

// Bytes counts the centres, as they are stored and as they are packed.
func (f *words) Bytes() int64 { return int64(f.centres.Rows) * (12*int64(f.centres.Cols) + 8) }

// Chosen is the number of words.
func (f *words) Chosen() string { return fmt.Sprintf("%d words", f.centres.Rows) }

func (f *words) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

func (f *words) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	d, m := f.Dims()
	height := min(f.height, end-i)
	work := f.free.Get(height * (d + m))
	defer f.free.Put(work)
	t, wide := work[:height*m], work[height*m:]
	for ; i < end; i += height {
		n := min(height, end-i)
		for r := range n {
			widen(x, i+r, wide[r*d:][:d])
		}
		f.packed.Multiply(n, wide, d, t, m, nil)
		for r := range n {
			best, nearest := math.Inf(-1), 0
			for j, v := range t[r*m:][:m] {
				if v -= f.half[j]; v > best { // ½‖x‖² - ½‖x-μ_j‖²
					best, nearest = v, j
				}
			}
			out := dst.Row(i + r)
			clear(out)
			out[nearest] = 1
		}
	}
}

// widen writes a row of x in float64.
func widen(x matrix.Rows, r int, row []float64) {
	if x.CSR != nil {
		clear(row)
		idx, val := x.CSR.Row(r)
		for k, c := range idx {
			row[c] = float64(val[k])
		}
		return
	}
	for c, v := range x.Dense.Row(r) {
		row[c] = float64(v)
	}
}

// words appends s_j = x·μ_j - ½‖μ_j‖² and, for each j, how many of them are below: all others of the nearest.
func (p *Program) words(f *words, x int) (int, error) {
	d, m := f.Dims()
	if float64(m)*float64(m)*float64(m) > mostWritten {
		return 0, fmt.Errorf("written out, %d words are compared by a matrix of %d×%d, which is too large; take at most 645", m, m*m, m)
	}
	w, half := matrix.NewDense(d, m), make([]float32, m)
	for j := range m {
		for c, v := range f.centres.Row(j) {
			w.Row(c)[j] = v
		}
		half[j] = float32(-f.half[j])
	}
	s := p.step(Step{Op: OpShift, V: half}, p.product(w, x))
	own, other, sums := make([]int32, m*m), make([]int32, m*m), matrix.NewDense(m*m, m)
	for j := range m {
		for i := range m {
			own[j*m+i], other[j*m+i] = int32(j), int32(i)
			sums.Row(j*m + i)[j] = 1
		}
	}
	above := p.step(Step{Op: OpStep}, p.step(Step{Op: OpSubtract}, p.pick(own, s), p.pick(other, s)))
	// The nearest is above m-1 others and counts ½ for itself.
	return p.step(Step{Op: OpStep}, p.step(Step{Op: OpShift, V: []float32{float32(0.75 - float64(m))}}, p.product(sums, above))), nil
}
