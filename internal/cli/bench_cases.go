package cli

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/blas"

	"mercer/internal/random"
	"mercer/internal/vec"
)

// benchCases are the loops that bench measures; small ones if only to see that they run.
func benchCases(small bool) []benchCase {
	var cases []benchCase
	size := func(n int) int {
		if small {
			return max(1, n/16)
		}
		return n
	}
	for _, s := range [][3]int{{4096, 784, 4096}, {4096, 784, 2048}, {4096, 64, 4096}, {1024, 22, 1024}} {
		m, k, n := size(s[0]), size(s[1]), size(s[2])
		shape := fmt.Sprintf("%dx%dx%d", m, k, n)
		flops := 2 * float64(m) * float64(k) * float64(n)
		cases = append(cases,
			benchCase{name: "sgemm", shape: shape, unit: "GFLOP/s", work: flops, peak: "f32", parallel: true, make: func() func() {
				a, w, c := normal32(m*k), vec.Pack32(k, n, normal32(k*n), n), make([]float32, m*n)
				return func() { w.Multiply(m, a, k, c, n, nil) }
			}},
			benchCase{name: "dgemm", shape: shape, unit: "GFLOP/s", work: flops, peak: "f64", parallel: true, make: func() func() {
				a, w, c := normal64(m*k), vec.Pack64(k, n, normal64(k*n), n), make([]float64, m*n)
				return func() { w.Multiply(m, a, k, c, n, nil) }
			}})
	}
	n := size(4096)
	square := fmt.Sprintf("%dx%d", n, n)
	rank := float64(n) * float64(n) * float64(n+1)
	cases = append(cases,
		benchCase{name: "ssyrk", shape: square, unit: "GFLOP/s", work: rank, peak: "f32", parallel: true, make: func() func() {
			z, c := normal32(n*n), make([]float32, n*n)
			return func() { vec.BLAS32{}.Ssyrk(blas.Upper, blas.Trans, n, n, 1, z, n, 0, c, n) }
		}},
		benchCase{name: "dsyrk", shape: square, unit: "GFLOP/s", work: rank, peak: "f64", parallel: true, make: func() func() {
			z, c := normal64(n*n), make([]float64, n*n)
			return func() { vec.SyrkAdd(n, n, z, n, c, n) }
		}},
		benchCase{name: "syrkwide", shape: square, unit: "GFLOP/s", work: rank, peak: "f32", parallel: true, make: func() func() {
			z, c := normal32(n*n), make([]float64, n*n)
			return func() { vec.SyrkAddWide(n, n, z, n, c, n) }
		}},
		benchCase{name: "dpotrf", shape: square, unit: "GFLOP/s", work: float64(n) * float64(n) * float64(n) / 3, peak: "f64", parallel: true, makeOn: func() (prepare, run func()) {
			a, work := dominant(n), make([]float64, n*n)
			return func() { copy(work, a) }, func() { vec.Cholesky(n, work, n) }
		}})
	for _, n := range []int{size(1024), size(2048)} {
		// 4/3 for the reduction, 4/3 for merges that deflate nothing, 2 for the way back.
		flops := 14.0 / 3 * float64(n) * float64(n) * float64(n)
		cases = append(cases, benchCase{name: "dsyev", shape: fmt.Sprintf("%dx%d", n, n), unit: "GFLOP/s", work: flops, peak: "f64", parallel: true, makeOn: func() (prepare, run func()) {
			a, work, values := normal64(n*n), make([]float64, n*n), make([]float64, n)
			return func() { copy(work, a) }, func() { vec.EigenSym(n, work, n, values, true) }
		}})
	}

	// Functions: how many vector instructions, each worth a multiply-add, a vector takes.
	const numbers = 2048
	function := func(name, peak string, instructions float64, make func() func()) {
		cases = append(cases, benchCase{name: name, shape: fmt.Sprint(numbers), unit: "ns/element", work: numbers, issue: 2 * instructions * numbers, peak: peak, make: make})
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
	function("cos32", "f32", 12, over32(func(y, _, x []float32) { vec.Cos32(y, x, 0.5) }))
	function("sincos32", "f32", 18, over32(func(y, z, x []float32) { vec.SinCos32(y, z, x, 0.5) }))
	function("exp32", "f32", 13, over32(func(y, _, x []float32) { vec.Exp32(y, x) }))
	function("cos64", "f64", 16, over64(func(y, _, x []float64) { vec.Cos64(y, x, 0.5) }))
	function("sincos64", "f64", 26, over64(func(y, z, x []float64) { vec.SinCos64(y, z, x, 0.5) }))
	function("exp64", "f64", 18, over64(func(y, _, x []float64) { vec.Exp64(y, x) }))

	for _, n := range []int{64, 1024, 4096, 16384} {
		cases = append(cases, benchCase{name: "fwht32", shape: fmt.Sprint(n), unit: "ns", work: 1, issue: 2 * float64(n*(bits.Len(uint(n))-1)), peak: "f32", make: func() func() {
			x := make([]float32, n) // zeros stay zeros: the sums would grow beyond float32
			return func() { vec.Hadamard32(x) }
		}})
	}
	for _, n := range []int{1024, 4096, 16384} {
		flops := 2.5 * float64(n*(bits.Len(uint(n))-1))
		for _, inverse := range []bool{false, true} {
			name := "rfft32"
			if inverse {
				name = "irfft32"
			}
			cases = append(cases, benchCase{name: name, shape: fmt.Sprint(n), unit: "ns", work: 1, issue: flops, peak: "f32", make: func() func() {
				f, x, s := vec.NewFFT(n), normal32(n), make([]float32, n)
				if inverse {
					return func() { f.Inverse(s, x) }
				}
				return func() { f.Forward(s, x) }
			}})
		}
	}
	cases = append(cases, mapCases(size)...)
	dot := numbers * 2
	for _, c := range []benchCase{
		{name: "dot32", shape: fmt.Sprint(dot), peak: "f32", make: func() func() {
			x, y := normal32(dot), normal32(dot)
			return func() { vec.Dot32(x, y) }
		}},
		{name: "axpy32", shape: fmt.Sprint(dot), peak: "f32", make: func() func() {
			x, y := normal32(dot), normal32(dot)
			return func() { vec.Axpy32(1e-9, x, y) }
		}},
	} {
		c.unit, c.work, c.issue = "ns/element", float64(dot), 2*float64(dot)
		cases = append(cases, c)
	}
	long := size(1 << 23)
	cases = append(cases, benchCase{name: "dot32", shape: fmt.Sprint(long), unit: "GB/s", work: 8 * float64(long), peak: "read", make: func() func() {
		x, y := normal32(long), normal32(long)
		return func() { vec.Dot32(x, y) }
	}})
	return cases
}

// mapCases are the work of whole maps on rows of 784 or 1,024 dimensions. Outputs are few
// rows that stay in the cache, but for rff's.
func mapCases(size func(int) int) []benchCase {
	var cases []benchCase
	const rows = 16

	// rff in the pair form: a product whose tiles are turned into sines and cosines.
	n, d, m := size(4096), 784, size(2048)
	cases = append(cases, benchCase{name: "rff", shape: fmt.Sprintf("%d->%d", d, 2*m), unit: "us/row", work: float64(n), issue: 2 * float64(n) * float64(m) * float64(d+18), peak: "f32", parallel: true, make: func() func() {
		x, w, z := normal32(n*d), vec.Pack32(d, m, normal32(d*m), m), make([]float32, n*2*m)
		return func() {
			w.Multiply(n, x, d, z[m:], 2*m, func(i, j, rows, cols int) {
				for r := i; r < i+rows; r++ {
					sin := z[r*2*m+m+j:][:cols]
					vec.SinCos32(sin, z[r*2*m+j:][:cols], sin, 0.02)
				}
			})
		}
	}})

	// sorf in the pair form: blocks of 1,024 frequencies by three rounds of signs and
	// Hadamard's matrix, then sines and cosines.
	const block = 1024
	stages := math.Log2(block)
	cases = append(cases, benchCase{name: "sorf", shape: fmt.Sprintf("%d->%d", d, 4*block), unit: "us/row", work: rows, issue: 2 * rows * 2 * block * (3*stages + 18), peak: "f32", make: func() func() {
		const m = 2 * block
		x, signs, scales, z := normal32(rows*d), signs32(3*m), normal32(m), make([]float32, rows*2*m)
		return func() {
			vec.HD32(rows, block, m, d, signs, scales, x, d, z[m:], 2*m)
			for r := range rows {
				sin := z[r*2*m+m:][:m]
				vec.SinCos32(sin, z[r*2*m:][:m], sin, 0.02)
			}
		}
	}})

	// fastfood in the phase form: blocks of 1,024 frequencies by signs, Hadamard's matrix, a
	// permutation, normal numbers, Hadamard's matrix and scales, then cosines.
	cases = append(cases, benchCase{name: "fastfood", shape: fmt.Sprintf("%d->%d", block, 16*block), unit: "us/row", work: rows, issue: 2 * rows * 16 * block * (2*stages + 2 + 12), peak: "f32", make: func() func() {
		const m = 16 * block
		x, b, g, s := normal32(rows*block), signs32(m), normal32(m), normal32(m)
		p, z, work := make([]int32, m), make([]float32, rows*m), make([]float32, vec.FastfoodWork(block))
		for i := range 16 {
			for j, at := range random.New(1, "bench", uint64(i)).Perm(block) {
				p[i*block+j] = int32(at)
			}
		}
		for i := range s {
			s[i] /= block
		}
		return func() {
			vec.Fastfood32(rows, block, m, block, b, p, g, s, x, block, z, m, work)
			vec.Cos32(z, z, 0.01)
		}
	}})
	return cases
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
