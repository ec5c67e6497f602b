package neighbours

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
)

// Kinds of codes.
const (
	// Signs are those of Gaussian projections of the features less their mean over a sample: two bits differ with probability θ/π, θ the
	// angle of these differences. About 0, features that are all of one sign would differ in few bits.
	Signs = "signs"

	// SparseSigns are those of Achlioptas's projections, of which two thirds are 0. They are close to Signs and cheaper.
	SparseSigns = "sparse-signs"

	// Cosines are the signs of cos(ω·x + b) + t (Raginsky and Lazebnik 2009), for shift-invariant kernels. The share of
	// bits that differ lies between two functions of the kernel's value.
	Cosines = "cosines"
)

// CodeNames are the kinds of codes.
func CodeNames() []string { return []string{Signs, SparseSigns, Cosines} }

const (
	usualBits = 256
	mostBits  = 1 << 14
)

// coder computes codes: bit i is 1 if output i of a map exceeds a threshold.
type coder struct {
	bits       int
	fmap       feature.Map
	ofRows     bool      // the map takes scaled rows, not features
	thresholds []float32 // nil: 0
	mean       *matrix.Dense
}

// centred is a coder of signs about a mean of features, 1×D. Indexes had none, nil, and others have none.
func (c *coder) centred(mean *matrix.Dense) *coder {
	if c == nil || c.ofRows || mean == nil {
		return c
	}
	c.mean = mean
	var at matrix.Dense
	at.Reshape(1, c.bits)
	c.fmap.Transform(&at, matrix.Rows{Dense: mean})
	c.thresholds = at.Row(0)
	return c
}

// meanShare is the part of the rows whose features make a mean.
const meanShare = 8

// meanOf is the mean of the features of some rows of a source, which depend on their numbers alone.
func meanOf(ctx context.Context, src dataset.Source, p *pipeline.Pipeline, seed uint64) (*matrix.Dense, error) {
	_, d := p.Dims()
	sum, n, z := make([]float64, d), 0.0, matrix.NewDense(0, 0)
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		var some []int
		for i := range b.X.Len() {
			if row := uint64(b.First + i); row == 0 || random.Hash(seed, "neighbours.mean", row)%meanShare == 0 {
				some = append(some, i)
			}
		}
		for part := range slices.Chunk(some, pipeline.Chunk) {
			z.Reshape(len(part), d)
			if err := p.Transform(z, matrix.Pick(b.X, part)); err != nil {
				if e, ok := errors.AsType[*dataset.RowError](err); ok {
					at := *e
					at.Row, err = part[e.Row], &at
				}
				return nil, pipeline.Refused(err, src, b.First)
			}
			for r := range part {
				for j, v := range z.Row(r) {
					sum[j] += float64(v)
				}
			}
		}
		n += float64(len(some))
	}
	mean := matrix.NewDense(1, d)
	for j, s := range sum {
		mean.Data[j] = float32(s / max(n, 1))
	}
	return mean, nil
}

// Check finds what is wrong with a configuration.
func (cfg Config) Check() error {
	switch {
	case cfg.Codes == "" && cfg.Bits != 0:
		return fmt.Errorf("%d bits of no codes; say which codes: %s", cfg.Bits, strings.Join(CodeNames(), ", "))
	case cfg.Codes != "" && !slices.Contains(CodeNames(), cfg.Codes):
		return fmt.Errorf("codes %q are not known; known are %s", cfg.Codes, strings.Join(CodeNames(), ", "))
	case cfg.Cells != 0 && (cfg.Cells < 2 || cfg.Cells > mostCells):
		return fmt.Errorf("%d cells; give 2 to %d", cfg.Cells, mostCells)
	case cfg.Bits < 0 || cfg.Bits%64 != 0 || cfg.Bits > mostBits:
		return fmt.Errorf("%d bits a code; give a multiple of 64 up to %d", cfg.Bits, mostBits)
	}
	return nil
}

// newCoder draws the codes of an index, nil if it has none.
func newCoder(cfg Config, p *pipeline.Pipeline) (*coder, error) {
	if err := cfg.Check(); err != nil || cfg.Codes == "" {
		return nil, err
	}
	c := &coder{bits: cfg.Bits}
	if c.bits == 0 {
		c.bits = usualBits
	}
	made := feature.Config{Map: "rp", Kernel: kernel.Linear.Usual(), Features: c.bits, Seed: cfg.Seed, MaxBytes: mostBytes}
	dim := p.Features()
	switch cfg.Codes {
	case Signs:
		made.Entries = "normal"
	case SparseSigns:
		made.Entries, made.Sparsity = "sparse", 3
	case Cosines:
		of := p.Feature()
		if of == nil || !slices.Contains(feature.Kernels("rff"), of.Kernel.Name) {
			return nil, fmt.Errorf("codes %q are for shift-invariant kernels (%s); %s and %s are for all",
				Cosines, strings.Join(feature.Kernels("rff"), ", "), Signs, SparseSigns)
		}
		made.Map, made.Kernel, made.Form, dim, c.ofRows = "rff", of.Kernel, "phase", p.Width(), true
		stream := random.New(cfg.Seed, "neighbours.thresholds")
		size := math.Sqrt(2 / float64(c.bits)) // of an output of the map
		c.thresholds = make([]float32, c.bits)
		for i := range c.thresholds {
			c.thresholds[i] = float32(size * (1 - 2*stream.Uniform()))
		}
	}
	var err error
	c.fmap, err = feature.New(made, dim)
	return c, err
}

// encode appends the codes of rows: of their features z, or of the rows as they are scaled.
func (c *coder) encode(dst []uint64, scaled matrix.Rows, z *matrix.Dense) []uint64 {
	x := matrix.Rows{Dense: z}
	if c.ofRows {
		x = scaled
	}
	var dense matrix.Dense
	var sparse matrix.CSR
	y := feature.Apply(c.fmap, x, &dense, &sparse)
	if y.CSR != nil {
		y.CSR.Densify(&dense)
		y = matrix.Rows{Dense: &dense}
	}
	for r := range y.Len() {
		row := y.Dense.Row(r)
		for i := 0; i < c.bits; i += 64 {
			var word uint64
			for j := range 64 {
				var t float32
				if c.thresholds != nil {
					t = c.thresholds[i+j]
				}
				if row[i+j] > t {
					word |= 1 << j
				}
			}
			dst = append(dst, word)
		}
	}
	return dst
}

// nearest is working memory to find the nearest codes.
type nearest struct {
	counts []uint16 // for each code, the bits that differ
	few    []int32  // places of codes that may be among them
}

// near appends the places of the n codes nearest to a code, in the order of places; those that tie for the last
// places are the first ones.
func (w *nearest) near(dst []int32, codes []uint64, code []uint64, n int) []int32 {
	most := 64 * len(code)
	vec.Hamming(w.counts, codes, code)
	w.few = below(w.few[:0], w.counts, likely(w.counts, most, n))
	if len(w.few) < n {
		w.few = below(w.few[:0], w.counts, most)
	}
	histogram := make([]int, most+1)
	for _, i := range w.few {
		histogram[w.counts[i]]++
	}
	last, left := 0, n // rows at distance last may fill what is left
	for last < most && histogram[last] < left {
		left -= histogram[last]
		last++
	}
	for _, i := range w.few {
		switch h := int(w.counts[i]); {
		case h < last:
			dst = append(dst, i)
		case h == last && left > 0:
			dst = append(dst, i)
			left--
		}
	}
	return dst
}

// below appends the places of the counts up to a limit.
func below(dst []int32, counts []uint16, limit int) []int32 {
	for i, h := range counts {
		if int(h) <= limit {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// sampled says that of so many counts one is looked at to find a limit.
const sampled = 16

// likely is a limit that about twice as many counts as n do not exceed, by some of them; most is what none exceeds.
func likely(counts []uint16, most, n int) int {
	want := 2*n/sampled + 8
	if len(counts) < 4*sampled*want {
		return most
	}
	histogram := make([]int, most+1)
	for i := 0; i < len(counts); i += sampled {
		histogram[counts[i]]++
	}
	limit := 0
	for want -= histogram[0]; want > 0; want -= histogram[limit] {
		limit++
	}
	return limit
}

// nearAll calls body with the places near each of several codes.
func (x *Index) nearAll(codes []uint64, n int, body func(query int, places []int32)) {
	words := x.words()
	vec.Parallel(len(codes)/words, 1, func(lo, hi int) {
		w := nearest{counts: make([]uint16, x.info.Rows)}
		var places []int32
		for q := lo; q < hi; q++ {
			places = w.near(places[:0], x.codes, codes[q*words:(q+1)*words], n)
			body(q, places)
		}
	})
}
