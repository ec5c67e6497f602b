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
