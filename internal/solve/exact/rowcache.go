package exact

import (
	"fmt"
	"slices"

	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// rowCache keeps the most recently used rows of a Gram matrix in float32. Missing
// rows are computed together, in matrix products. It may be restricted to some
// columns, so that it holds more rows.
type rowCache struct {
	lines  *kernel.Lines
	diag   []float64
	n      int
	layout int64   // bytes that rows packed for products may take
	room   int64   // numbers that all rows may have
	cols   []int32 // the columns of rows, nil for all
	at     []int32 // for every column its position in a row, if not all are present; -1 if absent

	rows  [][]float32 // by slot
	free  [][]float32 // not in a slot
	taken int64       // numbers of rows and free
	owner []int32     // the row in a slot
	slot  []int32     // of a row, -1 if it is not here
	used  []int64     // when a slot's row was last asked for
	clock int64

	computed int  // rows, in all
	evicted  bool // a row was evicted since this was last set to false
}

// lineBatch is how many rows are computed in one product: it bounds the work memory,
// and more would not be faster.
const lineBatch = 256

// fewestLines is how many rows a cache holds at least: those of a whole working set, so
// that working sets never depend on the memory.
const fewestLines = largestSet

// newRowCache makes room for as many rows as fit beside everything else that
// training takes ([SVMMemory]). Half of that may be used to pack the rows for products.
func newRowCache(k kernel.Kernel, x matrix.Rows, memory int64) (*rowCache, error) {
	n := x.Len()
	least, _ := SVMMemory(n, x.Dim(), x.CSR != nil)
	if memory < least {
		take, left := units.BytesApart(least, memory)
		return nil, fmt.Errorf("exact: support vector machines on %d rows of %d dimensions take %s at least, of %s that are allowed or left; "+
			"allow more, or use fewer rows, a feature map with a linear learner, or the learner falkon", n, x.Dim(), take, left)
	}
	left := memory - least
	lines, err := kernel.NewLines(k, x, left/2)
	if err != nil {
		return nil, err
	}
	c := &rowCache{lines: lines, diag: k.Diagonal(x), n: n, layout: lines.Bytes()}
	c.room = int64(min(n, fewestLines))*int64(n) + (left-lines.Bytes())/4
	c.forget()
	return c, nil
}

// forget drops all rows.
func (c *rowCache) forget() {
	c.rows, c.free, c.owner, c.used, c.taken = nil, nil, nil, nil, 0
	c.slot = make([]int32, c.n)
	for i := range c.slot {
		c.slot[i] = -1
	}
}

// width is how many numbers a row has.
func (c *rowCache) width() int {
	if c.cols != nil {
		return len(c.cols)
	}
	return c.n
}

// place is where in a row column j is.
func (c *rowCache) place(j int32) int32 {
	if c.at != nil {
		return c.at[j]
	}
	return j
}

// restrict keeps only some of the columns, at most half of the current ones. The
// cached rows stay, and the freed memory makes room for others.
func (c *rowCache) restrict(cols []int32) {
	at := make([]int32, c.n)
	for j := range at {
		at[j] = -1
	}
	for p, j := range cols {
		at[j] = int32(p)
	}
	for s, row := range c.rows {
		for p, j := range cols {
			row[p] = row[c.place(j)] // p ≤ place(j), as both are in order
		}
		c.rows[s] = row[:len(cols):len(cols)]
		c.free = append(c.free, row[len(cols):])
	}
	c.cols, c.at = cols, at
	var parts [][]float32
	for _, f := range c.free {
		for ; len(f) >= len(cols); f = f[len(cols):] {
			parts = append(parts, f[:len(cols):len(cols)])
		}
	}
	c.free = parts
	c.lines = c.lines.Columns(cols, c.layout)
}

// widen brings back all columns; rows are to be computed again.
func (c *rowCache) widen() {
	c.forget()
	c.cols, c.at = nil, nil
	c.lines = c.lines.Columns(nil, c.layout)
}

// slotFor takes an unused slot; it returns -1 if there is none.
func (c *rowCache) slotFor() int32 {
	var row []float32
	switch {
	case len(c.free) > 0:
		row, c.free = c.free[len(c.free)-1], c.free[:len(c.free)-1]
	case c.taken+int64(c.width()) <= c.room:
		row = make([]float32, c.width())
		c.taken += int64(c.width())
	default:
		return -1
	}
	c.rows, c.owner, c.used = append(c.rows, row), append(c.owner, -1), append(c.used, 0)
	return int32(len(c.rows) - 1)
}

// get returns the rows of the Gram matrix that rows lists, no more than the cache holds and none
// twice. They are valid until the next call.
func (c *rowCache) get(rows []int32, dst [][]float32) [][]float32 {
	c.clock++
	var missing []int32
	for _, i := range rows {
		if s := c.slot[i]; s >= 0 {
			c.used[s] = c.clock
		} else {
			missing = append(missing, i)
		}
	}
	c.fill(missing)
	dst = dst[:0]
	for _, i := range rows {
		dst = append(dst, c.rows[c.slot[i]])
	}
	return dst
}

// fill computes rows into new slots, or into the least recently used ones.
func (c *rowCache) fill(missing []int32) {
	var old []int32 // slots, the last to be taken first
	for lo := 0; lo < len(missing); lo += lineBatch {
		part := missing[lo:min(lo+lineBatch, len(missing))]
		var dst [][]float32
		for _, i := range part {
			s := c.slotFor()
			if s < 0 {
				if old == nil {
					old = c.oldest()
				}
				s, old = old[len(old)-1], old[:len(old)-1]
				c.slot[c.owner[s]] = -1
				c.evicted = true
			}
			c.owner[s], c.slot[i], c.used[s] = i, s, c.clock
			dst = append(dst, c.rows[s])
		}
		c.lines.Compute(part, dst)
		c.computed += len(part)
	}
}

// oldest lists the slots of rows that are not requested now, the least recently used last.
func (c *rowCache) oldest() []int32 {
	var old []int32
	for s := range c.rows {
		if c.used[s] < c.clock {
			old = append(old, int32(s))
		}
	}
	slices.SortFunc(old, func(a, b int32) int {
		if c.used[a] != c.used[b] {
			return int(c.used[b] - c.used[a])
		}
		return int(b - a)
	})
	return old
}

// addLines adds Σ_k coef_k·line_k to f.
func addLines(f []float64, coef []float64, lines [][]float32) {
	const chunk = 2048 // f stays in the first cache
	vec.Parallel(len(f), chunk, func(lo, hi int) {
		for ; lo < hi; lo += chunk {
			end := min(lo+chunk, hi)
			for k, a := range coef {
				vec.AxpyWide(a, lines[k][lo:end], f[lo:end])
			}
		}
	})
}
