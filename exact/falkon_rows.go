package exact

import "mercer/internal/vec"

// falkonParts is how many parts the rows are divided into, each of which is summed separately, so
// that no sum depends on the number of threads.
const falkonParts = 32

// falkonBlock is how many rows of K_nm are processed at a time: 512 KB of them in float64.
func falkonBlock(m int) int { return min(256, max(8, 1<<16/m)) }

// each calls do for blocks of rows of K_nm, one part of the rows after the other on each thread,
// and fails if the context is done. values are the rows [i, j) of K_nm and may be changed; out
// has room for their K outputs.
func (f *falkon) each(do func(part, i, j int, values, out []float64)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	block := falkonBlock(f.m)
	step := (f.n + falkonParts - 1) / falkonParts
	step = (step + block - 1) / block * block
	if f.filled && f.k <= fewOutputs {
		block = 1 // single outputs are computed row by row anyway, and a row stays in the L1 cache
	}
	vec.Parallel(falkonParts, 1, func(lo, hi int) {
		values, out := make([]float64, block*f.m), make([]float64, block*f.k)
		var work []float64
		if !f.filled {
			work = make([]float64, block*f.against.Work())
		}
		for part := lo; part < hi; part++ {
			end := min((part+1)*step, f.n)
			for i := part * step; i < end; i += block {
				j := min(i+block, end)
				v := values[:(j-i)*f.m]
				if f.filled {
					clear(v)
					vec.AxpyWide(1, f.kept[i*f.m:j*f.m], v)
				} else {
					f.against.Rows(f.x, i, j, v, work)
					f.round(v, i)
				}
				do(part, i, j, v, out[:(j-i)*f.k])
			}
		}
	})
	f.filled = f.kept != nil
	return nil
}

// round rounds values of K_nm, from row i on, to float32, and stores them if K_nm is kept.
func (f *falkon) round(values []float64, i int) {
	if f.kept == nil {
		for c, v := range values {
			values[c] = float64(float32(v))
		}
		return
	}
	kept := f.kept[i*f.m:][:len(values)]
	for c, v := range values {
		kept[c] = float32(v)
		values[c] = float64(kept[c])
	}
}

// multiply writes the rows of K_nm times u into out.
func (f *falkon) multiply(out, values, u []float64) {
	if rows := len(values) / f.m; f.k > fewOutputs {
		vec.GemmNT(rows, f.k, f.m, values, f.m, u, f.m, out, f.k)
		return
	}
	for r := range len(values) / f.m {
		for t := range f.k {
			out[r*f.k+t] = vec.Dot64(values[r*f.m:][:f.m], u[t*f.m:][:f.m])
		}
	}
}

// addTransposed adds outᵀ times the rows of K_nm to g, K×m.
func (f *falkon) addTransposed(g, values, out []float64) {
	rows := len(values) / f.m
	if f.k > fewOutputs {
		vec.GemmAddTN(f.k, f.m, rows, out, f.k, values, f.m, g, f.m)
		return
	}
	for r := range rows {
		for t := range f.k {
			vec.Axpy64(out[r*f.k+t], values[r*f.m:][:f.m], g[t*f.m:][:f.m])
		}
	}
}

// fewOutputs is the number of outputs up to which a matrix product is slower than one output at a time.
const fewOutputs = 2

// normal writes K_nmᵀW(K_nm·u) into g, or K_nmᵀWr for a given r, n×K.
func (f *falkon) normal(g, u, r, weights, sums []float64) error {
	clear(sums)
	size := f.k * f.m
	err := f.each(func(part, i, j int, values, out []float64) {
		if r != nil {
			copy(out, r[i*f.k:j*f.k])
		} else {
			f.multiply(out, values, u)
		}
		if weights != nil {
			for c := range out {
				out[c] *= weights[i+c/f.k]
			}
		}
		f.addTransposed(sums[part*size:][:size], values, out)
	})
	clear(g)
	for part := range falkonParts {
		vec.Axpy64(1, sums[part*size:][:size], g)
	}
	return err
}
