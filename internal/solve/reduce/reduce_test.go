package reduce

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
	"mercer/matrix"
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
	if !vec.EigenSym(t.Context(), m.D, a, m.D, values, false) {
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
	q, r, err := p.Fit(t.Context(), m)
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
	if testing.Short() {
		t.Skip("seconds")
	}
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
	return &moments.Moments{D: d, K: 1, Rows: 10 * d, Weight: 1, MeanZ: make([]float64, d),
		MeanY: make([]float64, 1), H: h, V: make([]float64, d), YY: make([]float64, 1)}
}

// TestComponentsAgreeWithNumpy compares with testdata/pca.json, which pca.py wrote.
func TestComponentsAgreeWithNumpy(t *testing.T) {
	text, err := os.ReadFile("testdata/pca.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		D, K                                      int
		X                                         []float32
		Weights, Variances, Components, Projected []float64
		Share                                     float64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	n := len(want.Weights)
	z := &matrix.Dense{Rows: n, Cols: want.D, Stride: want.D, Data: want.X}
	stats := moments.New(want.D, 1)
	stats.Add(z, make([]float64, n), want.Weights)
	p, r := components(t, PCA{Components: want.K}, stats.Moments())
	near := func(what string, i int, got, want, tol float64) {
		if !(math.Abs(got-want) <= tol) {
			t.Errorf("%s %d: %.15g, numpy's %.15g", what, i, got, want)
		}
	}
	near("share", 0, r.Share, want.Share, 1e-12)
	for c := range want.K {
		near("variance", c, r.Variances[c], want.Variances[c], 1e-12*want.Variances[0])
		for i, v := range p.Component(c) {
			near("component", c, v, want.Components[c*want.D+i], 1e-10)
		}
	}
	got, work := matrix.NewDense(n, want.K), &matrix.Dense{}
	p.Transform(got, matrix.Rows{Dense: z}, work)
	for i, v := range got.Data {
		near("projected number", i, float64(v), want.Projected[i], 1e-5)
	}
}

func TestShareKeepsTheFewestComponentsThatHoldIt(t *testing.T) {
	_, stats := sample(3, 400, 30, 2, 1)
	m := stats.Moments()
	_, all := components(t, PCA{Components: 30}, m)
	for _, share := range []float64{0.01, 0.5, 0.9, 0.999, 1} {
		_, r := components(t, PCA{Share: share}, m)
		if r.Share < share-1e-12 {
			t.Errorf("a share of %g was asked for, %g is held", share, r.Share)
		}
		before := 0.0
		for _, v := range all.Variances[:r.Components-1] {
			before += v / all.Variance
		}
		if before >= share {
			t.Errorf("a share of %g needs fewer than %d components, one less holds %g", share, r.Components, before)
		}
		_, few := components(t, PCA{Share: share, Components: 3}, m)
		if few.Components != min(3, r.Components) {
			t.Errorf("a share of %g or 3 components: %d", share, few.Components)
		}
	}
}

// Directions in which rows do not vary are no components: columns that are alike, constant or
// sums of others, and fewer rows than columns.
func TestFewerDirectionsThanAskedFor(t *testing.T) {
	s := random.New(4, "reduce-test")
	for _, c := range []struct {
		name          string
		n, d, free, k int
	}{
		{"dependent columns", 300, 12, 5, 12},
		{"one column over and over", 300, 9, 1, 9},
		{"fewer rows than columns", 8, 20, 20, 20},
		{"dependent columns, products in float32", 700, 520, 300, 520},
		{"fewer rows than columns, products in float32", 40, 600, 600, 100},
		{"fewer rows than columns, few asked for", 50, 600, 600, 60},
	} {
		stats := moments.New(c.d, 1)
		row := make([]float32, c.d)
		for range c.n {
			for j := range row {
				switch {
				case j < c.free:
					row[j] = float32(s.Normal())
				case j%3 == 0:
					row[j] = 7
				default:
					row[j] = row[j%c.free]
				}
			}
			stats.AddRow(row, []float64{0}, 1)
		}
		want := min(c.free, c.n-1)
		p, r := components(t, PCA{Components: c.k}, stats.Moments())
		if r.Components != want || r.Asked != c.k || math.Abs(r.Share-1) > 1e-5 {
			t.Errorf("%s: %d components, %d asked for, share %g, want %d of %d", c.name, r.Components, r.Asked, r.Share, want, c.k)
		}
		if d, k := p.Dims(); d != c.d || k != want {
			t.Errorf("%s: a projection of %d to %d", c.name, d, k)
		}
		if text := strings.Join(r.Lines(), ""); !strings.Contains(text, fmt.Sprintf("(%d were asked for", c.k)) {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

func TestNoVarianceIsAnError(t *testing.T) {
	for rows := range 3 {
		stats := moments.New(2, 1)
		for range rows {
			stats.AddRow([]float32{1, 2}, []float64{0}, 1)
		}
		if _, _, err := (PCA{Components: 1}).Fit(t.Context(), stats.Moments()); err == nil || !strings.Contains(err.Error(), "no principal components") {
			t.Errorf("%d equal rows: %v", rows, err)
		}
	}
	for _, p := range []PCA{{}, {Components: -1}, {Share: 2}, {Share: math.NaN()}} {
		if p.Check() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	_, stats := sample(5, 20, 3, 1, 0)
	m := *stats.Moments()
	m.H = slices.Clone(m.H)
	m.H[1] = math.NaN()
	if _, _, err := (PCA{Components: 2}).Fit(t.Context(), &m); err == nil {
		t.Error("a NaN has components")
	}
}

// An eigenvalue of more vectors than the block of the Krylov method has rows: all come up.
func TestKrylovFindsRepeatedEigenvalues(t *testing.T) {
	const d, copies, k = 1200, 40, 50
	h := make([]float64, d*d)
	for j := range d {
		switch {
		case j < copies:
			h[j*d+j] = 2
		case j < k:
			h[j*d+j] = 1
		default:
			h[j*d+j] = 1 / float64(j*j)
		}
	}
	s := krylov(t.Context(), d, mirrored(h, d), k, 1e-3)
	if s.vectors == nil {
		t.Fatal("gave up")
	}
	for c, v := range s.values {
		want := 2.0
		if c >= copies {
			want = 1
		}
		if math.Abs(v-want) > 1e-5 {
			t.Errorf("eigenvalue %d is %g, want %g", c, v, want)
		}
	}
}

func TestKrylovGivesUpWhereComponentsAreManyOrAlike(t *testing.T) {
	const d = 600
	h := make([]float64, d*d)
	for j := range d {
		h[j*d+j] = 1 - float64(j)*1e-5
	}
	if s := krylov(t.Context(), d, mirrored(h, d), 20, krylovTolerance); s.vectors != nil {
		t.Error("components that are all but alike were told apart")
	}
	m := &moments.Moments{D: d, K: 1, Rows: 1000, Weight: 1000, MeanZ: make([]float64, d), H: h}
	p, r := components(t, PCA{Components: 20}, m)
	if r.Method != "full" {
		t.Errorf("method %s", r.Method)
	}
	checkComponents(t, p, r, m, 1e-11)
}

func TestComponentsHaveTheSameBitsOnAnyThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, decay := range []float64{0.3, 3} {
		m := gram(640, decay)
		var first *Projection
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			p, _ := components(t, PCA{Components: 20}, m)
			if first == nil {
				first = p
			}
			if !slices.Equal(first.u, p.u) {
				t.Errorf("decay %g: %d threads give other bits", decay, threads)
			}
		}
	}
}

// Statistics of components are those of projected rows, diagonal with the eigenvalues.
func TestStatisticsOfComponentsAreThoseOfProjectedRows(t *testing.T) {
	z, stats := sample(6, 500, 25, 1.5, 4)
	for _, whiten := range []bool{false, true} {
		p, r := components(t, PCA{Components: 9, Whiten: whiten}, stats.Moments())
		m := p.Statistics(stats).Moments()
		rows, work := matrix.NewDense(500, 9), &matrix.Dense{}
		p.Transform(rows, matrix.Rows{Dense: z}, work)
		want := moments.New(9, 1)
		for i := range 500 {
			want.AddRow(rows.Row(i), []float64{0}, 1)
		}
		w := want.Moments()
		for a := range 9 {
			if math.Abs(m.MeanZ[a]-w.MeanZ[a]) > 1e-5 {
				t.Errorf("mean %d: %g, of rows %g", a, m.MeanZ[a], w.MeanZ[a])
			}
			for b := a; b < 9; b++ {
				if math.Abs(m.H[a*9+b]-w.H[a*9+b]) > 1e-5*w.H[0] {
					t.Errorf("H[%d, %d]: %g, of rows %g", a, b, m.H[a*9+b], w.H[a*9+b])
				}
				diagonal := 0.0
				if a == b {
					diagonal = r.Variances[a] * 500
					if whiten {
						diagonal = 500
					}
				}
				if math.Abs(m.H[a*9+b]-diagonal) > 1e-10*m.H[0] {
					t.Errorf("H[%d, %d] is %g, want %g", a, b, m.H[a*9+b], diagonal)
				}
			}
		}
	}
}

// Folded weights are U·W' and give the scores of the components.
func TestFoldIsProjection(t *testing.T) {
	z, stats := sample(7, 100, 20, 1, 50)
	s := random.New(7, "reduce-test")
	for _, whiten := range []bool{false, true} {
		p, _ := components(t, PCA{Components: 6, Whiten: whiten}, stats.Moments())
		w, b := matrix.NewDense(6, 3), []float64{1, -2, 3}
		for i := range w.Data {
			w.Data[i] = float32(s.Normal())
		}
		folded, intercepts := p.Fold(w, b)
		for i := range 100 {
			for o := range 3 {
				want, got := b[o], intercepts[o]
				for c := range 6 {
					x := 0.0
					for j, v := range z.Row(i) {
						x += p.Component(c)[j] * (float64(v) - p.Mean()[j])
					}
					want += x * float64(w.Row(c)[o])
				}
				for j, v := range z.Row(i) {
					got += float64(v) * float64(folded.Row(j)[o])
				}
				// 20 weights of about 1, rounded by 2⁻²⁴, times differences of up to about 10.
				if math.Abs(got-want) > 2e-5 {
					t.Fatalf("row %d, output %d: %g folded, %g projected", i, o, got, want)
				}
			}
		}
	}
}

func TestJoinedThenIsOneAfterTheOther(t *testing.T) {
	z, _ := sample(8, 200, 15, 1, 3)
	parts := []*moments.Stats{moments.New(9, 1), moments.New(6, 1)}
	for i := range 200 {
		parts[0].AddRow(z.Row(i)[:9], []float64{0}, 1)
		parts[1].AddRow(z.Row(i)[9:], []float64{0}, 1)
	}
	a, _ := components(t, PCA{Components: 4, Whiten: true}, parts[0].Moments())
	b, _ := components(t, PCA{Components: 3}, parts[1].Moments())
	joined := Joined([]*Projection{a, b})
	work := &matrix.Dense{}
	side, first := matrix.NewDense(200, 7), matrix.NewDense(200, 7)
	joined.Transform(side, matrix.Rows{Dense: z}, work)
	a.Transform(first.Columns(0, 4), matrix.Rows{Dense: z.Columns(0, 9)}, work)
	b.Transform(first.Columns(4, 7), matrix.Rows{Dense: z.Columns(9, 15)}, work)
	for i, v := range side.Data {
		if math.Abs(float64(v-first.Data[i])) > 1e-5 {
			t.Fatalf("number %d: %g joined, %g apart", i, v, first.Data[i])
		}
	}
	again := moments.New(7, 1)
	for i := range 200 {
		// A mean that is not 0.
		row := slices.Clone(side.Row(i))
		row[2] += 5
		again.AddRow(row, []float64{0}, 1)
	}
	next, _ := components(t, PCA{Components: 2}, again.Moments())
	one, two := matrix.NewDense(200, 2), matrix.NewDense(200, 2)
	joined.Then(next).Transform(one, matrix.Rows{Dense: z}, work)
	next.Transform(two, matrix.Rows{Dense: side}, work)
	for i, v := range one.Data {
		if math.Abs(float64(v-two.Data[i])) > 2e-5 {
			t.Fatalf("number %d: %g in one, %g one after the other", i, v, two.Data[i])
		}
	}
}

func TestSparseRowsAreProjectedAsDenseOnes(t *testing.T) {
	z, stats := sample(9, 60, 10, 1, 0)
	for i := range z.Data {
		if i%3 > 0 {
			z.Data[i] = 0
		}
	}
	x := &matrix.CSR{Rows: 60, Cols: 10, Ptr: []int{0}}
	for i := range 60 {
		for j, v := range z.Row(i) {
			if v != 0 {
				x.Idx, x.Val = append(x.Idx, int32(j)), append(x.Val, v)
			}
		}
		x.Ptr = append(x.Ptr, len(x.Idx))
	}
	p, _ := components(t, PCA{Components: 4}, stats.Moments())
	a, b, work := matrix.NewDense(60, 4), matrix.NewDense(60, 4), &matrix.Dense{}
	p.Transform(a, matrix.Rows{Dense: z}, work)
	p.Transform(b, matrix.Rows{CSR: x}, work)
	if !slices.Equal(a.Data, b.Data) {
		t.Error("sparse rows have other components")
	}
}

func BenchmarkPCA(b *testing.B) {
	const d = 2048
	for _, decay := range []float64{0.5, 1, 2} {
		m := gram(d, decay)
		for _, k := range []int{20, 100, 200} {
			b.Run(fmt.Sprintf("decay %g, krylov %d", decay, k), func(b *testing.B) {
				for b.Loop() {
					if s := krylov(b.Context(), d, mirrored(m.H, d), k, krylovTolerance); s.vectors == nil {
						b.Log("gave up")
					}
				}
			})
			if decay == 1 {
				b.Run(fmt.Sprintf("full %d", k), func(b *testing.B) {
					for b.Loop() {
						if _, err := full(b.Context(), m.H, d, func([]float64) int { return k }); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
