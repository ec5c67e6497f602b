package libsvm

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"mercer/matrix"
)

// Indices of 2·10⁹ in a model or in rows cost nothing, and mean the same as small ones.
func TestWideIndices(t *testing.T) {
	const model = "svm_type epsilon_svr\nkernel_type %s\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nSV\n1 1:0.5 %d:2\n-0.5 2:1 %[2]d:1\n"
	// rows have the column of the model and one beside it, first near, then far away
	predict := func(kernel string, inModel, inRow, beside int) []float64 {
		m, err := Read(strings.NewReader(fmt.Sprintf(model, kernel, inModel)))
		if err != nil {
			t.Fatal(err)
		}
		x := &matrix.CSR{Rows: 3, Cols: max(inRow, beside), Ptr: []int{0, 2, 4, 5}, Idx: []int32{0, int32(inRow - 1), 1, int32(beside - 1), 0},
			Val: []float32{0.25, 1.5, -1, 0.75, 2}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var got []float64
		if err := m.Predict(matrix.Rows{CSR: x}, false, func(v *Values) error {
			got = append(got, v.Prediction)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<22 {
			t.Errorf("%s, indices up to %d and %d: %d bytes", kernel, inModel, x.Cols, took)
		}
		return got
	}
	for _, kernel := range []string{"linear", "rbf"} {
		want := predict(kernel, 5, 5, 7)
		for _, c := range [][3]int{{2e9, 2e9, 7}, {2e9, 2e9, math.MaxInt32}, {5, 5, 2e9}, {2e9, 2e9, 3}} {
			for i, v := range predict(kernel, c[0], c[1], c[2]) {
				if math.Abs(v-want[i]) > 1e-6 {
					t.Errorf("%s, %v: row %d is %g, not %g", kernel, c, i, v, want[i])
				}
			}
		}
	}
	m, err := Read(strings.NewReader("svm_type epsilon_svr\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:2000000000\n"))
	if err != nil {
		t.Fatal(err)
	}
	x := &matrix.CSR{Rows: 2, Cols: 2e9, Ptr: []int{0, 1, 2}, Idx: []int32{2e9 - 1, 4}, Val: []float32{3, 4}}
	got := ""
	if err := m.Predict(matrix.Rows{CSR: x}, false, func(v *Values) error {
		got += fmt.Sprint(v.Prediction, " ")
		return nil
	}); err != nil || got != "3 0 " {
		t.Errorf("precomputed: %s, %v", got, err)
	}
}
