package landmarks

import (
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// The twin compares each row with all before.
func TestDistinct(t *testing.T) {
	r := random.New(1, "landmarks.distinct")
	x := matrix.NewDense(300, 3)
	for i := range x.Data {
		x.Data[i] = float32(int(4 * r.Uniform()))
		if x.Data[i] == 0 && r.Uniform() < 0.5 {
			x.Data[i] = float32(math.Copysign(0, -1)) // equals 0
		}
	}
	order := r.Perm(x.Rows)
	var all []int
	for _, i := range order {
		if !slices.ContainsFunc(all, func(j int) bool { return slices.Equal(x.Row(i), x.Row(j)) }) {
			all = append(all, i)
		}
	}
	if len(all) != 64 {
		t.Fatalf("%d of 64 different rows in the table; it is too small", len(all))
	}
	for _, n := range []int{1, 10, 63, 64, 65, 1000} {
		if got := Distinct(x, order, n); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Errorf("%d of %d distinct rows: %v", n, len(all), got)
		}
	}
}
