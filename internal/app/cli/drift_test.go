package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestPredictChecksForDrift: rows of the same source pass, shifted ones do not, and predictions are written in both cases.
func TestPredictChecksForDrift(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := func(seed uint64, n int, shift float64) string {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		b.WriteString("a,town,y\n")
		for range n {
			a := r.NormFloat64()
			fmt.Fprintf(&b, "%.3f,%s,%t\n", a+shift, []string{"Kiel", "Bonn"}[r.IntN(2)], a > 0)
		}
		return b.String()
	}
	write(t, ".", "train.csv", rows(1, 900, 0))
	write(t, ".", "same.csv", rows(2, 400, 0))
	write(t, ".", "other.csv", rows(3, 400, 1)+"99,Oslo,true\n")
	ok(t, "train", "train.csv", "-o", "m", "--quick", "--features", "32")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"same.csv", "--check=fail"}, 0, []string{"none of 2 columns has drifted"}},
		{[]string{"other.csv", "--check=fail"}, 3, []string{`column "a" has drifted: its distribution is 0.`, "p < 1e-15", "town 1", " to 99)", "the check of other.csv has failed"}},
		{[]string{"other.csv", "--check"}, 0, []string{`column "a" has drifted`}},
		{[]string{"other.csv", "--check=fail", "--with-input"}, 3, []string{`column "a" has drifted`}},
		{[]string{"other.csv", "--check=loud"}, 2, []string{"known are warn, fail"}},
	} {
		os.Remove("p.csv")
		r := mercer(t, append([]string{"predict", "m", "-o", "p.csv"}, c.args...)...)
		for _, want := range c.want {
			if r.code != c.code || !strings.Contains(r.stderr, want) {
				t.Errorf("%v: exit code %d, want %d, %q:\n%s", c.args, r.code, c.code, want, r.stderr)
			}
		}
		if text, err := os.ReadFile("p.csv"); c.code != 2 && (err != nil || strings.Count(string(text), "\n") < 400) {
			t.Errorf("%v: no predictions: %v", c.args, err)
		}
	}
	write(t, ".", "rows.svm", "1 1:2\n0 1:1\n1 1:3\n0 1:0.5\n")
	ok(t, "train", "rows.svm", "-o", "plain", "--kernel", "linear")
	if r := mercer(t, "predict", "plain", "rows.svm", "--check"); r.code != 1 || !strings.Contains(r.stderr, "knows no ranges") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}
