package kernel

import "math"

// Distance2 returns the squared distance of x and y in the kernel's feature space,
//
//	d² = k(x, x) + k(y, y) - 2k(x, y),
//
// but not by this formula, whose terms cancel where x and y are near: d² is ≥ 0, keeps its
// digits however small it is, and is 0 for equal rows. (arccos has what an error of 10⁻¹⁶ in
// the angle leaves.) poly and exp may overflow to +Inf. It panics if the kernel is not valid
// or the lengths differ.
func (k Kernel) Distance2(x, y []float32) float64 {
	k.check(x, y)
	switch {
	case k.Name == "linear":
		return squared(x, y)
	case k.additive():
		return k.additiveDistance(x, y)
	case k.unit():
		return 2 * k.gap(k.argument(x, y))
	}
	xy := dot(x, y)
	sign := 1.0
	if k.mirrored(xy) {
		sign = -1
	}
	var a, b, s float64
	for i, v := range x {
		v, w := float64(v), sign*float64(y[i])
		a += v * (v - w)
		b += w * (w - v)
		s += (v - w) * (v - w)
	}
	if k.Name == "arccos" {
		return k.arccosDistance(angleOf(x, y), a-b)
	}
	return k.dotDistance(xy, a, b, s)
}

// mirrored says whether k(x, y) is better thought of as k(x, -y), for a polynomial of even
// degree and a negative base.
func (k Kernel) mirrored(xy float64) bool {
	return k.Name == "poly" && k.Degree%2 == 0 && k.Gamma*xy+k.Coef0 < 0
}

// dotDistance returns d² of poly and exp from x·y, a = x·(x-y), b = y·(y-x) and s = ‖x-y‖²,
// which is a + b; with -y for y in a, b and s if k is mirrored.
func (k Kernel) dotDistance(xy, a, b, s float64) float64 {
	a, b, s = k.Gamma*a, k.Gamma*b, k.Gamma*s
	if k.Name == "exp" {
		// e^w (e^a + e^b - 2), and e^a - 1 = a + (e^a - 1 - a).
		w := k.Gamma * xy
		if max(a, b) > 1 {
			return positive(math.Exp(w+a) + math.Exp(w+b) - 2*math.Exp(w))
		}
		return positive(math.Exp(w) * (s + expm2(a) + expm2(b)))
	}
	// With k(x, x) = u^p, k(x, y) = w^p and k(y, y) = v^p, u = w + a and v = w + b. For
	// P_j = u^j - w^j, Q_j = v^j - w^j and S_j = P_j + Q_j,
	//	P_j = u P_(j-1) + a w^(j-1),  S_j = w S_(j-1) + a P_(j-1) + b Q_(j-1) + s w^(j-1),
	// in which no term of S_j is negative if w is not.
	w := k.Gamma*xy + k.Coef0
	if k.mirrored(xy) {
		w, a, b, s = -w, a+2*k.Coef0, b+2*k.Coef0, s+4*k.Coef0
	}
	u, v := max(0, w+a), max(0, w+b)
	if w < 0 || k.Degree > 100 {
		return positive(power(u, k.Degree) + power(v, k.Degree) - 2*power(w, k.Degree))
	}
	P, Q, S, W := 0.0, 0.0, 0.0, 1.0
	for range k.Degree {
		S = w*S + a*P + b*Q + s*W
		P, Q = u*P+a*W, v*Q+b*W
		W *= w
	}
	return positive(S)
}

// positive is x without what rounding may leave below 0. Infinity less infinity, of a
// distance that overflows, is infinity.
func positive(x float64) float64 {
	if x >= 0 {
		return x
	}
	if x < 0 {
		return 0
	}
	return math.Inf(1)
}

// expm2 returns e^x - 1 - x.
func expm2(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return math.Expm1(x) - x
	}
	sum, term := 0.0, x
	for i := 2.0; i < 18; i++ {
		term *= x / i
		sum += term
	}
	return sum
}
