//go:build !amd64 || purego

package vec

func rootsBlocks(_, _, _ []float32) int                                              { return 0 }
func sechBlocks(_, _, _, _, _ []float32) int                                         { return 0 }
func recurBlocks(_ []float32, _ float32, _, _ []float32, _ float32, _ []float32) int { return 0 }
func rotateBlocks(_, _, _, _, _, _ []float32, _ float32) int                         { return 0 }
