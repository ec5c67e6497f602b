package learn

import (
	"context"
	"errors"
"fmt"
	"io/fs"
	"os"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
)

// realData reads a data set that stands beside the project: its rows, the labels' classes, or
// with classes nil the targets.
func realData(t testing.TB, path string, opt dataset.Options) *matrix.Batch {
	t.Helper()
	const root = "../../shared/data/"
	ctx := context.Background()
	file, err := dataset.Open(ctx, root+path, opt)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no " + path + " among the data sets beside the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b, err := dataset.Collect(ctx, file, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDev(t *testing.T) {
	if os.Getenv("DEV") == "" {
		t.Skip()
	}
	b := realData(t, os.Getenv("DEV"), dataset.Options{})
	t.Log(b.X.Len(), b.X.Dim(), b.X.CSR != nil)
	class := make([]int, b.X.Len())
	for i := range class {
		if b.Y[i] > 0 {
			class[i] = 1
		}
	}
	total := 0
	defer func(){fmt.Println(total)}()
	for _, loss := range []string{"logistic", "squared_hinge"} {
		for _, c := range []float64{0.1, 10} {
			for _, tol := range []float64{1e-2, 1e-3, 1e-4} {
				for _, no := range []bool{true, false} {
					l, r, err := FitPrimal(context.Background(), InMemory(b.X), class, 2, nil, Primal{Loss: loss, C: c, Tolerance: tol, NoIntercept: no})
					if err != nil {
						t.Fatal(err)
					}
					_ = l;fmt.Printf("%d/%d ", r.Iterations, r.Passes);total += r.Passes
				}
			}
		}
	}
}
