// Package trees trains and evaluates boosted trees: sums of step functions, each of a few columns, that follow thresholds where smooth
// functions need many rows.
package trees

import (
	"errors"
	"fmt"

	"mercer/matrix"
)

// Levels is the number of questions of a tree, and Leaves that of its values for an output.
const (
	Levels = 6
	Leaves = 1 << Levels
)

// Trees is a sum of oblivious trees (Kohavi and Li 1995): each asks the same questions of every row, is the number in a column larger
// than a threshold?, and has a value for every combination of answers. It does not change and is safe for concurrent use.
type Trees struct {
	Dim, Outputs int

	Start      []float64 // one for each output, to which the trees add
	Columns    []int32   // trees×Levels
	Thresholds []float32 // trees×Levels
	Values     []float32 // trees×Leaves×Outputs; answer l adds 2^l to the number of a leaf
}

// Len is the number of trees.
func (t *Trees) Len() int { return len(t.Columns) / Levels }

// Check says whether the numbers of trees, which may come from a file, fit together.
func (t *Trees) Check() error {
	n := t.Len()
	if t.Dim < 1 || t.Outputs < 1 || len(t.Start) != t.Outputs || len(t.Columns) != n*Levels || len(t.Thresholds) != n*Levels ||
		len(t.Values) != n*Leaves*t.Outputs {
		return fmt.Errorf("%d columns, %d thresholds, %d values and %d starts are not those of trees with %d outputs",
			len(t.Columns), len(t.Thresholds), len(t.Values), len(t.Start), t.Outputs)
	}
	for i, c := range t.Columns {
		if c < 0 || int(c) >= t.Dim {
			return fmt.Errorf("tree %d asks for column %d of %d", i/Levels+1, c+1, t.Dim)
		}
		if v := t.Thresholds[i]; v-v != 0 {
			return fmt.Errorf("tree %d has a threshold that is not finite", i/Levels+1)
		}
	}
	for _, v := range t.Values {
		if v-v != 0 {
			return errors.New("a value of a tree is not finite")
		}
	}
	for _, v := range t.Start {
		if v-v != 0 {
			return errors.New("a start of trees is not finite")
		}
	}
	return nil
}

// leaf is the number of the leaf that a row belongs to, by the questions of a tree. It has no branches, which would be taken at random.
func leaf(c *[Levels]int32, t *[Levels]float32, row []float32) int {
	return above(row[c[0]], t[0]) | above(row[c[1]], t[1])<<1 | above(row[c[2]], t[2])<<2 |
		above(row[c[3]], t[3])<<3 | above(row[c[4]], t[4])<<4 | above(row[c[5]], t[5])<<5
}

// above is 1 if v is above a threshold, and 0 if not.
func above(v, threshold float32) (is int) {
	if v > threshold {
		is = 1
	}
	return is
}

// Add adds share times the scores of rows x to sums, rows×Outputs.
func (t *Trees) Add(sums []float64, x *matrix.Dense, share float64) {
	k := t.Outputs
	for i := range sums[:x.Rows*k] {
		sums[i] += float64(share * t.Start[i%k])
	}
	const block = 64 // rows that stay in a cache
	for from := 0; from < x.Rows; from += block {
		to := min(from+block, x.Rows)
		for i := range t.Len() {
			columns, thresholds := (*[Levels]int32)(t.Columns[i*Levels:]), (*[Levels]float32)(t.Thresholds[i*Levels:])
			values := t.Values[i*Leaves*k:][:Leaves*k]
			for r := from; r < to; r++ {
				at := leaf(columns, thresholds, x.Row(r))
				if k == 1 {
					sums[r] += float64(share * float64(values[at]))
					continue
				}
				of := sums[r*k:][:k]
				for o, v := range values[at*k:][:k] {
					of[o] += float64(share * float64(v))
				}
			}
		}
	}
}

// Times returns the trees whose scores are those of t by a factor for each output.
func (t *Trees) Times(factors []float64) *Trees {
	by := *t
	by.Start, by.Values = make([]float64, len(t.Start)), make([]float32, len(t.Values))
	for i, v := range t.Start {
		by.Start[i] = v * factors[i]
	}
	for i, v := range t.Values {
		by.Values[i] = float32(float64(v) * factors[i%t.Outputs])
	}
	return &by
}
