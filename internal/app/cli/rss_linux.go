package cli

import (
	"bytes"
	"os"
	"strconv"
)

// peakRSS is the largest resident memory of the process so far in bytes, 0 if unknown. It
// is read from the process's own status: getrusage would count what was inherited over exec.
func peakRSS() int64 { return kibibytes("/proc/self/status", "VmHWM:") }

// availableMemory is how many bytes could be allocated now without swapping, 0 if unknown.
func availableMemory() int64 { return kibibytes("/proc/meminfo", "MemAvailable:") }

// kibibytes reads a line such as "VmHWM:   1234 kB" of a file in /proc.
func kibibytes(path, key string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) >= 2 && string(f[0]) == key {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n << 10
		}
	}
	return 0
}
