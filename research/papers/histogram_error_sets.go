package papers

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// errorSets are the data sets of the comparison: those of histogramSets and three more. They have rows
// of numbers ≥ 0 in any order.
func errorSets() (names []string, open []func(ctx context.Context, dir string) (matrix.Rows, error)) {
	for _, s := range histogramSets {
		names = append(names, s.name)
		open = append(open, func(ctx context.Context, dir string) (matrix.Rows, error) {
			of, err := s.open(ctx, dir)
			if err != nil {
				return matrix.Rows{}, err
			}
			return of(1).train.x, nil
		})
	}
	return append(names, "ALOI colour", "KOS words", "log-uniform"),
		append(open, aloi, kos, func(context.Context, string) (matrix.Rows, error) { return logUniform(), nil })
}

// logUniform are rows of 50 numbers from 10⁻⁶ to 1 whose logarithms are uniform.
func logUniform() matrix.Rows {
	x := matrix.NewDense(errorTrain+errorTest, 50)
	r := random.New(1, "papers.loguniform")
	for i := range x.Data {
		x.Data[i] = float32(math.Pow(10, -6*r.Uniform()))
	}
	return matrix.Rows{Dense: x}
}

// aloi reads the colour histograms of ALOI, an array in an archive.
func aloi(ctx context.Context, dir string) (matrix.Rows, error) {
	path, err := find(dir, "aloi_colorhist", "1_ALOI.npz")
	if err != nil {
		return matrix.Rows{}, err
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	defer archive.Close()
	f, err := archive.Open("X.npy")
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	src, err := dataset.OpenBytes(ctx, "X.npy", data, dataset.Options{})
	if err != nil {
		return matrix.Rows{}, err
	}
	defer src.Close()
	all, err := dataset.Collect(ctx, src, 0)
	return all.X, err
}

// kos reads the counts of words of the KOS documents: three lines of sizes, then document, word and
// count in each line.
func kos(ctx context.Context, dir string) (matrix.Rows, error) {
	path, err := find(dir, "uci_kos", "docword.kos.txt")
	if err != nil {
		return matrix.Rows{}, err
	}
	lines, err := readLines(path)
	if err != nil {
		return matrix.Rows{}, err
	}
	x := &matrix.CSR{Ptr: []int{0}}
	for i, line := range lines {
		var n [3]int
		fields := strings.Fields(line)
		for j, f := range fields[:min(3, len(fields))] {
			if n[j], err = strconv.Atoi(f); err != nil {
				return matrix.Rows{}, fmt.Errorf("%s:%d: %q is no number", path, i+1, f)
			}
		}
		switch {
		case i == 1:
			x.Cols = n[0]
		case i < 3:
		case len(fields) != 3 || n[0] < x.Rows || n[1] < 1 || n[1] > x.Cols:
			return matrix.Rows{}, fmt.Errorf("%s:%d: %q is not a document, one of %d words, and a count, in order", path, i+1, line, x.Cols)
		default:
			for x.Rows < n[0] {
				x.Ptr, x.Rows = append(x.Ptr, len(x.Idx)), x.Rows+1
			}
			x.Idx, x.Val = append(x.Idx, int32(n[1]-1)), append(x.Val, float32(n[2]))
			x.Ptr[x.Rows] = len(x.Idx)
		}
	}
	return matrix.Rows{CSR: x}, nil
}
