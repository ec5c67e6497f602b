package approx

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// recorded reads lines of a name and numbers.
func recorded(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]float64{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		words := strings.Fields(s.Text())
		for _, w := range words[1:] {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			all[words[0]] = append(all[words[0]], v)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// By scipy's generalised eigenvalues (testdata/spectral.py).
func TestSpectralMatchesScipy(t *testing.T) {
	r := recorded(t, "testdata/spectral.txt")
	s, err := NewSpectral(t.Context(), 8, r["k"], r["lambda"][0])
	if err != nil {
		t.Fatal(err)
	}
	d1, d2, dimension, err := s.Compare(t.Context(), r["approximate"])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"delta1", d1, r["deltas"][0]}, {"delta2", d2, r["deltas"][1]},
		{"dimension of K", s.Dimension(), r["dimensions"][0]}, {"dimension", dimension, r["dimensions"][1]},
		{"stable rank", s.StableRank(), r["stable_rank"][0]},
	} {
		if math.Abs(c.got-c.want) > 1e-12*c.want*100 {
			t.Errorf("%s is %.15g, by scipy %.15g", c.name, c.got, c.want)
		}
	}
}

// (1-Δ₁)vᵀ(K+λI)v ≤ vᵀ(K̃+λI)v ≤ (1+Δ₂)vᵀ(K+λI)v for every v, and no smaller Δ will do.
func TestDeltasBoundAllQuadraticForms(t *testing.T) {
	const n, lambda = 70, 0.05
	k, err := Gram(rbf, normal(n, 4, 5))
	if err != nil {
		t.Fatal(err)
	}
	approximate, err := Gram(poly(1), normal(n, 9, 6))
	if err != nil {
		t.Fatal(err)
	}
	for i := range approximate {
		approximate[i] *= 0.1
	}
	s, err := NewSpectral(t.Context(), n, k, lambda)
	if err != nil {
		t.Fatal(err)
	}
	d1, d2, _, err := s.Compare(t.Context(), approximate)
	if err != nil {
		t.Fatal(err)
	}
	if !(d1 > 0 && d1 < 1 && d2 > 0) {
		t.Fatalf("deltas %g and %g", d1, d2)
	}
	form := func(a, v []float64) float64 {
		sum := 0.0
		for i := range n {
			sum += lambda * v[i] * v[i]
			for j := range n {
				sum += v[i] * a[i*n+j] * v[j]
			}
		}
		return sum
	}
	r := random.New(1, "approx.forms")
	v := make([]float64, n)
	for range 500 {
		for i := range v {
			v[i] = r.Normal()
		}
		if ratio := form(approximate, v) / form(k, v); ratio < 1-d1-1e-9 || ratio > 1+d2+1e-9 {
			t.Fatalf("a ratio of %g outside [%g, %g]", ratio, 1-d1, 1+d2)
		}
	}
	// Δ is reached: K̃ - K has its extremes at eigenvectors, which shrinking K by a half shows.
	half := make([]float64, n*n)
	for i, x := range k {
		half[i] = 0.5 * x
	}
	d1, d2, _, err = s.Compare(t.Context(), half)
	// The largest eigenvalue μ of K gives 1 - (μ/2+λ)/(μ+λ) = μ/2/(μ+λ).
	if err != nil || d2 > 1e-12 || !(d1 > 0.49 && d1 < 0.5) {
		t.Errorf("deltas of K/2: %g and %g, %v", d1, d2, err)
	}
}

func TestSpectralRefuses(t *testing.T) {
	if _, err := NewSpectral(t.Context(), 2, []float64{1, 0, 0, 1}, 0); err == nil {
		t.Error("λ = 0 was taken")
	}
	if _, err := NewSpectral(t.Context(), 2, []float64{1, 0, 0, -1}, 0.5); err == nil {
		t.Error("an indefinite matrix was taken")
	}
	if _, err := NewSpectral(t.Context(), 2, []float64{1, math.NaN(), math.NaN(), 1}, 0.5); err == nil {
		t.Error("NaN was taken")
	}
	s, err := NewSpectral(t.Context(), 2, []float64{1, 0, 0, 1}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.Compare(t.Context(), []float64{math.Inf(1), 0, 0, 1}); err == nil {
		t.Error("an infinite matrix was compared")
	}
}
