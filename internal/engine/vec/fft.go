package vec

import (
	"fmt"
	"math"
	"math/bits"

	"mercer/internal/engine/freelist"
)

// The Fourier transform of real numbers as reduction of polynomials (Fiduccia 1972; in real
// arithmetic Bruun 1978 and Bernstein 2001). x₀ + x₁X + … + x_{n-1}X^{n-1} is an element of
// ℝ[X]/(X^n - 1), its spectrum is its values at the roots of X^n - 1, and between the
// two is a binary tree of residues:
//
//	X^m - 1  →  X^(m/2) - 1,  X^(m/2) + 1            reals, m of them in memory
//	X^m + 1  =  Y^(m/2) - i,  Y = X                  the same m reals as m/2 complex numbers,
//	                                                 z_j = x_j + i·x_{j+m/2}: nothing to do
//	Y^m - c  →  Y^(m/2) - w,  Y^(m/2) + w,  w² = c   a ± wb, a and b the halves
//
// A node of the tree has its numbers contiguous, real parts first, and its children
// replace it. Node 0 of every level is real, node 1 has c = i, nodes 2k and 2k+1 are the
// children of k. So the transform is in place; real numbers need neither be paired before it
// nor separated after it; the twiddle w belongs to a node, not to an element, and one table
// serves all levels; and a butterfly is six multiply-adds:
//
//	a ± c·((b_r - t·b_i) + i·(b_i + t·b_r)),  c = cos, t = tan of w's angle.
//
// The inverse climbs the same tree. A spectrum is the leaves in their order in memory, which
// is a bit reversal of the frequencies, so that neither direction reverses bits.

// FFT is a plan for discrete Fourier transforms of n real numbers,
//
//	X_k = Σ_j x_j·exp(-2πi·jk/n),  0 ≤ j < n,
//
// and the products of spectra for circular convolutions. A spectrum is n float32 in an
// order chosen for speed, which Natural undoes; sums and multiples of spectra are spectra.
// The order differs between lengths and machines: spectra must not be saved.
//
// For powers of two from 8 to 2²⁰ the cost is that of 1.5·n·log₂n multiply-adds forward and
// 2·n·log₂n back. Every other length uses gonum's transform in float64, about 70
// times slower, and in O(n·p) for a large prime factor p of n. The root-mean-square error of a
// transform is below 2⁻²⁴·log₂n times the root-mean-square of the result. Numbers up to 2¹²⁷/n²
// do not overflow.
//
// A plan is immutable and safe for concurrent use. Its methods do not allocate
// after the first calls.
type FFT struct {
	n      int
	lanes  int       // of the kernels: nodes are split down to this size; 1 means Go
	w      []float32 // cosine and tangent of each node's w
	leaf   []float32 // the same in the order of the kernel of the last levels
	splits []int     // levels of each pass of Forward before the last levels
	joins  []int     // of Inverse, in the same order
	free   freelist.Slices[float32]
	plain  *plainFFT // for lengths that are not powers of two, or too small or large
}

// maxFFT is the largest length of a fast transform.
const maxFFT = 1 << 20

// NewFFT returns a plan for n numbers, n at least 1.
func NewFFT(n int) *FFT {
	if n < 1 {
		panic(fmt.Sprintf("vec: a Fourier transform of %d numbers", n))
	}
	f := &FFT{n: n, lanes: 1}
	f.free.Make = aligned[float32]
	if n < 8 || n > maxFFT || n&(n-1) != 0 {
		f.plain = newPlainFFT(n)
		return f
	}
	f.lanes = fftLanes(n)
	f.w = make([]float32, n/(2*f.lanes))
	for k := range len(f.w) / 2 {
		f.w[2*k], f.w[2*k+1] = nodeTwiddle(k)
	}
	f.prepare()
	return f
}

// Len is n.
func (f *FFT) Len() int { return f.n }

// nodeAngle returns the position of Y on the unit circle at the leaf k, or that of the square of w
// of the node k: the angle is a turn times t/2^b. In binary it is the digits of k after the first,
// in reverse, then 01. Node 0 is real; -¼ is what makes 2·0 and 2·0+1 like 2k and 2k+1, whose w
// differ by a factor i.
func nodeAngle(k int) (t, b int) {
	if k == 0 {
		return -1, 2
	}
	digits := bits.Len(uint(k)) - 1
	low := uint64(k) &^ (1 << digits)
	return int(bits.Reverse64(low)>>(64-digits))<<2 | 1, digits + 2
}

// nodeTwiddle is the cosine and tangent of w of the node k. The cosine is never 0.
func nodeTwiddle(k int) (c, t float32) {
	turns, b := nodeAngle(k)
	sin, cos := math.Sincos(math.Ldexp(float64(turns), -b) * math.Pi)
	return float32(cos), float32(sin / cos)
}

// place is the indices of the real and the imaginary part of the leaf k in a spectrum.
func (f *FFT) place(k int) (re, im int) {
	if f.lanes == 1 {
		return 2 * k, 2*k + 1
	}
	// Groups of lanes² numbers are in the order of the kernel's registers: lanes is how many
	// nodes a group has half way between its root and the leaves.
	node, below := k/(f.lanes/2), k%(f.lanes/2)
	re = node/f.lanes*f.lanes*f.lanes + 2*f.lanes*below + node%f.lanes
	return re, re + f.lanes
}

// Forward computes the spectrum of x. dst may be x itself; both have length n.
func (f *FFT) Forward(dst, x []float32) {
	f.check(dst, x)
	if f.plain != nil {
		f.plain.forward(dst, x, false)
		return
	}
	f.forward(dst, dst, x, false)
}

// MulForward multiplies the spectrum dst by that of x: after Forward(dst, x), MulForward(dst, y)
// and Inverse(z, dst), z is the circular convolution of x and y, z_k = Σ_j x_j·y_{k-j mod n}.
// dst and x do not overlap; both have length n.
func (f *FFT) MulForward(dst, x []float32) {
	f.check(dst, x)
	if f.plain != nil {
		f.plain.forward(dst, x, true)
		return
	}
	work := f.free.Get(f.n)
	f.forward(dst, work, x, true)
	f.free.Put(work)
}

// Inverse computes x from its spectrum, the inverse of Forward. dst may be the spectrum itself;
// both have length n.
func (f *FFT) Inverse(dst, spectrum []float32) {
	f.check(dst, spectrum)
	if f.plain != nil {
		f.plain.inverse(dst, spectrum)
		return
	}
	f.inverse(dst, spectrum, nil)
}

// Mul computes the product dst of the spectra a and b, frequency by frequency. dst may be
// either; all have length n.
func (f *FFT) Mul(dst, a, b []float32) {
	f.check(dst, a)
	f.check(dst, b)
	if f.plain != nil {
		f.plain.mul(dst, a, b)
		return
	}
	f.mul(dst, a, b)
}

// InverseMul computes Inverse of the product of the spectra a and b, and is faster than Mul and
// Inverse. dst may be either; all have length n.
func (f *FFT) InverseMul(dst, a, b []float32) {
	f.check(dst, a)
	f.check(dst, b)
	if f.plain != nil {
		f.plain.mul(dst, a, b)
		f.plain.inverse(dst, dst)
		return
	}
	f.inverse(dst, a, b)
}

// ForwardBatch is Forward for rows rows of x, ldx numbers apart, to rows of dst, ldd apart.
func (f *FFT) ForwardBatch(rows int, dst []float32, ldd int, x []float32, ldx int) {
	for i := range rows {
		f.Forward(dst[i*ldd:i*ldd+f.n], x[i*ldx:i*ldx+f.n])
	}
}

// MulForwardBatch is MulForward for rows rows of x, ldx numbers apart, and of dst, ldd apart.
func (f *FFT) MulForwardBatch(rows int, dst []float32, ldd int, x []float32, ldx int) {
	for i := range rows {
		f.MulForward(dst[i*ldd:i*ldd+f.n], x[i*ldx:i*ldx+f.n])
	}
}

// InverseBatch is Inverse for rows rows of spectra, lds numbers apart, to rows of dst, ldd
// apart.
func (f *FFT) InverseBatch(rows int, dst []float32, ldd int, spectra []float32, lds int) {
	for i := range rows {
		f.Inverse(dst[i*ldd:i*ldd+f.n], spectra[i*lds:i*lds+f.n])
	}
}

// Natural writes X_0, …, X_{n/2} of a spectrum to dst, which has length n/2 + 1. The others are
// their conjugates: X_{n-k} = conj(X_k).
func (f *FFT) Natural(dst []complex64, spectrum []float32) {
	if len(dst) != f.n/2+1 || len(spectrum) != f.n {
		panic(fmt.Sprintf("vec: %d complex and %d real numbers for a Fourier transform of %d", len(dst), len(spectrum), f.n))
	}
	if f.plain != nil {
		f.plain.natural(dst, spectrum)
		return
	}
	re, im := f.place(0)
	dst[0] = complex(spectrum[re]+spectrum[im], 0)
	dst[f.n/2] = complex(spectrum[re]-spectrum[im], 0)
	for k := 1; k < f.n/2; k++ {
		turns, b := nodeAngle(k)
		frequency := turns * (f.n >> b)
		re, im := f.place(k)
		// A leaf is the value at exp(+2πi·frequency/n).
		if frequency < f.n/2 {
			dst[frequency] = complex(spectrum[re], -spectrum[im])
		} else {
			dst[f.n-frequency] = complex(spectrum[re], spectrum[im])
		}
	}
}

func (f *FFT) check(dst, x []float32) {
	if len(dst) != f.n || len(x) != f.n {
		panic(fmt.Sprintf("vec: %d and %d numbers for a Fourier transform of %d", len(dst), len(x), f.n))
	}
}
