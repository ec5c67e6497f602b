package kernel

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/matrix"
)

// Far rows are those of the definition; d² of linear is ‖x-y‖².
func TestDistancesMatchTheDefinition(t *testing.T) {
	x := rows("define", 30, 6, 0.2)
	for _, k := range everyKernel {
		diagonal := k.Diagonal(matrix.Rows{Dense: x})
		for _, a := range both(x) {
			if got := k.Diagonal(a); !slices.Equal(got, diagonal) {
				t.Errorf("%s: the diagonal of sparse rows differs", k)
			}
			got := distances2(t, k, a, a)
			for i := range x.Rows {
				if k.Eval(x.Row(i), x.Row(i)) != diagonal[i] {
					t.Errorf("%s: k(x%d, x%d) = %g, Diagonal says %g", k, i, i, k.Eval(x.Row(i), x.Row(i)), diagonal[i])
				}
				for j := range i {
					want := diagonal[i] + diagonal[j] - 2*k.Eval(x.Row(i), x.Row(j))
					scale := 1e-13 * (diagonal[i] + diagonal[j])
					if d := k.Distance2(x.Row(i), x.Row(j)); math.Abs(d-want) > scale {
						t.Errorf("%s: d²(%d, %d) = %g, want %g", k, i, j, d, want)
					}
					if d := got[i*x.Rows+j]; math.Abs(d-want) > scale {
						t.Errorf("%s: Gram: d²(%d, %d) = %g, want %g", k, i, j, d, want)
					}
				}
			}
		}
	}
}

func TestDistancesAreMetric(t *testing.T) {
	x := rows("metric", 60, 4, 0.3)
	clear(x.Row(3))
	copy(x.Data[30*4:], x.Data[:30*4]) // every row twice
	for _, k := range everyKernel {
		for _, a := range both(x) {
			d2 := distances2(t, k, a, a)
			for i := range 60 {
				for j := range 60 {
					v := d2[i*60+j]
					equal := i%30 == j%30
					if equal && v != 0 || !equal && !(v >= 0) || relative(v, d2[j*60+i]) > 1e-11 {
						t.Fatalf("%s, sparse %t: d²[%d,%d] = %g, [%d,%d] = %g", k, a.CSR != nil, i, j, v, j, i, d2[j*60+i])
					}
					for l := range 30 {
						if math.Sqrt(v) > (math.Sqrt(d2[i*60+l])+math.Sqrt(d2[l*60+j]))*(1+1e-11) {
							t.Fatalf("%s, sparse %t: rows %d, %d, %d break the triangle inequality", k, a.CSR != nil, i, l, j)
						}
					}
				}
			}
		}
	}
}

func TestDistancesDoNotDependOnBlocksOrThreads(t *testing.T) {
	x := rows("blocks", 300, 9, 0.5)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, k := range everyKernel {
		for _, a := range both(x) {
			want := distances2(t, k, a, a)
			g, err := NewGram(k, a, a)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, len(want))
			for i := 0; i < 300; i += 37 {
				j := min(i+37, 300)
				g.Distances2(i, j, got[i*300:j*300])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, sparse %t: 37 rows at a time give other distances", k, a.CSR != nil)
			}
		}
	}
}

// A row of zeros is at a right angle to every row; the map sign(ω·x) sends it to ½.
func TestArccosOfZeros(t *testing.T) {
	zero, x := []float32{0, 0}, []float32{3, 4}
	for degree, want := range [][6]float64{{0.5, 0.5, 1, 0, 0.5, 0}, {0, 0, 25, 0, 25, 0}} {
		k := Kernel{Name: "arccos", Degree: degree}
		got := [6]float64{k.Eval(zero, zero), k.Eval(zero, x), k.Eval(x, x), k.Distance2(zero, zero), k.Distance2(zero, x), k.Distance2(x, x)}
		if got != want {
			t.Errorf("order %d: %v, want %v", degree, got, want)
		}
	}
}
