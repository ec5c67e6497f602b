package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Draw draws up to n rows of a source, which it reads once. task is that of train.Config. seed
// alone decides which rows are drawn, however they are batched.
func Draw(ctx context.Context, src dataset.Source, n int, task string, seed uint64) (*Sample, error) {
	return drawFrom(ctx, src, n, 0, task, seed)
}

// If the source has fewer than wholeFactor times the rows wanted, all are read: counting is
// quick, and the share read so far includes read-ahead, which is much of a small file.
const wholeFactor = 8

// DrawFirst draws its rows from the first rows of a source, and reads no more of it than it
// must. The number of rows of the source is estimated from the share that these make up.
func DrawFirst(ctx context.Context, src dataset.Source, n int, task string, seed uint64) (*Sample, error) {
	return drawFrom(ctx, src, n, n, task, seed)
}

// drawFrom draws n rows from the first rows of a source, where first = 0 means all.
func drawFrom(ctx context.Context, src dataset.Source, n, first int, task string, seed uint64) (*Sample, error) {
	t := &tee{Source: src, most: max(n, 2), first: first, seed: seed, limit: math.MaxUint64}
	sum, err := dataset.Survey(ctx, t, dataset.SurveyOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	all, guessed := t.seen, false
	if first > 0 && !t.ended && t.share >= 1 {
		return drawFrom(ctx, src, n, 0, task, seed) // the whole of a small file was read ahead
	}
	if first > 0 && !t.ended && t.share > 0 {
		rows, share := float64(t.seen), t.share
		if t.share > t.firstShare {
			// What was read ahead of the rows counts in both shares, but not in their difference.
			rows, share = rows-float64(t.firstRows), share-t.firstShare
		}
		all, guessed = max(t.seen, int(rows/share+0.5)), true
		if all < wholeFactor*first {
			return drawFrom(ctx, src, n, 0, task, seed)
		}
	}
	t.prune()
	slices.SortFunc(t.rows, func(a, b teeRow) int { return a.number - b.number })
	rows, from := &matrix.Batch{}, make([]int, len(t.rows))
	for i := range t.rows {
		rows.Append(&t.rows[i].Batch, sum.Dim)
		from[i], t.rows[i] = t.rows[i].number, teeRow{}
	}
	s, err := newSample(src, sum, rows, from, task)
	if err != nil {
		return nil, err
	}
	s.all, s.guessed, s.perRow = all, guessed, t.waited.Seconds()/float64(max(t.seen, 1))
	if len(from) < fewRows {
		s.divide(seed, smallFolds)
	} else {
		s.divide(seed, 1)
	}
	return s, nil
}

// newSample makes a sample, not divided yet, of rows of a source with the given numbers.
func newSample(src dataset.Source, sum *dataset.Summary, rows *matrix.Batch, from []int, task string) (*Sample, error) {
	s := &Sample{source: src, summary: sum, all: sum.Rows, rows: rows, from: from, strata: make([]int, len(from))}
	if task == "outliers" {
		return nil, option.Errorf("%s: outliers have no labels to judge a candidate by; train with %s one-class", src.Name(),
			option.Ref("learner"))
	}
	var err error
	if s.Task, _, err = sum.Task(cmp.Or(task, "auto")); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	if s.Task == "classify" {
		classes, err := sum.Classes()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Name(), err)
		}
		for i := range s.strata {
			s.strata[i] = classes.Of(rows, i)
		}
	}
	if len(from) < 4 {
		return nil, fmt.Errorf("%s: has %d rows; a race of candidates takes 4 at least, some to train on and some to judge by",
			src.Name(), len(from))
	}
	return s, nil
}

// tee is a source of which a uniform sample is drawn while it is read: the rows whose numbers have the smallest hashes.
type tee struct {
	dataset.Source
	most  int
	first int // rows to read, 0 meaning all
	seed  uint64
	limit uint64 // of the hashes
	rows  []teeRow

	seen       int     // rows read; all but the end of the last batch were drawn from
	share      float64 // of the source that was read
	firstRows  int     // of the first batch, and the share after it
	firstShare float64
	ended      bool          // the source was read to its end
	waited     time.Duration // time spent waiting for the source
}

// teeRow is a row that may be drawn.
type teeRow struct {
	matrix.Batch
	hash   uint64
	number int
}

func (t *tee) Open(ctx context.Context) (dataset.Reader, error) {
	r, err := t.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &teeReader{r, t}, nil
}

type teeReader struct {
	dataset.Reader
	*tee
}

func (r *teeReader) Next() (*matrix.Batch, error) {
	if r.first > 0 && r.seen >= r.first {
		return nil, io.EOF
	}
	start := time.Now()
	b, err := r.Reader.Next()
	r.waited += time.Since(start)
	if err != nil {
		r.ended = errors.Is(err, io.EOF)
		return b, err
	}
	left := r.first - r.seen
	r.seen += b.X.Len()
	if r.share = r.Progress(); r.firstRows == 0 {
		r.firstRows, r.firstShare = r.seen, r.share
	}
	if r.first > 0 && left < b.X.Len() {
		part := b.Slice(0, left)
		b = &part
	}
	for i := range b.X.Len() {
		h := random.Hash(r.seed, "race-sample", uint64(b.First+i))
		if h > r.limit {
			continue
		}
		row, one := teeRow{hash: h, number: b.First + i}, b.Slice(i, i+1)
		row.Append(&one, b.X.Dim())
		if r.rows = append(r.rows, row); len(r.rows) >= 2*r.most {
			r.prune()
		}
	}
	return b, nil
}

// prune keeps the rows with the smallest hashes.
func (t *tee) prune() {
	slices.SortFunc(t.rows, func(a, b teeRow) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.number-b.number) })
	if len(t.rows) > t.most {
		t.rows = slices.Clone(t.rows[:t.most])
		t.limit = t.rows[t.most-1].hash
	}
}
