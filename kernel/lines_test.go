package kernel

import (
	"math"
	"slices"
	"testing"

	"mercer/matrix"
)

// Lines are Eval's values to float32, for dense and sparse rows, and the same bits whichever
// columns are asked for, whatever is asked for beside them, and whether or not rows are kept laid
// out.
func TestLinesAreTheKernelsValues(t *testing.T) {
	const n, d = 600, 5
	m := matrix.NewDense(n, d)
	for i := range m.Data {
		if v := math.Sin(float64(i*i)) + 1; v > 0.4 {
			m.Data[i] = float32(v)
		}
	}
	copy(m.Row(7), m.Row(400)) // equal rows in different tiles
	s := &matrix.CSR{Rows: n, Cols: d, Ptr: []int{0}}
	for i := range n {
		for j, v := range m.Row(i) {
			if v != 0 {
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, v)
			}
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	rows := []int32{7, 400, 599, 0, 255, 256}
	cols := []int32{599, 3, 7, 400, 257}
	for i := range int32(280) {
		cols = append(cols, 8+i)
	}
	slices.Sort(cols)
	cols = slices.Compact(cols)
	compute := func(l *Lines, n int, rows []int32) [][]float32 {
		dst := make([][]float32, len(rows))
		for i := range dst {
			dst[i] = make([]float32, n)
		}
		l.Compute(rows, dst)
		return dst
	}
	for _, name := range Names() {
		k := Kernel{Name: name, Gamma: 0.3, Degree: 1, Coef0: 0.5, Nu: 1.5}
		for _, x := range []matrix.Rows{{Dense: m}, {CSR: s}} {
			kept, err := NewLines(k, x, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			passing, err := NewLines(k, x, 0)
			if err != nil {
				t.Fatal(err)
			}
			all := compute(kept, n, rows)
			for i, r := range rows {
				for c, v := range all[i] {
					if want := k.Eval(m.Row(int(r)), m.Row(c)); math.Abs(float64(v)-want) > 1e-7*math.Max(1, want) {
						t.Fatalf("%s: k(%d, %d) = %g, want %g", name, r, c, v, want)
					}
				}
			}
			for i, line := range compute(passing, n, rows) {
				if !slices.Equal(line, all[i]) {
					t.Errorf("%s: row %d differs when rows are not kept laid out", name, rows[i])
				}
			}
			if line := compute(kept, n, rows[2:3])[0]; !slices.Equal(line, all[2]) {
				t.Errorf("%s: row %d alone differs", name, rows[2])
			}
			for _, memory := range []int64{0, 1 << 30} {
				for i, line := range compute(kept.Columns(cols, memory), len(cols), rows) {
					for c, j := range cols {
						if line[c] != all[i][j] {
							t.Fatalf("%s: k(%d, %d) is %g among some columns, %g among all", name, rows[i], j, line[c], all[i][j])
						}
					}
				}
			}
		}
	}
}
