package search

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
)

func TestSamplesAreNestedStratifiedAndApart(t *testing.T) {
	// The first number tells rows apart; a tenth is of class 1, and 3 rows are of class 2.
	n := 0
	src := made(t, 8000, 2, func(r *random.Stream, x []float32) float64 {
		x[0], x[1] = float32(n), float32(r.Normal())
		n++
		switch {
		case n%2500 == 0:
			return 2
		case n%10 == 0:
			return 1
		}
		return 0
	})
	read := func(src dataset.Source) (rows map[float32]bool, shares [3]float64) {
		b, err := dataset.Collect(t.Context(), src, 2)
		if err != nil {
			t.Fatal(err)
		}
		rows = map[float32]bool{}
		for i := range b.X.Len() {
			rows[b.X.Dense.Row(i)[0]] = true
			shares[int(b.Y[i])] += 1 / float64(b.X.Len())
		}
		return rows, shares
	}
	for _, size := range []int{8000, 3000} {
		s := draw(t, src, size, "")
		if len(s.folds) == 1 != (size > fewRows) {
			t.Errorf("%d folds of %d rows", len(s.folds), size)
		}
		judged := map[float32]bool{}
		_, all := read(s.some(upTo(len(s.from))))
		for fold := range s.folds {
			held, shares := read(s.held(fold))
			if math.Abs(shares[1]-all[1]) > 2/float64(len(held)) {
				t.Errorf("%d rows: class 1 has %g of the held-out rows", size, shares[1])
			}
			for row := range held {
				if judged[row] {
					t.Errorf("row %g is judged twice", row)
				}
				judged[row] = true
			}
			var before map[float32]bool
			for _, k := range []int{100, 333, 1000, s.trainRows()} {
				rows, shares := read(s.train(fold, k))
				if len(rows) != k {
					t.Fatalf("%d rows, want %d", len(rows), k)
				}
				for row := range rows {
					if held[row] {
						t.Fatalf("row %g is trained on and judged by", row)
					}
				}
				for row := range before {
					if !rows[row] {
						t.Fatalf("row %g of a smaller sample is not in one of %d", row, k)
					}
				}
				before = rows
				if math.Abs(shares[1]-all[1]) > 2/float64(k) {
					t.Errorf("%d rows: class 1 has a share of %g of %d", size, shares[1], k)
				}
				if size == 8000 && shares[2] == 0 {
					t.Errorf("class 2 is not in %d rows", k)
				}
			}
		}
		if len(s.folds) > 1 && len(judged) < size-3 {
			t.Errorf("%d of %d rows are judged by", len(judged), size)
		}
	}
}

func TestTheSampleDoesNotDependOnBatches(t *testing.T) {
	synthetic := dataset.Synthetic{Rows: 20_000, Dim: 5, Seed: 3}
	a := draw(t, dataset.Generate(synthetic), 900, "")
	synthetic.BatchRows = 77
	b := draw(t, dataset.Generate(synthetic), 900, "")
	if !reflect.DeepEqual(a.rows, b.rows) || !reflect.DeepEqual(a.folds, b.folds) || len(a.from) != 900 {
		t.Error("batches of 77 rows give another sample")
	}
	if slices.Max(a.from) < 19_000 || slices.Min(a.from) > 1000 {
		t.Errorf("rows %d to %d of 20,000", slices.Min(a.from), slices.Max(a.from))
	}
}

func TestTheNumberOfRowsIsGuessedByTheShareRead(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 100_000, Dim: 5, Seed: 1})
	s, err := DrawFirst(t.Context(), src, 5000, "regress", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !s.guessed || s.all != 100_000 || s.rows.X.Len() != 5000 || s.summary.Rows != 5000 {
		t.Errorf("guessed %v: %d rows; %d drawn of %d", s.guessed, s.all, s.rows.X.Len(), s.summary.Rows)
	}
	// A small file is read ahead of its rows, so that the share that was read says nothing of them.
	var text strings.Builder
	for i := range 24_000 {
		fmt.Fprintf(&text, "%d,%d\n", i%7, i%10)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	small, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if s, err := DrawFirst(t.Context(), small, 20_000, "regress", 1); err != nil || s.all != 24_000 {
		t.Errorf("%d rows of 24,000, %v", s.all, err)
	}
	if s, err = DrawFirst(t.Context(), src, 100_000, "regress", 1); err != nil || s.guessed || s.all != 100_000 {
		t.Errorf("all rows: %v, %v", s, err)
	}
}
