package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRowsGoSideBySideAndBack(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(91, 1))
		for _, cols := range []int{0, 1, 7, 8, 15, 16, 17, 24, 31, 33, 100, 1100} {
			for rows := 1; rows <= Lanes; rows++ {
				stride, step := cols+r.IntN(3), Lanes+r.IntN(3)
				src := numbers[float32](r, (rows-1)*stride+cols)
				side := make([]float32, max(0, cols-1)*step+Lanes)
				Interleave32(rows, cols, side, step, src, stride)
				for j := range cols {
					for i := range Lanes {
						if got, want := side[j*step+i], src[min(i, rows-1)*stride+j]; got != want {
							t.Fatalf("%d×%d: number %d of lane %d is %g, want %g", rows, cols, j, i, got, want)
						}
					}
				}
				for j := range cols { // what is behind the last row does not matter
					for i := rows; i < Lanes; i++ {
						side[j*step+i] = -1
					}
				}
				back := make([]float32, len(src))
				for i := range back {
					back[i] = 7
				}
				Deinterleave32(rows, cols, back, stride, side, step)
				for at, got := range back {
					want := float32(7)
					if stride == 0 || at%stride < cols {
						want = src[at]
					}
					if got != want {
						t.Fatalf("%d×%d: back, row %d, column %d is %g, want %g", rows, cols, at/stride, at%stride, got, want)
					}
				}
			}
		}
	})
}

// someSigns is a matrix d×m with long and short lists, some empty.
func someSigns(r *rand.Rand, d, m int) (ptr []int, idx []int32) {
	ptr = []int{0}
	for j := range 2 * m {
		for i := range d {
			if r.IntN(1+j%7) == 0 && j%5 != 4 {
				idx = append(idx, int32(i))
			}
		}
		ptr = append(ptr, len(idx))
	}
	return ptr, idx
}

// The sums are those of one row after the other, in the order of the lists, to the bit; also of
// lists longer than a call of the kernel takes.
func TestSumsOfSignsInOrder(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(92, 1))
		for _, shape := range [][2]int{{0, 3}, {1, 1}, {5, 20}, {100, 33}, {3 * longestSigns, 3}} {
			d, m := shape[0], shape[1]
			ptr, idx := someSigns(r, d, m)
			s := NewSparseSigns(d, ptr, idx)
			src := numbers[float32](r, d*SignLanes)
			for _, shift := range [][]float32{nil, numbers[float32](r, m)} {
				j := r.IntN(m)
				n := m - j
				step := Lanes + r.IntN(2)
				group := n*step + r.IntN(3)
				dst := make([]float32, SignLanes/Lanes*group)
				var b []float32
				if shift != nil {
					b = shift[j:]
				}
				s.Multiply(j, n, dst, step, group, src, 0.3, b)
				for c := range n {
					for i := range SignLanes {
						var sum float32
						for _, l := range idx[ptr[2*(j+c)]:ptr[2*(j+c)+1]] {
							sum += src[int(l)*SignLanes+i]
						}
						for _, l := range idx[ptr[2*(j+c)+1]:ptr[2*(j+c)+2]] {
							sum -= src[int(l)*SignLanes+i]
						}
						want := float32(0.3 * sum)
						if shift != nil {
							want += b[c]
						}
						if got := dst[i/Lanes*group+c*step+i%Lanes]; math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("%v: column %d, row %d is %g, want %g", shape, j+c, i, got, want)
						}
					}
				}
			}
		}
	})
}

// naive is what Products computes, for row i of rows side by side.
func (p *Products) naive(c, i int, k []float32) float32 {
	sum := p.start
	for term := range p.terms {
		product := float32(1)
		for j := range p.degree {
			f := k[int(p.index[(term*p.degree+j)*p.outputs+c])*Lanes+i]
			if product = float32(product * f); j == 0 {
				product = f
			}
		}
		sum = float32(sum + product)
	}
	return float32(p.scale * sum)
}

// A row's sums of products are the same alone and beside others, on each level, to the bit:
// also where an output has too many factors for the kernels, and the sign of a zero.
func TestProductsFromTheLeft(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(93, 1))
		for _, shape := range [][4]int{ // m, outputs, degree, terms
			{1, 1, 1, 1}, {5, 15, 2, 1}, {5, 16, 2, 1}, {9, 33, 2, 3}, {40, 70, 1, 2}, {40, 47, 3, 2}, {300, 1100, 2,
				1}, {1 << 16, 64, 4, 1}, {20, 17, 7, longestProduct / 6},
		} {
			m, outputs, degree, terms := shape[0], shape[1], shape[2], shape[3]
			index := make([]uint16, outputs*degree*terms)
			for i := range index {
				index[i] = uint16(r.IntN(m))
			}
			k := numbers[float32](r, m*Lanes)
			for i := range k {
				if r.IntN(10) == 0 {
					k[i] = 0
				}
			}
			for _, start := range []float32{0, float32(math.Copysign(0, -1))} {
				p := NewProducts(m, outputs, degree, terms, index, start, 0.7)
				for _, rows := range []int{1, 3, 8, 9, 16} {
					stride := outputs + r.IntN(3)
					dst := make([]float32, rows*stride)
					for i := range dst {
						dst[i] = 7
					}
					p.Rows(rows, dst, stride, k)
					one, z := make([]float32, m), make([]float32, outputs)
					for i := range rows {
						for l := range one {
							one[l] = k[l*Lanes+i]
						}
						p.Row(z, one)
						for c, got := range dst[i*stride:][:stride] {
							if c >= outputs {
								if got != 7 {
									t.Fatalf("%v: behind output %d of row %d stands %g", shape, outputs-1, i, got)
								}
								continue
							}
							want := math.Float32bits(p.naive(c, i, k))
							if math.Float32bits(got) != want || math.Float32bits(z[c]) != want {
								t.Fatalf("%v, start %g, %d rows: output %d of row %d is %g, alone %g, want %g", shape,
									start, rows, c, i, got, z[c], math.Float32frombits(want))
							}
						}
					}
				}
			}
		}
	})
}

func TestListsAndIndicesAreChecked(t *testing.T) {
	for name, f := range map[string]func(){
		"descending bounds": func() { NewSparseSigns(5, []int{0, 2, 1}, []int32{1, 2}) },
		"bounds too far":    func() { NewSparseSigns(5, []int{0, 2, 3}, []int32{1, 2}) },
		"a half column":     func() { NewSparseSigns(5, []int{0, 2}, []int32{1, 2}) },
		"index of a row":    func() { NewSparseSigns(2, []int{0, 1, 2}, []int32{1, 2}) },
		"negative index":    func() { NewSparseSigns(2, []int{0, 1, 2}, []int32{1, -1}) },
		"index of a number": func() { NewProducts(2, 1, 2, 1, []uint16{1, 2}, 0, 1) },
		"missing indices":   func() { NewProducts(2, 2, 2, 1, []uint16{1, 1}, 0, 1) },
		"short dst": func() {
			NewProducts(1, 2, 1, 1, []uint16{0, 0}, 0, 1).Rows(2, make([]float32, 3), 2, make([]float32, Lanes))
		},
		"short k": func() {
			NewProducts(2, 1, 1, 1, []uint16{0}, 0, 1).Rows(1, make([]float32, 1), 1, make([]float32, Lanes))
		},
		"short lanes": func() { Interleave32(1, 2, make([]float32, 2*Lanes-1), Lanes, make([]float32, 2), 2) },
		"short rows":  func() { Deinterleave32(2, 2, make([]float32, 3), 2, make([]float32, 2*Lanes), Lanes) },
		"17 rows":     func() { Interleave32(17, 1, make([]float32, 17), 17, make([]float32, 17), 1) },
		"short sums": func() {
			NewSparseSigns(1, []int{0, 1, 1}, []int32{0}).Multiply(0, 1, make([]float32, SignLanes-1), Lanes, Lanes,
				make([]float32, SignLanes), 1, nil)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// What goes past the caches has the same bits, wherever it begins, with elements in its midst
// that are too large for the kernel.
func TestStreamedWavesAreTheSame(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(94, 1))
		for _, n := range []int{0, 5, 127, 128, 129, 300, 9000} {
			x := numbers[float32](r, n)
			for i := range x {
				x[i] *= 20
				if n < 9000 && r.IntN(100) == 0 {
					x[i] = 1e9
				}
			}
			wantSin, wantCos := make([]float32, n), make([]float32, n)
			SinCos32(wantSin, wantCos, x, 0.5)
			for _, at := range [][2]int{{0, 0}, {3, 3}, {3, 19}, {15, 15}, {0, 4}, {5, 0}} {
				sin, cos := aligned[float32](n + 33)[at[0]:][:n+1], aligned[float32](n + 33)[at[1]:][:n+1]
				sin[n], cos[n] = 7, 7
				SinCosStream32(sin, cos, x, 0.5)
				Streamed()
				for i := range x {
					if math.Float32bits(sin[i]) != math.Float32bits(wantSin[i]) || math.Float32bits(cos[i]) != math.Float32bits(wantCos[i]) {
						t.Fatalf("%d elements at %v: of %g %g, %g, want %g, %g", n, at, x[i], sin[i], cos[i], wantSin[i], wantCos[i])
					}
				}
				if sin[n] != 7 || cos[n] != 7 {
					t.Fatalf("%d elements at %v: it writes behind them", n, at)
				}
			}
		}
	})
}
