package random

import (
	"math"
	"testing"
)

// The reference outputs of xoshiro256++ from the state 1, 2, 3, 4, as published with the
// generator's implementations.
func TestGeneratorMatchesReference(t *testing.T) {
	r := Stream{s: [4]uint64{1, 2, 3, 4}}
	want := []uint64{
		41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205,
		9973669472204895162, 14011001112246962877, 12406186145184390807,
		15849039046786891736, 10450023813501588000,
	}
	for i, w := range want {
		if got := r.Uint64(); got != w {
			t.Fatalf("output %d is %d, want %d", i, got, w)
		}
	}
}

// The reference outputs of SplitMix64 from the seed 1234567, and of FNV-1a.
func TestHashesMatchReference(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := mix(1234567 + uint64(i+1)*golden); got != want {
			t.Errorf("SplitMix64 output %d is %d, want %d", i, got, want)
		}
	}
	if got := hashString("foobar"); got != 0x85944171f73967e8 {
		t.Errorf("FNV-1a of foobar is %#x", got)
	}
}

func TestStreamsDifferInEveryPartOfTheirKey(t *testing.T) {
	seen := map[uint64]string{}
	add := func(what string, x uint64) {
		if other, ok := seen[x]; ok {
			t.Errorf("%s and %s begin alike", what, other)
		}
		seen[x] = what
	}
	add("base", New(1, "a").Uint64())
	add("seed", New(2, "a").Uint64())
	add("name", New(1, "b").Uint64())
	add("index 0", New(1, "a", 0).Uint64())
	add("index 1", New(1, "a", 1).Uint64())
	add("index 0, 0", New(1, "a", 0, 0).Uint64())
	add("index 0, 1", New(1, "a", 0, 1).Uint64())
	add("index 1, 0", New(1, "a", 1, 0).Uint64())
	add("hash 0", Hash(1, "a", 0))
	add("hash 1", Hash(1, "a", 1))
	add("hash of seed 0", Hash(0, "a", 1))
}

// Every bit of the input flips each bit of the hash with probability ½: over 256 inputs and
// 64 input bits a count has mean 8192 and deviation 64.
func TestHashAvalanche(t *testing.T) {
	var flips [64]int
	for i := range uint64(256) {
		h := Hash(i, "avalanche", i*i)
		for bit := range 64 {
			d := h ^ Hash(i, "avalanche", i*i^1<<bit)
			for out := range flips {
				flips[out] += int(d >> out & 1)
			}
		}
	}
	for out, n := range flips {
		if math.Abs(float64(n)-8192) > 4.5*64 {
			t.Errorf("bit %d flips %d times of 16384", out, n)
		}
	}
}

func TestUniformRanges(t *testing.T) {
	lowest, highest := Stream{}, Stream{}
	for i := range lowest.s {
		highest.s[i] = math.MaxUint64
	}
	if u := lowest.Uniform(); u != 0 {
		t.Errorf("the lowest Uniform is %g", u)
	}
	if u := lowest.UniformOpen(); u != 0x1p-53 {
		t.Errorf("the lowest UniformOpen is %g", u)
	}
	// This state gives rotl(2⁶⁴-2, 23) + (2⁶⁴-1): not all ones, but every bit that counts
	// in the top 40.
	if u := highest.UniformOpen(); !(u > 1-0x1p-40 && u < 1) {
		t.Errorf("a high UniformOpen is %g", u)
	}
	if u := (float64(uint64(math.MaxUint64)>>12) + 0.5) * 0x1p-52; u != 1-0x1p-53 {
		t.Errorf("the highest UniformOpen is %g", u)
	}
}

func TestIntnIsUnbiased(t *testing.T) {
	// Without rejection, the values below 3·2⁶¹ that are 2 modulo 3 would come from two of
	// the 64-bit numbers and the others from three.
	r := New(1, "intn")
	const n = 30000
	var count [3]float64
	for range n {
		count[r.below(3<<61)%3]++
	}
	chi2 := 0.0
	for _, c := range count {
		chi2 += (c - n/3) * (c - n/3) / (n / 3)
	}
	if chi2 > 20 { // P(χ²₂ > 20) = 4.5·10⁻⁵
		t.Errorf("χ² = %g: %v", chi2, count)
	}
	if New(1, "one").Intn(1) != 0 {
		t.Error("Intn(1) is not 0")
	}
}

func TestPermIsUniform(t *testing.T) {
	r := New(1, "perm")
	const n = 24000
	count := map[[4]int]float64{}
	for range n {
		count[[4]int(r.Perm(4))]++
	}
	if len(count) != 24 {
		t.Fatalf("%d permutations of 4 instead of 24", len(count))
	}
	chi2 := 0.0
	for p, c := range count {
		sum := 0
		for _, i := range p {
			sum |= 1 << i
		}
		if sum != 15 {
			t.Errorf("%v is not a permutation", p)
		}
		chi2 += (c - n/24) * (c - n/24) / (n / 24)
	}
	if chi2 > 57 { // P(χ²₂₃ > 57) = 10⁻⁴
		t.Errorf("χ² = %g", chi2)
	}
}

func TestSignsTakeOneBitEach(t *testing.T) {
	bits, signs := New(3, "sign"), New(3, "sign")
	filled := make([]float32, 200)
	New(3, "sign").FillSigns(filled)
	var word uint64
	for i, f := range filled {
		if i%64 == 0 {
			word = bits.Uint64()
		}
		want := 1.0
		if word>>(i%64)&1 == 1 {
			want = -1
		}
		if got := signs.Sign(); got != want || float64(f) != want {
			t.Fatalf("sign %d is %g and filled %g, want %g", i, got, f, want)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	var h uint64
	for i := range b.N {
		h ^= Hash(1, "split", uint64(i))
	}
	sink = float64(h)
}

func BenchmarkUint64(b *testing.B) {
	r := New(1, "bench")
	var h uint64
	for range b.N {
		h ^= r.Uint64()
	}
	sink = float64(h)
}

var sink float64
