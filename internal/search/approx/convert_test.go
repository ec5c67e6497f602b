package approx

import (
	"math"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// An estimate that is right converts to the value of the other kernel, both ways, for all degrees and constants.
func TestConversionOfExactValuesIsExact(t *testing.T) {
	x := normal(12, 4, 3)
	for _, degree := range []int{1, 2, 3, 4} {
		for _, coef0 := range []float64{0, 9} { // without and with all roots of even degrees positive
			poly := kernel.Kernel{Name: "poly", Gamma: 0.7, Degree: degree, Coef0: coef0}
			for _, pair := range [][2]kernel.Kernel{{poly, rbf}, {rbf, poly}} {
				c, err := NewConversion(pair[0], pair[1])
				if err != nil {
					t.Fatal(err)
				}
				for i := range 12 {
					for j := range 12 {
						a, b := x.Dense.Row(i), x.Dense.Row(j)
						if degree%2 == 0 && coef0 == 0 && pair[0] == poly && product(a, b) < 0 {
							continue // the root has lost the sign
						}
						got, sure := c.Value(pair[0].Eval(a, b), product(a, a), product(b, b))
						if want := pair[1].Eval(a, b); !sure || math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
							t.Fatalf("%v to %v: %g, sure %t, want %g", pair[0], pair[1], got, sure, want)
						}
					}
					a := x.Dense.Row(i)
					if got := c.Length2(pair[0].Eval(a, a)); pair[0] == poly && math.Abs(got-product(a, a)) > 1e-5*got || pair[0] == rbf && got != 1 {
						t.Errorf("%v: the squared length is %g, not %g", pair[0], got, product(a, a))
					}
				}
			}
		}
	}
}

func product(x, y []float32) (sum float64) {
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

// What no rows have is taken for the nearest that some have.
func TestConversionOfImpossibleEstimates(t *testing.T) {
	square, cube := kernel.Kernel{Name: "poly", Gamma: 2, Degree: 2, Coef0: 1}, kernel.Kernel{Name: "poly", Gamma: 1, Degree: 3}
	for _, c := range []struct {
		from, to        kernel.Kernel
		estimate, value float64
		sure            bool
	}{
		{square, rbf, -0.3, math.Exp(-0.1 * (4 + 1 + 1)), false}, // a root of 0: x·y = -½
		{cube, rbf, -8, math.Exp(-0.1 * (4 + 1 + 4)), true},      // x·y = -2
		{rbf, cube, -0.1, math.Pow((5+10*math.Log(1e-6))/2, 3), false},
		{rbf, cube, 0, math.Pow((5+10*math.Log(1e-6))/2, 3), false},
	} {
		conversion, err := NewConversion(c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		got, sure := conversion.Value(c.estimate, 4, 1)
		if math.Abs(got-c.value) > 1e-12*(1+math.Abs(c.value)) || sure != c.sure {
			t.Errorf("%v of %g to %v: %g, sure %t, want %g", c.from, c.estimate, c.to, got, sure, c.value)
		}
	}
}

// A map without errors has none after conversion, by the lengths that it tells; one of rbf only by those of the rows.
func TestConvertMeasures(t *testing.T) {
	poly := kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2, Coef0: 4}
	x := matrix.NewDense(40, 3)
	copy(x.Data, normal(40, 3, 8).Dense.Data)
	for i := range x.Data {
		x.Data[i] /= 4
	}
	rows := Rows{Judge: matrix.Rows{Dense: x}}
	explicit := Candidate{Config: feature.Config{Map: "explicit-poly", Kernel: poly}}
	got, err := Convert(t.Context(), rows, []Candidate{explicit}, rbf, Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	if c := got[0]; len(got) != 1 || c.Own.MaxAbs.Mean > 1e-5 || c.ByMap.MaxAbs.Mean > 1e-5 || c.ByRows.MaxAbs.Mean > 1e-5 {
		t.Errorf("%+v", c)
	}
	orf := Candidate{Config: feature.Config{Map: "orf", Kernel: rbf}, Features: []int{2048, 4096}}
	if got, err = Convert(t.Context(), rows, []Candidate{orf}, poly, Options{Seeds: 3}); err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if c.Map != "orf" || c.Features != orf.Features[i] || c.ByMap.MeanRel.Mean < 4*c.ByRows.MeanRel.Mean || c.ByRows.MeanRel.Mean > 0.01 {
			t.Errorf("%+v", c)
		}
	}
	// The estimates are those of Measure.
	measured, err := Measure(t.Context(), rows, []Candidate{orf}, Options{Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if p := measured.Curves[0].Points[1]; p.MeanAbs != got[1].Own.MeanAbs {
		t.Errorf("%+v, %+v", p.MeanAbs, got[1].Own.MeanAbs)
	}
}

func TestConvertRefuses(t *testing.T) {
	poly := kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}
	rows := Rows{Judge: normal(10, 3, 8)}
	for _, c := range []struct {
		cfg  feature.Config
		to   kernel.Kernel
		want string
	}{
		{feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "laplacian", Gamma: 1}}, poly, "estimates of the laplacian kernel cannot be converted"},
		{feature.Config{Map: "rff", Kernel: rbf}, kernel.Kernel{Name: "exp", Gamma: 1}, "estimates of the exp kernel cannot be converted"},
		{feature.Config{Map: "rff", Kernel: rbf}, kernel.Kernel{Name: "poly", Degree: 2}, "gamma is 0"},
		{feature.Config{Map: "sum", Steps: []feature.Config{{Map: "rff", Kernel: rbf, Features: 8}}}, poly, "those of single maps can"},
	} {
		_, err := Convert(t.Context(), rows, []Candidate{{Config: c.cfg, Features: []int{8}}}, c.to, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v to %v: %v, want %q", c.cfg, c.to, err, c.want)
		}
	}
}
