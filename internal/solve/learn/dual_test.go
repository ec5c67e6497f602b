package learn

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// derivative is the range of -ℓ'(u) of a loss of cost c whose argument is known to within δ.
func derivative(loss string, y, u, c, epsilon, delta float64) (lo, hi float64) {
	at := func(u float64) float64 {
		r := y - u
		switch loss {
		case "hinge":
			if y*u < 1 {
				return c * y
			}
		case "squared_hinge":
			return 2 * c * y * max(0, 1-y*u)
		case "logistic":
			return c * y / (1 + math.Exp(y*u))
		case "epsilon":
			if math.Abs(r) > epsilon {
				return math.Copysign(c, r)
			}
		case "squared_epsilon":
			return math.Copysign(2*c*max(0, math.Abs(r)-epsilon), r)
		case "one-class":
			if u < 0 {
				return c
			}
		default:
			panic(loss)
		}
		return 0
	}
	// -ℓ' falls with u.
	return at(u + delta), at(u - delta)
}

// uncertified is how far w and b are from meeting the optimality conditions
//
//	w = Σ βᵢzᵢ,   σ = Σ βᵢ,   βᵢ in -∂ℓᵢ(uᵢ),
//
// relative to what they have at w = 0: the least squares over the βᵢ in their ranges, by
// coordinate descent in float64. It knows nothing of how the model was found.
func uncertified(z *matrix.Dense, w []float64, sigma float64, free bool, lo, hi []float64) float64 {
	n, d := z.Rows, z.Cols
	rest := append(slices.Clone(w), sigma)
	row := func(i int) []float64 {
		r := make([]float64, d+1)
		for j, v := range z.Row(i) {
			r[j] = float64(v)
		}
		if free {
			r[d] = 1
		}
		return r
	}
	if !free {
		rest[d] = 0
	}
	rows := make([][]float64, n)
	beta := make([]float64, n)
	size := 1.0
	for i := range rows {
		rows[i] = row(i)
		beta[i] = min(max(0, lo[i]), hi[i])
		for j, v := range rows[i] {
			rest[j] -= beta[i] * v
			size += math.Abs(hi[i]*v) / float64(n)
		}
	}
	for range 3000 {
		moved := 0.0
		for i, r := range rows {
			dot, square := 0.0, 0.0
			for j, v := range r {
				dot += v * rest[j]
				square += v * v
			}
			if square == 0 || lo[i] == hi[i] {
				continue
			}
			next := min(max(beta[i]+dot/square, lo[i]), hi[i])
			for j, v := range r {
				rest[j] -= (next - beta[i]) * v
			}
			moved = max(moved, math.Abs(next-beta[i]))
			beta[i] = next
		}
		if moved < 1e-12 {
			break
		}
	}
	return norm(rest) / size
}

// column is output t of a model, and its scores of the rows, in float64.
func column(l *Linear, t int, z *matrix.Dense) (w, u []float64) {
	for j := range l.W.Rows {
		w = append(w, float64(l.W.Row(j)[t]))
	}
	for i := range z.Rows {
		s := l.B[t]
		for j, v := range z.Row(i) {
			s += w[j] * float64(v)
		}
		u = append(u, s)
	}
	return w, u
}

// thirds are weights 0, ½ and 1.
func thirds(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i%3) / 2
	}
	return w
}

func TestDualMachinesMeetTheirOptimalityConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n, d = 150, 6
	const tolerance, delta = 1e-4, 2e-4
	for _, classes := range []int{2, 3} {
		z, class := blobs(11, n, d, classes)
		for _, loss := range []string{"squared_hinge", "hinge", "logistic"} {
			for _, c := range []float64{0.01, 1, 5} {
				for variant := range 4 {
					opt := SVM{C: c, Loss: loss, Tolerance: tolerance, MaxIter: 100_000, NoIntercept: variant&1 != 0}
					rows, weights := matrix.Rows{Dense: z}, []float64(nil)
					if variant&2 != 0 {
						opt.ClassWeights, weights = []float64{0.5, 2, 1}[:classes], thirds(n)
						rows = matrix.Rows{CSR: toCSR(z)}
					}
					l, report, err := FitSVM(context.Background(), InMemory(rows), class, classes, weights, opt)
					if err != nil || !report.Converged {
						t.Fatalf("%d classes, %+v: %+v, %v", classes, opt, report, err)
					}
					for k := range l.B {
						w, u := column(l, k, z)
						lo, hi := make([]float64, n), make([]float64, n)
						for i := range n {
							y, ci := -1.0, c
							if class[i] == k+min(1, 3-classes) {
								y = 1
							}
							if variant&2 != 0 {
								ci *= weights[i]
								if classes == 2 || y > 0 {
									ci *= opt.ClassWeights[class[i]]
								}
							}
							lo[i], hi[i] = derivative(loss, y, u[i], ci, 0, delta)
						}
						if off := uncertified(z, w, 0, !opt.NoIntercept, lo, hi); off > 1e-4 {
							t.Errorf("%d classes, %s, C = %g, variant %d, output %d: off by %g", classes, loss, c, variant, k, off)
						}
					}
				}
			}
		}
	}
}

func TestSVRMeetsItsOptimalityConditions(t *testing.T) {
	const n, d = 150, 5
	const tolerance = 1e-3
	z, y := sample(21, n, d, 2, 0)
	for _, loss := range []string{"squared_epsilon", "epsilon"} {
		for _, c := range []float64{0.01, 1} {
			for variant := range 4 {
				opt := SVR{C: c, Loss: loss, Epsilon: 0.3, Tolerance: tolerance, MaxIter: 20_000, NoIntercept: variant&1 != 0}
				var weights []float64
				if variant&2 != 0 {
					weights, opt.Epsilon = thirds(n), 0.01
				}
				// What the tolerance is relative to, by hand.
				mean, scale, total := [2]float64{}, 0.0, 0.0
				for pass := range 2 {
					for i := range n {
						wi := 1.0
						if weights != nil {
							wi = weights[i]
						}
						for k := range 2 {
							if pass == 0 {
								mean[k] += wi * y[2*i+k]
							} else {
								scale += wi * math.Abs(y[2*i+k]-mean[k])
							}
						}
						total += wi
					}
					if pass == 0 {
						mean[0], mean[1] = mean[0]/total, mean[1]/total
						if opt.NoIntercept {
							mean = [2]float64{}
						}
						total = 0
					}
				}
				delta := 2 * tolerance * scale / (2 * total)
				l, report, err := FitSVR(context.Background(), InMemory(matrix.Rows{Dense: z}), y, 2, weights, opt)
				if err != nil || !report.Converged {
					t.Fatalf("%+v: %+v, %v", opt, report, err)
				}
				for k := range 2 {
					w, u := column(l, k, z)
					lo, hi := make([]float64, n), make([]float64, n)
					for i := range n {
						ci := c
						if weights != nil {
							ci *= weights[i]
						}
						lo[i], hi[i] = derivative(loss, y[2*i+k], u[i], ci, opt.Epsilon, delta)
					}
					if off := uncertified(z, w, 0, !opt.NoIntercept, lo, hi); off > 1e-3 {
						t.Errorf("%s, C = %g, variant %d, output %d: off by %g", loss, c, variant, k, off)
					}
				}
			}
		}
	}
}

func TestOneClassMeetsItsOptimalityConditions(t *testing.T) {
	const n, d = 200, 4
	z, _ := blobs(31, n, d, 1)
	for i := range z.Data {
		z.Data[i]++
	}
	for _, nu := range []float64{0.05, 0.3, 1} {
		for _, weights := range [][]float64{nil, thirds(n)} {
			l, report, err := FitOneClass(context.Background(), InMemory(matrix.Rows{Dense: z}), weights,
				OneClass{Outliers: nu, Tolerance: 1e-6, MaxIter: 100_000})
			if err != nil || !report.Converged {
				t.Fatalf("ν = %g: %+v, %v", nu, report, err)
			}
			w, u := column(l, 0, z)
			lo, hi := make([]float64, n), make([]float64, n)
			total, outside, near, border := 0.0, 0.0, 0.0, 0.0
			for i := range n {
				ci := 1.0
				if weights != nil {
					ci = weights[i]
				}
				lo[i], hi[i] = derivative("one-class", 0, u[i], ci, 0, 3e-6*nu*n*10)
				total += ci
				if u[i] < 0 {
					outside += ci
				}
				if math.Abs(u[i]) < 1e-5*nu*n {
					border += ci // in float32 it may be on either side
				}
				if hi[i] > 0 {
					near += ci
				}
			}
			if off := uncertified(z, w, nu*total, true, lo, hi); off > 1e-3 {
				t.Errorf("ν = %g: off by %g", nu, off)
			}
			if math.Abs(report.Outside*total-outside) > border+1e-9 {
				t.Errorf("ν = %g: %g are outside, %g on the border, reported %g", nu, outside/total, border/total, report.Outside)
			}
			// ν is between the share outside and that outside or on the border.
			if nu < 1 && (outside-1 > nu*total || near < nu*total-1) {
				t.Errorf("ν = %g: %g of %g rows outside, %g with the border", nu, outside, total, near)
			}
		}
	}
}

// TestCrammerSingerMeetsItsOptimalityConditions looks for subgradients of each row's loss, a
// mixture of the classes whose scores are largest to within δ, that add up to the weights.
func TestCrammerSingerMeetsItsOptimalityConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n, d, k, delta = 120, 5, 4, 2e-4
	z, class := blobs(41, n, d, k)
	for _, c := range []float64{0.01, 1, 5} {
		for variant := range 4 {
			opt := SVM{C: c, CrammerSinger: true, Tolerance: 1e-4, MaxIter: 100_000, NoIntercept: variant&1 != 0}
			var weights []float64
			if variant&2 != 0 {
				weights, opt.ClassWeights = thirds(n), []float64{1, 0.5, 2, 1}
			}
			l, report, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, k, weights, opt)
			if err != nil || !report.Converged {
				t.Fatalf("%+v: %+v, %v", opt, report, err)
			}
			// rest is W with a row for the sums, less Σ βz.
			rest := make([][]float64, k)
			scores := make([][]float64, k)
			for m := range k {
				w, u := column(l, m, z)
				rest[m], scores[m] = append(w, 0), u
			}
			type moving struct {
				z    []float64
				m    []int
				p    []float64
				cost float64
			}
			var all []moving
			size := 1.0
			for i := range n {
				ci := c
				if weights != nil {
					ci *= weights[i] * opt.ClassWeights[class[i]]
				}
				r := moving{z: make([]float64, d+1), cost: ci}
				for j, v := range z.Row(i) {
					r.z[j] = float64(v)
				}
				if !opt.NoIntercept {
					r.z[d] = 1
				}
				most := math.Inf(-1)
				value := func(m int) float64 {
					if m == class[i] {
						return scores[m][i]
					}
					return scores[m][i] + 1
				}
				for m := range k {
					most = max(most, value(m))
				}
				for m := range k {
					if value(m) > most-delta {
						r.m, r.p = append(r.m, m), append(r.p, 0)
					}
				}
				r.p[0] = 1
				for j, v := range r.z {
					rest[class[i]][j] -= ci * v
					rest[r.m[0]][j] += ci * v
					size += math.Abs(ci*v) / n
				}
				all = append(all, r)
			}
			for range 3000 {
				for _, r := range all {
					for a := range r.m {
						for b := range a {
							// Move p from a to b, to the least square or a bound.
							dot, square := 0.0, 0.0
							for j, v := range r.z {
								dot += r.cost * v * (rest[r.m[a]][j] - rest[r.m[b]][j])
								square += 2 * r.cost * r.cost * v * v
							}
							if square == 0 {
								continue
							}
							step := min(max(dot/square, -r.p[b]), r.p[a])
							r.p[a] -= step
							r.p[b] += step
							for j, v := range r.z {
								rest[r.m[a]][j] -= step * r.cost * v
								rest[r.m[b]][j] += step * r.cost * v
							}
						}
					}
				}
			}
			for m := range k {
				if off := norm(rest[m]) / size; off > 1e-4 {
					t.Errorf("C = %g, variant %d, class %d: off by %g", c, variant, m, off)
				}
			}
		}
	}
}

func TestReportedGapBoundsTheObjective(t *testing.T) {
	z, class := blobs(51, 300, 8, 3)
	fit := func(loss string, tolerance float64) *SVMReport {
		opt := SVM{C: 0.1, Loss: loss, Tolerance: tolerance, MaxIter: 5000}
		if loss == "crammer-singer" {
			opt.Loss, opt.CrammerSinger = "", true
		}
		_, r, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, opt)
		if err != nil || !r.Converged {
			t.Fatalf("%s: %+v, %v", loss, r, err)
		}
		return r
	}
	for _, loss := range []string{"squared_hinge", "hinge", "logistic", "crammer-singer"} {
		best := fit(loss, 1e-3)
		if best.Gap < 0 || best.Gap > 1e-4 {
			t.Errorf("%s: gap %g at a tight tolerance", loss, best.Gap)
		}
		for _, tolerance := range []float64{0, 0.3, 1} {
			r := fit(loss, tolerance)
			excess := (r.Objective - best.Objective) / r.Objective
			if excess < -best.Gap || excess > r.Gap {
				t.Errorf("%s: objective %.6g is %.3g above %.6g, the gap says at most %.3g", loss, r.Objective, excess, best.Objective, r.Gap)
			}
			if tolerance == 0 && r.Gap > gapTarget {
				t.Errorf("%s: gap %g, wanted %g", loss, r.Gap, gapTarget)
			}
			if tolerance > 0 && r.Violation > tolerance {
				t.Errorf("%s: violation %g, wanted %g", loss, r.Violation, tolerance)
			}
		}
	}
}

// Where C is next to nothing w is too, and the intercept alone is to be found: the objective is the
// least over b of the losses of b, and the gap says how far above it is.
func TestInterceptIsFoundWhereCIsTiny(t *testing.T) {
	z, class := blobs(52, 300, 8, 3)
	for i := range class { // of the classes 60 and 240
		if i%5 > 0 {
			class[i] = 1
		} else {
			class[i] = 0
		}
	}
	losses := map[string]func(margin float64) float64{
		"hinge":         func(m float64) float64 { return max(0, 1-m) },
		"squared_hinge": func(m float64) float64 { return max(0, 1-m) * max(0, 1-m) },
		"logistic":      func(m float64) float64 { return math.Log1p(math.Exp(-m)) },
	}
	for name, loss := range losses {
		least := math.Inf(1)
		for b := -3.0; b <= 3; b += 1e-4 {
			least = min(least, 60*loss(-b)+240*loss(b))
		}
		for _, c := range []float64{1e-12, 1e-9, 1e-7} {
			_, r, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{C: c, Loss: name})
			if err != nil || !r.Converged || r.Gap > gapTarget {
				t.Errorf("%s, C = %g: %+v, %v", name, c, r, err)
				continue
			}
			excess := r.Objective/(c*least) - 1
			if excess > r.Gap+1e-6 || excess < -0.01 {
				t.Errorf("%s, C = %g: the objective is %.6g of the least, the gap says %.2g", name, c, r.Objective/(c*least), r.Gap)
			}
		}
	}
}

// The same of Crammer and Singer's machine, whose intercepts are a class's worth apart.
func TestInterceptsOfCrammerSingerAreFoundWhereCIsTiny(t *testing.T) {
	z, class := blobs(53, 300, 8, 3)
	for i := range class { // 240, 30 and 30
		class[i] = [10]int{1, 0, 0, 0, 0, 2}[i%10]
	}
	// Σ max(0, 1 + bₘ - b_y): the least is at b₀ = b₁ + 1 = b₂ + 1, where the 60 others cost 2 each.
	const least = 120
	for _, c := range []float64{1e-12, 1e-9, 1e-7, 1e-5} {
		_, r, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, SVM{C: c, CrammerSinger: true})
		if err != nil || !r.Converged || r.Gap > gapTarget {
			t.Errorf("C = %g: %+v, %v", c, r, err)
			continue
		}
		if excess := r.Objective/(c*least) - 1; excess > r.Gap+1e-6 || excess < -0.02 {
			t.Errorf("C = %g: the objective is %.6g of the least, the gap says %.2g", c, r.Objective/(c*least), r.Gap)
		}
	}
}

// Flows whose differences are s are lessened until they are 0, also where the way leads over another
// class.
func TestFlowsAreRepaired(t *testing.T) {
	w := newFlows(4)
	set := func(a, b int, sum float64) {
		w.sum[a*4+b], w.cost[a*4+b], w.square[a*4+b] = sum, 3*sum, 2*sum
	}
	set(0, 1, 5)
	set(1, 2, 7)
	set(2, 0, 1)
	set(3, 2, 2)
	out := make([]*output, 4)
	for m := range out {
		s := 0.0
		for b := range 4 {
			s += w.sum[m*4+b] - w.sum[b*4+m]
		}
		out[m] = &output{s: s}
	}
	// s is 4, 2, -8 and 2. By 0-1-2 four have to go, by 1-2 two, by 3-2 two: of the flows 4, 6 and 2.
	want := 3.0 * (4 + 6 + 2)
	for _, part := range [][2]float64{{4, 4}, {10, 10}, {8, 8}, {2, 2}} { // moved of a class, and as much of the square halved
		want += 0.5 * part[0] * 2 * part[1]
	}
	if got := w.repair(out); math.Abs(got-want) > 1e-12*want {
		t.Errorf("costs %g, want %g", got, want)
	}
	// From half of the classes to the other half: every flow has to go, and of many it is not tried.
	for _, k := range []int{10, 40} {
		w, out := newFlows(k), make([]*output, k)
		for m := range out {
			out[m] = &output{}
		}
		for a := range k / 2 {
			for b := k / 2; b < k; b++ {
				amount := float64(1 + (3*a+5*b)%7)
				w.sum[a*k+b], w.cost[a*k+b] = amount, amount
				out[a].s += amount
				out[b].s -= amount
			}
		}
		all := 0.0
		for _, v := range w.sum {
			all += v
		}
		if got := w.repair(out); k == 10 && math.Abs(got-all) > 1e-12*all || k == 40 && !math.IsInf(got, 1) {
			t.Errorf("%d classes: costs %g, all of them %g", k, got, all)
		}
	}
}

// fitted is a model and how it came to be.
type fitted struct {
	*Linear
	DualReport
}

// fits are all machines on the same rows, each with its weights in one list.
func fits(t *testing.T, z Features, class []int, k int, tolerance float64) map[string]fitted {
	t.Helper()
	out := map[string]fitted{}
	keep := func(name string, l *Linear, r DualReport, err error) {
		t.Helper()
		if err != nil || !r.Converged || math.IsNaN(r.Gap) || math.IsNaN(r.Objective) {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		for _, v := range append(slices.Clone(l.W.Data), float32(l.B[0])) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("%s: weight %g", name, v)
			}
		}
		out[name] = fitted{l, r}
	}
	ctx := context.Background()
	for _, opt := range []SVM{{}, {Loss: "hinge"}, {Loss: "logistic"}, {CrammerSinger: true}, {NoIntercept: true}} {
		opt.C, opt.Tolerance, opt.MaxIter = 0.1, tolerance, 20_000
		l, r, err := FitSVM(ctx, z, class, k, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		keep(fmt.Sprintf("%s %t %t", opt.Loss, opt.CrammerSinger, opt.NoIntercept), l, r.DualReport, err)
	}
	y := make([]float64, len(class))
	for i, c := range class {
		y[i] = float64(c) + math.Sin(float64(i))
	}
	for _, loss := range []string{"epsilon", "squared_epsilon"} {
		l, r, err := FitSVR(ctx, z, y, 1, nil, SVR{C: 0.1, Loss: loss, Epsilon: 0.1, Tolerance: tolerance, MaxIter: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		keep(loss, l, r.DualReport, err)
	}
	l, r, err := FitOneClass(ctx, z, nil, OneClass{Tolerance: tolerance, MaxIter: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	keep("one-class", l, r.DualReport, err)
	return out
}

// anew are rows that are made when they are asked for.
func anew(rows matrix.Rows) Features {
	return Recomputed(rows.Len(), rows.Dim(), func(which []int) (matrix.Rows, error) { return gather(InMemory(rows), which) })
}

// asFile puts rows into a temporary feature file.
func asFile(t *testing.T, rows matrix.Rows) Features {
	t.Helper()
	f, err := CreateFeatureFile(t.TempDir(), rows.Dim(), rows.CSR != nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := 0; i < rows.Len(); i += 1000 {
		if err := f.Append(rows.Slice(i, min(i+1000, rows.Len()))); err != nil {
			t.Fatal(err)
		}
	}
	z, err := f.Features()
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestFeaturesOutsideMemoryGiveTheSameModels(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	n := BlockRows + 700
	z, class := blobs(61, n, 12, 3)
	rows := matrix.Rows{Dense: z}
	dense, sparse := fits(t, InMemory(rows), class, 3, 0), fits(t, InMemory(matrix.Rows{CSR: toCSR(z)}), class, 3, 0)
	for name, other := range map[string]Features{
		"dense file":  asFile(t, rows),
		"sparse file": asFile(t, matrix.Rows{CSR: toCSR(z)}),
		"recomputed":  anew(rows),
	} {
		want := dense
		if strings.HasPrefix(name, "sparse") {
			want = sparse
		}
		for machine, l := range fits(t, other, class, 3, 0) {
			if !slices.Equal(l.W.Data, want[machine].W.Data) || !slices.Equal(l.B, want[machine].B) {
				t.Errorf("%s, %q: other weights than in memory", name, machine)
			}
		}
	}
}

func TestBlocksOfFeaturesReachTheSameOptimum(t *testing.T) {
	z, class := blobs(62, BlockRows+900, 12, 2)
	rows := matrix.Rows{Dense: z}
	blocks := struct{ Features }{anew(rows)} // Block is all there is
	for _, opt := range []SVM{{}, {Loss: "hinge"}, {Loss: "logistic"}, {CrammerSinger: true}} {
		opt.C = 0.001
		_, a, err := FitSVM(context.Background(), InMemory(rows), class, 2, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		_, b, err := FitSVM(context.Background(), blocks, class, 2, nil, opt)
		if err != nil || !a.Converged || !b.Converged {
			t.Fatalf("%+v, %+v, %v", a, b, err)
		}
		// Each is above the optimum by its gap at most.
		if far := math.Abs(a.Objective - b.Objective); far > (a.Gap+b.Gap)*a.Objective {
			t.Errorf("%s: objective %.8g in blocks (gap %.2g), %.8g at once (gap %.2g)", opt.Loss, b.Objective, b.Gap, a.Objective, a.Gap)
		}
	}
}

func TestDualFitsAreTheSameOnAnyThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	z, class := blobs(71, 4500, 9, 4)
	sets := map[string]Features{
		"memory":     InMemory(matrix.Rows{Dense: z}),
		"recomputed": anew(matrix.Rows{Dense: z}),
	}
	if testing.Short() {
		delete(sets, "memory") // which takes the same steps
	}
	for name, set := range sets {
		runtime.GOMAXPROCS(1)
		one := fits(t, set, class, 4, 0)
		runtime.GOMAXPROCS(2)
		for machine, l := range fits(t, set, class, 4, 0) {
			if !slices.Equal(l.W.Data, one[machine].W.Data) || !slices.Equal(l.B, one[machine].B) {
				t.Errorf("%s, %q: two threads give other weights than one", name, machine)
			}
		}
	}
}

func TestDualFitsOfHardData(t *testing.T) {
	s := random.New(81, "hard")
	draw := func(n, d int) *matrix.Dense {
		z := matrix.NewDense(n, d)
		for i := range z.Data {
			z.Data[i] = float32(s.Normal())
		}
		return z
	}
	same, zero, constant, twice := draw(30, 4), matrix.NewDense(30, 4), draw(30, 4), draw(30, 4)
	for i := range 30 {
		copy(same.Row(i), same.Row(0))
		constant.Row(i)[2] = 7
		copy(twice.Row(i), twice.Row(i/2))
	}
	for name, z := range map[string]*matrix.Dense{
		"all rows equal": same, "all zero": zero, "a constant column": constant, "rows twice": twice,
		"more columns than rows": draw(9, 40), "one row a class": draw(3, 5),
	} {
		class := make([]int, z.Rows)
		for i := range class {
			class[i] = i % 3
		}
		t.Run(name, func(t *testing.T) { fits(t, InMemory(matrix.Rows{Dense: z}), class, 3, 1e-2) })
	}
	// A huge C on rows that can be told apart, and on rows that cannot.
	for _, z := range []*matrix.Dense{draw(20, 40), draw(60, 2)} {
		class := make([]int, z.Rows)
		for i := range class {
			class[i] = i % 2
		}
		for _, loss := range []string{"squared_hinge", "hinge", "logistic"} {
			l, r, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{C: 1e8, Loss: loss, MaxIter: 500})
			if err != nil || math.IsNaN(r.Gap) || math.IsNaN(r.Objective) {
				t.Fatalf("huge C, %s: %+v, %v", loss, r, err)
			}
			for _, v := range l.W.Data {
				if math.IsNaN(float64(v)) {
					t.Fatalf("huge C, %s: weights %v", loss, l.W.Data)
				}
			}
		}
	}
}

func TestDualRefusesWhatIsNotANumber(t *testing.T) {
	z, class := blobs(91, 20, 3, 2)
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), 3e38} {
		spoiled := matrix.NewDense(20, 3)
		copy(spoiled.Data, z.Data)
		spoiled.Row(7)[1] = bad
		_, _, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: spoiled}), class, 2, nil, SVM{})
		if err == nil || !containsAll(err.Error(), "row 7", "finite") {
			t.Errorf("features with %g: %v", bad, err)
		}
	}
	rows := InMemory(matrix.Rows{Dense: z})
	y := make([]float64, 20)
	for name, try := range map[string]func() error{
		"a negative C": func() error { _, _, err := FitSVM(context.Background(), rows, class, 2, nil, SVM{C: -1}); return err },
		"a NaN weight": func() error {
			_, _, err := FitSVM(context.Background(), rows, class, 2, append(make([]float64, 19), math.NaN()), SVM{})
			return err
		},
		"a negative class": func() error {
			_, _, err := FitSVM(context.Background(), rows, class, 2, nil, SVM{ClassWeights: []float64{1, -1}})
			return err
		},
		"a squared CS": func() error {
			_, _, err := FitSVM(context.Background(), rows, class, 2, nil, SVM{CrammerSinger: true, Loss: "squared_hinge"})
			return err
		},
		"a negative tube": func() error { _, _, err := FitSVR(context.Background(), rows, y, 1, nil, SVR{Epsilon: -1}); return err },
		"a target of NaN": func() error {
			_, _, err := FitSVR(context.Background(), rows, append(make([]float64, 19), math.NaN()), 1, nil, SVR{})
			return err
		},
		"an unknown loss": func() error {
			_, _, err := FitSVR(context.Background(), rows, y, 1, nil, SVR{Loss: "hinge"})
			return err
		},
		"all outliers, and": func() error {
			_, _, err := FitOneClass(context.Background(), rows, nil, OneClass{Outliers: 1.5})
			return err
		},
	} {
		if try() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestPathIsThatOfSeparateFitsInFewerPasses(t *testing.T) {
	z, class := blobs(101, 300, 8, 3)
	cs := []float64{0.03, 0.1, 0.3, 0.1}
	warm, cold := 0, 0
	for _, opt := range []SVM{{}, {Loss: "hinge"}, {Loss: "logistic"}, {CrammerSinger: true}} {
		opt.Tolerance, opt.MaxIter = 1e-2, 20_000
		at := 0
		err := SVMPath(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, opt, cs, func(l *Linear, r *SVMReport) error {
			opt := opt
			opt.C = cs[at]
			alone, s, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, opt)
			if err != nil || !r.Converged || r.C != cs[at] {
				t.Fatalf("%+v, %v", r, err)
			}
			if math.Abs(r.Objective-s.Objective) > (r.Gap+s.Gap)*s.Objective {
				t.Errorf("%s, C = %g: objective %g on the path, %g alone", r.Loss, r.C, r.Objective, s.Objective)
			}
			for e, v := range alone.W.Data {
				if math.Abs(float64(v-l.W.Data[e])) > 0.02 {
					t.Errorf("%s, C = %g: weight %g on the path, %g alone", r.Loss, r.C, l.W.Data[e], v)
				}
			}
			if at > 0 {
				warm, cold = warm+r.Passes, cold+s.Passes
			}
			at++
			return nil
		})
		if err != nil || at != len(cs) {
			t.Fatalf("%d of %d, %v", at, len(cs), err)
		}
		t.Logf("up to %s, Crammer-Singer %t: %d passes, %d from nothing", opt.Loss, opt.CrammerSinger, warm, cold)
	}
	if warm >= cold {
		t.Errorf("%d passes on the paths, %d without them", warm, cold)
	}
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
