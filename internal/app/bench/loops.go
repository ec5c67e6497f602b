package bench

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// loops are what a Job measures; small ones if only to see that they run.
func loops(small bool) []loop {
	size := func(n int) int {
		if small {
			return max(1, n/16)
		}
		return n
	}
	return slices.Concat(products(size), squares(size), functions(), transforms(), maps(size), dots(size))
}

// products are products of matrices, the right one packed before.
func products(size func(int) int) []loop {
	var all []loop
	for _, s := range [][3]int{{4096, 784, 4096}, {4096, 784, 2048}, {4096, 64, 4096}, {1024, 22, 1024}} {
		m, k, n := size(s[0]), size(s[1]), size(s[2])
		c := loop{shape: fmt.Sprintf("%dx%dx%d", m, k, n), unit: "GFLOP/s", parallel: true}
		c.work = 2 * float64(m) * float64(k) * float64(n)
		c.name, c.peak = "sgemm", "f32"
		c.make = func() func() {
			a, w, c := normal32(m*k), vec.Pack32(k, n, normal32(k*n), n), make([]float32, m*n)
			return func() { w.Multiply(m, a, k, c, n, nil) }
		}
		all = append(all, c)
		c.name, c.peak = "dgemm", "f64"
		c.make = func() func() {
			a, w, c := normal64(m*k), vec.Pack64(k, n, normal64(k*n), n), make([]float64, m*n)
			return func() { w.Multiply(m, a, k, c, n, nil) }
		}
		all = append(all, c)
	}
	return all
}

// squares are ZᵀZ of a square Z, and decompositions.
func squares(size func(int) int) []loop {
	n := size(4096)
	cube := float64(n) * float64(n) * float64(n)
	square := loop{shape: fmt.Sprintf("%dx%d", n, n), unit: "GFLOP/s", peak: "f64", parallel: true}
	square.work = float64(n) * float64(n) * float64(n+1)

	ssyrk, dsyrk, wide, cholesky := square, square, square, square
	ssyrk.name, ssyrk.peak = "ssyrk", "f32"
	ssyrk.make = func() func() {
		z, c := normal32(n*n), make([]float32, n*n)
		return func() { vec.BLAS32{}.Ssyrk(blas.Upper, blas.Trans, n, n, 1, z, n, 0, c, n) }
	}
	dsyrk.name = "dsyrk"
	dsyrk.make = func() func() {
		z, c := normal64(n*n), make([]float64, n*n)
		return func() { vec.SyrkAdd(n, n, z, n, c, n) }
	}
	wide.name, wide.peak = "syrkwide", "f32"
	wide.make = func() func() {
		z, c := normal32(n*n), make([]float64, n*n)
		return func() { vec.SyrkAddWide(n, n, z, n, c, n) }
	}
	cholesky.name, cholesky.work = "dpotrf", cube/3
	cholesky.makeOn = func() (prepare, run func()) {
		a, work := dominant(n), make([]float64, n*n)
		return func() { copy(work, a) }, func() { vec.Cholesky(context.Background(), n, work, n) }
	}
	all := []loop{ssyrk, dsyrk, wide, cholesky}

	for _, n := range []int{size(1024), size(2048)} {
		eigen := square
		eigen.name, eigen.shape = "dsyev", fmt.Sprintf("%dx%d", n, n)
		// 4/3 for the reduction, 4/3 for merges that deflate nothing, 2 for the way back.
		eigen.work = 14.0 / 3 * float64(n) * float64(n) * float64(n)
		eigen.makeOn = func() (prepare, run func()) {
			a, work, values := normal64(n*n), make([]float64, n*n), make([]float64, n)
			return func() { copy(work, a) }, func() { vec.EigenSym(context.Background(), n, work, n, values, true) }
		}
		all = append(all, eigen)
	}
	return all
}

// functions are elementary functions of numbers in the cache.
func functions() []loop {
	const numbers = 2048
	// instructions are the vector instructions, each worth a multiply-add, that a vector takes.
	of := func(name, peak string, instructions float64, make func() func()) loop {
		return loop{name: name, shape: fmt.Sprint(numbers), unit: "ns/element", work: numbers,
			issue: 2 * instructions * numbers, peak: peak, make: make}
	}
	over32 := func(f func(y, z, x []float32)) func() func() {
		return func() func() {
			x, y, z := normal32(numbers), make([]float32, numbers), make([]float32, numbers)
			return func() { f(y, z, x) }
		}
	}
	over64 := func(f func(y, z, x []float64)) func() func() {
		return func() func() {
			x, y, z := normal64(numbers), make([]float64, numbers), make([]float64, numbers)
			return func() { f(y, z, x) }
		}
	}
	return []loop{
		of("cos32", "f32", 12, over32(func(y, _, x []float32) { vec.Cos32(y, x, 0.5) })),
		of("sincos32", "f32", 18, over32(func(y, z, x []float32) { vec.SinCos32(y, z, x, 0.5) })),
		of("exp32", "f32", 13, over32(func(y, _, x []float32) { vec.Exp32(y, x) })),
		of("cos64", "f64", 16, over64(func(y, _, x []float64) { vec.Cos64(y, x, 0.5) })),
		of("sincos64", "f64", 26, over64(func(y, z, x []float64) { vec.SinCos64(y, z, x, 0.5) })),
		of("exp64", "f64", 18, over64(func(y, _, x []float64) { vec.Exp64(y, x) })),
	}
}

// transforms are Walsh-Hadamard's and Fourier's.
func transforms() []loop {
	var all []loop
	for _, n := range []int{64, 1024, 4096, 16384} {
		sums := float64(n * (bits.Len(uint(n)) - 1))
		all = append(all, loop{name: "fwht32", shape: fmt.Sprint(n), unit: "ns", work: 1, issue: 2 * sums, peak: "f32", make: func() func() {
			x := make([]float32, n) // zeros stay zeros: the sums would grow beyond float32
			return func() { vec.Hadamard32(x) }
		}})
	}
	for _, n := range []int{1024, 4096, 16384} {
		c := loop{shape: fmt.Sprint(n), unit: "ns", work: 1, issue: 2.5 * float64(n*(bits.Len(uint(n))-1)), peak: "f32"}
		c.name = "rfft32"
		c.make = func() func() {
			f, x, s := vec.NewFFT(n), normal32(n), make([]float32, n)
			return func() { f.Forward(s, x) }
		}
		all = append(all, c)
		c.name = "irfft32"
		c.make = func() func() {
			f, x, s := vec.NewFFT(n), normal32(n), make([]float32, n)
			return func() { f.Inverse(s, x) }
		}
		all = append(all, c)
	}
	return all
}

// dots are products of vectors in the cache and outside.
func dots(size func(int) int) []loop {
	const numbers = 4096
	long := size(1 << 23)
	cached := loop{shape: fmt.Sprint(numbers), unit: "ns/element", work: numbers, issue: 2 * numbers, peak: "f32"}
	dot, axpy := cached, cached
	dot.name = "dot32"
	dot.make = func() func() {
		x, y := normal32(numbers), normal32(numbers)
		return func() { vec.Dot32(x, y) }
	}
	axpy.name = "axpy32"
	axpy.make = func() func() {
		x, y := normal32(numbers), normal32(numbers)
		return func() { vec.Axpy32(1e-9, x, y) }
	}
	return []loop{dot, axpy,
		{name: "dot32", shape: fmt.Sprint(long), unit: "GB/s", work: 8 * float64(long), peak: "read", make: func() func() {
			x, y := normal32(long), normal32(long)
			return func() { vec.Dot32(x, y) }
		}}}
}

func signs32(n int) []float32 {
	s := make([]float32, n)
	r := random.New(1, "bench")
	for i := range s {
		s[i] = float32(r.Sign())
	}
	return s
}

// dominant is a symmetric matrix of order n that is positive definite as its diagonal
// outweighs the rest.
func dominant(n int) []float64 {
	a := normal64(n * n)
	for i := range n {
		a[i*n+i] = 4 * math.Sqrt(float64(n))
	}
	return a
}

func normal32(n int) []float32 {
	x := make([]float32, n)
	random.New(1, "bench").FillNormal(x)
	return x
}

func normal64(n int) []float64 {
	x := make([]float64, n)
	r := random.New(1, "bench")
	for i := range x {
		x[i] = r.Normal()
	}
	return x
}
