package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/report"
	"mercer/internal/engine/safetensors"
	"mercer/internal/reach/shard"
	"mercer/model"
)

// shardEval is the state of the command "shard eval".
type shardEval struct {
	evaluating
	which      string
	all, merge bool
}

func newShardEval() *cobra.Command {
	s := &shardEval{}
	cmd := &cobra.Command{
		Use:         "eval [flags] PLAN MODEL",
		Annotations: map[string]string{written: "shards that were complete are in the plan, and the same command does all again"},
		Short:       "Measure a model on the rows of shards",
		Long: `Measure MODEL on the labelled rows of shards of PLAN. Scores and labels of a shard go into the plan's folder; --merge
compares those of all shards, in the order of the rows, and prints what "mercer eval" prints for all rows in one place: the same
numbers to the last digit, for any number of shards and any flags of eval. It is an error if a shard has not run, or by another model.

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
	f.BoolVar(&s.all, "all", false, "run all shards in turn")
	f.BoolVar(&s.merge, "merge", false, "compare all shards, after those that run here")
	s.measures(cmd)
	f.Lookup("threshold").Usage = "what divides two classes, as of eval"
	return cmd
}

// check finds what is wrong with the flags.
func (s *shardEval) check(cmd *cobra.Command, path string) error {
	if !s.merge {
		for _, name := range []string{"threshold", "quantile", "curves", "per-class", "report", "plots"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s is for --merge; give both", name)
			}
		}
	}
	return s.checkMeasures(cmd, path)
}

func (s *shardEval) run(cmd *cobra.Command, folder, path string) error {
	if err := s.check(cmd, path); err != nil {
		return err
	}
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
	return s.measure(cmd, e, path)
}

// measure compares all shards.
func (s *shardEval) measure(cmd *cobra.Command, e *shard.Evaluation, path string) (err error) {
	if e.Model, err = divided(e.Model, path, s.least); err != nil {
		return err
	}
	metrics, err := e.Merge(cmd.Context(), s.options())
	if err != nil {
		return err
	}
	var page *report.Page
	if s.pages.Wanted() {
		page = render.EvalPage(render.ModelOf(e.Model), filepath.Base(path), metrics, &render.Data{Name: filepath.Base(e.Plan.Data.Path)})
	}
	return s.print(cmd, e.Model, metrics, page)
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
