package cli

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/units"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/train"
)

// dataFlags are the flags that say how data are read.
func dataFlags(cmd *cobra.Command, o *dataset.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "auto", "format of the data: auto, "+strings.Join(dataset.Formats(), ", "))
	f.StringVar(&o.Label, "label", "", "label column, by name or by index from 0 (-1: the last); several separated by commas; none "+
		"(default: the last column, but none of an array for kernel, transform, approx, index and cluster)")
	f.StringVar(&o.LabelSeparator, "label-separator", "", "what separates the labels of a row that may have several, such as | "+
		"(LIBSVM text: a comma, found out if one of the first rows has several)")
	f.StringVar(&o.LabelsFile, "labels", "", "file of labels, one a row (IDX, NPY or text), for data that hold only inputs")
	f.StringVar(&o.Weight, "weight", "", "column of row weights, by name or index")
	f.StringVar(&o.Encoding, "encoding", "auto", "encoding of text: auto (UTF-8, or UTF-16 by its byte order mark), utf-8, utf-16, "+
		"utf-16le, utf-16be, windows-1252, latin-1")
	f.StringVar(&o.Header, "header", "auto", "whether a table starts with names: auto, yes, no")
	f.StringVar(&o.Base, "base", "auto", "index of the first dimension in LIBSVM text: 0 or 1 (auto: the model's, else 1); a model remembers")
	f.StringVar(&o.Missing, "missing", "auto", "missing values in columns of numbers: auto (the mean, and a dimension that says that it "+
		"is missing), error, mean, zero; a model remembers")
	f.IntVar(&o.Dim, "dim", 0, "number of dimensions of LIBSVM rows (default: the largest index)")
	f.StringVar(&o.Query, "query", "", "SQL query whose rows are read, of an SQLite file or postgres://user@host/database")
	f.StringVar(&o.Table, "table", "", "table of a database that is read (default: the only one of an SQLite file)")
	columnFlags(cmd, &o.Columns)
	f.IntVar(&o.BatchRows, "batch", 4096, "largest number of rows handled at a time (the result is the same)")
}

// labelFlags are those of commands that need a label of each row.
func labelFlags(cmd *cobra.Command, o *dataset.Options) {
	cmd.Flags().BoolVar(&o.DropUnlabelled, "drop-unlabelled", false, "leave out the rows of a table that have no label")
}

// needsNoLabels is for commands that need none: rows of a table may lack theirs, and an array has none unless --label names a column.
func needsNoLabels(o *dataset.Options) { o.AllInputs, o.LabelsOptional = true, true }

// checkData finds what is wrong with the flags themselves.
func checkData(o *dataset.Options) error {
	for _, c := range []struct{ flag, value, known string }{
		{"--format", o.Format, "auto " + strings.Join(dataset.Formats(), " ")},
		{"--header", o.Header, "auto yes no"},
		{"--base", o.Base, "auto 0 1"},
		{"--encoding", o.Encoding, "auto utf-8 utf-16 utf-16le utf-16be windows-1252 latin-1"},
		{"--missing", o.Missing, "auto error mean zero"},
	} {
		if !contains(c.known, c.value) {
			return usagef("%s %q is not known; known are %s", c.flag, c.value, strings.ReplaceAll(c.known, " ", ", "))
		}
	}
	if d := o.Columns.Decimal; d != "" && d != "." && d != "," {
		return usagef("--decimal %q is not known; known are . and ,", d)
	}
	if o.BatchRows < 1 {
		return usagef("--batch %d: give 1 or more", o.BatchRows)
	}
	if o.Dim < 0 {
		return usagef("--dim %d: give 1 or more", o.Dim)
	}
	if o.Memory == 0 {
		o.Memory = availableMemory() / 5 * 4
	}
	return nil
}

// checkRows is checkData for rows of a configuration. Values of a precomputed kernel are taken as they are written: less the smallest number of
// each column, their matrix would not be symmetric.
func checkRows(o *dataset.Options, c *train.Config) error {
	o.AsWritten = c.Precomputed()
	return checkData(o)
}

func contains(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// modelFlags are the flags of a train.Config that say how rows are mapped; train adds those
// of the learner.
func modelFlags(cmd *cobra.Command, c *train.Config) {
	kernelFlags(cmd, c)
	f := cmd.Flags()
	f.Var(&mapValue{name: &c.Map.Name, steps: &c.Map.Steps, weights: &c.Map.Weights}, "map",
		"feature map (mercer maps lists them); or a chain or sum of maps in JSON, or @FILE "+
			"with it (default: one that suits the kernel and the data)")
	f.IntVar(&c.Map.Features, "features", 0, "D, the number of features (default: 4096, or fewer where there are few rows); of rfm, most landmarks of a machine (default: 1500 in leaves, 4096 for all rows)")
	f.StringVar(&c.Map.Groups, "group-kernels", "", "a kernel for each group of columns: auto (by prefixes of names), or lists such as 'hue*;4-19'")
	f.StringVar(&c.Map.GroupWeights, "group-weights", "", "how their weights are chosen: alignment with the labels, or search by held-out rows (default: all 1)")
	mapOptions(f, &c.Map.Options)
	f.Uint64Var(&c.Seed, "seed", 1, "seed of all that is random")
}

// kernelFlags are the flags that name a kernel.
func kernelFlags(cmd *cobra.Command, c *train.Config) {
	c.Kernel.Name, c.Kernel.Gamma = kernel.RBF.Name(), "median"
	for _, name := range kernel.ParameterNames() {
		if v, ok := kernel.Usual(name); ok {
			c.Set(name, v)
		}
	}
	settingFlags(cmd.Flags(), &c.Kernel, train.Kernel.Help)
}

// kernelsWith are the names of the kernels that have a parameter.
func kernelsWith(parameter string) (names []string) {
	for _, name := range kernel.Names() {
		if kernel.Has(name, parameter) {
			names = append(names, name)
		}
	}
	return names
}

// unname takes the defaults of --kernel and --gamma out of a configuration where these are left to the data: where auto
// or the learner chooses them.
func unname(cmd *cobra.Command, c *train.Config, auto bool) {
	if !auto && !slices.Contains([]string{"auto", train.Chooser().Name()}, strings.ToLower(c.LearnerName())) {
		return
	}
	for name, given := range map[string]*string{"kernel": &c.Kernel.Name, "gamma": &c.Kernel.Gamma} {
		if !cmd.Flags().Changed(name) {
			*given = ""
		}
	}
}

// settle gives a configuration from flags what depends on several of them.
func settle(cmd *cobra.Command, c *train.Config) error {
	kern := kernel.Kernel{Name: c.KernelName()}
	if !cmd.Flags().Changed("degree") && c.Kernel.Degree == 0 {
		c.Kernel.Degree = int(kernel.Ungiven(kern.Name, "degree"))
	}
	for _, s := range train.Settings() {
		if f := cmd.Flags().Lookup(strings.ReplaceAll(s.Name, "_", "-")); s.Given != "" && f != nil && f.Changed && c.Get(s.Name) == 0.0 {
			c.Set(s.Given, true)
		}
	}
	if err := nonZero(cmd, kern); err != nil {
		return err
	}
	if has, _ := c.Traits().Has("svm_nu"); has && cmd.Flags().Changed("nu") && !kernel.Has(kern.Name, "nu") {
		return usagef("--nu is ν of the kernel %s, and the kernel is %s; ν of a support vector machine is --svm-nu",
			strings.Join(kernelsWith("nu"), ", "), c.Kernel.Name)
	}
	if f := cmd.Flags().Lookup("l1-ratio"); f != nil && f.Changed && train.As[train.ElasticNet](c.Learner).L1Ratio == 0 {
		return usagef("--l1-ratio 0 leaves nothing to |w|, which is ridge regression: give a number above 0, or --learner ridge")
	}
	if f := cmd.Flags().Lookup("lambda"); f != nil && f.Changed {
		if v, ok := f.Value.(followed); ok { // approx has another λ
			return v.Value.(*lambdaValue).settle()
		}
	}
	return nil
}

// nonZero refuses a parameter of the kernel that is given as 0, which a configuration takes for not
// given.
func nonZero(cmd *cobra.Command, kern kernel.Kernel) error {
	zero := func(flag string) bool {
		f := cmd.Flags().Lookup(flag)
		if f == nil || !f.Changed {
			return false
		}
		v, err := strconv.ParseFloat(f.Value.String(), 64)
		return err == nil && v == 0
	}
	if zero("sigma") {
		return usagef("--sigma 0: σ of %s is a positive number", kern.Name)
	}
	kind := kern.Kind()
	if kind == nil {
		return nil
	}
	for _, p := range kind.Parameters() {
		if p.Name == "gamma" { // which is read with its words, by pipeline.SplitGamma
			continue
		}
		if zero(p.Name) && !p.Takes(0) {
			return usagef("--%s 0: of %s it must be %s", p.Name, kind, p.Must())
		}
	}
	return nil
}

// exactPipeline is what the flags say of the rows of a command that takes the kernel itself.
func exactPipeline(cmd *cobra.Command, c *train.Config) (pipeline.Config, error) {
	if err := settle(cmd, c); err != nil {
		return pipeline.Config{}, err
	}
	probe := *c
	probe.Seed = max(probe.Seed, 1)
	cfg, err := probe.ExactPipeline()
	if err != nil {
		return cfg, UsageError{err}
	}
	return cfg, nil
}

// mapOptions are the flags of single maps.
func mapOptions(f *pflag.FlagSet, o *feature.Options) {
	settingFlags(f, o, func(_ feature.Options, name string) string {
		if name == "landmarks" {
			return landmarksHelp()
		}
		return feature.OptionHelp(name)
	})
}

// settingFlags are the flags of the fields of a struct that have help, by their names in JSON; what a field is before is its default.
func settingFlags[T any](f *pflag.FlagSet, o *T, help func(of T, setting string) string) {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		setting, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		name, text := strings.ReplaceAll(setting, "_", "-"), help(*o, setting)
		if text == "" {
			continue
		}
		switch to := v.Field(i).Addr().Interface().(type) {
		case *string:
			f.StringVar(to, name, *to, text)
		case *bool:
			f.BoolVar(to, name, *to, text)
		case *int:
			f.IntVar(to, name, *to, text)
		case *float64:
			f.Float64Var(to, name, *to, text)
		case *[]float64:
			f.Float64SliceVar(to, name, *to, text)
		default:
			panic("cli: no flag takes the option " + name)
		}
	}
}

// landmarksHelp is the help of the option, but rows that are given come from a file.
func landmarksHelp() string {
	return strings.ReplaceAll(feature.OptionHelp("landmarks"), ", given (default", ", or a FILE of rows (default")
}

// readLandmarks reads the landmarks that --landmarks names a file of, in any format of data,
// without labels.
func readLandmarks(ctx context.Context, c *train.Config, data dataset.Options) error {
	path := c.Map.Landmarks
	if path == "" || slices.Contains(feature.LandmarkChoices(), strings.ToLower(path)) {
		return nil
	}
	src, err := dataset.Open(ctx, path, dataset.Options{
		Format: data.Format, Label: "none", Header: data.Header, Base: data.Base, Missing: data.Missing, Dim: data.Dim,
		Columns: data.Columns, Encoding: data.Encoding,
	})
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("--landmarks %s: there is no such file, nor is it one of %s", path, strings.Join(feature.LandmarkChoices(), ", "))
	}
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.Survey(ctx, src, dataset.SurveyOptions{})
	if err != nil {
		return err
	}
	all, err := dataset.Collect(ctx, src, max(sum.Dim, data.Dim))
	if err != nil {
		return err
	}
	if c.Map.Given = all.X.Dense; c.Map.Given == nil {
		c.Map.Given = new(matrix.Dense)
		all.X.CSR.Densify(c.Map.Given)
	}
	c.Map.Landmarks, c.Map.GivenFile = "given", path
	return nil
}

// scaleFlag is the flag that says how inputs are scaled, with one default for all commands: what is
// exported or measured is what train trains on.
func scaleFlag(cmd *cobra.Command, c *train.Config) {
	cmd.Flags().StringVar(&c.Scale, "scale", "auto", "scaling of the inputs: "+strings.Join(pipeline.ScaleNames, ", "))
}

// bytesValue is a flag that takes a number of bytes, such as 2GB.
type bytesValue int64

var _ pflag.Value = (*bytesValue)(nil)

func (b *bytesValue) String() string {
	text := units.Bytes(int64(*b))
	if n, err := units.ParseBytes(text); err != nil || n != int64(*b) {
		return strconv.FormatInt(int64(*b), 10) // a command line that is printed says the same size
	}
	return text
}

func (b *bytesValue) Type() string { return "bytes" }

func (b *bytesValue) Set(s string) error {
	n, err := units.ParseBytes(s)
	if err != nil {
		return err
	}
	*b = bytesValue(n)
	return nil
}
