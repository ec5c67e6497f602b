package train

import (
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// each passes over the data and calls body with a batch and its features, at most pipeline.Chunk rows at a
// time.
func (f *job) each(stage string, body func(b *matrix.Batch, z matrix.Rows) error) error {
	return f.eachOf(f.src, stage, body)
}

// eachOf is each for the rows of any source.
func (f *job) eachOf(src dataset.Source, stage string, body func(b *matrix.Batch, z matrix.Rows) error) error {
	pass := f.pipe.Pass()
	rows := 0
	for b, err := range dataset.Each(f.ctx, src) {
		if err != nil {
			return err
		}
		for i := 0; i < b.X.Len(); i += pipeline.Chunk {
			part := b.Slice(i, min(i+pipeline.Chunk, b.X.Len()))
			if f.check != nil {
				if err := f.check(&part); err != nil {
					return err
				}
			}
			if part.X.Dim() > f.schema.Dim {
				if err := f.tooWide(&part); err != nil {
					return err
				}
			}
			start := time.Now()
			z, err := pass.Map(part.X)
			if err != nil {
				return pipeline.Refused(err, src, part.First)
			}
			f.report.Map += time.Since(start).Seconds()
			if err := body(&part, z); err != nil {
				return err
			}
			rows += part.X.Len()
			f.progress(stage, rows, b.Pass.Progress())
			if err := f.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// tooWide looks for a row with more dimensions than those of the survey. If there is none it makes the
// batch as wide as these.
func (f *surveyed) tooWide(b *matrix.Batch) error {
	for i := range b.X.Len() {
		if idx, _ := b.X.CSR.Row(i); len(idx) > 0 && int(idx[len(idx)-1]) >= f.schema.Dim {
			return option.Errorf("%s has %s, but the rows that were looked at first have %d dimensions; say with %s how many there are, "+
				"or look at more with %s", dataset.RowPlace(f.src, b.First+i), f.src.Schema().DimName(int(idx[len(idx)-1])), f.schema.Dim,
				option.Ref("dim"), option.Ref("survey_rows"))
		}
	}
	narrow := *b.X.CSR
	narrow.Cols = f.schema.Dim
	b.X = matrix.Rows{CSR: &narrow}
	return nil
}

// findOutside passes over all rows to find the first number outside the kernel's domain.
func (f *problem) findOutside(p *pipeline.Pipeline) error {
	j := job{problem: *f, pipe: p}
	return j.each("read", func(*matrix.Batch, matrix.Rows) error { return nil })
}
