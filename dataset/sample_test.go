package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

// A sample depends on seed and rows alone, has no row twice, and comes with the labels of its rows.
func TestSample(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i, i%7, 2*i)
	}
	drawn := func(batch, n int, seed uint64) (*matrix.Batch, []int) {
		src, err := OpenBytes(context.Background(), "t.csv", []byte(b.String()), Options{BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		rows, numbers, of, err := Sample(context.Background(), src, n, 2, seed)
		if err != nil || of != 1000 {
			t.Fatal(of, err)
		}
		return rows, numbers
	}
	rows, numbers := drawn(4096, 100, 1)
	if len(numbers) != 100 || rows.X.Len() != 100 || len(slices.Compact(slices.Clone(numbers))) != 100 || !slices.IsSorted(numbers) {
		t.Fatal(numbers)
	}
	for i, n := range numbers {
		if rows.X.Dense.Row(i)[0] != float32(n) || rows.Y[i] != float64(2*n) {
			t.Errorf("row %d is %v with the target %g", n, rows.X.Dense.Row(i), rows.Y[i])
		}
	}
	if _, other := drawn(17, 100, 1); !slices.Equal(numbers, other) {
		t.Error("the sample depends on the batches")
	}
	if _, other := drawn(4096, 100, 2); slices.Equal(numbers, other) {
		t.Error("the sample does not depend on the seed")
	}
	if rows, all := drawn(17, 5000, 1); len(all) != 1000 || rows.X.Len() != 1000 {
		t.Error(len(all))
	}
}
