package pool

import (
	"mercer/feature"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// mean averages a feature map over a bag (Bo and Sminchisescu, "Efficient match kernels
// between sets of features for visual recognition", 2009): the product of two rows is about
// the mean of the map's kernel over all pairs of vectors. Sums are in float64.
type mean struct {
	channels int
	z        feature.Map // nil: the vectors themselves
}

func (m *mean) features() int {
	if m.z == nil {
		return m.channels
	}
	_, features := m.z.Dims()
	return features
}

func (m *mean) bytes() int64 {
	if m.z == nil {
		return 0
	}
	return m.z.Bytes()
}

// pool writes rows [lo, hi) of dst, mapping vectors of several bags together.
func (m *mean) pool(dst *matrix.Dense, x matrix.Rows, bags []int, lo, hi int, w *work) {
	const numbers = 1 << 18 // of a block
	features := m.features()
	rows := max(16, min(groupRows, numbers/features))
	if cap(w.sums) < features {
		w.sums = make([]float64, features)
	}
	sums := w.sums[:features]
	clear(sums)
	bag := lo
	finish := func(at int) { // writes the bags that end at row at
		for ; bag < hi && bags[bag+1] == at; bag++ {
			row := dst.Row(bag)
			by := 1 / float64(max(1, bags[bag+1]-bags[bag]))
			for i, s := range sums {
				row[i] = float32(s * by)
			}
			clear(sums)
		}
	}
	finish(bags[lo])
	for at := bags[lo]; at < bags[hi]; at += rows {
		end := min(at+rows, bags[hi])
		block := w.rows(x, at, end)
		if m.z != nil {
			w.out.Reshape(end-at, features)
			m.z.Transform(&w.out, block)
			block = matrix.Rows{Dense: &w.out}
		}
		for i := range end - at {
			if block.CSR != nil {
				idx, val := block.CSR.Row(i)
				for k, j := range idx {
					sums[j] += float64(val[k])
				}
			} else {
				vec.AxpyWide(1, block.Dense.Row(i), sums)
			}
			finish(at + i + 1)
		}
	}
}

// average writes the mean of the vectors of a bag.
func (m *mean) average(y []float32, b *bag) {
	by := 1 / float64(b.n)
	for j := range y {
		sum := 0.0
		for l := range b.n {
			sum += float64(b.x[l*b.stride+j])
		}
		y[j] = float32(sum * by)
	}
}

// backward gives all vectors of a bag the same share of the gradient.
func (m *mean) backward(dx *matrix.Dense, b *bag, g []float32) {
	by := float32(1 / float64(b.n))
	for l := range b.n {
		row := dx.Data[l*dx.Stride:][:dx.Cols]
		for j, v := range g {
			row[j] = by * v
		}
	}
}
