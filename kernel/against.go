package kernel

import (
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// Against evaluates a kernel between rows x_i that come and go and rows y_j that stay: k(x_i,
// y_j). It holds 8md bytes for m rows y, up to three times as many for kernels of histograms,
// and its Rows allocates nothing. What a row gives does not depend on the rows around it. It
// never changes.
//
// The rbf and matern kernels' ‖x-y‖² is taken from ‖x‖² + ‖y‖² - 2x·y, with all rows moved to
// the mean of y first, so that data far from 0 lose no digits.
type Against struct {
	kernel Kernel
	d, m   int
	mean   []float64            // of y, for rbf and matern
	sums   *sums                // of kernels that are no functions of products, with
	pairs  *vec.Pairs           // the rows y; or else nil, and
	y      *vec.Packed[float64] // d×m, moved
	norm   []float64            // ‖y_j‖², moved
	table  *maternTable         // of matern
}

// NewAgainst prepares the evaluation against the rows of y. It fails if the kernel is not
// valid, or if y has numbers that it does not take ([Kernel.CheckRows]).
func NewAgainst(k Kernel, y matrix.Rows) (*Against, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := k.CheckRows(y); err != nil {
		return nil, err
	}
	m, d := y.Len(), y.Dim()
	a := &Against{kernel: k, d: d, m: m}
	if a.sums = k.sums(false); a.sums != nil {
		a.pairs = vec.NewPairs(a.sums.of, d, m)
		row := make([]float64, a.width())
		for i := range m {
			a.sums.expand(y, i, row)
			a.pairs.Set(i, row)
		}
		return a, nil
	}
	if k.Name == "matern" {
		a.table = newMaternTable(k.Nu)
	}
	a.norm = make([]float64, m)
	dense := make([]float64, m*d)
	a.expand(y, 0, m, dense, nil)
	if k.Name == "rbf" || k.Name == "matern" {
		a.mean = make([]float64, d)
		for i := range m {
			for j, v := range dense[i*d:][:d] {
				a.mean[j] += v
			}
		}
		for j := range a.mean {
			a.mean[j] /= float64(max(m, 1))
		}
		a.expand(y, 0, m, dense, nil)
	}
	columns := make([]float64, d*m)
	for i := range m {
		for j, v := range dense[i*d:][:d] {
			columns[j*m+i] = v
			a.norm[i] += float64(v * v)
		}
	}
	a.y = vec.Pack64(d, m, columns, m)
	return a, nil
}

// Dims returns the numbers of dimensions d and of rows m that stay.
func (a *Against) Dims() (d, m int) { return a.d, a.m }

// width is how many numbers an expanded row has.
func (a *Against) width() int {
	if a.sums != nil {
		return a.sums.of.Width(a.d)
	}
	return a.d
}

// Bytes is about how much memory a holds.
func (a *Against) Bytes() int64 { return 8 * int64(a.width()+1) * int64(a.m) }

// Work is how many numbers Rows needs to work with for a row.
func (a *Against) Work() int { return a.width() + 1 }

// expand writes rows [i, j) of x into dst, in float64, moved, and their squared lengths into
// norm, if it is not nil.
func (a *Against) expand(x matrix.Rows, i, j int, dst, norm []float64) {
	for r := i; r < j; r++ {
		row := dst[(r-i)*a.d:][:a.d]
		if x.CSR != nil {
			clear(row)
			idx, val := x.CSR.Row(r)
			for k, c := range idx {
				row[c] = float64(val[k])
			}
		} else {
			for c, v := range x.Dense.Row(r) {
				row[c] = float64(v)
			}
		}
		for c, v := range a.mean {
			row[c] -= v
		}
		if a.kernel.Name == "hellinger" {
			for c, v := range row {
				row[c] = a.kernel.root(v)
			}
		}
		if norm != nil {
			sum := 0.0
			for _, v := range row {
				sum += float64(v * v)
			}
			norm[r-i] = sum
		}
	}
}

// Rows writes k(x_r, y_c) for rows [i, j) of x into dst, (j-i)×m. work has (j-i)·Work()
// numbers. That x has no numbers which the kernel does not take is for the caller to see to, by
// [Kernel.CheckRows]: what they give has no meaning, and may be NaN.
func (a *Against) Rows(x matrix.Rows, i, j int, dst, work []float64) {
	n := j - i
	if x.Dim() != a.d {
		panic(fmt.Sprintf("kernel: rows of %d dimensions against rows of %d", x.Dim(), a.d))
	}
	if a.sums != nil {
		w := a.width()
		for r := range n {
			a.sums.expand(x, i+r, work[r*w:][:w])
		}
		a.pairs.Rows(n, a.m, work, dst, a.m)
		for r := range n {
			a.values(dst[r*a.m:][:a.m], 0)
		}
		return
	}
	norm, rows := work[:n], work[n:][:n*a.d]
	a.expand(x, i, j, rows, norm)
	a.y.Multiply(n, rows, a.d, dst, a.m, nil)
	for r := range n {
		a.values(dst[r*a.m:][:a.m], norm[r])
	}
}

// values turns the products of a row of squared length norm with those that stay, or their sums,
// into kernel values.
func (a *Against) values(s []float64, norm float64) {
	k := a.kernel
	switch k.Name {
	case "linear", "hellinger":
	case "chi2", "intersection", "jensen-shannon":
		for c := range s {
			s[c] *= a.sums.factor
		}
	case "laplacian", "exp-chi2":
		for c := range s {
			s[c] *= -k.Gamma
		}
		vec.Exp64(s, s)
	case "cauchy", "skewed-chi2":
		for c, v := range s {
			s[c] = k.fromExcess(v)
		}
	case "skewed-intersection":
		for c := range s {
			s[c] = -s[c]
		}
		vec.Exp64(s, s)
	case "poly":
		for c, xy := range s {
			s[c] = power(float64(k.Gamma*xy)+k.Coef0, k.Degree)
		}
	case "exp":
		for c := range s {
			s[c] *= k.Gamma
		}
		vec.Exp64(s, s)
	case "arccos":
		for c, xy := range s {
			cos, _ := cosine(xy, norm, a.norm[c])
			s[c] = k.arccos(angle{xx: norm, yy: a.norm[c], theta: math.Acos(cos), rest: math.Acos(-cos)})
		}
	case "rbf":
		for c, xy := range s {
			s[c] = -k.Gamma * max(0, norm+a.norm[c]-2*xy)
		}
		vec.Exp64(s, s)
	case "matern":
		for c, xy := range s {
			s[c] = k.Gamma * max(0, norm+a.norm[c]-2*xy)
		}
		a.table.log(s)
		for c := range s {
			s[c] = -s[c]
		}
		vec.Exp64(s, s)
	}
}
