package dataset

import (
	"math"

	"mercer/matrix"
)

// spreads are the mean of a target and its sum of squares around it.
type spreads struct{ mean, squares float64 }

// addTargets adds the targets of a batch, by Welford's update; textual labels are none.
func (s *Summary) addTargets(b *matrix.Batch) {
	if s.targets == nil {
		s.targets = make([]spreads, b.Outputs)
	}
	for i := range b.X.Len() {
		n := float64(s.Rows + i + 1)
		for t, y := range b.Y[i*b.Outputs : (i+1)*b.Outputs] {
			at := &s.targets[t]
			d := y - at.mean
			at.mean += d / n
			at.squares += float64(d * (y - at.mean))
		}
	}
}

// Target returns the mean of a target over the rows, and its standard deviation. Textual labels have none: NaN.
func (s *Summary) Target(t int) (mean, deviation float64) {
	at := s.targets[t]
	return at.mean, math.Sqrt(at.squares / float64(s.Rows))
}
