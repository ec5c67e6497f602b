package trees

import (
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// mostBins bounds the bins that the numbers of a column fall into.
const mostBins = 64

// binned is a table with each number replaced by that of its bin, column by column.
type binned struct {
	rows int
	of   [][]uint8   // columns×rows
	tops [][]float32 // columns: numbers up to tops[c][b] fall into bin b or a lower one; the last bin has no top

	// Of columns with one bin for most rows, such as those of categories, this bin and the main rows that are in others; nil for other columns.
	common []uint8
	others [][]int32
}

// mostCommon is the share of the rows from which one bin is that of most.
const mostCommon = 0.75

// bin divides the numbers of each column of some rows of x into bins with about as many of the first main rows each. Two numbers that are
// equal are in one bin, and a column of few numbers has a bin for each.
func bin(x *matrix.Dense, rows []int, main int) *binned {
	b := &binned{rows: len(rows), of: make([][]uint8, x.Cols), tops: make([][]float32, x.Cols),
		common: make([]uint8, x.Cols), others: make([][]int32, x.Cols)}
	vec.Parallel(x.Cols, 1, func(lo, hi int) {
		numbers, sorted := make([]float32, len(rows)), make([]float32, main)
		for c := lo; c < hi; c++ {
			for r, i := range rows {
				numbers[r] = x.Data[i*x.Stride+c]
			}
			copy(sorted, numbers)
			slices.Sort(sorted)
			b.tops[c] = tops(sorted)
			of := make([]uint8, len(rows))
			for r, v := range numbers {
				at, _ := slices.BinarySearch(b.tops[c], v)
				of[r] = uint8(at)
			}
			b.of[c] = of
			b.common[c], b.others[c] = others(of[:main])
		}
	})
	return b
}

// others is the bin of most rows and the rows in others, nil if no bin is that of most.
func others(of []uint8) (common uint8, rows []int32) {
	var sizes [mostBins]int
	for _, bin := range of {
		sizes[bin]++
	}
	for bin, n := range sizes {
		if n > sizes[common] {
			common = uint8(bin)
		}
	}
	left := len(of) - sizes[common]
	if float64(left) > (1-mostCommon)*float64(len(of)) {
		return 0, nil
	}
	rows = make([]int32, 0, left)
	for r, bin := range of {
		if bin != common {
			rows = append(rows, int32(r))
		}
	}
	return common, rows
}

// tops are the largest numbers of the bins of sorted numbers, but for the last bin: thresholds between them and the next numbers that occur.
func tops(sorted []float32) (tops []float32) {
	type run struct {
		value float32
		ends  int
	}
	var runs []run
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			runs = append(runs, run{value: v})
		}
		runs[len(runs)-1].ends = i + 1
	}
	done := 0
	for i := range runs[:max(0, len(runs)-1)] {
		left := mostBins - 1 - len(tops)
		if left == 0 {
			break
		}
		if len(runs)-1-i > left && (runs[i].ends-done)*(left+1) < len(sorted)-done {
			continue // not yet its part of the rows
		}
		tops = append(tops, between(runs[i].value, runs[i+1].value))
		done = runs[i].ends
	}
	return tops
}

// golden is where between two numbers a threshold lies: not at a half, where a whole number may be that occurs in no row of the training, and
// where other programs, which scale by other roundings, would see it on either side.
const golden = 0.6180339887498949

// between is a number of at least a and less than b.
func between(a, b float32) float32 {
	m := float32(float64(a) + golden*(float64(b)-float64(a)))
	if !(m >= a && m < b) {
		return a
	}
	return m
}
