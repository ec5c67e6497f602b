package learn

import (
	"context"
	"math"
	"math/rand"
	"slices"
	"testing"

	"mercer/matrix"
)

// Sums of parts lead to the optimum of FitPrimal, and to the same bits whoever computes them.
func TestSharedPrimalFindsTheOptimum(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	const n, d = 700, 12
	r := rand.New(rand.NewSource(3))
	for _, classes := range []int{2, 4} {
		dense := matrix.NewDense(n, d)
		class, weights := make([]int, n), make([]float64, n)
		for i := range n {
			for j := range d {
				dense.Row(i)[j] = float32(r.NormFloat64() * (1 + float64(j)/3))
			}
			class[i] = (int(math.Abs(2*float64(dense.Row(i)[0]+dense.Row(i)[1])+r.NormFloat64())) + i%7/6) % classes
			weights[i] = float64(i % 3)
		}
		rows := []matrix.Rows{{Dense: dense}, {CSR: sparseOf(dense)}}
		for _, loss := range []string{"logistic", "squared_hinge", "multinomial"} {
			opt := Primal{Loss: loss, C: 0.3, Tolerance: 1e-6}
			for _, z := range rows {
				_, want, err := FitPrimal(ctx, InMemory(z), class, classes, weights, opt)
				if err != nil {
					t.Fatal(err)
				}
				model, report := shared(t, z, class, weights, classes, opt)
				again, _ := shared(t, z, class, weights, classes, opt)
				if !slices.Equal(model.W.Data, again.W.Data) || !slices.Equal(model.B, again.B) {
					t.Errorf("%s: two runs differ", loss)
				}
				for k, f := range report.Objective {
					if math.Abs(f-want.Objective[k]) > 1e-6*want.Objective[k] {
						t.Errorf("%s, %d classes: objective %d is %.9g, not %.9g", loss, classes, k, f, want.Objective[k])
					}
				}
				if !report.Converged && !report.Rounding || report.Passes < 3 || len(model.B) != TargetColumns(classes) {
					t.Errorf("%s: %+v", loss, report)
				}
			}
		}
	}
}

// sparseOf has the nonzeros of dense rows.
func sparseOf(x *matrix.Dense) *matrix.CSR {
	s := &matrix.CSR{Rows: x.Rows, Cols: x.Cols, Ptr: []int{0}}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, v)
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	return s
}

// shared fits by three processes, each of which replays the sums, and a fourth that solves.
func shared(t *testing.T, z matrix.Rows, class []int, weights []float64, classes int, opt Primal) (*Linear, *PrimalReport) {
	t.Helper()
	ctx := context.Background()
	var past []*SharedSums
	for done := false; !done; {
		var total *SharedSums
		for part := range 3 {
			s, err := NewSharedPrimal(z.Dim(), classes, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, sums := range past {
				if _, err := s.Advance(sums); err != nil {
					t.Fatal(err)
				}
			}
			lo, hi := part*z.Len()/3, (part+1)*z.Len()/3
			sums := s.Empty()
			if err := s.Add(ctx, sums, z.Slice(lo, hi), class[lo:hi], weights[lo:hi]); err != nil {
				t.Fatal(err)
			}
			if total == nil {
				total = sums
			} else if err := total.Merge(sums); err != nil {
				t.Fatal(err)
			}
		}
		past = append(past, total)
		s, err := NewSharedPrimal(z.Dim(), classes, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, sums := range past {
			if done, err = s.Advance(sums); err != nil {
				t.Fatal(err)
			}
		}
		if done {
			if _, err := s.Advance(total); err == nil {
				t.Error("a pass after the end")
			}
			return s.Model()
		}
		if len(past) > 500 {
			t.Fatal("it does not end")
		}
	}
	return nil, nil
}
