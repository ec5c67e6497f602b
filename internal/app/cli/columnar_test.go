package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Predictions and features in Parquet and Arrow are those in CSV, with the types that they have.
func TestColumnarOutputs(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "flowers.csv", flowers(120)), filepath.Join(dir, "m.mercer")
	at := func(name string) string { return filepath.Join(dir, name) }
	text := func(path string) string {
		ok(t, "convert", path, path+".csv")
		data, err := os.ReadFile(path + ".csv")
		if err != nil || len(data) < 1000 {
			t.Fatalf("%s: %d bytes (%v)", path, len(data), err)
		}
		return string(data)
	}
	ok(t, "train", data, "-o", m, "--quick", "--features", "16", "--progress", "never", "--calibrate", "platt")
	ok(t, "predict", m, data, "--proba", "--with-input", "-o", at("p.csv"))
	want := text(at("p.csv"))
	for _, name := range []string{"p.parquet", "p.arrow", "p.feather", "p.arrows"} {
		ok(t, "predict", m, data, "--proba", "--with-input", "-o", at(name))
		if got := text(at(name)); got != want {
			t.Errorf("%s: %.300q, want %.300q", name, got, want)
		}
	}
	for _, format := range []string{"parquet", "arrow", "arrows", "csv"} { // by what was asked for, whatever the name says
		ok(t, "predict", m, data, "--proba", "--with-input", "-o", at("p.dat"), "--output-format", format)
		if got := text(at("p.dat")); got != want {
			t.Errorf("%s: %.300q, want %.300q", format, got, want)
		}
	}
	if r := mercer(t, "predict", m, data, "--output-format", "xlsx"); r.code != 2 || !strings.Contains(r.stderr, "arrow and arrows") {
		t.Errorf("%d: %s", r.code, r.stderr)
	}
	ok(t, "convert", at("p.parquet"), at("p.jsonl"))
	rows, err := os.ReadFile(at("p.jsonl"))
	if lines := string(rows); err != nil || !strings.Contains(lines, `"prediction":"`) || strings.Contains(lines, `"length":"`) || strings.Contains(lines, `"p_rose":"`) {
		t.Errorf("%.200s", rows)
	}
	ok(t, "transform", m, data, "-o", at("z.npy"))
	array, err := os.ReadFile(at("z.npy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"z.parquet", "z.arrow", "z.arrows"} {
		ok(t, "transform", m, data, "-o", at(name))
		ok(t, "convert", at(name), at("again.npy"), "--label", "none")
		if got, err := os.ReadFile(at("again.npy")); err != nil || !bytes.Equal(got, array) {
			t.Errorf("%s: %d bytes of NPY (%v), want %d", name, len(got), err, len(array))
		}
	}
}
