package shard

import (
	"context"
	"math"
	"time"

	"mercer/internal/solve/rfm"
	"mercer/matrix"
)

// The trials of a learner with leaves choose by mostTried rows, as many as a training does, and grow leaves from as many. What joins these is a
// sample of rfm.SampleRows.
const (
	mostTried  = 10_000
	grownTried = 10_000
	triedParts = 16
)

// tryApart goes on from the survey with the rounds of a learner with leaves, for all rows.
func (e *Estimate) tryApart(ctx context.Context, w *Worker, all int64) error {
	sum := func(round string) (sum, error) {
		var t tree
		start := time.Now()
		for i := range w.Plan.Data.All {
			s, err := w.piece(ctx, round, i)
			if err == nil {
				err = t.add(ctx, &node{from: i, sum: s})
			}
			if err != nil {
				return nil, w.Plan.Named(i, err)
			}
		}
		e.Row[round] = time.Since(start).Seconds() / float64(w.summary.Rows)
		return t.root(ctx)
	}
	total, err := sum(roundSample)
	if err != nil {
		return err
	}
	sample, rows, part := head(total.(sampleSum).Rows, mostTried), int(min(all, math.MaxInt32)), w.Plan.Part
	if part == 0 {
		part = rfm.PartRows
	}
	for e.Parts = 1; rows > part*e.Parts; {
		e.Parts *= 2
	}
	w.sharded.Take(rows) // which have fewer machines in a leaf
	// Every division of the rows learns metrics again.
	start := time.Now()
	if err := w.sharded.Settle(ctx, sample, max(1, rows/triedParts)); err != nil {
		return err
	}
	divided, divisions := time.Since(start).Seconds(), w.sharded.Top().Parts()-1
	w.Plan.Part, start = rows, time.Now()
	if total, err = w.conclude(ctx, roundSample, sampleSum{sample}); err == nil {
		err = w.learn(ctx, roundSample, total, "tried")
	}
	if err != nil {
		return err
	}
	e.Settle = time.Since(start).Seconds()
	if divisions > 0 {
		e.Settle += max(0, divided-e.Settle) / float64(divisions) * float64(e.Parts-1)
	}
	if total, err = sum(roundRows); err == nil {
		err = w.learn(ctx, roundRows, total, "tried")
	}
	if err != nil {
		return err
	}
	parts, err := e.tryLeaves(ctx, w, all)
	if err != nil {
		return err
	}
	start = time.Now()
	if _, _, err := w.sharded.Joined(ctx, parts); err != nil {
		return err
	}
	e.Solve = time.Since(start).Seconds() * max(1, float64(rfm.JoinRows(rows))/float64(sample.X.Rows))
	d, k := sample.X.Cols, len(sample.Y)/sample.X.Rows
	e.Dim, e.Feature, e.row = d, d, int64(16+8*k+4*d)
	e.WorkerMemory = 2*e.row*int64(min(rows, part)) + rfm.Bytes(min(rows, part), d, k, rfm.Options{Logistic: true})
	e.SolveMemory = e.Sum + 2*e.row*int64(rfm.SampleRows(rows))
	return nil
}

// tryLeaves grows leaves from a few rows of each part.
func (e *Estimate) tryLeaves(ctx context.Context, w *Worker, all int64) ([]*rfm.Part, error) {
	top := w.sharded.Top()
	parts, took, tried := make([]*rfm.Part, top.Parts()), 0.0, 0
	var bytes counted
	for p := range parts {
		rows, err := w.rowsOf(ctx, p)
		if err != nil {
			return nil, err
		}
		some, start := head(rows, grownTried/len(parts)), time.Now()
		if parts[p], err = top.Grow(ctx, p, *some, nil); err != nil {
			return nil, err
		}
		took, tried = took+time.Since(start).Seconds(), tried+some.X.Rows
		if err := parts[p].Write(&bytes, top, nil); err != nil {
			return nil, err
		}
	}
	e.Row[roundLeaves] = took / float64(tried)
	e.Sum = int64(float64(bytes) / float64(tried) * float64(all))
	return parts, nil
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
