//go:build !amd64 || purego

package vec

func fftLanes(int) int { return 1 }

func (f *FFT) prepare() {}

func (f *FFT) forward(dst, work, x []float32, times bool) { f.forwardGo(dst, work, x, times) }

func (f *FFT) inverse(dst, spectrum []float32) { f.inverseGo(dst, spectrum) }

func (f *FFT) mul(dst, spectrum []float32) { mulGo(dst, spectrum) }
