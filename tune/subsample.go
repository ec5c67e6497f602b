package tune

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
	"mercer/internal/random"
	"mercer/matrix"
)

// Sample holds rows of a source, drawn at random, for trials on few rows: Some of them to
// train on, in an order of which every beginning is a sample too, and others to judge by, which
// are never trained on. Where labels are classes, each beginning has them in the shares of the
// whole, and at least one row of each that was drawn before any has more.
//
// Memory: 4·d bytes a dense row, 8 a value of a sparse one.
type Sample struct {
	// Summary describes the whole source.
	Summary *dataset.Summary

	// Task is what the labels are: "classify", "regress" or "multilabel".
	Task string

	// Folds is how often a trial is repeated, with other rows held out: 1, or a few where there
	// are so few rows that all have to be judged by.
	Folds int

	source  dataset.Source
	rowsAll int     // of the source
	guessed bool    // rowsAll is an estimate
	perRow  float64 // seconds that the source was waited for, a row

	rows   *matrix.Batch
	from   []int // of each drawn row its number in the source
	strata []int // the class of each drawn row, or 0
	folds  []sampleFold

	// clusters are of the held rows of all folds one after the other: those of the same number do not
	// judge independently of one another. nil: all do.
	clusters []int
}

// sampleFold is one division of the drawn rows.
type sampleFold struct {
	train, held []int // in the order of training; in that of the source

	// ends are the numbers of rows, ascending, at which a beginning of train may end, nil being all.
	ends []int
}

// A sample of fewer rows than fewRows is divided smallFolds times, so that all its rows are
// judged by; of others a third is held out, heldRows at most.
const (
	fewRows    = 6000
	smallFolds = 5
	heldRows   = 10_000
)

// Draw draws up to n rows of a source, which it reads once. task is that of model.Config; seed
// alone chooses the rows, whatever batches they come in.
func Draw(ctx context.Context, src dataset.Source, n int, task string, seed uint64) (*Sample, error) {
	return drawFrom(ctx, src, n, 0, task, seed)
}

// Of a source of fewer than wholeFactor times the rows that are wanted all are read: counting is
// quick, and shares are of what was read ahead, which is much of a small file.
const wholeFactor = 8

// DrawFirst draws its rows from the first rows of a source, and reads no more of it than it
// must. How many rows the source has is estimated by the share of it that these are; Summary
// describes these.
func DrawFirst(ctx context.Context, src dataset.Source, n int, task string, seed uint64) (*Sample, error) {
	return drawFrom(ctx, src, n, n, task, seed)
}

// drawFrom draws n rows of the first of a source, 0 meaning all.
func drawFrom(ctx context.Context, src dataset.Source, n, first int, task string, seed uint64) (*Sample, error) {
	t := &tee{Source: src, most: max(n, 2), first: first, seed: seed}
	sum, err := dataset.Survey(ctx, t, dataset.SurveyOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	all, guessed := t.seen, false
	if first > 0 && !t.ended && t.share >= 1 {
		return drawFrom(ctx, src, n, 0, task, seed) // all of a small file was read ahead
	}
	if first > 0 && !t.ended && t.share > 0 && t.share < 1 {
		rows, share := float64(t.seen), t.share
		if t.share > t.firstShare {
			// What was read ahead of the rows counts in both shares, and not in their difference.
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
	if len(s.strata) < fewRows {
		few = smallFolds
	}
	s.divide(s.strata, seed, few)
	return s, nil
}

// sample makes a sample of the drawn rows, which are not divided yet.
func (t *tee) sample(sum *dataset.Summary, task string) (*Sample, error) {
	src := t.Source
	s := &Sample{Summary: sum, source: src, rowsAll: t.seen, perRow: t.waited.Seconds() / float64(max(t.seen, 1))}
	if task == "" {
		task = "auto"
	}
	if task == "outliers" {
		return nil, fmt.Errorf("%s: outliers have no labels to judge a candidate by; train with --learner one-class", src.Name())
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
		return nil, fmt.Errorf("%s: has %d rows; a race of candidates takes 4 at least, some to train on and some to judge by", src.Name(), len(s.strata))
	}
	return s, nil
}

// divide divides the rows into those to train on and those to judge by, which are a third, or of
// several folds each once. Within a stratum rows
// stand in a random order; the r-th of m has the place r/m in the order of all, so that every
// beginning has the shares of the whole.
func (s *Sample) divide(strata []int, seed uint64, folds int) {
	n := len(strata)
	byStratum := map[int][]int{}
	for i, c := range strata {
		byStratum[c] = append(byStratum[c], i)
	}
	hash := func(i int) uint64 { return random.Hash(seed, "race-order", uint64(s.from[i])) }
	for _, rows := range byStratum {
		slices.SortFunc(rows, func(a, b int) int {
			return cmp.Or(cmp.Compare(hash(a), hash(b)), a-b)
		})
	}
	s.Folds = 1
	every := max(3, int(math.Ceil(float64(n)/heldRows)))
	if folds > 1 {
		s.Folds = min(folds, n/2)
		every = s.Folds
	}
	for fold := range s.Folds {
		place := make(map[int]float64, n)
		var f sampleFold
		held := 0 // rows of the strata before, so that small ones do not all miss the same fold
		for _, c := range slices.Sorted(maps.Keys(byStratum)) {
			rows := byStratum[c]
			kept := 0
			for r, i := range rows {
				if len(rows) > 1 && (held+r)%every == fold {
					f.held = append(f.held, i)
					continue
				}
				// The first of a class comes before all others' second, and then by its share.
				place[i] = float64(kept) / float64(len(rows))
				if kept > 0 {
					place[i]++
				}
				kept++
				f.train = append(f.train, i)
			}
			held += len(rows)
		}
		slices.SortFunc(f.train, func(a, b int) int {
			return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(hash(a), hash(b)), a-b)
		})
		slices.Sort(f.held)
		s.folds = append(s.folds, f)
	}
}

// TrainRows is the largest number of rows that a trial can train on.
func (s *Sample) TrainRows() int {
	n := len(s.folds[0].train)
	for _, f := range s.folds[1:] {
		n = min(n, len(f.train))
	}
	return n
}

// HeldRows is the number of rows that a candidate is judged by, those of all folds together.
func (s *Sample) HeldRows() int {
	n := 0
	for _, f := range s.folds {
		n += len(f.held)
	}
	return n
}

// Train is a source of the first n rows to train on of a fold, in the order of the source
// they are from. Of a sample of groups it is the first groups, as many as have n rows at most.
func (s *Sample) Train(fold, n int) dataset.Source {
	f := s.folds[fold]
	if f.ends != nil {
		at, _ := slices.BinarySearch(f.ends, n+1) // the first end after n
		n = f.ends[max(at-1, 0)]
	}
	rows := slices.Clone(f.train[:n])
	slices.Sort(rows)
	return s.part(rows)
}

// Held is a source of the rows of a fold to judge by.
func (s *Sample) Held(fold int) dataset.Source { return s.part(s.folds[fold].held) }

func (s *Sample) part(rows []int) dataset.Source {
	p := &picked{name: s.source.Name(), schema: *s.source.Schema(), all: s.rows, rows: rows}
	p.origin = func(row int) int { return dataset.Origin(s.source, s.from[rows[row]]) }
	p.schema.Dim = s.Summary.Dim
	return p
}

// tee is a source of which a sample is drawn while it is read: a uniform one, the rows whose numbers
// have the smallest hashes, or those that are chosen.
type tee struct {
	dataset.Source
	chosen []int // numbers of rows, ascending, that are still to come
	most   int
	first  int // rows that are read, 0 meaning all
	seed   uint64
	limit  uint64
	rows   []teeRow

	seen       int     // rows that were read, and drawn from but for the end of the last batch
	share      float64 // of the source that was read
	firstRows  int     // of the first batch, and the share after it
	firstShare float64
	ended      bool          // the source was read to its end
	waited     time.Duration // for the source

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

// prune leaves the rows with the smallest hashes.
func (t *tee) prune() {
	slices.SortFunc(t.rows, func(a, b teeRow) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.number-b.number) })
	if len(t.rows) > t.most {
		t.rows = slices.Clone(t.rows[:t.most])
		t.limit = t.rows[t.most-1].hash
	}
}

// batch makes one batch of the drawn rows, in the order of the source, and tells their numbers.
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

// picked is a source of some rows of a batch, which it copies.
type picked struct {
	name   string
	schema dataset.Schema
	all    *matrix.Batch
	rows   []int
	origin func(row int) int
}

func (p *picked) Name() string            { return p.name }
func (p *picked) Schema() *dataset.Schema { return &p.schema }

// Origin implements dataset.Renumbered.
func (p *picked) Origin(row int) int { return p.origin(row) }

func (p *picked) Open(ctx context.Context) (dataset.Reader, error) {
	return &pickedReader{picked: p, ctx: ctx}, nil
}

type pickedReader struct {
	*picked
	ctx context.Context
	row int
}

// pickedBatch is how many rows a batch of a sample has.
const pickedBatch = 4096

func (r *pickedReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == len(r.rows) {
		return nil, io.EOF
	}
	rows := r.rows[r.row:min(r.row+pickedBatch, len(r.rows))]
	k := r.all.Outputs
	b := &matrix.Batch{X: matrix.Pick(r.all.X, rows), First: r.row, Outputs: k}
	for _, i := range rows {
		b.Y = append(b.Y, r.all.Y[i*k:(i+1)*k]...)
		if r.all.Names != nil {
			b.Names = append(b.Names, r.all.Names[i])
		}
		if r.all.Weights != nil {
			b.Weights = append(b.Weights, r.all.Weights[i])
		}
	}
	r.row += len(rows)
	return b, nil
}

func (r *pickedReader) Progress() float64 { return float64(r.row) / float64(max(1, len(r.rows))) }
func (r *pickedReader) Close() error      { return nil }
