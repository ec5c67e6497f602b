//go:build race

package cli

// The race detector takes memory of its own, so the peak says nothing.
const raceDetector = true
