package learn

import (
	"context"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// step solves for Newton's step at the gradient.
func (p *proximalPoint) step(ctx context.Context) error {
	if len(p.free) <= p.f.d {
		return p.stepByRows(ctx)
	}
	return p.stepByColumns(ctx)
}

// stepByColumns solves (hI + Z_JᵀhS⁻¹Z_J)·step = -h·gradient, Z_J with a column of ones for b, whose
// own h is 0.
func (p *proximalPoint) stepByColumns(ctx context.Context) error {
	d, c := p.f.d, p.columns
	a, block := p.cleared(c), p.block[:0]
	flush := func() {
		vec.SyrkAdd(c, len(block)/c, block, c, a, c)
		block = block[:0]
	}
	err := p.eachFree(ctx, func(i int, rows matrix.Rows, r int) {
		at := len(block)
		block = block[:at+c]
		row := block[at:]
		widen(row[:d], rows, r)
		if c > d {
			row[d] = 1
		}
		if p.box.squared {
			scale := math.Sqrt(p.h / p.diagonal(i))
			for j := range row {
				row[j] *= scale
			}
		}
		if len(block) == panel*c {
			flush()
		}
	})
	if err != nil {
		return err
	}
	if len(block) > 0 {
		flush()
	}
	right := make([]float64, c)
	for j := range d {
		a[j*c+j] += p.h
		right[j] = -p.h * p.g[j]
	}
	if c > d {
		right[d] = -p.h * p.gb
	}
	if !vec.CholeskySolve(ctx, c, a, c, 1, right, 1) {
		p.descend()
		return ctx.Err()
	}
	copy(p.dw, right)
	p.db = 0
	if c > d {
		p.db = right[d]
	}
	return nil
}

// stepByRows solves the same system by way of one with as many rows as J has: with G = Z_J,
//
//	dw = -g - Gᵀy,   (S + GGᵀ)y = db·1 - Gg,   1ᵀy = -g_b.
func (p *proximalPoint) stepByRows(ctx context.Context) error {
	m, d := len(p.free), p.f.d
	rows := &p.rows
	rows.Reshape(m, d)
	at := 0
	err := p.eachFree(ctx, func(_ int, from matrix.Rows, r int) {
		row := rows.Row(at)
		if from.Dense != nil {
			copy(row, from.Dense.Row(r))
		} else {
			clear(row)
			idx, val := from.CSR.Row(r)
			for e, j := range idx {
				row[j] = val[e]
			}
		}
		at++
	})
	if err != nil {
		return err
	}
	all := matrix.Rows{Dense: rows}
	a, block := p.cleared(m), p.block
	for j0 := 0; j0 < d && ctx.Err() == nil; j0 += panel {
		width := min(panel, d-j0)
		vec.Parallel(m, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				for j, v := range rows.Row(i)[j0 : j0+width] {
					block[j*m+i] = float64(v)
				}
			}
		})
		vec.SyrkAdd(m, width, block, m, a, m)
	}
	right := make([]float64, 2*m) // of -Gg, of 1
	for i, row := range p.free {
		a[i*m+i] += p.diagonal(int(row))
		right[2*i], right[2*i+1] = -dotRowWide(all, i, p.g), 1
	}
	if m > 0 && !vec.CholeskySolve(ctx, m, a, m, 2, right, 2) {
		p.descend()
		return ctx.Err()
	}
	p.db = 0
	if p.columns > d {
		sum, ones := p.gb, 0.0
		for i := range m {
			sum += right[2*i]
			ones += right[2*i+1]
		}
		p.db = -sum / ones
		if m == 0 {
			p.db = -p.h * p.gb // F is linear in b: a step as if one row moved
		}
	}
	for j, g := range p.g {
		p.dw[j] = -g
	}
	addRows(all, p.dw, func(i int) float64 { return -(right[2*i] + float64(p.db*right[2*i+1])) })
	return nil
}

// cleared is the system of m rows and columns, with zeros in its upper triangle.
func (p *proximalPoint) cleared(m int) []float64 {
	a := p.system[:m*m]
	for i := range m {
		clear(a[i*m+i : (i+1)*m])
	}
	return a
}

// diagonal is h + λᵢ.
func (p *proximalPoint) diagonal(i int) float64 {
	_, lambda, _, _ := p.box.coordinate(i, p.o.t)
	return p.h + lambda
}

// descend is the step where rounding leaves no factor of the system: against the gradient.
func (p *proximalPoint) descend() {
	for j, g := range p.g {
		p.dw[j] = -g
	}
	p.db = -p.h * p.gb
}

// eachFree visits the rows of J in their order, each with where it stands.
func (p *proximalPoint) eachFree(ctx context.Context, visit func(i int, rows matrix.Rows, r int)) error {
	at := 0
	return eachBlock(p.f.z, func(first int, rows matrix.Rows) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for ; at < len(p.free) && int(p.free[at]) < first+rows.Len(); at++ {
			i := int(p.free[at])
			visit(i, rows, i-first)
		}
		return nil
	})
}

// addRows adds each row times its factor to w.
func addRows(rows matrix.Rows, w []float64, factor func(r int) float64) {
	if rows.Dense == nil {
		for r := range rows.Len() {
			if f := factor(r); f != 0 {
				addRow(f, rows, r, w)
			}
		}
		return
	}
	vec.Parallel(len(w), panel, func(lo, hi int) {
		for r := range rows.Len() {
			if f := factor(r); f != 0 {
				vec.AxpyWide(f, rows.Dense.Row(r)[lo:hi], w[lo:hi])
			}
		}
	})
}

// dotRowWide is w·z for row r in float64.
func dotRowWide(z matrix.Rows, r int, w []float64) float64 {
	sum := 0.0
	if z.Dense == nil {
		idx, val := z.CSR.Row(r)
		for e, j := range idx {
			sum += float64(float64(val[e]) * w[j])
		}
		return sum
	}
	row := z.Dense.Row(r)
	w = w[:len(row)]
	var s [4]float64
	j := 0
	for ; j+4 <= len(row); j += 4 {
		s[0] += float64(float64(row[j]) * w[j])
		s[1] += float64(float64(row[j+1]) * w[j+1])
		s[2] += float64(float64(row[j+2]) * w[j+2])
		s[3] += float64(float64(row[j+3]) * w[j+3])
	}
	for ; j < len(row); j++ {
		sum += float64(float64(row[j]) * w[j])
	}
	return sum + (s[0] + s[1]) + (s[2] + s[3])
}

// widen writes row r in float64.
func widen(to []float64, z matrix.Rows, r int) {
	if z.Dense != nil {
		for j, v := range z.Dense.Row(r) {
			to[j] = float64(v)
		}
		return
	}
	clear(to)
	idx, val := z.CSR.Row(r)
	for e, j := range idx {
		to[j] = float64(val[e])
	}
}
