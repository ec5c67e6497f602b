package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/present"
	"mercer/matrix"
	"mercer/pipeline"
	"mercer/train"
)

func newTransform() *cobra.Command {
	var (
		cfg      train.Config
		bag      pipeline.BagConfig
		data     dataset.Options
		out      string
		format   string
		fitOn    string
		asJSON   bool
		progress string
	)
	cmd := &cobra.Command{
		Use:   "transform [flags] DATA -o Z",
		Short: "Map rows into a kernel's feature space",
		Long: `Map the rows of DATA into an explicit feature space where z(x)·z(y) approximates the kernel,
and write them in float32. The rows are never all in memory. The name of the file, or else
--output-format, says how they are written:

  npy     all n×D numbers as one array, as numpy.load reads it (any name but those below)
  npz     those that are not 0, as scipy.sparse.load_npz reads them (.npz)
  libsvm  those that are not 0, as LIBSVM text, with the labels (.libsvm, .svm, .txt)

Features are mostly 0 where the map keeps zeros (unary always; the additive maps, explicit-poly
and countsketch where the rows are sparse); those of most maps are not, and take more room in a
sparse format than as an array. An npz archive is put together from temporary files of 12 bytes a
value, in $TMPDIR. LIBSVM text has the label 0 where DATA has none, and does not say how many
features there are: where the last ones are 0 in all rows, readers have to be told. Weights of
rows are not written. All three are read again: mercer train z.npz --labels LABELS.

What depends on data (γ from the median distance, the scaling) is fitted on DATA, or on the
file that --fit names: use that to map test data as the training data were mapped.

Bags (mercer train --help tells what they are) become one row each, by default the mean of
features of the rbf kernel, so that z(X)·z(Y) approximates the mean of k(x, y) over all pairs
of members.`,
		Example: `  mercer transform letters.csv --label 0 --map orf --features 512 -o z.npy
  mercer transform test.csv --fit train.csv --features 2048 -o ztest.npy
  mercer transform images-idx3-ubyte.gz --sigma 8.27 --scale global --features 4096 -o z.npy
  mercer transform histograms.svm --kernel intersection --map unary -o z.npz
  mercer transform words.svm --kernel linear --map countsketch --features 65536 -o z.libsvm
  mercer transform descriptors.npy --pooling full -o pooled.npy`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("no file to write the features to; give -o Z.npy")
			}
			if format == "auto" {
				format = dataset.RowFormat(out)
			} else if !slices.Contains(dataset.RowFormats(), format) {
				return usagef("--output-format %q is not known; known are auto, %s", format, strings.Join(dataset.RowFormats(), ", "))
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
			t, err := fitTransform(cmd.Context(), fitPath, data, cfg, train.Options{Progress: p.report})
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
			w, err := dataset.CreateRows(out, format, d)
			if err != nil {
				return err
			}
			defer w.Close()
			r, err := src.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			rows := 0
			for {
				b, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return err
				}
				var failed error // at writing
				err = mapping.Each(b.X, func(i, j int, z matrix.Rows) error {
					part := b.Slice(i, j)
					part.X = z
					failed = w.Write(&part)
					return failed
				})
				if failed != nil {
					return failed
				}
				if err != nil {
					return dataset.Locate(err, src, b.First)
				}
				rows += b.X.Len()
				p.report("map", rows, r.Progress())
			}
			if err := w.Commit(); err != nil {
				return err
			}
			p.done()
			warnUnseen(cmd, src)
			z := &present.Features{Output: out, Rows: rows, Dim: t.dim(), Features: d, Format: format, NonZeros: w.NonZeros(), Why: t.why,
				Feature: mapping.Feature(), Chosen: mapping.Chosen(), Reduction: mapping.Reduction()}
			if asJSON {
				return present.JSON(cmd.OutOrStdout(), z.JSON())
			}
			z.Text(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write the features to")
	cmd.Flags().StringVar(&format, "output-format", "auto", "how the features are written: auto (by the name of the file), "+strings.Join(dataset.RowFormats(), ", "))
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
	bag     *pipeline.Bags // nil for rows
	mapping *pipeline.Pipeline
	why     map[string]string
	schema  dataset.Schema // of the data
	src     *rows
}

func fitTransform(ctx context.Context, path string, data dataset.Options, cfg train.Config, opt train.Options) (t *fittedTransform, err error) {
	t = &fittedTransform{}
	if cfg.Bag == nil {
		f, err := dataset.Open(ctx, path, data)
		if err != nil {
			return nil, err
		}
		if t.mapping, t.why, err = train.FitPipeline(ctx, f, cfg, opt); err != nil {
			f.Close()
			return nil, err
		}
		t.src, t.schema = &rows{f, f}, *f.Schema()
	} else {
		f, err := dataset.OpenBags(ctx, path, data)
		if err != nil {
			return nil, err
		}
		if t.bag, t.mapping, t.why, err = train.FitBagPipeline(ctx, f, cfg, opt); err != nil {
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
