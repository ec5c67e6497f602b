package vec

import (
	"context"
	"math"
)

// tridiagonalQL computes the eigenvalues of the tridiagonal T, n×n, with d on its diagonal and
// e[:n-1] next to it, by the QL algorithm with implicit shifts (Golub and Van Loan, section
// 8.3): d becomes the eigenvalues, unordered, and e is overwritten. Rotations of columns of T rotate
// the rows of s, stride lds, if not nil: rows of the identity become eigenvectors. It returns
// false if it did not converge or the context ended.
func tridiagonalQL(ctx context.Context, n int, d, e, s []float64, lds int) bool {
	const turns = 30 // per eigenvalue; it takes less than two
	left := turns * n
	for l := 0; l < n-1; {
		// T decouples after m.
		m := l
		for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
			m++
		}
		if m == l {
			l++
			continue
		}
		if left--; left < 0 || ctx.Err() != nil {
			return false
		}
		// Wilkinson's shift: the eigenvalue of the first two rows that is nearer to d[l].
		g := (d[l+1] - d[l]) / (2 * e[l])
		r := math.Hypot(g, 1)
		shift := d[l] - e[l]/(g+math.Copysign(r, g))
		// A rotation of the last rows, as for the shifted matrix, creates a bulge outside
		// the three diagonals; the following ones chase it up.
		x := d[m] - shift
		below := 0.0 // of what the previous rotation subtracted from d
		c, sine := 1.0, 1.0
		done := true
		for i := m - 1; i >= l; i-- {
			f, b := sine*e[i], c*e[i]
			r := math.Sqrt(float64(f*f) + float64(x*x))
			e[i+1] = r
			if r == 0 { // T decoupled on the way
				d[i+1] -= below
				e[m] = 0
				done = false
				break
			}
			sine, c = f/r, x/r
			x = d[i+1] - below
			t := float64((d[i]-x)*sine) + float64(2*c*b)
			below = sine * t
			d[i+1] = x + below
			x = float64(c*t) - b
			if s != nil {
				rotate(c, sine, s[i*lds:i*lds+n], s[(i+1)*lds:(i+1)*lds+n])
			}
		}
		if done {
			d[l] -= below
			e[l] = x
			e[m] = 0
		}
	}
	return true
}

// rotate replaces x and y by c·x - s·y and s·x + c·y.
func rotate(c, s float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i] = float64(c*v) - float64(s*w)
		y[i] = float64(s*v) + float64(c*w)
	}
}
