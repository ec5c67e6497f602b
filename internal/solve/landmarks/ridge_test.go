package landmarks

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// problem is rows, landmarks among them, targets and weights.
type problem struct {
	k          kernel.Kernel
	x, z       *matrix.Dense
	y, weights []float64
	outputs    int
}

func made(n, d, m, outputs int, weighted bool) problem {
	r := random.New(3, "landmarks.problem")
	p := problem{k: kernel.RBF.Usual(), x: matrix.NewDense(n, d), outputs: outputs}
	p.k.Gamma = 0.8 / float64(d)
	r.FillNormal(p.x.Data)
	for i := range n {
		if weighted {
			p.weights = append(p.weights, 0.2+2*r.Uniform())
		}
		for t := range outputs {
			p.y = append(p.y, math.Sin(float64(t+1)*float64(p.x.Row(i)[0]))+0.1*r.Normal())
		}
	}
	p.z = matrix.Pick(matrix.Rows{Dense: p.x}, r.Perm(n)[:m]).Dense
	return p
}

// ridge is a Ridge to which the rows were added in parts that end at ends.
func (p problem) ridge(t *testing.T, ends ...int) *Ridge {
	t.Helper()
	r, err := begun(p.k, p.z, p.outputs)
	if err != nil {
		t.Fatal(err)
	}
	from := 0
	for _, to := range ends {
		var w []float64
		if p.weights != nil {
			w = p.weights[from:to]
		}
		if err := r.Add(context.Background(), r.Values(nil, p.x.Slice(from, to)), p.y[from*p.outputs:to*p.outputs], w); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	return r
}

// naive solves the normal equations on the first m landmarks by elimination: α, outputs×m.
func (p problem) naive(lambda float64, m int) []float64 {
	k := func(a, b []float32) float64 {
		s := 0.0
		for j := range a {
			s += (float64(a[j]) - float64(b[j])) * (float64(a[j]) - float64(b[j]))
		}
		return math.Exp(-p.k.Gamma * s)
	}
	width := m + p.outputs
	a := make([][]float64, m)
	for i := range a {
		a[i] = make([]float64, width)
		for j := range m {
			a[i][j] = lambda * k(p.z.Row(i), p.z.Row(j))
		}
	}
	for r := range p.x.Rows {
		w := 1.0
		if p.weights != nil {
			w = p.weights[r]
		}
		for i := range m {
			v := w * k(p.x.Row(r), p.z.Row(i))
			for j := range m {
				a[i][j] += v * k(p.x.Row(r), p.z.Row(j))
			}
			for t := range p.outputs {
				a[i][m+t] += v * p.y[r*p.outputs+t]
			}
		}
	}
	for c := range m { // Gauss and Jordan, with pivots
		best := c
		for i := c; i < m; i++ {
			if math.Abs(a[i][c]) > math.Abs(a[best][c]) {
				best = i
			}
		}
		a[c], a[best] = a[best], a[c]
		for i := range m {
			if f := a[i][c] / a[c][c]; i != c {
				for j := c; j < width; j++ {
					a[i][j] -= f * a[c][j]
				}
			}
		}
	}
	alpha := make([]float64, p.outputs*m)
	for i := range m {
		for t := range p.outputs {
			alpha[t*m+i] = a[i][m+t] / a[i][i]
		}
	}
	return alpha
}

// gap is the largest difference of a from b, in parts of the largest number of b.
func gap(t *testing.T, a, b []float64) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d numbers, want %d", len(a), len(b))
	}
	most, size := 0.0, 0.0
	for i, v := range b {
		most, size = max(most, math.Abs(a[i]-v)), max(size, math.Abs(v))
	}
	return most / size
}

// α is that of the normal equations, for all landmarks and for the first of them. The values are rounded to 24 bits,
// which the condition of the system, below 2000 for these λ, makes larger.
func TestSolveIsThatOfTheNormalEquations(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		for _, weighted := range []bool{false, true} {
			p := made(1500, 3, 40, outputs, weighted) // more rows than a block
			r := p.ridge(t, 1500)
			if r.Landmarks() != 40 {
				t.Fatalf("%d landmarks", r.Landmarks())
			}
			for _, m := range []int{40, 17, 1} {
				for _, lambda := range []float64{100, 3} {
					alpha, want := r.Solve(t.Context(), lambda, m), p.naive(lambda, m)
					if d := gap(t, alpha, want); !(d < 1e-4) {
						t.Errorf("%d outputs, weights %v, %d landmarks, λ = %g: α is off by %.2g", outputs, weighted, m, lambda, d)
					}
				}
			}
		}
	}
}

// Scores are those of the kernel expansion of the first landmarks.
func TestScores(t *testing.T) {
	p := made(50, 3, 20, 2, false)
	r := p.ridge(t, 50)
	values := r.Values(nil, p.x)
	alpha := r.Solve(t.Context(), 0.1, 9)
	scores := r.Scores(values, alpha)
	want := make([]float64, 50*2)
	for i := range 50 {
		for o := range 2 {
			for j := range 9 {
				want[i*2+o] += float64(values[i*20+j]) * alpha[o*9+j]
			}
		}
	}
	if d := gap(t, scores, want); !(d < 1e-12) {
		t.Errorf("scores are off by %.2g", d)
	}
}

func TestRowsInPartsGiveTheSame(t *testing.T) {
	p := made(1300, 4, 30, 2, true)
	want := p.ridge(t, 1300).Solve(t.Context(), 1, 30)
	for _, ends := range [][]int{{1, 1300}, {0, 700, 1300}, {1024, 1025, 1300}} {
		if d := gap(t, p.ridge(t, ends...).Solve(t.Context(), 1, 30), want); !(d < 1e-9) {
			t.Errorf("parts that end at %d: α differs by %.2g", ends, d)
		}
	}
}

// Weights are repetitions of rows, and rows of weight 0 count for nothing.
func TestWeightsAreRepetitions(t *testing.T) {
	p := made(200, 3, 15, 1, false)
	again := problem{k: p.k, z: p.z, outputs: 1, x: matrix.NewDense(300, 3)}
	for i := range 200 {
		p.weights = append(p.weights, []float64{1, 0, 2, 3}[i%4])
	}
	n := 0
	for i, w := range p.weights {
		for range int(w) {
			copy(again.x.Row(n), p.x.Row(i))
			again.y = append(again.y, p.y[i])
			n++
		}
	}
	if d := gap(t, p.ridge(t, 200).Solve(t.Context(), 1, 15), again.ridge(t, n).Solve(t.Context(), 1, 15)); n != 300 || !(d < 1e-9) {
		t.Errorf("%d rows: α differs by %.2g", n, d)
	}
}

func TestRidgeDoesNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	p := made(1500, 4, 130, 2, true)
	var alpha, scores []float64
	for _, threads := range []int{1, 4} {
		runtime.GOMAXPROCS(threads)
		r := p.ridge(t, 1000, 1500)
		a := r.Solve(t.Context(), 0.01, 130)
		s := r.Scores(r.Values(nil, p.x), a)
		if alpha == nil {
			alpha, scores = a, s
		} else if !slices.Equal(alpha, a) || !slices.Equal(scores, s) {
			t.Errorf("other bits with %d threads", threads)
		}
	}
}

// Landmarks that are equal make the system singular for λ = 0; a solution with small residuals is found all the same.
func TestSingularSystems(t *testing.T) {
	p := made(300, 3, 20, 1, false)
	for j := 10; j < 20; j++ {
		copy(p.z.Row(j), p.z.Row(j-10))
	}
	half := p
	half.z = p.z.Slice(0, 10)
	r, single := p.ridge(t, 300), half.ridge(t, 300)
	for _, lambda := range []float64{0, 1e-9, 1} {
		twice, once := r.Solve(t.Context(), lambda, 20), single.Solve(t.Context(), lambda, 10)
		if twice == nil || once == nil {
			t.Fatalf("λ = %g: no solution", lambda)
		}
		if d := gap(t, r.Scores(r.Values(nil, p.x), twice), single.Scores(single.Values(nil, p.x), once)); !(d < 1e-5) {
			t.Errorf("λ = %g: scores differ by %.2g from those of the landmarks that differ", lambda, d)
		}
	}
	p.y[5] = math.NaN()
	if alpha := p.ridge(t, 300).Solve(t.Context(), 1, 20); alpha != nil {
		t.Errorf("a target that is NaN gives %v", alpha[:3])
	}
}

func TestErrors(t *testing.T) {
	p := made(3000, 3, 10, 1, false)
	huge := matrix.NewDense(2, 3)
	for j := range huge.Data {
		huge.Data[j] = math.MaxFloat32
	}
	poly := kernel.Kernel{Name: "poly", Gamma: 1, Degree: 9}
	if _, err := begun(poly, huge, 1); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("a kernel that is not finite: %v", err)
	}
	if _, err := begun(kernel.Kernel{Name: "magic"}, p.z, 1); err == nil {
		t.Error("a kernel that is not known is taken")
	}
	r := p.ridge(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Add(ctx, r.Values(nil, p.x), p.y, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
}

// Sums in float32 over blocks change scores by next to nothing, and a ridge that begins anew is as one that was not used before.
func TestRoughRidge(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		p := made(3000, 4, 60, 2, weighted)
		fine := p.ridge(t, 3000)
		rough := made(100, 3, 70, 1, true).ridge(t, 20) // others, which leave their memory
		if err := rough.Begin(p.k, p.z, p.outputs, true); err != nil {
			t.Fatal(err)
		}
		solved := func() []float64 {
			t.Helper()
			if err := rough.Add(t.Context(), rough.Values(nil, p.x), p.y, p.weights); err != nil {
				t.Fatal(err)
			}
			return rough.Solve(t.Context(), 30, 60)
		}
		alpha := solved()
		values := fine.Values(nil, p.x)
		got, want := rough.Scores(values, alpha), fine.Scores(values, fine.Solve(t.Context(), 30, 60))
		if d := gap(t, got, want); !(d < 1e-3) || d == 0 {
			t.Errorf("weights %v: scores differ by %.2g", weighted, d)
		}
		other := p.k
		other.Gamma *= 3
		for _, k := range []kernel.Kernel{other, p.k} {
			if err := rough.Reset(k, p.z); err != nil {
				t.Fatal(err)
			}
			if again := solved(); slices.Equal(again, alpha) != (k == p.k) {
				t.Errorf("weights %v, γ = %g: the same is %t", weighted, k.Gamma, k != p.k)
			}
		}
	}
}

// begun is a ridge on landmarks without any rows.
func begun(k kernel.Kernel, landmarks *matrix.Dense, outputs int) (*Ridge, error) {
	r := new(Ridge)
	return r, r.Begin(k, landmarks, outputs, false)
}
