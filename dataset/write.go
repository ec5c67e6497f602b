package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mercer/matrix"
)

// RowWriter writes rows to a file, which appears whole at Commit, or not at all. The caller
// must Close it.
type RowWriter interface {
	// Write appends the rows of a batch, with their labels if the format has a place for them.
	Write(rows *matrix.Batch) error

	// NonZeros is the number of nonzero values written so far.
	NonZeros() int64

	// Commit completes the file and puts it in place.
	Commit() error

	// Close discards the file unless it was committed.
	Close() error
}

// RowFormats are the formats that CreateRows writes.
func RowFormats() []string {
	return []string{"npy", "npz", "csv", "libsvm", "parquet", "arrow", "arrows"}
}

// WantsLabels says that a format of RowFormats has no way to leave the label of a row out.
func WantsLabels(format string) bool { return format == "libsvm" }

// endings are the file name extensions of the formats.
var endings = map[string]string{".npy": "npy", ".npz": "npz", ".csv": "csv", ".libsvm": "libsvm", ".svm": "libsvm", ".txt": "libsvm",
	".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".arrows": "arrows"}

// RowFormat is the format of RowFormats that a file's name implies; npy if it has no extension.
func RowFormat(path string) (string, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if format := endings[ext]; format != "" {
		return format, nil
	}
	if ext == "" {
		return "npy", nil
	}
	return "", fmt.Errorf("%s: the ending %s is of no format that is written: .npy (or none) NumPy's arrays, .npz "+
		"SciPy's sparse matrices, .csv tables, .libsvm, .svm or .txt LIBSVM text, .parquet, .arrow, .feather or .arrows (a stream) columns",
		path, ext)
}

// CreateRows starts a file of rows of cols float32 numbers: npy, all numbers as one array of NumPy;
// npz, a matrix in compressed rows as scipy.sparse.save_npz writes it; csv, a table with the labels in its
// last column; libsvm, text with the labels; or parquet, arrow (a file) or arrows (a stream), float columns whose names are their
// numbers from 0.
func CreateRows(path, format string, cols int) (RowWriter, error) {
	switch format {
	case "npy":
		return CreateNPY(path, cols, Float32)
	case "npz":
		return createNPZ(path, cols)
	case "csv":
		return createCSV(path, cols)
	case "libsvm":
		return createLIBSVM(path)
	}
	if slices.Contains(RowFormats(), format) {
		return createColumns(path, format, cols)
	}
	panic(fmt.Sprintf("dataset: CreateRows in the format %q", format))
}

// eachValue hands out the nonzero values of row i, with their columns.
func eachValue(x matrix.Rows, i int, body func(col int32, v float32)) {
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		for k, v := range val {
			if v != 0 {
				body(idx[k], v)
			}
		}
		return
	}
	for j, v := range x.Dense.Row(i) {
		if v != 0 {
			body(int32(j), v)
		}
	}
}
