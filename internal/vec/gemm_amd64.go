//go:build amd64 && !purego

package vec

import (
	"os"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd gen && go run . -out ../gemm_amd64.s -stubs ../gemm_stubs_amd64.go -pkg vec"

// chooseKernels picks the best micro-kernels that the machine has. MERCER_CPU=generic or avx2
// asks for lesser ones, for tests.
func chooseKernels() {
	want := os.Getenv("MERCER_CPU")
	avx2 := cpu.X86.HasAVX2 && cpu.X86.HasFMA
	avx512 := avx2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
	switch {
	case avx512 && want != "avx2" && want != "generic":
		micro32.mr, micro32.nr, micro32.tile, micro32.row = 14, 32, gemm32_avx512_14x32, gemm32_avx512_1x32
		micro64.mr, micro64.nr, micro64.tile, micro64.row = 14, 16, gemm64_avx512_14x16, gemm64_avx512_1x16
	case avx2 && want != "generic":
		micro32.mr, micro32.nr, micro32.tile, micro32.row = 6, 16, gemm32_avx2_6x16, gemm32_avx2_1x16
		micro64.mr, micro64.nr, micro64.tile, micro64.row = 6, 8, gemm64_avx2_6x8, gemm64_avx2_1x8
	}
}
