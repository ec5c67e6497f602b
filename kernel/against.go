package kernel

import (
	"fmt"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Against evaluates k(x_i, y_j) for a fixed set of rows y_j, such as landmarks or support vectors, and any
// rows x_i. It is immutable. It holds 8md bytes for m rows y of d dimensions, and up to three times as
// many for kernels of histograms. Rows allocates nothing, and the values of a row do not depend on the
// rows around it.
//
// rbf and matern compute ‖x-y‖² as ‖x‖² + ‖y‖² - 2x·y. All rows are centred first, on the mean of y, so that data far from 0 lose
// no digits. A column where most rows of y have one value, such as that of a category, is centred on this value, which makes
// most of its numbers 0, for laplacian as well: sums leave zeros out.
type Against struct {
	engine engine
	d, m   int
	centre []float64            // of y, which is subtracted from all rows; nil if the kernel depends on where rows are
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
		if a.sums.of == vec.SumAbs {
			rows := make([]float64, m*a.width())
			a.expandSums(y, 0, m, rows)
			a.centre = common(rows, m, d, a.width(), nil)
		}
		row := make([]float64, a.width())
		for i := range m {
			a.expandSums(y, i, i+1, row)
			a.pairs.Set(i, row)
		}
		return a, nil
	}
	a.norm = make([]float64, m)
	dense := make([]float64, m*d)
	a.expand(y, 0, m, dense, nil)
	if a.engine.moves() {
		mean := make([]float64, d)
		for i := range m {
			for j, v := range dense[i*d:][:d] {
				mean[j] += v
			}
		}
		for j := range mean {
			mean[j] /= float64(max(m, 1))
		}
		a.centre = common(dense, m, d, d, mean)
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

// common returns, for each of d columns of m rows of so many numbers each, the number that more than half of the rows have, and where there
// is none what others says; nil means 0. (Boyer and Moore's majority vote finds the only one that can be it.)
func common(rows []float64, m, d, width int, others []float64) []float64 {
	all := make([]float64, d)
	copy(all, others)
	for j := range d {
		most, lead := 0.0, 0
		for i := range m {
			switch v := rows[i*width+j]; {
			case lead == 0:
				most, lead = v, 1
			case v == most:
				lead++
			default:
				lead--
			}
		}
		same := 0
		for i := range m {
			if rows[i*width+j] == most {
				same++
			}
		}
		if 2*same > m {
			all[j] = most
		}
	}
	return all
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

// expandSums writes rows [i, j) of x into dst as the sums take them.
func (a *Against) expandSums(x matrix.Rows, i, j int, dst []float64) {
	w := a.width()
	for r := i; r < j; r++ {
		row := dst[(r-i)*w:][:w]
		a.sums.expand(x, r, row)
		for c, v := range a.centre {
			row[c] -= v
		}
	}
}

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
		for c, v := range a.centre {
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
	var norms []float64
	if a.sums == nil {
		norms, work = work[:n], work[n:]
	}
	a.Raw(x, i, j, dst, norms, work)
	a.Finish(norms, dst[:n*a.m])
}

// Raw writes what the values for rows [i, j) of x are computed from: sums or dot products into dst, (j-i)×m, and squared lengths into norms,
// j-i. They do not depend on γ, but for cauchy. work is as for Rows.
func (a *Against) Raw(x matrix.Rows, i, j int, dst, norms, work []float64) {
	n := j - i
	if x.Dim() != a.d {
		panic(fmt.Sprintf("kernel: rows of %d dimensions against rows of %d", x.Dim(), a.d))
	}
	if a.sums != nil {
		a.expandSums(x, i, j, work)
		a.pairs.Rows(n, a.m, work, dst, a.m)
		return
	}
	rows := work[:n*a.d]
	a.expand(x, i, j, rows, norms)
	a.y.Multiply(n, rows, a.d, dst, a.m, nil)
}

// Finish turns what Raw wrote, perhaps with another γ (WithGamma), into values of the kernel.
func (a *Against) Finish(norms, dst []float64) {
	for r := range len(dst) / max(a.m, 1) {
		norm := 0.0
		if a.sums == nil {
			norm = norms[r]
		}
		a.engine.against(a, norm, dst[r*a.m:][:a.m])
	}
}

// WithGamma is a for the kernel k, which differs from that of a in γ alone; the rows y are shared. There is none for cauchy.
func (a *Against) WithGamma(k Kernel) (*Against, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if a.sums != nil && a.sums.of == vec.SumExcess {
		return nil, fmt.Errorf("kernel: sums of %s depend on γ", k.Name)
	}
	b := *a
	b.engine = k.Kind().family.engine(k)
	return &b, nil
}
