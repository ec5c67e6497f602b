package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"mercer/internal/engine/option"
	"mercer/internal/reach/export"
	"mercer/model"
)

func newExport() *cobra.Command {
	var target, out string
	var options export.Options
	cmd := &cobra.Command{
		Use:   "export [flags] MODEL -o FILE",
		Short: "Write a model as ONNX, SQL, source code, or matrices for other languages",
		Long: `Write a model for other programs. docs/export.md describes the files and says what can be exported.

npz and safetensors are everything that prediction needs as named matrices with a description in JSON; in Python,
python/mercer_numpy.py predicts with them and needs NumPy alone. They know models without a map and those with the maps
rff, orf, sorf, qmc and fastfood, with linear maps, and with maps of kernels such as nystrom.

onnx is the whole model as a graph, from raw columns with their texts and missing values to the label and its
probabilities, for onnxruntime in any language. It knows all maps.

postgres, sqlite and duckdb are scripts that create tables of weights and a view. The view has the columns of the table
or view that --table names, and the prediction, probabilities and scores of its rows. They know all maps.

go, js and c are one file of source code that needs no other: a package of Go, a module of JavaScript for browsers and
Node, and C99 for small devices. They know all maps.

A model with a part that cannot be expressed is refused, and the error names that part.`,
		Example: `  mercer export adult.mercer --target npz -o adult.npz
  mercer export adult.mercer --target onnx -o adult.onnx
  mercer export adult.mercer --target sqlite --table people --view income -o income.sql
  mercer export adult.mercer --target c --package income -o income.c`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return option.Errorf("%s is missing: the file to write", option.Ref("output"))
			}
			m, err := model.Load(args[0])
			if err != nil {
				return err
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return export.Write(out, target, m, options)
		},
	}
	f := cmd.Flags()
	f.StringVar(&target, "target", export.Targets[0], "kind of file: "+strings.Join(export.Targets, " or "))
	f.StringVar(&options.View, "view", "model", "postgres, sqlite, duckdb: name of the view, and how those of its tables begin")
	f.StringVar(&options.Table, "table", "rows", "postgres, sqlite, duckdb: table or view with the rows to score")
	f.StringVar(&options.Package, "package", "model", "go: name of the package; c: how names begin")
	f.BoolVar(&options.Int8, "int8", false, "c: weights of 8 bits, which change the scores")
	f.StringVarP(&out, "output", "o", "", "file to write the exported model to")
	return cmd
}
