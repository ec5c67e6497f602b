//go:build amd64 && !purego

package vec

import (
	"os"

	"golang.org/x/sys/cpu"
)

//go:generate sh gen/generate.sh

// best is the highest level that this machine has.
func best() instructions {
	switch x := cpu.X86; {
	case !x.HasAVX2 || !x.HasFMA:
		return generic
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasPOPCNT:
		return avx512
	}
	return avx2
}

// level is the instructions in use: the best, or fewer if MERCER_CPU=generic or avx2 asks
// for that, as tests do.
var level = min(best(), asked())

func asked() instructions {
	for l, name := range names {
		if os.Getenv("MERCER_CPU") == name {
			return instructions(l)
		}
	}
	return avx512
}
