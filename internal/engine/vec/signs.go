package vec

import "unsafe"

// Products with a matrix of signs, four at a time: the 16 sums ±x₀±x₁±x₂±x₃ are computed once and serve all rows of the
// matrix, each of which takes a quarter as many additions as it has signs (after Arlazarov, Dinic,
// Kronrod and Faradzhev 1970). A sign is a bit.

// Signs is a matrix of signs, rows×columns. Bit i%8 of byte i/8 of a row is set where the
// sign i is -1. Rows have an even number of bytes; the padding bits are arbitrary.
type Signs struct {
	rows, columns, stride int
	codes                 []byte
}

// NewSigns returns a matrix of rows×columns signs that are all 1.
func NewSigns(rows, columns int) *Signs {
	stride := (columns + 15) / 16 * 2
	return &Signs{rows, columns, stride, make([]byte, rows*stride)}
}

// Bytes is how much memory the signs take.
func (s *Signs) Bytes() int64 { return int64(len(s.codes)) }

// SetRow makes the signs of a row those of x.
func (s *Signs) SetRow(row int, x []float32) {
	codes := s.row(row)
	clear(codes)
	for i, v := range x[:s.columns] {
		if v < 0 {
			codes[i/8] |= 1 << (i % 8)
		}
	}
}

func (s *Signs) row(row int) []byte { return s.codes[row*s.stride:][:s.stride] }

// Row writes scale times the signs of a row.
func (s *Signs) Row(dst []float32, row int, scale float32) {
	codes := s.row(row)
	both := [2]float32{scale, -scale}
	for i := range dst[:s.columns] {
		dst[i] = both[codes[i/8]>>(i%8)&1]
	}
}

// Padded is how many rows Multiply16 reads: the columns and up to 15 more.
func (s *Signs) Padded() int { return 8 * s.stride }

// signBytes is how many bytes of signs have their tables in the L1 cache together: 32 KB.
const signBytes = 16

// signTable has 16 sums of 16 columns for each half of a byte.
type signTable [2 * signBytes * 16 * 16]float32

// Multiply16 writes the products with 16 columns, rows×16, for x of Padded()×16, whose rows beyond the columns are 0. Sums have a
// fixed order, the same at all levels.
func (s *Signs) Multiply16(dst, x []float32) {
	dst, x = dst[:16*s.rows], x[:16*s.Padded()]
	if s.columns == 0 || s.rows == 0 {
		clear(dst)
		return
	}
	var memory [len(signTable{}) + 16]float32
	table := (*signTable)(memory[-uintptr(unsafe.Pointer(&memory))%64/4:]) // a vector of 64 bytes is a cache line
	for at := 0; at < s.stride; at += signBytes {
		bytes := min(signBytes, s.stride-at)
		signTables(table, x[at*8*16:][:bytes*8*16])
		signProducts(dst, table, s.codes[at:], s.stride, bytes, s.rows, at > 0)
	}
}

func signTablesPlain(table *signTable, x []float32) {
	for at := 0; len(x) > 0; x, at = x[4*16:], at+16*16 {
		for lane := range 16 {
			a, b, c, d := x[lane], x[16+lane], x[32+lane], x[48+lane]
			u, v := [4]float32{a + b, b - a, a - b, -(a + b)}, [4]float32{c + d, d - c, c - d, -(c + d)}
			for q := range 16 {
				table[at+16*q+lane] = u[q%4] + v[q/4]
			}
		}
	}
}

func signProductsPlain(dst []float32, table *signTable, codes []byte, stride, bytes, rows int, add bool) {
	for c := range rows {
		var acc [4][16]float32
		for b, code := range codes[c*stride:][:bytes] {
			low, high := &acc[b%2*2], &acc[b%2*2+1]
			for lane, v := range (*[16]float32)(table[(2*b*16+int(code&15))*16:]) {
				low[lane] += v
			}
			for lane, v := range (*[16]float32)(table[((2*b+1)*16+int(code>>4))*16:]) {
				high[lane] += v
			}
		}
		for lane, v := range dst[16*c:][:16] {
			sum := (acc[0][lane] + acc[1][lane]) + (acc[2][lane] + acc[3][lane])
			if add {
				sum += v
			}
			dst[16*c+lane] = sum
		}
	}
}
