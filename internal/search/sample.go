package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/train"
)

// Sample holds rows of a source, drawn at random, for trials on few rows: some to
// train on, ordered so that every prefix is a sample too, and others to judge by, which
// are never trained on. If labels are classes, each prefix has them in the same shares as the
// whole, and at least one row of each class that was drawn before it has two of any.
//
// Memory: 4·d bytes per dense row, 8 per value of a sparse one.
type Sample struct {
	// Task is the kind of labels: "classify", "regress" or "multilabel".
	Task string

	source  dataset.Source
	summary *dataset.Summary // of the whole source
	all     int              // rows of the source
	guessed bool             // all is an estimate from the share of the source that was read
	perRow  float64          // seconds spent waiting for the source, per row

	rows   *matrix.Batch // in the order of the source
	from   []int         // the number of each drawn row in the source
	strata []int         // the class of each drawn row, or 0
	folds  []fold        // one, or a few if there are so few rows that all have to judge

	// clusters are of the held rows of all folds, one fold after the other: the losses of rows with the same number are
	// not independent. nil: all are independent.
	clusters []int
}

// fold is one division of the drawn rows, which are numbered from 0 in the order of the source.
type fold struct {
	// train are the rows to train on, those of the smallest training first; held those that judge,
	// in the order of the source.
	train, held []int

	// ends are the numbers of rows, ascending, at which a prefix of train may end; nil means all.
	ends []int
}

// A sample of fewer rows than fewRows is divided smallFolds times, so that all its rows
// judge; of larger ones a third is held out, at most mostHeld.
const (
	fewRows    = 6000
	smallFolds = 5
	mostHeld   = 10_000
)

// Rows is the number of rows of the source.
func (s *Sample) Rows() int { return s.all }

// bytes is the memory of the drawn rows.
func (s *Sample) bytes() int64 {
	if x := s.rows.X.CSR; x != nil {
		return 8 * int64(x.NNZ())
	}
	return 4 * int64(s.rows.X.Len()) * int64(s.rows.X.Dim())
}

// ofRows is the sample treated as one of a source with the given number of rows.
func (s *Sample) ofRows(n int) *Sample {
	again := *s
	again.all, again.guessed = n, false
	return &again
}

// redivided is the sample with its rows divided by another seed, a third of them held out.
func (s *Sample) redivided(seed uint64) *Sample {
	again := *s
	again.divide(seed, 1)
	return &again
}

// unbalanced says that a class of the rows is rare (learn.Unbalanced), so that races are judged by log loss.
func (s *Sample) unbalanced() bool {
	return s.Task == "classify" && learn.Unbalanced(s.strata, slices.Max(s.strata)+1)
}

// Plan is the plan of a training of c on n rows like these.
func (s *Sample) Plan(ctx context.Context, c train.Config, n int, memory int64) (*train.Plan, error) {
	return s.planFrom(ctx, s.trainRows(), c, n, memory)
}

// planFrom is Plan, decided by the first rows to train on.
func (s *Sample) planFrom(ctx context.Context, first int, c train.Config, n int, memory int64) (*train.Plan, error) {
	c.Task = s.Task
	return train.NewPlan(ctx, s.train(0, min(first, s.trainRows())), n, c, train.Options{Memory: memory})
}

// divide divides the rows into those to train on and those that judge: a third of them, or with several
// folds each row once. Within a stratum rows are in random order; the r-th of m is placed at r/m in the
// order of all, so that every prefix has the shares of the whole.
func (s *Sample) divide(seed uint64, folds int) {
	n := len(s.strata)
	byStratum := map[int][]int{}
	for i, c := range s.strata {
		byStratum[c] = append(byStratum[c], i)
	}
	hash := func(i int) uint64 { return random.Hash(seed, "race-order", uint64(s.from[i])) }
	inOrder := func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), a-b) }
	for _, rows := range byStratum {
		slices.SortFunc(rows, inOrder)
	}
	every := max(3, int(math.Ceil(float64(n)/mostHeld)))
	if folds > 1 {
		folds = min(folds, n/2)
		every = folds
	}
	s.folds = make([]fold, folds)
	for k := range s.folds {
		f := &s.folds[k]
		place := make(map[int]float64, n)
		held := 0 // rows of earlier strata, so that small ones do not all miss the same fold
		for _, c := range slices.Sorted(maps.Keys(byStratum)) {
			rows := byStratum[c]
			kept := 0
			for r, i := range rows {
				if len(rows) > 1 && (held+r)%every == k {
					f.held = append(f.held, i)
					continue
				}
				// The first of a class comes before the second of any other, and then by its share.
				place[i] = float64(kept) / float64(len(rows))
				if kept > 0 {
					place[i]++
				}
				kept++
				f.train = append(f.train, i)
			}
			held += len(rows)
		}
		slices.SortFunc(f.train, func(a, b int) int { return cmp.Or(cmp.Compare(place[a], place[b]), inOrder(a, b)) })
		slices.Sort(f.held)
	}
}

// trainRows is the largest number of rows that a trial can train on.
func (s *Sample) trainRows() int {
	n := len(s.folds[0].train)
	for _, f := range s.folds[1:] {
		n = min(n, len(f.train))
	}
	return n
}

// heldRows is the number of rows that judge a racer, over all folds.
func (s *Sample) heldRows() (n int) {
	for _, f := range s.folds {
		n += len(f.held)
	}
	return n
}

// train is a source of the first n training rows of a fold, in the order of the source
// they come from. If the sample has groups it is the first groups, as many as have at most n rows.
func (s *Sample) train(fold, n int) dataset.Source {
	f := s.folds[fold]
	if f.ends != nil {
		at, _ := slices.BinarySearch(f.ends, n+1) // the first end after n
		n = f.ends[max(at-1, 0)]
	}
	return s.some(slices.Sorted(slices.Values(f.train[:n])))
}

// held is a source of the rows of a fold that judge.
func (s *Sample) held(fold int) dataset.Source { return s.some(s.folds[fold].held) }

// some is a source of copies of some of the drawn rows.
func (s *Sample) some(rows []int) dataset.Source {
	r := &sampledRows{sample: s, rows: rows, schema: *s.source.Schema()}
	r.schema.Dim = s.summary.Dim
	return r
}

type sampledRows struct {
	sample *Sample
	schema dataset.Schema
	rows   []int
}

func (r *sampledRows) Name() string            { return r.sample.source.Name() }
func (r *sampledRows) Schema() *dataset.Schema { return &r.schema }

// Origin implements dataset.Renumbered.
func (r *sampledRows) Origin(row int) int {
	return dataset.Origin(r.sample.source, r.sample.from[r.rows[row]])
}

func (r *sampledRows) Open(ctx context.Context) (dataset.Reader, error) {
	return &sampleReader{sampledRows: r, ctx: ctx}, nil
}

type sampleReader struct {
	*sampledRows
	ctx context.Context
	row int
}

// batchRows is the number of rows in a batch of a sample.
const batchRows = 4096

func (r *sampleReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == len(r.rows) {
		return nil, io.EOF
	}
	rows, all := r.rows[r.row:min(r.row+batchRows, len(r.rows))], r.sample.rows
	b := &matrix.Batch{X: matrix.Pick(all.X, rows), First: r.row, Outputs: all.Outputs}
	for _, i := range rows {
		one := all.Slice(i, i+1)
		b.Y, b.Names, b.Weights = append(b.Y, one.Y...), append(b.Names, one.Names...), append(b.Weights, one.Weights...)
	}
	r.row += len(rows)
	return b, nil
}

func (r *sampleReader) Progress() float64 { return float64(r.row) / float64(max(1, len(r.rows))) }
func (r *sampleReader) Close() error      { return nil }

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
		wanted := b.Slice(0, left)
		b = &wanted
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
