package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mercer/internal/app/cli"
	"mercer/internal/app/render"
	"mercer/internal/engine/report"
	"mercer/research/papers"
)

func newReproduce() *cobra.Command {
	var (
		opt      papers.Options
		list     bool
		asJSON   bool
		progress string
		written  cli.Pages
	)
	cmd := &cobra.Command{
		Use:   "reproduce [flags] TABLE...|PAPER",
		Short: "Make tables of the papers again, theirs beside ours",
		Long: `Repeat the experiments behind tables of the papers that Mercer follows, and print the
papers' figures beside its own: mean ± standard deviation over the seeds, and a mark.

  within               no further from the paper's mean than its runs scatter (one standard
                       deviation; ours where it gives none) and its rounding hides
  better, worse        less error, or more accuracy, than that; or the other way round
  differs              of p-values: the digits are not those that the paper prints
  unreadable           the copy of the paper at hand cannot be read there
  not run              left out by --quick
  theirs alone         a method that is not here, or one that takes hours: the paper's figures
  (no mark)            times, of the paper's machine and of this one, and sizes; one seed where the
                       paper gives no deviation
  data not available   the data set is not in --data, or not to be had

--list has every table and figure of the five papers: what makes it again, or which data it would take
that are not to be had; the name of a paper lists those of that paper. Where the data of a table are not
there the exit code is 1. Of ten seeds a choice of C or λ is made with the first and kept; what no
random number changes runs once; where times are measured seeds run one after the other, else two
at a time.

With --journal every row of a seed is kept as soon as it is made. The same command goes on where one
was stopped or killed, and with more --seeds adds those; only the choices of the first seed are made
again. A journal does not tell whether data or program are the same: delete it when they change.

docs/papers-tables.md has the results, with reasons for what differs. --data is a folder with a
folder for each data set, as published, gzipped or not:

  cifar10/data_batch_1.bin (or data_batch_1_first4000.bin)
  isolet/isolet1+2+3+4.data, isolet/isolet5.data
  mnist/train-images-idx3-ubyte, mnist/t10k-images-idx3-ubyte
  mnist/train-labels-idx1-ubyte, mnist/t10k-labels-idx1-ubyte
  w8a/w8a, ijcnn1/ijcnn1.trn.bz2, ijcnn1/ijcnn1.tst.bz2
  covtype/covtype.data (or covtype.sample403k.data)
  cpu_act/cpu.act.arff, a9a/a9a, a9a/a9a.t, kddcup99/kddcup.data_10_percent, kddcup99/corrected
  wikipedia_sift/image_sift_bow128.{train,test}.csv, outdoor_colorhist/outdoorStream.{data,labels},
  optdigits/optdigits.{tra,tes}, spambase/spambase.data, reuters_r8/R8.txt, reuters_r8/R8.clean.txt`,
		Example: `  go run . reproduce --list
  go run . reproduce LS18
  go run . reproduce S14-4.1
  go run . reproduce LS19-4.2 LS19-4.3 --data ~/data --quick
  go run . reproduce LS19-4.4 --data ~/data --journal tables.jsonl
  go run . reproduce S14-4.1 S14-F4.1 --seeds 16 --report s14.html --plots pictures`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !list {
				return usagef("no table; give a TABLE of --list")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if asked, err := papersOf(args, list); err != nil || asked != nil {
				if err != nil {
					return err
				}
				return listTables(out, asked, asJSON)
			}
			if opt.Seeds < 1 {
				return usagef("--seeds %d: give 1 or more", opt.Seeds)
			}
			if opt.Quick && cmd.Flags().Changed("seeds") && opt.Seeds > 1 {
				return usagef("--quick is one seed; leave out --seeds %d, or --quick", opt.Seeds)
			}
			var tables []*papers.Table
			for _, name := range args {
				t, err := papers.Find(name)
				if err != nil {
					return cli.UsageError{Err: err}
				}
				tables = append(tables, t)
			}
			p, err := cli.NewProgress(cmd, progress)
			if err != nil {
				return err
			}
			defer p.Done()
			if err := written.Check(opt.Journal); err != nil {
				return err
			}
			page := &report.Page{Title: "Tables of the papers, theirs and ours", Subtitle: strings.Join(args, ", ")}
			var results []reproducedJSON
			var missing []string // tables without data
			for i, t := range tables {
				opt.Progress = func(share float64) { p.Report(t.Name, 0, share) }
				start := time.Now()
				r, err := papers.Run(cmd.Context(), t, opt)
				if opt.Journal != "" {
					err = cli.GoesOn(cmd.Context(), err, opt.Journal)
				}
				if err != nil {
					return err
				}
				p.Done()
				if r.Missing != "" {
					missing = append(missing, t.Name)
				}
				took := time.Since(start).Seconds()
				if written.Wanted() {
					if err := reproducedSection(page, r, took); err != nil {
						return err
					}
				}
				if asJSON {
					results = append(results, newReproducedJSON(r))
					continue
				}
				if i > 0 {
					fmt.Fprintln(out)
				}
				reproducedText(out, r, took)
			}
			if written.Wanted() && !asJSON {
				fmt.Fprintln(out)
			}
			if err := written.Write(cmd, page, asJSON); err != nil {
				return err
			}
			if asJSON {
				if err := render.JSON(out, results); err != nil {
					return err
				}
			}
			return lacking(missing, opt.Dir)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the tables, what data and time they need, and all tables and figures of the papers")
	f.StringVar(&opt.Dir, "data", ".", "folder with a folder for each data set")
	f.IntVar(&opt.Seeds, "seeds", 10, "how many runs, of seeds 1, 2, …")
	f.StringVar(&opt.Journal, "journal", "", "file that keeps what is done, to go on or to add seeds")
	f.BoolVar(&opt.Quick, "quick", false, "one seed, fewer rows and, where columns are expensive, only the first")
	f.BoolVar(&asJSON, "json", false, "print one JSON array instead of text")
	cli.PageFlags(cmd, &written)
	cli.ProgressFlag(cmd, &progress)
	return cmd
}

// papersOf are the papers whose tables are to be listed: those that the arguments name, or all with --list
// alone; nil where tables are to be made.
func papersOf(args []string, list bool) (of []string, err error) {
	known := papers.Papers()
	if list && len(args) == 0 {
		return known, nil
	}
	for _, name := range args {
		if i := slices.IndexFunc(known, func(p string) bool { return strings.EqualFold(p, name) }); i >= 0 {
			of = append(of, known[i])
		} else if list {
			return nil, usagef("%q is not a paper; --list takes %s, or nothing for all of them", name, strings.Join(known, ", "))
		}
	}
	if of != nil && len(of) < len(args) {
		return nil, usagef("%s is a paper, whose tables are listed, and others are tables to be made; give one kind of names", of[0])
	}
	return of, nil
}

// lacking is the error that tables could not be made.
func lacking(tables []string, dir string) error {
	if tables == nil {
		return nil
	}
	return fmt.Errorf("there are no data in %s for %s; --data names the folder of the data sets", dir, strings.Join(tables, ", "))
}

// listTables lists the tables of some papers.
func listTables(w io.Writer, of []string, asJSON bool) error {
	var tables []*papers.Table
	for _, t := range papers.Tables() {
		if slices.Contains(of, t.Paper()) {
			tables = append(tables, t)
		}
	}
	var items []papers.Item
	for _, i := range papers.Inventory() {
		if slices.Contains(of, i.Paper) {
			items = append(items, i)
		}
	}
	list := newTablesJSON(tables, items)
	if asJSON {
		return render.JSON(w, list)
	}
	tablesText(w, list)
	return nil
}
