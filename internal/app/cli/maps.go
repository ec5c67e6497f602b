package cli

import (
	"github.com/spf13/cobra"

	"mercer/feature"
	"mercer/internal/app/render"
	"mercer/internal/solve/pool"
)

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
			var all render.MapsJSON
			for i, name := range names {
				all.Maps = append(all.Maps, render.MapJSON{Map: name, About: about[i], Kernels: feature.Kernels(name),
					Options: feature.OptionsOf(name), Fitted: feature.NeedsSample(feature.Config{Map: name})})
			}
			methods, about := pool.Methods()
			for i, name := range methods {
				all.Poolings = append(all.Poolings, render.PoolingJSON{Pooling: name, About: about[i], Options: append(pool.OptionsOf(name), "norm")})
			}
			if asJSON {
				return render.JSON(cmd.OutOrStdout(), all)
			}
			render.MapsText(cmd.OutOrStdout(), all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return cmd
}
