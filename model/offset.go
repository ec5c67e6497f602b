package model

import (
	"fmt"
	"math"
	"strconv"

	"mercer/dataset"
	"mercer/matrix"
)

// A regression whose targets lie far from zero, compared with how much they vary, learns their differences from an
// offset (Info.Offset), because float32 cannot hold both. Learned gives these differences, Value adds the offset in
// float64.

// Learned writes the scores that the learner gives the rows x into dst, like [Model.Scores], which adds Info.Offset to them.
// They are the same for a model without one. Value turns those of a regression into predictions.
func (m *Model) Learned(dst *matrix.Dense, x matrix.Rows) error {
	if err := m.learned(dst, x); err != nil {
		return err
	}
	return checkFinite(dst)
}

// Value is the prediction of target t for a learner's score (Learned).
func (m *Model) Value(t int, score float32) float64 {
	if m.info.Offset == nil {
		return float64(score)
	}
	return float64(score) + m.info.Offset[t]
}

// ValueBits is the precision of Value, for printing: 64 for a model with an offset and 32 for any other.
func (m *Model) ValueBits() int {
	if m.info.Offset == nil {
		return 32
	}
	return 64
}

// appendValue appends the prediction of target t for a learner's score to dst.
func (m *Model) appendValue(dst []byte, t int, score float32) []byte {
	return strconv.AppendFloat(dst, m.Value(t, score), 'g', -1, m.ValueBits())
}

// addOffset turns a learner's scores into predictions as float32.
func (m *Model) addOffset(dst *matrix.Dense) {
	if m.info.Offset == nil {
		return
	}
	for i := range dst.Rows {
		row := dst.Row(i)
		for t, v := range row {
			row[t] = float32(m.Value(t, v))
		}
	}
}

// checkFinite finds scores that are not finite.
func checkFinite(scores *matrix.Dense) error {
	for i := range scores.Rows {
		for _, v := range scores.Row(i) {
			if v-v != 0 {
				return &dataset.RowError{Row: i, Dim: -1, Err: errTooLarge}
			}
		}
	}
	return nil
}

// checkOffset checks the offset of a model that was read.
func (i *Info) checkOffset() error {
	if i.Offset == nil {
		return nil
	}
	if i.Task != "regress" || len(i.Offset) != i.Outputs {
		return fmt.Errorf("a model to %s with %d outputs has %d offsets", i.Task, i.Outputs, len(i.Offset))
	}
	for _, v := range i.Offset {
		if !(math.Abs(v) < math.MaxFloat32) {
			return fmt.Errorf("an offset of %g", v)
		}
	}
	return nil
}
