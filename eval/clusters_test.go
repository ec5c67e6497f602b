package eval

import (
	"fmt"
	"math"
	"testing"

	"mercer/matrix"
)

// The values are those of scikit-learn 1.9.
func TestAgreementIsThatOfScikitLearn(t *testing.T) {
	var a Agreement
	labels := []int{0, 0, 0, 1, 1, 2, 2, 2, 2}
	for i, c := range []int{0, 0, 1, 1, 2, 2, 2, 0, 3} {
		a.Add(fmt.Sprint(c), fmt.Sprint(labels[i]))
	}
	if got, want := a.Rand(), 0.00847457627118644; math.Abs(got-want) > 1e-12 {
		t.Errorf("adjusted Rand index %.17g, want %.17g", got, want)
	}
	if got, want := a.Information(), 0.40687569302476484; math.Abs(got-want) > 1e-12 {
		t.Errorf("mutual information %.17g, want %.17g", got, want)
	}
	if label, share := a.Label("2"); label != "2" || math.Abs(share-2.0/3) > 1e-12 {
		t.Errorf("label %s of %g", label, share)
	}
	var same Agreement
	for range 4 {
		same.Add("1", "a")
	}
	if same.Rand() != 1 || same.Information() != 1 {
		t.Errorf("one cluster of one label: %g, %g", same.Rand(), same.Information())
	}
}

func TestSilhouetteIsThatOfScikitLearn(t *testing.T) {
	x := &matrix.Dense{Rows: 9, Cols: 2, Stride: 2, Data: []float32{0, 0, 1, 0, 0, 2, 5, 5, 6, 5, 5, 7, 9, 0, 8, 1, 20, 20}}
	if got, want := Silhouette(x, []int{0, 0, 0, 1, 1, 1, 2, 2, 3}), 0.6581951876812323; math.Abs(got-want) > 1e-7 {
		t.Errorf("silhouette %.17g, want %.17g", got, want)
	}
	if got := Silhouette(x, make([]int, 9)); got == got {
		t.Errorf("one cluster has the silhouette %g", got)
	}
}
