package landmarks

import (
	"hash/maphash"
	"math"
	"slices"

	"mercer/matrix"
)

// Distinct returns the first rows of an order that no row before them equals, at most n: a landmark twice is one landmark. Tables
// of few columns of categories have each row many times. At least one row must be in the order.
func Distinct(x *matrix.Dense, order []int, n int) []int {
	n = min(n, len(order))
	seed := maphash.MakeSeed() // rows of the same hash are compared, so it does not matter which
	seen := make(map[uint64][]int, n)
	chosen := make([]int, 0, n)
	bytes := make([]byte, 0, 4*x.Cols)
	for _, i := range order {
		if len(chosen) == n {
			break
		}
		bytes = bytes[:0]
		for _, v := range x.Row(i) {
			b := math.Float32bits(v + 0) // -0 equals 0
			bytes = append(bytes, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
		}
		hash := maphash.Bytes(seed, bytes)
		same := func(other int) bool { return slices.Equal(x.Row(i), x.Row(other)) }
		if slices.ContainsFunc(seen[hash], same) {
			continue
		}
		seen[hash] = append(seen[hash], i)
		chosen = append(chosen, i)
	}
	return chosen
}
