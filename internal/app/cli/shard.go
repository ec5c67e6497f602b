package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/reach/shard"
	"mercer/train"
)

func newShard() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shard",
		Short: "Train in parts that any engine runs",
		Long: `Train on more rows than one machine reads, by commands that any engine can run: Kubernetes, Slurm,
Airflow, a shell. "plan" divides the data into pieces and these into shards. Then there are rounds:
"run" runs one shard, on any machine that sees the data and the folder of the plan, and "merge" puts
together what all shards have found. "solve" makes the model after the last round. A round looks at
tables (what their columns hold), one surveys the rows, one collects statistics of their features; "next"
names the one that is next. "predict" predicts the rows of a shard, by a model of any
kind, "eval" measures a model on the rows of all, and "remove" removes what the rounds have written.

Sums are added by a tree over the pieces, and rows are drawn by their place in a piece, so the
model has the same bytes for any number of shards, in any order. A shard that runs twice counts
once; one that is missing, or that found something else when it ran again, is an error.
docs/shards.md has examples and what it costs.`,
		Example: `  mercer shard plan clicks.csv -o plan --shards 16 --features 8192
  while round=$(mercer shard next plan) && [ -n "$round" ]; do
    seq 0 15 | parallel mercer shard run plan --round $round --shard {}
    mercer shard merge plan --round $round
  done
  mercer shard solve plan -o clicks.mercer`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no command; shard has plan, run, merge, next, solve, predict, eval and remove")
			}
			return usagef("shard has no command %q; it has plan, run, merge, next, solve, predict, eval and remove", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newShardPlan(), newShardRun(), newShardMerge(), newShardNext(), newShardSolve(), newShardPredict(), newShardEval(), newShardRemove())
	return cmd
}

// shardPlan is the state of the command "shard plan".
type shardPlan struct {
	cfg    train.Config
	data   dataset.Options
	out    string // folder
	shards int
	piece  bytesValue
	part   int
	json   bool

	estimate bool // instead of a plan
	cost     shard.EstimateOptions
	network  bytesValue
	memory   bytesValue
}

const shardPlanHelp = `Divide DATA, a file, a folder or a pattern such as "clicks/*.parquet", also of objects of S3 (s3://…), into pieces
and these into shards, and write the plan into FOLDER or s3://BUCKET/PREFIX, where the other commands keep what they find.

Text is divided at ends of lines, Parquet by row groups, NPY by rows; other files, and compressed
ones, are a piece each. The pieces depend on the files and --piece alone: with other --shards, the
model has the same bytes. Paths are as given here, and the files have to stay as they are.

Without flags of learners, kernels and maps the survey of all rows decides, as for "mercer train", and the merge of that
round says so: rfm for tables, however many rows they have, and else ridge. Learners are those that need
nothing but sums over the rows: ridge, lasso, elastic-net and group-lasso, on any map that a sample settles, also on
principal components. svm and logistic, for classes, with the penalty l2, a smooth loss and a given --c, and falkon with a given
--lambda take many passes, each a round. rfm has rounds of its own: sums of targets by the
values of columns say which columns get mean targets, a sample divides the rows into parts, all go to files of
these in FOLDER, and leaves grow from each.

--estimate plans nothing. It times trials on a few rows of DATA, with as many features as the training has, and
says what numbers of workers would take that are each like this machine: time, memory, bytes moved, and the
price by --price. --rows says for how many rows, if DATA is a sample of them.`

func newShardPlan() *cobra.Command {
	p := &shardPlan{network: 1.25e9}
	cmd := &cobra.Command{
		Use:   "plan [flags] DATA -o FOLDER",
		Short: "Divide data into shards",
		Long:  shardPlanHelp,
		Example: `  mercer shard plan clicks.csv -o plan --shards 16
  mercer shard plan sample.csv --estimate --rows 1000000000 --features 8192 --price 0.2
  mercer shard plan "logs/*.parquet" -o plan --shards 64 --label clicked --features 8192`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&p.out, "output", "o", "", "folder of the plan, seen by all workers, or s3://BUCKET/PREFIX")
	f.IntVar(&p.shards, "shards", 1, "number of shards")
	f.BoolVar(&p.estimate, "estimate", false, "say what training would take, by trials, and plan nothing")
	f.Int64Var(&p.cost.Rows, "rows", 0, "with --estimate: number of rows (default: those of DATA)")
	f.IntSliceVar(&p.cost.Workers, "workers", nil, "with --estimate: numbers of workers (default: powers of two)")
	f.Float64Var(&p.cost.Rate, "price", 0, "with --estimate: price of a worker for an hour")
	f.Float64Var(&p.cost.Start, "start", 5, "with --estimate: seconds until a worker begins")
	f.Var(&p.network, "network", "with --estimate: bytes a second of a worker")
	f.Var(&p.memory, "memory", "with --estimate: most memory (default: 80 % of what is free)")
	f.Var(&p.piece, "piece", "size of a piece, such as 16MiB (default 64MiB)")
	f.IntVar(&p.part, "part", 0, "of rfm: rows whose leaves grow together, in memory (default 200000)")
	f.StringVar(&p.cfg.Task, "task", "auto", "what labels are: auto, classify, regress, multilabel")
	scaleFlag(cmd, &p.cfg)
	modelFlags(cmd, &p.cfg)
	settingFlags(cmd.Flags(), &p.cfg.Reduce, train.Reduction.Help)
	learnerFlags(cmd, &p.cfg)
	dataFlags(cmd, &p.data)
	labelFlags(cmd, &p.data)
	f.BoolVar(&p.json, "json", false, "print one JSON object instead of text")
	return cmd
}

// run writes the plan for the data at path.
func (p *shardPlan) run(cmd *cobra.Command, path string) error {
	if p.out == "" && !p.estimate {
		return usagef("no folder for the plan; give -o FOLDER")
	}
	if p.shards < 1 {
		return usagef("--shards %d: give 1 or more", p.shards)
	}
	unname(cmd, &p.cfg, false)
	if err := settle(cmd, &p.cfg); err != nil {
		return err
	}
	if err := checkData(&p.data); err != nil {
		return err
	}
	if p.estimate {
		return p.runEstimate(cmd, path)
	}
	plan, err := shard.NewPlan(cmd.Context(), path, p.data, p.cfg, p.shards, int64(p.piece))
	if err == nil && cmd.Flags().Changed("part") {
		err = plan.SetPart(p.part)
	}
	if err != nil {
		return err
	}
	store, err := shard.Create(p.out)
	if err != nil {
		return err
	}
	if err := plan.Save(cmd.Context(), store); err != nil {
		return err
	}
	if p.json {
		return render.JSON(cmd.OutOrStdout(), render.PlanOf(plan))
	}
	render.PlanOf(plan).Text(cmd.OutOrStdout(), p.out)
	return nil
}

// runEstimate says what the training on the data at path would take.
func (p *shardPlan) runEstimate(cmd *cobra.Command, path string) error {
	if p.cost.Rows < 0 || p.cost.Rate < 0 || p.cost.Start < 0 || p.network <= 0 {
		return usagef("--rows, --price, --start and --network are positive numbers")
	}
	p.cost.Piece, p.cost.Part, p.cost.Network = int64(p.piece), p.part, float64(p.network)
	if p.cost.Train.Memory = int64(p.memory); p.memory == 0 {
		p.cost.Train.Memory = availableMemory() / 5 * 4
	}
	e, err := shard.NewEstimate(cmd.Context(), path, p.data, p.cfg, p.cost)
	if err != nil {
		return err
	}
	if p.json {
		return render.JSON(cmd.OutOrStdout(), e)
	}
	render.EstimateText(cmd.OutOrStdout(), e)
	return nil
}

// workOn opens the plan of a folder for the commands after plan.
func workOn(cmd *cobra.Command, folder string, memory bytesValue) (*shard.Worker, error) {
	opt := train.Options{Memory: int64(memory)}
	if opt.Memory == 0 {
		opt.Memory = availableMemory() / 5 * 4
	}
	return shard.NewWorker(cmd.Context(), shard.At(folder), opt)
}

func newShardRun() *cobra.Command {
	var (
		which, round string
		all, asJSON  bool
		memory       bytesValue
	)
	cmd := &cobra.Command{
		Use:         "run [flags] PLAN",
		Annotations: map[string]string{written: "shards that ran are in the plan, and the same command runs all again"},
		Short:       "Run shards of a round",
		Long: `Run shards in a round of the training that PLAN, a folder, is for, and write what is found to it. Which
shards is said by --shard, by --all, or by the number of the task that Kubernetes (JOB_COMPLETION_INDEX)
or Slurm (SLURM_ARRAY_TASK_ID) has in the environment. Shards may run at the same time on any machines
that see PLAN and the data; one that failed is run again.

Without --round it is the round that is next. Give it where tasks may be late: a round that is merged
already is then run again to no effect, and one whose predecessor is not merged is an error.`,
		Example: `  mercer shard run plan --shard 3
  mercer shard run plan --shard 0-7 --round survey
  mercer shard run plan --all`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := workOn(cmd, args[0], memory)
			if err != nil {
				return err
			}
			shards, err := chosenShards(which, all, w.Plan.Shards())
			if err != nil {
				return err
			}
			if round == "" {
				if round, err = w.Next(cmd.Context()); err != nil {
					return err
				}
			}
			if !w.Plan.Needs(round) {
				render.NotNeeded(cmd.OutOrStdout(), round, asJSON)
				return nil
			}
			for _, i := range shards {
				start := time.Now()
				r, err := w.Run(cmd.Context(), round, i)
				if err != nil {
					return err
				}
				if asJSON {
					if err := render.JSON(cmd.OutOrStdout(), r); err != nil {
						return err
					}
					continue
				}
				render.ReceiptText(cmd.OutOrStdout(), r, time.Since(start).Seconds())
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&which, "shard", "", "numbers of shards, from 0, such as 3 or 0-7,12")
	f.BoolVar(&all, "all", false, "run all shards in turn")
	f.StringVar(&round, "round", "", "round, such as survey (default: the next)")
	f.Var(&memory, "memory", "most memory to work in, such as 8GiB (default: 80 % of what is free)")
	f.BoolVar(&asJSON, "json", false, "print a JSON object for each shard instead of text")
	return cmd
}

// chosenShards are the shards to run.
func chosenShards(which string, all bool, n int) (list []int, err error) {
	if all && which != "" {
		return nil, usagef("--all and --shard both say what to run; give one of them")
	}
	if all {
		which = "0-" + strconv.Itoa(n-1)
	}
	for _, name := range []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID"} {
		if which == "" {
			which = os.Getenv(name)
		}
	}
	if which == "" {
		return nil, usagef("no shard; give --shard NUMBER or --all, or run as a task of Kubernetes or Slurm that has a number")
	}
	for part := range strings.SplitSeq(which, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err = errors.Join(err, err2); err != nil || from > to {
			return nil, usagef("--shard %q is not a number or a range such as 0-7", part)
		}
		if from < 0 || to >= n {
			return nil, usagef("--shard %s: there are shards 0 to %d", part, n-1)
		}
		for i := from; i <= to; i++ {
			list = append(list, i)
		}
	}
	return list, nil
}

func newShardMerge() *cobra.Command {
	var (
		asJSON bool
		which  string
		memory bytesValue
	)
	cmd := &cobra.Command{
		Use:         "merge [flags] PLAN",
		Annotations: map[string]string{written: "what was complete is in the plan, and mercer shard next says what is left"},
		Short:       "Put together what the shards of a round have found",
		Long: `Put together what all shards have found in the round of PLAN that is next, and say what is to be done
then. It is an error if a shard has not run, or if what it wrote is damaged or of another plan; the
message names it. With --round, a round that is merged already, or that the data do not need, is left as it is.`,
		Example: `  mercer shard merge plan
  mercer shard merge plan --round survey`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := workOn(cmd, args[0], memory)
			if err != nil {
				return err
			}
			round, rows, err := w.Merge(cmd.Context(), which)
			if err != nil {
				return err
			}
			next, err := w.Next(cmd.Context())
			if err != nil {
				return err
			}
			if round == "look" {
				tellNotices(cmd, w)
			}
			result := render.Merged{Round: round, Rows: rows, Shards: w.Plan.Shards(), Next: next}
			if round == "survey" {
				result.Learner, result.Why = w.Decided()
			}
			if asJSON {
				return render.JSON(cmd.OutOrStdout(), result)
			}
			result.Text(cmd.OutOrStdout(), args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&which, "round", "", "round, such as survey (default: the next)")
	cmd.Flags().Var(&memory, "memory", "most memory to work in, such as 8GiB (default: 80 % of what is free)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return cmd
}

func newShardNext() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "next [flags] PLAN",
		Short: "Print the round that is next",
		Long: `Print the name of the round of PLAN that is to be run and merged next, and nothing after the last, when the model can be
made. So a loop ends by itself, also of learners whose number of passes is seen when they are done.`,
		Example: `  mercer shard next plan`,
		Args:    nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := workOn(cmd, args[0], 0)
			if err != nil {
				return err
			}
			round, err := w.Next(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return render.JSON(cmd.OutOrStdout(), render.NextRound{Next: round, Shards: w.Plan.Shards()})
			}
			if round != "" {
				fmt.Fprintln(cmd.OutOrStdout(), round)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with the number of shards")
	return cmd
}

func newShardRemove() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:         "remove [flags] PLAN",
		Annotations: map[string]string{written: "some files of the plan are gone, and the same command removes the others"},
		Short:       "Remove a plan and what its rounds have written",
		Long: `Remove PLAN, and all that its rounds have written to its folder or object store: nothing else there, but data
that were copied into its folder "data". The model and the data of the plan stay.`,
		Example: `  mercer shard remove s3://shop/plan`,
		Args:    nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := shard.Remove(cmd.Context(), shard.At(args[0]))
			if err != nil {
				return err
			}
			result := render.Removed{Plan: args[0], Files: n}
			if asJSON {
				return render.JSON(cmd.OutOrStdout(), result)
			}
			result.Text(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return cmd
}

func newShardSolve() *cobra.Command {
	t := &training{}
	alone := false
	cmd := &cobra.Command{
		Use:   "solve [flags] PLAN -o MODEL",
		Short: "Make the model when all rounds are merged",
		Long: `Make the model of PLAN from the merged statistics, and print a summary.

With --alone all rounds are gone through in this process, and nothing is written but the model, which has the
same bytes.`,
		Example: `  mercer shard solve plan -o clicks.mercer --test tomorrow.csv
  mercer shard solve plan -o clicks.mercer --alone`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := time.Now()
			if t.out == "" {
				return usagef("no file to write the model to; give -o MODEL")
			}
			if err := writable(t.out); err != nil {
				return err
			}
			w, err := workOn(cmd, args[0], t.memory)
			if err != nil {
				return err
			}
			t.data = w.Plan.Options
			if err := t.findTest(); err != nil {
				return err
			}
			r := &front.Result{}
			if alone {
				r.Model, r.Report, err = w.Train(cmd.Context())
			} else {
				r.Model, r.Report, err = w.Solve(cmd.Context())
			}
			if err != nil {
				return err
			}
			tellNotices(cmd, w)
			var failed error
			if t.test != "" {
				failed = t.testModel(cmd, r)
			}
			return t.finish(cmd, r, failed, filepath.Base(w.Plan.Data.Path), start, nil)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&t.out, "output", "o", "", "file to write the model to")
	f.BoolVar(&alone, "alone", false, "go through all rounds in this process")
	f.StringVar(&t.test, "test", "", "data to test the model on")
	f.StringVar(&t.testLabels, "test-labels", "", "file of labels for --test")
	f.Var(&t.memory, "memory", "most memory to work in, such as 8GiB (default: 80 % of what is free)")
	f.BoolVar(&t.json, "json", false, "print one JSON object instead of text")
	return cmd
}

// tellNotices tells what the first round found of the columns, as a training does.
func tellNotices(cmd *cobra.Command, w *shard.Worker) {
	for _, n := range w.Notices {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s\n", cmd.CommandPath(), oneLine(n.Err))
	}
}

// testModel measures a model on the rows of --test.
func (t *training) testModel(cmd *cobra.Command, r *front.Result) (err error) {
	o := t.data
	o.LabelsFile, o.Dim = t.testLabels, 0
	src, err := openRows(cmd, r.Model, t.test, o)
	if err != nil {
		return err
	}
	defer src.Close()
	r.Test, err = eval.Evaluate(cmd.Context(), r.Model, src, eval.Options{})
	return err
}
