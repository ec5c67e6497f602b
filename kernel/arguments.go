package kernel

import "math"

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

// term is the product of two numbers of equal sign, held to what a logProduct takes: no kernel
// value has anything to gain from a factor below 10⁻¹⁵⁰.
func term(d, e float64) float64 { return min(d*e, 1e150) }

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
