package dataset

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// textCoder codes CodedText: the words of a cell in lower case and its pairs of adjacent words, each in a
// dimension with a sign by its hash, counted with 1 + log n, weighted by IDF and divided by the length of the row.
type textCoder struct {
	buckets int
	idf     []float64

	word, before, both []byte
	counts             map[uint64]int // of the words of a cell, by hash
	order              []uint64
	sums               []float64
	seen               []bool
	used               []int32
}

func newTextCoder(c *Coding) *textCoder {
	return &textCoder{buckets: c.Buckets, idf: c.IDF, counts: map[uint64]int{}, sums: make([]float64, c.Buckets),
		seen: make([]bool, c.Buckets)}
}

// grams counts the words and pairs of a cell in t.counts, whose keys t.order lists.
func (t *textCoder) grams(cell []byte) {
	clear(t.counts)
	t.order, t.before = t.order[:0], t.before[:0]
	take := func(gram []byte) {
		h := hashText(gram)
		if t.counts[h]++; t.counts[h] == 1 {
			t.order = append(t.order, h)
		}
	}
	end := func() {
		if len(t.word) == 0 {
			return
		}
		take(t.word)
		if len(t.before) > 0 {
			t.both = append(append(append(t.both[:0], t.before...), ' '), t.word...)
			take(t.both)
		}
		t.before, t.word = append(t.before[:0], t.word...), t.word[:0]
	}
	t.word = t.word[:0]
	for len(cell) > 0 {
		r, size := utf8.DecodeRune(cell)
		cell = cell[size:]
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			t.word = utf8.AppendRune(t.word, unicode.ToLower(r))
			continue
		}
		if r == '\'' && len(t.word) > 0 {
			continue // don't is a word
		}
		end()
	}
	end()
}

func (t *textCoder) code(to []pair, cell []byte) ([]pair, bool, error) {
	t.grams(cell)
	t.used = t.used[:0]
	for _, h := range t.order {
		at, sign := int32(h%uint64(t.buckets)), 1.0
		if h>>63 == 1 {
			sign = -1
		}
		if !t.seen[at] {
			t.used, t.seen[at], t.sums[at] = append(t.used, at), true, 0
		}
		t.sums[at] += sign * (1 + math.Log(float64(t.counts[h]))) * t.idf[at]
	}
	slices.Sort(t.used)
	square := 0.0
	for _, at := range t.used {
		square += t.sums[at] * t.sums[at]
		t.seen[at] = false
	}
	if square > 0 {
		for _, at := range t.used {
			to = append(to, pair{at, float32(t.sums[at] / math.Sqrt(square))})
		}
	}
	return to, true, nil
}

func (t *textCoder) fill(to []pair) []pair { return to }

// documents counts for each dimension the cells that use it.
func (t *textCoder) documents(cell []byte, counts []int64) {
	t.grams(cell)
	t.used = t.used[:0]
	for _, h := range t.order {
		t.used = append(t.used, int32(h%uint64(t.buckets)))
	}
	slices.Sort(t.used)
	for _, at := range slices.Compact(t.used) {
		counts[at]++
	}
}

// idfOf are the weights for counts of n cells.
func idfOf(counts []int64, n int) []float64 {
	idf := make([]float64, len(counts))
	for i, c := range counts {
		idf[i] = 1 + math.Log(float64(1+n)/float64(1+c))
	}
	return idf
}
