package hypothesis

import (
	"math"

	"mercer/internal/engine/random"
)

// binomial draws how many of n trials succeed that each do with probability p. Where few do, it counts along the
// distribution function; else it is the transformed rejection BTRS (Hörmann, "The generation of binomial random
// variates", 1993), whose time does not depend on n.
func binomial(r *random.Stream, n int, p float64) int {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - binomial(r, n, 1-p)
	}
	if float64(n)*p < 10 {
		odds, u := p/(1-p), r.Uniform()
		mass := math.Exp(float64(n) * math.Log1p(-p))
		k := 0
		for u > mass && k < n {
			u -= mass
			k++
			mass *= odds * float64(n-k+1) / float64(k)
		}
		return k
	}
	trials := float64(n)
	deviation := math.Sqrt(trials * p * (1 - p))
	b := 1.15 + 2.53*deviation
	a := -0.0873 + 0.0248*b + 0.01*p
	c := trials*p + 0.5
	inside := 0.92 - 4.2/b
	alpha := (2.83 + 5.1/b) * deviation
	odds := math.Log(p / (1 - p))
	mode := math.Floor((trials + 1) * p)
	least := logFactorial(mode) + logFactorial(trials-mode)
	for {
		v := r.UniformOpen()
		u := r.UniformOpen() - 0.5
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if k < 0 || k > trials {
			continue
		}
		if us >= 0.07 && v <= inside {
			return int(k)
		}
		if math.Log(v*alpha/(a/(us*us)+b)) <= least-logFactorial(k)-logFactorial(trials-k)+(k-mode)*odds {
			return int(k)
		}
	}
}

func logFactorial(k float64) float64 {
	v, _ := math.Lgamma(k + 1)
	return v
}
