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

// An index that comes through a pipe is refused as that, not as damaged.
func TestIndexFromADevice(t *testing.T) {
	if _, err := Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "copy it to one") {
		t.Error(err)
	}
}
