package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/dataset"
)

// columnFlags are the flags that say what the columns of a table are.
func columnFlags(cmd *cobra.Command, o *dataset.ColumnOptions) {
	f := cmd.Flags()
	const list = " (names, indices, ranges such as 2-5 or first..last, or patterns such as price_*, separated by commas)"
	f.StringVar(&o.Ignore, "ignore", "", "columns that are no inputs"+list)
	f.StringVar(&o.Only, "only", "", "the only columns that are inputs")
	f.StringVar(&o.ID, "id", "", "columns that name a row: no inputs")
	f.StringVar(&o.Numeric, "numeric", "", "columns to read as numbers, also such as 1,234, $5 and 12 %")
	f.StringVar(&o.Categorical, "categorical", "", "columns to read as categories, a dimension for each value, also if they hold numbers")
	f.StringVar(&o.Date, "date", "", "columns to read as dates, also such as 20240131 or seconds since 1970")
	f.StringVar(&o.Text, "text", "", "columns whose words count (hashed, TF-IDF)")
	f.StringVar(&o.Ordinal, "ordinal", "", "columns of levels that become 0, 1, 2, …: size=S<M<L, or a name alone for the order of the "+
		"alphabet or of leading numbers")
	f.StringVar(&o.NA, "na", "", "texts that stand for a missing value besides an empty cell, ?, NA, NaN, null and none, separated by commas; labels that are words may be the last four")
	f.StringVar(&o.Decimal, "decimal", "", "decimal separator of numbers: . or , (default: what all cells of a column allow, a point if both do)")
	if cmd.Name() != "inspect" {
		f.Var(&schemaValue{of: o}, "schema", "file of kinds of columns in JSON, as mercer inspect --schema writes it")
	}
	said := map[string]bool{}
	o.Notice = func(n dataset.Notice) {
		if p := f.Lookup("progress"); said[n.Text] || p != nil && p.Value.String() == "never" {
			return
		}
		said[n.Text] = true
		if text := fmt.Sprintf("%s: note: %s", cmd.CommandPath(), oneLine(n.Err)); progressOf(cmd).draws() {
			progressOf(cmd).say(text)
		} else {
			fmt.Fprintln(cmd.ErrOrStderr(), text)
		}
	}
	o.Progress = func(rows int, share float64) {
		if p := progressOf(cmd); p.draws() {
			p.Report("look", rows, share)
		}
	}
}

// schemaValue is the flag of a file of kinds of columns.
type schemaValue struct {
	of   *dataset.ColumnOptions
	path string
}

var _ pflag.Value = (*schemaValue)(nil)

func (s *schemaValue) String() string { return s.path }

func (s *schemaValue) Type() string { return "file" }

func (s *schemaValue) file() string { return s.path }

func (s *schemaValue) Set(path string) error {
	f, err := openAny(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	s.path = strings.TrimSpace(path)
	s.of.Kinds, err = dataset.ReadKinds(f, path)
	return err
}
