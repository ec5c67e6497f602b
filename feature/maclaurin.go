package feature

import (
	"fmt"
	"math"
	"sort"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Maclaurin approximates a kernel f(t), f(t) = Σ a_n tⁿ with a_n ≥ 0, t = γ x·y, by features
//
//	z(x) = √(a_N/(P(N)·D))·Π_{k≤N} √γ·w_k·x,
//
// with N random, P(N=n) ∝ 2⁻ⁿ where a_n > 0, and signs w_k (Kar and Karnick, "Random feature
// maps for dot product kernels", 2012). With option complex the signs are 1, i, -1, -i, and
// the D/2 complex features become [Re, Im] (Wacker, Kanagawa and Filippone, "Improved random
// features for dot product kernels", 2022).
//
// The poly kernel is the monomial t^p of rows x̃ = [√γ·x, √c], so that all features have N =
// p. Option series, given the coefficients of the powers of t in (t + c)^p, uses these instead:
// better for short rows, with γ‖x‖² well below c, since a constant has no variance, and
// much worse for long ones. The exp kernel has a_n = 1/n!, n ≤ 50.
//
// z(x)·z(y) is unbiased. With a, b, c as for [TensorSketch] the variance for a monomial is
//
//	(1/D)·[(a+b+c)^p - a^p],  complex: (1/D)·[(a+b)^p + (a+c)^p - 2a^p].
//
// The first grows like 3^p, the second like 2^p. The second is smaller whenever c > 0 and p ≥ 2,
// as between rows without negative elements, or near each other.
//
// If N is random, the D numbers N are drawn one from each of D equally likely parts of their
// distribution, instead of all from the whole: this is also unbiased, with less variance. Let
// p_n be the probability of n in part j; then the variance is
//
//	(1/D²)·Σ_j [Σ_n p_n·u_n - (Σ_n p_n·a_n tⁿ/P(n))²],  u_n = a_n²/P(n)²·(a+b+c)ⁿ,
//
// and with option complex D is D/2, and (a+b+c)ⁿ is ½[(a+b)ⁿ + (a+c)ⁿ]. Features of a large N are
// rare and large: for the exp kernel |t| should be no more than a few.
//
// A row takes O(d·ΣN) operations, a sparse one O(nnz·ΣN), and the map 4d·ΣN bytes, where
// ΣN = pD for a monomial and about D for exp, plus a few MB of work memory. Use it for
// kernels that are not polynomials, and for few dimensions.
const Maclaurin = "maclaurin"

// maclaurin is the map [Maclaurin].
type maclaurin struct {
	dim, features int
	m             int                  // features, real or complex
	parts         int                  // 2 if complex: a real and an imaginary one
	wide          []int                // of each factor k, how many features have N > k: the first ones
	w             *vec.Packed[float32] // d×ΣN: one factor beside the other, real parts first
	shift         []float32            // the contribution of x̃'s last coordinate to each projection, or nil
	first         float32              // the feature of N = 0
	height        int                  // rows of a block
	work          freelist.Slices[float32]
}

// term is a_n.
type term struct {
	n int
	a float64
}

// mostTerms bounds the distance of the other n from the first: P halves from n to n+1.
const mostTerms = 50

// terms lists the a_n > 0.
func terms(cfg Config) ([]term, error) {
	k := cfg.Kernel
	var list []term
	switch {
	case cfg.Series != nil:
		for n, a := range cfg.Series {
			if !(a >= 0 && a <= math.MaxFloat64) {
				return nil, fmt.Errorf("feature: maclaurin: series has %g at power %d; coefficients must be 0 or more", a, n)
			}
			if a > 0 {
				list = append(list, term{n, a})
			}
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("feature: maclaurin: series has no coefficient above 0")
		}
		if last := list[len(list)-1].n; last-list[0].n > mostTerms {
			return nil, fmt.Errorf("feature: maclaurin: series goes up to power %d; it may go to %d, %d above its first",
				last, list[0].n+mostTerms, mostTerms)
		}
	default:
		series, _ := k.Series(mostTerms)
		for _, p := range series.Powers {
			list = append(list, term{p.N, p.A})
		}
	}
	return list, nil
}

// powerLaw returns P(n) of each term.
func powerLaw(list []term) []float64 {
	p := make([]float64, len(list))
	sum := 0.0
	for i, t := range list {
		p[i] = math.Ldexp(1, list[0].n-t.n)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func newMaclaurin(cfg Config, dim int) (*maclaurin, error) {
	list, err := terms(cfg)
	if err != nil {
		return nil, err
	}
	m, err := halves(cfg)
	if err != nil {
		return nil, err
	}
	scale, constant := math.Sqrt(cfg.Kernel.Gamma), 0.0
	if series, _ := cfg.Kernel.Series(0); cfg.Series == nil {
		constant = math.Sqrt(series.Constant)
	}
	if err := inRange(cfg, float32(scale), float32(constant)); err != nil {
		return nil, err
	}
	if err := affordable(cfg, dim, 16*float64(m)); err != nil {
		return nil, err
	}

	coefficients, powers := degrees(cfg.Seed, list, m)
	z := &maclaurin{dim: dim, features: cfg.Features, m: m, parts: cfg.Features / m}
	columns := 0
	for k := range powers[0] {
		n := sort.Search(m, func(f int) bool { return powers[f] <= k })
		z.wide = append(z.wide, n)
		columns += z.parts * n
		if err := affordable(cfg, dim, 4*float64(dim+1)*float64(columns)); err != nil {
			return nil, err
		}
	}
	if list[0].n == 0 {
		z.first = float32(math.Sqrt(list[0].a / powerLaw(list)[0] / float64(m)))
	}
	for _, c := range coefficients {
		if c *= max(1, scale, constant); !(c <= math.MaxFloat32) {
			return nil, fmt.Errorf("feature: maclaurin: a coefficient of %g is no float32; scale the data", c)
		}
	}

	w := matrix.NewDense(dim, columns)
	if constant != 0 {
		z.shift = make([]float32, columns)
	}
	at := 0
	for k, n := range z.wide {
		factor := w.Columns(at, at+z.parts*n)
		var shift []float32
		if z.shift != nil {
			shift = z.shift[at : at+z.parts*n]
		}
		if k > 0 {
			coefficients = nil
		}
		z.draw(cfg.Seed, k, n, factor, shift, coefficients, scale, constant)
		at += z.parts * n
	}
	z.w = vec.Pack32(dim, columns, w.Data, w.Stride)
	const buffer = 1 << 21 // numbers
	z.height = max(8*few, buffer/max(columns, 1))
	return z, nil
}

// degrees draws N of m features, largest first, and √(a_N/(P(N)·m)).
func degrees(seed uint64, list []term, m int) (coefficients []float64, n []int) {
	p := powerLaw(list)
	below := make([]float64, len(list)) // the probability of a smaller N
	for i := range p[1:] {
		below[i+1] = below[i] + p[i]
	}
	r := random.New(seed, "feature.maclaurin.degree")
	coefficients, n = make([]float64, m), make([]int, m)
	i := len(list) - 1
	for f := range m {
		u := (float64(m-1-f) + r.Uniform()) / float64(m)
		for u < below[i] {
			i--
		}
		n[f], coefficients[f] = list[i].n, math.Sqrt(list[i].a/p[i]/float64(m))
	}
	return coefficients, n
}

// draw fills w with the factor k of n features, signs times scale, and shift, if there is one,
// with the signs of the last coordinate times constant. Coefficients, if there are any,
// multiply both.
func (z *maclaurin) draw(seed uint64, k, n int, w *matrix.Dense, shift []float32, coefficients []float64, scale, constant float64) {
	const group = 16 // columns of one cache line
	vec.Parallel(n, group, func(lo, hi int) {
		for ; lo < hi; lo += group {
			count := min(group, hi-lo)
			var streams [group]*random.Stream
			var by, last [group]float32
			for c := range count {
				coefficient := 1.0
				if coefficients != nil {
					coefficient = coefficients[lo+c]
				}
				streams[c] = random.New(seed, "feature.maclaurin", uint64(k), uint64(lo+c))
				by[c], last[c] = float32(coefficient*scale), float32(coefficient*constant)
			}
			for i := range w.Rows + 1 {
				row, factor := shift, last
				if i < w.Rows {
					row, factor = w.Row(i), by
				} else if shift == nil {
					break
				}
				for c := range count {
					re, im := sign(streams[c], z.parts == 2)
					row[lo+c] = factor[c] * re
					if z.parts == 2 {
						row[n+lo+c] = factor[c] * im
					}
				}
			}
		}
	})
}

// Dims returns d and D.
func (z *maclaurin) Dims() (in, out int) { return z.dim, z.features }

// Bytes counts the factors.
func (z *maclaurin) Bytes() int64 {
	d, columns := z.w.Dims()
	return 4 * (int64(d)*int64(columns) + int64(len(z.shift)))
}

// Transform projects some rows on all factors at a time, and multiplies.
func (z *maclaurin) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(z.dim, z.features, dst, x)
	n := x.Len()
	_, columns := z.w.Dims()
	switch {
	case n == 0:
	case n <= few:
		work := z.work.Get(few * columns)
		z.project(work, x, 0, n)
		z.multiply(dst, work, 0, n)
		z.work.Put(work)
	default:
		work := z.work.Get(min(n, z.height) * columns)
		for lo := 0; lo < n; lo += z.height {
			end := min(lo+z.height, n)
			z.project(work, x, lo, end)
			vec.Parallel(end-lo, few, func(i, j int) { z.multiply(dst, work[i*columns:], lo+i, lo+j) })
		}
		z.work.Put(work)
	}
}

// project writes the projections of rows [lo, hi) of x.
func (z *maclaurin) project(work []float32, x matrix.Rows, lo, hi int) {
	_, columns := z.w.Dims()
	if x.CSR == nil {
		z.w.Multiply(hi-lo, x.Dense.Data[lo*x.Dense.Stride:], x.Dense.Stride, work, columns, nil)
		return
	}
	z.w.MultiplySparse(x.CSR.Ptr[lo:hi+1], x.CSR.Idx, x.CSR.Val, work, columns, nil)
}

// multiply turns the projections of rows [lo, hi) into features. The conversions prevent fused
// multiply-adds on every machine.
func (z *maclaurin) multiply(dst *matrix.Dense, work []float32, lo, hi int) {
	_, columns := z.w.Dims()
	for i := lo; i < hi; i++ {
		row := dst.Row(i)
		p := work[(i-lo)*columns : (i-lo+1)*columns]
		if z.shift != nil {
			vec.Axpy32(1, z.shift, p)
		}
		some := 0 // features with a factor
		if len(z.wide) > 0 {
			some = z.wide[0]
		}
		re := row[:z.m]
		for f := some; f < z.m; f++ {
			re[f] = z.first
		}
		copy(re, p[:some])
		if z.parts == 1 {
			p = p[some:]
			for _, n := range z.wide[min(1, len(z.wide)):] {
				for f, v := range p[:n] {
					re[f] *= v
				}
				p = p[n:]
			}
			continue
		}
		im := row[z.m:]
		clear(im[some:])
		copy(im, p[some:2*some])
		p = p[2*some:]
		for _, n := range z.wide[min(1, len(z.wide)):] {
			us, vs := p[:n], p[n:2*n]
			re, im := re[:n], im[:n]
			for f, u := range us {
				v, a, b := vs[f], re[f], im[f]
				re[f], im[f] = float32(a*u)-float32(b*v), float32(a*v)+float32(b*u)
			}
			p = p[2*n:]
		}
	}
}
