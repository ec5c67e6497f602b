package vec

import "gonum.org/v1/gonum/dsp/fourier"

// plainFFT is the transform for any length, by gonum's in float64. Its spectrum is X_0, then
// X_{n/2} if n is even, then the real and imaginary parts of X_1, X_2, …
type plainFFT struct {
	n    int
	free chan *plainWork
}

// plainWork is the memory of one goroutine; gonum's plan is for one at a time.
type plainWork struct {
	plan     *fourier.FFT
	x        []float64
	spectrum []complex128
}

func newPlainFFT(n int) *plainFFT {
	f := &plainFFT{n: n, free: make(chan *plainWork, 64)}
	f.put(f.get())
	return f
}

func (f *plainFFT) get() *plainWork {
	select {
	case w := <-f.free:
		return w
	default:
		return &plainWork{fourier.NewFFT(f.n), make([]float64, f.n), make([]complex128, f.n/2+1)}
	}
}

func (f *plainFFT) put(w *plainWork) {
	select {
	case f.free <- w:
	default:
	}
}

// reals is how many of X_0 and X_{n/2} there are.
func (f *plainFFT) reals() int {
	if f.n%2 == 0 {
		return 2
	}
	return 1
}

func (f *plainFFT) forward(dst, x []float32, times bool) {
	w := f.get()
	for j, v := range x {
		w.x[j] = float64(v)
	}
	w.plan.Coefficients(w.spectrum, w.x)
	first := f.reals()
	if times {
		dst[0] *= float32(real(w.spectrum[0]))
		if first == 2 {
			dst[1] *= float32(real(w.spectrum[f.n/2]))
		}
		for k := 1; 2*k < f.n; k++ {
			v := w.spectrum[k]
			timesComplex(dst[first+2*k-2:], float32(real(v)), float32(imag(v)))
		}
	} else {
		dst[0] = float32(real(w.spectrum[0]))
		if first == 2 {
			dst[1] = float32(real(w.spectrum[f.n/2]))
		}
		for k := 1; 2*k < f.n; k++ {
			v := w.spectrum[k]
			dst[first+2*k-2], dst[first+2*k-1] = float32(real(v)), float32(imag(v))
		}
	}
	f.put(w)
}

// timesComplex multiplies the complex number at z by re + i·im.
func timesComplex(z []float32, re, im float32) {
	z[0], z[1] = float32(z[0]*re)-float32(z[1]*im), float32(z[0]*im)+float32(z[1]*re)
}

func (f *plainFFT) inverse(dst, spectrum []float32) {
	w := f.get()
	first := f.reals()
	w.spectrum[0] = complex(float64(spectrum[0]), 0)
	for k := 1; 2*k < f.n; k++ {
		w.spectrum[k] = complex(float64(spectrum[first+2*k-2]), float64(spectrum[first+2*k-1]))
	}
	if first == 2 {
		w.spectrum[f.n/2] = complex(float64(spectrum[1]), 0)
	}
	w.plan.Sequence(w.x, w.spectrum)
	for j, v := range w.x {
		dst[j] = float32(v / float64(f.n))
	}
	f.put(w)
}

func (f *plainFFT) mul(dst, spectrum []float32) {
	first := f.reals()
	for j := range first {
		dst[j] *= spectrum[j]
	}
	for j := first; j < f.n; j += 2 {
		timesComplex(dst[j:], spectrum[j], spectrum[j+1])
	}
}

func (f *plainFFT) natural(dst []complex64, spectrum []float32) {
	first := f.reals()
	dst[0] = complex(spectrum[0], 0)
	for k := 1; 2*k < f.n; k++ {
		dst[k] = complex(spectrum[first+2*k-2], spectrum[first+2*k-1])
	}
	if first == 2 {
		dst[f.n/2] = complex(spectrum[1], 0)
	}
}
