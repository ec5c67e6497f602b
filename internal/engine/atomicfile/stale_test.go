package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// What a process that was killed left is removed by the next, but neither a file in the making nor what only has a similar name.
func TestStaleFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"m*[a]", "plain"} {
		path := filepath.Join(dir, name)
		stale, others := "."+name+".123.tmp", []string{"." + name + ".123x.tmp", "." + name + "..tmp", name + ".1.tmp", "." + name + ".other.5.tmp"}
		for _, n := range append(others, stale) {
			if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, stale)); err == nil && runtime.GOOS == "linux" {
			t.Error(name, ": the file of a run that was killed is still there")
		}
		for _, f := range []*File{a, b} {
			if err := f.Commit(); err != nil {
				t.Error(name, err)
			}
		}
		for _, n := range others {
			if _, err := os.Stat(filepath.Join(dir, n)); err != nil {
				t.Error(err)
			}
		}
		entries, _ := os.ReadDir(dir)
		if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
			t.Error(name, "is not there")
		}
	}
}

// A name may be as long as the system allows, in letters of any length, and what a killed process left of it is removed.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("x", 255), strings.Repeat("ß", 127), strings.Repeat("€", 85)} {
		path := filepath.Join(dir, name)
		stale := filepath.Join(dir, prefix(path)+"1.tmp")
		if err := os.WriteFile(stale, nil, 0o600); err != nil {
			testenv.Machine(t, "no names of 255 bytes here: %v", err)
		}
		f, err := Create(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := f.Commit(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(stale); err == nil && runtime.GOOS == "linux" {
			t.Error("what was left is still there")
		}
	}
}
