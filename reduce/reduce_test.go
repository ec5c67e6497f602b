package reduce

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
	"mercer/moments"
)

// sample draws n rows of d features whose variance falls like 1/j^decay in directions that are
// not the axes, around means of size mean, and their moments with one target.
func sample(seed uint64, n, d int, decay, mean float64) (*matrix.Dense, *moments.Stats) {
	s := random.New(seed, "reduce-test")
	mix := make([]float64, d*d)
	for i := range mix {
		mix[i] = s.Normal() / math.Sqrt(float64(d))
	}
	z := matrix.NewDense(n, d)
	row := make([]float64, d)
	stats := moments.New(d, 1)
	for i := range n {
		for j := range row {
			row[j] = mean * float64(j%3)
		}
		for j := range d {
			vec.Axpy64(s.Normal()/math.Pow(float64(j+1), decay/2), mix[j*d:(j+1)*d], row)
		}
		for j, v := range row {
			z.Row(i)[j] = float32(v)
		}
		stats.AddRow(z.Row(i), []float64{row[0] - 0.3*row[d-1] + 0.1*s.Normal()}, 1)
	}
	return z, stats
}

// symmetric is element (i, j) of a matrix whose upper triangle is given.
func symmetric(h []float64, d, i, j int) float64 { return h[min(i, j)*d+max(i, j)] }

// checkComponents checks by the definition: orthonormal directions u with Hu = λu to the
// tolerance beside the largest eigenvalue, λ descending, and no direction orthogonal to them
// along which rows vary more than along the last.
func checkComponents(t *testing.T, p *Projection, r *Report, m *moments.Moments, tol float64) {
	t.Helper()
	d, k := p.Dims()
	largest := r.Variances[0] * m.Weight
	sum := 0.0
	for c := range k {
		u, lambda := p.Component(c), r.Variances[c]*m.Weight
		sum += lambda
		if c > 0 && r.Variances[c] > r.Variances[c-1]*(1+1e-12) {
			t.Errorf("component %d varies by %g, more than the one before by %g", c, r.Variances[c], r.Variances[c-1])
		}
		square := 0.0
		for i := range d {
			hu := -lambda * u[i]
			for j := range d {
				hu += symmetric(m.H, d, i, j) * u[j]
			}
			square += hu * hu
		}
		if !(math.Sqrt(square) <= tol*largest) {
			t.Errorf("component %d: ‖Hu - λu‖ is %g of the largest eigenvalue", c, math.Sqrt(square)/largest)
		}
		for e := range c + 1 {
			product := vec.Dot64(u, p.Component(e))
			if e == c {
				product--
			}
			if math.Abs(product) > 1e-12*float64(d) {
				t.Errorf("components %d and %d: their product is off by %g", e, c, product)
			}
		}
		if at := largestElement(u); u[at] < 0 {
			t.Errorf("component %d: its largest element is %g", c, u[at])
		}
	}
	trace := 0.0
	for i := range d {
		trace += m.H[i*d+i]
	}
	if math.Abs(r.Share-sum/trace) > 1e-12 || math.Abs(r.Variance*m.Weight-trace) > 1e-12*trace {
		t.Errorf("share %g of %g, want %g of %g", r.Share, r.Variance, sum/trace, trace/m.Weight)
	}
}

func largestElement(u []float64) int {
	at := 0
	for i, v := range u {
		if math.Abs(v) > math.Abs(u[at])*(1+1e-6) {
			at = i
		}
	}
	return at
}

// topShare is the largest share of the variance that k components can hold, from a full
// decomposition.
func topShare(t *testing.T, m *moments.Moments, k int) float64 {
	t.Helper()
	a, values := slices.Clone(m.H), make([]float64, m.D)
	if !vec.EigenSym(m.D, a, m.D, values, false) {
		t.Fatal("no eigenvalues")
	}
	all, top := 0.0, 0.0
	for i, v := range values {
		all += v
		if i >= m.D-k {
			top += v
		}
	}
	return top / all
}

func components(t *testing.T, p PCA, m *moments.Moments) (*Projection, *Report) {
	t.Helper()
	q, r, err := p.Fit(m)
	if err != nil {
		t.Fatal(err)
	}
	return q, r
}

func TestComponentsAreTheLargestEigenvectors(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{50, 1, 1}, {30, 2, 1}, {200, 7, 7}, {300, 40, 11}, {700, 130, 60}} {
		_, stats := sample(1, c.n, c.d, 1.5, 3)
		m := stats.Moments()
		p, r := components(t, PCA{Components: c.k}, m)
		if r.Components != c.k || r.Method != "full" || r.Asked != 0 {
			t.Fatalf("%+v: %+v", c, r)
		}
		checkComponents(t, p, r, m, 1e-13*float64(c.d+10))
		if want := topShare(t, m, c.k); math.Abs(r.Share-want) > 1e-12 {
			t.Errorf("%+v: a share of %g, the best is %g", c, r.Share, want)
		}
	}
}

func TestKrylovFindsWhatTheFullDecompositionFinds(t *testing.T) {
	for _, decay := range []float64{0.3, 1, 3} {
		_, stats := sample(2, 900, 640, decay, 1)
		m := stats.Moments()
		p, r := components(t, PCA{Components: 20}, m)
		if (r.Method == "krylov") != (decay > 1) {
			t.Errorf("decay %g: method %s", decay, r.Method)
		}
		checkComponents(t, p, r, m, 2*krylovTolerance)
		if want := topShare(t, m, 20); math.Abs(r.Share-want) > 1e-9 {
			t.Errorf("decay %g: a share of %.12g, the best is %.12g", decay, r.Share, want)
		}
	}
}

// gram is a matrix of order d with the eigenvalues 1/j^decay, as moments.
func gram(d int, decay float64) *moments.Moments {
	h := make([]float64, d*d)
	for j := range d {
		h[j*d+j] = math.Pow(float64(j+1), -decay)
	}
	s, v, p := random.New(5, "reduce-test"), make([]float64, d), make([]float64, d)
	for range 3 { // reflections
		for i := range v {
			v[i] = s.Normal()
		}
		tau := 2 / vec.Dot64(v, v)
		for i := range p {
			p[i] = tau * vec.Dot64(h[i*d:(i+1)*d], v)
		}
		half := tau / 2 * vec.Dot64(p, v)
		for i := range d {
			for j := range d {
				h[i*d+j] -= v[i]*(p[j]-half*v[j]) + (p[i]-half*v[i])*v[j]
			}
		}
	}
	return &moments.Moments{D: d, K: 1, Rows: 10 * d, Weight: 1, MeanZ: make([]float64, d), MeanY: make([]float64, 1), H: h, V: make([]float64, d), YY: make([]float64, 1)}
}

func BenchmarkPCA(b *testing.B) {
	const d = 2048
	for _, decay := range []float64{0.5, 1, 2} {
		m := gram(d, decay)
		for _, k := range []int{20, 100, 200} {
			b.Run(fmt.Sprintf("decay %g, krylov %d", decay, k), func(b *testing.B) {
				for b.Loop() {
					if s := krylov(d, mirrored(m.H, d), k, krylovTolerance); s.vectors == nil {
						b.Log("gave up")
					}
				}
			})
			if decay == 1 {
				b.Run(fmt.Sprintf("full %d", k), func(b *testing.B) {
					for b.Loop() {
						if _, err := full(m.H, d, func([]float64) int { return k }); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
