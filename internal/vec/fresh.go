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

// freshFrom is from how many numbers on it is worth a system call: 16 MB.
const freshFrom = 1 << 21
