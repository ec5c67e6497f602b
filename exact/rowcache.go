package exact

import (
	"fmt"
	"slices"

	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// rowCache keeps rows of a Gram matrix in float32, those that were asked for most lately. Rows
// that are missing are computed together, in products of matrices.
type rowCache struct {
	lines *kernel.Lines
	diag  []float64
	n     int
	most  int // rows that the memory allows

	rows  [][]float32 // by slot
	owner []int32     // the row in a slot
	slot  []int32     // of a row, -1 if it is not here
	used  []int64     // when a slot's row was last asked for
	clock int64

	computed int // rows, in all
}

// lineBatch is how many rows are computed in one product: it bounds the work memory, and with
// more the product is no faster.
const lineBatch = 256

// fewestLines is how many rows a cache holds at least: those of a whole working set, so that what
// is in a working set never depends on the memory.
const fewestLines = largestSet

// newRowCache makes room for as many rows as the memory leaves when all else that training
// takes is there ([SVMMemory]). Half of it may be taken to lay out the rows for products.
func newRowCache(k kernel.Kernel, x matrix.Rows, memory int64) (*rowCache, error) {
	n := x.Len()
	least, _ := SVMMemory(n, x.Dim())
	if memory < least {
		return nil, fmt.Errorf("exact: support vector machines on %d rows of %d dimensions take %.3g GB at least, of %.3g GB that are allowed or left; allow more, or use fewer rows, a feature map with a linear learner, or the learner falkon", n, x.Dim(), float64(least)/1e9, float64(memory)/1e9)
	}
	left := memory - least
	lines, err := kernel.NewLines(k, x, left/2)
	if err != nil {
		return nil, err
	}
	left -= lines.Bytes()
	c := &rowCache{lines: lines, diag: k.Diagonal(x), n: n, slot: make([]int32, n)}
	c.most = int(min(int64(n), fewestLines+left/(4*int64(max(n, 1)))))
	for i := range c.slot {
		c.slot[i] = -1
	}
	return c, nil
}

// get returns the rows of the Gram matrix that rows lists, no more than the cache holds and none
// twice. They are good until the next call.
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

// fill computes rows into new slots, or into those that were not asked for the longest.
func (c *rowCache) fill(missing []int32) {
	if len(missing) == 0 {
		return
	}
	var old []int32
	if len(c.rows)+len(missing) > c.most {
		for s := range c.rows {
			if c.used[s] < c.clock {
				old = append(old, int32(s))
			}
		}
		slices.SortFunc(old, func(a, b int32) int {
			if c.used[a] != c.used[b] {
				return int(c.used[a] - c.used[b])
			}
			return int(a - b)
		})
	}
	for lo := 0; lo < len(missing); lo += lineBatch {
		part := missing[lo:min(lo+lineBatch, len(missing))]
		var dst [][]float32
		for _, i := range part {
			var s int32
			if len(c.rows) < c.most {
				s = int32(len(c.rows))
				c.rows, c.owner, c.used = append(c.rows, make([]float32, c.n)), append(c.owner, i), append(c.used, 0)
			} else {
				s, old = old[0], old[1:]
				c.slot[c.owner[s]] = -1
			}
			c.owner[s], c.slot[i], c.used[s] = i, s, c.clock
			dst = append(dst, c.rows[s])
		}
		c.lines.Compute(part, dst)
		c.computed += len(part)
	}
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
