//go:build !amd64 || purego

package vec

func fftLanes(int) int { return 1 }

func (f *FFT) prepare() {}

func (f *FFT) forward(dst, work, x []float32, times bool) { f.forwardGo(dst, work, x, times) }

func (f *FFT) inverse(dst, a, b []float32) { f.inverseGo(dst, a, b) }

func (f *FFT) mul(dst, a, b []float32) { mulGo(dst, a, b) }
