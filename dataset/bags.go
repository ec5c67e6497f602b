package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"mercer/internal/engine/option"
	"mercer/matrix"
)

// A bag is a set of rows that has one label: the local descriptors of an image, the words of
// a document, the readings of a device. Its rows are called members.

// Bags is a data set of bags, which can be read several times like a Source; every pass
// gives the same bags in the same order.
type Bags interface {
	// Name is the name of the data in messages: a path as the user gave it.
	Name() string

	// Schema describes a member, and where the labels are.
	Schema() *Schema

	// Open starts a pass. When ctx ends, Next returns its error.
	Open(ctx context.Context) (BagReader, error)
}

// BagReader is one pass over bags, with the methods of a Reader.
type BagReader interface {
	// Next returns the next bags, which are valid until the next call; at the end it returns io.EOF.
	Next() (*BagBatch, error)

	// Progress is the share of the data that has been read, in [0, 1], or -1 if unknown.
	Progress() float64

	// Close ends the pass.
	Close() error
}

// BagBatch is a run of whole bags.
type BagBatch struct {
	// X holds the members of all bags one below the other; those of bag i are the rows from
	// Bags[i] up to Bags[i+1]. No bag is empty.
	X    matrix.Rows
	Bags []int

	// Keys are the names of the bags: the values of the group column or the paths
	// of files; nil if they have no names.
	Keys []string

	// First is the number of the first bag, from 0. Outputs, Y, Names and Weights are as in a
	// matrix.Batch, but one per bag.
	First   int
	Outputs int
	Y       []float64
	Names   []string
	Weights []float64
}

// Len is the number of bags.
func (b *BagBatch) Len() int { return len(b.Bags) - 1 }

// Rows is the batch of rows that the bags become, where x has one row per bag.
func (b *BagBatch) Rows(x matrix.Rows) matrix.Batch {
	return matrix.Batch{X: x, First: b.First, Outputs: b.Outputs, Y: b.Y, Names: b.Names, Weights: b.Weights}
}

// BagFile is bags in a file or folder: Bags that have to be closed.
type BagFile struct {
	Bags
	rows *File // nil for a folder
}

// Close releases the file.
func (f *BagFile) Close() error {
	if f.rows == nil {
		return nil
	}
	return f.rows.Close()
}

// UnseenCategories is that of a File.
func (f *BagFile) UnseenCategories() []Unseen {
	if f.rows == nil {
		return nil
	}
	return f.rows.UnseenCategories()
}

// OpenBags opens bags, which may come in three forms:
//   - rows with a column that identifies their bag (Options.Group, or that of the
//     model's schema); the rows of a bag are consecutive and have the same label;
//   - an NPY array of images × locations × channels, or images × height × width × channels:
//     one bag per image, one member per location;
//   - a folder in which each file is a bag of unlabelled rows, sorted by path; its label
//     is the name of the folder it is in, unless that is path itself. Names that begin
//     with a dot are ignored.
//
// Options.LabelsFile has one label per bag, in the order of the bags, or lines of two cells, the
// name of a bag and its label.
//
// A pass holds a few bags at a time (and, for a folder, those of one file per thread), and,
// if rows are grouped, the names of all bags so far.
func OpenBags(ctx context.Context, path string, opt Options) (*BagFile, error) {
	st, err := os.Stat(path)
	switch {
	case path == "-" || !Local(path):
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, err
	case st.IsDir():
		return openFolder(ctx, path, opt)
	}
	in, err := openData(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	return openBags(ctx, in, opt)
}

// openBags opens bags in one file.
func openBags(ctx context.Context, in *packed, opt Options) (*BagFile, error) {
	bags, err := newBags(ctx, in, opt)
	if err != nil {
		in.Close()
		return nil, err
	}
	return bags, nil
}

func newBags(ctx context.Context, in *packed, opt Options) (*BagFile, error) {
	rowOpt := opt
	rowOpt.within = "bags"
	src, err := newSource(ctx, in, rowOpt)
	if err != nil {
		return nil, err
	}
	f := &BagFile{rows: &File{Source: src, in: in}}
	switch a, isArray := src.(*array); {
	case isArray && a.bag > 0:
		if err := a.checkBag(); err != nil {
			return nil, err
		}
		f.Bags = &rowBags{Source: src, size: a.bag, batch: opt.BatchRows}
	case src.Schema().Group != nil:
		f.Bags = &rowBags{Source: src, batch: opt.BatchRows, keyed: true}
	default:
		return nil, option.Errorf("%s: nothing says which rows make a bag; name a column with %s, or give an array of images × locations × "+
			"channels or a folder with a file for each bag", in.Name(), option.Ref("group"))
	}
	if opt.LabelsFile != "" {
		if len(src.Schema().Labels) > 0 {
			return nil, twiceLabelled(in.Name())
		}
		f.Bags, err = withBagLabels(ctx, f.Bags, opt, f.Bags.(*rowBags).keyed)
	}
	return f, err
}

// rowBags are bags whose members are the rows of a source, side by side.
type rowBags struct {
	Source
	size  int  // members of each bag; 0: rows with the same key are one
	keyed bool // the source's readers are grouped
	batch int
}

// Open implements Bags.
func (r *rowBags) Open(ctx context.Context) (BagReader, error) {
	rows, err := r.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	b := &bagReader{collect: newCollect(r.Name(), r.batch), progress: rows.Progress, close: rows.Close}
	if r.size > 0 {
		b.feed = func() error { return b.collect.equal(rows, r.size) }
		return b, nil
	}
	g := &grouping{collect: b.collect, rows: rows.(grouped), advice: r.advice(), seen: map[string]bool{}}
	b.feed = g.feed
	return b, nil
}

// advice tells how to make the rows of a bag consecutive.
func (r *rowBags) advice() string {
	switch g := r.Schema().Group; {
	case g.Name == "qid" && r.Schema().Format == "libsvm":
		return "sort the lines, as sort -s -k2,2 does"
	case r.Schema().Header:
		return fmt.Sprintf("sort the rows below the header by column %q", g.Name)
	default:
		return fmt.Sprintf("sort the rows by column %d (from 0)", g.At)
	}
}

// FromBags makes bags of rows in memory: bag i is the rows of x from bags[i] up to bags[i+1].
// y and names are as in FromRows, but one (or outputs) a bag.
func FromBags(x matrix.Rows, bags []int, y []float64, outputs int, names []string) (Bags, error) {
	if len(bags) == 0 || bags[0] != 0 || bags[len(bags)-1] != x.Len() {
		return nil, fmt.Errorf("bags must begin with row 0 and end with the last of %d rows", x.Len())
	}
	for i := range bags[1:] {
		if bags[i] >= bags[i+1] {
			return nil, fmt.Errorf("bag %d (from 0) has no rows", i)
		}
	}
	if _, err := FromRows(x, nil, 0, nil); err != nil {
		return nil, err
	}
	// The labels are checked as those of one row a bag.
	of, err := FromRows(matrix.Rows{Dense: &matrix.Dense{Rows: len(bags) - 1}}, y, outputs, names)
	if err != nil {
		return nil, err
	}
	return &memoryBags{x: x, bags: bags, labels: of.(*memory).all, schema: Schema{Format: "rows", Dim: x.Dim()}}, nil
}

// memoryBags are bags in memory.
type memoryBags struct {
	x      matrix.Rows
	bags   []int
	labels matrix.Batch // one per bag
	schema Schema
}

func (m *memoryBags) Name() string    { return "bags in memory" }
func (m *memoryBags) Schema() *Schema { return &m.schema }

// Open implements Bags.
func (m *memoryBags) Open(ctx context.Context) (BagReader, error) {
	c := newCollect(m.Name(), 0)
	n, at := m.labels.X.Len(), 0
	b := &bagReader{collect: c, close: func() error { return nil }}
	b.progress = func() float64 { return float64(at) / float64(max(1, n)) }
	b.feed = func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at == n {
			return io.EOF
		}
		if err := c.add(m.x.Slice(m.bags[at], m.bags[at+1]), ""); err != nil {
			return err
		}
		c.end("", m.labels.Slice(at, at+1))
		at++
		return nil
	}
	return b, nil
}

// SplitBags is Split for bags: whole bags go to one side or the other.
func SplitBags(src Bags, share float64, seed uint64) (rest, held Bags) {
	in := splitRule(share, seed)
	return &bagPart{src, func(bag int) bool { return !in(bag) }}, &bagPart{src, in}
}

// bagPart is the bags that a rule keeps.
type bagPart struct {
	Bags
	keep func(bag int) bool
}

// Origin is the number of a bag in the whole that the part is taken from.
func (p *bagPart) Origin(bag int) int { return BagOrigin(p.Bags, kept(p.keep, bag)) }

// BagOrigin is Origin for bags.
func BagOrigin(src Bags, bag int) int {
	if r, ok := src.(interface{ Origin(bag int) int }); ok {
		return r.Origin(bag)
	}
	return bag
}

// Open implements Bags.
func (p *bagPart) Open(ctx context.Context) (BagReader, error) {
	all, err := p.Bags.Open(ctx)
	if err != nil {
		return nil, err
	}
	c := newCollect(p.Name(), 0)
	b := &bagReader{collect: c, progress: all.Progress, close: all.Close}
	b.feed = func() error {
		batch, err := all.Next()
		if err != nil {
			return err
		}
		labels := batch.Rows(matrix.Rows{Dense: &matrix.Dense{Rows: batch.Len()}})
		for i := range batch.Len() {
			if !p.keep(batch.First + i) {
				continue
			}
			if err := c.add(batch.X.Slice(batch.Bags[i], batch.Bags[i+1]), ""); err != nil {
				return err
			}
			key := ""
			if batch.Keys != nil {
				key = batch.Keys[i]
			}
			c.end(key, labels.Slice(i, i+1))
		}
		return nil
	}
	return b, nil
}

// BagSummary is what one pass over bags finds.
type BagSummary struct {
	// Members describes the members; its labels are those of the bags.
	*Summary

	// Bags is the number of bags; Least and Most are the smallest and largest number of members of a bag.
	Bags, Least, Most int
}

// SurveyBags is Survey for bags: it describes members, and the labels of bags.
func SurveyBags(ctx context.Context, src Bags, opt SurveyOptions) (*BagSummary, error) {
	s := &surveyor{opt: opt, sum: &Summary{name: src.Name(), format: src.Schema().Format, Dim: src.Schema().Dim}}
	s.sum.labels.lists = src.Schema().LabelSeparator != ""
	sum := &BagSummary{Summary: s.sum, Least: math.MaxInt}
	for b, err := range EachBags(ctx, src) {
		if err != nil {
			return nil, err
		}
		if err := s.add(&matrix.Batch{X: b.X}); err != nil {
			return nil, err
		}
		for i, w := range b.Weights {
			if err := CheckWeight(w); err != nil {
				return nil, LocateBag(&RowError{Row: i, Bag: true, Dim: -1, Err: err}, src, b.BagBatch)
			}
		}
		labels := b.Rows(matrix.Rows{Dense: &matrix.Dense{Rows: b.Len()}})
		s.sum.labels.add(&labels)
		s.sum.weights.add(&labels, s.sum.labels.lists)
		s.sum.Outputs = b.Outputs
		sum.Bags += b.Len()
		for i := range b.Len() {
			size := b.Bags[i+1] - b.Bags[i]
			sum.Least, sum.Most = min(sum.Least, size), max(sum.Most, size)
		}
		if opt.Progress != nil {
			opt.Progress(s.sum.Rows, b.Pass.Progress())
		}
	}
	_, err := s.finish()
	return sum, err
}
