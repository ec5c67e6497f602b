package trees

import "math"

// sumsOf is the histogram of the column at a place in columns, from that of a leaf on.
func (b *boosting) sumsOf(at, leaf int) []float64 {
	size := mostBins * (b.sketches + 1)
	return b.histograms[at*Leaves/2*size:][:Leaves/2*size][leaf*size:]
}

// judge finds the best question of the column at a place in columns.
func (b *boosting) judge(at, level int) {
	c := b.columns[at]
	var scores [mostBins]float64
	questions := len(b.bins.tops[c])
	for l := range 1 << level {
		b.divide(scores[:questions], b.sumsOf(at, l)[:(questions+1)*(b.sketches+1)])
	}
	b.gains[c] = math.Inf(-1)
	for q, v := range scores[:questions] {
		if v > b.gains[c] {
			b.gains[c], b.questions[c] = v, uint8(q)
		}
	}
}

// total adds up the sums of the leaves of a level, for columns with one bin for most rows.
func (b *boosting) total(level int) {
	stride := b.sketches + 1
	for l := range 1 << level {
		to := b.totals[l*stride:][:stride]
		rows := b.rows[b.ends[l].from:b.ends[l].to]
		for s := range to {
			sum := 0.0
			for _, i := range rows {
				sum += b.sums[int(i)*stride+s]
			}
			to[s] = sum
		}
	}
}

// count turns the sums of the bins of some columns in the leaves of the level before into those of this level. Of the two leaves that each was
// divided into it counts the one with fewer rows; the sums of the other one are what is left.
func (b *boosting) count(group []int, level int) {
	if level == 0 {
		b.countLeaf(group, 0)
		return
	}
	half := 1 << level >> 1
	for l := range half {
		from, to := l+half, l
		if below, above := b.ends[l], b.ends[l+half]; below.to-below.from < above.to-above.from {
			from, to = to, from
		}
		if to != l {
			for _, at := range group {
				size := b.sizeOf(at)
				copy(b.sumsOf(at, to)[:size], b.sumsOf(at, l)[:size])
			}
		}
		b.countLeaf(group, from)
		for _, at := range group {
			rest := b.sumsOf(at, to)
			for s, v := range b.sumsOf(at, from)[:b.sizeOf(at)] {
				rest[s] -= v
			}
		}
	}
}

// sizeOf is the length of a leaf's histogram of the column at a place in columns.
func (b *boosting) sizeOf(at int) int {
	return (len(b.bins.tops[b.columns[at]]) + 1) * (b.sketches + 1)
}

// countLeaf finds the sums of the bins of some columns in a leaf.
func (b *boosting) countLeaf(group []int, leaf int) {
	for _, at := range group {
		clear(b.sumsOf(at, leaf)[:b.sizeOf(at)])
	}
	rows := b.rows[b.ends[leaf].from:b.ends[leaf].to]
	if len(group) == atOnce && b.sketches == 1 {
		b.countFour(group, rows, leaf)
		return
	}
	for _, at := range group {
		addRows(b.sumsOf(at, leaf), b.bins.of[b.columns[at]], rows, b.sums, b.sketches+1)
	}
}

// countFour is countLeaf for four columns and one sketch.
func (b *boosting) countFour(group []int, rows []int32, leaf int) {
	var to [atOnce]*[2 * mostBins]float64
	var of [atOnce][]uint8
	for c, at := range group {
		to[c], of[c] = (*[2 * mostBins]float64)(b.sumsOf(at, leaf)), b.bins.of[b.columns[at]]
	}
	of0, of1, of2, of3 := of[0], of[1], of[2], of[3]
	of1, of2, of3 = of1[:len(of0)], of2[:len(of0)], of3[:len(of0)]
	for _, i := range rows {
		sum, weight := b.sums[2*i], b.sums[2*i+1]
		at0, at1, at2, at3 := of0[i]%mostBins, of1[i]%mostBins, of2[i]%mostBins, of3[i]%mostBins
		to[0][2*at0] += sum
		to[0][2*at0+1] += weight
		to[1][2*at1] += sum
		to[1][2*at1+1] += weight
		to[2][2*at2] += sum
		to[2][2*at2+1] += weight
		to[3][2*at3] += sum
		to[3][2*at3+1] += weight
	}
}

// addRows adds the sums of some rows, stride numbers each, to those of their bins.
func addRows(histogram []float64, of []uint8, rows []int32, sums []float64, stride int) {
	switch stride {
	case 2:
		for _, i := range rows {
			to, from := (*[2]float64)(histogram[2*int(of[i]):]), (*[2]float64)(sums[2*int(i):])
			to[0] += from[0]
			to[1] += from[1]
		}
	case 5:
		for _, i := range rows {
			to, from := (*[5]float64)(histogram[5*int(of[i]):]), (*[5]float64)(sums[5*int(i):])
			to[0] += from[0]
			to[1] += from[1]
			to[2] += from[2]
			to[3] += from[3]
			to[4] += from[4]
		}
	default:
		for _, i := range rows {
			to := histogram[stride*int(of[i]):][:stride]
			for s, v := range sums[int(i)*stride:][:stride] {
				to[s] += v
			}
		}
	}
}

// countOthers finds the sums of the bins of a column with one bin for most rows, by the rows in others.
func (b *boosting) countOthers(histogram []float64, column, level int) {
	stride, of := b.sketches+1, b.bins.of[column]
	leaf, bins := mostBins*stride, len(b.bins.tops[column])+1
	for l := range 1 << level {
		clear(histogram[l*leaf:][:bins*stride])
	}
	if stride == 2 {
		for _, i := range b.bins.others[column] {
			to, from := (*[2]float64)(histogram[int(b.leaf[i])*leaf+2*int(of[i]):]), (*[2]float64)(b.sums[2*int(i):])
			to[0] += from[0]
			to[1] += from[1]
		}
	} else {
		for _, i := range b.bins.others[column] {
			to := histogram[int(b.leaf[i])*leaf+int(of[i])*stride:][:stride]
			for s, v := range b.sums[int(i)*stride:][:stride] {
				to[s] += v
			}
		}
	}
	for l := range 1 << level {
		all, most := histogram[l*leaf:][:bins*stride], histogram[l*leaf+int(b.bins.common[column])*stride:][:stride]
		for s := range most {
			rest := 0.0
			for at := s; at < len(all); at += stride {
				rest += all[at]
			}
			most[s] = b.totals[l*stride+s] - rest
		}
	}
}
