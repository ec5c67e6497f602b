package shard

import (
	"context"
	"time"

	"mercer/internal/solve/rfm"
	"mercer/matrix"
)

// The trials of a learner with leaves choose by mostTried rows, as many as a training does, and grow leaves from grownTried. What joins these is a
// sample of rfm.SampleRows.
const (
	mostTried  = 10_000
	grownTried = 6_000
)

// tryApart goes on from the survey with the rounds of a learner with leaves.
func (e *Estimate) tryApart(ctx context.Context, w *Worker, all int64) error {
	var sample, routed tree
	start, n := time.Now(), 0
	for i := range w.Plan.Data.All {
		s, err := w.piece(ctx, roundSample, i)
		if err == nil {
			n += s.rows()
			err = sample.add(ctx, &node{from: i, sum: s})
		}
		if err != nil {
			return w.Plan.Named(i, err)
		}
	}
	total, err := sample.root(ctx)
	if err != nil {
		return err
	}
	rows := head(total.(sampleSum).Rows, mostTried)
	e.Row[roundSample] = time.Since(start).Seconds() / float64(max(n, w.summary.Rows))
	start = time.Now()
	if total, err = w.conclude(ctx, roundSample, sampleSum{rows}); err == nil {
		err = w.learn(ctx, roundSample, total, "tried")
	}
	if err != nil {
		return err
	}
	e.Settle, start = time.Since(start).Seconds(), time.Now()
	for i := range w.Plan.Data.All {
		s, err := w.piece(ctx, roundRows, i)
		if err == nil {
			err = routed.add(ctx, &node{from: i, sum: s})
		}
		if err != nil {
			return w.Plan.Named(i, err)
		}
	}
	if total, err = routed.root(ctx); err == nil {
		err = w.learn(ctx, roundRows, total, "tried")
	}
	if err != nil {
		return err
	}
	e.Row[roundRows] = time.Since(start).Seconds() / float64(w.summary.Rows)
	top := w.sharded.Top()
	parts := make([]*rfm.Part, top.Parts())
	var bytes counted
	for p := range parts {
		rows, err := w.rowsOf(ctx, p)
		if err != nil {
			return err
		}
		some := head(rows, grownTried/len(parts))
		start = time.Now()
		if parts[p], err = top.Grow(ctx, p, *some, nil); err != nil {
			return err
		}
		took := time.Since(start).Seconds()
		e.Row[roundLeaves] += took / float64(some.X.Rows) / float64(len(parts))
		before := bytes
		if err := parts[p].Write(&bytes, top, nil); err != nil {
			return err
		}
		e.Sum += int64(float64(bytes-before) / float64(some.X.Rows) / float64(len(parts)) * float64(all))
	}
	start = time.Now()
	if _, _, err := w.sharded.Joined(ctx, parts); err != nil {
		return err
	}
	joined := float64(rfm.SampleRows(int(min(all, 1<<40)), true)) / float64(rows.X.Rows)
	e.Solve = time.Since(start).Seconds() * max(1, joined)
	d, k := rows.X.Cols, len(rows.Y)/rows.X.Rows
	e.Dim, e.Feature, e.row = d, d, int64(16+8*k+4*d)
	part := w.Plan.Part
	if part == 0 {
		part = rfm.PartRows
	}
	e.Parts = int((all + int64(part) - 1) / int64(part))
	e.WorkerMemory = 2*e.row*min(all, int64(part)) + rfm.Bytes(int(min(all, int64(part))), d, k, rfm.Options{Logistic: true})
	e.SolveMemory = e.Sum + 2*e.row*int64(rfm.SampleRows(int(min(all, 1<<40)), false))
	return nil
}

// head are the first of some rows.
func head(rows *rfm.Rows, n int) *rfm.Rows {
	n = min(n, rows.X.Rows)
	k := len(rows.Y) / max(1, rows.X.Rows)
	return &rfm.Rows{X: &matrix.Dense{Rows: n, Cols: rows.X.Cols, Stride: rows.X.Stride, Data: rows.X.Data[:n*rows.X.Stride]}, Y: rows.Y[:n*k],
		Weights: rows.Weights[:n], Keys: rows.Keys[:n]}
}

// counted counts bytes.
type counted int64

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

// scaleApart is what k workers take for a learner with leaves.
func (e *Estimate) scaleApart(k int) Scale {
	pieces := float64((e.Pieces + k - 1) / k)
	rows, bytes := pieces*float64(e.Rows)/float64(e.Pieces), pieces*float64(e.Bytes)/float64(e.Pieces)
	written := int64(float64(e.row) * float64(e.Rows))
	s := Scale{Workers: k, Merge: e.Settle, Solve: e.Solve + float64(e.Sum)/e.network, Moved: 2*written + 2*e.Sum}
	for round, each := range e.Row {
		if round == roundLeaves {
			parts := float64((e.Parts + k - 1) / k)
			share := parts / float64(e.Parts)
			s.Rounds += share*(each*float64(e.Rows)+float64(written+e.Sum)/e.network) + e.start
			continue
		}
		s.Rounds += max(rows*each, bytes/e.network) + e.start
		if s.Moved += e.Bytes; round == roundRows {
			s.Rounds += rows * float64(e.row) / e.network
		}
	}
	s.Seconds = s.Rounds + s.Merge + s.Solve
	s.Price = e.rate / 3600 * (float64(k)*s.Rounds + s.Merge + s.Solve)
	one := s
	if k > 1 {
		one = e.scaleApart(1)
	}
	s.Share = one.Seconds / (float64(k) * s.Seconds)
	return s
}
