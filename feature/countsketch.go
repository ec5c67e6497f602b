package feature

import (
	"math"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// CountSketch maps x to C_b = Σ_{h(i)=b} s(i)·x_i, b = 0 … D-1, for a hash function h from
// coordinates to D buckets and signs s (Charikar, Chen and Farach-Colton, "Finding frequent
// items in data streams", 2002; for dot products Weinberger et al., "Feature hashing for large
// scale multitask learning", 2009). It approximates the linear kernel, without bias. With ρ
// the probability that two coordinates share a bucket, the variance of C(x)·C(y) is
//
//	ρ·(Σ_{i≠j} x_i²y_j² + Σ_{i≠j} x_i·y_i·x_j·y_j).
//
// For this it is enough that h is 2-wise and s is 4-wise independent, which papers require
// of functions computed from a few numbers. Here they are tables, whose cost does not
// depend on their contents: hash pairwise draws all entries independently, and ρ = 1/D.
//
// Hash balanced gives all buckets the same number of coordinates, or one more. Then
//
//	ρ = (r·(q+1)·q + (D-r)·q·(q-1))/(d·(d-1)),  q = ⌊d/D⌋, r = d - qD:
//
// 0 if D ≥ d, so that the sketch only permutes coordinates and the dot product is
// exact, and about (1/D)·(d-D)/(d-1) if D < d.
//
// It takes O(d) additions per row, O(nnz) for a sparse one, after O(D) to clear the features,
// and 4d bytes. Use it to reduce many sparse dimensions, alone or before other maps.
const CountSketch = "countsketch"

// countSketch is the map [CountSketch].
type countSketch struct {
	features int
	table    hashTable
}

func newCountSketch(cfg Config, dim int) (*countSketch, error) {
	table, err := newHashTable(cfg, dim, random.New(cfg.Seed, "feature.countsketch"))
	if err != nil {
		return nil, err
	}
	return &countSketch{cfg.Features, table}, nil
}

// Dims returns d and D.
func (c *countSketch) Dims() (in, out int) { return len(c.table), c.features }

// Bytes counts the table.
func (c *countSketch) Bytes() int64 { return 4 * int64(len(c.table)) }

// Transform adds up the coordinates of each row in the row of dst.
func (c *countSketch) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(len(c.table), c.features, dst, x)
	eachRow(c, dst, x)
}

func (c *countSketch) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	for i := lo; i < hi; i++ {
		c.table.sketch(dst.Row(i), x, i, 1)
	}
}

// hashTable has h(i) and s(i) for each coordinate i: the bucket, and the top bit for -1.
type hashTable []uint32

func newHashTable(cfg Config, dim int, r *random.Stream) (hashTable, error) {
	buckets := cfg.Features // at most mostFeatures, so there is room for the sign
	if err := affordable(cfg, dim, 4*float64(dim)); err != nil {
		return nil, err
	}
	t := make(hashTable, dim)
	if cfg.Hash == "balanced" {
		// Both are permuted, so that the buckets of two coordinates, if different, are any two with equal
		// probability: convolutions of sketches depend on this.
		bucket, place := r.Perm(buckets), r.Perm(dim)
		for i := range t {
			t[i] = uint32(bucket[place[i]%buckets])
		}
	} else {
		for i := range t {
			t[i] = uint32(r.Intn(buckets))
		}
	}
	for i := range t {
		if r.Sign() < 0 {
			t[i] |= 1 << 31
		}
	}
	return t, nil
}

// sketch writes the sketch of scale·x_i, row i of x, to z. The table may have one coordinate
// more than the row.
func (t hashTable) sketch(z []float32, x matrix.Rows, i int, scale float32) {
	clear(z)
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		val = val[:len(idx)]
		for k, j := range idx {
			t.add(z, int(j), scale*val[k])
		}
		return
	}
	row := x.Dense.Row(i)
	t = t[:len(row)]
	for j, v := range row {
		t.add(z, j, scale*v)
	}
}

// add adds v at coordinate i to its bucket.
func (t hashTable) add(z []float32, i int, v float32) {
	e := t[i]
	z[e&(1<<31-1)] += math.Float32frombits(math.Float32bits(v) ^ e&(1<<31))
}
