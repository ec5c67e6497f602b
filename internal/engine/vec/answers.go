package vec

// Questions is the number of questions of a group.
const Questions = 6

// Answers32 asks groups of questions of a row: bit l of dst[i] is whether the number of the row at columns[6·i+l] is larger than
// thresholds[6·i+l]. The columns must be those of the row, which is not looked at again.
func Answers32(dst []uint8, columns []int32, thresholds, row []float32) {
	columns, thresholds = columns[:Questions*len(dst)], thresholds[:Questions*len(dst)]
	for i := answersOf(dst, columns, thresholds, row); i < len(dst); i++ {
		c, t := (*[Questions]int32)(columns[i*Questions:]), (*[Questions]float32)(thresholds[i*Questions:])
		dst[i] = above(row[c[0]], t[0]) | above(row[c[1]], t[1])<<1 | above(row[c[2]], t[2])<<2 |
			above(row[c[3]], t[3])<<3 | above(row[c[4]], t[4])<<4 | above(row[c[5]], t[5])<<5
	}
}

// above is 1 if v is above a threshold, and 0 if not, without a branch, which would be taken at random.
func above(v, threshold float32) (is uint8) {
	if v > threshold {
		is = 1
	}
	return is
}
