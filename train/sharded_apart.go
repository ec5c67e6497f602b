package train

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
	"mercer/model"
)

// A learner with leaves is trained in pieces by them: a sample of all rows (Sample) settles scaling, kinds and metrics, and divides the rows into
// parts (Settle); every row goes to its parts (Route); the leaves of a part grow from its rows (Grow); and the sample joins them (Joined).

// Apart says whether a training in pieces grows leaves from parts of the rows.
func (c Config) Apart() bool {
	l := c.Traits()
	return l != nil && l.apart
}

// Sample returns those of some rows that are in the sample, as they are before scaling. first is the number of the first row.
func (s *Sharded) Sample(ctx context.Context, src dataset.Source, first int) (*rfm.Rows, error) {
	in := &rfm.Rows{X: &matrix.Dense{Cols: s.f.schema.Dim, Stride: s.f.schema.Dim}}
	err := s.eachRow(ctx, src, first, false, func(key int, x []float32, y []float64, weight float64) error {
		if rfm.Sampled(s.f.cfg.Seed, s.f.sum.Rows, key) {
			in.X.Data = append(in.X.Data, x...)
			in.X.Rows++
			in.Y, in.Weights, in.Keys = append(in.Y, y...), append(in.Weights, weight), append(in.Keys, key)
		}
		return nil
	})
	return in, err
}

// eachRow calls body with every row that has a weight, dense and, if that is asked for, scaled.
func (s *Sharded) eachRow(ctx context.Context, src dataset.Source, first int, scaled bool,
	body func(key int, x []float32, y []float64, weight float64) error) error {
	f := *s.f
	f.ctx, f.src, f.report = ctx, src, &Report{}
	var work matrix.Dense
	var y []float64
	return f.each("read", func(b *matrix.Batch, rows matrix.Rows) error {
		if !scaled {
			rows = b.X
		}
		dense := rows.Dense
		if rows.CSR != nil {
			rows.CSR.Cols = f.schema.Dim
			rows.CSR.Densify(&work)
			dense = &work
		}
		y = slices.Grow(y[:0], dense.Rows*f.outputs)[:dense.Rows*f.outputs]
		if err := f.targets(b, y); err != nil {
			return err
		}
		for i := range dense.Rows {
			if w := f.weight(b, i); w > 0 {
				if err := body(first+b.First+i, dense.Row(i), y[i*f.outputs:][:f.outputs], w); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Settle settles scaling, kinds and metrics by the sample of all rows, and divides these into parts of about so many rows (0: rfm.PartRows).
func (s *Sharded) Settle(ctx context.Context, sample *rfm.Rows, part int) error {
	f := s.goOn(ctx).job
	scale, err := f.cfg.Scale, error(nil)
	if f.cfg.scaleByRows() {
		some := make([]int, min(scaleRows, sample.X.Rows))
		for i := range some {
			some[i] = i * sample.X.Rows / len(some)
		}
		x, y, weights := matrix.Pick(matrix.Rows{Dense: sample.X}, some), []float64(nil), []float64(nil)
		for _, i := range some {
			y, weights = append(y, sample.Y[i*f.outputs:][:f.outputs]...), append(weights, sample.Weights[i])
		}
		if scale, err = f.scaleBy(x, y, weights); err != nil {
			return err
		}
	}
	if err := s.scaled(ctx, scale); err != nil {
		return err
	}
	rows := *sample
	rows.X = &matrix.Dense{Rows: sample.X.Rows, Cols: sample.X.Cols, Stride: sample.X.Cols}
	pass := s.f.pipe.Pass()
	for i := 0; i < sample.X.Rows; i += pipeline.Chunk {
		rows.X.Data = append(rows.X.Data, pass.Scale(matrix.Rows{Dense: sample.X.Slice(i, min(i+pipeline.Chunk, sample.X.Rows))}).Dense.Contiguous()...)
	}
	opt := f.rfmOptions()
	opt.Progress = func(share float64) { f.progress("solve", 0, share) }
	s.top, err = rfm.NewTop(ctx, rows, f.outputs, f.sum.Rows, part, opt)
	return err
}

// scaled takes a scaling that rows have chosen.
func (s *Sharded) scaled(ctx context.Context, scale string) error {
	f := s.f
	if f.cfg.Scale == scale {
		return nil
	}
	f.cfg.Scale = scale
	p, why, err := pipeline.Settle(ctx, *f.cfg.pipeline(), f.rows())
	if err != nil {
		return err
	}
	chosen := f.why["scale"]
	maps.Copy(f.why, why)
	if f.pipe = p; chosen != "" {
		f.why["scale"] = chosen
	}
	return nil
}

// WriteTop writes what Settle settled, with a description of what it is.
func (s *Sharded) WriteTop(w io.Writer, meta map[string]string) error {
	all := maps.Clone(meta)
	all["scale"], all["why"] = s.f.cfg.Scale, s.f.why["scale"]
	return s.top.Write(w, all)
}

// ReadTop takes in what WriteTop wrote, and returns its description.
func (s *Sharded) ReadTop(ctx context.Context, r io.Reader, size int64) (map[string]string, error) {
	top, meta, err := rfm.ReadTop(r, size, s.f.rfmOptions())
	if err != nil {
		return nil, err
	}
	if err := s.scaled(ctx, meta["scale"]); err != nil {
		return nil, err
	}
	if why := meta["why"]; why != "" {
		s.f.why["scale"] = why
	}
	s.top = top
	return meta, nil
}

// Top is what was settled by the sample.
func (s *Sharded) Top() *rfm.Top { return s.top }

// Route calls put with each row, and each part that it belongs to.
func (s *Sharded) Route(ctx context.Context, src dataset.Source, first int, put func(part, key int, x []float32, y []float64, weight float64) error) error {
	var parts []int
	return s.eachRow(ctx, src, first, true, func(key int, x []float32, y []float64, weight float64) error {
		parts = s.top.Route(parts[:0], x)
		for _, part := range parts {
			if err := put(part, key, x, y, weight); err != nil {
				return err
			}
		}
		return nil
	})
}

// Joined is the model of the leaves of all parts, in order.
func (s *Sharded) Joined(ctx context.Context, parts []*rfm.Part) (*model.Model, *Report, error) {
	start := time.Now()
	t := s.goOn(ctx)
	f := t.job
	machine, report, err := s.top.Join(ctx, parts, func(share float64) { f.progress("solve", 0, share) })
	if err != nil {
		return nil, nil, f.located(err)
	}
	sample := s.top.Sample()
	all := &gathered{y: sample.Y, weights: sample.Weights}
	if f.classes != nil {
		for i := range sample.Keys {
			y := sample.Y[i*f.outputs:][:f.outputs]
			class := slices.Index(y, 1)
			if len(y) == 1 {
				class = int(y[0]+1) / 2
			}
			all.class = append(all.class, class)
		}
	}
	f.report.Solve += time.Since(start).Seconds()
	t.solved = &solution{predictor: model.NewRecursive(machine, report), report: report, unseen: f.keepUnseen(report, all)}
	return t.trained(start, t.take(ofSolution))
}
