package neighbours

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/cluster"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// Cells divide the rows of an index by the nearest of some centres, found by k-means on a sample, so that a search compares the features of rows in few
// cells (the inverted file of Sivic and Zisserman 2003; Jégou, Douze and Schmid 2011). Rows that are added later go to the cells there are.

const (
	mostCells   = 1 << 16
	sampleRows  = 40        // for each cell
	sampleBytes = 256 << 20 // of all
	cellRounds  = 5
)

// cells are the centres of an index, and its rows.
type cells struct {
	centres *matrix.Dense
	packed  *vec.Packed[float32] // the centres, features × cells
	norms   []float32
	rows    [][]int32 // places of each cell's rows, which rise
}

func newCells(centres *matrix.Dense) *cells {
	n, d := centres.Rows, centres.Cols
	c := &cells{centres: centres, norms: make([]float32, n), rows: make([][]int32, n)}
	columns := make([]float32, d*n)
	vec.Transpose32(columns, n, centres.Data, centres.Stride, n, d)
	c.packed = vec.Pack32(d, n, columns, n)
	for i := range n {
		c.norms[i] = float32(vec.DotWide(centres.Row(i), centres.Row(i)))
	}
	return c
}

// findCells finds centres for the rows of a source from a sample that depends on the places of its rows alone.
func findCells(ctx context.Context, src dataset.Source, p *pipeline.Pipeline, cfg Config) (*cells, error) {
	_, d := p.Dims()
	sample := &matrix.Dense{Cols: d, Stride: d}
	most := max(cfg.Cells, min(sampleRows*cfg.Cells, sampleBytes/(4*d)))
	z, seen := matrix.NewDense(0, 0), 0
	stream := random.New(cfg.Seed, "neighbours.cells")
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		for i := 0; i < b.X.Len(); i += pipeline.Chunk {
			part := b.X.Slice(i, min(i+pipeline.Chunk, b.X.Len()))
			z.Reshape(part.Len(), d)
			if err := p.Transform(z, part); err != nil {
				return nil, pipeline.Refused(err, src, b.First+i)
			}
			for r := range z.Rows {
				if seen++; sample.Rows < most {
					sample.Data = append(sample.Data, z.Row(r)...)
					sample.Rows++
				} else if at := stream.Intn(seen); at < most {
					copy(sample.Row(at), z.Row(r))
				}
			}
		}
	}
	if seen < cfg.Cells {
		return nil, fmt.Errorf("%s: %d cells of %d rows; ask for fewer", src.Name(), cfg.Cells, seen)
	}
	found, err := cluster.KMeans(ctx, sample, nil, cluster.Options{Clusters: cfg.Cells, Iterations: cellRounds, Seed: cfg.Seed})
	if err != nil {
		return nil, err
	}
	if found.Centres.Rows < 2 {
		return nil, fmt.Errorf("%s: all rows sampled are the same, which no cells divide; leave them out", src.Name())
	}
	return newCells(found.Centres), nil
}

// nearest are the cells whose centres are nearest to each row of z, nearest first and those with the smaller number first among equally near ones.
func (c *cells) nearest(z *matrix.Dense, most int) [][]int32 {
	n := len(c.norms)
	found := make([][]int32, z.Rows)
	products := make([]float32, z.Rows*n)
	c.packed.Multiply(z.Rows, z.Data, z.Stride, products, n, nil)
	vec.Parallel(z.Rows, 16, func(lo, hi int) {
		for q := lo; q < hi; q++ {
			h, limit := heap{most: min(most, n)}, float32(math.Inf(1))
			for i, dot := range products[q*n:][:n] {
				if key := c.norms[i] - 2*dot; key < limit {
					limit = h.add(key, int32(i))
				}
			}
			slices.SortFunc(h.list, func(a, b entry) int {
				if b.over(a) {
					return -1
				}
				return 1
			})
			for _, e := range h.list {
				found[q] = append(found[q], e.place)
			}
		}
	})
	return found
}

// probe finds the k nearest rows to each row of z in the cells that are nearest to it. All queries of a cell are compared with its rows at once.
func (x *Index) probe(z *matrix.Dense, k, probes int, found [][]Neighbour) {
	nearest := x.cells.nearest(z, probes)
	vec.Parallel(z.Rows, max(16, (z.Rows+vec.Threads()-1)/vec.Threads()), func(lo, hi int) {
		s := newProbing(x, z, more(k))
		asks := make([][]int32, x.info.Cells)
		for q := lo; q < hi; q++ {
			for _, cell := range nearest[q] {
				asks[cell] = append(asks[cell], int32(q))
			}
		}
		for cell, queries := range asks {
			if len(queries) > 0 {
				s.compare(x.cells.rows[cell], queries)
			}
		}
		var places []int32
		for q := lo; q < hi; q++ {
			places = places[:0]
			for _, e := range s.heaps[q].list {
				places = append(places, e.place)
			}
			found[q] = x.rank(z.Row(q), places, k)
		}
	})
}

// probing compares queries with rows of cells.
type probing struct {
	x     *Index
	z     *matrix.Dense
	heaps []heap

	rows, queries, columns, products []float32
}

// probedRows is how many rows of a cell are compared at a time.
const probedRows = 128

func newProbing(x *Index, z *matrix.Dense, most int) *probing {
	s := &probing{x: x, z: z, heaps: make([]heap, z.Rows), rows: make([]float32, probedRows*z.Cols)}
	for q := range s.heaps {
		s.heaps[q].most = min(most, x.info.Rows)
	}
	return s
}

// compare offers the rows at some places to some queries.
func (s *probing) compare(places, queries []int32) {
	x, d, m := s.x, s.z.Cols, len(queries)
	if m < 4 {
		for _, i := range places {
			for _, q := range queries {
				s.heaps[q].offer(x.norms[i]-2*vec.Dot32(x.z[int(i)*d:(int(i)+1)*d], s.z.Row(int(q))), i)
			}
		}
		return
	}
	s.queries = slices.Grow(s.queries[:0], m*d)[:m*d]
	s.columns = slices.Grow(s.columns[:0], m*d)[:m*d]
	s.products = slices.Grow(s.products[:0], m*probedRows)[:m*probedRows]
	for j, q := range queries {
		copy(s.queries[j*d:], s.z.Row(int(q)))
	}
	vec.Transpose32(s.columns, m, s.queries, d, m, d)
	packed := vec.Pack32(d, m, s.columns, m)
	for len(places) > 0 {
		some := places[:min(probedRows, len(places))]
		places = places[len(some):]
		for r, i := range some {
			copy(s.rows[r*d:(r+1)*d], x.z[int(i)*d:(int(i)+1)*d])
		}
		packed.Multiply(len(some), s.rows, d, s.products, m, nil)
		for r, i := range some {
			for j, dot := range s.products[r*m:][:m] {
				s.heaps[queries[j]].offer(x.norms[i]-2*dot, i)
			}
		}
	}
}
