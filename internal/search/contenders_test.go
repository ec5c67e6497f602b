package search

import (
	"slices"
	"testing"

	"mercer/kernel"
	"mercer/train"
)

// Which kernels race with several γ, which have few features a dimension, and which have a number of features to
// choose, follows from what the kernels are.
func TestRacesAskKernelsForTheirProperties(t *testing.T) {
	var widths, sums, sized []string
	for _, name := range kernel.Names() {
		c := train.Config{Kernel: train.Kernel{Name: name}, Learner: train.Ridge{}}
		if widthOpen(c) {
			widths = append(widths, name)
		}
		if additive(c) {
			sums = append(sums, name)
		}
		if featured(c) {
			sized = append(sized, name)
		}
	}
	if want := []string{"exp", "rbf", "laplacian", "cauchy", "matern", "exp-chi2"}; !slices.Equal(widths, want) {
		t.Errorf("γ is open of %q, want %q", widths, want)
	}
	if want := []string{"hellinger", "chi2", "intersection", "jensen-shannon"}; !slices.Equal(sums, want) {
		t.Errorf("additive are %q, want %q", sums, want)
	}
	want := []string{"poly", "exp", "arccos", "rbf", "laplacian", "cauchy", "matern", "exp-chi2", "skewed-chi2", "skewed-intersection"}
	if !slices.Equal(sized, want) {
		t.Errorf("a number of features is chosen for %q, want %q", sized, want)
	}
}
