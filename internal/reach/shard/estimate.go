package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"mercer/dataset"
	"mercer/train"
)

// EstimateOptions say what a training is estimated for.
type EstimateOptions struct {
	// Rows is the number of rows, 0 for those of the data.
	Rows int64

	// Piece is the size of a piece in bytes (0: DefaultPiece).
	Piece int64

	// Part is that of a plan, 0 for its own.
	Part int

	// Workers are numbers of workers, each like this machine; nil means powers of two.
	Workers []int

	// Network is what a worker reads and writes in bytes a second (0: 1.25e9, ten gigabits), Start the seconds until a worker of
	// a round begins.
	Network float64
	Start   float64

	// Rate is the price of a worker for an hour.
	Rate float64

	// Train has the memory that trials may use.
	Train train.Options
}

// Estimate is what a training would take, from trials on a few rows of the data at the full number of features.
type Estimate struct {
	Rows    int64 `json:"rows"`
	Bytes   int64 `json:"bytes"` // of the data
	Pieces  int   `json:"pieces"`
	Dim     int   `json:"d"`
	Feature int   `json:"features"`
	Parts   int   `json:"parts"` // of the rows, with statistics or leaves of their own

	// Leaves says that the learner has leaves, which grow in parts.
	Leaves bool `json:"leaves,omitempty"`

	// Sum is the size of a file of statistics, or of all leaves; WorkerMemory and SolveMemory are what a worker holds, and who makes the model.
	Sum          int64 `json:"sum_bytes"`
	WorkerMemory int64 `json:"worker_memory_bytes"`
	SolveMemory  int64 `json:"solve_memory_bytes"`

	// Seconds of a row in each round, and of a sum: to add one to another, to write and to read it. Solve is for the model, and Settle
	// for scaling, kernel and map, which every process of the last round settles for itself.
	Row   map[string]float64 `json:"row_seconds"`
	Add   float64            `json:"add_seconds"`
	Write float64            `json:"write_seconds"`
	Read  float64            `json:"read_seconds"`
	Solve float64            `json:"solve_seconds"`

	Settle float64 `json:"settle_seconds"`

	Scales []Scale `json:"scales"`

	start, network, rate float64
	row                  int64 // bytes of a row of a part
}

// Scale is what a number of workers would take, each running one shard in each round.
type Scale struct {
	Workers int     `json:"workers"`
	Seconds float64 `json:"seconds"`
	Rounds  float64 `json:"round_seconds"` // of which the workers run
	Merge   float64 `json:"merge_seconds"`
	Solve   float64 `json:"solve_seconds"`
	Moved   int64   `json:"moved_bytes"` // data read and sums written and read
	Price   float64 `json:"price"`
	Share   float64 `json:"efficiency"` // of what one worker would take, divided by the workers
}

// trialPiece is the size of the pieces of which trials read two, or of more that are smaller.
const trialPiece = 8 << 20

// NewEstimate estimates a training. It reads a few pieces of the data and, at the features of the training, collects statistics of them,
// adds two, writes and reads them, and makes a model.
func NewEstimate(ctx context.Context, path string, opt dataset.Options, cfg train.Config, o EstimateOptions) (*Estimate, error) {
	if o.Piece == 0 {
		o.Piece = DefaultPiece
	}
	if o.Network == 0 {
		o.Network = 1.25e9
	}
	p, err := NewPlan(ctx, path, opt, cfg, 1, min(o.Piece, trialPiece))
	if err != nil {
		return nil, err
	}
	if p.Config.Passes() {
		return nil, errors.New("an estimate is for learners that take one pass or have leaves, since how many passes others take is seen when they are done")
	}
	if o.Part != 0 {
		if err := p.SetPart(o.Part); err != nil {
			return nil, err
		}
	}
	e := &Estimate{Row: map[string]float64{}, start: o.Start, network: o.Network, rate: o.Rate}
	n := min(max(2, int(2*trialPiece/min(o.Piece, trialPiece))), len(p.Data.All))
	all, tried := p.bytes(0, len(p.Data.All)), p.bytes(0, n)
	p.Data.All = p.Data.All[:n]
	if err := p.divide(1); err != nil {
		return nil, err
	}
	w := &Worker{Plan: p, store: memory{}, opt: train.Options{}, state: map[string]string{}}
	e.Rows, e.Bytes = o.Rows, all
	rows, err := e.tryRounds(ctx, w, func(rows int) {
		if e.Rows == 0 {
			e.Rows = int64(float64(rows) * float64(all) / float64(max(tried, 1)))
		} else {
			e.Bytes = int64(float64(tried) / float64(rows) * float64(e.Rows))
		}
	})
	if err != nil {
		return nil, err
	}
	try := func() error { return e.trySums(ctx, w, rows, o.Train) }
	if e.Leaves = w.config().Apart(); e.Leaves {
		try = func() error { return e.tryApart(ctx, w, e.Rows) }
	}
	if err := try(); err != nil {
		return nil, err
	}
	e.Pieces = int(max(1, e.Bytes/o.Piece))
	workers := o.Workers
	if workers == nil {
		for k := 1; k <= e.Pieces && k <= 4096; k *= 2 {
			workers = append(workers, k)
		}
	}
	for _, k := range workers {
		if k < 1 || k > e.Pieces {
			return nil, fmt.Errorf("%d workers for %d pieces; make pieces smaller, or take fewer workers", k, e.Pieces)
		}
		e.Scales = append(e.Scales, e.scale(k))
	}
	return e, nil
}

// bytes is the size of pieces in files.
func (p *Plan) bytes(from, to int) (n int64) {
	for _, piece := range p.Data.All[from:to] {
		switch piece.Of {
		case "bytes":
			n += piece.To - piece.From
		case "":
			n += piece.Size
		default: // a share of the file
			last := piece.To
			for _, other := range p.Data.All {
				if other.Path == piece.Path {
					last = max(last, other.To)
				}
			}
			n += int64(float64(piece.Size) * float64(piece.To-piece.From) / float64(max(last, 1)))
		}
	}
	return n
}

// tryRounds runs the rounds before those that collect statistics or grow leaves, and returns the number of rows, which it tells when they are surveyed.
func (e *Estimate) tryRounds(ctx context.Context, w *Worker, surveyed func(rows int)) (rows int, err error) {
	for round := w.next(); round != roundStatistics && round != roundSample; round = w.next() {
		var t tree
		start := time.Now()
		for i := range w.Plan.Data.All {
			s, err := w.piece(ctx, round, i)
			if err == nil {
				err = t.add(ctx, &node{from: i, sum: s})
			}
			if err != nil {
				return 0, w.Plan.Named(i, err)
			}
		}
		total, err := t.root(ctx)
		if err != nil {
			return 0, err
		}
		took := time.Since(start).Seconds()
		switch n := total.rows(); {
		case n > 0:
			rows = n
			e.Row[round] = took / float64(n)
		case rows == 0:
			return 0, errors.New("the first pieces have no rows")
		} // otherwise the rows need not be read in this round
		start = time.Now()
		if total, err = w.conclude(ctx, round, total); err == nil {
			err = w.learn(ctx, round, total, "tried")
		}
		if err != nil {
			return 0, err
		}
		e.Settle += time.Since(start).Seconds()
		if round != roundSurvey {
			continue
		}
		if surveyed(rows); w.Plan.Open() { // all rows decide on the learner
			if w.sharded, err = w.shardedFor(ctx, e.many(w.summary)); err == nil {
				w.Plan.Config = w.config()
				w.sharded, err = w.shardedFor(ctx, w.summary)
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return rows, nil
}

// many is the summary of all rows, as far as that of a few tells.
func (e *Estimate) many(few *dataset.Summary) *dataset.Summary {
	many := *few
	many.Rows = int(min(e.Rows, math.MaxInt32))
	many.NonZero = int64(float64(few.NonZero) * float64(many.Rows) / float64(few.Rows))
	return &many
}

// trySums settles the training for all rows, and times what is done with its sums.
func (e *Estimate) trySums(ctx context.Context, w *Worker, rows int, opt train.Options) error {
	few := *w.summary
	name := w.Plan.Data.Path
	s, err := w.shardedFor(ctx, e.many(&few))
	if err != nil {
		return err
	}
	c := s.Cost()
	e.Dim, e.Feature, e.Parts, e.Sum = few.Dim, c.Features, c.Parts, c.File
	e.WorkerMemory, e.SolveMemory = 3*c.Sum+c.Worker, c.Sum+c.Solver
	if opt.Memory > 0 && max(e.WorkerMemory, e.SolveMemory) > opt.Memory {
		return fmt.Errorf("a trial with %d features takes %d bytes, more than the memory allowed; estimate on a larger machine", c.Features,
			max(e.WorkerMemory, e.SolveMemory))
	}
	if w.sharded, err = train.NewSharded(ctx, name, *w.schema, &few, s.Fixed(), train.Options{}); err != nil {
		return err
	}
	var total momentSum
	best := math.Inf(1)
	e.Add = math.Inf(1)
	for i := range w.Plan.Data.All {
		start := time.Now()
		s, err := w.piece(ctx, roundStatistics, i)
		if err != nil {
			return w.Plan.Named(i, err)
		}
		took := time.Since(start).Seconds()
		if s.rows() > 0 {
			best = min(best, took/float64(s.rows()))
		}
		if i == 0 {
			total = s.(momentSum)
			continue
		}
		start = time.Now()
		if err := total.merge(s); err != nil {
			return err
		}
		e.Add = min(e.Add, time.Since(start).Seconds())
	}
	if e.Row[roundStatistics] = best; math.IsInf(e.Add, 1) {
		e.Add = 0
	}
	start := time.Now()
	file, err := spill(total)
	if err != nil {
		return err
	}
	e.Write, start = time.Since(start).Seconds(), time.Now()
	again, err := unspill(file)
	if err != nil {
		return err
	}
	e.Read, start = time.Since(start).Seconds(), time.Now()
	_, _, err = w.sharded.Fit(ctx, again)
	e.Solve = time.Since(start).Seconds()
	return err
}

// scale is what k workers take.
func (e *Estimate) scale(k int) Scale {
	if e.Leaves {
		return e.scaleApart(k)
	}
	pieces := float64((e.Pieces + k - 1) / k)
	rows := pieces * float64(e.Rows) / float64(e.Pieces)
	bytes := pieces * float64(e.Bytes) / float64(e.Pieces)
	// A shard that does not begin at a power of two has two sums for each, and is one of about a quarter of its pieces at least.
	files := 1.0
	if k > 1 {
		files = min(pieces, 3)
	}
	sum := float64(e.Sum)
	s := Scale{Workers: k, Solve: e.Solve + e.Settle + max(e.Read, sum/e.network)}
	for round, each := range e.Row {
		took := max(rows*each, bytes/e.network) + e.start
		if round == roundStatistics {
			took += e.Settle + (pieces-1)*e.Add + files*max(e.Write, sum/e.network)
		}
		s.Rounds += took
		s.Moved += e.Bytes
	}
	all := files * float64(k)
	s.Merge = 2*e.Settle + all*(max(e.Read, sum/e.network)+e.Add) + max(e.Write, sum/e.network)
	s.Moved += int64((2*all + 2) * sum)
	s.Seconds = s.Rounds + s.Merge + s.Solve
	s.Price = e.rate / 3600 * (float64(k)*s.Rounds + s.Merge + s.Solve)
	one := s
	if k > 1 {
		one = e.scale(1)
	}
	s.Share = one.Seconds / (float64(k) * s.Seconds)
	return s
}

// Limit is the largest number of workers whose efficiency is at least a half.
func (e *Estimate) Limit() (workers int) {
	for _, s := range e.Scales {
		if s.Share >= 0.5 {
			workers = max(workers, s.Workers)
		}
	}
	return workers
}
