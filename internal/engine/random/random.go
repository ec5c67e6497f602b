// Package random holds the project's random streams and samplers. They are frozen: a seed
// in a model file gives the same numbers on every architecture and for ever, so nothing in
// here rests on the standard library's generators, nor on functions of package math whose
// last bit depends on the machine.
//
// The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
// generators", 2021). Go may fuse x*y + z into one rounding on some machines and not on
// others, even across statements and inlined calls; the explicit conversion in
// float64(x*y) + z forbids that, and every rounded product in this package has one.
package random

import "math/bits"

// Stream is a sequence of random numbers. It is not safe for concurrent use: give every
// goroutine a stream of its own, told apart by the index.
type Stream struct {
	s [4]uint64

	// The next signs: the low left bits of signs.
	signs uint64
	left  int
}

// New returns the stream of a seed, the name of its use, and any number of indices within
// that use. Streams that differ in any of these are independent; a new use under a new name
// shifts no other.
func New(seed uint64, name string, index ...uint64) *Stream {
	key := fold(fold(0, hashString(name)), seed)
	for _, i := range index {
		key = fold(key, i)
	}
	// SplitMix64 from the key, as the generator's authors advise. Its four outputs are
	// distinct, hence not all zero, which is the one state to avoid.
	r := new(Stream)
	for i := range r.s {
		r.s[i] = mix(key + uint64(i+1)*golden)
	}
	return r
}

// Hash is a frozen function of its arguments with 64 well-mixed bits: a random number for
// the item i of a use that needs no order, such as the part of a split that row i goes to.
func Hash(seed uint64, name string, i uint64) uint64 {
	return fold(fold(fold(0, hashString(name)), seed), i)
}

// golden is 2⁶⁴ over the golden ratio, odd.
const golden = 0x9e3779b97f4a7c15

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which
// every input bit changes each output bit with a probability near one half.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fold adds one more word to a hash. The hash is mixed first, so that small differences in
// it and in the word cannot cancel.
func fold(h, word uint64) uint64 {
	return mix(mix(h+golden) ^ word)
}

// hashString is FNV-1a.
func hashString(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

// Uint64 returns 64 random bits.
func (r *Stream) Uint64() uint64 {
	s := &r.s
	x := bits.RotateLeft64(s[0]+s[3], 23) + s[0]
	t := s[1] << 17
	s[2] ^= s[0]
	s[3] ^= s[1]
	s[1] ^= s[2]
	s[0] ^= s[3]
	s[2] ^= t
	s[3] = bits.RotateLeft64(s[3], 45)
	return x
}

// Uniform returns a number of [0, 1): a multiple of 2⁻⁵³.
func (r *Stream) Uniform() float64 {
	return float64(r.Uint64()>>11) * 0x1p-53
}

// UniformOpen returns a number of (0, 1): an odd multiple of 2⁻⁵³. So it lies as far from 0
// as from 1, and p and 1-p are equally likely.
func (r *Stream) UniformOpen() float64 {
	return (float64(r.Uint64()>>12) + 0.5) * 0x1p-52
}

// Intn returns an integer of [0, n), each with the same probability. It panics if n < 1.
func (r *Stream) Intn(n int) int {
	if n < 1 {
		panic("random: Intn of a range without elements")
	}
	return int(r.below(uint64(n)))
}

// below returns an integer of [0, n) for n > 0 (Lemire, "Fast random integer generation in
// an interval", 2019).
func (r *Stream) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		// Without rejection, 2⁶⁴ mod n of the values would come once too often.
		for excess := -n % n; lo < excess; {
			hi, lo = bits.Mul64(r.Uint64(), n)
		}
	}
	return hi
}

// Perm returns the numbers 0 … n-1 in random order (Fisher and Yates).
func (r *Stream) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := r.Intn(i + 1)
		p[i] = p[j]
		p[j] = i
	}
	return p
}

// Sign returns -1 or +1. Signs take one bit each: 64 of them one Uint64.
func (r *Stream) Sign() float64 {
	if r.left == 0 {
		r.signs, r.left = r.Uint64(), 64
	}
	sign := 1 - 2*int(r.signs&1)
	r.signs >>= 1
	r.left--
	return float64(sign)
}

// FillSigns fills dst with the numbers that Sign returns.
func (r *Stream) FillSigns(dst []float32) {
	for i := range dst {
		dst[i] = float32(r.Sign())
	}
}
