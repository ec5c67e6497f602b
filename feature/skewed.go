package feature

import (
	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Skewed is random Fourier features of the skewed kernels (Li, Ionescu and Sminchisescu,
// "Random Fourier approximations for skewed multiplicative histogram kernels", 2010). With
// u_j = log(x_j + c) these are functions of the differences of u alone, products of
//
//	skewed-chi2          sech(Δ/2), the mean of cos ωΔ for ω with density sech(πω)
//	skewed-intersection  e^(-|Δ|/2), the same for Cauchy's law of scale ½
//
// over the dimensions, so that waves of u (see [RFF]) are unbiased for them. We take
// u_j = log(x_j + c) - log c, for which differences are the same: a 0 stays 0.
// Form and variance are those of rff.
//
// It costs as much as rff: O(dD) operations per row, O(nnz·D) for a sparse one, and 2dD or 4dD bytes.
const Skewed = "skewed"

func newSkewed(cfg Config, dim int) (Map, error) {
	m, err := newRFF(cfg, dim)
	if err != nil {
		return nil, err
	}
	s := &skewed{fourier: m.(*fourier), c: cfg.Kernel.Coef0}
	reference := []float64{s.c}
	vec.Log64(reference, reference)
	s.logC = reference[0]
	return s, nil
}

// skewed costs as much as rff, plus 8 bytes per goroutine for each number of skewedRows rows.
type skewed struct {
	*fourier
	c, logC float64
	free    freelist.List[skewedWork]
}

// skewedRows is how many rows are mapped at a time.
const skewedRows = 256

// skewedWork is work memory: the logarithms of rows.
type skewedWork struct {
	strip [stripLen]float64
	dense matrix.Dense
	csr   matrix.CSR
	view  matrix.Dense
}

// Transform takes logarithms and then waves.
func (m *skewed) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := m.Dims()
	check(in, out, dst, x)
	w := m.free.Get()
	defer m.free.Put(w)
	for i := 0; i < x.Len(); i += skewedRows {
		j := min(i+skewedRows, x.Len())
		w.view = matrix.Dense{Rows: j - i, Cols: out, Stride: dst.Stride, Data: dst.Data[i*dst.Stride:]}
		var logs matrix.Rows
		if x.CSR != nil {
			from, to := x.CSR.Ptr[i], x.CSR.Ptr[j]
			w.csr = matrix.CSR{Rows: j - i, Cols: in, Ptr: w.csr.Ptr[:0], Idx: x.CSR.Idx[from:to], Val: w.csr.Val}
			for _, p := range x.CSR.Ptr[i : j+1] {
				w.csr.Ptr = append(w.csr.Ptr, p-from)
			}
			w.csr.Val = append(w.csr.Val[:0], x.CSR.Val[from:to]...)
			m.logarithms(w, w.csr.Val)
			logs.CSR = &w.csr
		} else {
			w.dense.Reshape(j-i, in)
			for r := i; r < j; r++ {
				copy(w.dense.Row(r-i), x.Dense.Row(r))
			}
			m.logarithms(w, w.dense.Data)
			logs.Dense = &w.dense
		}
		m.fourier.Transform(&w.view, logs)
	}
	w.view, w.csr.Idx = matrix.Dense{}, nil
}

// logarithms replaces x by log(x+c) - log c.
func (m *skewed) logarithms(w *skewedWork, x []float32) {
	for len(x) > 0 {
		n := min(len(x), stripLen)
		strip := w.strip[:n]
		for e, v := range x[:n] {
			strip[e] = float64(v) + m.c
		}
		vec.Log64(strip, strip)
		for e, v := range strip {
			x[e] = float32(v - m.logC)
		}
		x = x[n:]
	}
}
