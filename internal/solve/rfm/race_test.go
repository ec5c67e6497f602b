//go:build race

package rfm

// Under the race detector pools forget on purpose, so allocations are not counted.
const raceDetector = true
