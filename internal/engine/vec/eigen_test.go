package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/internal/engine/testenv"
)

const eps = 0x1p-52

// symmetricNormal makes a symmetric matrix of normal numbers.
func symmetricNormal(r *rand.Rand, n int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := i; j < n; j++ {
			a[i*n+j] = r.NormFloat64()
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

// rotated makes QΛQᵀ for Λ the values and Q a product of n/2+3 random reflections.
func rotated(r *rand.Rand, values []float64) []float64 {
	n := len(values)
	a := make([]float64, n*n)
	for i, v := range values {
		a[i*n+i] = v
	}
	v, p := make([]float64, n), make([]float64, n)
	for range n/2 + 3 {
		for i := range v {
			v[i] = r.NormFloat64()
		}
		tau := 2 / Dot64(v, v)
		for i := range p {
			p[i] = tau * Dot64(a[i*n:(i+1)*n], v)
		}
		half := tau / 2 * Dot64(p, v)
		for i := range n {
			for j := range n {
				a[i*n+j] -= v[i]*(p[j]-half*v[j]) + (p[i]-half*v[i])*v[j]
			}
		}
	}
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
	}
	return a
}

func frobenius(a []float64) float64 {
	largest, sum := 0.0, 0.0
	for _, v := range a {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 0
	}
	for _, v := range a {
		sum += v / largest * (v / largest)
	}
	return largest * math.Sqrt(sum)
}

// checkEigen computes the eigenvalues and eigenvectors of A, whose other triangle is spoiled,
// and checks that ‖Av - λv‖ and V's inner products are off by rounding alone: a reflection or a
// rotation errs by about 2⁻⁵²‖A‖, and fewer than 3(n + 10) of them, merges included, concern a
// vector: n of the first, two turns of n rotations in a leaf. It returns the eigenvalues.
func checkEigen(t *testing.T, what string, n int, a []float64) []float64 {
	t.Helper()
	lda := n + 3
	x := make([]float64, max(0, n*lda-3))
	for i := range x {
		x[i] = math.NaN()
	}
	for i := range n {
		copy(x[i*lda+i:i*lda+n], a[i*n+i:(i+1)*n])
	}
	only := slices.Clone(x)
	values, alone := make([]float64, n), make([]float64, n)
	if !EigenSym(t.Context(), n, x, lda, values, true) || !EigenSym(t.Context(), n, only, lda, alone, false) {
		t.Fatalf("%s, n = %d: no eigenvalues", what, n)
	}
	for i, v := range only {
		if r, c := i/lda, i%lda; (c < r || c >= n) && v == v {
			t.Fatalf("%s, n = %d: element %d, %d, which is not of the upper triangle, is now %g", what, n, r, c, v)
		}
	}
	norm := frobenius(a)
	bound := 3 * float64(n+10) * eps
	av := make([]float64, n)
	for k := range n {
		v := x[k*lda : k*lda+n]
		for i := range n {
			av[i] = Dot64(a[i*n:(i+1)*n], v) - values[k]*v[i]
		}
		if res := frobenius(av); !(res <= bound*norm) {
			t.Fatalf("%s, n = %d: vector %d, of %g, leaves %g·‖A‖", what, n, k, values[k], res/norm)
		}
		for l := range k + 1 {
			product := Dot64(v, x[l*lda:l*lda+n])
			if l == k {
				product--
			}
			if !(math.Abs(product) <= bound) {
				t.Fatalf("%s, n = %d: vectors %d and %d, of %g and %g, are off by %g", what, n, k, l, values[k], values[l], product)
			}
		}
		if !(math.Abs(values[k]-alone[k]) <= bound*norm) {
			t.Fatalf("%s, n = %d: eigenvalue %d is %g with vectors, %g without", what, n, k, values[k], alone[k])
		}
	}
	if !slices.IsSorted(values) || !slices.IsSorted(alone) {
		t.Fatalf("%s, n = %d: eigenvalues are not ascending", what, n)
	}
	for k := range n {
		for _, v := range x[k*lda+n : min(len(x), (k+1)*lda)] {
			if v == v {
				t.Fatalf("%s, n = %d: written behind row %d", what, n, k)
			}
		}
	}
	return values
}

// checkSpectrum is checkEigen for known eigenvalues.
func checkSpectrum(t *testing.T, what string, a, want []float64) {
	t.Helper()
	n := len(want)
	want = slices.Sorted(slices.Values(want))
	got := checkEigen(t, what, n, a)
	bound := 3 * float64(n+10) * eps * frobenius(a)
	for k, v := range got {
		if !(math.Abs(v-want[k]) <= bound) {
			t.Fatalf("%s, n = %d: eigenvalue %d is %.17g, want %.17g", what, n, k, v, want[k])
		}
	}
}

func TestEigenSymIsGonums(t *testing.T) {
	last, large := 70, []int{127, 128, 129, 255, 256, 257, 300}
	if testing.Short() {
		last, large = 34, []int{64, 65, 127, 257}
	}
	var orders []int
	for n := range last + 1 {
		orders = append(orders, n)
	}
	orders = append(orders, large...)
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 1))
		for _, n := range orders {
			a := symmetricNormal(r, n)
			got := checkEigen(t, "normal numbers", n, a)
			if n == 0 {
				continue
			}
			var want mat.EigenSym
			if !want.Factorize(mat.NewSymDense(n, a), false) {
				t.Fatal("gonum has no eigenvalues")
			}
			bound := 3 * float64(n+10) * eps * frobenius(a)
			for k, v := range want.Values(nil) {
				if !(math.Abs(got[k]-v) <= bound) {
					t.Fatalf("n = %d: eigenvalue %d is %g, gonum's %g", n, k, got[k], v)
				}
			}
		}
	})
}

func tridiagonal(d, e []float64) []float64 {
	n := len(d)
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = d[i]
		if i+1 < n {
			a[i*n+i+1], a[(i+1)*n+i] = e[i], e[i]
		}
	}
	return a
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func TestEigenSymOfKnownSpectra(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	orders := []int{1, 2, 3, 33, 64, 100, 257}
	if testing.Short() {
		orders = []int{1, 2, 3, 33, 100}
	}
	for _, n := range orders {
		checkSpectrum(t, "zero", make([]float64, n*n), make([]float64, n))
		checkSpectrum(t, "identity", tridiagonal(repeat(1, n), make([]float64, n)), repeat(1, n))
		d := make([]float64, n)
		for i := range d {
			d[i] = r.NormFloat64()
		}
		checkSpectrum(t, "diagonal", tridiagonal(d, make([]float64, n)), d)

		toeplitz := make([]float64, n)
		for k := range toeplitz {
			toeplitz[k] = 2 - 2*math.Cos(float64(k+1)*math.Pi/float64(n+1))
		}
		checkSpectrum(t, "second differences", tridiagonal(repeat(2, n), repeat(-1, n)), toeplitz)
		checkSpectrum(t, "second differences, rotated", rotated(r, toeplitz), toeplitz)

		ones := repeat(1, n*n)
		for i := range n {
			ones[i*n+i]++
		}
		want := repeat(1, n)
		want[0] = float64(n + 1)
		checkSpectrum(t, "identity and rank one", ones, want)

		pairs, clusters, graded, rank := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range n {
			pairs[k] = float64(k / 2)
			clusters[k] = float64(1+k%3) + float64(k)*1e-15
			graded[k] = math.Pow(10, -16*float64(k)/float64(n))
			if k < n/4 {
				rank[k] = float64(k + 1)
			}
		}
		checkSpectrum(t, "pairs", rotated(r, pairs), pairs)
		checkSpectrum(t, "clusters", rotated(r, clusters), clusters)
		checkSpectrum(t, "graded", rotated(r, graded), graded)
		checkSpectrum(t, "of low rank", rotated(r, rank), rank)
		for i := range d {
			d[i] = math.Copysign(1, d[i])
		}
		checkSpectrum(t, "±1", rotated(r, d), d)
	}
}

// Matrices that are hard on the method: eigenvalues that agree to all digits but have vectors
// of their own, and rows of very different size.
func TestEigenSymOfHardMatrices(t *testing.T) {
	wilkinson := func(copies int, glue float64) (d, e []float64) {
		for c := range copies {
			for i := range 21 {
				d = append(d, math.Abs(float64(i-10)))
				e = append(e, 1)
			}
			if c < copies-1 {
				e[len(e)-1] = glue
			}
		}
		return d, e
	}
	d, e := wilkinson(1, 0)
	w21 := checkEigen(t, "Wilkinson's W21+", 21, tridiagonal(d, e))
	if want := 10.746194182903393; math.Abs(w21[20]-want) > 1e-14 { // Wilkinson 1965, page 309
		t.Errorf("the largest eigenvalue of W21+ is %.17g, want %.17g", w21[20], want)
	}
	for _, glue := range []float64{1, 1e-4, 1e-8, 1e-14, 1e-20, 0} {
		d, e := wilkinson(12, glue)
		checkEigen(t, fmt.Sprint("W21+ glued by ", glue), len(d), tridiagonal(d, e))
	}
	r := rand.New(rand.NewPCG(7, 3))
	for _, n := range []int{12, 70, 200} {
		hilbert, up, down, tiny, outer := make([]float64, n*n), make([]float64, n*n), make([]float64,
			n*n), make([]float64, n*n), make([]float64, n*n)
		x := numbers[float64](r, n)
		for i := range n {
			for j := range n {
				v := r.NormFloat64()
				if j < i {
					v = 0
				}
				hilbert[i*n+j] = 1 / float64(i+j+1)
				grade := func(i int) float64 { return math.Pow(10, -16*float64(i)/float64(n)) }
				up[i*n+j] = v * grade(n-1-i) * grade(n-1-j)
				down[i*n+j] = v * grade(i) * grade(j)
				tiny[i*n+j] = v * math.Pow(10, -300*float64(j)/float64(n))
				outer[i*n+j] = x[i] * x[j]
			}
		}
		for i := range n {
			for j := range i {
				up[i*n+j], down[i*n+j], tiny[i*n+j] = up[j*n+i], down[j*n+i], tiny[j*n+i]
			}
		}
		checkEigen(t, "Hilbert's matrix", n, hilbert)
		checkEigen(t, "graded up", n, up)
		checkEigen(t, "graded down", n, down)
		checkEigen(t, "graded over all exponents", n, tiny)
		checkEigen(t, "rank one", n, outer)
		// Couplings over all exponents: merges deflate in part.
		d, e := make([]float64, n), make([]float64, n)
		for i := range n {
			d[i], e[i] = r.NormFloat64(), r.NormFloat64()*math.Pow(10, -20*r.Float64())
		}
		checkEigen(t, "weak couplings", n, tridiagonal(d, e))
		checkEigen(t, "zero diagonal", n, tridiagonal(make([]float64, n), e))
		checkEigen(t, "ones beside the diagonal", n, tridiagonal(make([]float64, n), repeat(1, n)))
		// A Gram matrix of points in the plane: eigenvalues fall to rounding at once.
		points := numbers[float64](r, 2*n)
		for i := range n {
			for j := range n {
				dx, dy := points[2*i]-points[2*j], points[2*i+1]-points[2*j+1]
				outer[i*n+j] = math.Exp(-dx*dx - dy*dy)
			}
		}
		checkEigen(t, "a Gaussian kernel", n, outer)
	}
}

func TestEigenSymScales(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	for _, n := range []int{2, 50} {
		a := symmetricNormal(r, n)
		want := checkEigen(t, "normal numbers", n, a)
		for _, exponent := range []int{-1000, -600, -199, 199, 600, 1015} {
			scaled := make([]float64, n*n)
			for i, v := range a {
				scaled[i] = math.Ldexp(v, exponent)
			}
			x, got := slices.Clone(scaled), make([]float64, n)
			if !EigenSym(t.Context(), n, x, n, got, true) {
				t.Fatalf("2^%d: no eigenvalues", exponent)
			}
			for k := range got {
				if v := math.Ldexp(got[k], -exponent); math.Abs(v-want[k]) > 3*float64(n+10)*eps*frobenius(a) {
					t.Errorf("n = %d, 2^%d: eigenvalue %d is %g, want %g", n, exponent, k, v, want[k])
				}
			}
		}
	}
}

func TestEigenSymRefusesWhatIsNotFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	for _, n := range []int{1, 2, 40} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, at := range []int{0, n - 1, n*n - 1} {
				a := symmetricNormal(r, n)
				a[at] = bad
				if EigenSym(t.Context(), n, a, n, make([]float64, n), true) || EigenSym(t.Context(), n, a, n, make([]float64, n), false) {
					t.Errorf("n = %d with %g at %d has eigenvalues", n, bad, at)
				}
			}
		}
	}
}

func TestEigenSymIsTheSameOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 6))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{130, 700} {
		a := symmetricNormal(r, n)
		var first, firstValues []float64
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			x, values := slices.Clone(a), make([]float64, n)
			if !EigenSym(t.Context(), n, x, n, values, true) {
				t.Fatal("no eigenvalues")
			}
			if first == nil {
				first, firstValues = x, values
			}
			if !slices.Equal(x, first) || !slices.Equal(values, firstValues) {
				t.Errorf("n = %d: other bits on %d threads", n, threads)
			}
		}
	}
}

// What a model keeps of eigenvectors does not depend on the machine that trained it.
func TestEigenSymIsTheSameWithAVX2AndAVX512(t *testing.T) {
	if Level() != "avx512" {
		testenv.Machine(t, "without AVX-512 there is nothing to compare")
	}
	r := rand.New(rand.NewPCG(7, 7))
	const n = 333
	a := symmetricNormal(r, n)
	var all [][]float64
	everyLevel(t, func(t *testing.T) {
		x, values := slices.Clone(a), make([]float64, n)
		if !EigenSym(t.Context(), n, x, n, values, true) {
			t.Fatal("no eigenvalues")
		}
		all = append(all, append(x, values...))
	})
	if !slices.Equal(all[1], all[2]) {
		t.Error("AVX2 and AVX-512 give other bits")
	}
}

// FuzzEigenSym makes tridiagonal and full matrices whose elements or eigenvalues repeat, vanish
// or differ by many orders.
func FuzzEigenSym(f *testing.F) {
	for kind := range uint8(8) {
		f.Add(uint8(19+10*kind), kind, uint64(kind))
	}
	f.Fuzz(func(t *testing.T, order, kind uint8, seed uint64) {
		n := 1 + int(order)%90
		r := rand.New(rand.NewPCG(seed, 54))
		number := func() float64 {
			switch v := r.NormFloat64(); {
			case kind&1 > 0 && r.IntN(2) == 0:
				return 0
			case kind&2 > 0:
				return math.Round(v)
			case kind&4 > 0:
				return v * math.Pow(10, -30*r.Float64())
			default:
				return v
			}
		}
		d, e := make([]float64, n), make([]float64, n)
		for i := range n {
			d[i], e[i] = number(), number()
		}
		checkEigen(t, "tridiagonal", n, tridiagonal(d, e))
		checkEigen(t, "rotated", n, rotated(r, d))
	})
}

func BenchmarkEigenSym(b *testing.B) {
	for _, n := range []int{1024, 2048, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := symmetricNormal(rand.New(rand.NewPCG(1, 1)), n)
			work, values := make([]float64, n*n), make([]float64, n)
			for b.Loop() {
				copy(work, a)
				EigenSym(b.Context(), n, work, n, values, true)
			}
		})
	}
}

// checkTop computes the k largest eigenvalues' vectors and checks them as checkEigen does; top
// sees all values, which are those of EigenSym.
func checkTop(t *testing.T, what string, n int, a []float64, k int) {
	t.Helper()
	lda := n + 1
	x, values, want := make([]float64, n*lda), make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range n {
			x[i*lda+j] = math.NaN()
		}
		copy(x[i*lda+i:i*lda+n], a[i*n+i:(i+1)*n])
	}
	alone := slices.Clone(x)
	var seen []float64
	if !EigenSymTop(t.Context(), n, x, lda, values, func(v []float64) int { seen = slices.Clone(v); return k }) || !EigenSym(t.Context(), n, alone, lda, want, false) {
		t.Fatalf("%s, n = %d: no eigenvalues", what, n)
	}
	if !slices.Equal(seen, values) {
		t.Fatalf("%s, n = %d: top is told %v, the values are %v", what, n, seen, values)
	}
	norm := frobenius(a)
	bound := 3 * float64(n+10) * eps
	for i, v := range values {
		if !(math.Abs(v-want[i]) <= bound*norm) {
			t.Fatalf("%s, n = %d: eigenvalue %d is %g, want %g", what, n, i, v, want[i])
		}
	}
	av := make([]float64, n)
	for c := range k {
		v := x[c*lda : c*lda+n]
		for i := range n {
			av[i] = Dot64(a[i*n:(i+1)*n], v) - values[n-k+c]*v[i]
		}
		if res := frobenius(av); !(res <= bound*norm) {
			t.Fatalf("%s, %d of n = %d: vector %d, of %g, leaves %g·‖A‖", what, k, n, c, values[n-k+c], res/norm)
		}
		for l := range c + 1 {
			product := Dot64(v, x[l*lda:l*lda+n])
			if l == c {
				product--
			}
			if !(math.Abs(product) <= bound) {
				t.Fatalf("%s, %d of n = %d: vectors %d and %d are off by %g", what, k, n, c, l, product)
			}
		}
	}
}

func TestEigenSymTopAreTheLargestOfAll(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 9))
		for _, n := range []int{1, 2, 5, 32, 33, 65, 150} {
			normal := symmetricNormal(r, n)
			low, ones := make([]float64, n), make([]float64, n)
			for i := range n {
				low[i], ones[i] = float64(max(0, i-n/2)), 1 // half of them 0; all alike
				if i%5 == 0 {
					ones[i] = 2
				}
			}
			half, two := rotated(r, low), rotated(r, ones)
			for _, k := range []int{0, 1, n / 3, n - 1, n} {
				checkTop(t, "normal numbers", n, normal, k)
				checkTop(t, "of low rank", n, half, k)
				checkTop(t, "ones and twos", n, two, k)
				checkTop(t, "diagonal", n, tridiagonal(ones, make([]float64, n)), k)
			}
		}
	})
}

// Values are scaled back before top sees them.
func TestEigenSymTopOfTinyNumbers(t *testing.T) {
	a := tridiagonal([]float64{1e-250, 3e-250, 2e-250}, make([]float64, 3))
	values := make([]float64, 3)
	if !EigenSymTop(t.Context(), 3, a, 3, values, func(v []float64) int {
		if math.Abs(v[2]-3e-250) > 1e-264 {
			t.Errorf("top is told %g", v)
		}
		return 1
	}) {
		t.Fatal("no eigenvalues")
	}
	if math.Abs(values[0]-1e-250) > 1e-264 || math.Abs(math.Abs(a[1])-1) > 1e-15 {
		t.Errorf("values %g, vector %g", values, a[:3])
	}
}

func BenchmarkEigenSymTop(b *testing.B) {
	for _, n := range []int{1024, 2048, 4096, 6144} {
		for _, k := range []int{n / 16, n / 3, n} {
			b.Run(fmt.Sprintf("%d of %d", k, n), func(b *testing.B) {
				a := symmetricNormal(rand.New(rand.NewPCG(1, 1)), n)
				work, values := make([]float64, n*n), make([]float64, n)
				for b.Loop() {
					copy(work, a)
					EigenSymTop(b.Context(), n, work, n, values, func([]float64) int { return k })
				}
			})
		}
	}
}
