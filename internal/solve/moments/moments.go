// Package moments collects in one pass over rows what a linear learner needs to know: the weighted
// first and second moments of features and targets. Ridge regression, principal components
// and everything else that follows from them does not need to read the rows again.
package moments

import (
	"fmt"

	"mercer/internal/engine/vec"
)

// Moments are the centred moments of rows, as views of the statistics they come from.
type Moments struct {
	D, K int

	Rows   int
	Weight float64 // Σw

	MeanZ []float64 // D: z̄
	H     []float64 // D×D, upper triangle: Σw(z-z̄)(z-z̄)ᵀ

	// For the rows with targets, usually all: the number of those with nonzero weight, Σw, the means of z and
	// y, and the products around them.
	Used     int
	Labelled float64
	MeanL    []float64 // D
	MeanY    []float64 // K: ȳ
	V        []float64 // D×K: Σw(z-z̄)(y-ȳ)ᵀ
	YY       []float64 // K: Σw(y-ȳ)²

	// Noise is the possible rounding error of elements of H, as a fraction of √(H_ii·H_jj).
	Noise float64
}

// Moments returns the moments of all rows so far. They share the memory of s and are valid until
// rows are added to it or it is merged into.
func (s *Stats) Moments() *Moments {
	s.center()
	m := &Moments{
		D: s.d, K: s.k, Rows: s.rows, Weight: s.weight, MeanZ: s.shiftZ, H: s.h,
		Used: s.used, Labelled: s.labelled, MeanL: s.shiftZ, MeanY: s.shiftY, V: s.v, YY: s.yy,
		Noise: 0x1p-50,
	}
	if s.d >= narrowFrom || s.rough {
		m.Noise = 4e-7
	}
	if m.MeanZ == nil {
		m.MeanZ = make([]float64, s.d)
		m.MeanL = m.MeanZ
	}
	if m.MeanY == nil {
		m.MeanY = make([]float64, s.k)
	}
	if s.sumL != nil && s.labelled > 0 {
		m.MeanL = make([]float64, s.d)
		for j, v := range s.sumL {
			m.MeanL[j] = m.MeanZ[j] + v/s.labelled
		}
	}
	return m
}

// Merge adds the rows of o, which has the same sizes and is centred but otherwise left
// unchanged, by the formulas of Chan, Golub and LeVeque (1979): centred moments add up, plus
// the outer product of the difference of the means. Except for rounding, the order and grouping
// in which statistics are merged do not matter.
func (s *Stats) Merge(o *Stats) {
	if s.d != o.d || s.k != o.k {
		panic(fmt.Sprintf("moments: Merge of %d×%d into %d×%d", o.d, o.k, s.d, s.k))
	}
	a, b := s.Moments(), o.Moments()
	if b.Rows == 0 {
		return
	}
	all, labelled := chan1979(a.Weight, b.Weight), chan1979(a.Labelled, b.Labelled)
	dz, dl, dy := difference(b.MeanZ, a.MeanZ), difference(b.MeanL, a.MeanL), difference(b.MeanY, a.MeanY)
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := s.h[i*s.d+i : (i+1)*s.d]
			vec.Axpy64(1, o.h[i*s.d+i:(i+1)*s.d], row)
			vec.Axpy64(all.product*dz[i], dz[i:], row)
			for t := range dy {
				s.v[i*s.k+t] += o.v[i*s.k+t] + float64(labelled.product*dl[i]*dy[t])
			}
		}
	})
	meanZ, meanL, meanY := make([]float64, s.d), make([]float64, s.d), make([]float64, s.k)
	for j := range dz {
		meanZ[j] = a.MeanZ[j] + float64(all.share*dz[j])
		meanL[j] = a.MeanL[j] + float64(labelled.share*dl[j])
	}
	for t := range dy {
		s.yy[t] += o.yy[t] + float64(labelled.product*dy[t]*dy[t])
		meanY[t] = a.MeanY[t] + float64(labelled.share*dy[t])
	}
	s.rows += o.rows
	s.rough = s.rough || o.rough
	s.weight += o.weight
	s.used += o.used
	s.labelled += o.labelled
	if s.sumL != nil || o.sumL != nil {
		s.sumL = make([]float64, s.d)
		for j := range s.sumL {
			s.sumL[j] = float64(s.labelled * (meanL[j] - meanZ[j]))
		}
	}
	s.shiftZ, s.centred = meanZ, true
	if s.labelled > 0 {
		s.shiftY = meanY
	}
}

// weights are the weights of two parts in the whole: the second's share, and the factor
// ab/(a+b) of the product of differences between their means.
type weights struct{ share, product float64 }

func chan1979(a, b float64) weights {
	if b == 0 {
		return weights{}
	}
	return weights{share: b / (a + b), product: a * (b / (a + b))}
}

// difference is x - y.
func difference(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = v - y[i]
	}
	return d
}
