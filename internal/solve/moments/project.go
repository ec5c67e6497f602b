package moments

import (
	"fmt"

	"gonum.org/v1/gonum/blas"

	"mercer/internal/engine/vec"
)

// Project returns the statistics of the same rows in k other features, u·(z - origin) for the
// rows of u, k×D: H becomes uHuᵀ, V becomes uV and z̄ becomes u(z̄ - origin), without reading
// the rows again. That takes D²k multiply-adds and memory for D·k numbers.
func (s *Stats) Project(k int, u, origin []float64) *Stats {
	if len(u) != k*s.d || len(origin) != s.d {
		panic(fmt.Sprintf("moments: Project of %d features to %d by %d numbers, around %d", s.d, k, len(u), len(origin)))
	}
	m := s.Moments()
	p := New(k, s.k)
	p.rough = s.rough || s.d >= narrowFrom
	p.rows, p.weight, p.used, p.labelled = s.rows, s.weight, s.used, s.labelled
	if s.shiftZ == nil {
		return p
	}
	uh := make([]float64, k*s.d)
	vec.BLAS64{}.Dsymm(blas.Right, blas.Upper, k, s.d, 1, m.H, s.d, u, s.d, 0, uh, s.d)
	vec.GemmNT(k, k, s.d, uh, s.d, u, s.d, p.h, k)
	p.shiftZ, p.centred = make([]float64, k), s.centred
	if s.sumL != nil {
		p.sumL = make([]float64, k)
	}
	for c := range k {
		row := u[c*s.d : (c+1)*s.d]
		for i, v := range row {
			p.shiftZ[c] += float64(v * (m.MeanZ[i] - origin[i]))
			vec.Axpy64(v, m.V[i*s.k:(i+1)*s.k], p.v[c*s.k:(c+1)*s.k])
			if s.sumL != nil {
				p.sumL[c] += float64(v * s.sumL[i])
			}
		}
	}
	if s.shiftY != nil {
		p.shiftY = append([]float64(nil), s.shiftY...)
	}
	copy(p.yy, m.YY)
	return p
}

// Scale multiplies the features by numbers, as if the rows had had these features.
func (s *Stats) Scale(by []float64) {
	if len(by) != s.d {
		panic(fmt.Sprintf("moments: Scale of %d features by %d numbers", s.d, len(by)))
	}
	s.Moments()
	for i, a := range by {
		for j := i; j < s.d; j++ {
			s.h[i*s.d+j] *= a * by[j]
		}
		for t := range s.k {
			s.v[i*s.k+t] *= a
		}
		if s.shiftZ != nil {
			s.shiftZ[i] *= a
		}
		if s.sumL != nil {
			s.sumL[i] *= a
		}
	}
}
