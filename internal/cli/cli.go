// Package cli is the command line: flags in, a job done by the packages below, its result shown.
// docs/cli.md describes every command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	_ "mercer/database" // reads databases
	_ "mercer/fetch"    // reads http:// and https://
	"mercer/internal/option"
	"mercer/internal/vec"
)

// usageError is a wrong command line: exit code 2 instead of 1.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitDrifted is the exit code of predict --check=fail where a column has drifted.
const exitDrifted = 3

// driftError says that the work is done, and that a check found what it looked for.
type driftError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run is the program: it returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.Annotations = map[string]string{commandLine: typed(args)}
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &checkedOutput{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root, vec.CheckLevel()
	if err != nil {
		err = usageError{err}
	} else {
		err = firstWord(root, args)
	}
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	interrupted := ctx.Err() != nil
	if interrupted && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; nothing was written")
	}
	if errors.Is(err, syscall.EPIPE) {
		return 1
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), oneLine(err))
	if interrupted {
		return exitInterrupted
	}
	var wrong usageError
	if errors.As(err, &wrong) {
		return 2
	}
	var drifted driftError
	if errors.As(err, &drifted) {
		return exitDrifted
	}
	return 1
}

// oneLine is an error's text on one line, with flags in place of the fields that it names, and without the
// names of packages, which tell a Go programmer where it comes from and others nothing.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(option.Text(err, optionFlag)), " ")
	for _, pkg := range []string{"feature: ", "kernel: ", "pool: ", "approx: "} {
		text = strings.ReplaceAll(": "+text, ": "+pkg, ": ")[2:]
	}
	return text
}

// optionFlag is what the command line calls an option that a message names by its field, with the value that the
// message gives it, if any.
func optionFlag(field, value string) string {
	name, differs := flagNames[field]
	if !differs {
		name = "--" + strings.ReplaceAll(field, "_", "-")
	}
	if value != "" {
		name += " " + value
	}
	return name
}

// flagNames are the flags that are not called as their fields are, or that not every command has.
var flagNames = map[string]string{
	"labels_file": "--labels",
	"statistics":  "--append",
	"save_stats":  "train --save-stats",
	"like":        "train --like",
}

func newRoot() *cobra.Command {
	threads := 0
	root := &cobra.Command{
		Use:   "mercer",
		Short: "Kernel machines at linear cost",
		Long: `Mercer learns nonlinear models at linear cost: kernel machines whose distances are learned, in the
leaves of a tree of the rows, or linear models on an explicit random approximation of a
kernel's feature space.

"mercer demo" shows it on data inside the program; "mercer train DATA -o MODEL" is where
to start with your own.`,
		Example: `  mercer demo
  mercer train adult.csv -o adult.mercer
  mercer predict adult.mercer new.csv -o predictions.txt`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if threads < 0 {
				return usagef("--threads %d: give 1 or more, or 0 for all processors", threads)
			}
			if threads > 0 {
				runtime.GOMAXPROCS(threads)
			}
			return checkArguments(cmd, args)
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.PersistentFlags().IntVar(&threads, "threads", 0, "goroutines that compute at a time; 0: one a processor (the result is the same)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return unknownFlag(cmd, err)
	})
	root.AddCommand(
		newTrain(),
		newPredict(),
		newEval(),
		newTransform(),
		newKernel(),
		newMaps(),
		newInspect(),
		newExplain(),
		newExport(),
		newIndex(),
		newSearch(),
		newServe(),
		newConvert(),
		newBench(),
		newReproduce(),
		newDemo(),
		newLiblinearTrain(),
		newLiblinearPredict(),
		newMerge(),
		newShard(),
		newRanks(),
		newCompare(),
		newCurve(),
		newTune(),
		newApprox(),
	)
	helpFlags(root)
	return root
}

// nArgs is cobra's RangeArgs with an error that says what the arguments are.
func nArgs(from, to int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < from || len(args) > to {
			return usagef("%d arguments; usage: %s", len(args), cmd.UseLine())
		}
		return nil
	}
}
