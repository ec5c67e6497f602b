package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mercer/kernel"
)

// Kernels of histograms take no number below 0, which minmax makes of a new one below the least of the training: that is refused with
// a scaling that predicts it, and it does.
func TestRowsBelowTheMinimumOfHistogramKernels(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for i := range 200 {
		a, b := 1e6+float64(i*37%100), float64(i*71%50)
		fmt.Fprintf(&rows, "%g,%g,%g\n", a, b, a*b)
	}
	dir := t.TempDir()
	data, m := write(t, dir, "data.csv", rows.String()), filepath.Join(dir, "m")
	below := write(t, dir, "new.csv", "a,b\n1000050,5\n999990,5\n")
	tried := 0
	for _, name := range kernel.Names() {
		if (kernel.Kernel{Name: name, Gamma: 1, Degree: 2, Coef0: 1, Nu: 1.5}).Lowest() != 0 {
			continue
		}
		tried++
		train := func(scale string) {
			ok(t, "train", data, "-o", m, "--kernel", name, "--learner", "ridge", "--scale", scale)
		}
		train("minmax")
		r := mercer(t, "predict", m, below)
		for _, want := range []string{`new.csv: row 2, column "a": -0.1`, "0 of the least number of the column in training", "--scale maxabs"} {
			if r.code != 1 || !strings.Contains(r.stderr, want) {
				t.Errorf("%s: exit code %d, %q, not %q", name, r.code, r.stderr, want)
			}
		}
		train("maxabs")
		ok(t, "predict", m, below)
	}
	if tried < 5 {
		t.Errorf("%d kernels", tried)
	}
}
