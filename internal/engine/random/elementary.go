package random

import "math"

// The elementary functions that samplers need, from operations that are exact or rounded in
// one defined way (+ - * / and bit patterns), within 2 units in the last place. The series
// are Taylor's: their coefficients need no table.

const (
	// ln 2 in two parts: the first has 17 trailing zero bits, so that its product with an
	// exponent is exact.
	ln2Hi = 0x1.62e42fefa0000p-1
	ln2Lo = 0x1.cf79abc9e3b3ap-40
)

// log returns ln x for a finite normal x > 0.
func log(x float64) float64 {
	bits := math.Float64bits(x)
	e := int(bits>>52) - 1023
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // in [1, 2)
	if m > math.Sqrt2 {
		m *= 0.5
		e++
	}
	// ln m = 2 artanh s = 2(s + s³/3 + s⁵/5 + …), |s| ≤ 0.172.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 0.0
	for k := 23; k >= 3; k -= 2 {
		sum = float64(sum*z) + 1/float64(k)
	}
	small := float64(float64(float64(2*s)*z) * sum)
	return float64(float64(e)*ln2Hi) + (float64(2*s) + (small + float64(float64(e)*ln2Lo)))
}

// exp returns eˣ for |x| < 700.
func exp(x float64) float64 {
	n := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := (x - float64(n*ln2Hi)) - float64(n*ln2Lo) // |r| ≤ 0.347
	sum := 1.0
	for k := 15; k >= 1; k-- {
		sum = float64(float64(sum*r)/float64(k)) + 1
	}
	return float64(sum * math.Float64frombits(uint64(int64(n)+1023)<<52))
}

// tan returns tan(πx) for 0 < x ≤ 1/4.
func tan(x float64) float64 {
	y := float64(math.Pi * x)
	z := float64(y * y)
	sin, cos := 1.0, 1.0
	for k := 20; k >= 2; k -= 2 {
		sin = 1 - float64(float64(sin*z)/float64(k*(k+1)))
		cos = 1 - float64(float64(cos*z)/float64(k*(k-1)))
	}
	return float64(y*sin) / cos
}
