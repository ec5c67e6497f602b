package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/matrix"
)

// The features of ExplicitPoly are all monomials of degree p of x̃ = [√γ·x, √c], each once:
//
//	√(p!/(k_1!⋯k_w!))·Π x̃_i^k_i,  k_1 + … + k_w = p,
//
// which are [x̃_i², √2·x̃_i·x̃_j] for p = 2. So z(x)·z(y) = (γ x·y + c)^p, up to rounding.
// With w coordinates of x̃ there are D = (w+p-1)!/(p!(w-1)!) of them: the map decides on D.
// They are ordered by their smallest coordinate, then by the second, and so on.
//
// A row takes O(D) operations; a sparse one as many as it has nonzero features, about
// nnz^p/p!, after D are cleared. The map holds 8pw bytes. Use it as a reference, and
// instead of any sketch that would need as many features.
const ExplicitPoly = "explicit-poly"

// explicit is the map [ExplicitPoly].
type explicit struct {
	dim, width int
	degree     int
	count      [][]int // count[m][w]: the monomials of degree m of w coordinates
	top        float64 // √(p!·γ^p)
	constant   float64 // √(c/γ)
	work       freelist.Slices[coordinate]
}

// coordinate is an element of x̃/√γ that is not 0.
type coordinate struct {
	i int
	v float64
}

// mostMonomials is D of rows of 64 MB.
const mostMonomials = 1 << 24

func newExplicit(cfg Config, dim int) (*explicit, error) {
	k := cfg.Kernel
	p := k.Degree
	e := &explicit{dim: dim, width: dim, degree: p, constant: math.Sqrt(k.Coef0 / k.Gamma)}
	if k.Coef0 > 0 {
		e.width++
	}
	size := 1.0
	e.top = 1
	for i := 1; i <= p && size <= math.MaxInt64; i++ {
		size *= float64(e.width+i-1) / float64(i)
		e.top *= math.Sqrt(float64(i) * k.Gamma)
	}
	if size > mostMonomials {
		return nil, fmt.Errorf("feature: explicit-poly: %d dimensions have %.4g monomials of degree %d, %.3g bytes "+
			"for 1000 rows; it takes %d monomials at most, and tensorsketch any number",
			dim, size, p, 4000*size, mostMonomials)
	}
	if !(e.top > 0 && e.top <= math.MaxFloat32 && e.constant <= math.MaxFloat32) {
		return nil, fmt.Errorf("feature: explicit-poly: gamma = %g and coef0 = %g make monomials that are no float32; "+
			"scale the data", k.Gamma, k.Coef0)
	}
	for m := range p + 1 {
		row := make([]int, e.width+1)
		for w := range row {
			switch {
			case m == 0:
				row[w] = 1
			case w > 0:
				row[w] = row[w-1] + e.count[m-1][w]
			}
		}
		e.count = append(e.count, row)
	}
	if d := e.features(); cfg.Features != 0 && cfg.Features != d {
		return nil, fmt.Errorf("feature: explicit-poly has %d features here, not %d; leave features out", d, cfg.Features)
	}
	return e, nil
}

func (e *explicit) features() int { return e.count[e.degree][e.width] }

// Dims returns d and D.
func (e *explicit) Dims() (in, out int) { return e.dim, e.features() }

// Bytes counts the table of numbers of monomials.
func (e *explicit) Bytes() int64 { return 8 * int64(e.degree+1) * int64(e.width+1) }

// Transform multiplies out each row.
func (e *explicit) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(e.dim, e.features(), dst, x)
	eachRow(e, dst, x)
}

func (e *explicit) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	work := e.work.Get(e.width)
	for i := lo; i < hi; i++ {
		row := work[:0]
		if x.CSR != nil {
			idx, val := x.CSR.Row(i)
			for t, j := range idx {
				if val[t] != 0 {
					row = append(row, coordinate{int(j), float64(val[t])})
				}
			}
		} else {
			for j, v := range x.Dense.Row(i) {
				if v != 0 {
					row = append(row, coordinate{j, float64(v)})
				}
			}
		}
		if e.constant != 0 {
			row = append(row, coordinate{e.dim, e.constant})
		}
		z := dst.Row(i)
		clear(z)
		e.expand(z, row, e.degree, 0, 0, e.top)
	}
	e.work.Put(work)
}

// expand writes v times the monomials of degree m of the coordinates from first on to z. v already
// contains the power run of the first.
func (e *explicit) expand(z []float32, row []coordinate, m, first, run int, v float64) {
	for t, c := range row {
		u, power := v*c.v, 1
		if c.i == first {
			power = run + 1
			u /= math.Sqrt(float64(power))
		}
		if m == 1 {
			z[c.i-first] = float32(u)
			continue
		}
		at := e.count[m][e.width-first] - e.count[m][e.width-c.i]
		e.expand(z[at:], row[t:], m-1, c.i, power, u)
	}
}
