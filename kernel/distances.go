package kernel

import (
	"math"

	"mercer/matrix"
)

// Distances computes how far rows x_i are from a fixed set of rows y_j in the kernel's feature space, to find the nearest. It is immutable.
//
// What it computes grows with ‖φ(x) - φ(y)‖² and goes on growing where k has become 0: ‖x-y‖² for linear, rbf and matern; ‖x-y‖₁ for
// laplacian; -log k(x, y) for other kernels with k(x, x) = 1; else k(x, x) + k(y, y) - 2k(x, y).
type Distances struct {
	kernel  Kernel
	y       matrix.Rows
	against *Against  // nil if y is too sparse for a dense form
	self    []float64 // k(y_j, y_j), for the last of these
}

// NewDistances prepares the distances from the rows of y, which it keeps. It fails if the kernel is not valid, or if y has values outside
// its domain ([Kernel.CheckRows]).
func NewDistances(k Kernel, y matrix.Rows) (*Distances, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	d := &Distances{kernel: k, y: y}
	if d.squares() {
		d.kernel = Kernel{Name: Linear.Name()}
	}
	if err := k.CheckRows(y); err != nil {
		return nil, err
	}
	if y.CSR != nil && 16*y.CSR.NNZ() < y.Len()*y.Dim() {
		return d, nil
	}
	of := k
	if d.squares() {
		of = Kernel{Name: RBF.Name(), Gamma: 1} // which centres rows
	} else if !k.unit() {
		d.self = k.Diagonal(y)
	}
	var err error
	d.against, err = NewAgainst(of, y)
	return d, err
}

// squares says that distances are Euclidean.
func (d *Distances) squares() bool {
	_, radial := d.kernel.Kind().family.(radial)
	return radial || d.kernel.Linear()
}

// OrdersBy says whether the distances of [Distances] change with a parameter of the kernel by more than a factor, so that other rows may be
// the nearest.
func OrdersBy(name, parameter string) bool {
	kind := byName[name]
	if !Has(name, parameter) {
		return false
	}
	_, radial := kind.family.(radial)
	return !radial && (parameter != "gamma" || kind != Laplacian && kind != ExpChi2)
}

// Work is the length of the work memory that Rows needs for each row.
func (d *Distances) Work() int {
	if d.against == nil {
		return 0
	}
	return d.against.Work()
}

// cancelled is the share of ‖x‖² + ‖y‖² below which ‖x-y‖² is computed from the two rows.
const cancelled = 1e-6

// Rows writes the distances of rows [i, j) of x into dst, (j-i)×m. work has (j-i)·Work() elements. The caller must check x by [Kernel.CheckRows].
func (d *Distances) Rows(x matrix.Rows, i, j int, dst, work []float64) {
	a := d.against
	m, n := d.y.Len(), j-i
	switch {
	case a == nil:
		d.sparse(x.Slice(i, j), dst[:n*m])
	case d.squares():
		norms := work[:n]
		a.Raw(x, i, j, dst, norms, work[n:])
		var p pair
		for r := range n {
			row, xx := dst[r*m:][:m], norms[r]
			for c, xy := range row {
				both := xx + a.norm[c]
				s := both - 2*xy
				if s < cancelled*both {
					s = squared(p.of(x, i+r, d.y, c))
				}
				row[c] = s
			}
		}
	case d.kernel.Kind() == Laplacian:
		a.Raw(x, i, j, dst, nil, work)
	default:
		a.Rows(x, i, j, dst, work)
		d.ofValues(x.Slice(i, j), dst[:n*m])
	}
}

// sparse computes distances from sparse rows y.
func (d *Distances) sparse(x matrix.Rows, dst []float64) {
	g, err := NewGram(d.kernel, x, d.y.Slice(0, d.y.Len())) // a view: rows with themselves are as with others
	if err != nil {
		panic("kernel: " + err.Error()) // the caller has checked the rows
	}
	if d.squares() || !d.kernel.unit() {
		g.Distances2(0, x.Len(), dst)
		return
	}
	g.Rows(0, x.Len(), dst)
	d.ofValues(x, dst)
}

// ofValues turns values of the kernel into distances.
func (d *Distances) ofValues(x matrix.Rows, dst []float64) {
	m := d.y.Len()
	if d.kernel.unit() {
		for c, v := range dst {
			dst[c] = max(0, -math.Log(v))
		}
		return
	}
	for r, xx := range d.kernel.Diagonal(x) {
		for c, v := range dst[r*m:][:m] {
			dst[r*m+c] = max(0, xx+d.self[c]-2*v)
		}
	}
}
