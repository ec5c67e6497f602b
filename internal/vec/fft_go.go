package vec

// The transform in Go: one level of the tree at a time.

// forwardGo computes the spectrum of x in work, and in dst, which may be work, that spectrum or
// its product with dst.
func (f *FFT) forwardGo(dst, work, x []float32, times bool) {
	half := f.n / 2
	splitReal(work, x[:half], x[half:])
	for size := half; size > 2; size /= 2 {
		splitReal(work[:size], work[:size/2], work[size/2:size])
		for k := 1; k < f.n/size; k++ {
			splitNode(work[k*size:(k+1)*size], f.w[2*k], f.w[2*k+1])
		}
	}
	if times {
		mulGo(dst, dst, work)
	}
}

// splitReal goes from X^m - 1 to X^(m/2) - 1 and X^(m/2) + 1.
func splitReal(z, low, high []float32) {
	plus := z[:len(z)/2]
	minus := z[len(plus):][:len(plus)]
	low, high = low[:len(plus)], high[:len(plus)]
	for j := range plus {
		a, b := low[j], high[j]
		plus[j], minus[j] = a+b, a-b
	}
}

// splitNode goes from Y^m - w² to Y^(m/2) - w and Y^(m/2) + w.
func splitNode(z []float32, c, t float32) {
	m := len(z) / 4
	z0, z1, z2, z3 := z[:m], z[m:2*m], z[2*m:3*m], z[3*m:4*m]
	z1, z2, z3 = z1[:len(z0)], z2[:len(z0)], z3[:len(z0)]
	for j := range z0 {
		ar, br, ai, bi := z0[j], z1[j], z2[j], z3[j]
		tr, ti := br-float32(t*bi), bi+float32(t*br)
		tr, ti = float32(c*tr), float32(c*ti)
		z0[j], z1[j], z2[j], z3[j] = ar+tr, ai+ti, ar-tr, ai-ti
	}
}

// inverseGo climbs the tree, every level times 2. The spectrum is a, or a·b if b is not nil.
func (f *FFT) inverseGo(dst, a, b []float32) {
	if b != nil {
		mulGo(dst, a, b)
		a = dst
	}
	scale := 2 / float32(f.n)
	for j, v := range a {
		dst[j] = scale * v
	}
	for size := 4; size < f.n; size *= 2 {
		joinReal(dst[:size])
		for k := 1; k < f.n/size; k++ {
			joinNode(dst[k*size:(k+1)*size], f.w[2*k], f.w[2*k+1])
		}
	}
	joinReal(dst)
}

// joinReal is the inverse of splitReal, times 2.
func joinReal(z []float32) { splitReal(z, z[:len(z)/2], z[len(z)/2:]) }

// joinNode is the inverse of splitNode, times 2.
func joinNode(z []float32, c, t float32) {
	m := len(z) / 4
	z0, z1, z2, z3 := z[:m], z[m:2*m], z[2*m:3*m], z[3*m:4*m]
	z1, z2, z3 = z1[:len(z0)], z2[:len(z0)], z3[:len(z0)]
	for j := range z0 {
		pr, pi, qr, qi := z0[j], z1[j], z2[j], z3[j]
		dr, di := pr-qr, pi-qi
		br, bi := dr+float32(t*di), di-float32(t*dr)
		z0[j], z1[j], z2[j], z3[j] = pr+qr, float32(c*br), pi+qi, float32(c*bi)
	}
}

// mulGo multiplies spectra whose leaves have their real and imaginary parts together. The
// first is a polynomial modulo X² - 1.
func mulGo(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	re, im := mulReal(x[0], x[1], y[0], y[1])
	for j := 2; j+1 < len(dst); j += 2 {
		a, b, c, d := x[j], x[j+1], y[j], y[j+1]
		dst[j], dst[j+1] = float32(a*c)-float32(b*d), float32(a*d)+float32(b*c)
	}
	dst[0], dst[1] = re, im
}

// mulReal multiplies a + bX and c + dX modulo X² - 1.
func mulReal(a, b, c, d float32) (float32, float32) {
	return float32(a*c) + float32(b*d), float32(a*d) + float32(b*c)
}
