package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"mercer/dataset"
	"mercer/eval"
	"mercer/model"
)

// An evaluation in shards writes the scores of each and the answers, 4·K bytes a row for K outputs and some 12 to 8·K + 8 more, and compares them in the order
// of the rows.

// scored is the folder of the scores.
const scored = "eval"

// scoresOf is the file of a shard.
func scoresOf(shard int) string { return fmt.Sprintf("%s/shard-%05d.scores", scored, shard) }

// Evaluation measures a model on the rows of a plan.
type Evaluation struct {
	Plan  *Plan
	Model *model.Model

	// Sum is the checksum of the model's file, and Options say how rows are read.
	Sum     string
	Options dataset.Options

	Store Store
}

// File is the name of the scores of a shard.
func (e *Evaluation) File(shard int) string { return e.Store.Name(scoresOf(shard)) }

// meta is what the scores of a shard are by.
func (e *Evaluation) meta(shard int) map[string]string {
	return map[string]string{"plan": e.Plan.sum, "model": e.Sum, "shard": strconv.Itoa(shard)}
}

// Run predicts the rows of a shard and writes their scores. unseen is told of each piece what the model was not trained on.
func (e *Evaluation) Run(ctx context.Context, shard int, unseen func(piece int, list []dataset.Unseen)) (rows int, err error) {
	err = e.Store.Write(ctx, scoresOf(shard), func(w io.Writer) error {
		s, err := eval.NewScores(w, e.Model, e.meta(shard))
		if err != nil {
			return err
		}
		from, to := e.Plan.Pieces(shard)
		for i := from; i < to; i++ {
			if err := e.piece(ctx, s, i, unseen); err != nil {
				return e.Plan.Named(i, err)
			}
		}
		rows = s.Rows()
		return s.End()
	})
	return rows, err
}

func (e *Evaluation) piece(ctx context.Context, s *eval.Scores, i int, unseen func(piece int, list []dataset.Unseen)) error {
	f, err := e.Plan.Data.Open(ctx, i, e.Options)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.Add(ctx, f); err != nil {
		return err
	}
	unseen(i, f.UnseenCategories())
	return nil
}

// Merge measures the rows of all shards.
func (e *Evaluation) Merge(ctx context.Context, opt eval.Options) (*eval.Metrics, error) {
	c := eval.NewTally(e.Model, e.Plan.Data.Path, opt)
	var missing []string
	for shard := range e.Plan.Shards() {
		r, _, err := e.Store.Read(ctx, scoresOf(shard))
		if errors.Is(err, fs.ErrNotExist) {
			from, to := e.Plan.Pieces(shard)
			missing = append(missing, fmt.Sprintf("%d (pieces %d to %d, from %s)", shard, from, to-1, e.Plan.Data.All[from]))
			continue
		}
		if err != nil {
			return nil, err
		}
		if missing == nil { // else it is for nothing
			err = c.Add(ctx, r, e.meta(shard))
		}
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("shard %d: %s: %w; run it again", shard, e.File(shard), err)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("the evaluation lacks %d of %d shards: %s", len(missing), e.Plan.Shards(), list(missing, 10))
	}
	return c.Metrics()
}
