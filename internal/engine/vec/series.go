package vec

import "math"

// Loops over several slices of the length of the first, in which element i depends only on
// elements i. All levels give the same bits.

// mostInSeries is how many elements one call of a kernel gets: it cannot be preempted.
const mostInSeries = 1 << 13

// smallest is the smallest normal number.
const smallest = 0x1p-126

// Roots32 computes positive = max(x, 2⁻¹²⁶), the smallest normal number, and root = √x, which is
// NaN for x < 0. Of a NaN, both are NaN.
func Roots32(positive, root, x []float32) {
	positive, root = positive[:len(x)], root[:len(x)]
	n := rootsBlocks(positive, root, x)
	for i, v := range x[n:] {
		positive[n+i] = max(v, smallest)
		root[n+i] = float32(math.Sqrt(float64(v)))
	}
}

// Sech32 computes first = power·2r/(1+r²) and tanh = (r²-1)/(r²+1) of r = a·root, which it takes for
// 10⁻¹⁸ or 10¹⁸ beyond them: with r = e^(u/2) they are power·sech(u/2) and tanh(u/2).
func Sech32(first, tanh, a, root, power []float32) {
	first, tanh, root, power = first[:len(a)], tanh[:len(a)], root[:len(a)], power[:len(a)]
	for n := sechBlocks(first, tanh, a, root, power); n < len(a); n++ {
		r := min(max(float32(a[n]*root[n]), 1e-18), 1e18)
		square := float32(r * r)
		inverse := 1 / (1 + square)
		first[n] = power[n] * float32(float32(r+r)*inverse)
		tanh[n] = (square - 1) * inverse
	}
}

// Recur32 computes next = alpha·t·last + beta·before. next may be before.
func Recur32(next []float32, alpha float32, t, last []float32, beta float32, before []float32) {
	next, last, before = next[:len(t)], last[:len(t)], before[:len(t)]
	for n := recurBlocks(next, alpha, t, last, beta, before); n < len(t); n++ {
		next[n] = float32(float32(alpha*t[n])*last[n]) + float32(beta*before[n])
	}
}

// Rotate32 multiplies the complex numbers re + i·im by cos + i·sin, and computes even and
// odd, w times the results.
func Rotate32(re, im, cos, sin []float32, even, odd []float32, w float32) {
	re, im, sin, even, odd = re[:len(cos)], im[:len(cos)], sin[:len(cos)], even[:len(cos)], odd[:len(cos)]
	for n := rotateBlocks(re, im, cos, sin, even, odd, w); n < len(cos); n++ {
		x := float32(re[n]*cos[n]) - float32(im[n]*sin[n])
		y := float32(im[n]*cos[n]) + float32(re[n]*sin[n])
		re[n], im[n], even[n], odd[n] = x, y, w*x, w*y
	}
}
