package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/dataset"
	"mercer/model"
)

// dataFlags are the flags that say how data are read.
func dataFlags(cmd *cobra.Command, o *dataset.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "auto", "format of the data: auto, libsvm, csv, tsv, blank, arff, npy, idx")
	f.StringVar(&o.Label, "label", "", "label column, by name or by index from 0 (-1: the last); several separated by commas; none (default: the last column)")
	f.StringVar(&o.LabelsFile, "labels", "", "file of labels, one a row (IDX, NPY or text), for data that hold only inputs")
	f.StringVar(&o.Weight, "weight", "", "column of row weights, by name or index")
	f.StringVar(&o.Header, "header", "auto", "whether a table starts with names: auto, yes, no")
	f.StringVar(&o.Base, "base", "1", "index of the first dimension in LIBSVM text: 0 or 1")
	f.StringVar(&o.Missing, "missing", "error", "missing values in numeric columns: error, mean, zero")
	f.IntVar(&o.Dim, "dim", 0, "number of dimensions of LIBSVM rows (default: the largest index)")
	f.IntVar(&o.BatchRows, "batch", 4096, "largest number of rows handled at a time (the result is the same)")
}

// checkData finds what is wrong with the flags themselves.
func checkData(o *dataset.Options) error {
	for _, c := range []struct{ flag, value, known string }{
		{"--format", o.Format, "auto libsvm csv tsv blank arff npy idx"},
		{"--header", o.Header, "auto yes no"},
		{"--base", o.Base, "0 1"},
		{"--missing", o.Missing, "error mean zero"},
	} {
		if !contains(c.known, c.value) {
			return usagef("%s %q is not known; known are %s", c.flag, c.value, strings.ReplaceAll(c.known, " ", ", "))
		}
	}
	if o.BatchRows < 1 {
		return usagef("--batch %d: give 1 or more", o.BatchRows)
	}
	if o.Dim < 0 {
		return usagef("--dim %d: give 1 or more", o.Dim)
	}
	return nil
}

func contains(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// modelFlags are the flags of a model.Config that say how rows are mapped; train adds those
// of the learner.
func modelFlags(cmd *cobra.Command, c *model.Config) {
	kernelFlags(cmd, c)
	f := cmd.Flags()
	f.StringVar(&c.Map, "map", "", "feature map: orf, rff (default: orf; laplacian: rff)")
	f.IntVar(&c.Features, "features", 0, "D, the number of features (default: 4096, or fewer where there are few rows)")
	f.StringVar(&c.Form, "form", "pair", "form of the random features: pair, phase")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of all that is random")
}

// kernelFlags are the flags that name a kernel.
func kernelFlags(cmd *cobra.Command, c *model.Config) {
	f := cmd.Flags()
	f.StringVar(&c.Kernel, "kernel", "rbf", "kernel: "+strings.Join(model.Kernels(), ", "))
	f.StringVar(&c.Gamma, "gamma", "median", "γ of the kernel: a number, median or scale")
	f.Float64Var(&c.Sigma, "sigma", 0, "σ in place of γ = 1/(2σ²)")
}

// scaleFlag is the flag that says how inputs are scaled.
func scaleFlag(cmd *cobra.Command, c *model.Config, def string) {
	cmd.Flags().StringVar(&c.Scale, "scale", def, "scaling of the inputs: auto, none, standard, minmax, maxabs, global, l1, l2")
}

// bytesValue is a flag that takes a number of bytes, such as 2GB.
type bytesValue int64

var _ pflag.Value = (*bytesValue)(nil)

func (b *bytesValue) String() string {
	if *b == 0 {
		return "0"
	}
	return bytesText(int64(*b))
}

func (b *bytesValue) Type() string { return "bytes" }

func (b *bytesValue) Set(s string) error {
	text := strings.ToUpper(strings.TrimSpace(s))
	text = strings.TrimSuffix(strings.TrimSuffix(text, "B"), "I")
	unit := 1.0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMGT", text[n-1]); i >= 0 {
			unit = float64(int64(1) << (10 * (i + 1)))
			text = text[:n-1]
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v*unit >= 1 && v*unit < 1<<62) {
		return fmt.Errorf("give a number of bytes such as 512MB or 8GB")
	}
	*b = bytesValue(v * unit)
	return nil
}
