package neighbours

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// Neighbour is a row that a search found.
type Neighbour struct {
	// ID is the row's number: rows are counted from 0 in the order in which they were added.
	ID int64 `json:"id"`

	// Distance is ‖z(x) − z(y)‖.
	Distance float64 `json:"distance"`
}

// Options say how to search.
type Options struct {
	// K is how many neighbours to find, at least 1; there are fewer if the index has fewer rows.
	K int

	// Candidates is the number of rows whose codes are nearest, among which features decide; 0 means that features of
	// all rows are compared. It is at least K.
	Candidates int

	// Probes is the number of cells, nearest to a query, whose rows are compared; 0 means that Candidates say which. There may be fewer
	// neighbours than K.
	Probes int
}

// Search finds the nearest rows of each row of x, nearest first, and those with the smaller number first among
// equally near ones. The result does not depend on the number of threads.
func (x *Index) Search(rows matrix.Rows, opt Options) (found [][]Neighbour, err error) {
	err = guarded(x.path, func() error {
		found, err = x.search(rows, opt)
		return err
	})
	return found, err
}

func (x *Index) search(rows matrix.Rows, opt Options) ([][]Neighbour, error) {
	switch {
	case opt.K < 1:
		return nil, fmt.Errorf("%d neighbours; give 1 or more", opt.K)
	case opt.Candidates != 0 && x.coder == nil:
		return nil, fmt.Errorf("the index has no codes, so a search compares the features of all rows; build it with codes")
	case opt.Probes < 0 || opt.Probes > 0 && opt.Candidates != 0:
		return nil, fmt.Errorf("%d probes and %d candidates; give one of them, 1 or more", opt.Probes, opt.Candidates)
	case opt.Probes > 0 && x.cells == nil:
		return nil, fmt.Errorf("the index has no cells, so a search compares the features of all rows; build it with cells")
	case opt.Candidates != 0 && opt.Candidates < opt.K:
		return nil, fmt.Errorf("%d candidates for %d neighbours; give as many or more", opt.Candidates, opt.K)
	}
	if opt.Candidates == 0 && opt.Probes == 0 { // which reads all of them anyway
		if err := x.verified(); err != nil {
			return nil, fmt.Errorf("%s: %w", x.path, err)
		}
	}
	found := make([][]Neighbour, rows.Len())
	z := matrix.NewDense(0, 0)
	for i := 0; i < rows.Len(); i += pipeline.Chunk {
		part := rows.Slice(i, min(i+pipeline.Chunk, rows.Len()))
		z.Reshape(part.Len(), x.info.Features)
		if err := x.pipe.Transform(z, part); err != nil {
			return nil, later(err, i)
		}
		if opt.Probes > 0 {
			x.probe(z, opt.K, opt.Probes, found[i:i+part.Len()])
			continue
		}
		if opt.Candidates == 0 {
			x.scan(z, opt.K, found[i:i+part.Len()])
			continue
		}
		var scaled matrix.Rows
		if x.coder.ofRows {
			var err error
			if scaled, err = x.pipe.Scale(part); err != nil {
				return nil, later(err, i)
			}
		}
		x.nearAll(x.coder.encode(nil, scaled, z), opt.Candidates, func(q int, places []int32) {
			found[i+q] = x.among(z.Row(q), places, opt.K)
		})
	}
	if x.spoiled.Load() {
		return nil, fmt.Errorf("%s: %w", x.path, errDamaged)
	}
	return found, nil
}

// scanned is how many products a block of a scan has.
const scanned = 1 << 18

// scan compares the rows of z, features of queries, with all rows.
func (x *Index) scan(z *matrix.Dense, k int, found [][]Neighbour) {
	n, d, m := x.info.Rows, x.info.Features, z.Rows
	var packed *vec.Packed[float32]
	if m >= 8 {
		t := make([]float32, d*m)
		vec.Transpose32(t, m, z.Data, z.Stride, m, d)
		packed = vec.Pack32(d, m, t, m)
	}
	heaps, limits := make([]heap, m), make([]float32, m)
	for q := range heaps {
		heaps[q].most = min(n, more(k))
		limits[q] = float32(math.Inf(1))
	}
	block := max(256, scanned/m)
	c := make([]float32, min(block, n)*m)
	for i := 0; i < n; i += block {
		rows := min(block, n-i)
		if packed != nil {
			packed.Multiply(rows, x.z[i*d:], d, c, m, nil)
		} else {
			vec.Parallel(rows, 64, func(lo, hi int) {
				for r := lo; r < hi; r++ {
					for q := range m {
						c[r*m+q] = vec.Dot32(x.z[(i+r)*d:(i+r+1)*d], z.Row(q))
					}
				}
			})
		}
		vec.Parallel(m, 16, func(lo, hi int) {
			for r := range rows {
				norm := x.norms[i+r]
				limit := limits[lo:hi]
				for q, dot := range c[r*m+lo : r*m+hi] {
					if key := norm - 2*dot; key < limit[q] {
						limit[q] = heaps[lo+q].add(key, int32(i+r))
					}
				}
			}
		})
	}
	vec.Parallel(m, 1, func(lo, hi int) {
		var places []int32
		for q := lo; q < hi; q++ {
			places = places[:0]
			for _, e := range heaps[q].list {
				places = append(places, e.place)
			}
			found[q] = x.rank(z.Row(q), places, k)
		}
	})
}

// more is how many rows products in float32 choose, among which distances in float64 decide which k are nearest.
func more(k int) int { return k + max(8, k/4) }

// among returns the k nearest rows to z among those at many places, which rise.
func (x *Index) among(z []float32, places []int32, k int) []Neighbour {
	d := x.info.Features
	h, limit := heap{most: min(len(places), more(k))}, float32(math.Inf(1))
	for _, i := range places {
		if key := x.norms[i] - 2*vec.Dot32(x.z[int(i)*d:(int(i)+1)*d], z); !(key >= limit) { // rank looks for what is no number
			limit = h.add(key, i)
		}
	}
	few := make([]int32, len(h.list))
	for j, e := range h.list {
		few[j] = e.place
	}
	return x.rank(z, few, k)
}

// rank returns the k nearest rows to z among those at some places.
func (x *Index) rank(z []float32, places []int32, k int) []Neighbour {
	d := x.info.Features
	square := vec.DotWide(z, z)
	list := make([]Neighbour, len(places))
	for j, i := range places {
		row := x.z[int(i)*d : (int(i)+1)*d]
		s := vec.DotWide(row, row) - 2*vec.DotWide(row, z) + square
		if s != s {
			x.spoiled.Store(true)
		}
		list[j] = Neighbour{x.ids[i], math.Sqrt(max(s, 0))}
	}
	slices.SortFunc(list, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return list[:min(k, len(list))]
}

// heap keeps the smallest keys, and the first places among equal ones, with the largest on top.
type heap struct {
	most int
	list []entry
}

type entry struct {
	key   float32
	place int32
}

func (a entry) over(b entry) bool { return a.key > b.key || a.key == b.key && a.place > b.place }

// offer adds a place unless others come before it, in any order of calls.
func (h *heap) offer(key float32, place int32) {
	if e := (entry{key, place}); len(h.list) < h.most || h.list[0].over(e) {
		h.add(key, place)
	}
}

// add adds a key below the limit that it returns: above it, keys are not wanted any more.
func (h *heap) add(key float32, place int32) float32 {
	e := entry{key, place}
	if len(h.list) < h.most {
		h.list = append(h.list, e)
		i := len(h.list) - 1
		for i > 0 && e.over(h.list[(i-1)/2]) {
			h.list[i] = h.list[(i-1)/2]
			i = (i - 1) / 2
		}
		h.list[i] = e
	} else {
		i := 0
		for {
			j := 2*i + 1
			if j+1 < len(h.list) && h.list[j+1].over(h.list[j]) {
				j++
			}
			if j >= len(h.list) || !h.list[j].over(e) {
				break
			}
			h.list[i] = h.list[j]
			i = j
		}
		h.list[i] = e
	}
	if len(h.list) < h.most {
		return float32(math.Inf(1))
	}
	return h.list[0].key
}

// later is an error about one of the rows after the first i.
func later(err error, i int) error {
	var e *dataset.RowError
	if !errors.As(err, &e) {
		return err
	}
	at := *e
	at.Row += i
	return &at
}
