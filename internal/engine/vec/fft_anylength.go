package vec

import (
	"gonum.org/v1/gonum/dsp/fourier"

	"mercer/internal/engine/freelist"
)

// plainFFT is the transform for any length, by gonum's in float64. Its spectrum is X_0, then
// X_{n/2} if n is even, then the real and imaginary parts of X_1, X_2, …
type plainFFT struct {
	n    int
	free freelist.List[plainWork]
}

// plainWork is the memory of one goroutine; gonum's plan is for one at a time.
type plainWork struct {
	plan     *fourier.FFT
	x        []float64
	spectrum []complex128
}

func newPlainFFT(n int) *plainFFT {
	f := &plainFFT{n: n}
	f.free.Put(f.get())
	return f
}

func (f *plainFFT) get() *plainWork {
	w := f.free.Get()
	if w.plan == nil {
		w.plan, w.x, w.spectrum = fourier.NewFFT(f.n), make([]float64, f.n), make([]complex128, f.n/2+1)
	}
	return w
}

// reals is how many of X_0 and X_{n/2} there are.
func (f *plainFFT) reals() int { return 2 - f.n%2 }

func (f *plainFFT) forward(dst, x []float32, times bool) {
	w := f.get()
	for j, v := range x {
		w.x[j] = float64(v)
	}
	w.plan.Coefficients(w.spectrum, w.x)
	put := func(at int, v float64) {
		if times {
			v *= float64(dst[at])
		}
		dst[at] = float32(v)
	}
	put(0, real(w.spectrum[0]))
	first := f.reals()
	if first == 2 {
		put(1, real(w.spectrum[f.n/2]))
	}
	for j := first; j < f.n; j += 2 {
		v := w.spectrum[(j+1)/2]
		if times {
			v *= complex(float64(dst[j]), float64(dst[j+1]))
		}
		dst[j], dst[j+1] = float32(real(v)), float32(imag(v))
	}
	f.free.Put(w)
}

func (f *plainFFT) inverse(dst, spectrum []float32) {
	w := f.get()
	w.spectrum[0] = complex(float64(spectrum[0]), 0)
	first := f.reals()
	if first == 2 {
		w.spectrum[f.n/2] = complex(float64(spectrum[1]), 0)
	}
	for j := first; j < f.n; j += 2 {
		w.spectrum[(j+1)/2] = complex(float64(spectrum[j]), float64(spectrum[j+1]))
	}
	w.plan.Sequence(w.x, w.spectrum)
	for j, v := range w.x {
		dst[j] = float32(v / float64(f.n))
	}
	f.free.Put(w)
}

func (f *plainFFT) mul(dst, a, b []float32) {
	first := f.reals()
	for j := range first {
		dst[j] = a[j] * b[j]
	}
	for j := first; j < f.n; j += 2 {
		v := complex128(complex(a[j], a[j+1])) * complex128(complex(b[j], b[j+1]))
		dst[j], dst[j+1] = float32(real(v)), float32(imag(v))
	}
}

func (f *plainFFT) natural(dst []complex64, spectrum []float32) {
	dst[0] = complex(spectrum[0], 0)
	first := f.reals()
	if first == 2 {
		dst[f.n/2] = complex(spectrum[1], 0)
	}
	for j := first; j < f.n; j += 2 {
		dst[(j+1)/2] = complex(spectrum[j], spectrum[j+1])
	}
}
