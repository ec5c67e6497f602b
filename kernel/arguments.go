package kernel

import "math"

// What the kernels depend on, of one row x, in float64, and many rows of y, where it is no
// matrix product.

// sparseDots writes x·y_c for the sparse rows of y from lo on; of hellinger, those of their
// roots.
func (b *block) sparseDots(out, x []float64, lo int) {
	if b.kernel.Name == "hellinger" {
		roots := b.yNumbers
		for c := range out {
			idx, _ := b.y.CSR.Row(lo + c)
			sum := 0.0
			for k, j := range idx {
				sum += x[j] * roots[k]
			}
			out[c], roots = sum, roots[len(idx):]
		}
		return
	}
	for c := range out {
		idx, val := b.y.CSR.Row(lo + c)
		sum := 0.0
		for k, j := range idx {
			sum += x[j] * float64(val[k])
		}
		out[c] = sum
	}
}

// absolute writes ‖x-y_c‖₁ for the rows of y from lo on, x being row r. For sparse rows it is
// ‖x‖₁, corrected where y_c is not 0.
func (b *block) absolute(out, x []float64, r, lo int) {
	if b.y.Dense != nil {
		for c := range out {
			out[c] = distance1(x, b.y.Dense.Row(lo+c))
		}
		return
	}
	norm := 0.0
	for _, v := range x {
		norm += math.Abs(v)
	}
	exactly := b.distances || b.kernel.Gamma*norm > 50
	for c := range out {
		idx, val := b.y.CSR.Row(lo + c)
		sum := norm
		for k, j := range idx {
			sum += math.Abs(x[j]-float64(val[k])) - math.Abs(x[j])
		}
		if exactly && sum < nearRows*norm {
			sum = absolute(b.rowsOf(r, lo+c))
		}
		out[c] = max(0, sum)
	}
}

// distance1 is ‖x-y‖₁, in four sums so that they do not wait for each other.
func distance1(x []float64, y []float32) float64 {
	x = x[:len(y)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(y); i += 4 {
		a += math.Abs(x[i] - float64(y[i]))
		b += math.Abs(x[i+1] - float64(y[i+1]))
		c += math.Abs(x[i+2] - float64(y[i+2]))
		d += math.Abs(x[i+3] - float64(y[i+3]))
	}
	for ; i < len(y); i++ {
		a += math.Abs(x[i] - float64(y[i]))
	}
	return (a + b) + (c + d)
}

// excess writes Π(1 + γ²Δ²) - 1 for the rows of y from lo on, x being row r. For sparse rows
// the logarithm of the product is that of y = 0, corrected where y_c is not 0.
func (b *block) excess(out, x []float64, r, lo int) {
	gamma := b.kernel.Gamma
	if b.y.Dense != nil {
		for c := range out {
			out[c] = excess(gamma, x, b.y.Dense.Row(lo+c))
		}
		return
	}
	var zero logProduct
	terms := b.ys // γ²x²
	for j, v := range x {
		terms[j] = term(gamma * v)
		zero.multiply(terms[j])
	}
	all := zero.log()
	exactly := b.distances || all > 50
	for c := range out {
		idx, val := b.y.CSR.Row(lo + c)
		var less, more logProduct
		for k, j := range idx {
			less.multiply(terms[j])
			more.multiply(term(gamma * (x[j] - float64(val[k]))))
		}
		log := all - less.log() + more.log()
		if exactly && log < nearRows*all {
			x, y := b.rowsOf(r, lo+c)
			out[c] = excess(gamma, x, y)
		} else {
			out[c] = math.Expm1(max(0, log))
		}
	}
}

// term is d², held to what a logProduct takes: no kernel value has anything to gain from a
// factor below 10⁻¹⁵⁰.
func term(d float64) float64 { return min(d*d, 1e150) }

// logProduct is the logarithm of a product of 1 + t, t from 0 to 10¹⁵⁰, without a logarithm
// for each.
type logProduct struct{ sum, excess float64 }

func (p *logProduct) multiply(t float64) {
	p.excess += t + p.excess*t
	if p.excess > 1e150 {
		p.sum += math.Log1p(p.excess)
		p.excess = 0
	}
}

func (p *logProduct) log() float64 { return p.sum + math.Log1p(p.excess) }
