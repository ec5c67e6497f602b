package hypothesis

import (
	"runtime"
	"testing"
)

// threads runs body with a number of threads.
func threads(t *testing.T, n int, body func()) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	defer runtime.GOMAXPROCS(before)
	body()
}
