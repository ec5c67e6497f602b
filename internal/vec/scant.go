package vec

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// Products of rows that are mostly zeros with a packed B. A term that is 0 changes no sum, so
// that leaving it out gives the same numbers to the bit, as long as the others are added up in the
// same chains. So rows may be taken either way, by what is faster.

// sparseKernel computes columns of a row of C, those of sparsePanels panels of B that are step
// bytes apart. The row's elements are in blocks, of which there are counts: the t-th is val[t] in
// column idx[t]. The sum of a block is added to C, but for the first one's if add is 0.
type sparseKernel[T float32 | float64] func(blocks int, counts, idx *int32, val, panel *T, step int, c *T, add int)

const (
	// sparsePanels is how many panels a sparse kernel takes.
	sparsePanels = 4

	// sparseMost is how many elements one call of the kernel gets, and a block more: it cannot
	// be interrupted.
	sparseMost = 512

	// sparseDone is how many numbers of C are computed before they are passed on: half of what
	// the second cache holds.
	sparseDone = 1 << 16

	// sparseWritten is how many numbers of sparse rows are written out at a time, if more than
	// a strip of them.
	sparseWritten = 1 << 17
)

// scarce says whether it is faster to leave zeros out, where rows of k columns have n elements. A
// strip takes as long as one of all its rows if it is dense.
func scarce(n, rows, k int) bool { return 3*n <= rows*k }

// scant is the memory of a goroutine for rows by their elements.
type scant[T float32 | float64] struct {
	rows   []scantRow
	counts []int32 // of elements in blocks
	idx    []int32 // elements of dense rows
	val    []T
	dense  []T // sparse rows with many elements
	c      []T // columns of fewer than sparsePanels panels
	first  [16]int32
}

// scantRow is row i of A by its elements, counts[from:to] in each block.
type scantRow struct {
	i        int
	at       int // the first element
	from, to int
}

// mostlyZero says, after a look at a few rows of a dense A, whether leaving zeros out pays.
func (mk *micro[T]) mostlyZero(p *product[T]) bool {
	if p.m == 0 || p.k < 32 || p.n < 8*mk.nr {
		return false
	}
	p.check()
	n, looks := 0, min(4, p.m)
	for t := range looks {
		for _, v := range p.a[t*p.m/looks*p.ars:][:p.k] {
			if v == 0 {
				continue
			}
			if n++; !scarce(n, looks, p.k) {
				return false
			}
		}
	}
	return true
}

// multiplyScant is multiply for a packed B and an A that is sparse, or dense and mostly zero.
func (mk *micro[T]) multiplyScant(p product[T]) {
	threads := Threads()
	if p.m <= mk.mr {
		threads = 1
	}
	g := mk.cutScant(&p, threads)
	if threads = min(threads, g.rows*g.cols); threads > 1 {
		mk.scantParallel(p, threads, g)
		return
	}
	w, s := mk.get(), mk.getScant()
	for t := range g.rows * g.cols {
		mk.scantBlock(&p, g, t, w, s)
	}
	mk.put(w)
	mk.putScant(s)
}

// cutScant makes blocks of many rows, since four panels of B are read for all of them before the
// next four. Columns are divided only where there are too few rows for all goroutines.
func (mk *micro[T]) cutScant(p *product[T], threads int) grid {
	height := fewestRows
	if sparsePanels*mk.nr*p.k*mk.size > 1<<20 {
		height *= 8 // the panels come from memory
	}
	if p.ptr == nil {
		height = min(height, max(1, 1<<22/p.k))
	}
	g := grid{height: p.m, width: p.n, cols: 1}
	if height = min(height, max(fewestRows, (p.m+4*threads-1)/(4*threads))); height < p.m {
		g.height = (height + mk.mr - 1) / mk.mr * mk.mr
	}
	g.rows = (p.m + g.height - 1) / g.height
	if least := 4 * sparsePanels * mk.nr; threads > 1 && g.rows < 2*threads && p.n > least {
		g.width = least
		g.cols = (p.n + least - 1) / least
	}
	return g
}

func (mk *micro[T]) scantParallel(p product[T], threads int, g grid) {
	var next atomic.Int64
	together(threads, func() {
		w, s := mk.get(), mk.getScant()
		for t := int(next.Add(1)) - 1; t < g.rows*g.cols; t = int(next.Add(1)) - 1 {
			mk.scantBlock(&p, g, t, w, s)
		}
		mk.put(w)
		mk.putScant(s)
	})
}

func (mk *micro[T]) getScant() *scant[T] {
	select {
	case s := <-mk.scants:
		return s
	default:
		return &scant[T]{}
	}
}

func (mk *micro[T]) putScant(s *scant[T]) {
	select {
	case mk.scants <- s:
	default:
	}
}

// scantBlock computes the t-th block of C: strips of rows with many elements as dense ones.
func (mk *micro[T]) scantBlock(p *product[T], g grid, t int, w *panels[T], s *scant[T]) {
	i0, j0 := t%g.rows*g.height, t/g.rows*g.width
	i1, j1 := min(i0+g.height, p.m), min(j0+g.width, p.n)
	s.rows, s.counts, s.idx, s.val = s.rows[:0], s.counts[:0], s.idx[:0], s.val[:0]
	block := mk.block(max(p.k, 1))
	dense := i0 // rows from here on are to be multiplied as dense ones
	for i := i0; i < i1; i += mk.mr {
		end, few := min(i+mk.mr, i1), false
		if p.ptr == nil {
			few = mk.gather(p, s, i, end, block)
		} else {
			few = s.refer(p, i, end, mk.mr, block)
		}
		if few {
			mk.scantDense(p, dense, i, j0, j1, w, s)
			dense = end
		}
	}
	mk.scantDense(p, dense, i1, j0, j1, w, s)
	idx, val := s.idx, s.val
	if p.ptr != nil {
		idx, val = p.idx, p.a
	}
	width := sparsePanels * mk.nr
	if p.n <= width-mk.nr {
		width = mk.nr // too few panels
	}
	for done, j := j0, j0; j < j1; {
		cols := min(width, j1-j)
		for _, row := range s.rows {
			if c := p.c[row.i*p.ldc+j:][:cols]; row.from < row.to {
				mk.scantColumns(p, j, c, s, row, idx, val)
			} else {
				clear(c)
			}
		}
		j += cols
		if p.after != nil && (j == j1 || (j-done)*(i1-i0) >= sparseDone) {
			p.after(i0, done, i1-i0, j-done)
			done = j
		}
	}
}

// gather collects the elements of dense rows [i, end), if they are few.
func (mk *micro[T]) gather(p *product[T], s *scant[T], i, end, block int) bool {
	const line = 64 // a kernel may write so many bytes more
	rows, counts, first := len(s.rows), len(s.counts), len(s.idx)
	for ; i < end; i++ {
		row := scantRow{i: i, at: len(s.idx), from: len(s.counts)}
		s.idx, s.val = slices.Grow(s.idx, p.k+line), slices.Grow(s.val, p.k+line)
		idx, val, n := s.idx[row.at:row.at+p.k+line], s.val[row.at:row.at+p.k+line], 0
		for l := 0; l < p.k; l += block {
			before := n
			n += mk.list(p.a[i*p.ars+l:][:min(block, p.k-l)], l, &s.first, idx[n:], val[n:])
			if n > before {
				s.counts = append(s.counts, int32(n-before))
			}
		}
		s.idx, s.val = s.idx[:row.at+n], s.val[:row.at+n]
		row.to = len(s.counts)
		s.rows = append(s.rows, row)
		if !scarce(len(s.idx)-first, mk.mr, p.k) {
			s.rows, s.counts, s.idx, s.val = s.rows[:rows], s.counts[:counts], s.idx[:first], s.val[:first]
			return false
		}
	}
	return true
}

// list lists the numbers of x that are not zero, of which the first is in column l. It writes
// more than it lists, and needs first to work with.
func (mk *micro[T]) list(x []T, l int, first *[16]int32, idx []int32, val []T) int {
	done, n := 0, 0
	if lanes := 64 / mk.size; mk.elements != nil && len(x) >= lanes {
		for t := range first {
			first[t] = int32(l + t)
		}
		done = len(x) / lanes * lanes
		n = mk.elements(done, &x[0], &first[0], &idx[0], &val[0])
	}
	for t, v := range x[done:] {
		idx[n], val[n] = int32(l+done+t), v
		if v != 0 {
			n++
		}
	}
	return n
}

// refer lists the elements of sparse rows [i, end), if they are few.
func (s *scant[T]) refer(p *product[T], i, end, strip, block int) bool {
	if !scarce(p.ptr[end]-p.ptr[i], strip, p.k) {
		return false
	}
	for ; i < end; i++ {
		row := scantRow{i: i, at: p.ptr[i], from: len(s.counts)}
		limit, n := 0, 0 // of the block, and how many are in it
		for _, l := range p.idx[p.ptr[i]:p.ptr[i+1]] {
			// Columns that do not ascend or that come twice are more blocks.
			if l := int(l); l >= limit || l < limit-block || n == block {
				limit, n = l-l%block+block, 0
				s.counts = append(s.counts, 0)
			}
			n++
			s.counts[len(s.counts)-1]++
		}
		row.to = len(s.counts)
		s.rows = append(s.rows, row)
	}
	return true
}

// scantDense computes rows [i, end), columns [j0, j1) of C as those of a dense A.
func (mk *micro[T]) scantDense(p *product[T], i, end, j0, j1 int, w *panels[T], s *scant[T]) {
	step, lda := end-i, p.ars
	if p.ptr != nil {
		step, lda = max(mk.mr, sparseWritten/max(p.k, 1)/mk.mr*mk.mr), p.k
	}
	for ; i < end; i += step {
		rows := min(step, end-i)
		a := p.a[min(i*p.ars, len(p.a)):]
		if p.ptr != nil {
			a = s.write(p, i, rows)
		}
		q := product[T]{m: rows, n: j1 - j0, k: p.k, alpha: 1, a: a, ars: lda, acs: 1, packed: p.packed[j0*p.k:], c: p.c[i*p.ldc+j0:], ldc: p.ldc}
		g := mk.cut(&q, 1)
		for t := range g.cols {
			mk.task(&q, g, t, w)
		}
	}
}

// write writes out sparse rows.
func (s *scant[T]) write(p *product[T], i, rows int) []T {
	s.dense = slices.Grow(s.dense[:0], rows*p.k)[:rows*p.k]
	clear(s.dense)
	for r := range rows {
		row := s.dense[r*p.k:][:p.k]
		for t := p.ptr[i+r]; t < p.ptr[i+r+1]; t++ {
			row[p.idx[t]] += p.a[t]
		}
	}
	return s.dense
}

// scantColumns computes len(c) columns of a row of C, from column j on: those of sparsePanels
// panels, or of what is left of them, or, where there are fewer, those of one.
func (mk *micro[T]) scantColumns(p *product[T], j int, c []T, s *scant[T], row scantRow, idx []int32, val []T) {
	width, panels := sparsePanels*mk.nr, (p.n+mk.nr-1)/mk.nr
	first, step, to := j, mk.nr*p.k, c
	if len(c) < width {
		if s.c == nil {
			s.c = make([]T, width)
		}
		// Together with panels before, or one panel four times.
		first, to = (panels-sparsePanels)*mk.nr, s.c
		if first < 0 {
			first, step = j, 0
		}
	}
	at, add := row.at, 0
	for b := row.from; b < row.to; {
		begin, n := b, 0
		for ; b < row.to && n < sparseMost; b++ {
			n += int(s.counts[b])
		}
		mk.sparse(b-begin, &s.counts[begin], &idx[at], &val[at], &p.packed[first*p.k], step*mk.size, &to[0], add)
		at, add = at+n, 1
	}
	if len(c) < width {
		copy(c, s.c[j-first:])
	}
}

// portableSparse is the sparse kernel in Go, for panels of 4 columns.
func portableSparse[T float32 | float64](blocks int, counts, idx *int32, val, panel *T, step int, c *T, add int) {
	size := int(unsafe.Sizeof(T(0)))
	four := func(p *T, i int) *[4]T { return (*[4]T)(unsafe.Add(unsafe.Pointer(p), i*size)) }
	at := 0
	for _, n := range unsafe.Slice(counts, blocks) {
		is, vs := unsafe.Slice(idx, at+int(n))[at:], unsafe.Slice(val, at+int(n))[at:]
		at += int(n)
		for i := range sparsePanels {
			var t [4]T
			for e, l := range is {
				y, v := four(panel, i*step/size+4*int(l)), vs[e]
				// The conversion keeps machines from fusing, so that all round alike.
				t[0] += T(v * y[0])
				t[1] += T(v * y[1])
				t[2] += T(v * y[2])
				t[3] += T(v * y[3])
			}
			to := four(c, 4*i)
			for j, v := range t {
				if add != 0 {
					v += to[j]
				}
				to[j] = v
			}
		}
		add = 1
	}
}
