package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/safetensors"
	"mercer/internal/reach/shard"
	"mercer/model"
)

// shardEval is the state of the command "shard eval".
type shardEval struct {
	which                      string
	all, merge, perClass, json bool
}

func newShardEval() *cobra.Command {
	s := &shardEval{}
	cmd := &cobra.Command{
		Use:         "eval [flags] PLAN MODEL",
		Annotations: map[string]string{written: "shards that were complete are in the plan, and the same command does all again"},
		Short:       "Measure a model on the rows of shards",
		Long: `Measure MODEL on the labelled rows of shards of PLAN. Scores and labels of a shard go into the plan's folder; --merge
compares those of all shards, in the order of the rows, and prints what "mercer eval" prints for all rows in one place: the same
numbers to the last digit, for any number of shards. It is an error if a shard has not run, or by another model.

The data are those of PLAN: plan test rows as "mercer shard plan" says, whose flags of learners do not matter here. Which
shards is said as for "mercer shard run". MODEL may be of any learner of rows.`,
		Example: `  mercer shard plan "test/*.parquet" -o test --shards 16 --label clicked
  seq 0 15 | parallel mercer shard eval test clicks.mercer --shard {}
  mercer shard eval test clicks.mercer --merge`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.which, "shard", "", "numbers of shards, such as 3 or 0-7,12")
	f.BoolVar(&s.all, "all", false, "run all shards, one after the other")
	f.BoolVar(&s.merge, "merge", false, "compare all shards, after those that run here")
	f.BoolVar(&s.json, "json", false, "print one JSON object instead of text")
	f.BoolVar(&s.perClass, "per-class", false, "show each class (label, output) and the confusion matrix")
	return cmd
}

func (s *shardEval) run(cmd *cobra.Command, folder, path string) error {
	at := shard.At(folder)
	p, err := shard.Load(cmd.Context(), at)
	if err != nil {
		return err
	}
	var shards []int
	if s.which != "" || s.all || !s.merge {
		if shards, err = chosenShards(s.which, s.all, p.Shards()); err != nil {
			return err
		}
	}
	e := &shard.Evaluation{Plan: p, Options: p.Options, Store: at}
	if e.Model, e.Sum, err = summedModel(path); err != nil {
		return err
	}
	if e.Model.Bag() != nil {
		return fmt.Errorf("%s: is a model of bags, and shards are of rows", path)
	}
	e.Options.Schema = &e.Model.Info().Schema
	for _, i := range shards {
		start := time.Now()
		var unseen []front.Unseen
		rows, err := e.Run(cmd.Context(), i, func(piece int, list []dataset.Unseen) {
			for _, u := range list {
				unseen = append(unseen, front.Unseen{Data: p.Data.All[piece].String(), Unseen: u})
			}
		})
		if err != nil {
			return err
		}
		warnUnseen(cmd, unseen)
		if s.merge {
			continue
		}
		done := render.Predicted{Shard: i, Rows: rows, File: e.File(i)}
		if !s.json {
			done.Text(cmd.OutOrStdout(), time.Since(start).Seconds())
		} else if err := render.JSON(cmd.OutOrStdout(), done); err != nil {
			return err
		}
	}
	if !s.merge {
		return nil
	}
	metrics, err := e.Merge(cmd.Context(), eval.Options{})
	if err != nil {
		return err
	}
	if s.json {
		return render.JSON(cmd.OutOrStdout(), metrics)
	}
	render.EvalText(cmd.OutOrStdout(), metrics, render.ModelOf(e.Model).Row(), s.perClass)
	return nil
}

// summedModel reads a model, and the checksum of its file.
func summedModel(path string) (m *model.Model, sum string, err error) {
	m, err = safetensors.Load(path, "a model file", func(r io.Reader, size int64) (*model.Model, error) {
		h := sha256.New()
		all := io.TeeReader(r, h)
		m, err := model.Read(all, size)
		if err == nil {
			_, err = io.Copy(io.Discard, all)
		}
		sum = hex.EncodeToString(h.Sum(nil))
		return m, err
	})
	return m, sum, err
}
