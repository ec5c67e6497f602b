package exact

import (
	"sync/atomic"

	"mercer/internal/engine/vec"
)

// falkonParts is how many parts the rows are divided into, each of which is summed separately, so
// that no sum depends on the number of threads.
const falkonParts = 32

// fewOutputs is the number of outputs up to which a matrix product is slower than one output at a time.
const fewOutputs = 2

// falkonHeight is how many rows of K_nm are processed at a time. With few outputs they are read twice and take
// 512 KB in float32, so that the second time they come from the L2 cache. With many they are multiplied as
// matrices, which must be high enough that sums of all outputs are seldom read and written.
func falkonHeight(m, outputs int) int {
	if outputs > fewOutputs {
		return 128
	}
	return min(256, max(8, 1<<17/m))
}

// falkonRows are rows of K_nm that are processed together, and room for them.
type falkonRows struct {
	at     []int       // their numbers, ascending
	values [][]float32 // m each
	wide   []float64   // the same, len(at)×m, with many outputs
	out    []float64   // room for their K outputs

	narrow []float32 // what values points to if K_nm is not kept
	work   []float64
}

func (f *falkon) newRows() *falkonRows {
	height := falkonHeight(f.m, f.k)
	b := &falkonRows{at: make([]int, 0, height), values: make([][]float32, height), out: make([]float64, height*f.k)}
	if f.kept == nil || f.k > fewOutputs {
		b.wide = make([]float64, height*f.m)
	}
	if f.kept == nil {
		b.narrow, b.work = make([]float32, height*f.m), make([]float64, height*f.against.Work())
	}
	return b
}

// falkonRowsBytes is what newRows takes at most.
func falkonRowsBytes(d, m, outputs int) int64 {
	return 4 * int64(falkonHeight(m, outputs)) * int64(3*m+6*d+2*outputs+10)
}

// each calls do for blocks of rows of K_nm whose weights are not 0, one part of the rows after the other on each
// thread, and fails if the context is done.
func (f *falkon) each(weights []float64, do func(part int, b *falkonRows)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	step := (f.n + falkonParts - 1) / falkonParts
	f.parts(func(next func() (part int, ok bool)) {
		b := f.newRows()
		for part, ok := next(); ok; part, ok = next() {
			for i, end := part*step, min((part+1)*step, f.n); i < end; {
				b.at = b.at[:0]
				for ; i < end && len(b.at) < cap(b.at); i++ {
					if weights == nil || weights[i] != 0 {
						b.at = append(b.at, i)
					}
				}
				if len(b.at) > 0 {
					f.load(b)
					do(part, b)
				}
			}
		}
	})
	return nil
}

// parts calls do on every thread, which takes one part of the rows after the other from next.
func (f *falkon) parts(do func(next func() (part int, ok bool))) {
	var taken atomic.Int64
	vec.Parallel(min(vec.Threads(), falkonParts), 1, func(lo, hi int) {
		do(func() (int, bool) {
			part := int(taken.Add(1)) - 1
			return part, part < falkonParts
		})
	})
}

// load fetches or computes the values of the rows b.at.
func (f *falkon) load(b *falkonRows) {
	m := f.m
	for r, i := range b.at {
		if f.kept != nil {
			b.values[r] = f.kept[i*m : (i+1)*m]
		} else {
			b.values[r] = b.narrow[r*m : (r+1)*m]
		}
	}
	if f.kept == nil {
		for r := 0; r < len(b.at); {
			s := r + 1
			for s < len(b.at) && b.at[s] == b.at[s-1]+1 {
				s++
			}
			f.against.Rows(f.x, b.at[r], b.at[s-1]+1, b.wide[:(s-r)*m], b.work)
			vec.RoundValues(b.narrow[r*m:s*m], b.wide[:(s-r)*m])
			r = s
		}
	}
	if f.k > fewOutputs {
		for r := range b.at {
			vec.Expand32(b.wide[r*m:(r+1)*m], b.values[r])
		}
	}
}

// keep computes K_nm.
func (f *falkon) keep() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	f.kept = make([]float32, f.n*f.m)
	height := falkonHeight(f.m, f.k)
	vec.Parallel(f.n, height, func(lo, hi int) {
		wide, work := make([]float64, height*f.m), make([]float64, height*f.against.Work())
		for i := lo; i < hi && f.ctx.Err() == nil; i += height {
			j := min(i+height, hi)
			f.against.Rows(f.x, i, j, wide[:(j-i)*f.m], work)
			vec.RoundValues(f.kept[i*f.m:j*f.m], wide[:(j-i)*f.m])
		}
	})
	return f.ctx.Err()
}

// falkonStrip is how many numbers of a row are multiplied at a time: those of u, or of a sum, stay in the L1 cache.
const falkonStrip = 2048

// normal writes K_nmᵀW(K_nm·u) into g, or K_nmᵀW(r - K_nm·u) for a given r, n×K; a u that is nil is 0.
func (f *falkon) normal(g, u, r, weights, sums []float64) error {
	clear(sums)
	size := f.k * f.m
	packed := f.pack(u)
	err := f.each(weights, func(part int, b *falkonRows) {
		out := b.out[:len(b.at)*f.k]
		if u != nil {
			f.multiply(b, u, packed)
		}
		for s, i := range b.at {
			for t := range f.k {
				v := &out[s*f.k+t]
				switch {
				case r != nil && u != nil:
					*v = r[i*f.k+t] - *v
				case r != nil:
					*v = r[i*f.k+t]
				}
				if weights != nil {
					*v *= weights[i]
				}
			}
		}
		f.addTransposed(sums[part*size:][:size], b)
	})
	clear(g)
	for part := range falkonParts {
		vec.Axpy64(1, sums[part*size:][:size], g)
	}
	return err
}

// pack prepares u for multiply, if there are many outputs.
func (f *falkon) pack(u []float64) *vec.Packed[float64] {
	if u == nil || f.k <= fewOutputs {
		return nil
	}
	return vec.PackT64(f.k, f.m, u, f.m)
}

// multiply writes the rows of K_nm times u into b.out.
func (f *falkon) multiply(b *falkonRows, u []float64, packed *vec.Packed[float64]) {
	out := b.out[:len(b.at)*f.k]
	if packed != nil {
		packed.Multiply(len(b.at), b.wide, f.m, out, f.k, nil)
		return
	}
	clear(out)
	for lo := 0; lo < f.m; lo += falkonStrip {
		hi := min(lo+falkonStrip, f.m)
		for r := range b.at {
			for t := range f.k {
				out[r*f.k+t] += vec.DotMixed(b.values[r][lo:hi], u[t*f.m+lo:t*f.m+hi])
			}
		}
	}
}

// addTransposed adds b.outᵀ times the rows of K_nm to g, K×m.
func (f *falkon) addTransposed(g []float64, b *falkonRows) {
	if f.k > fewOutputs {
		vec.GemmAddTN(f.k, f.m, len(b.at), b.out, f.k, b.wide, f.m, g, f.m)
		return
	}
	for lo := 0; lo < f.m; lo += falkonStrip {
		hi := min(lo+falkonStrip, f.m)
		for r := range b.at {
			for t := range f.k {
				vec.AxpyWide(b.out[r*f.k+t], b.values[r][lo:hi], g[t*f.m+lo:t*f.m+hi])
			}
		}
	}
}
