package serve

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A file that takes the place of another of the same size and time is loaded, once.
func TestReplacedFilesOfOneSizeAndTime(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.mercer")
	if err := peopleOnce()["two"].Save(path); err != nil {
		t.Fatal(err)
	}
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	other := mustWrite(t, filepath.Join(folder, "next"), string(data))
	if err := os.Chtimes(other, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := models.Reload(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := models.loads.Load(); n != 2 {
			t.Errorf("%d loads, want 2: the file was replaced once", n)
		}
	}
}

// Names of folders are no patterns, and unfinished files, whose names begin with a dot, no models.
func TestFoldersOfAnyName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "models [old]*")
	version := filepath.Join(folder, "a", "1")
	mustMake(t, version)
	if err := peopleOnce()["two"].Save(filepath.Join(version, "m.mercer")); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(version, ".m.mercer"), "half of a mod")
	models, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if names := models.Names(); len(names) != 1 || names[0] != "a" {
		t.Errorf("models %q, want a", names)
	}
}
