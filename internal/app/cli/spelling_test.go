package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Classes that are whole numbers are predicted as they were written, and numbers to predict with many digits are numbers in every command.
func TestLabelsArePredictedAsTheyWereWritten(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m.mercer")
	for _, labels := range [][]string{{"1234567890123456789", "1234567890123456790", "42"}, {"1000000", "20240101", "25000000"}, {"007", "010", "100"}} {
		var csv, svm strings.Builder
		csv.WriteString("a,b,y\n")
		for i := range 90 {
			fmt.Fprintf(&csv, "%d,%d,%s\n", i%3, i%5, labels[i%3])
			fmt.Fprintf(&svm, "%s 1:%d 2:%d\n", labels[i%3], i%3, i%5)
		}
		for name, text := range map[string]string{"d.csv": csv.String(), "d.svm": svm.String()} {
			data := write(t, dir, name, text)
			ok(t, "train", data, "-o", m, "--task", "classify", "--quick", "--holdout", "0.3")
			if said := ok(t, "eval", m, data); !strings.Contains(said, "100.00 %") {
				t.Errorf("%s of %v: %s", name, labels, said)
			}
			got := strings.Fields(ok(t, "predict", m, data))
			for i, label := range got {
				if label != labels[i%3] {
					t.Fatalf("%s: row %d is predicted as %s, its label is %s", name, i, label, labels[i%3])
				}
			}
			if len(got) != 90 || !slices.Contains(got, labels[1]) {
				t.Errorf("%d predictions", len(got))
			}
		}
	}
	var times strings.Builder
	times.WriteString("a,at\n")
	for i := range 200 {
		fmt.Fprintf(&times, "%d,17000000000000%05d\n", i%40, i%40*1000+i)
	}
	data := write(t, dir, "times.csv", times.String())
	ok(t, "train", data, "-o", m, "--quick", "--holdout", "0.2")
	ok(t, "eval", m, data)
	ok(t, "explain", m, data)
	ok(t, "compare", data, m, m, "--resamples", "100")
}
