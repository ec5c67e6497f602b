package feature

import (
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// kmeans makes landmarks of the centres of clusters (Zhang, Tsang and Kwok, "Improved Nyström
// low-rank approximation and error analysis", 2008, which bounds the kernel's error by the sum
// of squared distances to the centres): k-means++ seeds (Arthur and Vassilvitskii 2007), then
// Lloyd's iteration.
//
// O(nmd) operations an iteration, in matrix products, and 4n(d + 512) bytes for n rows.
func kmeans(c choice) (*matrix.Dense, error) {
	x := newCluster(c.sample, c.m, c.seed)
	centres := x.seeds(c.m, random.New(c.seed, "feature.landmarks.kmeans"))
	x.lloyd(centres)
	lowest := c.kernel.Lowest() // which rounding may fall below, although no mean of rows does
	for i := range centres.Rows {
		for j, v := range centres.Row(i) {
			centres.Row(i)[j] = max(lowest, float32(float64(v)+x.mean[j]))
		}
	}
	return centres, nil
}

// cluster holds rows to be clustered, centred at their mean so that squared distances computed
// from products lose no digits.
type cluster struct {
	x       *matrix.Dense
	mean    []float64
	norm    []float64 // ‖x_i‖²
	nearest []int     // the centre of each row
	d2      []float64 // and the squared distance to it
}

// mostClustered bounds the numbers in the rows to be clustered: 1 GB of them.
const mostClustered = 1 << 28

// newCluster copies rows of a sample: all, unless that takes too much memory.
func newCluster(sample matrix.Rows, m int, seed uint64) *cluster {
	n, d := sample.Len(), sample.Dim()
	chosen := make([]int, n)
	for i := range chosen {
		chosen[i] = i
	}
	if most := max(2*m, mostClustered/d); n > most {
		chosen = random.New(seed, "feature.landmarks.kmeans.rows").Perm(n)[:most]
	}
	c := &cluster{x: gather(sample, chosen)}
	n = len(chosen)
	c.mean = meanOf(c.x)
	c.norm, c.d2, c.nearest = make([]float64, n), make([]float64, n), make([]int, n)
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

// products hands the products of blocks of rows with centres [lo, hi) to body: those of rows
// [i, j) as rows of hi-lo numbers.
func (c *cluster) products(centres *matrix.Dense, body func(i, j int, xy []float32)) {
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
		for ; lo < hi; lo += productRows {
			end := min(lo+productRows, hi)
			packed.Multiply(end-lo, c.x.Data[lo*c.x.Stride:], c.x.Stride, xy, m, nil)
			body(lo, end, xy)
		}
	})
}

// productRows is how many rows are compared with all centres at a time.
const productRows = 112

// seeds draws m rows, the first uniformly and each other with a probability proportional to its
// squared distance from the previous ones. There are fewer if all other rows equal one of them.
//
// They are drawn in blocks. Proposals follow the distances from the seeds before the block, and
// each is accepted with the ratio by which seeds of the block have reduced its distance: this gives
// the same distribution, by matrix products.
func (c *cluster) seeds(m int, stream *random.Stream) *matrix.Dense {
	n := c.x.Rows
	chosen := []int{stream.Intn(n)}
	for i := range c.d2 {
		c.d2[i] = math.Inf(1)
	}
	c.nearer(gather(matrix.Rows{Dense: c.x}, chosen))
	cumulated := make([]float64, n)
	for len(chosen) < m {
		sum := 0.0
		for i, v := range c.d2 {
			sum += v
			cumulated[i] = sum
		}
		if sum == 0 {
			break
		}
		var fresh []int
		for range min(m-len(chosen), max(1, min(128, m/8))) {
			p := pick(cumulated, stream.Uniform())
			left := c.d2[p]
			for _, q := range fresh {
				left = min(left, c.between(p, q))
			}
			if stream.Uniform()*c.d2[p] < left {
				fresh = append(fresh, p)
			}
		}
		c.nearer(gather(matrix.Rows{Dense: c.x}, fresh))
		for _, p := range fresh {
			c.d2[p] = 0
		}
		chosen = append(chosen, fresh...)
	}
	return gather(matrix.Rows{Dense: c.x}, chosen)
}

// between is the squared distance of two rows.
func (c *cluster) between(p, q int) float64 {
	sum := 0.0
	y := c.x.Row(q)
	for j, v := range c.x.Row(p) {
		d := float64(v) - float64(y[j])
		sum += float64(d * d)
	}
	return sum
}

// nearer lowers the squared distances to those from more centres, if these are smaller.
func (c *cluster) nearer(centres *matrix.Dense) {
	norm := norms2(centres)
	c.products(centres, func(i, j int, xy []float32) {
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
func (c *cluster) distance(r int, norm float64, xy float32) float64 {
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
func (c *cluster) assign(centres *matrix.Dense) float64 {
	norm := norms2(centres)
	half := make([]float32, len(norm))
	for t, v := range norm {
		half[t] = float32(v / 2)
	}
	c.products(centres, func(i, j int, xy []float32) {
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
	for _, v := range c.d2 {
		sum += v
	}
	return sum
}

// mostLloyd bounds the iterations, and smallGain is the relative gain
// at which they stop: landmarks need no more.
const mostLloyd, smallGain = 50, 1e-4

// lloyd moves centres to the means of their nearest rows until that changes little. It
// returns the sums of squared distances before each move.
func (c *cluster) lloyd(centres *matrix.Dense) (objective []float64) {
	for range mostLloyd {
		objective = append(objective, c.assign(centres))
		if k := len(objective); k > 1 && objective[k-2]-objective[k-1] <= smallGain*objective[k-2] {
			break
		}
		c.move(centres)
	}
	return objective
}

// move moves centres to the means of their rows. A centre without rows moves to the row that
// is farthest from its own centre, which becomes its only row.
func (c *cluster) move(centres *matrix.Dense) {
	m, d := centres.Rows, centres.Cols
	sum, count := make([]float64, m*d), make([]int, m)
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
			vec.AxpyWide(1, c.x.Row(i)[lo:hi], sum[t*d+lo:t*d+hi])
		}
	})
	for t, n := range count {
		if n > 0 {
			for j := range d {
				centres.Row(t)[j] = float32(sum[t*d+j] / float64(n))
			}
		}
	}
}
