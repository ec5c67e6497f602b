package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// --landmarks takes a file of rows, in any format, which are scaled like the data; the model
// then has as many features at most, and says its rank.
func TestLandmarksFromAFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	train, test := digitFiles(t)
	dir := t.TempDir()
	text, err := os.ReadFile(train)
	if err != nil {
		t.Fatal(err)
	}
	// The rows without their labels, the last column; the first of them twice.
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	first := 0
	if strings.ContainsAny(lines[0], "abcdefghijklmnopqrstuvwxyz") {
		first = 1
	}
	var rows, svm strings.Builder
	for i := range 120 {
		line := lines[first+max(0, i-1)]
		cells := strings.Split(line[:strings.LastIndex(line, ",")], ",")
		fmt.Fprintln(&rows, strings.Join(cells, ","))
		fmt.Fprint(&svm, "0")
		for j, c := range cells {
			fmt.Fprintf(&svm, " %d:%s", j+1, c)
		}
		fmt.Fprintln(&svm)
	}
	csv, libsvm, model := write(t, dir, "rows.csv", rows.String()), write(t, dir, "rows.svm", svm.String()), filepath.Join(dir, "m.mercer")
	var accuracy any
	for _, path := range []string{csv, libsvm} {
		report := object(t, ok(t, "train", train, "-o", model, "--map", "nystrom", "--landmarks", path, "--scale", "standard",
			"--learner", "ridge", "--lambda", "0.01", "--json", "--test", test))
		if accuracy == nil {
			accuracy = report["accuracy"]
		}
		if a, _ := report["accuracy"].(float64); a < 0.9 || report["accuracy"] != accuracy {
			t.Errorf("%s: accuracy %v, want that of the other file, %v, and above 0.9", path, a, accuracy)
		}
		if shown := ok(t, "inspect", model); !strings.Contains(shown, "rank 119 of 120 landmarks") {
			t.Errorf("inspect does not show the rank of 119 different rows:\n%s", shown)
		}
	}
	wide := strings.Join(lines[first:first+20], "\n") + "\n" // with the column of labels
	labelled := write(t, dir, "labelled.csv", wide)
	below := strings.Split(rows.String(), "\n")[:20]
	below[10] = "0,0,-3" + strings.Repeat(",0", 61)
	negative := write(t, dir, "negative.csv", strings.Join(below, "\n")+"\n")
	chi2 := []string{"--kernel", "chi2", "--scale", "none"}
	narrow := write(t, dir, "narrow.csv", "1,2,3\n4,5,6\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{append([]string{"--landmarks", negative}, chi2...), "mercer train: " + negative + `: row 11, column "2": -3 is too small; chi2`},
		{append([]string{"--landmarks", negative, "--learner", "falkon", "--map", ""}, chi2...), "mercer train: " + negative +
			`: row 11, column "2": -3 is too small; chi2`},
		{[]string{"--landmarks", labelled},
			labelled + ": the landmarks have 65 dimensions, but the rows of the data have 64; landmarks have no labels, so leave out"},
		{[]string{"--landmarks", narrow}, "mercer train: " + narrow + ": the landmarks have 3 dimensions, but the rows of the data have 64"},
		{[]string{"--landmarks", filepath.Join(dir, "none")}, "no such file, nor is it one of uniform, kmeans"},
		{[]string{"--landmarks", csv, "--features", "50"}, "120 landmarks are given, but features is 50"},
		{[]string{"--landmarks", "given"}, "there are none"},
	} {
		r := mercer(t, append([]string{"train", train, "-o", model, "--map", "nystrom"}, c.args...)...)
		if r.code == 0 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: %q, want %q", c.args, r.stderr, c.want)
		}
	}
	for path, want := range map[string]string{negative: `: row 11, column "2": -3 is too small`,
		labelled: ": the landmarks have 65 dimensions"} {
		r := mercer(t, append([]string{"approx", train, "--map", "nystrom", "--landmarks", path}, chi2...)...)
		if r.code == 0 || !strings.Contains(r.stderr, "mercer approx: "+path+want) {
			t.Errorf("approx: %q, want %q", r.stderr, want)
		}
	}
}
