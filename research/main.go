// Research makes the tables of the papers again that Mercer follows, and compares methods by their
// scores on several data sets. It is a module of its own, beside Mercer's:
//
//	cd research
//	go run . reproduce S14-F4.5
//
// The programs in its folders write the pages of docs: benchmarks measures times beside other
// libraries, histograms the errors of the maps of histogram kernels. The program pooling classifies
// photographs by pools of local descriptors.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"mercer/internal/app/cli"
)

func main() { os.Exit(program().Main()) }

func program() *cli.Program {
	return &cli.Program{
		Name:  "research",
		Short: "The papers behind Mercer: their tables, and tests between methods",
		Long: `The papers behind Mercer: "research reproduce" makes their tables again, theirs beside ours, and
"research ranks" tells which methods differ by their scores on several data sets. In the folder
of this program, "go run ." is "research".`,
		Example: `  go run . reproduce --list
  go run . reproduce S14-F4.5
  go run . ranks accuracy.csv`,
		Commands: []func() *cobra.Command{newReproduce, newRanks},
	}
}

// usagef is the error of a wrong command line.
func usagef(format string, args ...any) error {
	return cli.UsageError{Err: fmt.Errorf(format, args...)}
}
