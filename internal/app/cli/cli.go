// Package cli is the command line: flags in, a job done by the packages below, its result shown.
// docs/cli.md describes every command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	_ "mercer/dataset/database" // reads databases
	_ "mercer/dataset/fetch"    // reads http:// and https://
	"mercer/internal/engine/option"
	"mercer/internal/engine/visible"
)

// UsageError is a wrong command line: exit code 2 instead of 1.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap is what is wrong with it.
func (e UsageError) Unwrap() error { return e.Err }

// exitDrifted is the exit code of predict --check=fail where a column has drifted.
const exitDrifted = 3

// driftError says that the work is done, and that a check found what it looked for.
type driftError struct{ error }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// oneLine is an error's text on one line, with flags in place of the fields that it names, and without the
// names of packages, which tell a Go programmer where it comes from and others nothing.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(saidOnce(err, option.Text(err, optionFlag))), " ")
	for _, pkg := range []string{"feature: ", "kernel: ", "pool: ", "approx: "} {
		text = strings.ReplaceAll(": "+text, ": "+pkg, ": ")[2:]
	}
	return visible.Text(text)
}

// saidOnce is the text of an error without what it says twice: the name of a file, which the system's errors have too, and lines, as of a
// file that could neither be written nor closed.
func saidOnce(err error, text string) string {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return text
	}
	system := at.Op + " " + at.Path + ": "
	text = strings.ReplaceAll(text, at.Path+": "+system, at.Path+": ")
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !slices.ContainsFunc(lines, func(before string) bool { return strings.HasSuffix(before, strings.TrimPrefix(line, at.Op+" ")) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// optionFlag is what the command line calls an option that a message names by its field, with the value that the
// message gives it, if any.
func optionFlag(field, value string) string {
	name, differs := flagNames[field]
	if !differs {
		name = "--" + strings.ReplaceAll(field, "_", "-")
	}
	if strings.ContainsAny(value, " \t'\"$&|;<>(){}*?\\`") && !strings.Contains(value, " or ") && !strings.Contains(value, "…") {
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
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

// mercerProgram is the program of this module.
func mercerProgram() *Program {
	return &Program{
		Name:  "mercer",
		Short: "Kernel machines at linear cost",
		Long: `Mercer learns nonlinear models at linear cost: kernel machines whose distances are learned, in the
leaves of a tree of the rows, or linear models on an explicit random approximation of a
kernel's feature space.

"mercer demo" shows it on data inside the program; "mercer train DATA -o MODEL" is where
to start with your own.`,
		Example: `  mercer demo
  mercer train adult.csv -o adult.mercer
  mercer predict adult.mercer new.csv -o predictions.txt`,
		Commands: []func() *cobra.Command{
			newTrain,
			newPredict,
			newEval,
			newTransform,
			newKernel,
			newMaps,
			newInspect,
			newExplain,
			newExport,
			newIndex,
			newSearch,
			newCluster,
			newServe,
			newConvert,
			newBench,
			newDemo,
			newLiblinearTrain,
			newLiblinearPredict,
			newMerge,
			newShard,
			newCompare,
			newCurve,
			newTune,
			newApprox,
		},
	}
}

// Run runs a command line of mercer: it returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return mercerProgram().Run(ctx, args, stdin, stdout, stderr)
}

// Main runs the command line of this process as mercer's.
func Main() int { return mercerProgram().Main() }

func newRoot() *cobra.Command { return mercerProgram().root() }

// nArgs is cobra's RangeArgs with an error that says what the arguments are.
func nArgs(from, to int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < from || len(args) > to {
			return usagef("%d arguments; usage: %s", len(args), cmd.UseLine())
		}
		return nil
	}
}
