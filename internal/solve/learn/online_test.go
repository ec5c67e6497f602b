package learn

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

func TestOnlineLossesHaveTheirDerivatives(t *testing.T) {
	parameter := map[string]float64{"quantile": 0.8, "epsilon": 0.3, "huber": 0.7}
	for _, numbers := range []bool{false, true} {
		targets := []float64{-1, 1}
		if numbers {
			targets = []float64{-2.5, 0, 1.3}
		}
		for _, l := range lossesOf(numbers) {
			p := parameter[l.name]
			for _, y := range targets {
				for s := -4.013; s < 4; s += 0.25 { // never on a kink
					const h = 1e-5
					above, _ := l.of(s+h, y, p)
					below, _ := l.of(s-h, y, p)
					loss, slope := l.of(s, y, p)
					if want := (above - below) / (2 * h); math.Abs(slope-want) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("%s at s = %g, y = %g: slope %g, by differences %g", l.name, s, y, slope, want)
					}
					if loss < 0 {
						t.Errorf("%s at s = %g, y = %g: loss %g", l.name, s, y, loss)
					}
					if l.curve > 0 {
						if curve := (above + below - 2*loss) / (h * h); curve > l.curve+1e-3 {
							t.Errorf("%s at s = %g, y = %g: curvature %g above %g", l.name, s, y, curve, l.curve)
						}
					}
				}
			}
		}
	}
	// No overflow far out.
	for _, s := range []float64{-1e4, 1e4} {
		for _, y := range []float64{-1, 1} {
			if loss, slope := onlineLogistic(s, y, 0); math.Abs(loss-max(0, -y*s)) > 1e-9 || slope-slope != 0 {
				t.Errorf("logistic at %g for %g: %g, %g", s, y, loss, slope)
			}
		}
	}
}

// stream draws rows of which four values in five are 0, their ±1 or numeric targets for k
// outputs, and weights.
func stream(seed uint64, n, d, k int, numbers bool) (z *matrix.Dense, y, weights []float64) {
	s := random.New(seed, "stream")
	truth := make([]float64, d*k)
	for i := range truth {
		truth[i] = s.Normal()
	}
	z = matrix.NewDense(n, d)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			if s.Intn(5) == 0 {
				row[j] = float32(s.Normal())
			}
		}
		for t := range k {
			v := 0.3 + s.Normal()/2
			for j, x := range row {
				v += truth[t*d+j] * float64(x)
			}
			switch {
			case numbers:
				v = 40 + 7*v
			case v > 0:
				v = 1
			default:
				v = -1
			}
			y = append(y, v)
		}
		weights = append(weights, float64(s.Intn(3)))
	}
	return z, y, weights
}

// plainOnline learns by the formulas of [Online] as they stand, in float64 and for one output.
func plainOnline(cfg Online, z *matrix.Dense, y, weights []float64, shift, scale float64) (w []float64, b float64) {
	l, _ := lossNamed(cfg.Loss, cfg.Numbers)
	p := cfg.Quantile + cfg.Epsilon + cfg.Huber
	if l.inUnits {
		p /= scale
	}
	d := z.Cols
	w = make([]float64, d+1) // the intercept last
	average, sum, h := make([]float64, d+1), make([]float64, d+1), make([]float64, d+1)
	rate := min(cfg.Rate, 0.5/cfg.Lambda)
	rows := 0.0
	for i := range z.Rows {
		if weights[i] == 0 {
			continue
		}
		x := make([]float64, d+1)
		x[d] = 1
		for j, v := range z.Row(i) {
			x[j] = float64(v)
		}
		if cfg.Optimizer == "adagrad" {
			for j := range w {
				w[j] = 0
				if h[j] > 0 {
					decay := cfg.Lambda * rows
					if j == d {
						decay = 0
					}
					w[j] = -sum[j] / (h[j]/cfg.Rate + decay)
				}
			}
		}
		s, norm := 0.0, 0.0
		for j, v := range x {
			s += v * w[j]
			norm += v * v
		}
		_, slope := l.of(s, (y[i]-shift)/scale, p)
		if cfg.Optimizer == "adagrad" {
			for j, v := range x {
				g := weights[i] * slope * v
				next := math.Sqrt(h[j]*h[j] + g*g)
				sum[j] += g - w[j]*(next-h[j])/cfg.Rate
				h[j] = next
			}
			rows++
			continue
		}
		eta := rate / (1 + rate*cfg.Lambda*rows)
		if cfg.AverageFrom >= 0 {
			eta = rate / math.Pow(1+rate*cfg.Lambda*rows, 0.75)
			if l.corner {
				eta = min(eta, rate/math.Sqrt(1+rows/1000))
			}
		}
		if l.curve > 0 {
			eta = min(eta, 1/(l.curve*norm*weights[i]))
		}
		mu := 4 / (rows + 4)
		if from := float64(cfg.AverageFrom); from > 0 {
			mu = 1 / max(1, rows-from+1)
		} else if from < 0 {
			mu = 1
		}
		for j, v := range x {
			if j < d {
				w[j] *= 1 - eta*cfg.Lambda
			}
			w[j] -= eta * weights[i] * slope * v
			average[j] = (1-mu)*average[j] + mu*w[j]
		}
		rows++
	}
	if cfg.Optimizer == "adagrad" {
		for j := range w {
			average[j] = 0
			if h[j] > 0 {
				decay := cfg.Lambda * rows
				if j == d {
					decay = 0
				}
				average[j] = -sum[j] / (h[j]/cfg.Rate + decay)
			}
		}
	}
	for j := range d {
		average[j] *= scale
	}
	return average[:d], average[d]*scale + shift
}

// learned is the model after a stream.
func learned(t *testing.T, f *OnlineFit) *Linear {
	t.Helper()
	l, err := f.Linear()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOnlineFollowsItsFormulasDenseAndSparse(t *testing.T) {
	for _, numbers := range []bool{false, true} {
		z, y, weights := stream(3, 3000, 12, 1, numbers)
		for _, l := range lossesOf(numbers) {
			for _, cfg := range []Online{
				{Lambda: 1e-3},
				{Lambda: 0.05, AverageFrom: 500},
				{Lambda: 2, AverageFrom: -1}, // s falls far below 1
				{Lambda: 2, AverageFrom: 700},
				{Lambda: 2, Rate: 0.5},
				{Lambda: 1e-3, Optimizer: "adagrad"},
				{Lambda: 0.5, Optimizer: "adagrad"},
			} {
				cfg.Numbers, cfg.Loss = numbers, l.name
				f, err := NewOnline(cfg, z.Cols, 1)
				if err != nil {
					t.Fatal(err)
				}
				sparse, _ := NewOnline(cfg, z.Cols, 1)
				rows := matrix.Rows{Dense: z}
				for _, f := range []*OnlineFit{f, sparse} {
					if err := f.Begin(rows.Slice(0, 400), y[:400], weights[:400]); err != nil {
						t.Fatal(err)
					}
				}
				f.Learn(rows, y, weights)
				sparse.Learn(matrix.Rows{CSR: toCSR(z)}, y, weights)
				w, b := plainOnline(f.cfg, z, y, weights, f.Shift[0], f.Scale[0])
				size := 0.0
				for _, v := range w {
					size = max(size, math.Abs(v))
				}
				for name, l := range map[string]*Linear{"dense": learned(t, f), "sparse": learned(t, sparse)} {
					for j, v := range w {
						if got := float64(l.W.Data[j]); math.Abs(got-v) > 1e-4*size {
							t.Fatalf("%+v, %s: weight %d is %g, by the formulas %g", f.cfg, name, j, got, v)
						}
					}
					if math.Abs(l.B[0]-b) > 1e-4*(size+math.Abs(b)) {
						t.Errorf("%+v, %s: intercept %g, by the formulas %g", f.cfg, name, l.B[0], b)
					}
				}
			}
		}
	}
}

func TestAdagradWithoutRegulariserTakesAdagradSteps(t *testing.T) {
	z, y, _ := stream(4, 2000, 10, 1, false)
	f, _ := NewOnline(Online{Optimizer: "adagrad", Rate: 0.3}, z.Cols, 1)
	f.Learn(matrix.Rows{Dense: z}, y, nil)
	w, h := make([]float64, 11), make([]float64, 11)
	for i := range z.Rows {
		s := w[10]
		for j, v := range z.Row(i) {
			s += w[j] * float64(v)
		}
		_, slope := onlineLogistic(s, y[i], 0)
		for j := range w {
			g := slope
			if j < 10 {
				g *= float64(z.Row(i)[j])
			}
			if g != 0 {
				h[j] += g * g
				w[j] -= 0.3 * g / math.Sqrt(h[j])
			}
		}
	}
	l := learned(t, f)
	for j, v := range l.W.Data {
		if math.Abs(float64(v)-w[j]) > 1e-6*(1+math.Abs(w[j])) {
			t.Errorf("weight %d is %g, by AdaGrad's step %g", j, v, w[j])
		}
	}
}

// objective is λ/2‖w‖² + mean loss of one output, and its gradient by w and then b.
func (l onlineLoss) objective(lambda float64, z *matrix.Dense, y, w []float64, p float64) (value float64, grad []float64) {
	d := z.Cols
	grad = make([]float64, d+1)
	for j := range d {
		value += lambda / 2 * w[j] * w[j]
		grad[j] = lambda * w[j]
	}
	for i := range z.Rows {
		s := w[d]
		for j, v := range z.Row(i) {
			s += w[j] * float64(v)
		}
		loss, slope := l.of(s, y[i], p)
		value += loss / float64(z.Rows)
		for j, v := range z.Row(i) {
			grad[j] += slope * float64(v) / float64(z.Rows)
		}
		grad[d] += slope / float64(z.Rows)
	}
	return value, grad
}

// batchOptimum minimises the objective by gradient steps, for a loss with a derivative.
func (l onlineLoss) batchOptimum(t *testing.T, lambda float64, z *matrix.Dense, y []float64) (w []float64, value float64) {
	w = make([]float64, z.Cols+1)
	for range 500 {
		value, grad := l.objective(lambda, z, y, w, 0)
		norm := 0.0
		for j, g := range grad {
			w[j] -= 3 * g
			norm += g * g
		}
		if norm < 1e-16 {
			return w, value
		}
	}
	t.Fatal("no optimum")
	return nil, 0
}

// TestDescentKeepsItsRegretBound compares what is paid on the way, f_t(w_t) = λ/2‖w_t‖² + ℓ_t(w_t),
// with what the best weights in hindsight pay. For convex losses with gradients g_t,
//
//	Σ (f_t(w_t) - f_t(w*)) ≤ ‖w_0-w*‖²/(2η_0) + Σ ‖w_t-w*‖²/2·(1/η_t - 1/η_{t-1}) + Σ η_t‖g_t‖²/2
//
// (Zinkevich 2003), where λ may be taken off the bracket for all but the intercept.
func TestDescentKeepsItsRegretBound(t *testing.T) {
	const n, d = 2000, 8
	for _, average := range []int64{0, -1} {
		z, y, _ := stream(5, n, d, 1, false)
		loss := classLosses[0]
		cfg := Online{Lambda: 0.01, Rate: 0.5, AverageFrom: average}
		best, optimum := loss.batchOptimum(t, cfg.Lambda, z, y)
		f, _ := NewOnline(cfg, d, 1)
		paid, bound, eta := 0.0, 0.0, 0.0
		for i := range n {
			x, w := f.Factors, make([]float64, d+1)
			for j := range d {
				w[j] = x[0] * float64(f.First32[j])
			}
			w[d] = x[3]
			row := z.Slice(i, i+1)
			value, grad := loss.objective(cfg.Lambda, row, y[i:i+1], w, 0)
			f.Learn(matrix.Rows{Dense: row}, y[i:i+1], nil)
			grow := 1 / f.eta[0]
			if i > 0 {
				grow -= 1 / eta
			}
			eta = f.eta[0]
			paid += value
			for j, g := range grad {
				free := grow
				if j < d && i > 0 {
					free -= cfg.Lambda
				}
				bound += eta*g*g/2 + (w[j]-best[j])*(w[j]-best[j])/2*free
			}
		}
		regret := paid - n*optimum
		if regret > bound {
			t.Errorf("average %d: regret %.4g above its bound %.4g", average, regret, bound)
		}
		if regret < 0 || bound > 0.5*n*optimum {
			t.Errorf("average %d: regret %.4g, bound %.4g: no test for a loss of %.4g", average, regret, bound, n*optimum)
		}
		// What was paid without the regulariser is what progressive validation reports.
		if p := f.Progress(); p.Rows != n || p.Loss > paid/n || p.Loss < 0.5*paid/n {
			t.Errorf("progressive loss %+v, paid %g", p, paid/n)
		}
	}
}

// TestAveragedWeightsComeNearTheBatchOptimum: by Jensen's inequality the mean over draws of the
// objective at uniformly averaged weights is above the optimum by no more than the mean regret a
// row, if rows are drawn with replacement. The bound of the regret is about (G²/2)·Ση_t.
func TestAveragedWeightsComeNearTheBatchOptimum(t *testing.T) {
	const n, d, draws, passes = 500, 8, 12, 20
	z, y, _ := stream(6, n, d, 1, false)
	loss := classLosses[0]
	const lambda, rate = 0.01, 0.5
	best, optimum := loss.batchOptimum(t, lambda, z, y)
	square := 0.0 // ‖z‖² + 1, which bounds ‖∇ℓ‖²
	for i := range n {
		s := 1.0
		for _, v := range z.Row(i) {
			s += float64(v) * float64(v)
		}
		square = max(square, s)
	}
	excess, last := 0.0, 0.0
	for seed := range uint64(draws) {
		f, _ := NewOnline(Online{Lambda: lambda, Rate: rate, AverageFrom: 1}, d, 1)
		s := random.New(seed, "with-replacement")
		for range passes * n {
			i := s.Intn(n)
			f.Learn(matrix.Rows{Dense: z.Slice(i, i+1)}, y[i:i+1], nil)
		}
		weight, b := f.weights(0)
		w, now := make([]float64, d+1), make([]float64, d+1)
		for j := range d {
			w[j], now[j] = weight(j), f.Factors[0]*float64(f.First32[j])
		}
		w[d], now[d] = b, f.Factors[3]
		value, _ := loss.objective(lambda, z, y, w, 0)
		excess += (value - optimum) / draws
		value, _ = loss.objective(lambda, z, y, now, 0)
		last += (value - optimum) / draws
	}
	sum, rates := 0.0, 0.0
	for i := range passes * n {
		rates = rate / math.Pow(1+rate*lambda*float64(i), 0.75)
		sum += rates
	}
	norm := 0.0
	for _, v := range best {
		norm += v * v
	}
	// Iterates stay within twice ‖w*‖ of 0, and thus within three times of w*.
	g := math.Sqrt(square) + 2*lambda*math.Sqrt(norm)
	bound := (9*norm/(2*rates) + g*g/2*sum) / (passes * n)
	if excess < -1e-9 || excess > bound {
		t.Errorf("objective %.3g above the optimum, bound %.3g", excess, bound)
	}
	if excess > last/5 {
		t.Errorf("averaged weights are %.3g above the optimum, the last ones %.3g: averaging should gain much", excess, last)
	}
	if excess > 0.002*optimum {
		t.Errorf("objective %.3g above the optimum %.3g after %d passes", excess, optimum, passes)
	}
}

func TestQuantileLossGivesTheQuantile(t *testing.T) {
	const n, d = 20000, 4
	s := random.New(8, "quantile")
	draw := func() (*matrix.Dense, []float64) {
		z, y := matrix.NewDense(n, d), make([]float64, n)
		for i := range n {
			y[i] = 1000 - 100*math.Log(1-s.Uniform()) // skewed
			for j := range d {
				z.Row(i)[j] = float32(s.Normal())
				y[i] += 50 * float64(j) * float64(z.Row(i)[j])
			}
		}
		return z, y
	}
	z, y := draw()
	test, truth := draw()
	for _, q := range []float64{0.1, 0.5, 0.9} {
		for _, optimizer := range []string{"sgd", "adagrad"} {
			f, err := NewOnline(Online{Numbers: true, Loss: "quantile", Quantile: q, Optimizer: optimizer}, d, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Begin(matrix.Rows{Dense: z}.Slice(0, 1000), y[:1000], nil); err != nil {
				t.Fatal(err)
			}
			passes := 2
			if optimizer == "adagrad" {
				passes = 8 // its last weights are not averaged, and their steps have to become small
			}
			for range passes {
				f.Learn(matrix.Rows{Dense: z}, y, nil)
			}
			scores := matrix.NewDense(n, 1)
			learned(t, f).Scores(scores, matrix.Rows{Dense: test})
			below := 0.0
			for i, v := range truth {
				if v <= float64(scores.Data[i]) {
					below++
				}
			}
			// The share below is binomial, on training and on test rows; the d+1 weights
			// may move (d+1)/n of them.
			sigma := math.Sqrt(2*q*(1-q)/n) + (d+1)/float64(n)
			if share := below / n; math.Abs(share-q) > 4*sigma {
				t.Errorf("quantile %g by %s: %.4f of the targets are below, 4σ = %.4f", q, optimizer, share, 4*sigma)
			}
		}
	}
}

func TestOnlineGoesOnWithTheSameBits(t *testing.T) {
	for _, optimizer := range []string{"sgd", "adagrad"} {
		for _, sparse := range []bool{false, true} {
			const n, d, k = 1500, 700, 5
			dense, y, weights := stream(9, n, d, k, false)
			z := matrix.Rows{Dense: dense}
			if sparse {
				z = matrix.Rows{CSR: toCSR(dense)}
			}
			cfg := Online{Optimizer: optimizer, Loss: "hinge", Lambda: 1e-3}
			run := func(threads int, cuts ...int) *OnlineFit {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				f, err := NewOnline(cfg, d, k)
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Begin(z.Slice(0, 300), y[:300*k], weights[:300]); err != nil {
					t.Fatal(err)
				}
				from := 0
				for _, to := range append(cuts, n) {
					f.Learn(z.Slice(from, to), y[from*k:to*k], weights[from:to])
					if f, err = ContinueOnline(f.Config(), d, k, f.OnlineState); err != nil {
						t.Fatal(err)
					}
					from = to
				}
				return f
			}
			whole := run(1)
			for _, other := range []*OnlineFit{run(2), run(2, 1, 8, 400), run(1, 1499)} {
				a, b := whole.OnlineState, other.OnlineState
				if !slices.Equal(a.First, b.First) || !slices.Equal(a.First32, b.First32) || !slices.Equal(a.Second, b.Second) ||
					!slices.Equal(a.Factors, b.Factors) || !slices.Equal(a.Losses, b.Losses) || a.Wrong != b.Wrong || a.Rows != b.Rows {
					t.Errorf("%s, sparse %v: the state depends on cuts or threads", optimizer, sparse)
				}
			}
			if whole.Wrong == 0 || whole.Weight == float64(whole.Rows) {
				t.Error("no test: no error, or no weights")
			}
		}
	}
}

func TestBeginChoosesARateThatIsBestOnTheSample(t *testing.T) {
	for _, optimizer := range []string{"sgd", "adagrad"} {
		z, y, _ := stream(11, 1000, 20, 2, true)
		rows := matrix.Rows{Dense: z}
		loss := func(rate float64) float64 {
			f, _ := NewOnline(Online{Numbers: true, Optimizer: optimizer, Rate: rate, Lambda: 1e-4}, 20, 2)
			if err := f.Begin(rows, y, nil); err != nil {
				t.Fatal(err)
			}
			f.Learn(rows, y, nil)
			return f.Progress().Loss
		}
		f, _ := NewOnline(Online{Numbers: true, Optimizer: optimizer, Lambda: 1e-4}, 20, 2)
		if err := f.Begin(rows, y, nil); err != nil {
			t.Fatal(err)
		}
		best := f.Config().Rate
		if f.Rows != 0 || f.Progress().Loss != 0 {
			t.Error("Begin has learned")
		}
		for _, factor := range []float64{0.5, 2} {
			if loss(best*factor) < loss(best)*(1-1e-3) {
				t.Errorf("%s: the rate %g has loss %g, %g times it %g", optimizer, best, loss(best), factor, loss(best*factor))
			}
		}
	}
}

func TestOnlineTakesOddStreams(t *testing.T) {
	z, y, _ := stream(12, 100, 3, 1, true)
	for i := range y {
		y[i] = 5 // constant targets
	}
	f, _ := NewOnline(Online{Numbers: true, Lambda: 1e-5}, 3, 1)
	if err := f.Begin(matrix.Rows{Dense: z}, y, nil); err != nil {
		t.Fatal(err)
	}
	f.Learn(matrix.Rows{Dense: z}, y, nil)
	if l := learned(t, f); math.Abs(l.B[0]-5) > 1e-6 || math.Abs(float64(l.W.Data[0])) > 1e-6 {
		t.Errorf("constant targets of 5: %+v", l)
	}

	// Rows of weight 0 leave no trace, and rows of zeros only move the intercept.
	f, _ = NewOnline(Online{Rate: 0.1}, 3, 1)
	zero := matrix.NewDense(4, 3)
	f.Learn(matrix.Rows{Dense: zero}, []float64{1, 1, 1, -1}, []float64{0, 1, 1, 0})
	if l := learned(t, f); f.Rows != 2 || f.Weight != 2 || l.W.Data[0] != 0 || l.B[0] <= 0 {
		t.Errorf("%+v, %+v", f.OnlineState, l)
	}

	// No rows at all.
	f, _ = NewOnline(Online{}, 3, 1)
	if err := f.Begin(matrix.Rows{Dense: matrix.NewDense(0, 3)}, nil, nil); err != nil {
		t.Error(err)
	}
	if p := f.Progress(); p.Loss != 0 || p.Rows != 0 {
		t.Errorf("%+v", p)
	}

	// A rate far too high is bounded for the squared loss, whose steps would explode.
	z, y, _ = stream(13, 2000, 6, 1, true)
	f, _ = NewOnline(Online{Numbers: true, Rate: 1e6}, 6, 1)
	if err := f.Begin(matrix.Rows{Dense: z}, y, nil); err != nil {
		t.Fatal(err)
	}
	f.Learn(matrix.Rows{Dense: z}, y, nil)
	learned(t, f)

	for _, cfg := range []Online{
		{Loss: "quantile"}, {Numbers: true, Loss: "hinge"}, {Optimizer: "adam"}, {Lambda: math.NaN()}, {Rate: -1},
		{Numbers: true, Loss: "quantile", Quantile: 1}, {Quantile: 0.5}, {Epsilon: 1}, {Huber: 1}, {AverageFrom: 1, Optimizer: "adagrad"},
		{Numbers: true, Loss: "huber", Huber: math.Inf(1)}, {Numbers: true, Loss: "epsilon", Epsilon: -1},
	} {
		if _, err := NewOnline(cfg, 3, 1); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}
