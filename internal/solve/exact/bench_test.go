package exact

import (
	"bufio"
	"compress/gzip"
	"context"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/testenv"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// covtype is the first 20,000 rows of covtype, its columns of mean 0 and deviation 1, and ±1 for
// class 2 and the others.
func covtype(t testing.TB) (x matrix.Rows, y []float64) {
	file, err := os.Open(testenv.Data(t, "covtype/covtype.first20k.data.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	const d = 54
	m := matrix.NewDense(0, d)
	for lines := bufio.NewScanner(unpacked); lines.Scan(); {
		fields := strings.Split(lines.Text(), ",")
		if len(fields) != d+1 {
			t.Fatalf("a row of %d numbers", len(fields))
		}
		for _, text := range fields[:d] {
			v, err := strconv.ParseFloat(text, 32)
			if err != nil {
				t.Fatal(err)
			}
			m.Data = append(m.Data, float32(v))
		}
		m.Rows++
		y = append(y, -1)
		if fields[d] == "2" {
			y[len(y)-1] = 1
		}
	}
	for j := range d {
		mean, square := 0.0, 0.0
		for i := range m.Rows {
			mean += float64(m.Row(i)[j]) / float64(m.Rows)
		}
		for i := range m.Rows {
			v := float64(m.Row(i)[j]) - mean
			square += v * v / float64(m.Rows)
		}
		for i := range m.Rows {
			v := &m.Row(i)[j]
			if *v -= float32(mean); square > 0 {
				*v /= float32(math.Sqrt(square))
			}
		}
	}
	return matrix.Rows{Dense: m}, y
}

// BenchmarkFalkon compares a fit with the products, factorisations and triangular solves of its
// shapes alone: those of the kernel matrix, in float32 one in each direction an iteration, and of
// the preconditioner. The ratio is of runs right after each other.
func BenchmarkFalkon(b *testing.B) {
	x, y := covtype(b)
	const m, d = 2000, 54
	n := x.Len()
	k := kernel.Kernel{Name: "rbf", Gamma: 0.02}
	opt := Falkon{Centres: m, Lambda: 1e-6 * float64(n), Seed: 1}
	var fit, products time.Duration
	var iterations int
	for b.Loop() {
		start := time.Now()
		_, report, err := FitFalkon(context.Background(), k, x, y, 1, nil, opt)
		if err != nil {
			b.Fatal(err)
		}
		if !report.Converged || !report.Kept {
			b.Fatalf("%+v", report)
		}
		fit += time.Since(start)
		iterations = report.Iterations
		products += productsOfFalkon(n, m, d, report.Iterations)
	}
	b.ReportMetric(fit.Seconds()/float64(b.N), "s/fit")
	b.ReportMetric(products.Seconds()/float64(b.N), "s/products")
	b.ReportMetric(fit.Seconds()/products.Seconds(), "ratio")
	b.ReportMetric(float64(iterations), "iterations")
}

// productsOfFalkon is the time of the products, Choleskys and triangular solves of a fit of one
// output.
func productsOfFalkon(n, m, d, iterations int) time.Duration {
	rows, centres := make([]float64, n*d), make([]float64, m*d)
	gram, kept := make([]float64, m*m), make([]float32, n*m)
	factor := make([]float64, m*m)
	for i := range centres {
		centres[i] = float64(i%7) - 3
	}
	for i := range kept {
		kept[i] = float32(i%5) - 2
	}
	packed := vec.Pack64(d, m, centres, m)
	u := make([]float64, m)
	for i := range u {
		u[i] = float64(i%3) - 1
	}
	f := &falkon{m: m, k: 1}
	start := time.Now()
	packed.Multiply(m, centres, d, gram, m, nil)
	vec.Parallel(n, 256, func(lo, hi int) {
		out := make([]float64, 256*m)
		for i := lo; i < hi; i += 256 {
			packed.Multiply(min(256, hi-i), rows[i*d:], d, out, m, nil)
		}
	})
	for range 2 {
		clear(factor)
		for i := range m {
			factor[i*m+i] = 1
		}
		vec.Cholesky(context.Background(), m, factor, m)
	}
	for i := 0; i < m; i += 256 {
		for j := i; j < m; j += 256 {
			vec.GemmNT(min(256, m-i), min(256, m-j), m-j, factor[i*m+j:], m, factor[j*m+j:], m, gram[i*m+j:], m)
		}
	}
	g, out := make([]float32, m), make([]float32, n)
	for range iterations {
		f.solveUpper(factor, u)
		f.solveUpper(factor, u)
		vec.Gemm32(n, 1, m, kept, m, g, 1, out, 1)
		vec.GemmTN32(1, m, n, out, 1, kept, m, g, m)
		f.solveUpperT(factor, u)
		f.solveUpperT(factor, u)
	}
	return time.Since(start)
}
