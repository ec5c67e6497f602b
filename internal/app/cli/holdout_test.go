package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHoldoutFlags trains and searches with each way to hold rows back, and reads which rows were tested on.
func TestHoldoutFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	var s strings.Builder
	s.WriteString("patient,day,x,part,out\n")
	for i := range 400 {
		fmt.Fprintf(&s, "p%d,2024-%02d-%02d,%d,%s,%d\n", i*7%20, 1+i/40, 1+i%28, i%13, []string{"train", "test"}[i/300], i%13/7)
	}
	if err := os.WriteFile("visits.csv", []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	data := []string{"visits.csv", "--learner", "ridge", "--features", "16", "--progress", "never", "-o", filepath.Join(t.TempDir(), "m")}
	for _, c := range []struct{ flags, want, folds string }{
		{"--holdout 0.25", "25 % of the rows of each class, held back", "stratified"},
		{"--holdout 0.25 --holdout-kind random", "25 % of the rows, held back", "stratified"},
		{"--split-group patient", `4 groups of the column "patient", held back`, "of groups"},
		{"--split-time day --holdout 0.1", `the rows of 2024-10-01 and later by the column "day", held back`, "in the order of time"},
		{"--split-column part", `the rows that the column "part" marks as a test: 100 rows`, "stratified"},
	} {
		flags := strings.Fields(c.flags)
		out := ok(t, append(append([]string{"train"}, data...), flags...)...)
		if !strings.Contains(out, c.want) {
			t.Errorf("train %s: no %q in\n%s", c.flags, c.want, out)
		}
		out = ok(t, append(append([]string{"tune", "--gamma", "median", "--lambda", "trace*0.01,trace*0.1"}, data...), flags...)...)
		if !strings.Contains(out, c.want) || !strings.Contains(out, c.folds) {
			t.Errorf("tune %s: no %q or %q in\n%s", c.flags, c.want, c.folds, out)
		}
	}
}
