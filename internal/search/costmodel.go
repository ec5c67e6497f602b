package search

import (
	"math"
	"slices"

	"mercer/train"
)

// solveExponent says how the time to solve for statistics of D features grows with D.
const solveExponent = 2.5

// chooseRows is the number of rows beyond which choosing C takes no longer: learn.ChooseC fits
// two thirds of them, at most 4,096.
const chooseRows = 6144

// costModel predicts the seconds of the stages of a training.
type costModel struct {
	read, each float64 // seconds per row, and per row and feature to map
	solve      func(n, d int) float64
	metric     float64 // seconds for a unit of metricWork

	// exponent is the p of the rows, if it comes from the trials.
	exponent float64
}

// newCostModel fits the model to trials.
func newCostModel(plan *train.Plan, trials []Timing) *costModel {
	m := &costModel{}
	m.read = leastRatio(trials, func(t Timing) (float64, float64) { return float64(t.Rows), t.Read })
	m.each = leastRatio(trials, func(t Timing) (float64, float64) { return float64(t.Rows) * float64(t.Features), t.Map })
	m.metric = leastRatio(trials, func(t Timing) (float64, float64) {
		if t.Metric == 0 {
			return 0, 0
		}
		return metricWork(plan, t.Rows), t.Metric
	})
	nd2 := func(n, d int) float64 { return float64(n) * float64(d) * float64(d) }
	// Factorising takes D³ operations, but in this range their speed grows with D: from D = 512 to
	// 4096 the measured time grew like D^2.2 to D^2.5.
	solving := func(n, d int) float64 { return math.Pow(float64(d), solveExponent) }
	if plan.Statistics {
		a, b := leastPair(trials, nd2, solving)
		if wide := widest(trials); wide[0].Collect > 0 {
			// With more features each of their products is faster.
			a = leastRatio(wide, func(t Timing) (float64, float64) { return nd2(t.Rows, t.Features), t.Collect })
			b = leastRatio(wide, func(t Timing) (float64, float64) { return solving(t.Rows, t.Features), t.Solve - t.Collect })
		}
		m.solve = func(n, d int) float64 { return a*nd2(n, d) + b*solving(n, d) }
		m.exponent = 1
		return m
	}
	// Use the trials with as many features as the first.
	var n, t []float64
	for _, x := range trials {
		if plan.LinearFrom > 0 && x.Rows > plan.LinearFrom && len(n) >= 2 {
			continue
		}
		if x.Features == trials[0].Features || plan.Fixed {
			n, t = append(n, float64(x.Rows)), append(t, x.Solve-x.Choose)
		}
	}
	low, high, byFeatures := 1.0, 1.5, 1.0
	if plan.Exact {
		low, high, byFeatures = 1, 3, 0
	}
	_, p := powerLaw(n, t)
	// Times on few rows are uncertain: eightfold growth is trusted, less growth only in part.
	usual := (low + high) / 2
	trust := min(math.Log2(slices.Max(n)/slices.Min(n))/3, 1)
	if plan.Exact {
		trust = 1 // their time grows steadily
	}
	m.exponent = usual + trust*(min(max(p, low), high)-usual)
	work := func(n, d int) float64 {
		times := 1.0
		if from := plan.LinearFrom; from > 0 && n > from {
			n, times = from, float64(n)/float64(from)
		}
		return times * math.Pow(float64(n), m.exponent) * math.Pow(float64(d), byFeatures)
	}
	c := leastRatio(trials, func(t Timing) (float64, float64) { return work(t.Rows, t.Features), t.Solve - t.Choose })
	choosing := func(n, d int) float64 { return work(min(n, chooseRows), d) }
	choose := leastRatio(trials, func(t Timing) (float64, float64) { return choosing(t.Rows, t.Features), t.Choose })
	m.solve = func(n, d int) float64 { return c*work(n, d) + choose*choosing(n, d) }
	return m
}

// metricRounds is about how many machines are fitted to learn a metric.
const metricRounds = 20

// metricWork grows like the time of learning a metric from n rows, which fits machines on landmarks, as often on many rows as on few.
func metricWork(plan *train.Plan, n int) float64 {
	m := float64(min(n, plan.MetricRows))
	l := min(m, float64(plan.MetricCentres))
	return m*l*l + l*l*l
}

// widest returns the trials with the most features.
func widest(trials []Timing) (wide []Timing) {
	for _, t := range trials {
		if wide != nil && t.Features > wide[0].Features {
			wide = nil
		}
		if wide == nil || t.Features == wide[0].Features {
			wide = append(wide, t)
		}
	}
	return wide
}

// seconds returns the seconds of reading, mapping and solving n rows of d features.
func (m *costModel) seconds(n, d int) (read, mapping, solve float64) {
	return m.read * float64(n), m.each * float64(n) * float64(d), m.solve(n, d)
}

// weight of a trial in a fit: errors are relative to the time it took, and larger
// trials, which resemble the training more, count more.
func weight(t Timing, seconds float64) float64 {
	return float64(t.Rows) * float64(t.Features) / max(seconds*seconds, 1e-12)
}

// leastRatio is c of seconds = c·work with the least squared relative error.
func leastRatio(trials []Timing, of func(t Timing) (work, seconds float64)) float64 {
	ab, aa := 0.0, 0.0
	for _, t := range trials {
		work, seconds := of(t)
		w := weight(t, seconds)
		ab += w * work * seconds
		aa += w * work * work
	}
	if aa == 0 {
		return 0
	}
	return ab / aa
}

// leastPair returns a, b ≥ 0 of a·f + b·g seconds for solving, with the least squared relative error.
func leastPair(trials []Timing, f, g func(n, d int) float64) (a, b float64) {
	var ff, fg, gg, ft, gt float64
	for _, t := range trials {
		x, y, w := f(t.Rows, t.Features), g(t.Rows, t.Features), weight(t, t.Solve)
		ff, fg, gg = ff+w*x*x, fg+w*x*y, gg+w*y*y
		ft, gt = ft+w*x*t.Solve, gt+w*y*t.Solve
	}
	if det := ff*gg - fg*fg; det > 1e-9*ff*gg {
		a, b = (ft*gg-gt*fg)/det, (gt*ff-ft*fg)/det
		if a >= 0 && b >= 0 {
			return a, b
		}
	}
	if b < 0 || gg == 0 || gt <= 0 {
		return ft / max(ff, math.SmallestNonzeroFloat64), 0
	}
	return 0, gt / gg
}

// powerLaw fits t = c·n^p by least squares of logarithms; numbers that are not positive are
// ignored. With fewer than two different n it sets p = 1.
func powerLaw(n, t []float64) (c, p float64) {
	var x, y []float64
	for i := range n {
		if n[i] > 0 && t[i] > 0 {
			x, y = append(x, math.Log(n[i])), append(y, math.Log(t[i]))
		}
	}
	if len(x) == 0 {
		return 0, 1
	}
	mx, _ := meanError(x)
	my, _ := meanError(y)
	xy, xx := 0.0, 0.0
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
	}
	p = 1
	if xx > 0 {
		p = xy / xx
	}
	return math.Exp(my - p*mx), p
}
