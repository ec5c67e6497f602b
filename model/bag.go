package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/pool"
)

// BagMapping turns bags into rows: members are scaled and pooled. It does not change and is safe
// for use by any number of goroutines.
type BagMapping struct {
	members Mapping // without a map
	pooling *pool.Pooling
	schema  *dataset.Schema // of the members
}

// Dims is the number of dimensions of a member and of a pooled row.
func (p *BagMapping) Dims() (in, out int) { return p.pooling.Dims() }

// Pool writes the row of each bag into dst, which must be of the number of bags × D: bag i is
// rows [bags[i], bags[i+1]) of x. It fails like Model.Scores, and where products of members
// overflow float32.
func (p *BagMapping) Pool(dst *matrix.Dense, x matrix.Rows, bags []int) error {
	if _, d := p.Dims(); dst.Rows != len(bags)-1 || dst.Cols != d {
		panic(fmt.Sprintf("model: Pool wants a %d×%d dst, got %d×%d", len(bags)-1, d, dst.Rows, dst.Cols))
	}
	if err := p.members.check(x); err != nil {
		return err
	}
	s, _ := p.members.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	defer p.members.scratch.Put(s)
	scaled := p.members.scaled(s, x)
	if bad := p.members.outside(scaled); bad != nil {
		return badMember(bags, bad.Row, p.schema.DimName(bad.Dim), p.members.reason(bad))
	}
	p.pooling.Pool(dst, scaled, bags)
	for i := range dst.Rows {
		for _, v := range dst.Row(i) {
			if v-v != 0 {
				return &badBag{i, "its values are too large to pool in float32; scale the members (--bag-scale)"}
			}
		}
	}
	return nil
}

// badBag is a bag that cannot be pooled.
type badBag struct {
	bag  int // from 0
	text string
}

func (e *badBag) Error() string { return fmt.Sprintf("bag %d (from 0): %s", e.bag, e.text) }

// badMember is the bag that row of the members of bags makes bad.
func badMember(bags []int, row int, dim, reason string) *badBag {
	bag, member := place(bags, row)
	return &badBag{bag, fmt.Sprintf("member %d (from 0), %s: %s", member, dim, reason)}
}

// place says which bag a row is of, and which member.
func place(bags []int, row int) (bag, member int) {
	bag, exact := slices.BinarySearch(bags, row)
	for ; exact && bag+1 < len(bags) && bags[bag+1] == row; bag++ {
	}
	if !exact {
		bag--
	}
	return bag, row - bags[bag]
}

// Source is the rows that the bags of src become, with their labels: what Fit, Model.Scores and
// the like work on. Its readers have a method Keys, which says what the bags of the last batch
// are called.
func (p *BagMapping) Source(src dataset.Bags) dataset.Source { return p.source(src, 0, nil) }

// KeptSource is Source, which pools on every pass; it keeps the rows of the first pass for the others where they take
// no more than so many bytes, 4 a number.
func (p *BagMapping) KeptSource(src dataset.Bags, bytes int64) dataset.Source {
	_, d := p.Dims()
	return p.source(src, int(bytes/int64(4*d)), nil)
}

// source also keeps the rows of the first whole pass, if there are no more than keep of
// them, and adds up the seconds that pooling takes.
func (p *BagMapping) source(src dataset.Bags, keep int, seconds *float64) *pooled {
	_, d := p.Dims()
	schema := dataset.Schema{Format: pooledFormat, Dim: d, LabelSeparator: p.schema.LabelSeparator}
	if len(p.schema.Labels) > 1 {
		schema.Labels = p.schema.Labels
	}
	return &pooled{mapping: p, src: src, keep: keep, seconds: seconds, schema: schema}
}

// pooledFormat is the format of rows that were bags.
const pooledFormat = "bags"

// pooled is the source of the rows of bags.
type pooled struct {
	mapping *BagMapping
	src     dataset.Bags
	schema  dataset.Schema
	seconds *float64

	keep int
	mu   sync.Mutex
	kept []*pooledBatch // a whole pass
}

func (p *pooled) Name() string            { return p.src.Name() }
func (p *pooled) Schema() *dataset.Schema { return &p.schema }

// Origin implements dataset.Renumbered.
func (p *pooled) Origin(row int) int { return dataset.BagOrigin(p.src, row) }

// Open implements dataset.Source.
func (p *pooled) Open(ctx context.Context) (dataset.Reader, error) {
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
	return &pooledReader{BagReader: r, pooled: p, keeping: p.keep > 0}, nil
}

// forget gives the rows that were kept free.
func (p *pooled) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept, p.keep = nil, 0
}

// pooledBatch is rows that were bags.
type pooledBatch struct {
	matrix.Batch
	keys []string
}

// pooledReader pools batch by batch.
type pooledReader struct {
	dataset.BagReader
	*pooled
	out     pooledBatch
	dense   matrix.Dense
	rows    int
	keeping bool
	list    []*pooledBatch
}

// Keys are the names of the bags of the last batch, nil if they have none.
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
		return nil, locatedBag(err, r.src, b)
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

// locatedBag says which bag of a source it is that cannot be pooled, of a batch.
func locatedBag(err error, src dataset.Bags, b *dataset.BagBatch) error {
	var bad *badBag
	switch {
	case !errors.As(err, &bad):
		return fmt.Errorf("%s: %w", src.Name(), err)
	case b.Keys != nil:
		return fmt.Errorf("%s: bag %q: %s", src.Name(), b.Keys[bad.bag], bad.text)
	}
	return fmt.Errorf("%s: %w", src.Name(), &badBag{dataset.BagOrigin(src, b.First+bad.bag), bad.text})
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

// keptReader hands out copies of rows that were kept, since its user may change them.
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

// PredictBags predicts bags of members of as many numbers as the model was trained on.
func (m *Model) PredictBags(bags ...[][]float32) ([]Prediction, error) {
	if m.bag == nil {
		return nil, errors.New("the model was trained on rows, not on bags; use Predict")
	}
	in, d := m.bag.Dims()
	ends := []int{0}
	for _, bag := range bags {
		ends = append(ends, ends[len(ends)-1]+len(bag))
	}
	x := matrix.NewDense(ends[len(bags)], in)
	for i, bag := range bags {
		if len(bag) == 0 {
			return nil, fmt.Errorf("bag %d (from 0) has no members", i)
		}
		for j, member := range bag {
			if len(member) != in {
				return nil, fmt.Errorf("bag %d, member %d (from 0) has %d numbers, but the model was trained on %d", i, j, len(member), in)
			}
			copy(x.Row(ends[i]+j), member)
		}
	}
	rows := matrix.NewDense(len(bags), d)
	if err := m.bag.Pool(rows, matrix.Rows{Dense: x}, ends); err != nil {
		return nil, err
	}
	scores := matrix.NewDense(len(bags), m.info.Outputs)
	if err := m.Scores(scores, matrix.Rows{Dense: rows}); err != nil {
		return nil, err
	}
	return m.predictions(scores), nil
}
