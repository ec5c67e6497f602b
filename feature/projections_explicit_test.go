package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

// testErrors makes maps that must not be made for rows of dim dimensions; the errors must
// contain the keys.
func testErrors(t *testing.T, dim int, wrong map[string]Config) {
	t.Helper()
	for want, cfg := range wrong {
		if _, err := New(cfg, dim); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v of %d dimensions: %v, want %q", cfg, dim, err, want)
		}
	}
}

// The monomials are those of a program written to be clear, wherever their blocks begin, and
// their products are the kernel's values.
func TestMonomialsOfTheProjection(t *testing.T) {
	r, _ := someRows(4, 7)
	for _, p := range []int{1, 2, 3, 4} {
		for _, d := range []int{1, 2, 7} {
			m := newMonomialList(d, p)
			u, v := r.Dense.Row(0)[:d], r.Dense.Row(1)[:d]
			phi := func(u []float32, step int) []float32 {
				phi := make([]float32, int(m.count))
				tuple, fresh := make([]int, p), make([]int, p)
				for at := 0; at < len(phi); at += step {
					if !slices.Equal(tuple, fresh) {
						t.Fatalf("p=%d, d=%d: fill ends at %v, skip at %v", p, d, tuple, fresh)
					}
					n := min(step, len(phi)-at)
					m.fill(phi[at:][:n], u, tuple)
					m.skip(fresh, n)
				}
				return phi
			}
			var wide []float64
			for _, x := range u {
				wide = append(wide, float64(x))
			}
			want := monomials(wide, p)
			for _, step := range []int{1, 3, 1000} {
				got := phi(u, step)
				if len(got) != len(want) {
					t.Fatalf("p=%d, d=%d: %d monomials, want %d", p, d, len(got), len(want))
				}
				for i := range got {
					if math.Abs(float64(got[i])-want[i]) > 3e-7*math.Abs(want[i]) {
						t.Errorf("p=%d, d=%d: monomial %d is %g, want %g", p, d, i, got[i], want[i])
					}
				}
			}
			k := math.Pow(dot(u, v), float64(p))
			size := math.Pow(norm2(u)*norm2(v), float64(p)/2)
			if got := dot(phi(u, 1000), phi(v, 1000)); math.Abs(got-k) > 1e-6*size {
				t.Errorf("p=%d, d=%d: φ(u)·φ(v) = %g, (u·v)^p = %g", p, d, got, k)
			}
		}
	}
}

// 120 dimensions and the constant have 7381 monomials of degree 2, which are two blocks. The
// features are the product with R, whether R is held or drawn each time, and of a row alone
// as in a batch.
func TestExplicitProjectionOfManyBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dense, sparse := someRows(260, 120)
	for _, o := range []Options{{}, {Sparsity: 60}} {
		m, err := New(Config{Map: "explicit-rp", Kernel: poly(0.5, 2, 0.3), Features: 300, Options: o}, 120)
		if err != nil {
			t.Fatal(err)
		}
		f := m.(*explicitRP)
		if len(f.held) != 2 || o.Sparsity != 0 && f.held[0].packed != nil {
			t.Fatalf("%v: %d blocks", o, len(f.held))
		}
		want := transform(f, dense)
		r := append(f.held[0].matrixOf(), f.held[1].matrixOf()...)
		for i := 0; i < 260; i += 100 {
			phi := monomials(lift(poly(0.5, 2, 0.3), dense.Dense.Row(i)), 2)
			for c, got := range want.Row(i) {
				sum, size := 0.0, 0.0
				for k, v := range phi {
					sum += v * r[k*300+c]
					size += math.Abs(v * r[k*300+c])
				}
				// A thousand blocks of sums of seven or so; 2⁻²⁴ each.
				if math.Abs(float64(got)-sum) > 300*6e-8*size {
					t.Fatalf("%v: feature %d of row %d is %g, want %g", o, c, i, got, sum)
				}
			}
		}
		for _, x := range []matrix.Rows{dense, sparse} {
			for _, i := range []int{0, 252, 259} {
				if got := transform(f, x.Slice(i, i+1)); !slices.Equal(got.Data, want.Row(i)) {
					t.Errorf("%v, sparse %t: row %d alone has other features", o, x.CSR != nil, i)
				}
			}
		}
		f.held = nil
		if !slices.Equal(transform(f, dense).Data, want.Data) {
			t.Errorf("%v: a matrix that is drawn each time is another one", o)
		}
	}
}

// The matrix of 160 features of CIFAR-10's 3072 dimensions, 3.02 GB, is kept, and larger ones are
// drawn again and again.
func TestExplicitProjectionKeepsWhatFits(t *testing.T) {
	for _, c := range []struct {
		dim, features int
		most          int64
		sparsity      float64
		want          bool
	}{
		{3072, 160, 0, 0, true},
		{3072, 227, 0, 0, true},  // 4·227·3072·3073/2 = 4.286·10⁹ bytes, of 4.295·10⁹
		{3072, 228, 0, 0, false}, // 4.305·10⁹
		{3072, 228, 16 << 30, 0, false},
		{3072, 160, 6 << 30, 0, true},
		{3072, 160, 4 << 30, 0, false},
		{3072, 2000, 0, 100, true}, // 8/100 bytes an entry, and 16 a monomial of its lists
	} {
		e := entries{sparse: c.sparsity > 0, s: c.sparsity}
		f := &explicitRP{monomials: newMonomialList(c.dim, 2), features: c.features, entries: e}
		if got := f.holds(c.most); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}

	// 2000 dimensions make a matrix of 2·10⁶×600 numbers, beyond what is held.
	m, err := New(Config{Map: "explicit-rp", Kernel: poly(1, 2, 0), Features: 600}, 2000)
	if err != nil || m.Bytes() > 1<<20 {
		t.Errorf("%v, %d bytes", err, m.Bytes())
	}

	// What is kept is not drawn again: another seed does not matter to it any more. What may not be kept
	// is the same.
	dense, _ := someRows(30, 120)
	cfg := Config{Map: "explicit-rp", Kernel: poly(0.5, 2, 0.3), Features: 300}
	kept, err := New(cfg, 120)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxBytes = 2 * (kept.Bytes() - 1<<10)
	drawn, err := New(cfg, 120)
	if err != nil {
		t.Fatal(err)
	}
	if drawn.Bytes() > 1<<10 || kept.Bytes() < 4*7381*300 {
		t.Errorf("%d and %d bytes", drawn.Bytes(), kept.Bytes())
	}
	want := transform(kept, dense)
	if !slices.Equal(transform(drawn, dense).Data, want.Data) {
		t.Error("a matrix that is not kept is another one")
	}
	kept.(*explicitRP).seed++
	drawn.(*explicitRP).seed++
	if !slices.Equal(transform(kept, dense).Data, want.Data) {
		t.Error("a matrix that is kept is drawn again")
	}
	if slices.Equal(transform(drawn, dense).Data, want.Data) {
		t.Error("a matrix that is not kept is not drawn again")
	}
}

func TestReducedPolynomialHasNoSquares(t *testing.T) {
	m, err := New(Config{Map: "reduced-poly", Kernel: poly(4, 2, 0)}, 3)
	if err != nil {
		t.Fatal(err)
	}
	z := transform(m, matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, 2, 5}}})
	for i, want := range []float64{8 * math.Sqrt2, 20 * math.Sqrt2, 40 * math.Sqrt2} {
		if math.Abs(float64(z.Data[i])-want) > 1e-5 {
			t.Errorf("feature %d is %g, want %g", i, z.Data[i], want)
		}
	}
}
