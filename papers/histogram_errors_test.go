package papers

import (
	"context"
	"os"
	"testing"
)

// The features of scikit-learn's AdditiveChi2Sampler have at least twice the error of as many of ours
// on every data set, whichever steps it has, but for the one feature of one step: of functions
// that are proportional to √x, as both are, ours is about the best. There chebyshev is as good on
// histograms, whose numbers have sizes of their own in each dimension.
func TestHomogeneousHasHalfTheErrorOfAdditiveChi2Sampler(t *testing.T) {
	const dir = "../../shared/data"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no data sets beside the project")
	}
	if testing.Short() {
		t.Skip("reads seven data sets")
	}
	var variants []errorVariant
	for _, v := range errorVariants("chi2") {
		if v.name == "homogeneous" || v.name == sampler {
			v.terms = []int{1, 3, 5}
			variants = append(variants, v)
		}
	}
	figures, missing, err := histogramErrors(context.Background(), dir, "chi2", variants)
	if err != nil || missing != nil {
		t.Fatal(missing, err)
	}
	for _, f := range figures {
		curves := map[string]map[int]float64{}
		for _, c := range f.Curves {
			curves[c.Name] = map[int]float64{}
			for i, terms := range c.Terms {
				curves[c.Name][terms] = c.Errors[i]
			}
		}
		for _, terms := range []int{1, 3, 5} {
			ours, theirs := curves["homogeneous"][terms], curves[sampler][terms]
			t.Logf("%s, %d features: %.5f, scikit-learn's %.5f, %.3f", f.Set, terms, ours, theirs, ours/theirs)
			if terms > 1 && ours > theirs/2 {
				t.Errorf("%s, %d features: the error is %.5f, scikit-learn's %.5f", f.Set, terms, ours, theirs)
			}
		}
	}
}
