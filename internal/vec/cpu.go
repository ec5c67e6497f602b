package vec

// instructions are a level of instruction sets for kernels. Levels are ordered: each includes
// the previous ones.
type instructions int

const (
	generic instructions = iota // Go
	avx2                        // AVX2 and FMA
	avx512                      // AVX-512 F, DQ, BW and VL
)

var names = []string{"generic", "avx2", "avx512"}

// Level names the instructions in use: generic, avx2 or avx512.
func Level() string { return names[level] }
