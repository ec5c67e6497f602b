//go:build !linux

package cli

import "runtime"

// peakRSS is close to the largest memory that the process has held: what the Go runtime
// obtained from the system.
func peakRSS() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// availableMemory is unknown here: training is not bounded unless --memory says so.
func availableMemory() int64 { return 0 }
