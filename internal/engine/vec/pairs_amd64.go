//go:build amd64 && !purego

package vec

// call adds the contribution of n dimensions from j on, a multiple of pairStep, to the sums of one
// row with a panel.
func (p *Pairs) call(j, n int, row, panel []float64, sums *[pairLanes]float64) {
	x, y, s := &row[j], &panel[j*pairLanes], &sums[0]
	switch level {
	case generic:
		p.plain(j, n, row, panel, sums)
	case avx2:
		switch p.sum {
		case SumChi2:
			pairChi64_avx2(x, y, s, p.d, n)
		case SumWeightedChi2:
			pairWeightedChi64_avx2(x, y, s, p.d, n)
		case SumChi2Distance:
			pairChiDistance64_avx2(x, y, s, p.d, n)
		case SumMin:
			pairMin64_avx2(x, y, s, p.d, n)
		case SumWeightedMin:
			pairWeightedMin64_avx2(x, y, s, p.d, n)
		case SumAbs:
			pairAbs64_avx2(x, y, s, p.d, n)
		case SumEntropy:
			pairEntropy64_avx2(x, y, s, p.d, n)
		case SumWeightedEntropy:
			pairWeightedEntropy64_avx2(x, y, s, p.d, n)
		case SumExcess:
			pairExcess64_avx2(x, y, s, p.d, n)
		}
	case avx512:
		switch p.sum {
		case SumChi2:
			pairChi64_avx512(x, y, s, p.d, n)
		case SumWeightedChi2:
			pairWeightedChi64_avx512(x, y, s, p.d, n)
		case SumChi2Distance:
			pairChiDistance64_avx512(x, y, s, p.d, n)
		case SumMin:
			pairMin64_avx512(x, y, s, p.d, n)
		case SumWeightedMin:
			pairWeightedMin64_avx512(x, y, s, p.d, n)
		case SumAbs:
			pairAbs64_avx512(x, y, s, p.d, n)
		case SumEntropy:
			pairEntropy64_avx512(x, y, s, p.d, n)
		case SumWeightedEntropy:
			pairWeightedEntropy64_avx512(x, y, s, p.d, n)
		case SumExcess:
			pairExcess64_avx512(x, y, s, p.d, n)
		}
	}
}
