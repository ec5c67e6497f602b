package neighbours

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An index that becomes shorter while it is in use is an error of whatever reads it, on any goroutine, and nothing is left.
func TestIndexThatBecomesShorter(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rows := normal(3000, 8, 1)
	for name, use := range map[string]func(x *Index, out string) error{
		"search":     func(x *Index, _ string) error { _, err := x.Search(rows, Options{K: 3}); return err },
		"one row":    func(x *Index, _ string) error { _, err := x.Search(rows.Slice(0, 1), Options{K: 3}); return err },
		"candidates": func(x *Index, _ string) error { _, err := x.Search(rows, Options{K: 3, Candidates: 9}); return err },
		"probes":     func(x *Index, _ string) error { _, err := x.Search(rows, Options{K: 3, Probes: 2}); return err },
		"delete": func(x *Index, out string) error {
			_, err := x.Delete(context.Background(), out, []int64{2900})
			return err
		},
		"add": func(x *Index, out string) error {
			_, err := x.Add(context.Background(), out, source(t, rows), nil)
			return err
		},
	} {
		path, x := build(t, rows, mapping(t, 8, rbf), Config{Codes: Signs, Bits: 64, Cells: 4})
		if err := os.Truncate(path, 4096); err != nil {
			t.Fatal(err)
		}
		out := t.TempDir()
		if err := use(x, filepath.Join(out, "out")); err == nil || !strings.Contains(err.Error(), path+": cannot be read any more") {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// A search of all rows finds any change of their features, another one those that make them no numbers.
func TestSearchOfDamagedFeatures(t *testing.T) {
	rows := normal(300, 8, 1)
	path, whole := build(t, rows, mapping(t, 8, rbf), Config{Codes: Signs, Bits: 64, Cells: 2})
	for bit, options := range map[byte][]Options{
		1:   {{K: 3}},
		127: {{K: 3}, {K: 3, Candidates: 200}, {K: 3, Probes: 2}}, // with the bits below all of an exponent
	} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 300 {
			at := align + 4*row*whole.info.Features
			if file[at] ^= 1; bit == 127 {
				file[at+2], file[at+3] = 0xff, 127
			}
		}
		damaged := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(damaged, file, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, opt := range options {
			if found, err := open(t, damaged).Search(rows, opt); err == nil || !strings.Contains(err.Error(), damaged+": the features of the index are damaged") {
				t.Errorf("bit %d, %+v: %v, %v", bit, opt, found[0], err)
			}
		}
	}
}

// An index that comes through a pipe is refused as that, not as damaged.
func TestIndexFromADevice(t *testing.T) {
	if _, err := Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "copy it to one") {
		t.Error(err)
	}
}
