package vec

// GemmAddTNWide computes C += Aᵀ·B for a float32 A k×m, B k×n and C m×n in float64, for
// small n: every element of C is the sum, over blocks of columnRows rows, of one chain of
// multiply-adds in their order.
func GemmAddTNWide(m, n, k int, a []float32, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	_, _, _ = a[(k-1)*lda+m-1], b[(k-1)*ldb+n-1], c[(m-1)*ldc+n-1]
	s := columnKernels()
	width := s.padded(n)
	right := micro64.buffers.Get(min(k, columnRows) * width)
	for lo := 0; lo < k; lo += columnRows {
		rows := min(columnRows, k-lo)
		for i := range rows {
			row := right[i*width : (i+1)*width]
			clear(row[copy(row, b[(lo+i)*ldb:(lo+i)*ldb+n]):])
		}
		groups := m / s.width
		each := func(from, to int) {
			for g := from; g < to; g++ {
				s.group(s.width, n, rows, a[lo*lda+g*s.width:], lda, right, width, c[g*s.width*ldc:], ldc)
			}
		}
		if work(m, width, rows) < smallWork {
			each(0, groups)
		} else {
			Parallel(groups, 8, each)
		}
		if j := groups * s.width; j < m {
			last := micro32.buffers.Get(rows * s.width)
			for i := range rows {
				row := last[i*s.width : (i+1)*s.width]
				clear(row[copy(row, a[(lo+i)*lda+j:(lo+i)*lda+m]):])
			}
			s.group(m-j, n, rows, last, s.width, right, width, c[j*ldc:], ldc)
			micro32.keep(last)
		}
	}
	micro64.keep(right)
}

// columnRows is how many rows one call of a kernel reads, which cannot be preempted.
const columnRows = 1024

// columnShape is the shape of the kernels of a level: width columns of A times a few
// columns of B, or many.
type columnShape struct{ width, few, many int }

// step is how many columns of B are multiplied next if n remain.
func (s columnShape) step(n int) int {
	if n > s.few {
		return s.many
	}
	return s.few
}

// padded is n rounded up to what the kernels take.
func (s columnShape) padded(n int) int {
	all := 0
	for all < n {
		all += s.step(n - all)
	}
	return all
}

// columnProducts is room for the output of one call of any kernel: its columns of A times those of
// B, one column of B after the other.
type columnProducts [16 * 12]float64

// group multiplies a group of columns of A, of which the first m are needed, with all of B.
func (s columnShape) group(m, n, rows int, a []float32, lda int, b []float64, ldb int, c []float64, ldc int) {
	var products columnProducts
	for t := 0; t < n; {
		step := s.step(n - t)
		multiplyColumns(step == s.many, rows, a, lda, b[t:], ldb, &products)
		for u := range min(step, n-t) {
			for l, v := range products[u*s.width : u*s.width+m] {
				c[l*ldc+t+u] += v
			}
		}
		t += step
	}
}

// plainColumns is the shape of multiplyColumnsPlain.
var plainColumns = columnShape{width: 16, few: 4, many: 12}

func multiplyColumnsPlain(many bool, rows int, a []float32, lda int, b []float64, ldb int, products *columnProducts) {
	count := plainColumns.few
	if many {
		count = plainColumns.many
	}
	clear(products[:])
	for i := range rows {
		x := a[i*lda : i*lda+plainColumns.width]
		for t, y := range b[i*ldb : i*ldb+count] {
			to := products[t*plainColumns.width:][:len(x)]
			for l, v := range x {
				to[l] += float64(float64(v) * y)
			}
		}
	}
}
