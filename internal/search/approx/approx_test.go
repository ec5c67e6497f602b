package approx

import (
	"context"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

func measureErr(rows Rows, cfg feature.Config, dims ...int) error {
	_, err := Measure(context.Background(), rows, []Candidate{{cfg, dims}}, Options{Seeds: 1})
	return err
}

func TestMeasureRefuses(t *testing.T) {
	x := normal(10, 3, 1)
	same := Rows{x, x}
	rff := feature.Config{Map: "rff", Kernel: rbf}
	sum := feature.Config{Map: "chain", Steps: []feature.Config{{Map: "explicit-poly", Kernel: poly(2)},
		{Map: "rff", Kernel: kernel.Kernel{Name: "laplacian", Gamma: 1}, Features: 8}}}
	large := normal(10, 3, 1)
	for i := range large.Dense.Data {
		large.Dense.Data[i] *= 1e30
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no pairs", measureErr(Rows{Judge: x.Slice(0, 1)}, rff, 8), "2 or more"},
		{"too many rows", measureErr(Rows{Judge: normal(mostRows+1, 1, 1)}, rff, 8), "8000 at most"},
		{"an odd D", measureErr(same, rff, 7), "a cos and a sin"},
		{"the wrong kernel", measureErr(same, feature.Config{Map: "rff", Kernel: poly(2)}, 8), "does not approximate"},
		{"no kernel", measureErr(same, feature.Config{Map: "rff"}, 8), "not a kernel"},
		{"no rows to fit to", measureErr(Rows{Judge: x}, feature.Config{Map: "nystrom", Kernel: rbf}, 4), "fitted to rows"},
		{"no exact kernel", measureErr(same, sum), "has no exact value"},
		{"overflow", measureErr(Rows{large, large}, feature.Config{Map: "tensorsketch", Kernel: poly(9)}, 8), "beyond float64"},
		{"features that overflow", measureErr(Rows{large, large}, feature.Config{Map: "tensorsketch", Kernel: poly(2)}, 8), "overflow"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	ctx := context.Background()
	if _, err := Measure(ctx, same, nil, Options{}); err == nil {
		t.Error("no maps were measured")
	}
	for _, opt := range []Options{{Seeds: -1}, {Lambda: -1}, {Lambda: math.NaN()}} {
		if _, err := Measure(ctx, same, []Candidate{{rff, []int{8}}}, opt); err == nil {
			t.Errorf("%+v was taken", opt)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Measure(gone, same, []Candidate{{rff, []int{8}}}, Options{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// One map of several that cannot be made is left out, with the reason.
func TestMeasureSkips(t *testing.T) {
	x := normal(10, 3, 1)
	r, err := Measure(context.Background(), Rows{x, x}, []Candidate{
		{feature.Config{Map: "tensorsketch", Kernel: rbf}, []int{8}}, {feature.Config{Map: "rff", Kernel: rbf}, []int{16, 8, 16}},
	}, Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Curves) != 1 || len(r.Skipped) != 1 || r.Skipped[0].Map != "tensorsketch" {
		t.Fatalf("%+v", r)
	}
	var dims []int
	for _, p := range r.Curves[0].Points {
		dims = append(dims, p.Features)
	}
	if !slices.Equal(dims, []int{8, 16}) {
		t.Errorf("measured at %v", dims)
	}
}

// Where relative errors and distances are 0/0, there are none; never a NaN.
func TestUndefinedIsNilNotNaN(t *testing.T) {
	constant := matrix.Rows{Dense: matrix.NewDense(6, 3)}
	for i := range constant.Dense.Data {
		constant.Dense.Data[i] = 2
	}
	p := measure(t, constant, feature.Config{Map: "rff", Kernel: rbf}, Options{Seeds: 2}, 8).Points[0]
	if p.Distortion != nil || p.MeanRel == nil || p.Delta1 == nil {
		t.Errorf("equal rows: %+v", p)
	}
	zero := matrix.Rows{Dense: matrix.NewDense(6, 3)}
	c := measure(t, zero, feature.Config{Map: "rp", Kernel: kernel.Kernel{Name: "linear"}}, Options{Seeds: 2}, 8, 16)
	p = c.Points[0]
	if p.Distortion != nil || p.MeanRel != nil || p.MaxRel != nil || p.RelFrobenius != nil || p.Delta1 != nil ||
		p.Dimension != nil || c.Exact != (Exact{}) {
		t.Errorf("rows of zeros: %+v", p)
	}
	if p.MeanAbs.Mean != 0 || p.Within.Mean != 0 || c.Rate != nil || c.RateRel != nil {
		t.Errorf("rows of zeros: %+v, rate %v", p, c.Rate)
	}
	checkFinite(t, reflect.ValueOf(*c))
}

// checkFinite finds NaN and Inf in all numbers of a value.
func checkFinite(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("a number is %g", f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			checkFinite(t, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkFinite(t, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			checkFinite(t, v.Elem())
		}
	}
}

// All but times is the same for any number of threads.
func TestMeasureIsDeterministic(t *testing.T) {
	x := normal(90, 4, 2)
	once := func(threads int) *Result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		r, err := Measure(context.Background(), Rows{x.Slice(0, 50), x.Slice(50, 90)}, []Candidate{
			{feature.Config{Map: "sorf", Kernel: rbf}, []int{16, 64}}, {feature.Config{Map: "nystrom", Kernel: rbf}, []int{8, 16}},
		}, Options{Seeds: 3})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Curves {
			for j := range r.Curves[i].Points {
				p := &r.Curves[i].Points[j]
				p.PerRow, p.OneRow, p.runs = 0, 0, nil
			}
		}
		return r
	}
	if a, b := once(1), once(3); !reflect.DeepEqual(a, b) {
		t.Error("one thread measures otherwise than three")
	}
}

// A map that keeps rows is judged on others: on its own it would be perfect.
func TestFittedMapsAreJudgedOnOtherRows(t *testing.T) {
	x := normal(40, 3, 3)
	nystrom := feature.Config{Map: "nystrom", Kernel: rbf}
	nystrom.Landmarks = "uniform"
	own := measure(t, x.Slice(0, 20), nystrom, Options{Seeds: 2}, 20).Points[0]
	r, err := Measure(context.Background(), Rows{x.Slice(0, 20), x.Slice(20, 40)}, []Candidate{{nystrom, []int{20}}}, Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	other := r.Curves[0].Points[0]
	if own.MeanAbs.Mean > 1e-4 || other.MeanAbs.Mean < 100*own.MeanAbs.Mean {
		t.Errorf("nystrom on its own rows errs by %g, on others by %g", own.MeanAbs.Mean, other.MeanAbs.Mean)
	}
	if other.MeanSigned.Mean > 0 || other.Bias < other.Spread {
		t.Errorf("a projection takes from the kernel: signed %g, bias %g, spread %g", other.MeanSigned.Mean, other.Bias, other.Spread)
	}
}

// A map of histograms gets D by its terms, and its outputs are what it has.
func TestSizedByTerms(t *testing.T) {
	x := normal(30, 4, 4)
	for i, v := range x.Dense.Data {
		x.Dense.Data[i] = float32(math.Abs(float64(v)))
	}
	chi2 := kernel.Kernel{Name: "chi2"}
	for name, want := range map[string][]int{"homogeneous": {4, 12, 28}, "chebyshev": {4, 16, 32}} {
		var got []int
		for _, p := range measure(t, x, feature.Config{Map: name, Kernel: chi2}, Options{Seeds: 1}, 3, 16, 32).Points {
			got = append(got, p.Outputs)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v features, want %v", name, got, want)
		}
	}
}

// No more pairs are kept than a picture shows, and they are pairs of the two Gram matrices.
func TestPairsForAPicture(t *testing.T) {
	few := measure(t, normal(20, 3, 5), feature.Config{Map: "rff", Kernel: rbf}, Options{Seeds: 1}, 8).Points[0]
	if len(few.Pairs) != 190 {
		t.Errorf("%d pairs of 20 rows", len(few.Pairs))
	}
	many := measure(t, normal(80, 3, 5), feature.Config{Map: "rff", Kernel: rbf}, Options{Seeds: 1}, 8).Points[0]
	if len(many.Pairs) != mostPairs {
		t.Errorf("%d pairs of 80 rows", len(many.Pairs))
	}
	mean := 0.0
	for _, p := range few.Pairs {
		mean += math.Abs(p.Estimate-p.Exact) / 190
	}
	if math.Abs(mean-few.MeanAbs.Mean) > 1e-12 {
		t.Errorf("all pairs have the error %g, the point says %g", mean, few.MeanAbs.Mean)
	}
}

func TestMapsOfAKernel(t *testing.T) {
	for k, want := range map[string]string{
		"rbf":  "rff orf sorf qmc fastfood taylorsketch nystrom",
		"poly": "tensorsketch maclaurin tensorsrht pk-rp d2pk-rp nystrom",
		"chi2": "homogeneous chebyshev elementary nystrom",
	} {
		got := Maps(kernel.Kernel{Name: k, Degree: 2})
		words := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(words)
		if !slices.Equal(got, words) {
			t.Errorf("%s: %v", k, got)
		}
	}
	if slices.Contains(Maps(poly(3)), "d2pk-rp") {
		t.Error("d2pk-rp is of degree 2")
	}
}

// With no more rows to be had, more features are not measured again.
func TestSaturatedMapsAreMeasuredOnce(t *testing.T) {
	x := normal(30, 3, 6)
	nystrom := feature.Config{Map: "nystrom", Kernel: rbf}
	r, err := Measure(context.Background(), Rows{x.Slice(0, 10), x.Slice(10, 30)},
		[]Candidate{{nystrom, []int{8, 64, 128}}}, Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Curves[0].Points
	if len(p) != 2 || p[1].Features != 64 || p[1].Outputs > 20 || !slices.Equal(r.Curves[0].Repeated, []int{128}) {
		t.Fatalf("%d points, repeated %v; %+v", len(p), r.Curves[0].Repeated, p[len(p)-1])
	}
	// Errors fall with the features that there are, not with those that were asked for.
	want := FitRate([]float64{8, float64(p[1].Outputs)}, []float64{p[0].MeanAbs.Mean, p[1].MeanAbs.Mean})
	if got := r.Curves[0].Rate; math.Abs(got.Exponent-want.Exponent) > 1e-12 {
		t.Errorf("the rate is D^%.3f, of 8 and %d features D^%.3f", got.Exponent, p[1].Outputs, want.Exponent)
	}
}

// The kernel that a chain approximates is its last one on the features of the first.
func TestTheKernelOfAChainIsOnFeatures(t *testing.T) {
	x := normal(25, 3, 7)
	square := feature.Config{Map: "explicit-poly", Kernel: poly(2)}
	m, err := feature.New(square, 3)
	if err != nil {
		t.Fatal(err)
	}
	z := feature.Apply(m, x, &matrix.Dense{}, &matrix.CSR{})
	for _, k := range []kernel.Kernel{rbf, {Name: "linear"}, {Name: "exp", Gamma: 0.01}, {Name: "poly", Gamma: 0.1, Coef0: 0.5, Degree: 3}} {
		want, err := Gram(k, z)
		if err != nil {
			t.Fatal(err)
		}
		got, err := gramOf(feature.Config{Map: "chain", Steps: []feature.Config{square, {Kernel: k}}}, x)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if math.Abs(v-want[i]) > 1e-4*(1+math.Abs(want[i])) {
				t.Fatalf("%s: element %d is %g, on the features %g", k, i, v, want[i])
			}
		}
	}
}
