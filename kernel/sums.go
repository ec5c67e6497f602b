package kernel

import (
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// sums is what a kernel or its distance is a function of, where that is no product of
// matrices: a sum over the dimensions, whose arrays of numbers are functions of the rows'.
// laplacian, cauchy and the kernels of histograms but hellinger have one.
type sums struct {
	kernel    Kernel
	of        vec.PairSum
	distances bool    // the sums are an additive kernel's distances, not its values
	factor    float64 // what to multiply an additive kernel's sums by
	zero      float64 // what the second array of SumExcess has for 0
}

// sums returns the kernel's, for its values or its distances; nil if it has none. (hellinger's
// values are products of the roots of rows.)
func (k Kernel) sums(distances bool) *sums {
	s := &sums{kernel: k, factor: 1}
	one := k.homogeneity() == 1
	switch {
	case k.Name == "chi2" && one && distances:
		s.of, s.distances = vec.SumChi2Distance, true
	case k.Name == "chi2" && one:
		s.of, s.factor = vec.SumChi2, 2
	case k.Name == "chi2":
		s.of, s.factor = vec.SumWeightedChi2, 2
	case k.Name == "intersection" && one && distances:
		s.of, s.distances = vec.SumAbs, true
	case k.Name == "intersection" && one:
		s.of = vec.SumMin
	case k.Name == "intersection":
		s.of = vec.SumWeightedMin
	case k.Name == "jensen-shannon" && one:
		s.of, s.factor = vec.SumEntropy, 1/(2*math.Ln2)
	case k.Name == "jensen-shannon":
		s.of, s.factor = vec.SumWeightedEntropy, 1/(2*math.Ln2)
	case k.Name == "exp-chi2":
		s.of = vec.SumChi2Distance
	case k.Name == "laplacian" || k.Name == "skewed-intersection":
		s.of = vec.SumAbs
	case k.Name == "cauchy":
		s.of, s.zero = vec.SumExcess, k.Gamma
	case k.Name == "skewed-chi2":
		s.of, s.zero = vec.SumExcess, 1/(2*k.Coef0)
	default:
		return nil
	}
	return s
}

// numbers returns what the arrays of the sum have for a row's number.
func (s *sums) numbers(x float32) [3]float64 {
	v := float64(x)
	switch s.of {
	case vec.SumWeightedChi2, vec.SumWeightedMin:
		return [3]float64{v, s.kernel.weight(v)}
	case vec.SumEntropy:
		return [3]float64{v, logOrZero(v)}
	case vec.SumWeightedEntropy:
		return [3]float64{v, logOrZero(v), s.kernel.weight(v)}
	case vec.SumExcess:
		if s.kernel.Name == "cauchy" {
			return [3]float64{v, s.kernel.Gamma}
		}
		return [3]float64{v, 1 / (2 * (v + s.kernel.Coef0))}
	}
	if s.kernel.Name == "skewed-intersection" {
		v = math.Log1p(v/s.kernel.Coef0) / 2
	}
	return [3]float64{v}
}

func logOrZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Log(x)
}

// expand writes the arrays of row i into dst, of the sum's width.
func (s *sums) expand(rows matrix.Rows, i int, dst []float64) {
	arrays := s.of.Arrays()
	stride := len(dst) / arrays
	if rows.Dense != nil {
		for j, v := range rows.Dense.Row(i) {
			numbers := s.numbers(v)
			for a, v := range numbers[:arrays] {
				dst[a*stride+j] = v
			}
		}
		for a := range arrays {
			clear(dst[a*stride+rows.Dim() : (a+1)*stride])
		}
		return
	}
	clear(dst)
	if s.zero != 0 {
		for j := range rows.Dim() {
			dst[stride+j] = s.zero
		}
	}
	idx, val := rows.CSR.Row(i)
	for k, j := range idx {
		numbers := s.numbers(val[k])
		for a, v := range numbers[:arrays] {
			dst[a*stride+int(j)] = v
		}
	}
}

// logNorms returns -log k(x_i, 0) of every row, of skewed-intersection.
func (k Kernel) logNorms(x matrix.Rows) []float64 {
	sums := make([]float64, x.Len())
	zero := make([]float32, x.Dim())
	vec.Parallel(len(sums), 64, func(lo, hi int) {
		var p pair
		for i := lo; i < hi; i++ {
			row, _ := p.of(x, i, x, i)
			sums[i] = skewedDistance(k.Coef0, row, zero)
		}
	})
	return sums
}

// root returns the hellinger kernel's x^(h/2).
func (k Kernel) root(x float64) float64 {
	if k.homogeneity() == 1 {
		return math.Sqrt(x)
	}
	return math.Pow(x, k.homogeneity()/2)
}

// tiny makes 0/0 in sums a 0, and is lost beside the smallest float32 above 0.
const tiny = 0x1p-210

// sparseSums writes the sums of row r, whose arrays are x, with the sparse rows of y from lo
// on, whose numbers are in b.yNumbers.
func (b *block) sparseSums(out, x []float64, r, lo int) {
	arrays := b.sums.of.Arrays()
	stride := len(x) / arrays
	x1, x2, x3 := x[:stride], x[stride*min(1, arrays-1):], x[stride*(arrays-1):]
	var whole float64 // what is near 0 in terms of what must not cancel
	var all float64   // -log k of a row of zeros, for SumExcess
	switch b.sums.of {
	case vec.SumChi2Distance, vec.SumAbs:
		for _, v := range x1 {
			whole += math.Abs(v)
		}
	case vec.SumExcess:
		var zero logProduct
		for j, v := range x1 {
			zero.multiply(term(v*x2[j], v*b.sums.zero))
		}
		all = zero.log()
	}
	exactly := b.distances || b.kernel.unit() && max(b.steepness()*whole, all) > 50
	y := b.yNumbers
	for c := range out {
		idx, _ := b.y.CSR.Row(lo + c)
		sum := 0.0
		switch b.sums.of {
		case vec.SumChi2:
			for k, j := range idx {
				v, w := x1[j], y[k]
				sum += v * w / (v + w + tiny)
			}
		case vec.SumWeightedChi2:
			for k, j := range idx {
				v, w := x1[j], y[2*k]
				sum += x2[j] * y[2*k+1] * (v * w / (v + w + tiny))
			}
		case vec.SumMin:
			for k, j := range idx {
				sum += min(x1[j], y[k])
			}
		case vec.SumWeightedMin:
			for k, j := range idx {
				sum += x2[j] * y[2*k+1] * min(x1[j], y[2*k])
			}
		case vec.SumEntropy:
			for k, j := range idx {
				if v := x1[j]; v > 0 {
					sum += vec.Entropy(v, y[2*k], x2[j], y[2*k+1])
				}
			}
		case vec.SumWeightedEntropy:
			for k, j := range idx {
				if v := x1[j]; v > 0 {
					sum += x3[j] * y[3*k+2] * vec.Entropy(v, y[3*k], x2[j], y[3*k+1])
				}
			}
		case vec.SumChi2Distance:
			sum = whole
			for k, j := range idx {
				v, d := x1[j], x1[j]-y[k]
				sum += d*d/(v+y[k]+tiny) - v
			}
		case vec.SumAbs:
			sum = whole
			for k, j := range idx {
				sum += math.Abs(x1[j]-y[k]) - math.Abs(x1[j])
			}
		case vec.SumExcess:
			var less, more logProduct
			for k, j := range idx {
				v, d := x1[j], x1[j]-y[2*k]
				less.multiply(term(v*x2[j], v*b.sums.zero))
				more.multiply(term(d*x2[j], d*y[2*k+1]))
			}
			sum = all - less.log() + more.log()
		}
		y = y[len(idx)*arrays:]
		out[c] = max(0, sum)
		if exactly && sum < nearRows*max(whole, all) {
			out[c] = b.sums.exactly(b.rowsOf(r, lo+c))
		}
		if b.sums.of == vec.SumExcess {
			out[c] = math.Expm1(out[c])
		}
	}
}

// steepness is the derivative of log k by the sum, of the kernels with k(x, x) = 1.
func (b *block) steepness() float64 {
	if b.kernel.Name == "exp-chi2" || b.kernel.Name == "laplacian" {
		return b.kernel.Gamma
	}
	return 1
}

// exactly returns one sum without cancellation, for SumExcess its logarithm.
func (s *sums) exactly(x, y []float32) float64 {
	switch {
	case s.of == vec.SumChi2Distance:
		return chi2Distance(x, y)
	case s.kernel.Name == "cauchy":
		return math.Log1p(excess(s.kernel.Gamma, x, y))
	case s.of == vec.SumExcess:
		return 2 * skewedChi2Distance(s.kernel.Coef0, x, y)
	case s.kernel.Name == "skewed-intersection":
		return skewedDistance(s.kernel.Coef0, x, y)
	}
	return absolute(x, y)
}

// fromExcess returns k of cauchy from 1/k - 1 and of skewed-chi2 from 1/k² - 1, where NaN is
// that of an infinite product.
func (k Kernel) fromExcess(s float64) float64 {
	switch {
	case s != s:
		return 0
	case k.Name == "cauchy":
		return 1 / (1 + s)
	}
	return 1 / math.Sqrt(1+s)
}

// gapFromExcess returns 1 - k from the same.
func (k Kernel) gapFromExcess(s float64) float64 {
	switch {
	case !(s <= math.MaxFloat64):
		return 1
	case k.Name == "cauchy":
		return s / (1 + s)
	}
	return s / (1 + s + math.Sqrt(1+s))
}
