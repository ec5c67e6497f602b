package dataset

import (
	"context"
	"math"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Split divides a source in two: a row goes to held if a hash of seed and row number
// falls below the share. So each row is held with that probability, and the choice depends
// neither on batches nor on the number of rows.
func Split(src Source, share float64, seed uint64) (rest, held Source) {
	in := splitRule(share, seed)
	return &part{src, func(row int) bool { return !in(row) }}, &part{src, in}
}

// Fold divides a source into folds by a hash of seed and row number, and returns the rows
// of one of them, held, and all others.
func Fold(src Source, folds, fold int, seed uint64) (rest, held Source) {
	return &part{src, func(row int) bool { return FoldOf(row, folds, seed) != fold }},
		&part{src, func(row int) bool { return FoldOf(row, folds, seed) == fold }}
}

// Keep is the rows of a source that a rule keeps, by their numbers from 0; they get new numbers.
func Keep(src Source, keep func(row int) bool) Source { return &part{src, keep} }

// FoldOf is the fold of a row.
func FoldOf(row, folds int, seed uint64) int {
	return int(random.Hash(seed, "fold", uint64(row)) % uint64(folds))
}

// splitRule decides which rows are held.
func splitRule(share float64, seed uint64) func(row int) bool {
	threshold := uint64(math.MaxUint64)
	if share < 1 {
		threshold = uint64(max(0, share) * (1 << 32) * (1 << 32))
	}
	return func(row int) bool { return random.Hash(seed, "split", uint64(row)) < threshold }
}

// part is the rows of a source that a rule keeps.
type part struct {
	Source
	keep func(row int) bool
}

// Origin implements Renumbered.
func (p *part) Origin(row int) int { return Origin(p.Source, kept(p.keep, row)) }

// kept is the number, among all rows, of the n-th row that a rule keeps, which must exist.
func kept(keep func(row int) bool, n int) int {
	for row := 0; ; row++ {
		if keep(row) {
			if n == 0 {
				return row
			}
			n--
		}
	}
}

func (p *part) Open(ctx context.Context) (Reader, error) {
	r, err := p.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &partReader{Reader: r, keep: p.keep}, nil
}

// partReader hands out the rows that are kept, with new numbers.
type partReader struct {
	Reader
	keep func(row int) bool
	rows int

	batch matrix.Batch
	dense matrix.Dense
	csr   matrix.CSR
	keys  []string
}

// groups are those of the rows that are kept.
func (r *partReader) groups() []string { return r.keys }

func (r *partReader) Next() (*matrix.Batch, error) {
	for {
		b, err := r.Reader.Next()
		if err != nil {
			return nil, err
		}
		r.take(b)
		if n := r.batch.X.Len(); n > 0 {
			r.batch.First = r.rows
			r.rows += n
			return &r.batch, nil
		}
	}
}

// take copies the rows of b that are kept.
func (r *partReader) take(b *matrix.Batch) {
	out := &r.batch
	out.Outputs, out.Y, out.Weights = b.Outputs, out.Y[:0], out.Weights[:0]
	names := out.Names[:0]
	if b.X.CSR != nil {
		r.csr.Rows, r.csr.Cols = 0, b.X.CSR.Cols
		r.csr.Ptr, r.csr.Idx, r.csr.Val = append(r.csr.Ptr[:0], 0), r.csr.Idx[:0], r.csr.Val[:0]
		out.X = matrix.Rows{CSR: &r.csr}
	} else {
		r.dense.Reshape(b.X.Len(), b.X.Dense.Cols)
		r.dense.Rows = 0
		out.X = matrix.Rows{Dense: &r.dense}
	}
	keys := Groups(r.Reader)
	r.keys = r.keys[:0]
	for i := range b.X.Len() {
		if !r.keep(b.First + i) {
			continue
		}
		if keys != nil {
			r.keys = append(r.keys, keys[i])
		}
		if b.X.CSR != nil {
			idx, val := b.X.CSR.Row(i)
			r.csr.Idx, r.csr.Val = append(r.csr.Idx, idx...), append(r.csr.Val, val...)
			r.csr.Ptr = append(r.csr.Ptr, len(r.csr.Idx))
			r.csr.Rows++
		} else {
			r.dense.Rows++
			copy(r.dense.Row(r.dense.Rows-1), b.X.Dense.Row(i))
		}
		out.Y = append(out.Y, b.Y[i*b.Outputs:(i+1)*b.Outputs]...)
		if b.Names != nil {
			names = append(names, b.Names[i])
		}
		if b.Weights != nil {
			out.Weights = append(out.Weights, b.Weights[i])
		}
	}
	out.Names = names
	if b.Names == nil {
		out.Names = nil
	}
	if b.Weights == nil {
		out.Weights = nil
	}
}
