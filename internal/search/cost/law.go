package cost

import (
	"math"
	"slices"
)

// Law is an error a + b·n^-c: a is the part that more rows do not reduce.
type Law struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`

	// Misfit is the root mean squared distance of the points from the law.
	Misfit float64 `json:"misfit"`
}

// At is the law's error for n rows, or features.
func (l *Law) At(n float64) float64 { return l.A + l.B*math.Pow(n, -l.C) }

// fit fits the laws. The source has all rows.
func (c *Curve) fit(all int) {
	c.RowsLaw = fitLaw(c.ByRows, c.Seeds, func(p CurvePoint) float64 { return float64(p.Rows) })
	c.FeaturesLaw = fitLaw(c.ByFeatures, c.Seeds, func(p CurvePoint) float64 { return float64(p.Features) })
	var n, t []float64
	for _, p := range c.ByRows[max(0, len(c.ByRows)-4):] {
		n, t = append(n, float64(p.Rows)), append(t, p.Seconds)
	}
	if len(n) < 3 {
		return // no law for rows either
	}
	c.SecondsFactor, c.SecondsExponent = powerLaw(n, t)
	if c.SecondsExponent < 0 { // milliseconds, which are mostly noise
		c.SecondsFactor, c.SecondsExponent = slices.Max(t), 0
	}
	if c.RowsLaw == nil {
		return
	}
	last := c.ByRows[len(c.ByRows)-1].Rows
	for _, rows := range slices.Compact(slices.Sorted(slices.Values([]int{2 * last, 4 * last, all}))) {
		if rows > last {
			c.Extrapolated = append(c.Extrapolated, Extrapolated{Rows: rows, Test: c.RowsLaw.At(float64(rows)),
				Seconds: c.SecondsFactor * math.Pow(float64(rows), c.SecondsExponent)})
		}
	}
}

// fitLaw fits a + b·n^-c with a, b ≥ 0 and c in (0, 2] to the test errors of at least four points
// by weighted least squares: for each c of a fine grid, a and b follow. The weights come from
// the points' standard errors, taken as at least a hundredth of the error.
func fitLaw(points []CurvePoint, seeds int, size func(CurvePoint) float64) *Law {
	if len(points) < 4 {
		return nil
	}
	best, least := &Law{}, math.Inf(1)
	for c := 0.02; c <= 2.0001; c += 0.01 {
		var w, wx, wxx, wy, wxy float64
		for _, p := range points {
			x, y := math.Pow(size(p), -c), p.Test
			se := max(p.TestSD/math.Sqrt(float64(seeds)), 0.01*y, 1e-12)
			k := 1 / (se * se)
			w, wx, wxx, wy, wxy = w+k, wx+k*x, wxx+k*x*x, wy+k*y, wxy+k*x*y
		}
		b := (w*wxy - wx*wy) / (w*wxx - wx*wx)
		a := (wy - b*wx) / w
		if !(b >= 0) {
			a, b = wy/w, 0
		} else if a < 0 {
			a, b = 0, wxy/wxx
		}
		law := Law{A: a, B: b, C: c}
		loss := 0.0
		for _, p := range points {
			se := max(p.TestSD/math.Sqrt(float64(seeds)), 0.01*p.Test, 1e-12)
			e := (p.Test - law.At(size(p))) / se
			loss += e * e
			law.Misfit += (p.Test - law.At(size(p))) * (p.Test - law.At(size(p))) / float64(len(points))
		}
		law.Misfit = math.Sqrt(law.Misfit)
		if loss < least {
			*best, least = law, loss
		}
	}
	return best
}
