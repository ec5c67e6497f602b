package learn

import (
	"context"
	"math"

	"mercer/internal/engine/vec"
)

// columns are features by columns, for solvers that iterate over them: D×n for dense features,
// and for sparse ones the values of each column and their rows. They are followed by a column of ones.
type columns struct {
	rows, count int
	dense       []float32 // D×n
	ptr         []int     // D+1
	idx         []int32
	val         []float32
}

// newColumns copies features. Dense ones take 4·n·D bytes, sparse ones 8 for each value; these
// are read twice. The error names a number that is not finite.
func newColumns(ctx context.Context, z Features) (*columns, error) {
	n, d := z.Len(), z.Dim()
	c := &columns{rows: n, count: d}
	if n > math.MaxInt32 {
		panic("learn: more than 2³¹ rows by columns")
	}
	// Sparse values are counted first, then put into their places.
	var next []int
	for fill := range 2 {
		for lo := 0; lo < n; lo += BlockRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			hi := min(lo+BlockRows, n)
			rows, err := z.Block(lo, hi)
			if err != nil {
				return nil, err
			}
			if rows.CSR == nil {
				if c.dense == nil {
					c.dense = make([]float32, n*d)
				}
				x := rows.Dense
				vec.Parallel(d, 64, func(from, to int) {
					for i := range x.Rows {
						for j, v := range x.Row(i)[from:to] {
							c.dense[(from+j)*n+lo+i] = v
						}
					}
				})
				continue
			}
			if c.ptr == nil {
				c.ptr = make([]int, d+1)
			}
			for i := range rows.CSR.Rows {
				idx, val := rows.CSR.Row(i)
				for e, j := range idx {
					if fill == 0 {
						c.ptr[j+1]++
						continue
					}
					c.idx[next[j]], c.val[next[j]] = int32(lo+i), val[e]
					next[j]++
				}
			}
		}
		if c.ptr == nil {
			break
		}
		if fill == 0 {
			for j := range d {
				c.ptr[j+1] += c.ptr[j]
			}
			c.idx, c.val = make([]int32, c.ptr[d]), make([]float32, c.ptr[d])
			next = append(next, c.ptr...)
		}
	}
	for _, part := range [][]float32{c.dense, c.val} {
		for _, v := range part {
			if v-v != 0 {
				return nil, notFinite(z)
			}
		}
	}
	return c, nil
}

// column gives the values of column j < D and, for sparse features, their rows.
func (c *columns) column(j int) (idx []int32, val []float32) {
	if c.ptr == nil {
		return nil, c.dense[j*c.rows : (j+1)*c.rows]
	}
	a, b := c.ptr[j], c.ptr[j+1]
	return c.idx[a:b], c.val[a:b]
}

// dot is the product of column j with x.
func (c *columns) dot(j int, x []float32) float64 {
	if j == c.count {
		sum := 0.0
		for _, v := range x {
			sum += float64(v)
		}
		return sum
	}
	idx, val := c.column(j)
	if c.ptr == nil {
		return vec.DotWide(val, x)
	}
	return vec.SparseDot32(idx, val, x)
}

// squares is Σ h·z² over column j. If the columns are dense, work has as many numbers as
// there are rows.
func (c *columns) squares(j int, h, work []float32) float64 {
	sum := 0.0
	if j == c.count {
		for _, v := range h {
			sum += float64(v)
		}
		return sum
	}
	idx, val := c.column(j)
	if c.ptr == nil {
		clear(work)
		vec.Recur32(work, 1, val, h, 0, work)
		return vec.DotWide(work, val)
	}
	for e, i := range idx {
		z := float64(val[e])
		sum += float64(h[i]) * z * z
	}
	return sum
}

// axpy adds a·(column j) to y.
func (c *columns) axpy(a float64, j int, y []float64) {
	if j == c.count {
		for i := range y {
			y[i] += a
		}
		return
	}
	idx, val := c.column(j)
	if c.ptr == nil {
		vec.AxpyWide(a, val, y)
		return
	}
	for e, i := range idx {
		y[i] += float64(a * float64(val[e]))
	}
}

// axpyScaled adds a·h∘(column j) to y.
func (c *columns) axpyScaled(a float32, j int, h, y []float32) {
	if j == c.count {
		vec.Axpy32(a, h, y)
		return
	}
	idx, val := c.column(j)
	if c.ptr == nil {
		vec.Recur32(y, a, val, h, 1, y)
		return
	}
	for e, i := range idx {
		y[i] += float32(float32(a*val[e]) * h[i])
	}
}
