package dataset

import (
	"context"
	"errors"
	"io"
	"iter"

	"mercer/matrix"
)

// Step is one step of [Each]: a batch, and the pass it belongs to.
type Step struct {
	*matrix.Batch

	// Pass gives the progress of the pass, and the [Groups] of the batch.
	Pass Reader
}

// BagStep is one step of [EachBags].
type BagStep struct {
	*BagBatch
	Pass BagReader
}

// Each reads a source once, batch by batch:
//
//	for b, err := range dataset.Each(ctx, src) {
//		if err != nil {
//			return err
//		}
//		rows += b.X.Len()
//	}
//
// A batch is valid until the next one, and the loop may change it. An error is the last step and
// has no batch; it may be that of ctx. The reader is opened when the loop begins and closed when
// it ends in any way. An error on closing is a step if all rows were read; it is dropped if the loop
// was left early.
func Each(ctx context.Context, src Source) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		r, err := src.Open(ctx)
		if err != nil {
			yield(Step{}, err)
			return
		}
		eachOf(ctx, r, func(b *matrix.Batch, err error) bool { return yield(Step{b, r}, err) })
	}
}

// EachBags is Each for bags.
func EachBags(ctx context.Context, src Bags) iter.Seq2[BagStep, error] {
	return func(yield func(BagStep, error) bool) {
		r, err := src.Open(ctx)
		if err != nil {
			yield(BagStep{}, err)
			return
		}
		eachOf(ctx, r, func(b *BagBatch, err error) bool { return yield(BagStep{b, r}, err) })
	}
}

// eachOf hands out what a reader reads, and closes it.
func eachOf[B any](ctx context.Context, r readerOf[B], yield func(*B, error) bool) {
	left := true
	defer func() {
		if left {
			r.Close() // its error would hide the one that ended the loop, if any
		}
	}()
	for b, err := range restOf(r) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(b, nil) {
			return
		}
	}
	left = false
	if err := r.Close(); err != nil {
		yield(nil, err)
	}
}

// restOf hands out the remaining batches of a reader, and leaves it open.
func restOf[B any](r readerOf[B]) iter.Seq2[*B, error] {
	return func(yield func(*B, error) bool) {
		for {
			b, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// readerOf is a reader of rows or bags.
type readerOf[B any] interface {
	Next() (*B, error)
	Close() error
}
