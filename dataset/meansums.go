package dataset

import (
	"fmt"
	"slices"
)

// Sums of targets by the values of columns are added up over the pieces of a table.

// Merge adds the sums of the rows that follow.
func (m *MeanSums) Merge(next *MeanSums) error {
	if len(m.columns) != len(next.columns) || m.outputs != next.outputs {
		return fmt.Errorf("sums of %d targets by %d columns, and of %d by %d before", next.outputs, len(next.columns), m.outputs, len(m.columns))
	}
	for c := range m.columns {
		m.columns[c].merge(&next.columns[c])
	}
	return nil
}

// merge leaves numbers in the order in which rows have them.
func (s *meanSums) merge(next *meanSums) {
	s.rows += next.rows
	s.excessive = s.excessive || next.excessive
	if s.bound(); s.excessive {
		return
	}
	add(s.squares, next.squares)
	if s.numbers == nil {
		add(s.sums, next.sums)
		return
	}
	width := s.width()
	for i, v := range next.inOrder() {
		at := s.known(v)
		add(s.sums[at*width:], next.sums[i*width:][:width])
	}
	s.bound()
}

func add(to, from []float64) {
	for i, v := range from {
		to[i] += v
	}
}

// inOrder are the numbers in the order of their sums.
func (s *meanSums) inOrder() []float32 {
	numbers := make([]float32, len(s.numbers))
	for v, at := range s.numbers {
		numbers[at] = v
	}
	return numbers
}

// Vectors are the sums as named lists of numbers, from which SetVectors makes them again.
func (m *MeanSums) Vectors() map[string][]float64 {
	all := map[string][]float64{}
	for c := range m.columns {
		s := &m.columns[c]
		rows := []float64{float64(s.rows), 0}
		if s.excessive {
			rows[1] = 1
		}
		all[fmt.Sprintf("rows.%d", c)] = rows
		all[fmt.Sprintf("squares.%d", c)] = s.squares
		all[fmt.Sprintf("sums.%d", c)] = s.sums
		if s.numbers != nil {
			numbers := []float64{}
			for _, v := range s.inOrder() {
				numbers = append(numbers, float64(v))
			}
			all[fmt.Sprintf("numbers.%d", c)] = numbers
		}
	}
	return all
}

// SetVectors takes in what Vectors was of sums by the same columns. m must have no rows.
func (m *MeanSums) SetVectors(all map[string][]float64) error {
	for c := range m.columns {
		s := &m.columns[c]
		rows, sums, squares := all[fmt.Sprintf("rows.%d", c)], all[fmt.Sprintf("sums.%d", c)], all[fmt.Sprintf("squares.%d", c)]
		numbers := all[fmt.Sprintf("numbers.%d", c)]
		values := s.values
		if s.numbers != nil {
			values = len(numbers)
		}
		if len(rows) != 2 || len(squares) != len(s.squares) || len(sums) != values*s.width() || values > mostMeans {
			return fmt.Errorf("the sums of targets by column %d are not of its values", c)
		}
		for _, v := range slices.Concat(rows, sums, squares, numbers) {
			if v-v != 0 {
				return fmt.Errorf("the sums of targets by column %d are not finite", c)
			}
		}
		for at, v := range numbers {
			if s.known(float32(v)) != at {
				return fmt.Errorf("the sums of targets by column %d have the number %g twice", c, v)
			}
		}
		if s.rows, s.excessive = int(rows[0]), rows[1] != 0; s.rows < 0 {
			return fmt.Errorf("the sums of targets by column %d are of %d rows", c, s.rows)
		}
		s.sums, s.squares = slices.Clone(sums), slices.Clone(squares)
		s.bound()
	}
	return nil
}
