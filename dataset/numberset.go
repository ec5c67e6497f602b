package dataset

import (
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// numberSet is a set of numbers, of which none is NaN and 0 and −0 are one. It takes 10 to 20 bytes a number: a table has one of each
// of its columns, and what they take together decides how long a look at the table lasts.
type numberSet struct {
	slots []uint64 // the bits of a number, at the place of its hash or behind; 0 where there is none, and 0 itself is zero
	zero  bool
	n     int
}

// multiplier makes hashes that no file can have been made against. What the set holds does not depend on it.
var multiplier = rand.Uint64() | 1

// add reports whether v is new.
func (s *numberSet) add(v float64) bool {
	if v == 0 {
		added := !s.zero
		if s.zero = true; added {
			s.n++
		}
		return added
	}
	if 5*s.n >= 4*len(s.slots) {
		s.grow()
	}
	at := s.find(math.Float64bits(v))
	if s.slots[at] != 0 {
		return false
	}
	s.slots[at] = math.Float64bits(v)
	s.n++
	return true
}

// find is the slot of a number, or the empty one where it belongs.
func (s *numberSet) find(number uint64) int {
	at := int((number ^ number>>32) * multiplier >> bits.LeadingZeros64(uint64(len(s.slots)-1)))
	for s.slots[at] != 0 && s.slots[at] != number {
		at = (at + 1) & (len(s.slots) - 1)
	}
	return at
}

func (s *numberSet) grow() {
	old := s.slots
	s.slots = make([]uint64, max(16, 2*len(old)))
	for _, number := range old {
		if number != 0 {
			s.slots[s.find(number)] = number
		}
	}
}

// all are the numbers, in no order.
func (s *numberSet) all() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		if s.zero && !yield(0) {
			return
		}
		for _, number := range s.slots {
			if number != 0 && !yield(math.Float64frombits(number)) {
				return
			}
		}
	}
}

func (s *numberSet) sorted() []float64 { return slices.Sorted(s.all()) }
