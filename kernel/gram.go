package kernel

import (
	"fmt"
	"math"
	"sync"

	"mercer/internal/vec"
	"mercer/matrix"
)

// Gram is the matrix of K_ij = k(x_i, y_j), and that of the squared distances of x_i and y_j
// in the kernel's feature space. It holds O(n + d) numbers, not the matrix, whose rows are
// computed when asked for. Any number of goroutines may use it, as long as nothing changes
// x and y.
//
// Dot products are matrix products, and so is the ‖x-y‖² of rbf and matern, which is ‖x‖² +
// ‖y‖² - 2x·y. Dense rows are moved to the mean of y first, and what cancels nevertheless
// is computed again from the two rows, so that near rows and data far from 0 lose no digits:
// a value is within some 10⁻¹³·√(k(x, x)k(y, y)) of [Kernel.Eval], a distance within some
// 10⁻¹² of itself. Such pairs cost d operations each, which is slow where nearly all are
// (sparse rows far from 0, say). laplacian, cauchy and the kernels of histograms but hellinger
// take d operations a value for dense y, and for sparse y as many as y_j has elements.
type Gram struct {
	kernel Kernel
	x, y   matrix.Rows
	same   bool
	table  *maternTable
	poly   []float64 // of matern with a closed form

	value    frame
	distance func() frame
}

// frame is where dot products are taken: after a move by -mean, if that is not nil, with
// ‖·‖² of every moved row, if they are of use. Of additive kernels it is k(x, x), of
// skewed-intersection -log k(x, 0).
type frame struct {
	mean         []float64
	xNorm, yNorm []float64
	yMost        float64 // the largest of yNorm
}

// NewGram prepares the Gram matrix of the rows of x and y, each dense or sparse. For that of
// x with itself, pass x twice; where k(x, x) = 1 by definition, the diagonal is then
// exactly 1. It fails if the kernel is not valid, the rows differ in dimension or have numbers
// that the kernel does not take ([Kernel.CheckRows]).
func NewGram(k Kernel, x, y matrix.Rows) (*Gram, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if x.Dim() != y.Dim() {
		return nil, fmt.Errorf("kernel: rows of %d and of %d dimensions do not go together", x.Dim(), y.Dim())
	}
	if err := k.CheckRows(x); err != nil {
		return nil, err
	}
	if x != y {
		if err := k.CheckRows(y); err != nil {
			return nil, err
		}
	}
	g := &Gram{kernel: k, x: x, y: y, same: x == y}
	switch k.Name {
	case "rbf", "arccos":
		g.value = g.frame()
	case "matern":
		g.value = g.frame()
		g.table = newMaternTable(k.Nu)
		g.poly = closedForm(k.Nu)
	}
	g.distance = sync.OnceValue(func() frame {
		if g.value.xNorm != nil || k.unit() && k.Name != "skewed-intersection" {
			return g.value
		}
		return g.frame()
	})
	return g, nil
}

// frame is that of the kernel's distances.
func (g *Gram) frame() frame {
	var f frame
	if norms := g.kernel.Diagonal; g.kernel.additive() || g.kernel.Name == "skewed-intersection" {
		if !g.kernel.additive() {
			norms = g.kernel.logNorms
		}
		f.yNorm = norms(g.y)
		f.xNorm = f.yNorm
		if !g.same {
			f.xNorm = norms(g.x)
		}
		return f
	}
	movable := g.kernel.Name == "rbf" || g.kernel.Name == "matern" || g.kernel.Name == "linear"
	if movable && g.x.Dense != nil && g.y.Dense != nil {
		f.mean = mean(g.y.Dense)
	}
	f.yNorm = norms(g.y, f.mean)
	f.xNorm = f.yNorm
	if !g.same {
		f.xNorm = norms(g.x, f.mean)
	}
	for _, v := range f.yNorm {
		f.yMost = max(f.yMost, v)
	}
	return f
}

func mean(m *matrix.Dense) []float64 {
	sum := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			sum[j] += float64(v)
		}
	}
	for j := range sum {
		sum[j] /= float64(max(m.Rows, 1))
	}
	return sum
}

// norms returns the squared length of every row after its move by -mean.
func norms(rows matrix.Rows, mean []float64) []float64 {
	norm := make([]float64, rows.Len())
	vec.Parallel(len(norm), 64, func(lo, hi int) {
		row := make([]float64, len(mean))
		for i := lo; i < hi; i++ {
			sum := 0.0
			switch {
			case mean != nil:
				expand(rows, i, row, mean)
				for _, v := range row {
					sum += v * v
				}
			case rows.CSR != nil:
				_, val := rows.CSR.Row(i)
				sum = dot(val, val)
			default:
				row := rows.Dense.Row(i)
				sum = dot(row, row)
			}
			norm[i] = sum
		}
	})
	return norm
}

// expand writes row i of rows into dst, in float64, moved by -mean if it is dense.
func expand(rows matrix.Rows, i int, dst, mean []float64) {
	if rows.CSR != nil {
		clear(dst)
		idx, val := rows.CSR.Row(i)
		for k, j := range idx {
			dst[j] = float64(val[k])
		}
		return
	}
	for j, v := range rows.Dense.Row(i) {
		dst[j] = float64(v)
	}
	for j, m := range mean {
		dst[j] -= m
	}
}

// Dims returns the numbers of rows and columns, those of x and of y.
func (g *Gram) Dims() (rows, cols int) { return g.x.Len(), g.y.Len() }

// Rows writes rows [i, j) of the matrix into dst, which has (j-i)·cols elements, row by row.
// It runs on all threads and holds about 4 MB a thread, or two rows in float64 if they are
// longer; for kernels that take d operations a value, 64.
func (g *Gram) Rows(i, j int, dst []float64) { g.rows(i, j, dst, g.value, false) }

// Distances2 writes rows [i, j) of the matrix of [Kernel.Distance2] into dst, as Rows does.
// All are ≥ 0, and 0 for equal rows.
func (g *Gram) Distances2(i, j int, dst []float64) { g.rows(i, j, dst, g.distance(), true) }

func (g *Gram) rows(i, j int, dst []float64, f frame, distances bool) {
	rows, cols := g.Dims()
	if i < 0 || j < i || j > rows {
		panic(fmt.Sprintf("kernel: rows [%d, %d) of %d", i, j, rows))
	}
	if len(dst) != (j-i)*cols {
		panic(fmt.Sprintf("kernel: %d elements for %d rows of %d", len(dst), j-i, cols))
	}
	sums := g.kernel.sums(distances)
	width, least := g.x.Dim(), 1
	if sums != nil {
		width, least = sums.of.Width(g.x.Dim()), 32 // sums with fewer rows of y take as long
	}
	height := min(max(1<<18/max(width, 1), least), 256) // 2 MB of rows
	vec.Parallel(j-i, height, func(lo, hi int) {
		b := &block{Gram: g, frame: f, distances: distances, sums: sums, width: width, height: height, xs: make([]float64, height*width)}
		switch {
		case sums != nil && g.y.Dense != nil:
			b.pairs = vec.NewPairs(sums.of, g.x.Dim(), min(height, cols))
			b.ys = make([]float64, width)
		case sums == nil && g.y.Dense != nil:
			b.ys = make([]float64, height*width)
		}
		for r := lo; r < hi; r += height {
			end := min(r+height, hi)
			b.fill(i+r, i+end, dst[r*cols:end*cols])
		}
	})
}

// block is what one goroutine needs.
type block struct {
	*Gram
	frame
	distances     bool
	sums          *sums      // if the kernel has one, with
	pairs         *vec.Pairs // its height rows of dense y and
	yNumbers      []float64  // the numbers of as many sparse ones
	width, height int
	xs, ys        []float64 // height expanded rows each; with sums, ys has room for one
	pair          pair
}

// expand writes row i of rows, as the kernel takes it, into dst.
func (b *block) expand(rows matrix.Rows, i int, dst []float64) {
	if b.sums != nil {
		b.sums.expand(rows, i, dst)
		return
	}
	expand(rows, i, dst, b.mean)
	if b.kernel.Name == "hellinger" {
		for j, v := range dst {
			dst[j] = b.kernel.root(v)
		}
	}
}

// expandY takes rows [lo, hi) of y.
func (b *block) expandY(lo, hi int) {
	b.yNumbers = b.yNumbers[:0]
	for c := lo; c < hi; c++ {
		switch {
		case b.sums != nil && b.y.Dense != nil:
			b.expand(b.y, c, b.ys)
			b.pairs.Set(c-lo, b.ys)
		case b.y.Dense != nil:
			b.expand(b.y, c, b.ys[(c-lo)*b.width:][:b.width])
		case b.sums != nil:
			_, val := b.y.CSR.Row(c)
			for _, v := range val {
				numbers := b.sums.numbers(v)
				b.yNumbers = append(b.yNumbers, numbers[:b.sums.of.Arrays()]...)
			}
		case b.kernel.Name == "hellinger":
			_, val := b.y.CSR.Row(c)
			for _, v := range val {
				b.yNumbers = append(b.yNumbers, b.kernel.root(float64(v)))
			}
		}
	}
}

// fill writes rows [i, j) of the matrix.
func (b *block) fill(i, j int, dst []float64) {
	d, cols := b.width, b.y.Len()
	for r := i; r < j; r++ {
		b.expand(b.x, r, b.xs[(r-i)*d:][:d])
	}
	for lo := 0; lo < cols; lo += b.height {
		hi := min(lo+b.height, cols)
		b.expandY(lo, hi)
		if b.y.Dense != nil && b.sums != nil {
			b.pairs.Rows(j-i, hi-lo, b.xs, dst[lo:], cols)
		} else if b.y.Dense != nil {
			vec.GemmNT(j-i, hi-lo, d, b.xs, d, b.ys, d, dst[lo:], cols)
		}
		for r := i; r < j; r++ {
			out := dst[(r-i)*cols:][lo:hi]
			x := b.xs[(r-i)*d:][:d]
			switch {
			case b.y.CSR != nil && b.sums != nil:
				b.sparseSums(out, x, r, lo)
			case b.y.CSR != nil:
				b.sparseDots(out, x, lo)
			}
			if b.distances {
				b.distances2(r, lo, out)
			} else {
				b.values(r, lo, out)
			}
		}
	}
	if !b.same || !b.distances && !b.kernel.unit() {
		return
	}
	diagonal := 1.0
	if b.distances {
		diagonal = 0
	}
	for r := i; r < j; r++ {
		dst[(r-i)*cols+r] = diagonal
	}
}

// values turns row r's dot products with y's rows from lo on, or what else the kernel's
// argument is, into kernel values.
func (b *block) values(r, lo int, s []float64) {
	k := b.kernel
	switch k.Name {
	case "linear", "hellinger":
	case "chi2", "intersection", "jensen-shannon":
		if b.sums.factor != 1 {
			for c := range s {
				s[c] *= b.sums.factor
			}
		}
	case "cauchy", "skewed-chi2":
		for c, v := range s {
			s[c] = k.fromExcess(v)
		}
	case "rbf", "laplacian", "exp", "exp-chi2", "skewed-intersection":
		gamma := -k.Gamma
		if k.Name == "skewed-intersection" {
			gamma = -1
		}
		if k.Name == "rbf" {
			b.squares(r, lo, s, b.cancels(r))
		} else if k.Name == "exp" {
			gamma = k.Gamma
		}
		for c := range s {
			s[c] *= gamma
		}
		vec.Exp64(s, s)
	case "matern":
		b.squares(r, lo, s, b.cancels(r))
		if b.poly != nil {
			b.closedForm(s)
			return
		}
		b.logs(s)
		for c := range s {
			s[c] = -s[c]
		}
		vec.Exp64(s, s)
	case "arccos":
		b.arccos(r, lo, s)
	default:
		for c, v := range s {
			s[c] = k.of(v)
		}
	}
}

// distances2 turns what values does into squared distances.
func (b *block) distances2(r, lo int, s []float64) {
	k := b.kernel
	switch k.Name {
	case "linear":
		b.squares(r, lo, s, true)
	case "rbf":
		b.squares(r, lo, s, true)
		for c, v := range s {
			s[c] = 2 * k.gap(v)
		}
	case "laplacian", "exp-chi2", "skewed-intersection":
		for c, v := range s {
			if b.xNorm != nil && v < nearRows*(b.xNorm[r]+b.yNorm[lo+c]) {
				v = b.sums.exactly(b.rowsOf(r, lo+c))
			}
			s[c] = 2 * k.gap(v)
		}
	case "cauchy", "skewed-chi2":
		for c, v := range s {
			s[c] = 2 * k.gapFromExcess(v)
		}
	case "hellinger", "chi2", "intersection", "jensen-shannon":
		if b.sums != nil && b.sums.distances {
			return
		}
		b.values(r, lo, s)
		xx := b.xNorm[r]
		for c, xy := range s {
			yy := b.yNorm[lo+c]
			if s[c] = positive(xx + yy - 2*xy); s[c] < nearRows*(xx+yy) {
				s[c] = k.additiveDistance(b.rowsOf(r, lo+c))
			}
		}
	case "matern":
		b.squares(r, lo, s, true)
		b.logs(s)
		for c, v := range s {
			s[c] = -2 * math.Expm1(-v)
		}
	case "arccos":
		b.arccosDistances(r, lo, s)
	default:
		xx := b.xNorm[r]
		for c, xy := range s {
			yy, towards := b.yNorm[lo+c], xy
			if k.mirrored(xy) {
				towards = -xy
			}
			if s2 := xx + yy - 2*towards; s2 < nearRows*(xx+yy) {
				s[c] = k.Distance2(b.rowsOf(r, lo+c))
			} else {
				s[c] = k.dotDistance(xy, xx-towards, yy-towards, s2)
			}
		}
	}
}

// nearRows is the share of ‖x‖² + ‖y‖² under which ‖x-y‖² is computed from the rows themselves:
// taken from norms and products, it has lost three digits there.
const nearRows = 1e-3

// cancels says whether ‖x_r-y‖² from norms and products may be so wrong that a kernel value
// is wrong by 10⁻¹³, the derivative of k by ‖x-y‖² being γ at most, or γν/(ν-1).
func (b *block) cancels(r int) bool {
	slope := b.kernel.Gamma
	if b.kernel.Name == "matern" {
		if b.kernel.Nu <= 1 {
			return true // there is no bound
		}
		slope *= b.kernel.Nu / (b.kernel.Nu - 1)
	}
	return slope*(b.xNorm[r]+b.yMost) > 50
}

// squares turns dot products into ‖x-y‖², those of near rows exactly if asked for.
func (b *block) squares(r, lo int, s []float64, exactly bool) {
	xx := b.xNorm[r]
	yNorm := b.yNorm[lo:][:len(s)]
	for c, xy := range s {
		s[c] = max(0, xx+yNorm[c]-2*xy)
	}
	if !exactly {
		return
	}
	for c, v := range s {
		if v < nearRows*(xx+yNorm[c]) {
			s[c] = squared(b.rowsOf(r, lo+c))
		}
	}
}

// rowsOf returns row r of x and row c of y side by side.
func (b *block) rowsOf(r, c int) (x, y []float32) { return b.pair.of(b.x, r, b.y, c) }

// logs turns ‖x-y‖² into -log k of matern.
func (b *block) logs(s []float64) {
	for c := range s {
		s[c] *= b.kernel.Gamma
	}
	b.table.log(s)
}

// closedForm turns ‖x-y‖² into p(z)e^-z.
func (b *block) closedForm(s []float64) {
	var z [128]float64
	root, scale := math.Sqrt(b.kernel.Gamma), 2*math.Sqrt(b.kernel.Nu)
	for len(s) > 0 {
		n := min(len(s), len(z))
		for c, v := range s[:n] {
			z[c] = min(scale*(root*math.Sqrt(v)), mostZ)
			s[c] = -z[c]
		}
		vec.Exp64(s[:n], s[:n])
		if len(b.poly) > 1 {
			for c, v := range z[:n] {
				s[c] *= horner(b.poly, v)
			}
		}
		s = s[n:]
	}
}

// parallel is the 1 - |cos θ| under which the angle is taken from the rows themselves.
const parallel = 1e-5

// cosine returns cos θ from x·y, and ‖x‖‖y‖.
func cosine(xy, xx, yy float64) (cos, length float64) {
	length = math.Sqrt(xx * yy)
	if length == 0 {
		return 0, 0
	}
	return min(1, max(-1, xy/length)), length
}

// arccos turns dot products into values of the arc-cosine kernel.
func (b *block) arccos(r, lo int, s []float64) {
	for c, xy := range s {
		cos, length := cosine(xy, b.xNorm[r], b.yNorm[lo+c])
		switch {
		case b.kernel.Degree == 1:
			s[c] = max(0, length/math.Pi*(math.Sqrt((1-cos)*(1+cos))+math.Acos(-cos)*cos))
		case 1-math.Abs(cos) < parallel:
			s[c] = b.kernel.arccos(angleOf(b.rowsOf(r, lo+c)))
		default:
			s[c] = math.Acos(-cos) / math.Pi
		}
	}
}

// arccosDistances turns dot products into squared distances of the arc-cosine kernel.
func (b *block) arccosDistances(r, lo int, s []float64) {
	for c, xy := range s {
		a := angle{xx: b.xNorm[r], yy: b.yNorm[lo+c]}
		cos, _ := cosine(xy, a.xx, a.yy)
		if 1-cos < parallel || a.xx+a.yy-2*xy < nearRows*(a.xx+a.yy) {
			s[c] = b.kernel.Distance2(b.rowsOf(r, lo+c))
			continue
		}
		a.theta = math.Acos(cos)
		s[c] = b.kernel.arccosDistance(a, a.xx-a.yy)
	}
}
