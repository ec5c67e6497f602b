package vec

import (
	"math"
	"slices"
	"unsafe"
)

// Products of rows that are mostly zeros with a packed B. A zero term changes no sum, so
// leaving it out gives the same numbers, as long as the others are added in the same
// order: to the bit, except for the sign of a zero from underflow. So each strip of rows may be
// processed either way, whichever is faster.

// sparseKernel computes columns of a row of C, those of sparsePanels panels of B that are step
// bytes apart, or of one. The row's elements are in blocks, at least one, of which there are
// counts, all above 0: the t-th is val[t] in column idx[t]. The sum of a block is added to C, except
// that the first is stored if add is 0.
type sparseKernel[T float32 | float64] func(blocks int, counts, idx *int32, val, panel *T, step int, c *T, add int)

const (
	sparsePanels = 4

	// sparseMost is how many elements one call of the kernel gets, plus a block: it
	// cannot be preempted.
	sparseMost = 512

	// sparseCache is how many bytes of panels are used at a time:
	// half of the L2 cache.
	sparseCache = 1 << 20

	// sparseDone is how many numbers of C are computed before they are passed on.
	sparseDone = 1 << 16

	// sparseHeld bounds the elements of dense rows that are listed at a time, and
	// sparseWritten the numbers of sparse rows that are made dense, beyond one strip.
	sparseHeld, sparseWritten = 1 << 20, 1 << 17

	// scarce is the ratio of numbers to nonzero elements of a row from which leaving zeros out
	// is faster.
	scarce = 3
)

// scant is the memory of a goroutine for rows by their elements.
type scant[T float32 | float64] struct {
	rows    []scantRow
	counts  []int32 // of elements in blocks
	idx     []int32 // elements of dense rows
	val     []T
	written []T // strips of sparse rows with many elements
	columns [16]int32
}

// scantRow is row i of A by its elements, of which counts[from:to] are in one block each. next
// and at are the current block of the sums, and its first element.
type scantRow struct {
	i               int
	first, from, to int
	at, next        int
}

// shrink frees unusually large buffers.
func (s *scant[T]) shrink() {
	if cap(s.idx) > 2*sparseHeld {
		s.idx, s.val = nil, nil
	}
	if cap(s.written) > 2*sparseHeld {
		s.written = nil
	}
}

// mostlyZero reports, from a few rows of a dense A, whether leaving zeros out pays.
func (mk *micro[T]) mostlyZero(p *product[T]) bool {
	if p.m == 0 || p.k < 32 || p.n < 8*mk.nr {
		return false
	}
	p.check()
	looks := min(4, p.m)
	left := looks * p.k / scarce
	for t := range looks {
		for _, v := range p.a[t*p.m/looks*p.ars:][:p.k] {
			if v != 0 {
				left--
			}
			if left < 0 {
				return false
			}
		}
	}
	return true
}

// cutScant makes blocks of many rows, since the panels of B are read again for each.
// Columns are divided only if there are too few rows for all goroutines.
func (mk *micro[T]) cutScant(p *product[T], threads int) grid {
	height := fewestRows
	if sparsePanels*mk.nr*p.k*mk.size > sparseCache {
		height *= 8 // the panels come from memory
	}
	height = min(height, max(fewestRows, (p.m+4*threads-1)/(4*threads)))
	if p.ptr == nil {
		height = min(height, max(1, scarce*sparseHeld/p.k))
	}
	g := grid{height: p.m, width: p.n, cols: 1}
	if height < p.m {
		g.height = (height + mk.mr - 1) / mk.mr * mk.mr
	}
	g.rows = (p.m + g.height - 1) / g.height
	if g.rows < 2*threads && threads > 1 {
		group := sparsePanels * mk.nr
		parts := (4*threads + g.rows - 1) / g.rows
		g.width = max(4*group, ((p.n+parts-1)/parts+group-1)/group*group)
		g.cols = (p.n + g.width - 1) / g.width
	}
	return g
}

// scantTask computes the t-th block of C: strips of rows with many elements as dense ones.
func (mk *micro[T]) scantTask(p *product[T], g grid, t int, w *panels[T]) {
	i0, j0 := t%g.rows*g.height, t/g.rows*g.width
	i1, j1 := min(i0+g.height, p.m), min(j0+g.width, p.n)
	s := &w.scant
	s.rows, s.counts, s.idx, s.val = s.rows[:0], s.counts[:0], s.idx[:0], s.val[:0]
	block := mk.block(max(p.k, 1))
	from := i0 // rows from here on are dense
	for i := i0; i < i1; i += mk.mr {
		end, sparse := min(i+mk.mr, i1), false
		if p.ptr == nil {
			sparse = mk.gather(p, s, i, end, block)
		} else {
			sparse = mk.refer(p, s, i, end, block)
		}
		if sparse {
			mk.scantDense(p, from, i, j0, j1, w)
			from = end
		}
	}
	mk.scantDense(p, from, i1, j0, j1, w)
	for done, j := j0, j0; j < j1; {
		cols := min(sparsePanels*mk.nr, j1-j)
		if cols <= (sparsePanels-1)*mk.nr {
			cols = min(mk.nr, cols) // panel by panel
		}
		mk.scantColumns(p, j, cols, block, w)
		j += cols
		if p.after != nil && (j == j1 || (j-done)*(i1-i0) >= sparseDone) {
			p.after(i0, done, i1-i0, j-done)
			done = j
		}
	}
}

// gather lists the elements of dense rows [i, end), if they are few. As a dense strip, a strip
// with fewer rows takes as long as a full one.
func (mk *micro[T]) gather(p *product[T], s *scant[T], i, end, block int) bool {
	rows, counts, first := len(s.rows), len(s.counts), len(s.idx)
	for ; i < end; i++ {
		const line = 16 // a kernel may write this many numbers more
		row := scantRow{i: i, first: len(s.idx), from: len(s.counts)}
		s.idx, s.val = slices.Grow(s.idx, p.k+line), slices.Grow(s.val, p.k+line)
		idx, val, n := s.idx[row.first:row.first+p.k+line], s.val[row.first:row.first+p.k+line], 0
		for l := 0; l < p.k; l += block {
			before := n
			n += mk.list(p.a[i*p.ars+l:][:min(block, p.k-l)], l, &s.columns, idx[n:], val[n:])
			if n > before {
				s.counts = append(s.counts, int32(n-before))
			}
		}
		s.idx, s.val = s.idx[:row.first+n], s.val[:row.first+n]
		row.to = len(s.counts)
		s.rows = append(s.rows, row)
		if scarce*(len(s.idx)-first) > mk.mr*p.k {
			s.rows, s.counts, s.idx, s.val = s.rows[:rows], s.counts[:counts], s.idx[:first], s.val[:first]
			return false
		}
	}
	return true
}

// list lists the numbers of x that are not zero, of which the first is in column l. It writes
// more than it lists, and needs columns to work with.
func (mk *micro[T]) list(x []T, l int, columns *[16]int32, idx []int32, val []T) int {
	done, n := 0, 0
	if lanes := 64 / mk.size; mk.nonzeros != nil && len(x) >= lanes {
		for t := range columns {
			columns[t] = int32(l + t)
		}
		done = len(x) / lanes * lanes
		n = mk.nonzeros(done, &x[0], &columns[0], &idx[0], &val[0])
	}
	for t, v := range x[done:] {
		idx[n], val[n] = int32(l+done+t), v
		if v != 0 {
			n++
		}
	}
	return n
}

// refer counts the elements of sparse rows [i, end), if they are few.
func (mk *micro[T]) refer(p *product[T], s *scant[T], i, end, block int) bool {
	share := scarce
	if p.n <= (sparsePanels-1)*mk.nr {
		share-- // making rows dense costs more than it saves
	}
	if share*(p.ptr[end]-p.ptr[i]) > mk.mr*p.k && !p.infinite {
		return false
	}
	for ; i < end; i++ {
		row := scantRow{i: i, first: p.ptr[i], from: len(s.counts)}
		for idx := p.idx[p.ptr[i]:p.ptr[i+1]]; len(idx) > 0; {
			l := int(idx[0])
			n := ahead(idx[:min(len(idx), block)], l-l%block+block)
			s.counts = append(s.counts, int32(n))
			idx = idx[n:]
		}
		row.to = len(s.counts)
		s.rows = append(s.rows, row)
	}
	return true
}

// ahead is how many of the columns are below limit, as the first one is: by doubling steps,
// then bisection. If columns do not ascend it is some number of at least 1.
func ahead(columns []int32, limit int) int {
	lo, hi := 1, 2
	for hi < len(columns) && int(columns[hi]) < limit {
		lo, hi = hi+1, 2*hi
	}
	for hi = min(hi, len(columns)); lo < hi; {
		if mid := (lo + hi) / 2; int(columns[mid]) < limit {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// scantDense computes rows [i, end), columns [j0, j1) of C as those of a dense A.
func (mk *micro[T]) scantDense(p *product[T], i, end, j0, j1 int, w *panels[T]) {
	step, lda := end-i, p.ars
	if p.ptr != nil {
		step, lda = max(mk.mr, sparseWritten/max(p.k, 1)/mk.mr*mk.mr), p.k
	}
	for ; i < end; i += step {
		rows := min(step, end-i)
		a := p.a[i*p.ars:]
		if p.ptr != nil {
			a = w.scant.write(p, i, rows)
		}
		q := product[T]{m: rows, n: j1 - j0, k: p.k, alpha: 1, a: a, ars: lda, acs: 1, packed: p.packed[j0*p.k:], c: p.c[i*p.ldc+j0:], ldc: p.ldc}
		g := mk.cut(&q, 1)
		for t := range g.cols {
			mk.denseTask(&q, g, t, w)
		}
	}
}

// write makes sparse rows dense.
func (s *scant[T]) write(p *product[T], i, rows int) []T {
	s.written = slices.Grow(s.written[:0], rows*p.k)[:rows*p.k]
	clear(s.written)
	for r := range rows {
		row := s.written[r*p.k:][:p.k]
		for t := p.ptr[i+r]; t < p.ptr[i+r+1]; t++ {
			row[p.idx[t]] += p.a[t]
		}
	}
	return s.written
}

// scantColumns computes columns [j, j+cols) of C, those of sparsePanels panels or of one, for the
// rows listed. All rows are multiplied with the rows of B that fit the cache before the next ones.
func (mk *micro[T]) scantColumns(p *product[T], j, cols, block int, w *panels[T]) {
	s, idx, val := &w.scant, w.scant.idx, w.scant.val
	if p.ptr != nil {
		idx, val = p.idx, p.a
	}
	kernel, width := mk.sparse, sparsePanels*mk.nr
	if cols <= mk.nr {
		kernel, width = mk.sparseOne, mk.nr
	}
	for t := range s.rows {
		row := &s.rows[t]
		row.at, row.next = row.first, row.from
		if row.from == row.to {
			clear(p.c[row.i*p.ldc+j:][:cols])
		}
	}
	step := max(1, sparseCache/(width*mk.size*block)) * block
	for l := step; ; l += step {
		if l >= p.k {
			l = math.MaxInt32
		}
		for t := range s.rows {
			row := &s.rows[t]
			for row.next < row.to {
				begin, n := row.next, 0
				for row.next < row.to && n < sparseMost && int(idx[row.at+n]) < l {
					n += int(s.counts[row.next])
					row.next++
				}
				if n == 0 {
					break
				}
				c, add := &p.c[row.i*p.ldc+j], begin-row.from
				if cols < width {
					c = &w.tile[0]
					if add != 0 {
						copy(w.tile, p.c[row.i*p.ldc+j:][:cols])
					}
				}
				kernel(row.next-begin, &s.counts[begin], &idx[row.at], &val[row.at], &p.packed[j*p.k], mk.nr*p.k*mk.size, c, add)
				if cols < width {
					copy(p.c[row.i*p.ldc+j:][:cols], w.tile)
				}
				row.at += n
			}
		}
		if l == math.MaxInt32 {
			return
		}
	}
}

// portableSparse and portableSparseOne are the sparse kernels in Go, for panels of 4 columns.
func portableSparse[T float32 | float64](blocks int, counts, idx *int32, val, panel *T, step int, c *T, add int) {
	size := int(unsafe.Sizeof(T(0)))
	for i := range sparsePanels {
		from, to := unsafe.Add(unsafe.Pointer(panel), i*step), unsafe.Add(unsafe.Pointer(c), 4*i*size)
		portableSparseOne(blocks, counts, idx, val, (*T)(from), step, (*T)(to), add)
	}
}

func portableSparseOne[T float32 | float64](blocks int, counts, idx *int32, val, panel *T, _ int, c *T, add int) {
	size := int(unsafe.Sizeof(T(0)))
	to, at := unsafe.Slice(c, 4), 0
	for _, n := range unsafe.Slice(counts, blocks) {
		is, vs := unsafe.Slice(idx, at+int(n))[at:], unsafe.Slice(val, at+int(n))[at:]
		at += int(n)
		var t [4]T
		for e, l := range is {
			y, v := (*[4]T)(unsafe.Add(unsafe.Pointer(panel), 4*int(l)*size)), vs[e]
			// The conversion prevents fused multiply-adds, so that all machines round alike.
			t[0] += T(v * y[0])
			t[1] += T(v * y[1])
			t[2] += T(v * y[2])
			t[3] += T(v * y[3])
		}
		for j, v := range t {
			if add != 0 {
				v += to[j]
			}
			to[j] = v
		}
		add = 1
	}
}
