package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestNothingAppearsWithoutCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("half")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the file is there before Commit: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestCommitReplacesAndKeepsMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("new")
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("before Commit the path holds %q", got)
	}
	if err := errors.Join(f.Commit(), f.Close()); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	st, _ := os.Stat(path)
	if string(got) != "new" || st.Mode().Perm() != 0o600 {
		t.Errorf("got %q with mode %v", got, st.Mode())
	}
	if got := entries(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestCommitFollowsSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	os.WriteFile(target, []byte("old"), 0o644)
	if err := os.Symlink(target, link); err != nil {
		testenv.Machine(t, "no symbolic links here: %v", err)
	}
	f, err := Create(link)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("new")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Errorf("the link's target holds %q", got)
	}
	if st, _ := os.Lstat(link); st.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
}

func TestDeviceIsWrittenInPlace(t *testing.T) {
	if _, err := os.Stat(os.DevNull); err != nil || os.DevNull != "/dev/null" {
		testenv.Machine(t, "no /dev/null")
	}
	f, err := Create(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("x")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("%s is no device any more: %v", os.DevNull, err)
	}
}

func TestCreateFailsAtOnce(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(filepath.Join(dir, "no", "m")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := Create(dir); err == nil {
		t.Error("a directory was accepted")
	}
}

// A link whose end is not there yet stays a link; its end is written.
func TestCommitFollowsDanglingLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("sub"), 0o755), os.Symlink("second", at("first")), os.Symlink("sub/end", at("second"))); err != nil {
		testenv.Machine(t, "no symbolic links here: %v", err)
	}
	f, err := Create(at("first"))
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("new")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(at("sub/end")); string(got) != "new" {
		t.Errorf("the end of the links holds %q", got)
	}
	for _, link := range []string{"first", "second"} {
		if st, err := os.Lstat(at(link)); err != nil || st.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	if Target(at("first")) != Target(at("sub/end")) {
		t.Error("a link and its end have two targets")
	}
}

// Links that lead in a circle are no place for a file, and stay as they are.
func TestCirclesOfLinksAreRefused(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := errors.Join(os.Symlink("two", one), os.Symlink(one, two)); err != nil {
		t.Fatal(err)
	}
	f, err := Create(one)
	if err == nil {
		f.Close()
	}
	if err == nil || !strings.Contains(err.Error(), one+": is a link that leads back to itself") {
		t.Error(err)
	}
	if to, err := os.Readlink(one); err != nil || to != "two" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}
