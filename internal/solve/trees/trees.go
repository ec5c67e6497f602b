// Package trees trains and evaluates boosted trees: sums of step functions, each of a few columns, that follow thresholds where smooth
// functions need many rows.
package trees

import (
	"errors"
	"fmt"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Levels is the number of questions of a tree, and Leaves that of its values for an output.
const (
	Levels = vec.Questions // of a group, all of which are asked at once
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

// Add adds share times the scores of rows x to sums, rows×Outputs.
func (t *Trees) Add(sums []float64, x *matrix.Dense, share float64) {
	k := t.Outputs
	for i := range sums[:x.Rows*k] {
		sums[i] += float64(share * t.Start[i%k])
	}
	var at [128]uint8 // the leaf of each tree of some that stay in a cache
	for from := 0; from < t.Len(); from += len(at) {
		of := at[:min(len(at), t.Len()-from)]
		columns, thresholds, values := t.Columns[from*Levels:], t.Thresholds[from*Levels:], t.Values[from*Leaves*k:]
		for r := range x.Rows {
			vec.Answers32(of, columns, thresholds, x.Row(r))
			sums := sums[r*k:][:k]
			if k == 1 {
				sum := sums[0] // not stored for every tree
				for i, leaf := range of {
					sum += float64(share * float64(values[i*Leaves+int(leaf)]))
				}
				sums[0] = sum
				continue
			}
			for i, leaf := range of {
				for o, v := range values[(i*Leaves+int(leaf))*k:][:k] {
					sums[o] += float64(share * float64(v))
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
