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
// must. The number of rows of the source is estimated from the share that these make up; Summary
// describes these.
func DrawFirst(ctx context.Context, src dataset.Source, n int, task string, seed uint64) (*Sample, error) {
	return drawFrom(ctx, src, n, n, task, seed)
}

// drawFrom draws n rows from the first rows of a source, where first = 0 means all.
func drawFrom(ctx context.Context, src dataset.Source, n, first int, task string, seed uint64) (*Sample, error) {
	t := &tee{Source: src, most: max(n, 2), first: first, seed: seed}
	sum, err := dataset.Survey(ctx, t, dataset.SurveyOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	all, guessed := t.seen, false
	if first > 0 && !t.ended && t.share >= 1 {
		return drawFrom(ctx, src, n, 0, task, seed) // the whole of a small file was read ahead
	}
	if first > 0 && !t.ended && t.share > 0 && t.share < 1 {
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
	s, err := t.sample(sum, task)
	if err != nil {
		return nil, err
	}
	s.rowsAll, s.guessed = all, guessed
	few := 1
	if len(s.strata) < FewRows {
		few = SmallFolds
	}
	s.divide(s.strata, seed, few)
	return s, nil
}

// tee is a source of which a sample is drawn while it is read: a uniform one, made of the rows whose numbers
// have the smallest hashes, or given rows.
type tee struct {
	dataset.Source
	chosen []int // numbers of the rows still to come, ascending
	most   int
	first  int // rows to read, 0 meaning all
	seed   uint64
	limit  uint64
	rows   []teeRow

	seen       int     // rows read; all but the end of the last batch were drawn from
	share      float64 // of the source that was read
	firstRows  int     // of the first batch, and the share after it
	firstShare float64
	ended      bool          // the source was read to its end
	waited     time.Duration // time spent waiting for the source

	dense, texts, weighted bool // what the source's rows have
	outputs                int
}

type teeRow struct {
	hash   uint64
	number int
	idx    []int32
	val    []float32
	y      []float64
	name   string
	weight float64
}

func (t *tee) Open(ctx context.Context) (dataset.Reader, error) {
	r, err := t.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	t.limit = math.MaxUint64
	return &teeReader{r, t}, nil
}

type teeReader struct {
	dataset.Reader
	tee *tee
}

func (r *teeReader) Next() (*matrix.Batch, error) {
	if r.tee.first > 0 && r.tee.seen >= r.tee.first {
		return nil, io.EOF
	}
	start := time.Now()
	b, err := r.Reader.Next()
	r.tee.waited += time.Since(start)
	if err != nil {
		r.tee.ended = errors.Is(err, io.EOF)
		return b, err
	}
	left := r.tee.first - r.tee.seen
	r.tee.seen += b.X.Len()
	if r.tee.share = r.Reader.Progress(); r.tee.firstRows == 0 {
		r.tee.firstRows, r.tee.firstShare = r.tee.seen, r.tee.share
	}
	if r.tee.first > 0 && left < b.X.Len() {
		part := b.Slice(0, left)
		b = &part
	}
	r.tee.add(b)
	return b, nil
}

func (t *tee) add(b *matrix.Batch) {
	t.dense, t.outputs = b.X.Dense != nil, b.Outputs
	for i := range b.X.Len() {
		var h uint64
		if t.most > 0 {
			h = random.Hash(t.seed, "race-sample", uint64(b.First+i))
		} else if len(t.chosen) > 0 && t.chosen[0] == b.First+i {
			t.chosen = t.chosen[1:]
		} else {
			continue
		}
		if h > t.limit {
			continue
		}
		row := teeRow{hash: h, number: b.First + i, weight: 1, y: slices.Clone(b.Y[i*b.Outputs : (i+1)*b.Outputs])}
		if b.X.CSR != nil {
			idx, val := b.X.CSR.Row(i)
			row.idx, row.val = slices.Clone(idx), slices.Clone(val)
		} else {
			row.val = slices.Clone(b.X.Dense.Row(i))
		}
		if b.Names != nil {
			row.name, t.texts = b.Names[i], true
		}
		if b.Weights != nil {
			row.weight, t.weighted = b.Weights[i], true
		}
		if t.rows = append(t.rows, row); t.most > 0 && len(t.rows) >= 2*t.most {
			t.prune()
		}
	}
}

// prune keeps the rows with the smallest hashes.
func (t *tee) prune() {
	slices.SortFunc(t.rows, func(a, b teeRow) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.number-b.number) })
	if len(t.rows) > t.most {
		t.rows = slices.Clone(t.rows[:t.most])
		t.limit = t.rows[t.most-1].hash
	}
}

// batch makes one batch of the drawn rows, in the order of the source, and returns their numbers.
func (t *tee) batch(sum *dataset.Summary) (*matrix.Batch, []int) {
	slices.SortFunc(t.rows, func(a, b teeRow) int { return a.number - b.number })
	b := &matrix.Batch{Outputs: t.outputs}
	if t.dense {
		b.X.Dense = matrix.NewDense(len(t.rows), sum.Dim)
	} else {
		b.X.CSR = &matrix.CSR{Rows: len(t.rows), Cols: sum.Dim, Ptr: []int{0}}
	}
	var from []int
	for i, r := range t.rows {
		from = append(from, r.number)
		if t.dense {
			copy(b.X.Dense.Row(i), r.val)
		} else {
			b.X.CSR.Idx, b.X.CSR.Val = append(b.X.CSR.Idx, r.idx...), append(b.X.CSR.Val, r.val...)
			b.X.CSR.Ptr = append(b.X.CSR.Ptr, len(b.X.CSR.Idx))
		}
		b.Y = append(b.Y, r.y...)
		if t.texts {
			b.Names = append(b.Names, r.name)
		}
		if t.weighted {
			b.Weights = append(b.Weights, r.weight)
		}
	}
	t.rows = nil
	return b, from
}

// sample makes a sample of the drawn rows, not divided yet.
func (t *tee) sample(sum *dataset.Summary, task string) (*Sample, error) {
	src := t.Source
	s := &Sample{Summary: sum, source: src, rowsAll: t.seen, perRow: t.waited.Seconds() / float64(max(t.seen, 1))}
	if task == "" {
		task = "auto"
	}
	if task == "outliers" {
		return nil, option.Errorf("%s: outliers have no labels to judge a candidate by; train with %s one-class", src.Name(),
			option.Ref("learner"))
	}
	var err error
	if s.Task, _, err = sum.Task(task); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	s.rows, s.from = t.batch(sum)
	s.strata = make([]int, len(s.from))
	if s.Task == "classify" {
		classes, err := sum.Classes()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Name(), err)
		}
		for i := range s.strata {
			s.strata[i] = classes.Of(s.rows, i)
		}
	}
	if len(s.strata) < 4 {
		return nil, fmt.Errorf("%s: has %d rows; a race of candidates takes 4 at least, some to train on and some to judge by",
			src.Name(), len(s.strata))
	}
	return s, nil
}

// DrawFolds reads a source once and keeps the rows of the chosen numbers, which ascend, divided into
// folds whose row numbers are positions in chosen. The losses of held rows in the same cluster are not
// independent; clusters are given for the held rows of all folds, one fold after the
// other, nil if all are independent.
func DrawFolds(ctx context.Context, src dataset.Source, chosen []int, folds []Fold, clusters []int, task string) (*Sample, error) {
	t := &tee{Source: src, chosen: chosen}
	sum, err := dataset.Survey(ctx, t, dataset.SurveyOptions{})
	if err != nil {
		return nil, err
	}
	s, err := t.sample(sum, task)
	if err != nil {
		return nil, err
	}
	s.Folds, s.folds, s.clusters = len(folds), folds, clusters
	return s, nil
}
