package dataset

import (
	"context"
	"fmt"
	"io"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Synthetic describes a regression problem whose rows are generated as they are read: d ≥ 5
// inputs, uniform on [-1, 1], and
//
//	y = 2·sin(π·x₀·x₁) + 2·x₂² + x₃ + x₄/2 + cos(2·u·x) + noise,   noise ~ U(-0.1, 0.1),
//
// with a random unit vector u, after Friedman's (1991) test function: smooth, with
// interactions that a linear model cannot represent. Row i does not depend on what is
// read before it.
type Synthetic struct {
	// First is the number of the first row; another First gives other rows of the same function.
	First int

	// Rows and Dim are n and d.
	Rows, Dim int

	// Seed chooses u and the rows.
	Seed uint64

	// BatchRows is the number of rows in a batch; 0 means 4096.
	BatchRows int
}

// Generate makes a source of generated rows.
func Generate(s Synthetic) Source {
	if s.Dim < 5 {
		panic(fmt.Sprintf("dataset: Generate of %d dimensions; at least 5 are needed", s.Dim))
	}
	if s.BatchRows <= 0 {
		s.BatchRows = defaultBatch
	}
	g := &generated{Synthetic: s, u: make([]float64, s.Dim)}
	r := random.New(s.Seed, "synthetic-direction")
	norm := 0.0
	for j := range g.u {
		g.u[j] = r.Normal()
		norm += g.u[j] * g.u[j]
	}
	for j := range g.u {
		g.u[j] /= math.Sqrt(norm)
	}
	g.schema = Schema{Format: "rows", Dim: s.Dim}
	return g
}

type generated struct {
	Synthetic
	u      []float64
	schema Schema
}

func (g *generated) Name() string    { return "generated rows" }
func (g *generated) Schema() *Schema { return &g.schema }

func (g *generated) Open(ctx context.Context) (Reader, error) {
	return &generatedReader{generated: g, ctx: ctx}, nil
}

type generatedReader struct {
	*generated
	ctx   context.Context
	row   int
	x     matrix.Dense
	y     []float64
	batch matrix.Batch
}

func (r *generatedReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == r.Rows {
		return nil, io.EOF
	}
	n := min(r.BatchRows, r.Rows-r.row)
	r.x.Reshape(n, r.Dim)
	if cap(r.y) < n {
		r.y = make([]float64, n)
	}
	r.y = r.y[:n]
	vec.Parallel(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r.y[i] = r.generate(r.First+r.row+i, r.x.Row(i))
		}
	})
	r.batch = matrix.Batch{X: matrix.Rows{Dense: &r.x}, First: r.row, Y: r.y, Outputs: 1}
	r.row += n
	return &r.batch, nil
}

// generate fills x with row i and returns its target.
func (g *generated) generate(i int, x []float32) float64 {
	h := random.Hash(g.Seed, "synthetic", uint64(i))
	along := 0.0
	for j := range x {
		// A Weyl sequence through a mixing function: SplitMix64, one step per number.
		h += 0x9e3779b97f4a7c15
		z := h
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		x[j] = float32(int32(z>>40)-1<<23) / (1 << 23)
		along += float64(g.u[j] * float64(x[j]))
	}
	noise := float64(int32(h>>40)-1<<23) / (1 << 23) * 0.1
	x2 := float64(x[2])
	return 2*math.Sin(math.Pi*float64(x[0])*float64(x[1])) + 2*x2*x2 + float64(x[3]) + 0.5*float64(x[4]) + math.Cos(2*along) + noise
}

func (r *generatedReader) Progress() float64 { return float64(r.row) / float64(r.Rows) }
func (r *generatedReader) Close() error      { return nil }
