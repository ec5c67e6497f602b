package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"mercer/dataset"
	"mercer/matrix"
)

// Source is a source of the rows of the bags of src, with their labels, for training and
// prediction. Its readers have a method Keys, which returns the names of the bags of the last
// batch.
func (p *Bags) Source(src dataset.Bags) *Pooled { return p.source(src, 0, nil) }

// KeptSource is Source, which pools on every pass, but it keeps the rows of the first pass for later ones if they take
// no more than the given number of bytes, 4 per number.
func (p *Bags) KeptSource(src dataset.Bags, bytes int64) *Pooled {
	_, d := p.Dims()
	return p.source(src, int(bytes/int64(4*d)), nil)
}

// TrainingSource is Source for a training with several passes: it keeps the rows of the first
// complete pass, if there are no more than keep of them, and adds up the seconds spent pooling.
func (p *Bags) TrainingSource(src dataset.Bags, keep int, seconds *float64) *Pooled {
	return p.source(src, keep, seconds)
}

// source optionally keeps the rows of the first complete pass, if there are no more than keep of
// them, and adds up the seconds spent pooling.
func (p *Bags) source(src dataset.Bags, keep int, seconds *float64) *Pooled {
	_, d := p.Dims()
	schema := dataset.Schema{Format: dataset.PooledFormat, Dim: d, LabelSeparator: p.schema.LabelSeparator}
	if len(p.schema.Labels) > 1 {
		schema.Labels = p.schema.Labels
	}
	return &Pooled{mapping: p, src: src, keep: keep, seconds: seconds, schema: schema}
}

// Pooled is a source of pooled rows, one for each bag of another source.
type Pooled struct {
	mapping *Bags
	src     dataset.Bags
	schema  dataset.Schema
	seconds *float64

	keep int
	mu   sync.Mutex
	kept []*pooledBatch // a complete pass
}

// Name is the name of the bags' source.
func (p *Pooled) Name() string { return p.src.Name() }

// Schema is the schema of the pooled rows, with the labels of the bags.
func (p *Pooled) Schema() *dataset.Schema { return &p.schema }

// Origin implements dataset.Renumbered.
func (p *Pooled) Origin(row int) int { return dataset.BagOrigin(p.src, row) }

// Open implements dataset.Source.
func (p *Pooled) Open(ctx context.Context) (dataset.Reader, error) {
	p.mu.Lock()
	kept := p.kept
	p.mu.Unlock()
	if kept != nil {
		return &keptReader{ctx: ctx, left: kept, all: len(kept)}, nil
	}
	r, err := p.src.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &pooledReader{BagReader: r, Pooled: p, keeping: p.keep > 0}, nil
}

// Forget releases the rows that were kept; none are kept from now on.
func (p *Pooled) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept, p.keep = nil, 0
}

// Kept says whether the rows of a pass are kept, so that the next pass pools nothing.
func (p *Pooled) Kept() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept != nil
}

// pooledBatch is the rows of some bags.
type pooledBatch struct {
	matrix.Batch
	keys []string
}

// pooledReader pools batch by batch.
type pooledReader struct {
	dataset.BagReader
	*Pooled
	out     pooledBatch
	dense   matrix.Dense
	rows    int
	keeping bool
	list    []*pooledBatch
}

// Keys returns the names of the bags of the last batch, nil if they have none.
func (r *pooledReader) Keys() []string { return r.out.keys }

// Next implements dataset.Reader.
func (r *pooledReader) Next() (*matrix.Batch, error) {
	b, err := r.BagReader.Next()
	if errors.Is(err, io.EOF) && r.keeping {
		r.mu.Lock()
		r.kept = r.list
		r.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	start := time.Now()
	_, d := r.mapping.Dims()
	r.dense.Reshape(b.Len(), d)
	if err := r.mapping.Pool(&r.dense, b.X, b.Bags); err != nil {
		return nil, dataset.LocateBag(err, r.src, b)
	}
	if r.seconds != nil {
		*r.seconds += time.Since(start).Seconds()
	}
	r.out = pooledBatch{b.Rows(matrix.Rows{Dense: &r.dense}), b.Keys}
	r.rows += b.Len()
	if r.keeping = r.keeping && r.rows <= r.keep; r.keeping {
		r.list = append(r.list, r.out.clone())
	} else {
		r.list = nil
	}
	return &r.out.Batch, nil
}

func (b *pooledBatch) clone() *pooledBatch {
	c := &pooledBatch{Batch: b.Batch}
	x := matrix.NewDense(b.X.Len(), b.X.Dim())
	for i := range x.Rows {
		copy(x.Row(i), b.X.Dense.Row(i))
	}
	c.X.Dense, c.Y, c.Names, c.Weights = x, slices.Clone(b.Y), slices.Clone(b.Names), slices.Clone(b.Weights)
	return c
}

// keptReader returns copies of kept rows, because its user may change them.
type keptReader struct {
	ctx  context.Context
	left []*pooledBatch
	all  int
}

// Next implements dataset.Reader.
func (r *keptReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	b := r.left[0].clone()
	r.left = r.left[1:]
	return &b.Batch, nil
}

// Progress implements dataset.Reader.
func (r *keptReader) Progress() float64 { return 1 - float64(len(r.left))/float64(r.all) }

// Close implements dataset.Reader.
func (r *keptReader) Close() error { return nil }
