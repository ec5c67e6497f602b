package vec

import (
	"fmt"
	"slices"
)

// Sums and products of rows of a matrix given by lists. Rows have a width that is
// a multiple of 16 and are contiguous. Sums have a fixed order: that of the list.

// negative is the bit of a list entry that marks a row to be subtracted.
const negative = 1 << 31

// SignedSums32 writes len(ptr)-1 rows to dst: row j is the sum of the rows of x that
// list[ptr[j]:ptr[j+1]] names, where the top bit marks a row to be subtracted.
func SignedSums32(dst, x []float32, width int, ptr []int32, list []uint32) {
	checkWidth(width)
	n := len(ptr) - 1
	if n == 0 || width == 0 {
		return
	}
	rows := len(x) / width
	if !slices.IsSorted(ptr) {
		panic("vec: lists that do not stand one behind the other")
	}
	for _, e := range list[ptr[0]:ptr[n]] {
		if int(e&^negative) >= rows {
			panic(fmt.Sprintf("vec: row %d of %d", e&^negative, rows))
		}
	}
	dst = dst[:n*width]
	if signedSums(dst, x, width, ptr, list) {
		return
	}
	for j := range n {
		sum := dst[j*width:][:width]
		clear(sum)
		for _, e := range list[ptr[j]:ptr[j+1]] {
			row := x[int(e&^negative)*width:][:width]
			if e&negative == 0 {
				for i, v := range row {
					sum[i] += v
				}
				continue
			}
			for i, v := range row {
				sum[i] -= v
			}
		}
	}
}

// PairDots32 adds the product of the rows a[c] of k and b[c] of h to y[c], for all c.
func PairDots32(y, k, h []float32, width int, a, b []int32) {
	checkWidth(width)
	if width == 0 {
		return
	}
	y, b = y[:len(a)], b[:len(a)]
	rowsK, rowsH := uint32(len(k)/width), uint32(len(h)/width)
	for c, i := range a {
		if uint32(i) >= rowsK || uint32(b[c]) >= rowsH {
			panic(fmt.Sprintf("vec: rows %d of %d and %d of %d", i, rowsK, b[c], rowsH))
		}
	}
	if len(a) == 0 || pairDots(y, k, h, width, a, b) {
		return
	}
	for c, i := range a {
		y[c] += Dot32(k[int(i)*width:][:width], h[int(b[c])*width:][:width])
	}
}

func checkWidth(width int) {
	if width%16 != 0 {
		panic(fmt.Sprintf("vec: a width of %d is no multiple of 16", width))
	}
}

// Transpose32 writes the rows×cols numbers of src, lds apart, to dst as cols×rows, ldd apart.
func Transpose32(dst []float32, ldd int, src []float32, lds, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+cols-1], dst[(cols-1)*ldd+rows-1]
	m, n := transposeBlocks(dst, ldd, src, lds, rows, cols)
	for i := range rows {
		row := src[i*lds:][:cols]
		j := n
		if i >= m {
			j = 0
		}
		for ; j < cols; j++ {
			dst[j*ldd+i] = row[j]
		}
	}
}
