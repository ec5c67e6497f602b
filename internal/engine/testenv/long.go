package testenv

import (
	"os"
	"testing"
)

// Long skips a test unless the environment has MERCER_LONG=1. It is for what proves something with
// many seeds or at full size that a quick test of the same package shows in small; guards is what
// only the long one would notice. The file .ci/long lists these tests with their seconds, and
// .ci/run takes some of them for each commit.
func Long(t testing.TB, guards string) {
	t.Helper()
	if os.Getenv("MERCER_LONG") != "1" {
		t.Skipf("long: %s; MERCER_LONG=1 runs it", guards)
	}
}

// Few is some of a test's cases, n of them evenly spaced, and all with MERCER_LONG=1. The test is
// in .ci/long as those are that call Long.
func Few[T any](t testing.TB, cases []T, n int, guards string) []T {
	t.Helper()
	if os.Getenv("MERCER_LONG") == "1" || n >= len(cases) {
		return cases
	}
	few := make([]T, n)
	for i := range few {
		few[i] = cases[i*len(cases)/n]
	}
	t.Logf("%d of %d cases; with all: %s; MERCER_LONG=1 runs them", n, len(cases), guards)
	return few
}

// Tried notes how many cases of a class of hostile things a test has tried, and how many of them have broken something, for the table of
// docs/reliability.md, which .ci/reliability makes of these lines.
func Tried(t testing.TB, class string, tried, broke int) {
	t.Helper()
	t.Logf("tried %s: %d, broke %d", class, tried, broke)
}

// Size is how many rows or the like a test takes: few, and many with MERCER_LONG=1. The test is in .ci/long as those are that call Long.
func Size(t testing.TB, few, many int, guards string) int {
	t.Helper()
	if os.Getenv("MERCER_LONG") == "1" {
		return many
	}
	t.Logf("%d of %d; with all: %s; MERCER_LONG=1 takes them", few, many, guards)
	return few
}
