package kernel

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// sums describes a sum over the dimensions of which a kernel or its distance is a function, for kernels that
// are no functions of dot products. Each element of a row is expanded into one or more numbers.
type sums struct {
	of vec.PairSum

	// numbers expands an element of a row, a number for each array. zero is the number of the second array
	// of SumExcess for an element of 0.
	numbers func(v float64) [3]float64
	zero    float64

	// distances says that the sums are distances of an additive kernel and not its values. Values are
	// multiplied by factor; 0 means 1.
	distances bool
	factor    float64

	// exactly returns the sum of two rows without cancellation, and its logarithm for SumExcess. It is
	// used for near rows, whose sums are small. steep is the derivative of -log k by the sum for kernels
	// with k(x, x) = 1.
	exactly func(x, y []float32) float64
	steep   float64
}

// itself expands an element for sums of one array.
func itself(v float64) [3]float64 { return [3]float64{v} }

func logOrZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Log(x)
}

// expand writes the arrays of row i into dst, which has the sum's width.
func (s *sums) expand(rows matrix.Rows, i int, dst []float64) {
	arrays := s.of.Arrays()
	stride := len(dst) / arrays
	if rows.Dense != nil {
		for j, v := range rows.Dense.Row(i) {
			numbers := s.numbers(float64(v))
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
		numbers := s.numbers(float64(val[k]))
		for a, v := range numbers[:arrays] {
			dst[a*stride+int(j)] = v
		}
	}
}

// tiny makes 0/0 a 0 in sums. It is lost in rounding beside the smallest float32 above 0.
const tiny = 0x1p-210

// sparseSums writes the sums of row r and the sparse rows of y from lo on. The arrays of row r are x, those
// of y are in b.yNumbers.
func (b *block) sparseSums(out, x []float64, r, lo int) {
	arrays := b.sums.of.Arrays()
	stride := len(x) / arrays
	x1, x2, x3 := x[:stride], x[stride*min(1, arrays-1):], x[stride*(arrays-1):]
	var whole float64 // the sum of the row's own terms, against which a small result has cancelled
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
	exactly := b.sums.exactly != nil && (b.distances || max(b.sums.steep*whole, all) > 50)
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
