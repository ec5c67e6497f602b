package vec

import "math/bits"

// The transform in Go: two levels of the tree at a time, after one or two if their number
// requires it.

// forwardGo computes the spectrum of x in work, and in dst, which may be work, that spectrum or
// its product with dst.
func (f *FFT) forwardGo(dst, work, x []float32, times bool) {
	size := f.n / 2
	splitReal(work, x[:size], x[size:])
	if bits.TrailingZeros(uint(size))%2 == 0 {
		f.splitFirst(work)
		size /= 2
	}
	for ; size > 2; size /= 4 {
		splitReal(work[:size], work[:size/2], work[size/2:size])
		f.splitFirst(work[:size])
		for k := 1; k < f.n/size; k++ {
			splitTwice(work[k*size:(k+1)*size], f.w[2*k:], f.w[4*k:])
		}
	}
	if times {
		mulGo(dst, dst, work)
	}
}

// splitFirst takes the nodes 0 and 1, which z has, one level down.
func (f *FFT) splitFirst(z []float32) {
	half := len(z) / 2
	splitReal(z[:half], z[:half/2], z[half/2:half])
	splitNode(z[half:], f.w[2], f.w[3])
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

// splitTwice goes from Y^m - w⁴ to Y^(m/4) - w, + w, - iw and + iw. u and v begin with cosine
// and tangent of w² and w.
func splitTwice(z []float32, u, v []float32) {
	m := len(z) / 8
	z0, z1, z2, z3 := z[:m], z[m:2*m], z[2*m:3*m], z[3*m:4*m]
	z4, z5, z6, z7 := z[4*m:5*m], z[5*m:6*m], z[6*m:7*m], z[7*m:8*m]
	z1, z2, z3 = z1[:len(z0)], z2[:len(z0)], z3[:len(z0)]
	z4, z5, z6, z7 = z4[:len(z0)], z5[:len(z0)], z6[:len(z0)], z7[:len(z0)]
	c, t, d, s := u[0], u[1], v[0], v[1]
	for j := range z0 {
		r0, r1, r2, r3 := z0[j], z1[j], z2[j], z3[j]
		i0, i1, i2, i3 := z4[j], z5[j], z6[j], z7[j]
		re, im := float32(c*(r2-float32(t*i2))), float32(c*(i2+float32(t*r2)))
		r0, i0, r2, i2 = r0+re, i0+im, r0-re, i0-im
		re, im = float32(c*(r3-float32(t*i3))), float32(c*(i3+float32(t*r3)))
		r1, i1, r3, i3 = r1+re, i1+im, r1-re, i1-im
		re, im = float32(d*(r1-float32(s*i1))), float32(d*(i1+float32(s*r1)))
		z0[j], z1[j], z2[j], z3[j] = r0+re, i0+im, r0-re, i0-im
		re, im = float32(d*(r3-float32(s*i3))), float32(d*(i3+float32(s*r3)))
		z4[j], z5[j], z6[j], z7[j] = r2-im, i2+re, r2+im, i2-re
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
	size := 8
	for ; size < f.n; size *= 4 {
		f.joinFirst(dst[:size])
		joinReal(dst[:size])
		for k := 1; k < f.n/size; k++ {
			joinTwice(dst[k*size:(k+1)*size], f.w[2*k:], f.w[4*k:])
		}
	}
	if size == f.n {
		f.joinFirst(dst)
	}
	joinReal(dst)
}

// joinFirst is the inverse of splitFirst, times 2.
func (f *FFT) joinFirst(z []float32) {
	half := len(z) / 2
	joinReal(z[:half])
	joinNode(z[half:], f.w[2], f.w[3])
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

// joinTwice is the inverse of splitTwice, times 4.
func joinTwice(z []float32, u, v []float32) {
	m := len(z) / 8
	z0, z1, z2, z3 := z[:m], z[m:2*m], z[2*m:3*m], z[3*m:4*m]
	z4, z5, z6, z7 := z[4*m:5*m], z[5*m:6*m], z[6*m:7*m], z[7*m:8*m]
	z1, z2, z3 = z1[:len(z0)], z2[:len(z0)], z3[:len(z0)]
	z4, z5, z6, z7 = z4[:len(z0)], z5[:len(z0)], z6[:len(z0)], z7[:len(z0)]
	c, t, d, s := u[0], u[1], v[0], v[1]
	for j := range z0 {
		r0, i0, r1, i1 := z0[j], z1[j], z2[j], z3[j]
		r2, i2, r3, i3 := z4[j], z5[j], z6[j], z7[j]
		re, im := r0-r1, i0-i1
		r0, i0 = r0+r1, i0+i1
		r1, i1 = float32(d*(re+float32(s*im))), float32(d*(im-float32(s*re)))
		re, im = i2-i3, r3-r2
		r2, i2 = r2+r3, i2+i3
		r3, i3 = float32(d*(re+float32(s*im))), float32(d*(im-float32(s*re)))
		re, im = r0-r2, i0-i2
		z0[j], z4[j] = r0+r2, i0+i2
		z2[j], z6[j] = float32(c*(re+float32(t*im))), float32(c*(im-float32(t*re)))
		re, im = r1-r3, i1-i3
		z1[j], z5[j] = r1+r3, i1+i3
		z3[j], z7[j] = float32(c*(re+float32(t*im))), float32(c*(im-float32(t*re)))
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
