package approx

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/kernel"
)

// kg-rp, korp and kpca-rp give distances, and inner products but for a constant. In three dimensions
// the poly kernel of degree 2 has ten monomials, one of them constant: on rows that span the others
// korp with nine features is exact, less the 1 of that constant.
func TestMapsOfDistancesAreMeasuredByThem(t *testing.T) {
	rows := Rows{Judge: normal(50, 3, 1), Fit: normal(80, 3, 2)}
	k := kernel.Kernel{Name: "poly", Gamma: 0.5, Degree: 2, Coef0: 1}
	pool := feature.Options{Pool: 80}
	single := pool
	single.T = 1
	exact := feature.Config{Map: feature.KORP, Kernel: k, Options: pool}
	exact.Features = 9
	monomials := feature.Config{Map: feature.ExplicitPoly, Kernel: k}
	for _, c := range []struct {
		cfg      feature.Config
		features []int
		most     float64 // ‖K̃-K‖_F/‖K‖_F
	}{
		{feature.Config{Map: feature.KORP, Kernel: k, Options: pool}, []int{9}, 1e-6},
		{feature.Config{Map: feature.KGRP, Kernel: k, Options: single}, []int{4000}, 0.1},
		{feature.Config{Map: feature.KPCARP, Kernel: k, Options: pool}, []int{4000}, 0.1},
		{feature.Config{Map: feature.Sum, Steps: []feature.Config{exact, monomials}}, nil, 1e-6},
		{feature.Config{Map: feature.Chain, Steps: []feature.Config{exact,
			{Map: feature.CountSketch, Kernel: kernel.Linear.Usual(), Features: 9,
				Options: feature.Options{Hash: "balanced"}}}}, nil, 1e-6},
	} {
		r, err := Measure(context.Background(), rows, []Candidate{{c.cfg, c.features}}, Options{Seeds: 3})
		if err != nil {
			t.Fatal(err)
		}
		curve := r.Curves[0]
		p := curve.Points[0]
		if !curve.Centred {
			t.Errorf("%s: the curve is not said to be of the centred kernel", curve.Map)
		}
		if p.RelFrobenius.Mean > c.most || p.Distortion.Mean > 2*c.most || p.Bias > c.most*10 {
			t.Errorf("%s, D = %d: the relative error is %g, the distortion %g, the bias %g; want %g at most", curve.Map,
				p.Outputs, p.RelFrobenius.Mean, p.Distortion.Mean, p.Bias, c.most)
		}
		for _, pair := range p.Pairs {
			if math.Abs(pair.Exact-pair.Estimate) > c.most*1e3 {
				t.Errorf("%s: %+v", curve.Map, pair)
			}
		}
	}
	// Of other maps it is the kernel itself.
	r, err := Measure(context.Background(), rows, []Candidate{{monomials, nil}}, Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if curve := r.Curves[0]; curve.Centred || curve.Points[0].RelFrobenius.Mean > 1e-6 {
		t.Errorf("%+v", curve)
	}
}

// The target is the kernel around the mean of the judged rows: rows and columns of it sum to 0, and
// its distances are those of the kernel.
func TestCentredTarget(t *testing.T) {
	x := normal(30, 3, 1)
	cfg := feature.Config{Map: feature.KGRP, Kernel: rbf}
	target, err := newTarget(t.Context(), cfg, x, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		sum := 0.0
		for j := range 30 {
			sum += target.gram[i*30+j]
			d := target.gram[i*30+i] + target.gram[j*30+j] - 2*target.gram[i*30+j]
			if want := rbf.Distance2(x.Dense.Row(i), x.Dense.Row(j)); math.Abs(d-want) > 1e-12 || math.Abs(target.distances2[i*30+j]-want) > 1e-12 {
				t.Fatalf("rows %d and %d are %g apart, want %g", i, j, d, want)
			}
		}
		if math.Abs(sum) > 1e-12 {
			t.Errorf("row %d sums to %g", i, sum)
		}
	}
}

// Behind such a map kernels of distances have exact values, and no others.
func TestKernelsBehindMapsOfDistances(t *testing.T) {
	rows := Rows{Judge: normal(20, 3, 1), Fit: normal(40, 3, 2)}
	first := feature.Config{Map: feature.KORP, Kernel: rbf, Features: 16}
	behind := func(last feature.Config) error {
		return measureErr(rows, feature.Config{Map: feature.Chain, Steps: []feature.Config{first, last}}, 16)
	}
	if err := behind(feature.Config{Map: feature.RFF, Kernel: rbf}); err != nil {
		t.Error(err)
	}
	err := behind(feature.Config{Map: feature.Maclaurin, Kernel: kernel.Kernel{Name: "exp", Gamma: 0.5}})
	if err == nil || !strings.Contains(err.Error(),
		"maclaurin of the exp kernel has no exact value behind a map that moves features, as korp does") {
		t.Error(err)
	}
}
