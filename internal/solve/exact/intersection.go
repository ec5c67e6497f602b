package exact

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Intersection predicts like a machine of the intersection kernel, in time that hardly
// depends on its number of rows n. As the kernel is a sum over dimensions,
//
//	Σᵢ αᵢ Σⱼ min(s_j, x_ij) = Σⱼ f_j(s_j),  f_j(s) = A_j(r) + s·B_j(r),
//
// where r is the number of the x_ij ≤ s, A_j(r) the sum of αᵢx_ij over these, and B_j(r) that of
// αᵢ over the others (Maji, Berg and Malik, "Classification using intersection kernel support
// vector machines is efficient", 2008; Kumar's lecture of 2010). r is found by bisection, in
// O(log n); or f_j, which is linear between the x_ij and constant beyond the largest, is looked
// up in a table in O(1).
//
// It never changes and is safe for concurrent use.
type Intersection struct {
	d, k   int
	b      []float64
	lookup Lookup

	ptr    []int     // dimension j has the breaks [ptr[j], ptr[j+1])
	breaks []float32 // the distinct x_ij > 0, ascending
	ab     []float64 // A(r) and B(r), K of each, for all r: those of dimension j from 2K(ptr[j]+j) on

	scale []float64 // bins/(largest break), per dimension
	table []float64 // of dimension j from jK(bins+1) on
	bound []float64
	spare freelist.Slices[float64]
}

// Lookup is how an Intersection finds f_j(s).
type Lookup struct {
	// Bins is the number of equal cells from 0 to the largest value of each
	// dimension; 0 means bisection, which is exact.
	Bins int

	// Constant uses f_j at the middle of a cell, instead of the line through its ends.
	Constant bool
}

// LooksUp reports whether NewIntersection takes machines of a kernel: it must be the intersection
// kernel with degree of homogeneity 1.
func LooksUp(k kernel.Kernel) bool {
	sum, ok := k.Additive()
	return ok && k.Kind() == kernel.Intersection && sum.Homogeneity == 1
}

// NewIntersection prepares a machine's fast prediction. Bisection holds 4 + 16K bytes
// for every distinct nonzero number of each dimension of the machine's rows, and
// a table 8dK(bins + 1).
//
// Tables take LookupBytes, at most 16 GiB.
func NewIntersection(m *Machine, lookup Lookup) (*Intersection, error) {
	if !LooksUp(m.kernel) {
		return nil, fmt.Errorf("exact: the kernel is %v; only a machine of the intersection kernel with degree of homogeneity 1 is a sum of "+
			"functions of one number each", m.kernel)
	}
	if lookup.Bins < 0 || lookup.Bins > 1<<20 {
		return nil, fmt.Errorf("exact: a table of %d bins; it takes 1 to %d, or 0 for none", lookup.Bins, 1<<20)
	}
	if bytes := LookupBytes(m.x.Dim(), len(m.b), lookup.Bins); bytes > maxLookup {
		take, most := units.BytesApart(bytes, maxLookup)
		return nil, fmt.Errorf("exact: tables of %d bins for %d dimensions and %d outputs take %s, of %s at most; take fewer bins, or none",
			lookup.Bins, m.x.Dim(), len(m.b), take, most)
	}
	f := &Intersection{d: m.x.Dim(), k: len(m.b), b: m.b, lookup: lookup, bound: make([]float64, len(m.b))}
	f.setBreaks(m)
	if lookup.Bins > 0 {
		f.setTable()
		f.ptr, f.breaks, f.ab = nil, nil, nil
	}
	return f, nil
}

// maxLookup bounds the tables of a machine.
const maxLookup = 16 << 30

// LookupBytes is the size of tables of so many bins for d dimensions and k outputs; 0 for 0 bins.
func LookupBytes(d, k, bins int) int64 {
	if bins == 0 {
		return 0
	}
	return int64(min(8*float64(d)*float64(k)*float64(bins+1), math.MaxInt64/2))
}

// setBreaks sorts every dimension and computes the sums.
func (f *Intersection) setBreaks(m *Machine) {
	type number struct {
		x   float32
		row int
	}
	n, k := m.x.Len(), f.k
	columns := make([][]number, f.d)
	for i := range n {
		if m.x.CSR != nil {
			idx, val := m.x.CSR.Row(i)
			for t, j := range idx {
				if val[t] > 0 {
					columns[j] = append(columns[j], number{val[t], i})
				}
			}
			continue
		}
		for j, v := range m.x.Dense.Row(i) {
			if v > 0 { // min(s, 0) is 0 for every s ≥ 0
				columns[j] = append(columns[j], number{v, i})
			}
		}
	}
	f.ptr = make([]int, 1, f.d+1)
	for _, column := range columns {
		slices.SortStableFunc(column, func(a, b number) int { return cmp.Compare(a.x, b.x) })
		start := len(f.ab)
		f.ab = append(f.ab, make([]float64, 2*k)...) // r = 0: A is 0, and B the sum of all
		for at := 0; at < len(column); {
			x := column[at].x
			last := len(f.ab) - 2*k
			f.ab = append(f.ab, f.ab[last:]...)
			for ; at < len(column) && column[at].x == x; at++ {
				for t, a := range m.alpha[column[at].row*k:][:k] {
					f.ab[last+2*k+t] += float64(a * float64(x))
				}
			}
			f.breaks = append(f.breaks, x)
		}
		// B from the other end, so that it is exactly 0 there.
		b := make([]float64, k)
		for at, r := len(column), len(f.breaks); at > 0; {
			r--
			for ; at > 0 && column[at-1].x == f.breaks[r]; at-- {
				for t, a := range m.alpha[column[at-1].row*k:][:k] {
					b[t] += a
				}
			}
			copy(f.ab[start+2*k*(r-f.ptr[len(f.ptr)-1])+k:], b)
		}
		f.ptr = append(f.ptr, len(f.breaks))
	}
}

// exactly adds f_j(s) to sum.
func (f *Intersection) exactly(j int, s float64, sum []float64) {
	// The number of breaks ≤ s.
	lo, hi := f.ptr[j], f.ptr[j+1]
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); float64(f.breaks[mid]) <= s {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	ab := f.ab[2*f.k*(lo+j):][:2*f.k]
	for t := range sum {
		sum[t] += ab[t] + float64(s*ab[f.k+t])
	}
}

// setTable fills the tables and the bound of their error. In a cell of width h where the slopes of
// f_j range from B₀ to B₁, the error of the line through the ends is at most h(B₁-B₀)/4, and that of
// the middle value h/2·max(|B₀|, |B₁|).
func (f *Intersection) setTable() {
	bins, k := f.lookup.Bins, f.k
	f.scale = make([]float64, f.d)
	f.table = make([]float64, f.d*k*(bins+1))
	least, most, worst := make([]float64, k), make([]float64, k), make([]float64, k)
	for j := range f.d {
		lo, hi := f.ptr[j], f.ptr[j+1]
		if lo == hi {
			continue // f_j is 0
		}
		largest := float64(f.breaks[hi-1])
		h := largest / float64(bins)
		f.scale[j] = 1 / h
		table := f.table[j*k*(bins+1):][:k*(bins+1)]
		clear(worst)
		r := lo
		for c := range bins + 1 {
			at := h * float64(c)
			if c == bins {
				at = largest
			} else if f.lookup.Constant {
				at += h / 2
			}
			f.exactly(j, at, table[c*k:][:k])
			if c == bins {
				break
			}
			// The slopes of the cell: those after r breaks, after the breaks that lie in it,
			// and after one more for rounding.
			copy(least, f.ab[2*k*(r+j)+k:][:k])
			copy(most, least)
			for ; r < hi && float64(f.breaks[r]) <= h*float64(c+1); r++ {
				widen(least, most, f.ab[2*k*(r+1+j)+k:][:k])
			}
			for t := range worst {
				e := h * (most[t] - least[t]) / 4
				if f.lookup.Constant {
					e = h / 2 * math.Max(math.Abs(most[t]), math.Abs(least[t]))
				}
				worst[t] = math.Max(worst[t], e)
			}
		}
		for t, e := range worst {
			f.bound[t] += e
		}
	}
}

// widen extends the ranges from least to most to include v.
func widen(least, most, v []float64) {
	for t, x := range v {
		least[t], most[t] = math.Min(least[t], x), math.Max(most[t], x)
	}
}

// Bound returns, for each output, the largest error of a score, up to rounding: 0
// for bisection.
func (f *Intersection) Bound() []float64 { return slices.Clone(f.bound) }

// Scores writes the scores of the rows x into dst, which must be Len×K. A row's scores do not
// depend on the rows beside it. It takes O(d log n) per row, or O(d) with tables, where d
// counts the nonzero numbers.
func (f *Intersection) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if dst.Rows != x.Len() || dst.Cols != f.k {
		panic(fmt.Sprintf("exact: Scores wants a %d×%d dst, got %d×%d", x.Len(), f.k, dst.Rows, dst.Cols))
	}
	if x.Dim() != f.d {
		return fmt.Errorf("exact: rows of %d dimensions for a machine of %d", x.Dim(), f.d)
	}
	for i := range x.Len() {
		if j, v := improper(x, i); j >= 0 {
			return fmt.Errorf("exact: row %d, column %d: %g; the intersection kernel takes finite numbers of 0 or more", i+1, j+1, v)
		}
	}
	if x.Len() < 64 {
		f.score(dst, x, 0, x.Len())
	} else {
		vec.Parallel(x.Len(), 16, func(lo, hi int) { f.score(dst, x, lo, hi) })
	}
	return nil
}

// improper finds the first number of a row that is negative or not finite; column is -1 if there
// is none.
func improper(x matrix.Rows, i int) (column int, v float32) {
	if x.CSR != nil {
		idx, row := x.CSR.Row(i)
		for t, v := range row {
			if !(v >= 0 && v <= math.MaxFloat32) {
				return int(idx[t]), v
			}
		}
		return -1, 0
	}
	for j, v := range x.Dense.Row(i) {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return j, v
		}
	}
	return -1, 0
}

func (f *Intersection) score(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	sum := f.spare.Get(f.k)
	defer f.spare.Put(sum)
	for i := lo; i < hi; i++ {
		copy(sum, f.b)
		if x.CSR != nil {
			idx, val := x.CSR.Row(i)
			for t, j := range idx {
				f.add(int(j), float64(val[t]), sum)
			}
		} else {
			for j, v := range x.Dense.Row(i) {
				f.add(j, float64(v), sum)
			}
		}
		row := dst.Row(i)
		for t, v := range sum {
			row[t] = float32(v)
		}
	}
}

// add adds f_j(s), or its value from the table, to sum.
func (f *Intersection) add(j int, s float64, sum []float64) {
	if s == 0 {
		return // in sparse rows it is not even stored
	}
	if f.lookup.Bins == 0 {
		f.exactly(j, s, sum)
		return
	}
	bins, k := f.lookup.Bins, f.k
	at := s * f.scale[j]
	if at >= float64(bins) {
		for t, v := range f.table[k*(j*(bins+1)+bins):][:k] {
			sum[t] += v
		}
		return
	}
	c := int(at)
	cell := f.table[k*(j*(bins+1)+c):][:2*k]
	if f.lookup.Constant {
		for t := range sum {
			sum[t] += cell[t]
		}
		return
	}
	part := at - float64(c)
	for t := range sum {
		sum[t] += cell[t] + part*(cell[k+t]-cell[t])
	}
}
