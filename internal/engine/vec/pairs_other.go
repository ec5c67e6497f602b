//go:build !amd64 || purego

package vec

func (p *Pairs) call(j, n int, row, panel []float64, sums *[pairLanes]float64) {
	p.plain(j, n, row, panel, sums)
}
