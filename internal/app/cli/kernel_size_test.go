package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A matrix of more than a gigabyte is written where --yes says so, and its size is told.
func TestKernelAsksBeforeItFillsTheDisk(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "k.npy")
	small, large := write(t, dir, "small.csv", strings.Repeat("1,2,a\n3,4,b\n", 10)),
		write(t, dir, "large.csv", strings.Repeat("1,2,a\n3,4,b\n", 6000))
	r := mercer(t, "kernel", large, "-o", out, "--gamma", "1")
	if r.code != 2 || !strings.Contains(r.stderr, "12,000 × 12,000 numbers takes 1.1 GiB in "+out+"; say --yes to write it") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
	if v := object(t, ok(t, "kernel", large, small, "-o", out, "--gamma", "1", "--json")); v["bytes"] != 8*12000*20.0 {
		t.Errorf("%v", v)
	}
	if text := ok(t, "kernel", small, "-o", out); !strings.Contains(text, "20 × 20, float64, 3.1 KiB") {
		t.Errorf("%s", text)
	}
	for _, name := range []string{"k.csv", "k.npz", "k.txt"} {
		if r := mercer(t, "kernel", small, "-o", filepath.Join(dir, name)); r.code != 2 ||
			!strings.Contains(r.stderr, "a matrix is written in NumPy's format; give a name that ends in .npy") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
