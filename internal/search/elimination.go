package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/units"
)

// A racer is dropped if it is this many standard errors behind: on the first
// rung, where a map that is better with more rows may still be behind; on later ones; and in the
// worse half of those that are left.
const (
	firstBehind = 3
	laterBehind = 2
	halfBehind  = 1.5
)

// usualExponent says how the time of a training grows with its rows as long as nothing is known: D
// grows with them too, up to a limit.
const usualExponent = 1.5

// close says that the gap is small enough for a racer to stay on a later rung.
func (r Run) close() bool { return r.Gap <= laterBehind*r.Noise }

// compare computes how far the racers of a rung are behind its best, and sorts them, best
// first.
func (r *racing) compare(done []*Racer) {
	slices.SortStableFunc(done, func(a, b *Racer) int { return cmp.Compare(a.mean(), b.mean()) })
	best := done[0].loss
	for _, c := range done {
		d := make([]float64, len(best))
		for i, v := range c.loss {
			d[i] = v - best[i]
		}
		last := &c.Runs[len(c.Runs)-1]
		if of := r.sample.clusters; of == nil {
			last.Gap, last.Noise = meanError(d)
		} else {
			last.Gap, last.Noise = clusterError(d, of)
		}
	}
}

// drop drops racers that are behind for good; done is sorted, best first. It returns those
// that remain.
func (r *racing) drop(done []*Racer) (left []*Racer) {
	for rank, c := range done {
		last := c.Runs[len(c.Runs)-1]
		needed := float64(laterBehind)
		switch {
		case len(c.Runs) == 1:
			needed = firstBehind
		case rank >= (len(done)+1)/2:
			needed = halfBehind
		}
		behind := last.Gap > needed*last.Noise && rank > 0
		if len(c.Runs) > 1 {
			// If the gap is closing fast enough to vanish on the next rung, the racer stays.
			before := c.Runs[len(c.Runs)-2]
			behind = behind && 2*last.Gap-before.Gap > last.Noise
		}
		if !behind {
			left = append(left, c)
			continue
		}
		c.last = nil
		c.Dropped = "behind " + done[0].Name + " by " + r.result.gapText(last, done[0])
	}
	return left
}

// gapText says how far a run is behind the best of its rung, with the noise.
func (r *RaceResult) gapText(run Run, best *Racer) string {
	on, loss := units.Count(run.Rows), best.mean()
	switch {
	case r.Metric == "log_loss":
		return fmt.Sprintf("a log loss of %s ± %s on %s rows", twoDigits(run.Gap), twoDigits(run.Noise), on)
	case r.Metric != "rmse":
		return fmt.Sprintf("%s ± %s points on %s rows", twoDigits(100*run.Gap), twoDigits(100*run.Noise), on)
	case loss == 0:
		return fmt.Sprintf("a squared error of %.2g ± %.1g on %s rows", run.Gap, run.Noise, on)
	}
	return fmt.Sprintf("%s ± %s %% of its squared error on %s rows", twoDigits(100*run.Gap/loss), twoDigits(100*run.Noise/loss), on)
}

// twoDigits formats a number with two digits, but does not round beyond whole numbers.
func twoDigits(v float64) string {
	if v >= 9.95 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// affordable returns as many of the racers, best first, as there is time to train on the given number of
// rows. It drops the others.
func (r *racing) affordable(alive []*Racer, rows int) []*Racer {
	if r.Budget <= 0 {
		return alive
	}
	left := r.left().Seconds()
	for k, c := range alive {
		left -= c.predicted(rows)
		if left >= 0 {
			continue
		}
		if k < 2 {
			return nil
		}
		for _, c := range alive[k:] {
			last, _ := c.Last()
			c.Dropped = fmt.Sprintf("the time for this race has room for %d candidates on %s rows, and it is behind %s by %s",
				k, units.Count(rows), alive[0].Name, r.result.gapText(last, alive[0]))
		}
		return alive[:k]
	}
	return alive
}

// predicted is the expected number of seconds of the racer's next run.
func (r *Racer) predicted(rows int) float64 {
	last, p := r.Runs[len(r.Runs)-1], usualExponent
	if len(r.Runs) > 1 {
		before := r.Runs[len(r.Runs)-2]
		p = math.Log(last.Seconds/before.Seconds) / math.Log(float64(last.Rows)/float64(before.Rows))
		p = min(max(p, 1), 3)
	}
	return last.Seconds * math.Pow(float64(rows)/float64(last.Rows), p)
}
