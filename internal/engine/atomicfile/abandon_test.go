package atomicfile

import (
	"path/filepath"
	"testing"
)

func TestAbandonedFilesNeverAppear(t *testing.T) {
	defer func() { making.abandoned = false }()
	dir := t.TempDir()
	begin := func() *File {
		f, err := Create(filepath.Join(dir, "m"))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := begin(), begin()
	Abandon()
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
	if err := a.Commit(); err == nil {
		t.Error("a file was committed")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Create(filepath.Join(dir, "m")); err == nil {
		t.Error("a file was begun")
	}
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}
