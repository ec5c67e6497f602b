//go:build !unix

package testenv

import "testing"

// Postgres skips the test: a server of the test's own needs signals and users of Unix.
func Postgres(t testing.TB, settings ...string) (url string, stop func()) {
	t.Helper()
	Machine(t, "a PostgreSQL server is started on Unix only")
	return "", nil
}
