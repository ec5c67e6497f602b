package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Predictions of targets around a trillion have the digits behind the point, in each output format and by the metrics.
func TestPredictsTargetsFarFromZero(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for i := range 400 {
		a, b := math.Sin(float64(i)), math.Cos(float64(3*i))
		fmt.Fprintf(&rows, "%.6f,%.6f,%.6f\n", a, b, 1e12+a*b)
	}
	data, m := filepath.Join(dir, "far.csv"), filepath.Join(dir, "far.model")
	if err := os.WriteFile(data, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ok(t, "train", data, "--label", "y", "-o", m, "--learner", "ridge", "--features", "200")
	for _, how := range [][]string{nil, {"--scores"}, {"--json"}, {"-o", filepath.Join(dir, "p.csv")}, {"-o", filepath.Join(dir, "p.jsonl")}} {
		out := ok(t, append([]string{"predict", m, data}, how...)...)
		if len(how) == 2 {
			text, err := os.ReadFile(how[1])
			if err != nil {
				t.Fatal(err)
			}
			out = string(text)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		line := lines[len(lines)-1]
		numbers := strings.FieldsFunc(line, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) })
		found := false
		for _, word := range numbers {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil || v < 1e11 {
				continue
			}
			found = true
			if want := 1e12 + math.Sin(399)*math.Cos(3*399); math.Abs(v-want) > 0.02 {
				t.Errorf("%q: %s, want %.6f", how, line, want)
			}
		}
		if !found {
			t.Errorf("%q: no prediction in %q", how, line)
		}
	}
	if out := ok(t, "eval", m, data, "--json"); !strings.Contains(out, `"r2":0.99`) && !strings.Contains(out, `"r2": 0.99`) {
		t.Errorf("R² is not above 0.99: %s", out)
	}
}

// Times in milliseconds over a minute tell classes apart, and exports, which compute in float32, refuse them by a sentence.
func TestInputsFarFromZero(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("when,b,y\n")
	for i := range 300 {
		at := i * 7919 % 60000
		fmt.Fprintf(&rows, "%d,%.3f,%c\n", 1_700_006_400_000+int64(at), math.Sin(float64(i)), "pq"[at/30000])
	}
	data, m := filepath.Join(dir, "far.csv"), filepath.Join(dir, "far.model")
	if err := os.WriteFile(data, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := mercer(t, "train", data, "--label", "y", "-o", m, "--learner", "svm", "--features", "64"); r.code != 0 ||
		!strings.Contains(r.stderr, "the smallest is subtracted from all") {
		t.Fatalf("%d, %s", r.code, r.stderr)
	}
	if out := ok(t, "eval", m, data, "--json"); !strings.Contains(out, `"accuracy":0.99`) && !strings.Contains(out, `"accuracy":1,`) {
		t.Errorf("%.200s", out)
	}
	for _, target := range []string{"onnx", "npz", "postgres"} {
		if r := mercer(t, "export", m, "--target", target, "-o", filepath.Join(dir, "out")); r.code != 1 ||
			!strings.Contains(r.stderr, `the column "when" is taken less 17000064`) {
			t.Errorf("%s: %d, %s", target, r.code, r.stderr)
		}
	}
}
