package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
)

// level3 has the routines of one kind of number, ours and gonum's.
type level3[T float32 | float64] struct {
	gemm  func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	syrk  func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	syr2k func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	symm  func(s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	trmm  func(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
	trsm  func(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
}

var (
	g      gonum.Implementation
	ours64 = level3[float64]{BLAS64{}.Dgemm, BLAS64{}.Dsyrk, BLAS64{}.Dsyr2k, BLAS64{}.Dsymm, BLAS64{}.Dtrmm, BLAS64{}.Dtrsm}
	ours32 = level3[float32]{BLAS32{}.Sgemm, BLAS32{}.Ssyrk, BLAS32{}.Ssyr2k, BLAS32{}.Ssymm, BLAS32{}.Strmm, BLAS32{}.Strsm}
	want64 = level3[float64]{g.Dgemm, g.Dsyrk, g.Dsyr2k, g.Dsymm, g.Dtrmm, g.Dtrsm}
	want32 = level3[float32]{g.Sgemm, g.Ssyrk, g.Ssyr2k, g.Ssymm, g.Strmm, g.Strsm}
)

// Every routine with every option agrees with gonum's, writes nothing that gonum does not,
// and reads nothing of the triangles it may not.
func TestLevel3AgreesWithGonum(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		level3Agrees(t, ours64, want64, 1e-11)
		level3Agrees(t, ours32, want32, 4e-3)
	})
}

func level3Agrees[T float32 | float64](t *testing.T, ours, want level3[T], tolerance float64) {
	r := rand.New(rand.NewPCG(30, 1))
	compare := func(name string, got, want []T) {
		t.Helper()
		for i, w := range want {
			if !(math.Abs(float64(got[i]-w)) <= tolerance*(1+math.Abs(float64(w)))) && !identical(got[i], w) {
				t.Fatalf("%s: place %d holds %g, of gonum %g", name, i, got[i], w)
			}
		}
	}
	transposes := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
	triangles := []blas.Uplo{blas.Upper, blas.Lower}
	nan := T(math.NaN())
	// half a matrix of order n, the other half NaN.
	triangle := func(ul blas.Uplo, n, ld int, strong bool) []T {
		a := numbers[T](r, n*ld)
		for i := range n {
			for j := range n {
				if i != j && (j > i) != (ul == blas.Upper) {
					a[i*ld+j] = nan
				} else if strong {
					a[i*ld+j] /= T(n)
				}
			}
			if strong {
				a[i*ld+i] = 2 + a[i*ld+i]*a[i*ld+i]
			}
		}
		return a
	}
	for _, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {33, 17, 40}, {70, 100, 33}, {65, 1, 130}, {1, 65, 66}} {
		if testing.Short() && size[0]*size[1] > 5000 {
			continue
		}
		m, n, k := size[0], size[1], size[2]
		for _, ab := range [][2]T{{1, 0}, {1, 1}, {-0.5, 2}, {0, 0.5}} {
			alpha, beta := ab[0], ab[1]
			for _, tA := range transposes {
				for _, tB := range transposes {
					a, b, c := numbers[T](r, max(m, k)*(max(m, k)+1)), numbers[T](r, max(n, k)*(max(n, k)+2)), numbers[T](r, m*(n+3))
					d := append([]T(nil), c...)
					ours.gemm(tA, tB, m, n, k, alpha, a, max(m, k)+1, b, max(n, k)+2, beta, c, n+3)
					want.gemm(tA, tB, m, n, k, alpha, a, max(m, k)+1, b, max(n, k)+2, beta, d, n+3)
					compare(fmt.Sprint("gemm ", tA, tB, size, ab), c, d)
				}
				for _, ul := range triangles {
					a, b := numbers[T](r, max(n, k)*(max(n, k)+1)), numbers[T](r, max(n, k)*(max(n, k)+1))
					c := triangle(ul, n, n+1, false)
					d := append([]T(nil), c...)
					ours.syrk(ul, tA, n, k, alpha, a, max(n, k)+1, beta, c, n+1)
					want.syrk(ul, tA, n, k, alpha, a, max(n, k)+1, beta, d, n+1)
					compare(fmt.Sprint("syrk ", ul, tA, size, ab), c, d)
					c = triangle(ul, n, n+1, false)
					copy(d, c)
					ours.syr2k(ul, tA, n, k, alpha, a, max(n, k)+1, b, max(n, k)+1, beta, c, n+1)
					want.syr2k(ul, tA, n, k, alpha, a, max(n, k)+1, b, max(n, k)+1, beta, d, n+1)
					compare(fmt.Sprint("syr2k ", ul, tA, size, ab), c, d)
					for _, side := range []blas.Side{blas.Left, blas.Right} {
						order := n
						if side == blas.Left {
							order = m
						}
						for _, diag := range []blas.Diag{blas.NonUnit, blas.Unit} {
							a := triangle(ul, order, order+1, true)
							name := fmt.Sprint(side, ul, tA, diag, size, ab)
							x := numbers[T](r, m*(n+2))
							y := append([]T(nil), x...)
							ours.trmm(side, ul, tA, diag, m, n, alpha, a, order+1, x, n+2)
							want.trmm(side, ul, tA, diag, m, n, alpha, a, order+1, y, n+2)
							compare("trmm "+name, x, y)
							copy(x, y)
							ours.trsm(side, ul, tA, diag, m, n, alpha, a, order+1, x, n+2)
							want.trsm(side, ul, tA, diag, m, n, alpha, a, order+1, y, n+2)
							compare("trsm "+name, x, y)
						}
						a := triangle(ul, order, order+1, false)
						b, c := numbers[T](r, m*(n+2)), numbers[T](r, m*(n+1))
						d := append([]T(nil), c...)
						ours.symm(side, ul, m, n, alpha, a, order+1, b, n+2, beta, c, n+1)
						want.symm(side, ul, m, n, alpha, a, order+1, b, n+2, beta, d, n+1)
						compare(fmt.Sprint("symm ", side, ul, size, ab), c, d)
					}
				}
			}
		}
	}
}

func TestWrongArgumentsPanicAsGonum(t *testing.T) {
	says := func(f func()) (message any) {
		defer func() { message = recover() }()
		f()
		return nil
	}
	x := make([]float64, 10_000)
	for name, f := range map[string]func(l level3[float64]){
		"short a": func(l level3[float64]) {
			l.gemm(blas.NoTrans, blas.NoTrans, 50, 50, 50, 1, x[:50], 50, x, 50, 0, x, 50)
		},
		"ldc":       func(l level3[float64]) { l.gemm(blas.NoTrans, blas.NoTrans, 50, 50, 50, 1, x, 50, x, 50, 0, x, 49) },
		"negative":  func(l level3[float64]) { l.syrk(blas.Upper, blas.NoTrans, -1, 50, 1, x, 50, 0, x, 50) },
		"triangle":  func(l level3[float64]) { l.syrk('x', blas.NoTrans, 50, 50, 1, x, 50, 0, x, 50) },
		"transpose": func(l level3[float64]) { l.gemm('x', blas.NoTrans, 50, 50, 50, 1, x, 50, x, 50, 0, x, 50) },
		"side":      func(l level3[float64]) { l.trsm('x', blas.Upper, blas.NoTrans, blas.Unit, 50, 50, 1, x, 50, x, 50) },
	} {
		got, want := says(func() { f(ours64) }), says(func() { f(want64) })
		if got != want || got == nil {
			t.Errorf("%s: panics with %v, gonum with %v", name, got, want)
		}
	}
}

// gonum's lapack, on these products and solves, factorises and solves.
func TestLapackRunsOnThem(t *testing.T) {
	before := blas64.Implementation()
	defer blas64.Use(before)
	blas64.Use(BLAS64{})
	r := rand.New(rand.NewPCG(31, 1))
	const n = 300
	a := positive(r, n)
	sym := mat.NewSymDense(n, a)
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		t.Fatal("not positive definite")
	}
	b := mat.NewDense(n, 2, numbers[float64](r, 2*n))
	var x, residual mat.Dense
	if err := chol.SolveTo(&x, b); err != nil {
		t.Fatal(err)
	}
	residual.Mul(sym, &x)
	residual.Sub(&residual, b)
	if e := mat.Norm(&residual, 2); e > 1e-10 {
		t.Errorf("Cholesky: residual %g", e)
	}
	m := mat.NewDense(n, 100, numbers[float64](r, n*100))
	var qr mat.QR
	qr.Factorize(m)
	var q, rr, product mat.Dense
	qr.QTo(&q)
	qr.RTo(&rr)
	product.Mul(&q, &rr)
	product.Sub(&product, m)
	if e := mat.Norm(&product, 2); e > 1e-11 {
		t.Errorf("QR: residual %g", e)
	}
}
