package approx

import "math"

// Rate is a law error = Constant·D^Exponent, fitted by least squares to the logarithms
// of the errors of all seeds and of D, the features that the map has (Point.Outputs), not
// those that were requested. Random maps have the exponent -1/2.
type Rate struct {
	Exponent, Constant float64

	// SE is the standard error of Exponent; nil for two errors, which any law fits.
	SE *float64
}

// FitRate fits a law to errors at numbers of features. It returns nil if an error is 0, or if
// all are at the same D.
func FitRate(features, errors []float64) *Rate {
	n := float64(len(features))
	var mx, my float64
	for i, d := range features {
		if !(errors[i] > 0) {
			return nil
		}
		mx += math.Log(d) / n
		my += math.Log(errors[i]) / n
	}
	var xx, xy, yy float64
	for i, d := range features {
		x, y := math.Log(d)-mx, math.Log(errors[i])-my
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if !(xx > 0) {
		return nil
	}
	r := &Rate{Exponent: xy / xx}
	r.Constant = math.Exp(my - r.Exponent*mx)
	if n > 2 {
		se := math.Sqrt(max(0, yy-r.Exponent*xy) / (n - 2) / xx)
		r.SE = &se
	}
	return r
}

// At is the error that the law gives for D features.
func (r *Rate) At(features float64) float64 { return r.Constant * math.Pow(features, r.Exponent) }

// Features is the D at which the law gives an error; ok is false if errors do not fall with D.
func (r *Rate) Features(err float64) (d float64, ok bool) {
	if r.Exponent >= 0 {
		return 0, false
	}
	return math.Pow(err/r.Constant, 1/r.Exponent), true
}

// fit fits the rates of a curve.
func (c *Curve) fit() {
	law := func(of func(e *Errors) *float64) *Rate {
		var d, e []float64
		for _, p := range c.Points {
			for i := range p.runs {
				v := of(&p.runs[i].errors)
				if v == nil {
					return nil
				}
				d, e = append(d, float64(p.runs[i].outputs)), append(e, *v)
			}
		}
		return FitRate(d, e)
	}
	c.Rate = law(func(e *Errors) *float64 { return &e.MeanAbs })
	c.RateRel = law(func(e *Errors) *float64 { return e.MeanRel })
}
