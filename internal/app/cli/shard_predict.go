package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/reach/shard"
	"mercer/model"
)

// shardPredict is the state of the command "shard predict".
type shardPredict struct {
	predict
	folder, which string
	all, asJSON   bool
}

func newShardPredict() *cobra.Command {
	s := &shardPredict{}
	cmd := &cobra.Command{
		Use:         "predict [flags] PLAN MODEL -o FOLDER",
		Annotations: map[string]string{written: "tables of shards that were complete are in the folder"},
		Short:       "Predict the rows of shards",
		Long: `Predict the rows of shards of PLAN by MODEL, and write a table for each to FOLDER, such as shard-00003.csv.

A table appears when it is whole, so a shard that failed is run again. MODEL may be of any learner of rows. The tables of all shards, one after another, have the predictions of "mercer predict" for all rows.

The data are those of PLAN: plan new rows as "mercer shard plan" says, whose flags of learners do not matter here. Which
shards is said as for "mercer shard run".`,
		Example: `  mercer shard plan "new/*.parquet" -o scoring --shards 16
  seq 0 15 | parallel mercer shard predict scoring clicks.mercer -o scored --shard {} --output-format parquet`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVarP(&s.folder, "output", "o", "", "folder to write the tables to, or s3://BUCKET/PREFIX")
	usual, _ := dataset.TableFormatOf(".csv")
	f.StringVar(&s.out.format, "output-format", usual.Name, "csv, tsv, jsonl, parquet, arrow or arrows")
	f.StringVar(&s.which, "shard", "", "numbers of shards, such as 3 or 0-7,12")
	f.BoolVar(&s.all, "all", false, "run all shards in turn")
	s.predictedColumns.flags(cmd)
	f.BoolVar(&s.asJSON, "json", false, "print a JSON object for each shard instead of text")
	return cmd
}

func (s *shardPredict) run(cmd *cobra.Command, folder, modelPath string) error {
	if s.folder == "" {
		return usagef("no folder for the predictions; give -o FOLDER")
	}
	if _, known := s.out.table(); !known {
		return usagef("--output-format %q is not known; known are csv, tsv, jsonl, parquet, arrow and arrows", s.out.format)
	}
	p, err := shard.Load(cmd.Context(), shard.At(folder))
	if err != nil {
		return err
	}
	shards, err := chosenShards(s.which, s.all, p.Shards())
	if err != nil {
		return err
	}
	s.data = p.Options
	m, err := s.load(modelPath)
	if err != nil {
		return err
	}
	if m.Bag() != nil {
		return fmt.Errorf("%s: is a model of bags, and shards are of rows", modelPath)
	}
	s.data.Schema = &m.Info().Schema
	tables, err := shard.Create(s.folder)
	if err != nil {
		return err
	}
	for _, i := range shards {
		start := time.Now()
		s.out.path = tables.Name(fmt.Sprintf("shard-%05d.%s", i, s.out.format))
		rows, err := s.shard(cmd, p, m, i)
		if err != nil {
			return err
		}
		done := render.Predicted{Shard: i, Rows: rows, File: s.out.path}
		if !s.asJSON {
			done.Text(cmd.OutOrStdout(), time.Since(start).Seconds())
		} else if err := render.JSON(cmd.OutOrStdout(), done); err != nil {
			return err
		}
	}
	return nil
}

// shard predicts the rows of one shard, piece by piece.
func (s *shardPredict) shard(cmd *cobra.Command, p *shard.Plan, m *model.Model, i int) (n int, err error) {
	at, end := p.Pieces(i)
	at--
	s.unseen = nil
	s.more = func() (*rows, error) {
		if at++; at == end {
			at--
			return nil, nil
		}
		f, err := p.Data.Open(cmd.Context(), at, s.data)
		if err != nil {
			return nil, err
		}
		return &rows{f, f}, nil
	}
	first, err := s.more()
	if err == nil {
		defer first.Close()
		err = s.writeAll(cmd, m, first, &Progress{})
	}
	return s.count, p.Named(at, err)
}
