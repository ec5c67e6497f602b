package vec

import "unsafe"

// SinCosStream32 is SinCos32, with the same bits, for results that are not needed soon: if sin
// and cos start at the same offset in a cache line it writes them with non-temporal stores,
// which saves reading the memory that they replace. Neither may overlap x. Before another goroutine
// reads the results, this one must call Streamed.
func SinCosStream32(sin, cos, x []float32, scale float32) {
	sin, cos = sin[:len(x)], cos[:len(x)]
	if level == generic || len(x) < 2*group {
		SinCos32(sin, cos, x, scale)
		return
	}
	const line = 64
	head := int(-uintptr(unsafe.Pointer(&sin[0]))%line) / 4
	if uintptr(unsafe.Pointer(&cos[head]))%line != 0 {
		SinCos32(sin, cos, x, scale)
		return
	}
	SinCos32(sin[:head], cos[:head], x[:head], scale)
	sin, cos, x = sin[head:], cos[head:], x[head:]
	for len(x) >= group {
		done := stream32(sin, cos, x[:min(len(x), mostAtOnce)/group*group], scale)
		if done == 0 {
			done = group
			SinCos32(sin[:done], cos[:done], x[:done], scale)
		}
		sin, cos, x = sin[done:], cos[done:], x[done:]
	}
	SinCos32(sin, cos, x, scale)
}
