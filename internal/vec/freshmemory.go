package vec

// Fresh64 is make([]float64, n) of which no page is resident before it is written to. The
// runtime clears memory that it used before, and all of it where a part was, so that half of a
// square of which only the other half is ever used would be resident too.
func Fresh64(n int) []float64 {
	x := make([]float64, n)
	if n >= freshFrom {
		release(x)
	}
	return x
}

// FreshUpper64 is Fresh64 for a square of n×n numbers of which the upper triangle is used: its
// pages are written to here. Where the first to touch a page is a sum, which reads before it
// writes, it costs the system several times as much.
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

// freshFrom is from how many numbers on it is worth a system call: 16 MB.
const freshFrom = 1 << 21
