package cluster

import (
	"context"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Stream are centres that rows move batch by batch (Sculley 2010): after a batch each is the mean of all rows that it was nearest
// to when they came, those that it began with included.
type Stream struct {
	Centres *matrix.Dense
	mass    []float64
}

// NewStream goes on from clusters of some rows. weights are those of these rows, nil meaning 1.
func NewStream(from *Result, weights []float64) *Stream {
	s := &Stream{Centres: from.Centres, mass: make([]float64, from.Centres.Rows)}
	for i, t := range from.Nearest {
		if weights == nil {
			s.mass[t]++
		} else {
			s.mass[t] += weights[i]
		}
	}
	return s
}

// Add moves the centres by a batch, which it takes over and changes.
func (s *Stream) Add(ctx context.Context, x *matrix.Dense, weights []float64) {
	c := New(x, weights)
	k, d := s.Centres.Rows, s.Centres.Cols
	moved := matrix.NewDense(k, d)
	for t := range k {
		for j, v := range s.Centres.Row(t) {
			moved.Row(t)[j] = float32(float64(v) - c.mean[j])
		}
	}
	c.assign(ctx, moved)
	sum, mass := make([]float64, k*d), make([]float64, k)
	for i, t := range c.nearest {
		mass[t] += c.weight(i)
		vec.AxpyWide(c.weight(i), c.x.Row(i), sum[t*d:(t+1)*d])
	}
	for t, m := range mass {
		if m == 0 {
			continue
		}
		s.mass[t] += m
		for j := range d {
			at := float64(s.Centres.Row(t)[j])
			s.Centres.Row(t)[j] = float32(at + (sum[t*d+j]+m*(c.mean[j]-at))/s.mass[t])
		}
	}
}
