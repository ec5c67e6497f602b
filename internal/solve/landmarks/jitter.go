package landmarks

import (
	"context"

	"mercer/internal/engine/vec"
)

// Factor computes the Cholesky factor of A + jitter·I in place, in the upper triangle of the m×m matrix a, and returns the jitter: the first
// one of first, 10·first, 100·first, … up to about most by which there is a factor. write writes the upper triangle of A, which a
// failed factorisation destroys. first is what the rounding of A asks for, which depends on how A was summed. ok is false if there is no
// factor, because numbers are not finite or too far from positive definite, or because the context ended.
func Factor(ctx context.Context, m int, a []float64, first, most float64, write func()) (jitter float64, ok bool) {
	for jitter = first; ; jitter *= 10 {
		write()
		for i := range m {
			a[i*m+i] += jitter
		}
		if vec.Cholesky(ctx, m, a, m) {
			return jitter, true
		}
		if !(jitter < most) || ctx.Err() != nil {
			return 0, false
		}
	}
}
