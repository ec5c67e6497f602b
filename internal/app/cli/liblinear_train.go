package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/solve/liblinear"
	"mercer/matrix"
)

func newLiblinearTrain() *cobra.Command {
	defaults := liblinear.Defaults()
	var list strings.Builder
	all, about := liblinear.Solvers()
	for i, s := range all {
		fmt.Fprintf(&list, "    %2d  %s\n", int(s), about[i])
	}
	return &cobra.Command{
		Use:   "liblinear-train [options] TRAINING_FILE [MODEL_FILE]",
		Short: "Train a linear model with LIBLINEAR's options, into its file format",
		Long: `Train a linear model on TRAINING_FILE, LIBSVM text that may be compressed, and write it to
MODEL_FILE (default: the name of the training file with .model at its end) as LIBLINEAR does, so
that its predict and everything else that reads such files can use it. Options:

  -s N    solver (default 1):
` + list.String() + `  -c C    cost (default 1)
  -p P    half the width of the tube of regressions (default 0.1)
  -n NU   share of outliers of solver 21 (default 0.5)
  -e E    tolerance. 0, 2, 5, 6: the gradient's norm is E·min(positive, negative)/rows times that
          at 0 (default 0.01); 11: E times (0.0001); the others: no optimality condition of the
          dual is violated by more than E (0.1; 0.01 for 21)
  -B B    rows get one more feature of value B; negative: none (default -1)
  -R      with -B, leave the weight of that feature without a penalty (0, 2, 5, 6, 11)
  -wL W   multiply C by W for class L
  -v N    cross-validate in N folds and write no model
  -C      find C, for solver 11 also P, for solvers 0, 2 and 11; -c and -p are where to begin,
          and the solver is 2 if -s does not say another
  -q      print nothing but results`,
		Example: `  mercer liblinear-train -s 0 -c 4 -B 1 a9a a9a.model
  mercer liblinear-train -s 2 -C -v 5 a9a.gz
  mercer liblinear-train -w1 5 -w-1 1 a9a`,
		DisableFlagParsing:    true,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			t := liblinearTrain{opt: defaults}
			files, err := shortOptions(cmd, args, t.set, "-C", "-R", "-q")
			if err != nil || files == nil {
				return err
			}
			if len(files) < 1 || len(files) > 2 {
				return usagef("%d files; usage: %s", len(files), cmd.UseLine())
			}
			out := filepath.Base(files[0]) + ".model"
			if len(files) == 2 {
				out = files[1]
			}
			return t.run(cmd, files[0], out)
		},
	}
}

// liblinearTrain is the state of the command of that name.
type liblinearTrain struct {
	opt            liblinear.Options
	folds          int
	find           bool
	solver         bool // -s was given
	givenC, givenP bool
	quiet          bool
}

// set takes an option.
func (t *liblinearTrain) set(name, value string) (err error) {
	number := func() float64 {
		v, e := strconv.ParseFloat(value, 64)
		if e != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			err = fmt.Errorf("%q is not a number", value)
		}
		return v
	}
	count := func() int {
		v, e := strconv.Atoi(value)
		if e != nil {
			err = fmt.Errorf("%q is not a whole number", value)
		}
		return v
	}
	switch name {
	case "-s":
		t.opt.Solver, t.solver = liblinear.Solver(count()), true
	case "-c":
		t.opt.C, t.givenC = number(), true
	case "-p":
		t.opt.Epsilon, t.givenP = number(), true
	case "-n":
		t.opt.Nu = number()
	case "-e":
		if t.opt.Tolerance = number(); err == nil && t.opt.Tolerance <= 0 {
			err = fmt.Errorf("%s is not a positive number", value)
		}
	case "-B":
		t.opt.Bias = number()
	case "-v":
		if t.folds = count(); err == nil && t.folds < 2 {
			err = fmt.Errorf("%d folds; two or more are needed", t.folds)
		}
	case "-C":
		t.find = true
	case "-R":
		t.opt.FreeBias = true
	case "-q":
		t.quiet = true
	default:
		text, is := strings.CutPrefix(name, "-w")
		label, e := strconv.Atoi(text)
		if !is || e != nil {
			return errUnknownOption
		}
		if t.opt.Weights == nil {
			t.opt.Weights = map[int]float64{}
		}
		t.opt.Weights[label] = number()
	}
	return err
}

func (t *liblinearTrain) run(cmd *cobra.Command, path, out string) error {
	if err := checkApart([]namedFile{{"MODEL_FILE", out}}, namedFile{"TRAINING_FILE", path}); err != nil {
		return err
	}
	if t.find && !t.solver {
		t.opt.Solver = liblinear.L2RL2LossSVC
	}
	if err := t.opt.Check(); err != nil {
		return UsageError{err}
	}
	if t.find && t.opt.Solver != liblinear.L2RLR && t.opt.Solver != liblinear.L2RL2LossSVC && t.opt.Solver != liblinear.L2RL2LossSVR {
		return usagef("-C finds parameters for the solvers 0, 2 and 11 only")
	}
	if t.folds > 0 && t.opt.Solver == liblinear.OneClassSVM {
		return usagef("-v compares predictions with labels, which a machine of one class does not learn from")
	}
	data, err := readLiblinearData(cmd.Context(), path)
	if err != nil {
		return err
	}
	if !t.opt.Solver.Regression() && t.opt.Solver != liblinear.OneClassSVM {
		for _, label := range slices.Sorted(maps.Keys(t.opt.Weights)) {
			if !slices.Contains(data.Y, float64(label)) {
				fmt.Fprintf(cmd.ErrOrStderr(), "WARNING: no row of %s has the label %d, which -w%d gives a weight\n", path, label, label)
				delete(t.opt.Weights, label)
			}
		}
	}
	w := cmd.OutOrStdout()
	switch {
	case t.find:
		err = t.choose(cmd.Context(), w, data)
	case t.folds > 0:
		err = t.crossValidate(cmd.Context(), w, data)
	default:
		return t.train(cmd.Context(), w, data, path, out)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readLiblinearData reads all rows with their labels.
func readLiblinearData(ctx context.Context, path string) (*liblinear.Data, error) {
	src, err := dataset.Open(ctx, path, dataset.Options{Format: "libsvm", Base: "1", Memory: availableMemory() / 5 * 4})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	data := &liblinear.Data{X: &matrix.CSR{Ptr: []int{0}}}
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		if err := numericLabels(src, b.Batch); err != nil {
			return nil, err
		}
		if b.Outputs != 1 {
			return nil, fmt.Errorf("%s: row %d has no label", path, b.First+1)
		}
		data.Y = append(data.Y, b.Y...)
		for i := range b.X.Len() {
			idx, val := b.X.CSR.Row(i)
			data.X.Idx, data.X.Val = append(data.X.Idx, idx...), append(data.X.Val, val...)
			data.X.Ptr = append(data.X.Ptr, len(data.X.Idx))
		}
		data.X.Rows += b.X.Len()
		data.X.Cols = max(data.X.Cols, b.X.Dim())
	}
	return data, nil
}

func (t *liblinearTrain) train(ctx context.Context, w io.Writer, data *liblinear.Data, path, out string) error {
	f, err := atomicfile.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	m, report, err := liblinear.Train(ctx, data, t.opt)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := m.Write(f); err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	if err := f.Commit(); err != nil {
		return err
	}
	if t.quiet {
		return nil
	}
	how := "optimization finished"
	if !report.Converged {
		how = "WARNING: reaching max number of iterations"
	}
	fmt.Fprintf(w, "%s, #iter = %d\nObjective value = %.6f\n", how, report.Iterations, report.Objective)
	if t.opt.Solver == liblinear.L1RL2LossSVC || t.opt.Solver == liblinear.L1RLR {
		fmt.Fprintf(w, "#nonzeros/#features = %d/%d\n", report.NonZero, len(m.W))
	}
	return nil
}

func (t *liblinearTrain) crossValidate(ctx context.Context, w io.Writer, data *liblinear.Data) error {
	predicted, err := liblinear.CrossValidate(ctx, data, t.folds, t.opt)
	if err != nil {
		return err
	}
	s := &liblinearScore{}
	for i, v := range predicted {
		s.add(v, data.Y[i])
	}
	if t.opt.Solver.Regression() {
		fmt.Fprintf(w, "Cross Validation Mean squared error = %.6g\n", s.meanSquared())
		fmt.Fprintf(w, "Cross Validation Squared correlation coefficient = %.6g\n", s.correlation())
		return nil
	}
	fmt.Fprintf(w, "Cross Validation Accuracy = %.6g%%\n", s.accuracy())
	return nil
}

func (t *liblinearTrain) choose(ctx context.Context, w io.Writer, data *liblinear.Data) error {
	start, folds := 0.0, t.folds
	if t.givenC {
		start = t.opt.C
	}
	if folds == 0 {
		folds = 5
	}
	if !t.quiet {
		fmt.Fprintf(w, "Doing parameter search with %d-fold cross validation.\n", folds)
	}
	regression := t.opt.Solver.Regression()
	best, err := liblinear.Choose(ctx, data, folds, start, t.opt, func(c liblinear.Choice) {
		switch {
		case t.quiet:
		case regression:
			fmt.Fprintf(w, "log2c= %7.2f\tp= %7.2f\tMean squared error= %.6g\n", math.Log2(c.C), c.P, c.Rate)
		default:
			fmt.Fprintf(w, "log2c= %7.2f\trate=%.6g\n", math.Log2(c.C), c.Rate)
		}
	})
	if err != nil {
		return err
	}
	if regression {
		fmt.Fprintf(w, "Best C = %.6g Best p = %.6g  CV MSE = %.6g\n", best.C, best.P, best.Rate)
		return nil
	}
	fmt.Fprintf(w, "Best C = %.6g  CV accuracy = %.6g%%\n", best.C, best.Rate)
	return nil
}
