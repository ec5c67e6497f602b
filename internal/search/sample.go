package search

import (
	"cmp"
	"context"
	"io"
	"maps"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Sample holds rows of a source, drawn at random, for trials on few rows: some to
// train on, ordered so that every prefix is a sample too, and others to judge by, which
// are never trained on. If labels are classes, each prefix has them in the same shares as the
// whole, and at least one row of each class that was drawn before it has two of any.
//
// Memory: 4·d bytes per dense row, 8 per value of a sparse one.
type Sample struct {
	// Summary describes the whole source.
	Summary *dataset.Summary

	// Task is the kind of labels: "classify", "regress" or "multilabel".
	Task string

	// Folds is how often a trial is repeated with other rows held out: 1, or a few if there
	// are so few rows that all have to judge.
	Folds int

	source  dataset.Source
	rowsAll int     // of the source
	guessed bool    // rowsAll is an estimate
	perRow  float64 // seconds spent waiting for the source, per row

	rows   *matrix.Batch
	from   []int // the number of each drawn row in the source
	strata []int // the class of each drawn row, or 0
	folds  []Fold

	// clusters are of the held rows of all folds, one fold after the other: the losses of rows with the same number are
	// not independent. nil: all are independent.
	clusters []int
}

// Schema is that of the source.
func (s *Sample) Schema() *dataset.Schema { return s.source.Schema() }

// Fold is one division of the drawn rows, which are numbered from 0 in the order of the source.
type Fold struct {
	// Train are the rows to train on, those of the smallest training first; Held those that judge,
	// in the order of the source.
	Train, Held []int

	// Ends are the numbers of rows, ascending, at which a prefix of Train may end; nil means all.
	Ends []int
}

// A sample of fewer rows than FewRows is divided SmallFolds times, so that all its rows
// judge; of larger ones a third is held out, at most MostHeld.
const (
	FewRows    = 6000
	SmallFolds = 5
	MostHeld   = 10_000
)

// Rows is the number of rows of the source.
func (s *Sample) Rows() int { return s.rowsAll }

// Guessed says that Rows is an estimate from the share of the source that was read.
func (s *Sample) Guessed() bool { return s.guessed }

// Name is that of the source.
func (s *Sample) Name() string { return s.source.Name() }

// Clusters are those of the held rows of all folds, one fold after the other: the losses of rows in the same
// cluster are not independent. nil means that all are.
func (s *Sample) Clusters() []int { return s.clusters }

// SecondsPerRow is the time spent waiting for the source, per row.
func (s *Sample) SecondsPerRow() float64 { return s.perRow }

// Drawn are the drawn rows, in the order of the source.
func (s *Sample) Drawn() *matrix.Batch { return s.rows }

// Bytes is the memory of the drawn rows.
func (s *Sample) Bytes() int64 {
	if x := s.rows.X.CSR; x != nil {
		return 8 * int64(x.NNZ())
	}
	return 4 * int64(s.rows.X.Len()) * int64(s.rows.X.Dim())
}

// OfRows is the sample treated as one of a source with the given number of rows.
func (s *Sample) OfRows(n int) *Sample {
	again := *s
	again.rowsAll, again.guessed = n, false
	return &again
}

// InMemory is the sample treated as one of a source with the given number of rows that are already in memory.
func (s *Sample) InMemory(n int) *Sample {
	again := s.OfRows(n)
	again.perRow = 0
	return again
}

// Redivided is the sample with its rows divided by another seed, a third of them held out.
func (s *Sample) Redivided(seed uint64) *Sample {
	again := *s
	again.folds = nil
	again.divide(s.strata, seed, 1)
	return &again
}

// divide divides the rows into those to train on and those that judge: a third of them, or with several
// folds each row once. Within a stratum rows are in random order; the r-th of m is placed at r/m in the
// order of all, so that every prefix has the shares of the whole.
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
	every := max(3, int(math.Ceil(float64(n)/MostHeld)))
	if folds > 1 {
		s.Folds = min(folds, n/2)
		every = s.Folds
	}
	for fold := range s.Folds {
		place := make(map[int]float64, n)
		var f Fold
		held := 0 // rows of earlier strata, so that small ones do not all miss the same fold
		for _, c := range slices.Sorted(maps.Keys(byStratum)) {
			rows := byStratum[c]
			kept := 0
			for r, i := range rows {
				if len(rows) > 1 && (held+r)%every == fold {
					f.Held = append(f.Held, i)
					continue
				}
				// The first of a class comes before the second of any other, and then by its share.
				place[i] = float64(kept) / float64(len(rows))
				if kept > 0 {
					place[i]++
				}
				kept++
				f.Train = append(f.Train, i)
			}
			held += len(rows)
		}
		slices.SortFunc(f.Train, func(a, b int) int {
			return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(hash(a), hash(b)), a-b)
		})
		slices.Sort(f.Held)
		s.folds = append(s.folds, f)
	}
}

// TrainRows is the largest number of rows that a trial can train on.
func (s *Sample) TrainRows() int {
	n := len(s.folds[0].Train)
	for _, f := range s.folds[1:] {
		n = min(n, len(f.Train))
	}
	return n
}

// HeldRows is the number of rows on which a candidate is judged, over all folds.
func (s *Sample) HeldRows() int {
	n := 0
	for _, f := range s.folds {
		n += len(f.Held)
	}
	return n
}

// Train is a source of the first n training rows of a fold, in the order of the source
// they come from. If the sample has groups it is the first groups, as many as have at most n rows.
func (s *Sample) Train(fold, n int) dataset.Source {
	f := s.folds[fold]
	if f.Ends != nil {
		at, _ := slices.BinarySearch(f.Ends, n+1) // the first end after n
		n = f.Ends[max(at-1, 0)]
	}
	rows := slices.Clone(f.Train[:n])
	slices.Sort(rows)
	return s.part(rows)
}

// Held is a source of the rows of a fold that judge.
func (s *Sample) Held(fold int) dataset.Source { return s.part(s.folds[fold].Held) }

// All is a source of all drawn rows.
func (s *Sample) All() dataset.Source {
	rows := make([]int, len(s.from))
	for i := range rows {
		rows[i] = i
	}
	return s.part(rows)
}

func (s *Sample) part(rows []int) dataset.Source {
	p := &rowSource{name: s.source.Name(), schema: *s.source.Schema(), all: s.rows, rows: rows}
	p.origin = func(row int) int { return dataset.Origin(s.source, s.from[rows[row]]) }
	p.schema.Dim = s.Summary.Dim
	return p
}

// rowSource is a source of copies of some rows of a batch.
type rowSource struct {
	name   string
	schema dataset.Schema
	all    *matrix.Batch
	rows   []int
	origin func(row int) int
}

func (p *rowSource) Name() string            { return p.name }
func (p *rowSource) Schema() *dataset.Schema { return &p.schema }

// Origin implements dataset.Renumbered.
func (p *rowSource) Origin(row int) int { return p.origin(row) }

func (p *rowSource) Open(ctx context.Context) (dataset.Reader, error) {
	return &rowReader{rowSource: p, ctx: ctx}, nil
}

type rowReader struct {
	*rowSource
	ctx context.Context
	row int
}

// batchRows is the number of rows in a batch of a sample.
const batchRows = 4096

func (r *rowReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == len(r.rows) {
		return nil, io.EOF
	}
	rows := r.rows[r.row:min(r.row+batchRows, len(r.rows))]
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

func (r *rowReader) Progress() float64 { return float64(r.row) / float64(max(1, len(r.rows))) }
func (r *rowReader) Close() error      { return nil }
