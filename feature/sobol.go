package feature

import (
	_ "embed"
	"math/bits"
	"sync"

	"mercer/internal/engine/random"
)

// sobol is one dimension of a Sobol sequence of 2³² points (Sobol, "On the distribution of
// points in a cube and the approximate evaluation of integrals", 1967) in the order of
// Antonov and Saleev, whose first 2^k points are those of the sequence for each k. It is
// scrambled: the bits of each number are multiplied by a random lower triangular matrix
// (Matoušek, "On the L2-discrepancy for anchored boxes", 1998), and random bits are added,
// which alone makes each point uniform. Neither changes how evenly the points lie.
type sobol struct {
	directions [32]uint32
	x, j       uint32
}

// newSobol begins the dimension with the given number, from 0, of the points of qmc.
func newSobol(seed uint64, dim int) *sobol {
	return scrambled(random.New(seed, "feature.qmc", uint64(dim)), dim)
}

// scrambled begins a dimension that a stream scrambles.
func scrambled(r *random.Stream, dim int) *sobol {
	var rows [32]uint32 // row i of the matrix, for the i-th bit from the top: i random bits and a 1
	for i := range rows {
		rows[i] = uint32(r.Uint64()>>32)&^(1<<31>>i<<1-1) | 1<<31>>i
	}
	s := &sobol{x: uint32(r.Uint64() >> 32)}
	for k, v := range directions(dim) {
		for i, row := range rows {
			s.directions[k] |= uint32(bits.OnesCount32(row&v)&1) << 31 >> i
		}
	}
	return s
}

// next returns the coordinate of the next point: an odd multiple of 2⁻³³ in (0, 1).
func (s *sobol) next() float64 {
	u := (float64(s.x) + 0.5) * 0x1p-32
	s.j++
	s.x ^= s.directions[bits.TrailingZeros32(s.j)&31]
	return u
}

// skip goes to the point with the number j from where it began.
func (s *sobol) skip(j uint32) {
	for s.j = j; j > 0; j &= j - 1 {
		k := bits.TrailingZeros32(j)
		s.x ^= s.directions[k] // of the Gray code j ^ j/2, bit k and the one below
		if k > 0 {
			s.x ^= s.directions[k-1]
		}
	}
}

// sobolDims is the number of dimensions there are directions for.
const sobolDims = 4098

// sobolTable holds the primitive polynomials and initial direction numbers of Joe and Kuo,
// "Constructing Sobol sequences with better two-dimensional projections", 2008, the first
// sobolDims of their new-joe-kuo-6.21201. It is a stream of bits, the highest of a byte first.
// For each dimension but the first, whose degree is 0:
//
//	1 bit             by how much the degree s of the polynomial is above that before
//	s-1 bits          its coefficients but the first and last, which are 1
//	i-1 bits, i=2…s   the numbers m_i < 2^i without their last bit, which is 1 (m_1 = 1)
//
//go:embed sobol.bin
var sobolTable string

// directions returns the 32 direction numbers of a dimension.
func directions(dim int) (v [32]uint32) {
	if dim == 0 {
		for k := range v {
			v[k] = 1 << 31 >> k
		}
		return v
	}
	start := sobolStarts()[dim]
	t := bitReader(start.bit)
	s := start.degree
	polynomial := t.read(s - 1)
	for k := range v {
		if k < s {
			v[k] = (t.read(k)<<1 | 1) << (31 - k)
			continue
		}
		// The recurrence of the polynomial x^s + a_1 x^(s-1) + … + a_(s-1) x + 1.
		v[k] = v[k-s] ^ v[k-s]>>s
		for i := 1; i < s; i++ {
			v[k] ^= polynomial >> (s - 1 - i) & 1 * v[k-i]
		}
	}
	return v
}

// sobolStart says where in the table a dimension begins, behind its first bit.
type sobolStart struct{ bit, degree int }

var sobolStarts = sync.OnceValue(func() []sobolStart {
	starts := make([]sobolStart, sobolDims)
	var t bitReader
	degree := 0
	for dim := 1; dim < sobolDims; dim++ {
		degree += int(t.read(1))
		starts[dim] = sobolStart{int(t), degree}
		t += bitReader(degree - 1 + degree*(degree-1)/2)
	}
	return starts
})

// bitReader is a position in sobolTable.
type bitReader int

// read returns the next n < 32 bits.
func (t *bitReader) read(n int) (v uint32) {
	for range n {
		v = v<<1 | uint32(sobolTable[*t/8]>>(7-*t%8))&1
		*t++
	}
	return v
}
