package landmarks

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// coded makes the targets of a problem codes of classes, ±1.
func (p problem) coded() problem {
	r := random.New(5, "landmarks.classes")
	y := slices.Clone(p.y)
	for i := range p.x.Rows {
		row := y[i*p.outputs:][:p.outputs]
		of := 0
		for t, v := range row {
			if v += r.Normal() / 4; v > row[of] {
				of = t
			}
		}
		for t, v := range row {
			row[t] = -1
			if p.outputs == 1 && v > 0 || p.outputs > 1 && t == of {
				row[t] = 1
			}
		}
	}
	p.y = y
	return p
}

func (p problem) logistic(t testing.TB, lambda, gain float64, m int, from *Solution) (*Ridge, *Solution) {
	t.Helper()
	r, err := begun(p.k, p.z, p.outputs)
	if err != nil {
		t.Fatal(err)
	}
	values := r.Values(nil, p.x)
	if err := r.Add(context.Background(), values, p.y, p.weights); err != nil {
		t.Fatal(err)
	}
	s, err := r.SolveLogistic(context.Background(), Logistic{Values: values, Y: p.y, Weights: p.weights}, lambda, gain, r.Start(m, from))
	if err != nil || s == nil {
		t.Fatalf("no solution: %v", err)
	}
	return r, s
}

// What is minimised, from its definition: by float64 kernels of the first m landmarks.
func (p problem) objective(lambda float64, m int, alpha, b []float64) float64 {
	k := func(a, b []float32) float64 {
		s := 0.0
		for j := range a {
			s += (float64(a[j]) - float64(b[j])) * (float64(a[j]) - float64(b[j]))
		}
		return math.Exp(-p.k.Gamma * s)
	}
	sum, curvature := 0.0, 0.5
	if p.outputs == 1 {
		curvature = 0.25
	}
	for i := range p.x.Rows {
		s := slices.Clone(b)
		for j := range m {
			for t := range s {
				s[t] += alpha[j*p.outputs+t] * k(p.x.Row(i), p.z.Row(j))
			}
		}
		w, loss := 1.0, 0.0
		if p.weights != nil {
			w = p.weights[i]
		}
		if y := p.y[i*p.outputs:][:p.outputs]; p.outputs == 1 {
			loss = math.Log(1 + math.Exp(-y[0]*s[0]))
		} else {
			all := 0.0
			for _, v := range s {
				all += math.Exp(v)
			}
			loss = math.Log(all) - s[slices.Index(y, 1)]
		}
		sum += w * loss / curvature
	}
	for i := range m {
		for j := range m {
			for t := range p.outputs {
				sum += lambda / 2 * alpha[i*p.outputs+t] * k(p.z.Row(i), p.z.Row(j)) * alpha[j*p.outputs+t]
			}
		}
	}
	return sum
}

// No step along an axis makes the solution better: what is minimised, computed from its definition, is convex and flat there.
func TestLogisticIsTheMinimum(t *testing.T) {
	for _, c := range []struct {
		outputs, m int
		lambda     float64
		weighted   bool
	}{{1, 12, 0.3, false}, {1, 12, 0.01, true}, {1, 7, 0.3, true}, {3, 12, 0.1, false}, {4, 9, 0.02, true}} {
		p := made(250, 3, 12, c.outputs, c.weighted).coded()
		_, s := p.logistic(t, c.lambda, 1e-13, c.m, nil)
		alpha, b := s.Alpha(), s.Intercepts()
		least := p.objective(c.lambda, c.m, alpha, b)
		for _, numbers := range [][]float64{alpha, b} {
			for i := range numbers {
				const step = 1e-3
				was := numbers[i]
				numbers[i] = was + step
				above := p.objective(c.lambda, c.m, alpha, b)
				numbers[i] = was - step
				below := p.objective(c.lambda, c.m, alpha, b)
				numbers[i] = was
				// What the minimum of the parabola through the three would gain. Values are rounded to 24 bits.
				curved := above + below - 2*least
				if gain := (above - below) * (above - below) / (8 * curved); !(curved > 0) || !(gain < 1e-9*least) {
					t.Errorf("%+v, number %d: %.3g are to be gained of %.6g", c, i, gain, least)
				}
			}
		}
	}
}

// Scores of four rows by scikit-learn 1.7's LogisticRegression(C=1/(cλ), tol=1e-12) on K_nm L⁻ᵀ with K_mm = LLᵀ, which has the same minimum.
func TestLogisticIsThatOfScikitLearn(t *testing.T) {
	const n, m = 60, 8
	x := matrix.NewDense(n, 2)
	p := problem{k: kernel.RBF.Usual(), x: x, z: x.Slice(0, m)}
	p.k.Gamma = 0.9
	for i := range n {
		for j := range 2 {
			x.Row(i)[j] = float32(math.Sin(1.3*float64(i) + 0.7*float64(j)*float64(i) + float64(j)))
		}
		p.weights = append(p.weights, float64(1+i%3))
	}
	above := func(i, j int, f, least float64) bool {
		noise := math.Cos(f * float64(i))
		if j == 1 {
			noise = math.Sin(f * float64(i))
		}
		return float64(x.Row(i)[j])+0.3*noise > least
	}
	for _, c := range []struct {
		outputs int
		want    []float64
	}{
		{1, []float64{0.755829, -3.7128749, -2.2822137, 3.8124972}},
		{3, []float64{-0.5443385, 2.2301487, -1.6858102, 3.1481551, -1.7894128, -1.3587422, 1.6442893, -2.5192502, 0.8749609, -2.118352, 3.2406934,
			-1.1223414}},
	} {
		p := p
		p.outputs = c.outputs
		for i := range n {
			switch {
			case c.outputs == 1 && above(i, 0, 5, 0.2):
				p.y = append(p.y, -1)
			case c.outputs == 1:
				p.y = append(p.y, 1)
			case above(i, 0, 5, 0.3):
				p.y = append(p.y, 1, -1, -1)
			case above(i, 1, 3, 0):
				p.y = append(p.y, -1, 1, -1)
			default:
				p.y = append(p.y, -1, -1, 1)
			}
		}
		r, s := p.logistic(t, 0.7, 1e-14, m, nil)
		got := s.Scores(r, r.Values(nil, x.Slice(0, 4)))
		if c.outputs > 1 { // softmax knows scores but for a number
			for i := 0; i < len(got); i += c.outputs {
				mean := 0.0
				for _, v := range got[i : i+c.outputs] {
					mean += v / float64(c.outputs)
				}
				for t := range c.outputs {
					got[i+t] -= mean
				}
			}
		}
		if d := gap(t, got, c.want); !(d < 2e-5) {
			t.Errorf("%d outputs: scores %v, want %v", c.outputs, got, c.want)
		}
	}
}

// A solution for fewer landmarks is a better start than none, and the end is the same.
func TestLogisticFromAStart(t *testing.T) {
	p := made(400, 3, 30, 3, false).coded()
	r, half := p.logistic(t, 0.05, 1e-12, 15, nil)
	_, whole := p.logistic(t, 0.05, 1e-13, 30, nil)
	_, again := p.logistic(t, 0.05, 1e-13, 30, half)
	values := r.Values(nil, p.x)
	want := whole.Scores(r, values)
	if d := gap(t, again.Scores(r, values), want); !(d < 1e-4) {
		t.Errorf("from a start the scores differ by %.2g", d)
	}
	at := func(s *Solution) float64 { return p.objective(0.05, 30, s.Alpha(), s.Intercepts()) }
	if zero, begun := at(r.Start(30, nil)), at(r.Start(30, half)); !(begun < zero) || !(at(whole) < begun) {
		t.Errorf("from nothing %g, from half %g, in the end %g", zero, begun, at(whole))
	}
}

func TestLogisticDoesNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	p := made(1500, 4, 130, 3, true).coded()
	var first []float64
	for _, threads := range []int{1, 4} {
		runtime.GOMAXPROCS(threads)
		r, s := p.logistic(t, 0.1, 1e-4, 130, nil)
		scores := s.Scores(r, r.Values(nil, p.x))
		if first == nil {
			first = scores
		} else if !slices.Equal(first, scores) {
			t.Errorf("other bits with %d threads", threads)
		}
	}
}

func TestLogisticStops(t *testing.T) {
	p := made(300, 3, 20, 1, false).coded()
	r, err := begun(p.k, p.z, 1)
	if err != nil {
		t.Fatal(err)
	}
	values := r.Values(nil, p.x)
	if err := r.Add(context.Background(), values, p.y, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.SolveLogistic(ctx, Logistic{Values: values, Y: p.y}, 1, 1e-6, r.Start(20, nil)); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	values[7] = float32(math.NaN())
	if s, err := r.SolveLogistic(context.Background(), Logistic{Values: values, Y: p.y}, 1, 1e-6, r.Start(20, nil)); s != nil || err != nil {
		t.Errorf("values that are NaN give %v, %v", s, err)
	}
}

func BenchmarkLogistic(b *testing.B) {
	p := made(2000, 10, 750, 3, false).coded()
	b.ReportAllocs()
	for b.Loop() {
		p.logistic(b, 0.2, 1e-4, 750, nil)
	}
}
