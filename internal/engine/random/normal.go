package random

import "math"

// NormalQuantile returns the x with Φ(x) = p for 0 < p < 1, to about 16 digits: algorithm
// AS 241, PPND16 (Wichura, "The percentage points of the normal distribution", 1988).
func NormalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q * ratio(&centreNum, &centreDen, r))
	}
	r := p
	if q > 0 {
		r = 1 - p
	}
	r = math.Sqrt(-log(r))
	var x float64
	if r <= 5 {
		x = ratio(&middleNum, &middleDen, r-1.6)
	} else {
		x = ratio(&tailNum, &tailDen, r-5)
	}
	if q < 0 {
		return -x
	}
	return x
}

// ratio evaluates a quotient of polynomials whose coefficients stand lowest first.
func ratio(num, den *[8]float64, x float64) float64 {
	a, b := num[7], den[7]
	for i := 6; i >= 0; i-- {
		a = float64(a*x) + num[i]
		b = float64(b*x) + den[i]
	}
	return a / b
}

// The coefficients of Wichura's PPND16, under his names: a and b for |p-½| ≤ 0.425, c and d
// for √(-ln min(p, 1-p)) ≤ 5, e and f beyond.
var (
	centreNum = [8]float64{ // a
		3.3871328727963666080e0, 1.3314166789178437745e2,
		1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4,
		3.3430575583588128105e4, 2.5090809287301226727e3,
	}
	centreDen = [8]float64{ // b
		1, 4.2313330701600911252e1,
		6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4,
		2.8729085735721942674e4, 5.2264952788528545610e3,
	}
	middleNum = [8]float64{ // c
		1.42343711074968357734e0, 4.63033784615654529590e0,
		5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1,
		2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	middleDen = [8]float64{ // d
		1, 2.05319162663775882187e0,
		1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2,
		5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	tailNum = [8]float64{ // e
		6.65790464350110377720e0, 5.46378491116411436990e0,
		1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3,
		2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	tailDen = [8]float64{ // f
		1, 5.99832206555887937690e-1,
		1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5,
		1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

// Normal returns a standard normal number, through its quantile: one Uint64 each.
func (r *Stream) Normal() float64 {
	return NormalQuantile(r.UniformOpen())
}

// FillNormal fills dst with the numbers that Normal returns, rounded to float32.
func (r *Stream) FillNormal(dst []float32) {
	for i := range dst {
		dst[i] = float32(r.Normal())
	}
}
