//go:build !amd64 || purego

package vec

func scaleVectors(dst, x []float32, shift, factor []float64) int { return 0 }

func roundVectors(dst []float32, x []float64, least float64) int { return 0 }

func expandVectors(dst []float64, x []float32) int { return 0 }

func distanceVectors(s, norms []float64, norm, factor float64) int { return 0 }

func finiteVectors(x []float32) (n int, ok bool) { return 0, true }
