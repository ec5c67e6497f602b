package cli

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/search/cost"
	"mercer/internal/search/trial"
	"mercer/train"
)

func newCurve() *cobra.Command {
	var (
		cfg      train.Config
		data     dataset.Options
		rows     []int
		features []int
		most     int
		seeds    int
		memory   bytesValue
		asJSON   bool
		progress string
		pages    Pages
	)
	cmd := &cobra.Command{
		Use:   "curve [flags] DATA",
		Short: "Show what more rows and more features buy",
		Long: `Train on growing numbers of the rows of DATA, and on the most of them with growing numbers of
features D, and measure the errors on the training rows and on rows that none is trained on.

Every point is the mean of several trainings (--seeds) on other rows with other random maps, with
the standard deviation. The test errors are fitted by a + b·n^-c: a is what more rows (or
features) do not help against. From that the errors for more rows are extrapolated, and the
seconds from a power law; these lines say so. What a training holds in memory, beside the data that are
read, is by the formula of its learner. A training error far below the test error says that
more rows help; both high and close to each other, that another kernel or more features
might.

A third of the rows, 10,000 at most, is held out to test on. --rows bounds how many are drawn
from DATA; they are held in memory. A curve of more than ten seconds says on standard error, before its
first training, about how long it takes and what it holds (not with --progress never).`,
		Example: `  mercer curve houses.csv --label price
  mercer curve a9a.gz --kernel laplacian --seeds 5
  mercer curve a9a.gz --report curve.html --plots pictures
  mercer curve a9a.gz --at-rows 500,2000,8000 --at-features 128,512,2048 --json`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			unname(cmd, &cfg, false)
			if err := settle(cmd, &cfg); err != nil {
				return err
			}
			if err := readLandmarks(cmd.Context(), &cfg, data); err != nil {
				return err
			}
			if err := cfg.Check(); err != nil {
				return UsageError{err}
			}
			if err := checkData(&data); err != nil {
				return err
			}
			switch {
			case most < 8:
				return usagef("--rows %d are too few for a curve; give 8 at least", most)
			case seeds < 1:
				return usagef("--seeds %d is not a number of trainings", seeds)
			case cfg.Outliers():
				return usagef("outliers have no labels to measure errors by")
			}
			if err := pages.Check(args[0], data.LabelsFile); err != nil {
				return err
			}
			p, err := NewProgress(cmd, progress)
			if err != nil {
				return err
			}
			if memory == 0 {
				memory = bytesValue(availableMemory() / 5 * 4)
			}
			src, err := dataset.Open(cmd.Context(), args[0], data)
			if err != nil {
				return err
			}
			defer src.Close()
			s, err := trial.Draw(cmd.Context(), src, most, cfg.Task, max(cfg.Seed, 1))
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("at-features") && features == nil {
				features = []int{}
			}
			opt := cost.CurveOptions{
				Rows: rows, Features: features, Seeds: seeds, Memory: int64(memory),
				Progress: func(k, of, rows int) { p.Report("train", rows, float64(k-1)/float64(of)) },
			}
			if p.tells() {
				opt.Forecast, opt.ForecastFrom = func(f cost.Forecast) { p.note(f.Text("points")) }, longWork
			}
			c, err := cost.LearningCurve(cmd.Context(), s, cfg, opt)
			p.Done()
			if err != nil {
				return err
			}
			if !asJSON {
				render.CurveText(cmd.OutOrStdout(), c)
			}
			if err := pages.writeTable(cmd, asJSON, func(w io.Writer) error { return render.CurveCSV(w, c) }); err != nil {
				return err
			}
			if asJSON {
				if err := pages.Write(cmd, render.CurvePage(c, filepath.Base(dataset.ShownPath(args[0]))), true); err != nil {
					return err
				}
				return render.JSON(cmd.OutOrStdout(), c)
			}
			return pages.Write(cmd, render.CurvePage(c, filepath.Base(dataset.ShownPath(args[0]))), false)
		},
	}
	f := cmd.Flags()
	f.Var(countsValue{&rows}, "at-rows", "numbers of training rows of the points, or a range that doubles, such as 250:8000 "+
		"(default: doubling from 250 to two thirds of the rows)")
	f.Var(countsValue{&features}, "at-features", "numbers of features of the second curve, or a range that doubles "+
		"(default: 64, 256, … to that of the training)")
	f.IntVar(&most, "rows", 24_000, "most rows to draw from DATA, a third of them to test on")
	f.IntVar(&seeds, "seeds", 3, "trainings a point, each with other rows and another seed")
	f.StringVar(&cfg.Task, "task", "auto", "what labels are: auto, classify, regress, multilabel")
	scaleFlag(cmd, &cfg)
	modelFlags(cmd, &cfg)
	learnerFlags(cmd, &cfg)
	dataFlags(cmd, &data)
	f.Var(&memory, "memory", "most memory to train in, such as 8GiB (default: 80 % of what is free)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &progress)
	PageFlags(cmd, &pages)
	tableFlag(cmd, &pages)
	return cmd
}
