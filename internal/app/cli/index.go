package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/reach/neighbours"
	"mercer/train"
)

// indexing is the state of the command index.
type indexing struct {
	cfg      train.Config
	data     dataset.Options
	codes    neighbours.Config
	out      string
	add      string
	drop     string
	json     bool
	progress string
}

func newIndex() *cobra.Command {
	x := &indexing{}
	cmd := &cobra.Command{
		Use:   "index [flags] DATA -o INDEX",
		Short: "Make an index of rows, to search for the nearest ones",
		Long: `Map the rows of DATA into an explicit feature space, as mercer transform does, and write their features to a file in which
mercer search finds the rows nearest to others: those whose features are nearest, so that the kernel is largest if
k(x, x) is the same for all rows. Rows get the numbers 0, 1, 2, …

With --codes, each row also gets a code of --bits bits. A search with --candidates compares codes first,
and features only of the rows whose codes are nearest:

  signs         of Gaussian projections of the features about their mean, for all kernels
  sparse-signs  of Achlioptas's projections, which are 0 in two of three entries
  cosines       of random waves, for shift-invariant kernels; made of the rows, without their features

--cells N divides the rows among N centres, found by k-means on a sample. A search with --probes compares the features of rows
in the cells nearest to a query alone, and takes a time that hardly grows with the rows: some √n cells, 256 for 50,000 rows.

--add INDEX adds the rows of DATA to an index, with the map and the codes that it has; --delete takes rows out by
their numbers, and has INDEX in place of DATA. All other rows keep their numbers. Both replace INDEX, or write to -o.
An index takes 4·D bytes a row, 12 more, and the code.`,
		Example: `  mercer index images-idx3-ubyte.gz --features 1024 -o images.index
  mercer index histograms.csv --kernel chi2 --codes signs --bits 512 -o histograms.index
  mercer index new.csv --add histograms.index
  mercer index histograms.index --delete 7,100-199`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&x.out, "output", "o", "", "file to write the index to (with --add or --delete: the index itself)")
	f.StringVar(&x.codes.Codes, "codes", "", "codes beside the features: "+strings.Join(neighbours.CodeNames(), ", ")+" (default: none)")
	f.IntVar(&x.codes.Bits, "bits", 0, "bits of a code, a multiple of 64 (default 256)")
	f.IntVar(&x.codes.Cells, "cells", 0, "cells among which the rows are divided (default: none)")
	f.StringVar(&x.add, "add", "", "index that gets the rows of DATA in addition to its own")
	f.StringVar(&x.drop, "delete", "", "numbers and ranges of rows to take out, such as 7,100-199")
	scaleFlag(cmd, &x.cfg)
	modelFlags(cmd, &x.cfg)
	dataFlags(cmd, &x.data)
	f.BoolVar(&x.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &x.progress)
	return cmd
}

// ofAnIndex are the flags that make sense for a change of an index, which has all else.
const ofAnIndex = "output add delete json progress threads format labels label header base missing batch query table"

func (x *indexing) run(cmd *cobra.Command, path string) error {
	switch {
	case x.add != "" && x.drop != "":
		return usagef("--add and --delete are two commands; give one of them")
	case x.add == "" && x.drop == "" && x.out == "":
		return usagef("no file to write the index to; give -o INDEX")
	}
	if err := checkRows(&x.data, &x.cfg); err != nil {
		return err
	}
	x.data.LabelsOptional = !x.cfg.Reduce.Discriminates()
	p, err := NewProgress(cmd, x.progress)
	if err != nil {
		return err
	}
	defer p.Done()
	report := func(rows int, share float64) { p.Report("map", rows, share) }
	var info *neighbours.Info
	out := x.out
	switch {
	case x.add != "":
		info, out, err = x.change(cmd, x.add, func(ctx context.Context, old *neighbours.Index, out string) (*neighbours.Info, error) {
			data := x.data
			data.Schema = &old.Info().Schema
			src, err := dataset.Open(ctx, path, data)
			if err != nil {
				return nil, err
			}
			defer src.Close()
			info, err := old.Add(ctx, out, src, report)
			if err == nil {
				warnUnseen(cmd, unseenIn(src))
			}
			return info, err
		})
	case x.drop != "":
		info, out, err = x.change(cmd, path, func(ctx context.Context, old *neighbours.Index, out string) (*neighbours.Info, error) {
			ids, err := rowNumbers(x.drop, old.Info().Next)
			if err != nil {
				return nil, err
			}
			return old.Delete(ctx, out, ids)
		})
	default:
		info, err = x.build(cmd, path, p)
	}
	if err != nil {
		return err
	}
	p.Done()
	size, err := bytesOf(out)
	if err != nil {
		return err
	}
	if x.json {
		return render.JSON(cmd.OutOrStdout(), render.IndexJSON(info, out, size))
	}
	render.IndexText(cmd.OutOrStdout(), info, out, size)
	return nil
}

func (x *indexing) build(cmd *cobra.Command, path string, p *Progress) (*neighbours.Info, error) {
	ctx := cmd.Context()
	if err := settle(cmd, &x.cfg); err != nil {
		return nil, err
	}
	if err := readLandmarks(ctx, &x.cfg, x.data); err != nil {
		return nil, err
	}
	if err := x.cfg.Check(); err != nil {
		return nil, UsageError{err}
	}
	x.codes.Seed = x.cfg.Seed
	if x.codes.Codes == "" && x.codes.Bits == 0 && x.codes.Cells == 0 {
		x.codes.Seed = 0
	}
	if err := x.codes.Check(); err != nil {
		return nil, UsageError{err}
	}
	f, err := fitTransform(ctx, path, x.data, x.cfg, train.Options{Progress: p.Report})
	if err != nil {
		return nil, err
	}
	defer f.src.Close()
	report := func(rows int, share float64) { p.Report("map", rows, share) }
	return neighbours.Build(ctx, x.out, f.src, f.schema, f.mapping, f.why, x.codes, report)
}

// change changes an index, and says where the new one is.
func (x *indexing) change(cmd *cobra.Command, path string,
	body func(context.Context, *neighbours.Index, string) (*neighbours.Info, error)) (*neighbours.Info, string, error) {
	var other []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !contains(ofAnIndex, f.Name) {
			other = append(other, "--"+f.Name)
		}
	})
	if other != nil {
		return nil, "", usagef("%s cannot be given with an index, which has its own scaling, map, codes and cells; leave them out", strings.Join(other, ", "))
	}
	old, err := neighbours.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer old.Close()
	out := x.out
	if out == "" {
		out = path
	}
	info, err := body(cmd.Context(), old, out)
	return info, out, err
}

// rowNumbers are the numbers of a list such as 7,100-199, all below next.
func rowNumbers(list string, next int64) (ids []int64, err error) {
	for _, part := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		a, err := strconv.ParseInt(from, 10, 64)
		b, other := strconv.ParseInt(to, 10, 64)
		if err != nil || other != nil || a < 0 || b < a {
			return nil, usagef("--delete: %q is neither a number nor a range such as 100-199", part)
		}
		if b >= next {
			return nil, fmt.Errorf("--delete %s: the numbers of the index's rows are below %d", part, next)
		}
		for ; a <= b; a++ {
			ids = append(ids, a)
		}
	}
	return ids, nil
}
