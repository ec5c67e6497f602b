package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A matrix of kernel values that are large against their differences, as of rows far from 0, is taken as it is written: less the smallest
// of each column it would not be symmetric.
func TestPrecomputedValuesAreTakenAsWritten(t *testing.T) {
	var text strings.Builder
	x := func(i, j int) float64 { return 1e6 + float64((i+1)*(37+34*j)%100)/50 }
	for i := range 60 {
		for h := range 60 {
			fmt.Fprintf(&text, "%v,", x(i, 0)*x(h, 0)+x(i, 1)*x(h, 1))
		}
		fmt.Fprintf(&text, "%v\n", x(i, 0))
	}
	dir := t.TempDir()
	data, m := write(t, dir, "k.csv", text.String()), filepath.Join(dir, "m")
	for _, way := range []string{"--kernel", "--map"} {
		ok(t, "train", data, "-o", m, way, "precomputed", "--learner", "ridge")
		ok(t, "predict", m, data)
		ok(t, "curve", data, way, "precomputed", "--learner", "ridge", "--at-rows", "20,40", "--seeds", "1")
		ok(t, "tune", data, "-o", m, way, "precomputed", "--learner", "ridge", "--lambda", "0.1,1", "--folds", "2")
		ok(t, "cluster", data, "-o", m, way, "precomputed", "--clusters", "2")
	}
}
