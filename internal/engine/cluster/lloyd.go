package cluster

import (
	"context"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Rows are rows to be clustered, centred at their mean so that squared distances computed
// from products lose no digits.
type Rows struct {
	x       *matrix.Dense
	mean    []float64
	weights []float64 // nil: all 1
	norm    []float64 // ‖x_i‖²
	nearest []int     // the centre of each row
	d2      []float64 // and the squared distance to it
}

// New takes over x and centres it. weights are those of the rows, 0 or more; nil means 1.
func New(x *matrix.Dense, weights []float64) *Rows {
	n := x.Rows
	c := &Rows{x: x, weights: weights, norm: make([]float64, n), d2: make([]float64, n), nearest: make([]int, n)}
	c.mean = make([]float64, x.Cols)
	for i := range n {
		for j, v := range x.Row(i) {
			c.mean[j] += float64(v)
		}
	}
	for j := range c.mean {
		c.mean[j] /= float64(max(n, 1))
	}
	vec.Parallel(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := c.x.Row(i)
			for j, v := range c.mean {
				row[j] = float32(float64(row[j]) - v)
			}
			c.norm[i] = vec.DotWide(row, row)
		}
	})
	return c
}

func (c *Rows) weight(i int) float64 {
	if c.weights == nil {
		return 1
	}
	return c.weights[i]
}

// gather copies rows.
func (c *Rows) gather(chosen []int) *matrix.Dense {
	rows := matrix.NewDense(len(chosen), c.x.Cols)
	for i, from := range chosen {
		copy(rows.Row(i), c.x.Row(from))
	}
	return rows
}

// Uncentred moves centres to where the rows were before New.
func (c *Rows) Uncentred(centres *matrix.Dense) {
	for i := range centres.Rows {
		for j, v := range centres.Row(i) {
			centres.Row(i)[j] = float32(float64(v) + c.mean[j])
		}
	}
}

// products hands the products of blocks of rows with centres [lo, hi) to body: those of rows
// [i, j) as rows of hi-lo numbers; not all, if the context ends.
func (c *Rows) products(ctx context.Context, centres *matrix.Dense, body func(i, j int, xy []float32)) {
	m, d := centres.Rows, centres.Cols
	columns := make([]float32, d*m)
	for t := range m {
		for j, v := range centres.Row(t) {
			columns[j*m+t] = v
		}
	}
	packed := vec.Pack32(d, m, columns, m)
	vec.Parallel(c.x.Rows, productRows, func(lo, hi int) {
		xy := make([]float32, productRows*m)
		for ; lo < hi && ctx.Err() == nil; lo += productRows {
			end := min(lo+productRows, hi)
			packed.Multiply(end-lo, c.x.Data[lo*c.x.Stride:], c.x.Stride, xy, m, nil)
			body(lo, end, xy)
		}
	})
}

// productRows is how many rows are compared with all centres at a time.
const productRows = 112

// Seeds draws m rows, the first by its weight and each other with a probability proportional to its weight times its
// squared distance from the previous ones. There are fewer if all other rows equal one of them, or if the context
// ends.
//
// They are drawn in blocks. Proposals follow the distances from the seeds before the block, and
// each is accepted with the ratio by which seeds of the block have reduced its distance: this gives
// the same distribution, by matrix products.
func (c *Rows) Seeds(ctx context.Context, m int, stream *random.Stream) *matrix.Dense {
	n := c.x.Rows
	cumulated := make([]float64, n)
	chosen := []int{0}
	if c.weights == nil {
		chosen[0] = stream.Intn(n)
	} else {
		sum := 0.0
		for i, w := range c.weights {
			sum += w
			cumulated[i] = sum
		}
		chosen[0] = random.Pick(cumulated, stream.Uniform())
	}
	for i := range c.d2 {
		c.d2[i] = math.Inf(1)
	}
	c.nearer(ctx, c.gather(chosen))
	for len(chosen) < m && ctx.Err() == nil {
		sum := 0.0
		for i, v := range c.d2 {
			sum += float64(c.weight(i) * v)
			cumulated[i] = sum
		}
		if sum == 0 {
			break
		}
		var fresh []int
		for range min(m-len(chosen), max(1, min(128, m/8))) {
			p := random.Pick(cumulated, stream.Uniform())
			left := c.d2[p]
			for _, q := range fresh {
				left = min(left, c.between(p, q))
			}
			if stream.Uniform()*c.d2[p] < left {
				fresh = append(fresh, p)
			}
		}
		c.nearer(ctx, c.gather(fresh))
		for _, p := range fresh {
			c.d2[p] = 0
		}
		chosen = append(chosen, fresh...)
	}
	return c.gather(chosen)
}

// between is the squared distance of two rows.
func (c *Rows) between(p, q int) float64 {
	sum := 0.0
	y := c.x.Row(q)
	for j, v := range c.x.Row(p) {
		d := float64(v) - float64(y[j])
		sum += float64(d * d)
	}
	return sum
}

// nearer lowers the squared distances to those from more centres, if these are smaller.
func (c *Rows) nearer(ctx context.Context, centres *matrix.Dense) {
	norm := norms2(centres)
	c.products(ctx, centres, func(i, j int, xy []float32) {
		m := len(norm)
		for r := i; r < j; r++ {
			least := c.d2[r]
			for t, v := range xy[(r-i)*m:][:m] {
				least = min(least, c.distance(r, norm[t], v))
			}
			c.d2[r] = least
		}
	})
}

// distance is the squared distance of row r from a centre, from their lengths and product, or 0
// if that is a rounding error.
func (c *Rows) distance(r int, norm float64, xy float32) float64 {
	d := c.norm[r] + norm - 2*float64(xy)
	if d <= 1e-6*(c.norm[r]+norm) {
		return 0
	}
	return d
}

func norms2(x *matrix.Dense) []float64 {
	norm := make([]float64, x.Rows)
	for i := range norm {
		norm[i] = vec.DotWide(x.Row(i), x.Row(i))
	}
	return norm
}

// assign finds the nearest centre of each row, and returns the sum of the squared distances.
func (c *Rows) assign(ctx context.Context, centres *matrix.Dense) float64 {
	norm := norms2(centres)
	half := make([]float32, len(norm))
	for t, v := range norm {
		half[t] = float32(v / 2)
	}
	c.products(ctx, centres, func(i, j int, xy []float32) {
		m := len(norm)
		for r := i; r < j; r++ {
			best, at := float32(math.Inf(-1)), 0
			for t, v := range xy[(r-i)*m:][:m] {
				if v -= half[t]; v > best {
					best, at = v, t
				}
			}
			c.nearest[r] = at
			c.d2[r] = c.distance(r, norm[at], xy[(r-i)*m+at])
		}
	})
	sum := 0.0
	for i, v := range c.d2 {
		sum += float64(c.weight(i) * v)
	}
	return sum
}

// Lloyd moves centres to the means of their nearest rows, at most most times, until that gains no more than a share
// of the sum of squared distances. It returns these sums before each move. A cancelled context ends it early.
func (c *Rows) Lloyd(ctx context.Context, centres *matrix.Dense, most int, gain float64) (objective []float64, err error) {
	for range most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		objective = append(objective, c.assign(ctx, centres))
		if k := len(objective); k > 1 && objective[k-2]-objective[k-1] <= gain*objective[k-2] {
			break
		}
		c.move(centres)
	}
	return objective, ctx.Err()
}

// move moves centres to the means of their rows. A centre without rows moves to the row that
// is farthest from its own centre, which becomes its only row.
func (c *Rows) move(centres *matrix.Dense) {
	m, d := centres.Rows, centres.Cols
	sum, mass, count := make([]float64, m*d), make([]float64, m), make([]int, m)
	for _, t := range c.nearest {
		count[t]++
	}
	for t := range count {
		if count[t] > 0 {
			continue
		}
		far := 0
		for i, v := range c.d2 {
			if v > c.d2[far] {
				far = i
			}
		}
		if c.d2[far] == 0 || count[c.nearest[far]] == 1 {
			continue
		}
		count[c.nearest[far]]--
		c.nearest[far], c.d2[far], count[t] = t, 0, 1
	}
	vec.Parallel(d, 64, func(lo, hi int) {
		for i, t := range c.nearest {
			vec.AxpyWide(c.weight(i), c.x.Row(i)[lo:hi], sum[t*d+lo:t*d+hi])
		}
	})
	for i, t := range c.nearest {
		mass[t] += c.weight(i)
	}
	for t, n := range mass {
		if n > 0 {
			for j := range d {
				centres.Row(t)[j] = float32(sum[t*d+j] / n)
			}
		}
	}
}
