package cli

import (
	"fmt"
	"strings"
	"testing"
)

// What a map or a pooling takes where nothing is said is shown by train, inspect and transform, as
// text and as JSON.
func TestChoicesAreShown(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "c.csv", tinted(0))
	var b strings.Builder
	b.WriteString("item,red,green,blue,class\n")
	for i := range 160 {
		fmt.Fprintf(&b, "i%d,%d,%d,%d,%c\n", i/4, i%5, i%7, i%11, 'a'+i/4%2)
	}
	write(t, dir, "bags.csv", b.String())
	for _, c := range []struct{ flags, want string }{
		{"--kernel poly --degree 2 --map pk-rp --features 64", "map pk-rp, 64 features, seed 1 (pool 64, t 1)"},
		{"--kernel poly --degree 3 --map pk-rp --features 64 --pool 16 --t 2 --entries sparse",
			"map pk-rp, 64 features, seed 1 (pool 16, t 2, sparsity 3)"},
		{"--kernel chi2 --scale none", "map homogeneous, 15 features, seed 1 (period "},
		{"--kernel chi2 --scale none", ", fitted weights)"},
		{"--kernel chi2 --map homogeneous --scale none --period 0.5 --window uniform", "map homogeneous, 15 features, seed 1\n"},
		{`--scale none --map {"map":"chain","steps":[{"map":"chebyshev","kernel":{"name":"chi2"}},{"map":"rff","features":32}]}`,
			"map chain of chebyshev (chi2), rff (rbf"},
	} {
		args := strings.Fields(c.flags)
		train := ok(t, append([]string{"train", "c.csv", "-o", "m"}, args...)...)
		for name, text := range map[string]string{
			"train": train, "inspect": ok(t, "inspect", "m"),
			"transform": ok(t, append([]string{"transform", "c.csv", "-o", "z.npy", "--fit", "c.csv"}, args...)...),
		} {
			if text = unspaced(text); !strings.Contains(text, c.want) {
				t.Errorf("%s %s: no %q in\n%s", name, c.flags, c.want, text)
			}
			if strings.Contains(text, " 0 features") {
				t.Errorf("%s %s: a step of 0 features in\n%s", name, c.flags, text)
			}
		}
	}
	json := ok(t, "transform", "c.csv", "-o", "z.npy", "--kernel", "poly", "--map", "pk-rp", "--features", "64", "--json")
	if !strings.Contains(json, "pool 64, t 1") || !strings.Contains(json, `"pk-rp"`) {
		t.Errorf("transform --json: %s", json)
	}

	bags := []string{"train", "bags.csv", "-o", "b", "--group", "item", "--pooling", "cbp-krp", "--bag-features", "32"}
	const want = "cbp-krp, 32 features, seed 1 (pool 128, t 2, sparsity 1)"
	for name, text := range map[string]string{"train": ok(t, bags...), "inspect": ok(t, "inspect", "b")} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", name, want, text)
		}
	}
	if text := ok(t, "inspect", "b", "--json"); !strings.Contains(text, "pool 128, t 2, sparsity 1") {
		t.Errorf("inspect --json: %s", text)
	}
}

// unspaced is a text in which one blank separates words.
func unspaced(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n") + "\n"
}
