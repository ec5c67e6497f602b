package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainOnComponents(t *testing.T) {
	dir := t.TempDir()
	data, m := filepath.Join(dir, "curve.csv"), filepath.Join(dir, "m.mercer")
	if err := os.WriteFile(data, []byte(curve(300)), 0o666); err != nil {
		t.Fatal(err)
	}
	out := ok(t, "train", data, "-o", m, "--features", "64", "--components", "7")
	if !strings.Contains(out, "reduction 7 principal components of 64 features hold ") {
		t.Error(out)
	}
	out = ok(t, "inspect", m)
	for _, want := range []string{"reduction 7 principal components", "explained variance", "\n  7  "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	r := object(t, ok(t, "train", data, "-o", m, "--features", "64", "--variance-share", "0.9", "--whiten", "--json"))
	reduction := r["trained"].(map[string]any)["training"].(map[string]any)["reduction"].(map[string]any)
	if reduction["share"].(float64) < 0.9 || reduction["whitened"] != true ||
		len(reduction["variances"].([]any)) != int(reduction["components"].(float64)) {
		t.Error(reduction)
	}
	z := filepath.Join(dir, "z.npy")
	r = object(t, ok(t, "transform", data, "-o", z, "--features", "64", "--components", "5", "--json"))
	if r["features"].(float64) != 5 || r["reduction"].(map[string]any)["components"].(float64) != 5 {
		t.Error(r)
	}
	if st, err := os.Stat(z); err != nil || st.Size() != 128+300*5*4 {
		t.Errorf("%+v, %v", st, err)
	}
	out = ok(t, "transform", data, "-o", z, "--fit", data, "--features", "64", "--components", "5")
	if !strings.Contains(out, "300 rows × 5 features") || !strings.Contains(out, "reduction 5 principal") {
		t.Error(out)
	}
}

func TestTrainWithUnlabelledRows(t *testing.T) {
	dir := t.TempDir()
	data, more, m := filepath.Join(dir, "curve.csv"), filepath.Join(dir, "more.csv"), filepath.Join(dir, "m.mercer")
	lines := strings.SplitAfter(strings.TrimSpace(curve(300)), "\n")
	if err := os.WriteFile(data, []byte(strings.Join(lines[:100], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	// The same columns without the last, the label.
	var rest strings.Builder
	for _, line := range lines[100:] {
		rest.WriteString(line[:strings.LastIndex(line, ",")] + "\n")
	}
	if err := os.WriteFile(more, []byte(rest.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	out := ok(t, "train", data, "-o", m, "--features", "64", "--components", "7", "--unlabelled", more)
	if !strings.Contains(out, "with 200 unlabelled rows") {
		t.Error(out)
	}
	for _, wrong := range []struct {
		want string
		args []string
	}{
		{"give --components or --variance-share", nil},
		{"leave out --auto", []string{"--components", "7", "--auto"}},
		{"leave out one of them", []string{"--components", "7", "--save-stats", filepath.Join(dir, "s.stats"), "--learner", "ridge"}},
	} {
		r := mercer(t, append([]string{"train", data, "-o", m, "--features", "64", "--unlabelled", more}, wrong.args...)...)
		if r.code != 2 || !strings.Contains(r.stderr, wrong.want) {
			t.Errorf("%v: %s", wrong.args, r.stderr)
		}
	}
}

func TestTrainSparseWeights(t *testing.T) {
	dir := t.TempDir()
	data, m := filepath.Join(dir, "table.csv"), filepath.Join(dir, "m.mercer")
	var b strings.Builder
	b.WriteString("size,noise,colour,price\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%g,%d,%s,%g\n", float64(i%17)/4, i*37%11, []string{"red", "blue", "green"}[i%3], 5*float64(i%17)+float64(i%7)/100)
	}
	if err := os.WriteFile(data, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	out := ok(t, "train", data, "-o", m, "--kernel", "linear", "--learner", "group-lasso", "--lambda", "3")
	for _, want := range []string{"group-lasso, λ = 3 (given)", "1 of 5 weights are not 0",
		`in use: column "size"`, `dropped out: column "noise", column "colour"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	ok(t, "train", data, "-o", m, "--kernel", "linear", "--learner", "elastic-net", "--l1-ratio", "0.9")
	if out = ok(t, "inspect", m); !strings.Contains(out, "α = 0.9") || !strings.Contains(out, "non-zero weights") {
		t.Error(out)
	}
}
