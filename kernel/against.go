package kernel

import (
	"fmt"

	"mercer/internal/vec"
	"mercer/matrix"
)

// Against evaluates k(x_i, y_j) for a fixed set of rows y_j, such as landmarks or support vectors, and any
// rows x_i. It is immutable. It holds 8md bytes for m rows y of d dimensions, and up to three times as
// many for kernels of histograms. Rows allocates nothing, and the values of a row do not depend on the
// rows around it.
//
// rbf and matern compute ‖x-y‖² as ‖x‖² + ‖y‖² - 2x·y. All rows are centred on the mean of y first, so
// that data far from 0 lose no digits.
type Against struct {
	engine engine
	d, m   int
	mean   []float64            // of y, if the engine centres rows
	sums   *sums                // nil if the kernel is a function of dot products
	pairs  *vec.Pairs           // the rows y, for sums
	y      *vec.Packed[float64] // the rows y for dot products: d×m, centred
	norm   []float64            // ‖y_j‖², centred
}

// NewAgainst prepares the evaluation against the rows of y. It fails if the kernel is not valid, or if y
// has values outside the kernel's domain ([Kernel.CheckRows]).
func NewAgainst(k Kernel, y matrix.Rows) (*Against, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := k.CheckRows(y); err != nil {
		return nil, err
	}
	m, d := y.Len(), y.Dim()
	a := &Against{engine: k.Kind().family.engine(k), d: d, m: m}
	if a.sums = a.engine.sums(false); a.sums != nil {
		a.pairs = vec.NewPairs(a.sums.of, d, m)
		row := make([]float64, a.width())
		for i := range m {
			a.sums.expand(y, i, row)
			a.pairs.Set(i, row)
		}
		return a, nil
	}
	a.norm = make([]float64, m)
	dense := make([]float64, m*d)
	a.expand(y, 0, m, dense, nil)
	if a.engine.moves() {
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

// Dims returns the number of dimensions d and the number m of rows y.
func (a *Against) Dims() (d, m int) { return a.d, a.m }

// width is the length of an expanded row.
func (a *Against) width() int {
	if a.sums != nil {
		return a.sums.of.Width(a.d)
	}
	return a.d
}

// Bytes is about the memory that a holds.
func (a *Against) Bytes() int64 { return 8 * int64(a.width()+1) * int64(a.m) }

// Work is the length of the work memory that Rows needs for each row.
func (a *Against) Work() int { return a.width() + 1 }

// expand writes rows [i, j) of x into dst, in float64 and centred. Their squared lengths go into norm
// unless it is nil.
func (a *Against) expand(x matrix.Rows, i, j int, dst, norm []float64) {
	of := a.engine.numbers()
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
		if of != nil {
			for c, v := range row {
				row[c] = of(v)
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

// Rows writes k(x_r, y_c) for rows [i, j) of x into dst, (j-i)×m. work has (j-i)·Work() elements. The
// caller must check x by [Kernel.CheckRows]: outside the kernel's domain values have no meaning and may
// be NaN.
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
			a.engine.against(a, 0, dst[r*a.m:][:a.m])
		}
		return
	}
	norm, rows := work[:n], work[n:][:n*a.d]
	a.expand(x, i, j, rows, norm)
	a.y.Multiply(n, rows, a.d, dst, a.m, nil)
	for r := range n {
		a.engine.against(a, norm[r], dst[r*a.m:][:a.m])
	}
}
