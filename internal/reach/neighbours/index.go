// Package neighbours finds the nearest rows in a kernel's feature space. An index is one file of
// the features of rows, which is mapped into memory, and optionally of short binary codes, by which
// a search leaves out most rows.
//
// The distance of two rows is ‖z(x) − z(y)‖, about √(k(x, x) + k(y, y) − 2k(x, y)).
package neighbours

import (
	"context"
	"fmt"
	"sync/atomic"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// Config says what an index holds beside the features.
type Config struct {
	// Codes is the kind of codes, one of CodeNames; "" means none.
	Codes string `json:"codes,omitempty"`

	// Bits is the length of a code, a multiple of 64; 0 means 256 if there are codes.
	Bits int `json:"bits,omitempty"`

	// Cells is into how many cells the rows are divided, 2 or more; 0 means that they are not.
	Cells int `json:"cells,omitempty"`

	// Seed draws the codes, and the sample and the seeds of cells.
	Seed uint64 `json:"seed,omitempty"`
}

// Info describes an index. It is stored in its file.
type Info struct {
	Config
	Rows     int               `json:"rows"`
	Features int               `json:"features"`
	Next     int64             `json:"next"` // the number that the next row gets
	Schema   dataset.Schema    `json:"schema"`
	Scale    string            `json:"scale"`
	Densify  bool              `json:"densify,omitempty"`
	Feature  *feature.Config   `json:"feature,omitempty"`
	Why      map[string]string `json:"why,omitempty"`

	FeatureSum uint32 `json:"feature_sum"` // CRC-32C of the features
	Sum        uint32 `json:"sum"`         // and of all after them
}

// Index is an open index. It does not change and is safe for concurrent use until Close.
type Index struct {
	info  Info
	pipe  *pipeline.Pipeline
	coder *coder // nil: no codes
	cells *cells // nil: none

	z      []float32 // rows × features
	norms  []float32 // ‖z‖²
	ids    []int64   // increasing
	codes  []uint64  // rows × words
	cellOf []uint32  // rows; none without cells

	path     string
	file     []byte
	free     func()
	verified func() error // Verify, once
	spoiled  atomic.Bool  // a feature is no number
}

// Info describes the index.
func (x *Index) Info() *Info { return &x.info }

// Close releases the file. No search may run then or later.
func (x *Index) Close() error {
	if x.free != nil {
		x.free()
		x.free = nil
	}
	return nil
}

// Progress is called now and then with the rows that are done and the share of the pass, negative if unknown.
type Progress func(rows int, share float64)

// Build writes the index of the rows of src, with features by p, to a file that appears whole or not at all. why
// tells what was chosen for p, and may be nil. Memory is 12 bytes a row and its code, 4 for cells and the centres; the source is read twice for signs, and for cells once more.
func Build(ctx context.Context, path string, src dataset.Source, schema dataset.Schema, p *pipeline.Pipeline,
	why map[string]string, cfg Config, progress Progress) (*Info, error) {
	switch {
	case p.Kernel() != nil:
		return nil, fmt.Errorf("the kernel %s has no map; an index needs features", p.Kernel().Name)
	case p.Projection() != nil:
		return nil, fmt.Errorf("an index has no principal components; give a map of fewer features")
	}
	c, err := newCoder(cfg, p)
	if err != nil {
		return nil, err
	}
	if c != nil && !c.ofRows {
		mean, err := meanOf(ctx, src, p, cfg.Seed)
		if err != nil {
			return nil, err
		}
		c.centred(mean)
	}
	var divided *cells
	switch {
	case cfg.Cells > 0:
		if divided, err = findCells(ctx, src, p, cfg); err != nil {
			return nil, err
		}
		cfg.Cells = divided.centres.Rows
	case c == nil:
		cfg = Config{}
	}
	if c != nil {
		cfg.Bits = c.bits
	}
	in, d := p.Dims()
	schema.Dim = in
	w, err := create(path, Info{Config: cfg, Features: d, Schema: schema, Scale: p.Scaler().Kind,
		Densify: p.Scaler().Densify, Feature: p.Feature(), Why: why}, p, c, divided)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.addAll(ctx, src, progress); err != nil {
		return nil, err
	}
	if w.info.Rows == 0 {
		return nil, fmt.Errorf("%s: no rows to index", src.Name())
	}
	return w.commit()
}

// Add writes the index x with the rows of src after its own to path, which may be the file of x. The
// rows get the numbers that follow the largest that x ever had.
func (x *Index) Add(ctx context.Context, path string, src dataset.Source, progress Progress) (*Info, error) {
	w, err := x.rewrite(ctx, path, func(int64) bool { return true })
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.addAll(ctx, src, progress); err != nil {
		return nil, err
	}
	return w.commit()
}

// Delete writes the index x without the rows of the given numbers to path, which may be the file of x. It
// fails if x lacks one of them, and if none would be left. All others keep their numbers.
func (x *Index) Delete(ctx context.Context, path string, ids []int64) (*Info, error) {
	gone := make(map[int64]bool, len(ids))
	if err := guarded(x.path, func() error {
		for _, id := range ids {
			if x.find(id) < 0 {
				return fmt.Errorf("the index has no row %d; nothing was deleted", id)
			}
			gone[id] = true
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if len(gone) == x.info.Rows {
		return nil, fmt.Errorf("the index would have no rows left; remove its file instead")
	}
	w, err := x.rewrite(ctx, path, func(id int64) bool { return !gone[id] })
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.commit()
}

// rewrite begins a file with the rows of x that keep names. It checks the features that it copies.
func (x *Index) rewrite(ctx context.Context, path string, keep func(id int64) bool) (*writer, error) {
	if err := guarded(x.path, x.Verify); err != nil {
		return nil, err
	}
	info := x.info
	info.Rows = 0
	w, err := create(path, info, x.pipe, x.coder, x.cells)
	if err != nil {
		return nil, err
	}
	if err := guarded(x.path, func() error { return x.copyTo(ctx, w, keep) }); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// copyTo writes the rows that keep names.
func (x *Index) copyTo(ctx context.Context, w *writer, keep func(id int64) bool) error {
	d, words := x.info.Features, x.words()
	for i, id := range x.ids {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !keep(id) {
			continue
		}
		if x.cells != nil {
			w.cellOf = append(w.cellOf, x.cellOf[i])
		}
		if err := w.row(id, x.z[i*d:(i+1)*d], x.norms[i], x.codes[i*words:(i+1)*words]); err != nil {
			return err
		}
	}
	return nil
}

// words is the length of a code.
func (x *Index) words() int { return x.info.Bits / 64 }

// find is the place of a row of a number, -1 if there is none.
func (x *Index) find(id int64) int {
	lo, hi := 0, len(x.ids)
	for lo < hi {
		if mid := (lo + hi) / 2; x.ids[mid] < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(x.ids) && x.ids[lo] == id {
		return lo
	}
	return -1
}

// addAll appends the rows of a source.
func (w *writer) addAll(ctx context.Context, src dataset.Source, progress Progress) error {
	rows := 0
	z := matrix.NewDense(0, 0)
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		for i := 0; i < b.X.Len(); i += pipeline.Chunk {
			part := b.X.Slice(i, min(i+pipeline.Chunk, b.X.Len()))
			if data, err := w.add(part, z); err != nil {
				if !data {
					return err
				}
				return pipeline.Refused(err, src, b.First+i)
			}
		}
		if rows += b.X.Len(); progress != nil {
			progress(rows, b.Pass.Progress())
		}
	}
	return nil
}
