package vec

import "math/bits"

// Hamming writes in how many bits each of the codes, of as many words as code, differs from it: a number for each code, at most 65,535.
func Hamming(dst []uint16, codes, code []uint64) {
	words := len(code)
	codes = codes[:len(dst)*words]
	for i := hammingBlocks(dst, codes, code); i < len(dst); i++ {
		n := 0
		for j, w := range codes[i*words:][:words] {
			n += bits.OnesCount64(w ^ code[j])
		}
		dst[i] = uint16(n)
	}
}
