package vec

import (
	"fmt"
	"math"
)

// PairSum is a sum over the dimensions of two rows that is not a matrix product. A row
// is one or more arrays of numbers. The first has the rows' numbers x and y themselves, which
// are float32 numbers in float64: 0 or of size 10⁻⁴⁵ to 10³⁹. Those that are called weighted
// take one array more, of weights u for x and v for y, 0 where x or y is.
type PairSum int

const (
	// SumChi2 is Σ xy/(x+y) of x, y ≥ 0, where 0/0 counts as 0.
	SumChi2 PairSum = iota
	// SumWeightedChi2 is Σ uv·xy/(x+y).
	SumWeightedChi2
	// SumChi2Distance is Σ (x-y)²/(x+y) of x, y ≥ 0, where 0/0 counts as 0.
	SumChi2Distance
	// SumMin is Σ min(x, y) of x, y ≥ 0.
	SumMin
	// SumWeightedMin is Σ uv·min(x, y).
	SumWeightedMin
	// SumAbs is Σ |x-y| of any float64 numbers.
	SumAbs
	// SumEntropy is Σ (x+y)log(x+y) - x log x - y log y of x, y ≥ 0. The second array has the
	// logarithms of the first, 0 for that of 0.
	SumEntropy
	// SumWeightedEntropy is SumEntropy with every term times uv; the weights are the third array.
	SumWeightedEntropy
	// SumExcess is Π(1 + (x-y)²rs) - 1, r and s ≥ 0 the numbers of the second array. A product
	// beyond float64 gives +Inf or NaN.
	SumExcess

	pairSums int = iota
)

// Arrays is how many arrays of numbers a row has.
func (s PairSum) Arrays() int { return pairArrays[s] }

// Width is how many numbers a row of d dimensions has: the arrays one behind the other, each
// filled up with zeros to Width/Arrays.
func (s PairSum) Width(d int) int {
	return (d + pairStep - 1) / pairStep * pairStep * s.Arrays()
}

// pairArrays is how many arrays a row of each sum has.
var pairArrays = [pairSums]int{SumChi2: 1, SumWeightedChi2: 2, SumChi2Distance: 1, SumMin: 1, SumWeightedMin: 2,
	SumAbs: 1, SumEntropy: 2, SumWeightedEntropy: 3, SumExcess: 2}

// Pairs computes a PairSum of many rows x with rows y that are kept, laid out for it. What two
// rows give depends on them alone.
type Pairs struct {
	sum    PairSum
	d      int // with what fills it up to a multiple of pairStep
	panels []float64
	whole  []float64 // Σ |y_j| of each row, for SumAbs
}

const (
	pairLanes = 32 // rows of y in a panel
	pairStep  = 4  // dimensions that the kernels treat together
	pairCall  = 64 // dimensions that one call of a kernel gets
	pairBlock = 64 // rows x that share what is in cache
)

// NewPairs makes room for m rows y of d dimensions.
func NewPairs(sum PairSum, d, m int) *Pairs {
	width := sum.Width(d)
	rows := (m + pairLanes - 1) / pairLanes * pairLanes
	p := &Pairs{sum: sum, d: width / sum.Arrays(), panels: aligned[float64](rows * width)}
	if sum == SumAbs {
		p.whole = make([]float64, rows)
	}
	return p
}

// width is how many numbers a row has.
func (p *Pairs) width() int { return p.d * p.sum.Arrays() }

// Set makes row, of the sum's Width, the row y_c.
func (p *Pairs) Set(c int, row []float64) {
	w := p.width()
	panel, sum := p.panels[c/pairLanes*pairLanes*w:][:pairLanes*w], 0.0
	for j, v := range row[:w] {
		panel[j*pairLanes+c%pairLanes] = v
		sum += math.Abs(v)
	}
	if p.whole != nil {
		p.whole[c] = sum
	}
}

// Rows writes the sums of n rows x, of the sum's Width each, with the rows y_0 to y_(m-1) into
// dst, row-major with stride ldd.
func (p *Pairs) Rows(n, m int, x []float64, dst []float64, ldd int) {
	w := p.width()
	if n == 0 || m == 0 {
		return
	}
	if (m+pairLanes-1)/pairLanes*pairLanes*w > len(p.panels) || n*w > len(x) || (n-1)*ldd+m > len(dst) {
		panic(fmt.Sprintf("vec: %d×%d sums of %d numbers in slices of %d, %d and %d", n, m, w, len(x), len(p.panels), len(dst)))
	}
	var few [pairBlock]bool
	for i := 0; i < n; i += pairBlock {
		rows := min(pairBlock, n-i)
		for r := range rows {
			row, to := x[(i+r)*w:][:w], dst[(i+r)*ldd:][:m]
			if few[r] = p.mostlyZero(row); few[r] {
				p.sparse(to, row)
			} else {
				clear(to)
			}
		}
		p.dense(rows, m, x[i*w:], dst[i*ldd:], ldd, &few)
	}
}

// dense adds the sums of up to pairBlock rows x, but for those that have been computed.
func (p *Pairs) dense(n, m int, x, dst []float64, ldd int, done *[pairBlock]bool) {
	w := p.width()
	var rest [pairLanes]float64
	for c := 0; c < m; c += pairLanes {
		panel := p.panels[c*w:][:pairLanes*w]
		for j := 0; j < p.d; j += pairCall {
			dims := min(pairCall, p.d-j)
			for i := range n {
				if done[i] {
					continue
				}
				x, to := x[i*w:][:w], dst[i*ldd+c:i*ldd+min(c+pairLanes, m)]
				if len(to) == pairLanes {
					p.call(j, dims, x, panel, (*[pairLanes]float64)(to))
					continue
				}
				copy(rest[:], to)
				p.call(j, dims, x, panel, &rest)
				copy(to, rest[:])
			}
		}
	}
}

// mostlyZero says that sparse is faster for a row x.
func (p *Pairs) mostlyZero(x []float64) bool {
	if p.whole == nil {
		return false
	}
	steps := 0
	for j := 0; j < p.d; j += pairStep {
		if !zeros(x[j:][:pairStep]) {
			steps++
		}
	}
	return 3*pairStep*steps < p.d
}

func zeros(x []float64) bool { return x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 0 }

// sparse writes Σ |x-y| of a row x that is 0 nearly everywhere as Σ |y| with the terms where it is not 0 put right. Where next to
// nothing is left of Σ |y| it adds up the terms, so that no more than the last few bits are lost.
func (p *Pairs) sparse(dst, x []float64) {
	w := p.width()
	for c := 0; c < len(dst); c += pairLanes {
		panel := p.panels[c*w:][:pairLanes*w]
		var sums, less [pairLanes]float64
		for j := 0; j < p.d; j += pairStep {
			if zeros(x[j:][:pairStep]) {
				continue
			}
			from := j
			for j += pairStep; j < p.d && j-from < pairCall && !zeros(x[j:][:pairStep]); j += pairStep {
			}
			p.call(from, j-from, x, panel, &sums)
			p.call(0, j-from, pairZeros[:], panel[from*pairLanes:], &less)
			j -= pairStep
		}
		to, cancelled := dst[c:min(c+pairLanes, len(dst))], false
		for l := range to {
			to[l] = p.whole[c+l] - less[l] + sums[l]
			cancelled = cancelled || !(to[l] >= mostCancelled*p.whole[c+l])
		}
		if cancelled {
			clear(sums[:])
			for j := 0; j < p.d; j += pairCall {
				p.call(j, min(pairCall, p.d-j), x, panel, &sums)
			}
			copy(to, sums[:])
		}
	}
}

// mostCancelled is the share of Σ |y| that must be left.
const mostCancelled = 1.0 / 16

// pairZeros is a row of zeros.
var pairZeros [pairCall]float64

// plain is call in Go.
func (p *Pairs) plain(j, dims int, x, panel []float64, sums *[pairLanes]float64) {
	for end := j + dims; j < end; j++ {
		v, y := x[j], (*[pairLanes]float64)(panel[j*pairLanes:])
		// The second and the third array.
		var v2, v3 float64
		var y2, y3 *[pairLanes]float64
		if p.sum.Arrays() > 1 {
			v2, y2 = x[p.d+j], (*[pairLanes]float64)(panel[(p.d+j)*pairLanes:])
		}
		if p.sum.Arrays() > 2 {
			v3, y3 = x[2*p.d+j], (*[pairLanes]float64)(panel[(2*p.d+j)*pairLanes:])
		}
		switch p.sum {
		case SumChi2:
			if v == 0 {
				continue
			}
			for c, w := range y {
				sums[c] += v * w / (v + w)
			}
		case SumWeightedChi2:
			if v == 0 {
				continue
			}
			for c, w := range y {
				sums[c] += v2 * y2[c] * (v * w / (v + w))
			}
		case SumChi2Distance:
			for c, w := range y {
				if d := v - w; d != 0 {
					sums[c] += d * d / (v + w)
				}
			}
		case SumMin:
			for c, w := range y {
				sums[c] += min(v, w)
			}
		case SumWeightedMin:
			for c, w := range y {
				sums[c] += v2 * y2[c] * min(v, w)
			}
		case SumAbs:
			for c, w := range y {
				sums[c] += math.Abs(v - w)
			}
		case SumEntropy:
			if v == 0 {
				continue
			}
			for c, w := range y {
				sums[c] += Entropy(v, w, v2, y2[c])
			}
		case SumWeightedEntropy:
			if v == 0 {
				continue
			}
			for c, w := range y {
				sums[c] += v3 * y3[c] * Entropy(v, w, v2, y2[c])
			}
		case SumExcess:
			for c, w := range y {
				d := v - w
				e := d * v2 * (d * y2[c])
				sums[c] += e + sums[c]*e
			}
		}
	}
}

// Entropy returns (x+y)log(x+y) - x log x - y log y of x > 0 and y ≥ 0, whose logarithms are
// given. As (x+y)log((x+y)/max) + min·log(max/min), nothing cancels.
func Entropy(x, y, logX, logY float64) float64 {
	if y == 0 {
		return 0
	}
	low := min(x, y)
	return (x+y)*math.Log1p(low/max(x, y)) + low*math.Abs(logX-logY)
}
