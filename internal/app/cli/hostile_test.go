package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A label with a newline or a tab is one line and one column of the predictions.
func TestPredictionsAreOneALine(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%d,\"%s\"\n", i%2*10+i%3, i%5, []string{"two\nlines\t", "plain"}[i%2])
	}
	data, m := write(t, dir, "data.csv", text.String()), filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "--label", "y", "-o", m, "--kernel", "rbf", "--features", "64")
	lines := strings.Split(strings.TrimSuffix(ok(t, "predict", m, data), "\n"), "\n")
	if len(lines) != 40 {
		t.Fatalf("%d lines for 40 rows", len(lines))
	}
	for i, line := range lines {
		if want := []string{`"two\nlines\t"`, "plain"}[i%2]; line != want {
			t.Errorf("row %d: %s, want %s", i+1, line, want)
		}
	}
}

// What has no end is refused wherever a file of settings or of rows is read.
func TestFilesWithoutEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	data, zero := write(t, dir, "data.csv", "a,b,y\n1,2,p\n2,1,q\n1,3,p\n3,1,q\n"), "/dev/zero"
	out := filepath.Join(dir, "out")
	for _, args := range [][]string{
		{"inspect", zero}, {"convert", zero, out + ".csv"},
		{"train", data, "-o", out, "--label", "y", "--map", "@" + zero}, {"train", data, "-o", out, "--label", "y", "--bag", "@" + zero},
		{"train", data, "-o", out, "--label", "y", "--test", zero}, {"train", data, "-o", out, "--label", "y", "--landmarks", zero},
		{"tune", data, "-o", out, "--label", "y", "--folds", "2", "--journal", zero}, {"tune", data, "-o", out, "--label", "y", "--folds", "2", "--space", zero},
		{"predict", zero, data}, {"search", zero, data},
	} {
		r := mercer(t, args...)
		if r.code == 0 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, zero) {
			t.Errorf("mercer %s: exit code %d, %s", strings.Join(args, " "), r.code, r.stderr)
		}
	}
}

// Errors name a file and its fault once, and columns take memory in proportion to the size of the file unless one says how wide its rows are.
func TestFaultsAreNamedOnce(t *testing.T) {
	dir := t.TempDir()
	data, out := write(t, dir, "data.csv", curve(60)), filepath.Join(dir, "out")
	if _, err := os.Stat("/dev/full"); err == nil {
		for _, args := range [][]string{
			{"train", data, "-o", "/dev/full", "--learner", "ridge", "--features", "16"},
			{"train", data, "-o", out, "--learner", "ridge", "--features", "16", "--save-stats", "/dev/full"},
			{"index", data, "-o", "/dev/full"},
		} {
			r := mercer(t, args...)
			if r.code != 1 || strings.Count(r.stderr, "/dev/full") != 1 || strings.Count(r.stderr, "no space left") != 1 {
				t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
			}
		}
	}
	wide := write(t, dir, "wide.svm", strings.Repeat("1 1:1 2:1\n-1 2:1 2000000:1\n", 20))
	if r := mercer(t, "train", wide, "-o", out); r.code != 1 || !strings.Contains(r.stderr, "--dim 2000000") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}
