package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/app/render"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// transform is the state of the command of that name.
type transform struct {
	cfg      train.Config
	bag      pipeline.BagConfig
	data     dataset.Options
	out      string
	format   string
	fitOn    string
	complex  bool // cosines and sines as complex numbers
	json     bool
	progress string
}

func newTransform() *cobra.Command {
	t := &transform{}
	cmd := &cobra.Command{
		Use:   "transform [flags] [MODEL] DATA -o Z",
		Short: "Map rows into a kernel's feature space",
		Long: `Map the rows of DATA into an explicit feature space where z(x)·z(y) approximates the kernel,
and write them in float32. The rows are never all in memory. The name of the file, or else
--output-format, says how they are written:

  npy     all n×D numbers as one array, as numpy.load reads it (.npy, or no ending)
  npz     those that are not 0, as scipy.sparse.load_npz reads them (.npz)
  csv     a table with a first line of names, and the labels in the last column (.csv)
  libsvm  those that are not 0, as LIBSVM text, with the labels (.libsvm, .svm, .txt)
  parquet columns of float32 (.parquet); arrow the same (.arrow, .feather), arrows as a stream (.arrows)

Features are mostly 0 where the map keeps zeros (unary always; the additive maps, explicit-poly
and countsketch where the rows are sparse); those of most maps are not, and take more room in a
sparse format than as an array, and in a table most. An npz archive is put together from temporary
files of 12 bytes a value, in $TMPDIR. LIBSVM text has the label 0 where DATA has none, and does not
say how many features there are: where the last ones are 0 in all rows, readers have to be told.
Weights of rows are not written. All are read again: mercer train z.npz --labels LABELS.

With MODEL, a trained model, the features are those that the model computes of DATA, by its
scaling and its map. Without, what depends on data (the scaling, γ from the median distance, what
a map is fitted to) is fitted on DATA, or on the file that --fit names, as train does it: with the
flags of a training and --fit of its data, the features are those of the model, bit for bit.
(A model folds principal components into its weights, so its features are those of the map;
--fit with --components writes the components.)

With --form complex, features of a map with frequencies (rff, orf, sorf, qmc, fastfood, skewed) are
D/2 complex numbers √(2/D)·exp(i·ω·x), the pair of cosine and sine as one, written as complex64 (npy):
the real part of z(x)·conj(z(y)) is what the pairs have as z(x)·z(y), the estimate of k(x, y).

Rows are scaled as train scales them; --scale none leaves them as they are.

Bags (mercer train --help tells what they are) become one row each, by default the mean of
features of the rbf kernel, of length 1. With --norm none, z(X)·z(Y) approximates the mean of
k(x, y) over all pairs of members.`,
		Example: `  mercer transform letters.csv --label 0 --map orf --features 512 -o z.npy
  mercer transform test.csv --fit train.csv --features 2048 -o ztest.npy
  mercer transform adult.mercer test.csv -o ztest.npy
  mercer transform images-idx3-ubyte.gz --sigma 8.27 --features 4096 -o z.npy
  mercer transform letters.csv --label 0 --features 512 --form complex -o z.npy
  mercer transform histograms.svm --kernel intersection --map unary -o z.npz
  mercer transform words.svm --kernel linear --map countsketch --features 65536 -o z.libsvm
  mercer transform descriptors.npy --pooling full -o pooled.npy`,
		Args: nArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd, args) },
	}
	cmd.Flags().StringVarP(&t.out, "output", "o", "", "file to write the features to")
	cmd.Flags().StringVar(&t.format, "output-format", "auto", "how the features are written: auto (by the name of the file), "+
		strings.Join(dataset.RowFormats(), ", "))
	cmd.Flags().StringVar(&t.fitOn, "fit", "", "data to fit scaling, γ and map on (default: DATA)")
	scaleFlag(cmd, &t.cfg)
	modelFlags(cmd, &t.cfg)
	cmd.Flags().Lookup("form").Usage += "; complex: pairs as complex numbers, complex64 in npy"
	settingFlags(cmd.Flags(), &t.cfg.Reduce, train.Reduction.Help)
	dataFlags(cmd, &t.data)
	labelFlags(cmd, &t.data)
	bagFlags(cmd, &t.data, &t.bag)
	cmd.Flags().BoolVar(&t.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &t.progress)
	return cmd
}

func (t *transform) run(cmd *cobra.Command, args []string) error {
	switch {
	case t.out == "":
		return usagef("no file to write the features to; give -o Z.npy")
	case t.format == "auto":
		var err error
		if t.format, err = dataset.RowFormat(t.out); err != nil {
			return usagef("-o %w; give another name, or --output-format", err)
		}
	case !slices.Contains(dataset.RowFormats(), t.format):
		return usagef("--output-format %q is not known; known are auto, %s", t.format, strings.Join(dataset.RowFormats(), ", "))
	}
	t.data.LabelsOptional = !dataset.WantsLabels(t.format) && !t.cfg.Reduce.Discriminates()
	if err := t.checkComplex(); err != nil {
		return err
	}
	if err := checkRows(&t.data, &t.cfg); err != nil {
		return err
	}
	p, err := NewProgress(cmd, t.progress)
	if err != nil {
		return err
	}
	defer p.Done()
	open := t.fitted
	if len(args) == 2 {
		open = t.ofModel
	}
	f, err := open(cmd, args, p)
	if err != nil {
		return err
	}
	defer f.src.Close()
	rows, nonZeros, err := t.write(cmd, f, p)
	if err != nil {
		return err
	}
	p.Done()
	warnUnseen(cmd, unseenIn(f.src))
	if f.model == "" {
		sayLabel(cmd, args[0], &f.schema, &t.data, t.json)
	}
	return t.print(cmd, f, rows, nonZeros)
}

// checkComplex finds what is wrong with --form complex, which is the form pair, written otherwise.
func (t *transform) checkComplex() error {
	if t.cfg.Map.Form != "complex" {
		return nil
	}
	t.complex, t.cfg.Map.Form = true, "pair"
	if t.format != "npy" {
		return usagef("--form complex: complex numbers are written as npy, and the output is %s; give -o Z.npy, or --form pair", t.format)
	}
	return nil
}

// fitted is the transform that the flags say, fitted on DATA or --fit, and open DATA.
func (t *transform) fitted(cmd *cobra.Command, args []string, p *Progress) (*fittedTransform, error) {
	ctx, path := cmd.Context(), args[0]
	if isModel(path) {
		return nil, usagef("%s is a model; say of which data to compute its features: %s", path, cmd.UseLine())
	}
	if err := settle(cmd, &t.cfg); err != nil {
		return nil, err
	}
	if err := settleBags(cmd, path, &t.data, &t.cfg, &t.bag); err != nil {
		return nil, err
	}
	if err := readLandmarks(ctx, &t.cfg, t.data); err != nil {
		return nil, err
	}
	if err := t.cfg.Check(); err != nil {
		return nil, UsageError{err}
	}
	from := path
	if t.fitOn != "" {
		from = t.fitOn
	}
	f, err := fitTransform(ctx, from, t.data, t.cfg, train.Options{Progress: p.Report})
	if err != nil || t.fitOn == "" {
		return f, err
	}
	f.src.Close()
	f.src, err = f.open(ctx, path, t.data)
	return f, err
}

// ofAModel are the flags of transform that make sense beside MODEL, which has all else.
const ofAModel = "output output-format json progress threads format label labels label-separator weight header base missing batch group query table"

// ofModel is the transform of a trained model, and open DATA.
func (t *transform) ofModel(cmd *cobra.Command, args []string, _ *Progress) (*fittedTransform, error) {
	if err := modelThenData(cmd, args[0], args[1]); err != nil {
		return nil, err
	}
	var other []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !contains(ofAModel, f.Name) {
			other = append(other, "--"+f.Name)
		}
	})
	if other != nil {
		return nil, usagef("%s cannot be given with a model, which has its own scaling and map; leave out the flags or the model",
			strings.Join(other, ", "))
	}
	m, err := model.Load(args[0])
	if err != nil {
		return nil, err
	}
	if m.Pipeline().Kernel() != nil {
		return nil, fmt.Errorf("%s: the model takes the kernel itself and has no features; mercer kernel computes kernels", args[0])
	}
	f := &fittedTransform{bag: m.Bag(), mapping: m.Pipeline(), model: args[0], why: maps.Clone(m.Info().Training.Why)}
	if b := m.Info().Bag; b != nil {
		for name, reason := range b.Why {
			f.why["bag."+name] = reason
		}
	}
	f.src, err = openRows(cmd, m, args[1], t.data)
	return f, err
}

// write writes the features of all rows.
func (t *transform) write(cmd *cobra.Command, f *fittedTransform, p *Progress) (rows int, nonZeros int64, err error) {
	w, err := t.create(f)
	if err != nil {
		return 0, 0, err
	}
	defer w.Close()
	for b, err := range dataset.Each(cmd.Context(), f.src) {
		if err != nil {
			return 0, 0, err
		}
		var failed error // at writing
		err = f.mapping.Each(b.X, func(i, j int, z matrix.Rows) error {
			part := b.Slice(i, j)
			part.X = z
			failed = w.Write(&part)
			return failed
		})
		if failed != nil {
			return 0, 0, failed
		}
		if err != nil {
			return 0, 0, dataset.Locate(err, f.src, b.First)
		}
		rows += b.X.Len()
		p.Report("map", rows, b.Pass.Progress())
	}
	return rows, w.NonZeros(), w.Commit()
}

// create starts the file of the features.
func (t *transform) create(f *fittedTransform) (dataset.RowWriter, error) {
	_, d := f.mapping.Dims()
	if !t.complex {
		return dataset.CreateRows(t.out, t.format, d)
	}
	if f.mapping.Reduction() != nil {
		return nil, usagef("--form complex: components are no pairs of cosines and sines; leave them out, or give --form pair")
	}
	if cfg := f.mapping.Feature(); cfg == nil || !feature.Pairs(*cfg) {
		return nil, usagef("--form complex: the map has no pairs of cosines and sines; rff, orf, sorf, qmc, fastfood and skewed have them, but for arccos")
	}
	w, err := dataset.CreateNPY(t.out, d/2, dataset.Complex64)
	if err != nil {
		return nil, err
	}
	return &complexRows{w, make([]complex64, d/2)}, nil
}

// complexRows writes pairs of cosines and sines as complex numbers.
type complexRows struct {
	*dataset.NPYWriter
	row []complex64
}

func (w *complexRows) Write(rows *matrix.Batch) error {
	for i := range rows.X.Len() {
		feature.Complex(w.row, rows.X.Dense.Row(i))
		if err := w.WriteComplex(w.row); err != nil {
			return err
		}
	}
	return nil
}

// print tells what was written, and how rows became features.
func (t *transform) print(cmd *cobra.Command, f *fittedTransform, rows int, nonZeros int64) error {
	_, d := f.mapping.Dims()
	if t.complex {
		d /= 2
	}
	z := &render.Features{Complex: t.complex, Output: t.out, Rows: rows, Dim: f.dim(), Features: d, Format: t.format, NonZeros: nonZeros, Model: f.model,
		Scale: f.mapping.Scaler().Kind, Why: f.why, Feature: f.mapping.Feature(), Chosen: f.mapping.Chosen(), Reduction: f.mapping.Reduction()}
	if f.bag != nil {
		z.BagScale = f.bag.Scaler().Kind
	}
	if t.json {
		return render.JSON(cmd.OutOrStdout(), z.JSON())
	}
	z.Text(cmd.OutOrStdout())
	return nil
}

// fittedTransform is what transform does with rows, and the data that it was fitted on.
type fittedTransform struct {
	bag     *pipeline.Bags // nil for rows
	mapping *pipeline.Pipeline
	model   string // file of the model that it is from, "" if it was fitted
	why     map[string]string
	schema  dataset.Schema // of the data
	src     *rows
}

func fitTransform(ctx context.Context, path string, data dataset.Options, cfg train.Config,
	opt train.Options) (t *fittedTransform, err error) {
	t = &fittedTransform{}
	data.AllInputs = !cfg.Reduce.Discriminates()
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
