package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
)

// converting is the state of the command convert.
type converting struct {
	data dataset.Options
	to   string
	json bool
}

func newConvert() *cobra.Command {
	c := &converting{}
	cmd := &cobra.Command{
		Use:   "convert [flags] DATA OUT",
		Short: "Write data in another format",
		Long: `Write DATA in the format that the name of OUT implies, or --to: .csv, .tsv, .jsonl, .parquet, .arrow, .arrows, .npy, .npz, .libsvm.

Tables stay tables, with all columns but those of --ignore, texts and missing values: a column becomes one of whole numbers,
of numbers, or of text, by all its values. Texts of digits with leading zeros, such as postal codes, stay text. NPY, npz and LIBSVM text get the rows of
numbers that a training gets, with categories one-hot; LIBSVM text has the labels, too. What has no names of columns gets their numbers as
names. An .arrow is an Arrow file, also .feather, and .arrows a stream. The file appears whole or not at all.`,
		Example: `  mercer convert adult.csv adult.parquet
  mercer convert rows.jsonl rows.csv
  mercer convert digits.libsvm digits.npy
  cat rows.csv | mercer convert - rows.parquet`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&c.to, "to", "", "format to write: "+strings.Join(dataset.ConvertFormats(), ", ")+" (default: by the name of OUT)")
	dataFlags(cmd, &c.data)
	labelFlags(cmd, &c.data)
	f.BoolVar(&c.json, "json", false, "print one JSON object instead of text")
	return cmd
}

func (c *converting) run(cmd *cobra.Command, path, out string) error {
	if err := checkData(&c.data); err != nil {
		return err
	}
	format := c.to
	if format == "" {
		var err error
		if format, err = dataset.ConvertFormat(out); err != nil {
			return UsageError{err}
		}
	} else if !slices.Contains(dataset.ConvertFormats(), format) {
		return usagef("--to %q is not known; known are %s", format, strings.Join(dataset.ConvertFormats(), ", "))
	}
	if err := checkApart([]namedFile{{"OUT", out}}, namedFile{"DATA", path}); err != nil {
		return err
	}
	rows, err := dataset.Convert(cmd.Context(), path, out, format, c.data)
	if err != nil {
		return err
	}
	if c.json {
		return render.JSON(cmd.OutOrStdout(), map[string]any{"rows": rows, "format": format, "output": out})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s rows\n", visible.Text(out), units.Count(rows))
	return nil
}
