//go:build !race

package rfm

const raceDetector = false
