package cli

import (
	"fmt"
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
