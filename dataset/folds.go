package dataset

import (
	"math"

	"mercer/internal/engine/random"
)

// DealFolds gives each of n rows one of k folds, at random by seed and repeat. If class gives the classes
// of the rows, from 0 to classes-1, folds are stratified: each class is spread evenly over the folds.
// The sizes of folds differ by at most 1, and so do those of each class, since each class continues
// where the last one ended; all divisions with these sizes are equally likely. Memory: 2 bytes per row.
func DealFolds(n int, class []int32, classes, k int, seed, repeat uint64) []uint16 {
	counts := countClasses(n, class, classes)
	stream := random.New(seed, "folds", repeat)
	left := make([][]int, len(counts))
	next := stream.Intn(k)
	for c, n := range counts {
		left[c] = make([]int, k)
		for p := range left[c] {
			left[c][p] = n / k
		}
		for range n % k {
			left[c][next]++
			next = (next + 1) % k
		}
	}
	return deal(n, class, counts, left, stream)
}

// DealHeld marks a share of the n rows as held out, by 1, and the others by 0, in the manner of DealFolds.
func DealHeld(n int, class []int32, classes int, share float64, seed, repeat uint64) []uint16 {
	counts := countClasses(n, class, classes)
	stream := random.New(seed, "folds", repeat)
	left := make([][]int, len(counts))
	before, held := 0, 0
	for c, n := range counts {
		before += n
		h := int(math.Round(share*float64(before))) - held
		held += h
		left[c] = []int{n - h, h}
	}
	return deal(n, class, counts, left, stream)
}

// countClasses counts the rows of each class; without classes there is a single one.
func countClasses(n int, class []int32, classes int) []int {
	if class == nil {
		return []int{n}
	}
	counts := make([]int, classes)
	for _, c := range class {
		counts[c]++
	}
	return counts
}

// deal deals the counts[c] rows of each class c to the places left for it in each part,
// like cards from a shuffled pack.
func deal(n int, class []int32, counts []int, left [][]int, stream *random.Stream) []uint16 {
	part := make([]uint16, n)
	for i := range part {
		c := 0
		if class != nil {
			c = int(class[i])
		}
		at := stream.Intn(counts[c])
		p := 0
		for ; at >= left[c][p]; p++ {
			at -= left[c][p]
		}
		left[c][p]--
		counts[c]--
		part[i] = uint16(p)
	}
	return part
}
