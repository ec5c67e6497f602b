package papers

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// labelled are rows with the number of each one's class.
type labelled struct {
	x     matrix.Rows
	class []int
}

// split is a training and a test part with classes 0, 1, …, classes-1.
type split struct {
	train, test labelled
	classes     int
}

// labels numbers the classes of several lists of labels in the same way.
func labels(lists ...[]string) (classes int, numbers [][]int) {
	known := map[string]int{}
	for _, list := range lists {
		for _, l := range list {
			known[l] = 0
		}
	}
	for i, l := range slices.Sorted(maps.Keys(known)) {
		known[l] = i
	}
	for _, list := range lists {
		all := make([]int, len(list))
		for i, l := range list {
			all[i] = known[l]
		}
		numbers = append(numbers, all)
	}
	return len(known), numbers
}

// readLabelled reads a data file with its labels as text.
func readLabelled(ctx context.Context, path string, opt dataset.Options) (matrix.Rows, []string, error) {
	src, err := dataset.Open(ctx, path, opt)
	if err != nil {
		return matrix.Rows{}, nil, err
	}
	defer src.Close()
	all, err := dataset.Collect(ctx, src, opt.Dim)
	if err != nil {
		return matrix.Rows{}, nil, err
	}
	names := make([]string, all.X.Len())
	for i := range names {
		if all.Names != nil && all.Names[i] != "" {
			names[i] = all.Names[i]
		} else {
			names[i] = strconv.FormatFloat(all.Y[i], 'g', -1, 64)
		}
	}
	return all.X, names, nil
}

// twoFiles reads a training and a test file.
func twoFiles(ctx context.Context, dir, folder, train, test string, opt dataset.Options) (split, error) {
	var x [2]matrix.Rows
	var names [2][]string
	for i, name := range []string{train, test} {
		path, err := find(dir, folder, name)
		if err != nil {
			return split{}, err
		}
		if x[i], names[i], err = readLabelled(ctx, path, opt); err != nil {
			return split{}, err
		}
	}
	classes, numbers := labels(names[0], names[1])
	return split{labelled{x[0], numbers[0]}, labelled{x[1], numbers[1]}, classes}, nil
}

// cut splits rows without an official test part: two thirds for training, by the seed.
func cut(all labelled, classes int, seed uint64) split {
	perm := random.New(seed, "papers.cut").Perm(all.x.Len())
	n := len(perm) / 3 * 2
	take := func(rows []int) labelled {
		l := labelled{x: matrix.Pick(all.x, rows)}
		for _, i := range rows {
			l.class = append(l.class, all.class[i])
		}
		return l
	}
	return split{take(perm[:n]), take(perm[n:]), classes}
}

// outdoor reads the colour histograms of outdoor objects, whose labels are in their own file.
func outdoor(ctx context.Context, dir string) (labelled, int, error) {
	path, err := find(dir, "outdoor_colorhist", "outdoorStream.data")
	if err != nil {
		return labelled{}, 0, err
	}
	labelPath, err := find(dir, "outdoor_colorhist", "outdoorStream.labels")
	if err != nil {
		return labelled{}, 0, err
	}
	x, names, err := readLabelled(ctx, path, dataset.Options{Format: "blank", Label: "none", LabelsFile: labelPath})
	if err != nil {
		return labelled{}, 0, err
	}
	classes, numbers := labels(names)
	return labelled{x, numbers[0]}, classes, nil
}

// documents reads the documents of Reuters R8 as counts of words, each row divided by its sum.
func documents(ctx context.Context, dir string) (split, error) {
	var lines [2][]string // of the list and of the texts
	for i, name := range []string{"R8.txt", "R8.clean.txt"} {
		path, err := find(dir, "reuters_r8", name)
		if err != nil {
			return split{}, err
		}
		if lines[i], err = readLines(path); err != nil {
			return split{}, err
		}
	}
	if len(lines[0]) != len(lines[1]) {
		return split{}, fmt.Errorf("reuters_r8: %d lines in the list and %d texts", len(lines[0]), len(lines[1]))
	}
	column := map[string]int{}
	for _, text := range lines[1] {
		for word := range strings.FieldsSeq(text) {
			column[word] = 0
		}
	}
	for i, word := range slices.Sorted(maps.Keys(column)) {
		column[word] = i
	}
	var x [2]*matrix.CSR
	var names [2][]string
	for i := range x {
		x[i] = &matrix.CSR{Cols: len(column), Ptr: []int{0}}
	}
	for i, entry := range lines[0] {
		fields := strings.Fields(entry) // number, part, class
		if len(fields) != 3 || fields[1] != "train" && fields[1] != "test" {
			return split{}, fmt.Errorf("reuters_r8/R8.txt:%d: %q is not a number, train or test, and a class", i+1, entry)
		}
		part := 0
		if fields[1] == "test" {
			part = 1
		}
		counts, total := map[int]float32{}, float32(0)
		for word := range strings.FieldsSeq(lines[1][i]) {
			counts[column[word]]++
			total++
		}
		for _, j := range slices.Sorted(maps.Keys(counts)) {
			x[part].Idx, x[part].Val = append(x[part].Idx, int32(j)), append(x[part].Val, counts[j]/total)
		}
		x[part].Ptr = append(x[part].Ptr, len(x[part].Idx))
		x[part].Rows++
		names[part] = append(names[part], fields[2])
	}
	classes, numbers := labels(names[0], names[1])
	return split{labelled{matrix.Rows{CSR: x[0]}, numbers[0]}, labelled{matrix.Rows{CSR: x[1]}, numbers[1]}, classes}, ctx.Err()
}

// readLines reads the lines of a text file that may be gzipped.
func readLines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unzipped(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var lines []string
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}
