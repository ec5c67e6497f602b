package testenv

import (
	"flag"
	"runtime"
	"testing"
	"time"
)

// Bounded is deferred in a fuzz target: while new inputs are looked for, one that takes more than a GiB and 64 KiB for each of its
// bytes, all allocations together, or more than 20 seconds, is a failure. Committed inputs run beside other tests, which it would count.
//
//	defer testenv.Bounded(t, len(data))()
func Bounded(t *testing.T, size int) func() {
	worker := flag.Lookup("test.fuzzworker")
	if worker == nil || worker.Value.String() != "true" {
		return func() {}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := time.Now()
	return func() {
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > 1<<30+int64(size)<<16 {
			t.Errorf("%d bytes took %d bytes of memory", size, took)
		}
		if took := time.Since(from); took > 20*time.Second {
			t.Errorf("%d bytes took %v", size, took)
		}
	}
}
