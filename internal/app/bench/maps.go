package bench

import (
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// maps are the work of whole maps on rows of 784 or 1,024 dimensions. Outputs are few rows that
// stay in the cache, but for rff's.
func maps(size func(int) int) []loop { return []loop{rff(size), sorf(), fastfood()} }

const (
	cachedRows = 16
	block      = 1024 // frequencies that sorf and fastfood make at a time
)

// rff, in the pair form, is a product whose tiles are turned into sines and cosines.
func rff(size func(int) int) loop {
	n, d, m := size(4096), 784, size(2048)
	c := loop{name: "rff", shape: fmt.Sprintf("%d->%d", d, 2*m), unit: "us/row", work: float64(n), peak: "f32", parallel: true}
	c.issue = 2 * float64(n) * float64(m) * float64(d+18)
	c.make = func() func() {
		x, w, z := normal32(n*d), vec.Pack32(d, m, normal32(d*m), m), make([]float32, n*2*m)
		return func() {
			w.Multiply(n, x, d, z[m:], 2*m, func(i, j, rows, cols int) {
				for r := i; r < i+rows; r++ {
					sin := z[r*2*m+m+j:][:cols]
					vec.SinCos32(sin, z[r*2*m+j:][:cols], sin, 0.02)
				}
			})
		}
	}
	return c
}

// sorf, in the pair form, makes blocks of frequencies by three rounds of signs and Hadamard's
// matrix, then sines and cosines.
func sorf() loop {
	const d, m = 784, 2 * block
	c := loop{name: "sorf", shape: fmt.Sprintf("%d->%d", d, 2*m), unit: "us/row", work: cachedRows, peak: "f32"}
	c.issue = 2 * cachedRows * m * (3*math.Log2(block) + 18)
	c.make = func() func() {
		x, signs, scales, z := normal32(cachedRows*d), signs32(3*m), normal32(m), make([]float32, cachedRows*2*m)
		return func() {
			vec.HD32(cachedRows, block, m, d, signs, scales, x, d, z[m:], 2*m)
			for r := range cachedRows {
				sin := z[r*2*m+m:][:m]
				vec.SinCos32(sin, z[r*2*m:][:m], sin, 0.02)
			}
		}
	}
	return c
}

// fastfood, in the phase form, makes blocks of frequencies by signs, Hadamard's matrix, a
// permutation, normal numbers, Hadamard's matrix and scales, then cosines.
func fastfood() loop {
	const m = 16 * block
	c := loop{name: "fastfood", shape: fmt.Sprintf("%d->%d", block, m), unit: "us/row", work: cachedRows, peak: "f32"}
	c.issue = 2 * cachedRows * m * (2*math.Log2(block) + 2 + 12)
	c.make = func() func() {
		x, b, g, s := normal32(cachedRows*block), signs32(m), normal32(m), normal32(m)
		p, z, work := make([]int32, m), make([]float32, cachedRows*m), make([]float32, vec.FastfoodWork(block))
		for i := range m / block {
			for j, at := range random.New(1, "bench", uint64(i)).Perm(block) {
				p[i*block+j] = int32(at)
			}
		}
		for i := range s {
			s[i] /= block
		}
		return func() {
			vec.Fastfood32(cachedRows, block, m, block, b, p, g, s, x, block, z, m, work)
			vec.Cos32(z, z, 0.01)
		}
	}
	return c
}
