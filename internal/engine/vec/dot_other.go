//go:build !amd64 || purego

package vec

func dotBlocks32([]float32, []float32) (float32, int)    { return 0, 0 }
func axpyBlocks32(float32, []float32, []float32) int     { return 0 }
func dotBlocks64([]float64, []float64) (float64, int)    { return 0, 0 }
func axpyBlocks64(float64, []float64, []float64) int     { return 0 }
func dotBlocksWide([]float32, []float32) (float64, int)  { return 0, 0 }
func dotBlocksMixed([]float32, []float64) (float64, int) { return 0, 0 }
func axpyBlocksWide(float64, []float32, []float64) int   { return 0 }

func fetch64(*float64, int) {}

func subtractRows(rows int, alpha []float64, stride int, x []float64, ldx int, y []float64) {
	subtractRowsPlain(rows, alpha, stride, x, ldx, y)
}

func divide(x []float64, d float64) {
	for i := range x {
		x[i] /= d
	}
}
