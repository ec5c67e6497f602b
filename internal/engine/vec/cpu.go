package vec

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

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

// CheckLevel refuses a value of the environment variable MERCER_CPU that names no level.
func CheckLevel() error {
	asked := os.Getenv("MERCER_CPU")
	if asked == "" || slices.Contains(names, asked) {
		return nil
	}
	return fmt.Errorf("the environment variable MERCER_CPU is %q; it can be %s, or unset for the best that the machine has",
		asked, strings.Join(names, ", "))
}
