package pool

import (
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// vectors are m random vectors of d numbers: dense, or as lists of the entries that are 1 and those
// that are -1.
type vectors struct {
	m, d  int
	dense []float32 // row-major; nil:
	ptr   []int32   // vector j has the entries ptr[j] to ptr[j+1]
	list  []uint32  // the position of each entry, and the top bit for -1
}

// mostSparsity bounds s.
const mostSparsity = 1 << 30

// listed says whether vectors of sparsity s are kept as lists. Per entry, a product with a dense
// vector costs a tenth of one with a list.
func listed(s float64) bool { return s >= 8 }

// vectorsBytes is the memory of vectors.
func vectorsBytes(d, m int, s float64) float64 {
	if listed(s) {
		return 4*float64(d)*float64(m)/s + 16*float64(m)
	}
	return 4 * float64(d) * float64(m)
}

// newSparse draws vectors with entries 1, 0 and -1 with probabilities 1/2s, 1-1/s, 1/2s
// (Achlioptas 2001; Li, Hastie and Church 2006), vector j from the stream of j and index.
func newSparse(seed uint64, s float64, m, d int, index ...uint64) *vectors {
	v := &vectors{m: m, d: d}
	limit := uint64(0x1p63 / s) // this many of 2⁶³ numbers give a nonzero entry
	lists := make([][]uint32, m)
	if !listed(s) {
		v.dense = make([]float32, m*d)
	}
	vec.Parallel(m, 16, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			r := random.New(seed, "feature.pk-rp", append([]uint64{uint64(j)}, index...)...)
			for i := range d {
				u := r.Uint64()
				switch {
				case u>>1 >= limit:
				case v.dense != nil:
					v.row(j)[i] = 1 - 2*float32(u&1)
				default:
					lists[j] = append(lists[j], uint32(i)|uint32(u&1)<<31)
				}
			}
		}
	})
	if v.dense != nil {
		return v
	}
	v.ptr = []int32{0}
	v.list = slices.Concat(lists...)
	for _, l := range lists {
		v.ptr = append(v.ptr, v.ptr[len(v.ptr)-1]+int32(len(l)))
	}
	return v
}

func (v *vectors) row(j int) []float32 { return v.dense[j*v.d:][:v.d] }

func (v *vectors) entries(j int) []uint32 { return v.list[v.ptr[j]:v.ptr[j+1]] }

func (v *vectors) bytes() int64 { return 4 * int64(len(v.dense)+len(v.list)+len(v.ptr)) }

// project writes v·x, m×width, for x of d×width.
func (v *vectors) project(dst, x []float32, width int) {
	if v.dense != nil {
		vec.Gemm32(v.m, width, v.d, v.dense, v.d, x, width, dst, width)
		return
	}
	vec.SignedSums32(dst, x, width, v.ptr, v.list)
}

// back writes vᵀ·x, d×width, for x of m×width.
func (v *vectors) back(dst, x []float32, width int) {
	if v.dense != nil {
		vec.GemmTN32(v.d, width, v.m, v.dense, v.d, x, width, dst, width)
		return
	}
	clear(dst[:v.d*width])
	for j := range v.m {
		row := x[j*width:][:width]
		for _, e := range v.entries(j) {
			vec.Axpy32(signed(1, e), row, dst[int(e&^negative)*width:][:width])
		}
	}
}
