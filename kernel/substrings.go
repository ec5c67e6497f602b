package kernel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Substrings are kernels of strings by the substrings of Length bytes that they share: the spectrum kernel (Leslie, Eskin and Noble 2002) or, with
// Mismatches, the mismatch kernel (Leslie et al. 2004). Features are all strings of so many letters of the alphabet, and a substring counts for each
// from which it differs in up to Mismatches places. k is the cosine of the counts: k(s, s) is 1, and k is 0 for strings without such a substring.
type Substrings struct {
	Length     int
	Mismatches int // below Length

	// Alphabet has the letters, such as "ACGT", each once; "" means all bytes. Substrings with others count for nothing.
	Alphabet string

	// Hashed is the number of columns of Features into which substrings are hashed with signs, so that products of two rows before their
	// lengths become 1 are unbiased (Weinberger et al. 2009); 0 means a column for each string of the alphabet.
	Hashed int

	Seed uint64 // of the hashes
}

// mostSubstrings bounds the columns without hashing, and the features that one substring counts for.
const mostSubstrings = 1 << 24

func (s Substrings) check() error {
	size := float64(s.letters())
	switch {
	case s.Length < 1 || s.Mismatches < 0 || s.Mismatches >= s.Length:
		return fmt.Errorf("kernel: substrings of length %d of which %d letters may differ; a length is 1 or more, and fewer differ", s.Length, s.Mismatches)
	case s.Hashed < 0:
		return fmt.Errorf("kernel: %d columns; give 1 or more, or 0 for all substrings", s.Hashed)
	case math.Pow(size, float64(s.Length)) > mostSubstrings && s.Hashed == 0:
		return fmt.Errorf("kernel: there are %d^%d substrings, and %d columns at most; hash them", s.letters(), s.Length, mostSubstrings)
	}
	for i := range len(s.Alphabet) {
		if strings.IndexByte(s.Alphabet[i+1:], s.Alphabet[i]) >= 0 {
			return fmt.Errorf("kernel: the alphabet has %q twice", s.Alphabet[i])
		}
	}
	return nil
}

func (s Substrings) letters() int {
	if s.Alphabet == "" {
		return 256
	}
	return len(s.Alphabet)
}

// of are the substrings of x that have letters of the alphabet alone.
func (s Substrings) of(x string) (all []string) {
	bad := -1
	for i := range len(x) {
		if s.Alphabet != "" && strings.IndexByte(s.Alphabet, x[i]) < 0 {
			bad = i
		}
		if from := i + 1 - s.Length; from > bad {
			all = append(all, x[from:i+1])
		}
	}
	return all
}

// Kernel is the kernel of two strings. Without mismatches it takes time in proportion to their lengths, else to their product. It panics if
// s is not valid: a Length below 1, or as many Mismatches.
func (s Substrings) Kernel() Func[string] {
	s.Hashed = max(1, s.Hashed)
	if err := s.check(); err != nil {
		panic(err)
	}
	shared := s.shared()
	product := func(x, y []string) (sum float64) {
		if s.Mismatches == 0 {
			count := map[string]float64{}
			for _, u := range x {
				count[u]++
			}
			for _, v := range y {
				sum += count[v]
			}
			return sum
		}
		for _, u := range x {
			for _, v := range y {
				d := 0
				for c := 0; c < len(u) && d < len(shared); c++ {
					if u[c] != v[c] {
						d++
					}
				}
				if d < len(shared) {
					sum += shared[d]
				}
			}
		}
		return sum
	}
	return func(x, y string) float64 {
		u, v := s.of(x), s.of(y)
		if len(u) == 0 || len(v) == 0 {
			return 0
		}
		return product(u, v) / math.Sqrt(product(u, u)*product(v, v))
	}
}

// shared has, for substrings that differ in d places, the number of strings that differ from both in up to m. Where they differ, a string
// may be as the one, as the other or neither; elsewhere it may differ from both.
func (s Substrings) shared() []float64 {
	size, m := float64(s.letters()), s.Mismatches
	all := make([]float64, min(2*m, s.Length)+1)
	for d := range all {
		for a := 0; a <= d; a++ { // as the one, b as the other
			for b := 0; a+b <= d; b++ {
				for e := 0; e <= s.Length-d && d-a+e <= m && d-b+e <= m; e++ {
					all[d] += choose(d, a) * choose(d-a, b) * math.Pow(size-2, float64(d-a-b)) * choose(s.Length-d, e) * math.Pow(size-1, float64(e))
				}
			}
		}
	}
	return all
}

// choose is a binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// Features are rows whose products are the kernel, for learners of dimensions, one for each string: of the counts of all substrings, or of
// hashed ones, of which products are nearly those. A substring takes as many steps as it counts for features.
func (s Substrings) Features(x []string) (*matrix.CSR, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	size, around := s.letters(), 0.0
	for e := range s.Mismatches + 1 {
		around += choose(s.Length, e) * math.Pow(float64(size-1), float64(e))
	}
	if around > mostSubstrings {
		return nil, errors.New("kernel: substrings count for too many others; allow fewer to differ, name the letters of the alphabet, or take the kernel")
	}
	rows := &matrix.CSR{Rows: len(x), Cols: s.Hashed, Ptr: make([]int, 1, len(x)+1)}
	if s.Hashed == 0 {
		rows.Cols = int(math.Pow(float64(size), float64(s.Length)))
	}
	buffer := make([]byte, s.Length)
	for _, text := range x {
		counts := map[int32]float64{}
		for _, u := range s.of(text) {
			copy(buffer, u)
			s.count(buffer, 0, s.Mismatches, counts)
		}
		square := 0.0
		for _, j := range slices.Sorted(maps.Keys(counts)) {
			if v := counts[j]; v != 0 {
				rows.Idx, rows.Val = append(rows.Idx, j), append(rows.Val, float32(v))
				square += float64(v * v)
			}
		}
		for e := rows.Ptr[len(rows.Ptr)-1]; e < len(rows.Val); e++ {
			rows.Val[e] = float32(float64(rows.Val[e]) / math.Sqrt(square))
		}
		rows.Ptr = append(rows.Ptr, len(rows.Idx))
	}
	return rows, nil
}

// count counts a substring, and those that differ from it in up to m of the places from at on.
func (s Substrings) count(u []byte, at, m int, counts map[int32]float64) {
	column, value := s.column(u)
	counts[column] += value
	for ; m > 0 && at < len(u); at++ {
		own := u[at]
		for l := range s.letters() {
			if u[at] = s.letter(l); u[at] != own {
				s.count(u, at+1, m-1, counts)
			}
		}
		u[at] = own
	}
}

func (s Substrings) letter(l int) byte {
	if s.Alphabet == "" {
		return byte(l)
	}
	return s.Alphabet[l]
}

// column is that of a substring, and what it counts there.
func (s Substrings) column(u []byte) (column int32, value float64) {
	if s.Hashed > 0 {
		h := random.Hash(s.Seed, string(u), 0)
		return int32(h >> 1 % uint64(s.Hashed)), 1 - 2*float64(h&1)
	}
	for _, c := range u {
		l := int(c)
		if s.Alphabet != "" {
			l = strings.IndexByte(s.Alphabet, c)
		}
		column = column*int32(s.letters()) + int32(l)
	}
	return column, 1
}
