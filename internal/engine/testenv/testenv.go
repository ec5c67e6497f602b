// Package testenv is how a test asks for what a fresh machine has not: public data sets and other
// programs. Where they lack the test is skipped, or fails if the environment has MERCER_CI=1, as
// .ci/run sets: there everything is installed, and an unexpected skip is an error.
//
// Data sets are looked for in ../shared/data beside the project, or in the folder that the
// variable MERCER_DATA names, from the root of the project on if it is no whole path.
//
// A test in another package that calls Skip itself fails TestSkipsAreExpected of the root package,
// unless the reason is -short, the operating system or the race detector.
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Data is the path of a data set, a file or a folder such as "a9a/a9a.gz"; of the folder that has
// all of them for "".
func Data(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("MERCER_DATA")
	if folder == "" {
		folder = "../shared/data"
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(root(t), folder)
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		Missing(t, "no %s: the public data are wanted beside the project, or where MERCER_DATA says", path)
	}
	return path
}

// Program is the path of a program, the first that is installed of several names.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "%s is not installed", strings.Join(names, ", "))
	return ""
}

// Missing is for what else lacks that could be installed.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("MERCER_CI") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Machine skips a test of what this processor or operating system has not, anywhere.
func Machine(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Skipf(format, args...)
}

// started is the folder of the test's package: go test starts tests there, which may go elsewhere.
var started, _ = os.Getwd()

// root is the folder of the project's go.mod, above that of the test; modules inside the project have their own.
func root(t testing.TB) string {
	t.Helper()
	for at := started; ; at = filepath.Dir(at) {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && strings.Fields(string(text))[1] == "mercer" {
			return at
		}
		if at == filepath.Dir(at) {
			t.Fatalf("no go.mod of module mercer in %s or above", started)
		}
	}
}
