package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

func newTransform() *cobra.Command {
	var (
		cfg      model.Config
		bag      model.BagConfig
		data     dataset.Options
		out      string
		fitOn    string
		asJSON   bool
		progress string
	)
	cmd := &cobra.Command{
		Use:   "transform [flags] DATA -o Z.npy",
		Short: "Map rows into a kernel's feature space",
		Long: `Map the rows of DATA into an explicit feature space where z(x)·z(y) approximates the kernel,
and write them as a float32 array of n×D in NumPy's format. The rows are never all in memory.

What depends on data (γ from the median distance, the scaling) is fitted on DATA, or on the
file that --fit names: use that to map test data as the training data were mapped.

Bags (mercer train --help tells what they are) become one row each, by default the mean of
features of the rbf kernel, so that z(X)·z(Y) approximates the mean of k(x, y) over all pairs
of members.`,
		Example: `  mercer transform letters.csv --label 0 --map orf --features 512 -o z.npy
  mercer transform test.csv --fit train.csv --features 2048 -o ztest.npy
  mercer transform images-idx3-ubyte.gz --sigma 8.27 --scale global --features 4096 -o z.npy
  mercer transform descriptors.npy --pooling full -o pooled.npy`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("no file to write the features to; give -o Z.npy")
			}
			if err := settle(cmd, &cfg); err != nil {
				return err
			}
			if err := settleBags(cmd, args[0], &data, &cfg, &bag); err != nil {
				return err
			}
			if bag.Scale == "" {
				bag.Scale = "none"
			}
			if bag.Norm == "" && (bag.Pooling == "" || bag.Pooling == "mean") {
				bag.Norm = "none" // a product of rows is the mean of the kernel
			}
			if err := readLandmarks(cmd.Context(), &cfg, data); err != nil {
				return err
			}
			if err := cfg.Check(); err != nil {
				return usageError{err}
			}
			if err := checkData(&data); err != nil {
				return err
			}
			p, err := newProgress(cmd, progress)
			if err != nil {
				return err
			}
			defer p.done()
			fitPath := args[0]
			if fitOn != "" {
				fitPath = fitOn
			}
			t, err := fitTransform(cmd.Context(), fitPath, data, cfg, model.Options{Progress: p.report})
			if err != nil {
				return err
			}
			defer func() { t.src.Close() }()
			if fitOn != "" {
				t.src.Close()
				if t.src, err = t.open(cmd.Context(), args[0], data); err != nil {
					return err
				}
			}
			mapping, src := t.mapping, t.src
			_, d := mapping.Dims()
			w, err := dataset.CreateNPY(out, d, dataset.Float32)
			if err != nil {
				return err
			}
			defer w.Close()
			r, err := src.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			var z matrix.Dense
			rows := 0
			for {
				b, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return err
				}
				z.Reshape(b.X.Len(), d)
				if err := mapping.Transform(&z, b.X); err != nil {
					return model.Located(err, src, b.First)
				}
				if err := w.WriteRows32(&z); err != nil {
					return err
				}
				rows += b.X.Len()
				p.report("map", rows, r.Progress())
			}
			if err := w.Commit(); err != nil {
				return err
			}
			p.done()
			warnUnseen(cmd, src)
			if asJSON {
				v := map[string]any{"output": out, "n": rows, "d": t.dim(), "features": d, "why": t.why}
				if f := mapping.Feature(); f != nil {
					v["feature"] = f
				}
				if r := mapping.Reduction(); r != nil {
					v["reduction"] = r
				}
				return printJSON(cmd.OutOrStdout(), v)
			}
			line := func(what, format string, args ...any) {
				fmt.Fprintf(cmd.OutOrStdout(), "  %-10s%s\n", what, fmt.Sprintf(format, args...))
			}
			if mapping.Feature() != nil {
				printMap(line, mapping, t.why)
			}
			if r := mapping.Reduction(); r != nil {
				printReduction(line, r)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "  %-10s%s: %s rows × %s features, float32\n", "saved", out, comma(rows), comma(d))
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write the features to (NumPy's format)")
	cmd.Flags().StringVar(&fitOn, "fit", "", "data to fit scaling and γ on (default: DATA)")
	scaleFlag(cmd, &cfg, "none")
	modelFlags(cmd, &cfg)
	reductionFlags(cmd, &cfg)
	dataFlags(cmd, &data)
	bagFlags(cmd, &data, &bag)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	progressFlag(cmd, &progress)
	return cmd
}

// fittedTransform is what transform does with rows, and the data that it was fitted on.
type fittedTransform struct {
	bag     *model.BagMapping // nil for rows
	mapping *model.Mapping
	why     map[string]string
	schema  dataset.Schema // of the data
	src     *rows
}

func fitTransform(ctx context.Context, path string, data dataset.Options, cfg model.Config, opt model.Options) (t *fittedTransform, err error) {
	t = &fittedTransform{}
	if cfg.Bag == nil {
		f, err := dataset.Open(ctx, path, data)
		if err != nil {
			return nil, err
		}
		if t.mapping, t.why, err = model.FitMapping(ctx, f, cfg, opt); err != nil {
			f.Close()
			return nil, err
		}
		t.src, t.schema = &rows{f, f}, *f.Schema()
	} else {
		f, err := dataset.OpenBags(ctx, path, data)
		if err != nil {
			return nil, err
		}
		if t.bag, t.mapping, t.why, err = model.FitBagMapping(ctx, f, cfg, opt); err != nil {
			f.Close()
			return nil, err
		}
		t.src, t.schema = &rows{t.bag.Source(f), f}, *f.Schema()
	}
	t.schema.Dim = t.dim()
	return t, nil
}

// dim is the number of dimensions of the data.
func (t *fittedTransform) dim() int {
	d, _ := t.mapping.Dims()
	if t.bag != nil {
		d, _ = t.bag.Dims()
	}
	return d
}

// open opens other data, which are read as those were that all was fitted on.
func (t *fittedTransform) open(ctx context.Context, path string, data dataset.Options) (*rows, error) {
	data.Schema = &t.schema
	if t.bag == nil {
		f, err := dataset.Open(ctx, path, data)
		if err != nil {
			return nil, err
		}
		return &rows{f, f}, nil
	}
	f, err := dataset.OpenBags(ctx, path, data)
	if err != nil {
		return nil, err
	}
	return &rows{t.bag.Source(f), f}, nil
}
