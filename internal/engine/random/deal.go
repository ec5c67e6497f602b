package random

// DrawSets draws, for each of count outputs, length different numbers of [0, m). Number i of output c
// stands at i·count + c.
func (r *Stream) DrawSets(m, length, count int) []int32 {
	index := make([]int32, length*count)
	cards := make([]int32, m)
	for i := range cards {
		cards[i] = int32(i)
	}
	for c := range count {
		for i := range length {
			j := i + r.Intn(m-i)
			cards[i], cards[j] = cards[j], cards[i]
			index[i*count+c] = cards[i]
		}
	}
	return index
}

// Deal deals the numbers of [0, m) to count outputs of length each, shuffled anew whenever all are
// dealt, so that all come as often. A number that would come twice to an output, where all are
// shuffled anew in its middle, changes places with one behind. Number i of output c
// stands at i·count + c.
func (r *Stream) Deal(m, length, count int) []int32 {
	index := make([]int32, length*count)
	cards := make([]int32, m)
	for i := range cards {
		cards[i] = int32(i)
	}
	held := make([]int, m) // 1 + the last output that got the number
	next := m
	for c := range count {
		for i := range length {
			if next == m {
				for j := m - 1; j > 0; j-- {
					l := r.Intn(j + 1)
					cards[j], cards[l] = cards[l], cards[j]
				}
				next = 0
			}
			for j := next; ; j++ {
				if v := cards[j]; held[v] != c+1 {
					cards[j], cards[next] = cards[next], v
					break
				}
			}
			held[cards[next]] = c + 1
			index[i*count+c] = cards[next]
			next++
		}
	}
	return index
}
