package learn

import "testing"

// Scores are sums in float32, so near the minimum f may seem to grow by rounding alone: there the
// slope at the trial point decides whether it is taken.
func TestALineSearchIsNotEndedByRounding(t *testing.T) {
	const before, slope = 1000.0, -1e-6 // f and its slope along s = 1 at the last point accepted
	for _, c := range []struct {
		name     string
		f, slope float64 // at the trial point
		want     bool
	}{
		{"less by more than the slope asks", before - 1e-6, 0, true},
		{"more by rounding, at the minimum along s", before * (1 + 1e-8), 0, true},
		{"more by rounding, still falling", before * (1 + 1e-8), slope, true},
		{"more by rounding, rising as steeply as it fell", before * (1 + 1e-8), -slope, false},
		{"less by rounding, rising steeply", before * (1 - 1e-14), -100 * slope, false},
		{"more, at a minimum", before * (1 + 1e-4), 0, false},
		{"much less, rising", before * (1 - 1e-4), -slope, true},
	} {
		n := newNewton([]bool{false}, nil, 1e-3, 10)
		n.f, n.slope, n.alpha, n.s[0] = before, slope, 1, 1
		n.loss, n.out[0] = c.f, c.slope
		if got := n.acceptable(); got != c.want {
			t.Errorf("%s: acceptable is %t", c.name, got)
		}
		if !c.want && !(n.alpha < 1 && n.x[0] == n.alpha) {
			t.Errorf("%s: the next trial point is %v of the step, at %v", c.name, n.alpha, n.x[0])
		}
	}
}
