package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/internal/app/render"
	"mercer/train"
)

// ofStatistics are the flags of train that make sense where scaling and map come from a file
// of statistics.
var ofStatistics = []string{
	"append", "like", "save-stats", "output", "test", "test-labels", "holdout", "memory", "json", "progress", "threads",
	"learner", "lambda", "lambda-by", "path", "variance", "shrinkage", "priors", "reduce", "components", "variance-share", "whiten",
	"format", "label", "labels", "weight", "header", "base", "encoding", "missing", "dim", "batch", "query", "table",
}

// loadStatistics reads the files of --append or --like.
func (t *training) loadStatistics(cmd *cobra.Command, path string) error {
	if t.saveStats != "" && t.cfg.LearnerName() == "auto" {
		t.cfg.SetLearner(train.OnePass().Name())
	}
	if t.appendTo == nil && t.like == "" {
		return nil
	}
	if t.appendTo != nil && t.like != "" {
		return usagef("--append goes on with the scaling and the map of its file; leave out --like")
	}
	if bagFolder(path, &t.data) {
		return usagef("--append and --like are for rows, but %s is a folder of bags", path)
	}
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if wrong == nil && !slices.Contains(ofStatistics, f.Name) {
			wrong = usagef("--%s was decided when the statistics were made; leave it out with --append and --like", f.Name)
		}
	})
	if wrong != nil {
		return wrong
	}
	files := t.appendTo
	if t.like != "" {
		files = []string{t.like}
	}
	s, err := mergeStatistics(cmd.Context(), files)
	if err != nil {
		return err
	}
	if t.like != "" {
		s = s.Empty()
	}
	t.stats = s
	return nil
}

// mergeStatistics reads files of statistics and puts them together.
func mergeStatistics(ctx context.Context, files []string) (*train.Statistics, error) {
	s, err := train.LoadStatistics(files[0])
	if err != nil {
		return nil, err
	}
	for _, path := range files[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		other, err := train.LoadStatistics(path)
		if err != nil {
			return nil, err
		}
		if err := s.Merge(other); err != nil {
			return nil, fmt.Errorf("%s and %s: %w", files[0], path, err)
		}
	}
	return s, nil
}

// inspectStatistics tells what a file of statistics holds.
func inspectStatistics(cmd *cobra.Command, path string, s *train.Statistics, asJSON bool) error {
	if asJSON {
		return render.JSON(cmd.OutOrStdout(), render.StatisticsOf(s).JSON())
	}
	render.StatisticsOf(s).Text(cmd.OutOrStdout(), path)
	return nil
}

func newMerge() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "merge FILE.stats FILE.stats... -o FILE.stats",
		Short: "Put statistics of several trainings together",
		Long: `Put statistics together that "mercer train --save-stats" wrote for different rows, as if all
rows had been in one training. The files must be of the same scaling and map: make one of them,
and the others with --like. "mercer train --append" makes a model of the result.`,
		Example: `  mercer merge p1.stats p2.stats p3.stats -o all.stats
  mercer train part1.csv -o p.mercer --learner ridge --save-stats p1.stats
  mercer train part2.csv -o p.mercer --like p1.stats --save-stats p2.stats
  mercer train --append all.stats -o all.mercer`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 {
				return usagef("no files of statistics; usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("no file to write the statistics to; give -o FILE")
			}
			s, err := mergeStatistics(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := s.Save(out); err != nil {
				return err
			}
			render.StatisticsOf(s).Saved(cmd.OutOrStdout(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write the statistics to")
	return cmd
}
