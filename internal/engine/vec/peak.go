package vec

import "sync/atomic"

// The peak of the machine at the level in use, by loops that do nothing else.
// Each function is for one goroutine; several at once measure several cores.

// peakTurns is how many turns of 48 vector instructions a call of a kernel makes at most.
const peakTurns = 2048

// memoryTurns is how many turns of 8 vectors a call of a kernel makes at most.
const memoryTurns = 512

// MultiplyAdds32 does independent multiply-adds of float32, at least n of them, and
// returns how many.
func MultiplyAdds32(n int) int { return multiplyAdds(n, 4) }

// MultiplyAdds64 does multiply-adds of float64, as MultiplyAdds32.
func MultiplyAdds64(n int) int { return multiplyAdds(n, 8) }

func multiplyAdds(n, float int) int {
	done := 0
	for done < n {
		done += multiplyAddsOnce(peakTurns, float)
	}
	return done
}

// peakSink keeps the compiler from dropping loops with unused results. Any
// goroutine may write to it.
var peakSink atomic.Uint64

// fourChains does multiply-adds in Go, four chains of them.
func fourChains[T float32 | float64](turns int) int {
	var a, b, c, d T
	for range turns {
		a, b, c, d = a*0.5+1, b*0.5+1, c*0.5+1, d*0.5+1
	}
	peakSink.Store(uint64(a + b + c + d))
	return 4 * turns
}

// Read reads all of x, which should be larger than the caches, and returns some sum of it.
func Read(x []float32) float32 {
	var sum float32
	for len(x) > 0 {
		s, n := readOnce(x)
		if n == 0 {
			for _, v := range x {
				s += v
			}
			n = len(x)
		}
		sum, x = sum+s, x[n:]
	}
	return sum
}

// Triad computes dst = x + 3y, of equal lengths.
func Triad(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for len(dst) > 0 {
		n := triadOnce(dst, x, y)
		if n == 0 {
			for i := range dst {
				dst[i] = x[i] + float32(3*y[i])
			}
			n = len(dst)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}
