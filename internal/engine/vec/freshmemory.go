package vec

// Fresh64 is make([]float64, n) with no page resident before it is
// written to. The runtime clears reused memory as a whole, so that the
// unused half of a square matrix would become resident too.
func Fresh64(n int) []float64 {
	x := make([]float64, n)
	if n >= freshFrom {
		release(x)
	}
	return x
}

// FreshUpper64 is Fresh64 for a square of n×n numbers of which the upper triangle is used: its
// pages are written to here. If the first access to a page is a sum, which reads before
// it writes, it costs the system several times as much.
func FreshUpper64(n int) []float64 {
	x := Fresh64(n * n)
	if n*n < freshFrom {
		return x
	}
	const page = 512 // numbers
	Parallel(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := i; j < n; j += page {
				x[i*n+j] = 0
			}
			x[(i+1)*n-1] = 0
		}
	})
	return x
}

// freshFrom is the number of numbers from which a system call is worthwhile: 16 MB.
const freshFrom = 1 << 21
