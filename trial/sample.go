package trial

import (
	"cmp"
	"maps"
	"math"
	"slices"

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
	folds  []Fold

	// clusters are of the held rows of all folds one after the other: those of the same number do not
	// judge independently of one another. nil: all do.
	clusters []int
}

// Fold is one division of the drawn rows, which have the numbers from 0 in the order of the source.
type Fold struct {
	// Train are the rows to train on, those of the smallest training first; Held those to judge by,
	// in the order of the source.
	Train, Held []int

	// Ends are the numbers of rows, ascending, at which a beginning of Train may end, nil being all.
	Ends []int
}

// A sample of fewer rows than FewRows is divided SmallFolds times, so that all its rows are
// judged by; of others a third is held out, MostHeld at most.
const (
	FewRows    = 6000
	SmallFolds = 5
	MostHeld   = 10_000
)

// Rows is the number of rows of the source.
func (s *Sample) Rows() int { return s.rowsAll }

// Guessed says that Rows is an estimate by the share of the source that was read.
func (s *Sample) Guessed() bool { return s.guessed }

// Name is that of the source.
func (s *Sample) Name() string { return s.source.Name() }

// Clusters are those of the held rows of all folds, one after the other: rows of the same cluster do not
// judge independently of one another. nil means that all do.
func (s *Sample) Clusters() []int { return s.clusters }

// SecondsPerRow is how long the source was waited for, a row.
func (s *Sample) SecondsPerRow() float64 { return s.perRow }

// Drawn are the drawn rows, in the order of the source.
func (s *Sample) Drawn() *matrix.Batch { return s.rows }

// Bytes is what the drawn rows take.
func (s *Sample) Bytes() int64 {
	if x := s.rows.X.CSR; x != nil {
		return 8 * int64(x.NNZ())
	}
	return 4 * int64(s.rows.X.Len()) * int64(s.rows.X.Dim())
}

// OfRows is the sample taken as one of a source of so many rows.
func (s *Sample) OfRows(n int) *Sample {
	again := *s
	again.rowsAll, again.guessed = n, false
	return &again
}

// InMemory is the sample taken as one of a source of so many rows that are read already.
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
	every := max(3, int(math.Ceil(float64(n)/MostHeld)))
	if folds > 1 {
		s.Folds = min(folds, n/2)
		every = s.Folds
	}
	for fold := range s.Folds {
		place := make(map[int]float64, n)
		var f Fold
		held := 0 // rows of the strata before, so that small ones do not all miss the same fold
		for _, c := range slices.Sorted(maps.Keys(byStratum)) {
			rows := byStratum[c]
			kept := 0
			for r, i := range rows {
				if len(rows) > 1 && (held+r)%every == fold {
					f.Held = append(f.Held, i)
					continue
				}
				// The first of a class comes before all others' second, and then by its share.
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

// HeldRows is the number of rows that a candidate is judged by, those of all folds together.
func (s *Sample) HeldRows() int {
	n := 0
	for _, f := range s.folds {
		n += len(f.Held)
	}
	return n
}

// Train is a source of the first n rows to train on of a fold, in the order of the source
// they are from. Of a sample of groups it is the first groups, as many as have n rows at most.
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

// Held is a source of the rows of a fold to judge by.
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
