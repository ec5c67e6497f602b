package vec

// Dot products and scaled sums of slices, for the solvers. Sums have a fixed order: a result
// depends only on the numbers.

// Dot32 is x·y, of equal lengths, summed in float32.
func Dot32(x, y []float32) float32 {
	y = y[:len(x)]
	sum, n := dotBlocks32(x, y)
	for n < len(x) {
		more, m := dotBlocks32(x[n:], y[n:])
		if m == 0 {
			break
		}
		sum, n = sum+more, n+m
	}
	for i, v := range x[n:] {
		sum += float32(v * y[n+i])
	}
	return sum
}

// Dot64 is x·y, of equal lengths.
func Dot64(x, y []float64) float64 {
	y = y[:len(x)]
	sum, n := dotBlocks64(x, y)
	for n < len(x) {
		more, m := dotBlocks64(x[n:], y[n:])
		if m == 0 {
			break
		}
		sum, n = sum+more, n+m
	}
	for i, v := range x[n:] {
		sum += float64(v * y[n+i])
	}
	return sum
}

// DotWide is x·y, of equal lengths, summed in float64.
func DotWide(x, y []float32) float64 {
	y = y[:len(x)]
	sum, n := dotBlocksWide(x, y)
	for n < len(x) {
		more, m := dotBlocksWide(x[n:], y[n:])
		if m == 0 {
			break
		}
		sum, n = sum+more, n+m
	}
	for i, v := range x[n:] {
		sum += float64(float64(v) * float64(y[n+i]))
	}
	return sum
}

// DotMixed is x·y, of equal lengths, summed in float64.
func DotMixed(x []float32, y []float64) float64 {
	y = y[:len(x)]
	sum, n := dotBlocksMixed(x, y)
	for n < len(x) {
		more, m := dotBlocksMixed(x[n:], y[n:])
		if m == 0 {
			break
		}
		sum, n = sum+more, n+m
	}
	for i, v := range x[n:] {
		sum += float64(float64(v) * y[n+i])
	}
	return sum
}

// Axpy32 computes y += alpha·x, of equal lengths.
func Axpy32(alpha float32, x, y []float32) {
	y = y[:len(x)]
	if level == generic {
		for i, v := range x {
			y[i] += float32(alpha * v)
		}
		return
	}
	n := 0
	for len(x)-n >= axpyBlock {
		n += axpyBlocks32(alpha, x[n:], y[n:])
	}
	if n == len(x) {
		return
	}
	var xs, ys [axpyBlock]float32
	copy(xs[:], x[n:])
	copy(ys[:], y[n:])
	axpyBlocks32(alpha, xs[:], ys[:])
	copy(y[n:], ys[:])
}

// Axpy64 computes y += alpha·x, of equal lengths.
func Axpy64(alpha float64, x, y []float64) {
	y = y[:len(x)]
	if level == generic {
		for i, v := range x {
			y[i] += float64(alpha * v)
		}
		return
	}
	n := 0
	for len(x)-n >= axpyBlock {
		n += axpyBlocks64(alpha, x[n:], y[n:])
	}
	if n == len(x) {
		return
	}
	var xs, ys [axpyBlock]float64
	copy(xs[:], x[n:])
	copy(ys[:], y[n:])
	axpyBlocks64(alpha, xs[:], ys[:])
	copy(y[n:], ys[:])
}

// AxpyWide computes y += alpha·x in float64, of equal lengths.
func AxpyWide(alpha float64, x []float32, y []float64) {
	y = y[:len(x)]
	if level == generic {
		for i, v := range x {
			y[i] += float64(alpha * float64(v))
		}
		return
	}
	n := 0
	for len(x)-n >= axpyBlock {
		n += axpyBlocksWide(alpha, x[n:], y[n:])
	}
	if n == len(x) {
		return
	}
	var xs [axpyBlock]float32
	var ys [axpyBlock]float64
	copy(xs[:], x[n:])
	copy(ys[:], y[n:])
	axpyBlocksWide(alpha, xs[:], ys[:])
	copy(y[n:], ys[:])
}

// axpyBlock is the number of elements that the kernels of Axpy process together, or a multiple of it. The
// remainder uses the same kernels, so that all elements are rounded in the same way.
const axpyBlock = 16

// SparseDot32 is the product of a sparse vector, val[t] at idx[t], with a dense one, summed
// in float64.
func SparseDot32(idx []int32, val, y []float32) float64 {
	val = val[:len(idx)]
	var s0, s1 float64
	t := 0
	for ; t+1 < len(idx); t += 2 {
		s0 += float64(float64(val[t]) * float64(y[idx[t]]))
		s1 += float64(float64(val[t+1]) * float64(y[idx[t+1]]))
	}
	if t < len(idx) {
		s0 += float64(float64(val[t]) * float64(y[idx[t]]))
	}
	return s0 + s1
}

// SparseAxpy32 computes y += alpha·x for a sparse x, val[t] at idx[t].
func SparseAxpy32(alpha float32, idx []int32, val, y []float32) {
	val = val[:len(idx)]
	for t, j := range idx {
		y[j] += float32(alpha * val[t])
	}
}

// Fetch64 prefetches x into the L2 cache: for numbers far
// apart that will be needed soon. Contiguous numbers are prefetched
// by the processor itself.
func Fetch64(x []float64) {
	if len(x) > 0 {
		fetch64(&x[0], (len(x)+7)/8)
	}
}
