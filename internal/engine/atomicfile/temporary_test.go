package atomicfile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"
)

// A temporary file can be written and read, has no name where the system can do that, and is gone when it is closed.
func TestTemporaryFilesAreGone(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateTemporary(dir, "mercer-*")
	if err != nil {
		t.Fatal(err)
	}
	if left := entries(t, dir); len(left) > 0 && runtime.GOOS != "windows" {
		t.Errorf("it has a name: %v", left)
	}
	b := make([]byte, 4)
	if _, err := f.WriteString("text"); err != nil {
		t.Error(err)
	}
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "text" {
		t.Errorf("read %q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left := entries(t, dir); len(left) > 0 {
		t.Errorf("it is left: %v", left)
	}
	if _, err := CreateTemporary(filepath.Join(dir, "none"), "mercer-*"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	t.Setenv("TMPDIR", dir)
	if f, err = CreateTemporary("", "mercer-*"); err != nil {
		t.Fatal(err)
	}
	f.Close()
}
