package cli

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/search"
	"mercer/train"
)

// learningCurve is the state of the command "curve".
type learningCurve struct {
	cfg      train.Config
	data     dataset.Options
	rows     []int // of the points
	features []int // of the second curve
	most     int
	seeds    int
	memory   bytesValue
	json     bool
	progress string
	pages    Pages
}

const curveHelp = `Train on growing numbers of the rows of DATA, and on the most of them with growing numbers of
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
first training, about how long it takes and what it holds (not with --progress never).`

func newCurve() *cobra.Command {
	c := &learningCurve{}
	cmd := &cobra.Command{
		Use:   "curve [flags] DATA",
		Short: "Show what more rows and more features buy",
		Long:  curveHelp,
		Example: `  mercer curve houses.csv --label price
  mercer curve a9a.gz --kernel laplacian --seeds 5
  mercer curve a9a.gz --report curve.html --plots pictures
  mercer curve a9a.gz --at-rows 500,2000,8000 --at-features 128,512,2048 --json`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.Var(countsValue{&c.rows}, "at-rows", "numbers of training rows of the points, or a range that doubles, such as 250:8000 "+
		"(default: doubling from 250 to two thirds of the rows)")
	f.Var(countsValue{&c.features}, "at-features", "numbers of features of the second curve, or a range that doubles "+
		"(default: 64, 256, … to that of the training)")
	f.IntVar(&c.most, "rows", 24_000, "most rows to draw from DATA, a third of them to test on")
	f.IntVar(&c.seeds, "seeds", 3, "trainings a point, each with other rows and another seed")
	f.StringVar(&c.cfg.Task, "task", "auto", "what labels are: auto, classify, regress, multilabel")
	scaleFlag(cmd, &c.cfg)
	modelFlags(cmd, &c.cfg)
	learnerFlags(cmd, &c.cfg)
	dataFlags(cmd, &c.data)
	labelFlags(cmd, &c.data)
	f.Var(&c.memory, "memory", "most memory to train in, such as 8GiB (default: 80 % of what is free)")
	f.BoolVar(&c.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &c.progress)
	PageFlags(cmd, &c.pages)
	tableFlag(cmd, &c.pages)
	return cmd
}

// check finds what is wrong with the flags.
func (c *learningCurve) check(cmd *cobra.Command, path string) error {
	unname(cmd, &c.cfg, false)
	if err := settle(cmd, &c.cfg); err != nil {
		return err
	}
	if err := readLandmarks(cmd.Context(), &c.cfg, c.data); err != nil {
		return err
	}
	if err := c.cfg.Check(); err != nil {
		return UsageError{err}
	}
	if err := checkRows(&c.data, &c.cfg); err != nil {
		return err
	}
	switch {
	case c.most < 8:
		return usagef("--rows %d are too few for a curve; give 8 at least", c.most)
	case c.seeds < 1:
		return usagef("--seeds %d is not a number of trainings", c.seeds)
	case c.cfg.Outliers():
		return usagef("outliers have no labels to measure errors by")
	}
	return c.pages.Check(path, c.data.LabelsFile)
}

func (c *learningCurve) run(cmd *cobra.Command, path string) error {
	if err := c.check(cmd, path); err != nil {
		return err
	}
	p, err := NewProgress(cmd, c.progress)
	if err != nil {
		return err
	}
	if c.memory == 0 {
		c.memory = bytesValue(availableMemory() / 5 * 4)
	}
	src, err := dataset.Open(cmd.Context(), path, c.data)
	if err != nil {
		return err
	}
	defer src.Close()
	s, err := search.Draw(cmd.Context(), src, c.most, c.cfg.Task, max(c.cfg.Seed, 1))
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("at-features") && c.features == nil {
		c.features = []int{}
	}
	opt := search.CurveOptions{
		Rows: c.rows, Features: c.features, Seeds: c.seeds, Memory: int64(c.memory),
		Progress: func(k, of, rows int) { p.Report("train", rows, float64(k-1)/float64(of)) },
	}
	if p.tells() {
		opt.Forecast, opt.ForecastFrom = func(f search.Forecast) { p.note(f.Text("points")) }, longWork
	}
	found, err := search.LearningCurve(cmd.Context(), s, c.cfg, opt)
	p.Done()
	if err != nil {
		return err
	}
	return c.show(cmd, found, filepath.Base(dataset.ShownPath(path)))
}

// show prints what was found, and writes it to the files that were asked for.
func (c *learningCurve) show(cmd *cobra.Command, found *search.Curve, name string) error {
	if !c.json {
		render.CurveText(cmd.OutOrStdout(), found)
	}
	if err := c.pages.writeTable(cmd, c.json, func(w io.Writer) error { return render.CurveCSV(w, found) }); err != nil {
		return err
	}
	if err := c.pages.Write(cmd, render.CurvePage(found, name), c.json); err != nil || !c.json {
		return err
	}
	return render.JSON(cmd.OutOrStdout(), found)
}
