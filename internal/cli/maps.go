package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mercer/feature"
	"mercer/pool"
)

// poolingLine describes a way of pooling in mercer maps --json.
type poolingLine struct {
	Pooling string   `json:"pooling"`
	About   string   `json:"about"`
	Options []string `json:"options"`
}

// mapLine describes a map in mercer maps --json.
type mapLine struct {
	Map     string   `json:"map"`
	About   string   `json:"about"`
	Kernels []string `json:"kernels"` // empty: any
	Options []string `json:"options"`
	Fitted  bool     `json:"fitted"` // to a sample of rows
}

func newMaps() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "maps",
		Short: "List the feature maps, their kernels and options, and the ways of pooling",
		Long: `List the feature maps with the kernels that each approximates and the options that it has, and
the ways of pooling bags (--pooling) with theirs.

A chain applies maps one after the other, a sum puts them side by side and so adds their
kernels, with weights. Both are given to --map in JSON, or in a file by --map @FILE; a step
without a kernel has that of --kernel, and one without γ has it by --gamma, of the rows that reach it:
in a chain, what the steps before it make of them.`,
		Example: `  mercer maps
  mercer train wide.svm -o m.mercer --map '{"map":"chain","steps":[{"map":"countsketch","features":1024},{"map":"sorf","features":4096}]}'
  mercer train data.csv -o m.mercer --map '{"map":"sum","weights":[1,0.5],"steps":[{"map":"orf","features":2048},{"map":"tensorsketch","kernel":{"name":"poly","degree":2},"features":2048}]}'`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, about := feature.Names()
			var lines []mapLine
			for i, name := range names {
				lines = append(lines, mapLine{Map: name, About: about[i], Kernels: feature.Kernels(name),
					Options: feature.OptionsOf(name), Fitted: feature.NeedsSample(feature.Config{Map: name})})
			}
			methods, about := pool.Methods()
			var poolings []poolingLine
			for i, name := range methods {
				poolings = append(poolings, poolingLine{name, about[i], append(pool.OptionsOf(name), "norm")})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"maps": lines, "poolings": poolings})
			}
			for _, l := range lines {
				kernels := strings.Join(l.Kernels, ", ")
				switch {
				case l.Map == "chain" || l.Map == "sum":
					kernels = "those of the steps"
				case kernels == "":
					kernels = "any kernel"
				}
				if l.Fitted {
					kernels += "; fitted to the data"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "  %-14s%s\n  %-14s%s\n", l.Map, l.About, "", kernels)
				if len(l.Options) > 0 {
					fmt.Fprintf(cmd.OutOrStdout(), "  %-14s--%s\n", "", strings.Join(l.Options, " --"))
				}
			}
			fmt.Fprintln(cmd.OutOrStdout(), "\n  pooling of bags")
			for _, l := range poolings {
				var flags []string
				for _, o := range l.Options {
					if o == "map" || o == "features" {
						o = "bag-" + o
					}
					flags = append(flags, "--"+o)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "  %-14s%s\n  %-14s%s\n", l.Pooling, l.About, "", strings.Join(flags, " "))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return cmd
}
