package learn

import (
	"math"

	"mercer/internal/engine/vec"
)

// descentScore is w·z + b of output t, w = s·v.
func (f *OnlineFit) descentScore(t int, idx []int32, val []float32) float64 {
	x, v := f.Factors[OnlineFactors*t:], f.First32[t*f.d:(t+1)*f.d]
	dot := 0.0
	if idx != nil {
		dot = vec.SparseDot32(idx, val, v)
	} else {
		dot = vec.DotWide(val, v)
	}
	return float64(x[0]*dot) + x[3]
}

// descentStep makes w ← shrink·w - step·z and w̄ ← (1-μ)·w̄ + μ·w. In factors, with
// v' = v - (step/s')·z and w̄ = τu + σv:
//
//	s' = shrink·s,   τ' = (1-μ)τ,   σ' = (1-μ)σ + μs',   u' = u + (σ/τ)·(step/s')·z,
//
// since (1-μ)σv = (1-μ)σv' + (1-μ)σ·(step/s')·z. For μ = 1, w̄ is w: τ' = 1, u' = 0, σ' = s'.
func (f *OnlineFit) descentStep(t int, idx []int32, val []float32, shrink, step, mu float64) {
	x := f.Factors[OnlineFactors*t : OnlineFactors*(t+1)]
	v, u := f.First32[t*f.d:(t+1)*f.d], f.Second[t*f.d:(t+1)*f.d]
	x[0] *= shrink
	if step != 0 {
		delta := step / x[0]
		if mu < 1 {
			gain := x[2] / x[1] * delta
			if idx == nil {
				vec.AxpyWide(gain, val, u)
			} else {
				for e, j := range idx {
					u[j] += float64(gain * float64(val[e]))
				}
			}
		}
		if idx == nil {
			vec.Axpy32(float32(-delta), val, v)
		} else {
			vec.SparseAxpy32(float32(-delta), idx, val, v)
		}
		x[3] -= step
	}
	if mu < 1 {
		x[1] *= 1 - mu
		x[2] = float64((1-mu)*x[2]) + float64(mu*x[0])
	} else {
		x[1], x[2] = 1, x[0]
	}
	x[4] = float64((1-mu)*x[4]) + float64(mu*x[3])
	// Factors far from 1 would take v and u out of range.
	if x[0] < smallFactor {
		for j := range v {
			v[j] = float32(float64(v[j]) * x[0])
		}
		x[2] /= x[0]
		x[0] = 1
	}
	if x[1] < smallFactor {
		for j := range u {
			u[j] *= x[1]
		}
		x[1] = 1
	}
}

// smallFactor is the value below which a factor is multiplied into its vector.
const smallFactor = 1e-6

// leader is the weight of a coordinate of adagrad.
func leader(a, h, rate, decay float64) float64 {
	if h == 0 {
		return 0 // no gradient yet
	}
	return -a / (h/rate + decay)
}

// leaderScore is w·z + b of output t, and writes the weights of the row's values into w; the
// intercept is not regularised.
func (f *OnlineFit) leaderScore(t int, idx []int32, val []float32, decay float64, w []float64) float64 {
	x := f.Factors[OnlineFactors*t:]
	a, h := f.First[t*f.d:(t+1)*f.d], f.Second[t*f.d:(t+1)*f.d]
	score := leader(x[0], x[1], f.cfg.Rate, 0)
	inverse := 1 / f.cfg.Rate
	w = w[:len(val)]
	for e, v := range val {
		j := e
		if idx != nil {
			j = int(idx[e])
		}
		w[e] = 0
		if h[j] != 0 {
			w[e] = -a[j] / (float64(h[j]*inverse) + decay)
			score += float64(w[e] * float64(v))
		}
	}
	return score
}

// leaderStep takes the gradient slope·z at the weights w.
func (f *OnlineFit) leaderStep(t int, idx []int32, val []float32, slope float64, w []float64) {
	x := f.Factors[OnlineFactors*t:]
	a, h := f.First[t*f.d:(t+1)*f.d], f.Second[t*f.d:(t+1)*f.d]
	inverse := 1 / f.cfg.Rate
	b, before := leader(x[0], x[1], f.cfg.Rate, 0), x[1]
	x[1] = math.Sqrt(float64(before*before) + float64(slope*slope))
	x[0] += slope - float64(b*((x[1]-before)*inverse))
	w = w[:len(val)]
	for e, v := range val {
		if v == 0 {
			continue
		}
		j := e
		if idx != nil {
			j = int(idx[e])
		}
		g, before := slope*float64(v), h[j]
		next := math.Sqrt(float64(before*before) + float64(g*g))
		h[j] = next
		a[j] += g - float64(w[e]*((next-before)*inverse))
	}
}
