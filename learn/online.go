package learn

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/option"
	"mercer/internal/vec"
	"mercer/matrix"
)

// Online says how to learn from a stream of rows, one after the other: for each output apart
// (one class against all, one label, one number)
//
//	min over w, b of λ/2‖w‖² + mean over the rows of cᵢ·ℓ(w·zᵢ + b, yᵢ),
//
// cᵢ being the row's weight. Before a row is learned it is predicted: the mean of these losses
// is an honest estimate, for no row was seen before (progressive validation).
//
// Losses of classes, y = ±1: logistic, hinge, squared_hinge max(0, 1-ys)², squared (s-y)²/2. Of
// numbers: squared; epsilon, max(0, |s-y|-ε); quantile, q·(y-s) above and (1-q)·(s-y) below;
// huber, quadratic up to a distance δ and linear beyond.
//
// sgd, stochastic gradient descent with averaging (Bottou 2010; Xu 2011), at row t = 0, 1, …:
//
//	w ← (1 - η_t·λ)·w - η_t·ℓ'·z,   b ← b - η_t·ℓ',   w̄ ← (1 - μ)·w̄ + μ·w.
//
// Without averaging η_t = η₀/(1 + η₀λt), that is 1/(λ(t+t₀)) with t₀ = 1/(λη₀). With it rates
// fall slower, as (1 + η₀λt)^(-3/4) (Xu 2011): for a smooth loss even a constant rate would do
// (Bach and Moulines 2013). For a loss with a corner they fall at least as (1 + t/1000)^(-1/2)
// (Nemirovski et al. 2009): η₀ is right for a thousand rows, and for N rows one √(N/1000) times
// smaller. For a loss of curvature κ, η_t is at most 1/(κ·c·(‖z‖²+1)), which takes the row to
// where its own loss is least. μ is 4/(t+4), so that early weights are soon forgotten (polynomial decay,
// Shamir and Zhang 2013), or with AverageFrom = a 1 up to row a and the plain mean from there on
// (Ruppert 1988; Polyak and Juditsky 1992). Both w = s·v and w̄ = τ·u + σ·v are kept in factors,
// so that a sparse row costs its own values and no more (Xu 2011, section 4; here for any μ).
//
// adagrad has a rate for each coordinate (Duchi, Hazan and Singer 2011), in the form that follows
// the regularised leader (McMahan 2011): with gⱼ = c·ℓ'·zⱼ and hⱼ = √Σgⱼ²,
//
//	wⱼ = -aⱼ/(hⱼ/η₀ + λ·t),   aⱼ ← aⱼ + gⱼ - wⱼ·(hⱼ' - hⱼ)/η₀.
//
// For λ = 0 these are the steps wⱼ ← wⱼ - η₀·gⱼ/hⱼ'; for λ > 0 the regulariser counts exactly
// and still only a row's own values change. Its weights are not averaged.
//
// η₀ is the best for a first sample of the rows (see [OnlineFit.Begin]): of powers of two of a
// start, the one with the least progressive loss (Bottou's calibration, by an honest loss).
//
// The result does not depend on threads, which divide the outputs, nor on how the rows are cut
// into calls. Memory: 12·D·K bytes for sgd and 16·D·K for adagrad.
type Online struct {
	// Numbers says that targets are numbers to predict, else they are ±1.
	Numbers bool `json:"numbers,omitempty"`

	// Labels says that a row may have any number of the outputs, of which else it has one.
	Labels bool `json:"labels,omitempty"`

	// Optimizer is "sgd" (or "") or "adagrad".
	Optimizer string `json:"optimizer"`

	// Loss is one of OnlineLosses, "" meaning the first.
	Loss string `json:"loss"`

	// Lambda is λ; 0 means no regulariser. Targets that are numbers count in units of their
	// deviation in the first sample.
	Lambda float64 `json:"lambda"`

	// Rate is η₀; 0 means that Begin chooses it.
	Rate float64 `json:"rate"`

	// AverageFrom is how many rows pass before weights are averaged, each as much as the
	// other; 0 means averages that forget, a negative number none.
	AverageFrom int64 `json:"average_from,omitempty"`

	// Quantile is q in (0, 1); 0 means ½.
	Quantile float64 `json:"quantile,omitempty"`

	// Epsilon is ε ≥ 0 of the epsilon loss, Huber is δ > 0; 0 means a deviation of the
	// targets in the first sample. Both are in units of the targets.
	Epsilon float64 `json:"epsilon,omitempty"`
	Huber   float64 `json:"huber,omitempty"`
}

// WithDefaults fills in what zero values stand for and checks the rest.
func (c Online) WithDefaults() (Online, error) {
	l, err := lossNamed(c.Loss, c.Numbers)
	if err != nil {
		return c, err
	}
	c.Loss = l.name
	if c.Optimizer == "" {
		c.Optimizer = "sgd"
	}
	if c.Quantile == 0 && c.Loss == "quantile" {
		c.Quantile = 0.5
	}
	finite := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
	switch {
	case c.Optimizer != "sgd" && c.Optimizer != "adagrad":
		return c, fmt.Errorf("optimizer %q is not known; known are sgd, adagrad", c.Optimizer)
	case !finite(c.Lambda):
		return c, fmt.Errorf("lambda %g is not a number of 0 or more", c.Lambda)
	case !finite(c.Rate):
		return c, fmt.Errorf("rate %g is not a positive number", c.Rate)
	case c.AverageFrom != 0 && c.Optimizer == "adagrad":
		return c, fmt.Errorf("adagrad does not average its weights; leave out average_from, or use the optimizer sgd")
	case c.Quantile != 0 && c.Loss != "quantile":
		return c, fmt.Errorf("a quantile belongs to the loss quantile, not to %s", c.Loss)
	case c.Quantile != 0 && !(c.Quantile > 0 && c.Quantile < 1):
		return c, fmt.Errorf("quantile %g is not between 0 and 1", c.Quantile)
	case c.Epsilon != 0 && c.Loss != "epsilon":
		return c, fmt.Errorf("epsilon belongs to the loss epsilon, not to %s", c.Loss)
	case !finite(c.Epsilon):
		return c, fmt.Errorf("epsilon %g is not a number of 0 or more", c.Epsilon)
	case c.Huber != 0 && c.Loss != "huber":
		return c, fmt.Errorf("huber belongs to the loss huber, not to %s", c.Loss)
	case !finite(c.Huber):
		return c, fmt.Errorf("huber %g is not a positive number", c.Huber)
	}
	return c, nil
}

// OnlineReport says how a stream was learned.
type OnlineReport struct {
	Online

	// Epochs is the number of passes.
	Epochs int `json:"epochs"`

	// Progressive has the state after 1, 2, 4, … rows and at the end.
	Progressive []OnlinePoint `json:"progressive"`
}

// OnlinePoint is what progressive validation tells of the first rows of a stream.
type OnlinePoint struct {
	// Rows counts them; those of weight 0 do not count.
	Rows int64 `json:"rows"`

	// Loss is the mean of the rows' losses, summed over the outputs and without the
	// regulariser, of weights that had not seen them.
	Loss float64 `json:"loss"`

	// Error is the share of them that was predicted wrongly, nil for numbers.
	Error *float64 `json:"error,omitempty"`
}

// Lines tell a person how it went.
func (r *OnlineReport) Lines() []string {
	what := r.Loss
	switch r.Loss {
	case "quantile":
		what += fmt.Sprintf(" %g", r.Quantile)
	case "epsilon":
		what += fmt.Sprintf(" %.6g", r.Epsilon)
	case "huber":
		what += fmt.Sprintf(" %.6g", r.Huber)
	}
	passes := ""
	if r.Epochs > 1 {
		passes = fmt.Sprintf(", %d passes", r.Epochs)
	}
	lines := []string{fmt.Sprintf("%s by %s, λ = %.3g, rate %.3g%s", what, r.Optimizer, r.Lambda, r.Rate, passes)}
	if n := len(r.Progressive); n > 0 {
		lines = append(lines, "before learning: "+r.Progressive[n-1].String())
	}
	return lines
}

func (p OnlinePoint) String() string {
	text := fmt.Sprintf("loss %.4g", p.Loss)
	if p.Error != nil {
		text = fmt.Sprintf("error %.2f %%, ", 100**p.Error) + text
	}
	return text + fmt.Sprintf(" after %d rows", p.Rows)
}

// OnlineState is all that a learner knows, to go on from.
type OnlineState struct {
	// Rows counts the rows of the stream so far, Weight adds up their weights and Losses, of
	// each output, their losses. Wrong adds up the weights of those predicted wrongly.
	Rows   int64     `json:"rows"`
	Weight float64   `json:"weight"`
	Wrong  float64   `json:"wrong"`
	Losses []float64 `json:"-"`

	// Shift and Scale are the mean and the deviation of each output's targets in the first
	// sample, by which targets are standardised; 0 and 1 for classes.
	Shift, Scale []float64 `json:"-"`

	// Factors are, of each output, s, τ, σ, b and b̄ (sgd) or a and h of the intercept.
	Factors []float64 `json:"-"`

	// First and Second are K×D: v and u (sgd) or a and h (adagrad).
	First32       []float32 `json:"-"` // v
	First, Second []float64 `json:"-"` // a of adagrad; u or h
}

// OnlineFactors is how many factors an output has in OnlineState.
const OnlineFactors = 5

// OnlineFit is a learner at work. It is not safe for concurrent use.
type OnlineFit struct {
	cfg  Online
	loss onlineLoss
	d, k int
	OnlineState

	// Of the rows of one call: rate and μ of sgd, λt of adagrad, ‖z‖²+1 of a loss with
	// curvature, target and score of each output.
	eta, mu, decay, norm []float64
	targets, scores      []float64

	work [][]float64 // by the first output of a thread's range
}

// NewOnline returns a learner that has seen nothing, of k outputs on d features.
func NewOnline(cfg Online, d, k int) (*OnlineFit, error) {
	if d < 1 || k < 1 {
		panic(fmt.Sprintf("learn: NewOnline of %d features and %d outputs: both must be positive", d, k))
	}
	cfg, err := cfg.WithDefaults()
	if err != nil {
		return nil, err
	}
	f := &OnlineFit{cfg: cfg, d: d, k: k, work: make([][]float64, k)}
	f.loss, _ = lossNamed(cfg.Loss, cfg.Numbers)
	s := &f.OnlineState
	s.Losses, s.Shift, s.Scale = make([]float64, k), make([]float64, k), make([]float64, k)
	for t := range s.Scale {
		s.Scale[t] = 1
	}
	f.clear()
	return f, nil
}

// sampleRows is how many rows η₀ is meant for.
const sampleRows = 1000

// clear forgets all rows.
func (f *OnlineFit) clear() {
	s := &f.OnlineState
	s.Rows, s.Weight, s.Wrong = 0, 0, 0
	clear(s.Losses)
	s.Factors, s.Second = make([]float64, OnlineFactors*f.k), make([]float64, f.k*f.d)
	s.First, s.First32 = nil, nil
	if f.cfg.Optimizer == "adagrad" {
		s.First = make([]float64, f.k*f.d)
		return
	}
	s.First32 = make([]float32, f.k*f.d)
	for t := range f.k {
		s.Factors[OnlineFactors*t], s.Factors[OnlineFactors*t+1], s.Factors[OnlineFactors*t+2] = 1, 1, 1 // s, τ, σ
	}
}

// ContinueOnline returns a learner that goes on from a state, which becomes its own.
func ContinueOnline(cfg Online, d, k int, state OnlineState) (*OnlineFit, error) {
	f, err := NewOnline(cfg, d, k)
	if err != nil {
		return nil, err
	}
	want := f.OnlineState
	for _, c := range []struct {
		name      string
		have, all int
	}{
		{"losses", len(state.Losses), k}, {"shifts", len(state.Shift), k}, {"scales", len(state.Scale), k},
		{"factors", len(state.Factors), len(want.Factors)},
		{"first", len(state.First) + len(state.First32), k * d}, {"second", len(state.Second), k * d},
	} {
		if c.have != c.all {
			return nil, fmt.Errorf("the learner's state has %d %s; expected %d", c.have, c.name, c.all)
		}
	}
	if (state.First == nil) != (want.First == nil) {
		return nil, fmt.Errorf("the learner's state is not that of %s", cfg.Optimizer)
	}
	if f.cfg.Rate == 0 {
		return nil, fmt.Errorf("the learner's state has no rate")
	}
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	if state.Rows < 0 || !(state.Weight >= 0) || !all(state.Scale, positive) || slices.ContainsFunc(state.First32, func(v float32) bool { return v-v != 0 }) {
		return nil, fmt.Errorf("the learner's state holds a number that cannot be")
	}
	for t := range k {
		if x := state.Factors[OnlineFactors*t:]; f.cfg.Optimizer == "sgd" && !all(x[:2], positive) {
			return nil, fmt.Errorf("the learner's state holds a factor that cannot be")
		}
	}
	for _, list := range [][]float64{state.Losses, state.Shift, state.Scale, state.Factors, state.First, state.Second} {
		if slices.ContainsFunc(list, func(v float64) bool { return v-v != 0 }) {
			return nil, fmt.Errorf("the learner's state holds a number that is not finite")
		}
	}
	f.OnlineState = state
	return f, nil
}

// Config is how the learner learns, with what Begin chose.
func (f *OnlineFit) Config() Online { return f.cfg }

// Begin chooses what was left open by a first sample of the rows: how targets that are numbers
// are standardised, ε and δ, and the rate η₀. It learns nothing else: the rows are to be learned
// as all others. 1,000 rows are plenty. y is n×K; weights may be nil.
func (f *OnlineFit) Begin(z matrix.Rows, y, weights []float64) error {
	f.checkShapes(z, y, weights)
	n := z.Len()
	if n == 0 {
		return nil
	}
	if f.cfg.Numbers {
		spread := 0.0
		for t := range f.k {
			f.Shift[t], f.Scale[t] = meanDeviation(y[t:], f.k, n)
			spread += f.Scale[t] / float64(f.k)
		}
		if f.cfg.Loss == "huber" && f.cfg.Huber == 0 {
			f.cfg.Huber = spread
		}
	}
	if f.cfg.Rate > 0 {
		return nil
	}
	size := 0.0
	for i := range n {
		_, val := rowOf(z, i)
		for _, v := range val {
			if f.cfg.Optimizer == "adagrad" {
				size += math.Abs(float64(v))
			} else {
				size += float64(float64(v) * float64(v))
			}
		}
	}
	start := 1 / (size/float64(n) + 1)
	try := func(rate float64) float64 {
		f.cfg.Rate = rate
		f.clear()
		f.Learn(z, y, weights)
		total := 0.0
		for t, l := range f.Losses {
			total += l / f.unit(t) // in standardised units, so that no output drowns the others
		}
		return total
	}
	best, least := start, try(start)
	for _, step := range []float64{2, 0.5} {
		for rate, tries := start*step, 0; tries < 20; rate, tries = rate*step, tries+1 {
			loss := try(rate)
			if !(loss < least) && least-least == 0 {
				break
			}
			best, least = rate, loss
		}
		if best != start {
			break
		}
	}
	f.cfg.Rate = best
	f.clear()
	if least-least != 0 {
		return option.Errorf("the losses are not finite at any rate; scale the inputs (%s)", option.Set("scale", "standard"))
	}
	return nil
}

// meanDeviation are those of y[0], y[stride], …; a deviation of 0 counts as 1.
func meanDeviation(y []float64, stride, n int) (mean, deviation float64) {
	for i := range n {
		mean += y[i*stride] / float64(n)
	}
	for i := range n {
		d := y[i*stride] - mean
		deviation += d * d / float64(n)
	}
	if deviation = math.Sqrt(deviation); !(deviation > 0) {
		deviation = 1
	}
	return mean, deviation
}

// unit is a loss of 1 in standardised units, in those of the targets.
func (f *OnlineFit) unit(t int) float64 {
	switch f.loss.degree {
	case 1:
		return f.Scale[t]
	case 2:
		return f.Scale[t] * f.Scale[t]
	}
	return 1
}

func (f *OnlineFit) checkShapes(z matrix.Rows, y, weights []float64) {
	if n := z.Len(); z.Dim() != f.d || len(y) != n*f.k || weights != nil && len(weights) != n {
		panic(fmt.Sprintf("learn: an online learner of %d features and %d outputs got %d×%d rows, %d targets and %d weights", f.d, f.k, n, z.Dim(), len(y), len(weights)))
	}
}

// rowOf is a row of dense (idx nil) or sparse rows.
func rowOf(z matrix.Rows, i int) (idx []int32, val []float32) {
	if z.CSR != nil {
		return z.CSR.Row(i)
	}
	return nil, z.Dense.Row(i)
}

// onlineBlock is how many values of rows go through all outputs at a time: 1 MB.
const onlineBlock = 1 << 18

// Learn predicts each of the rows z and learns from it before the next. y holds the targets,
// n×K, ±1 or numbers, and weights may be nil; rows of weight 0 are predicted only. The result
// has the score of each row and output from before it was learned, n×K in units of the
// targets, and is valid until the next call.
func (f *OnlineFit) Learn(z matrix.Rows, y, weights []float64) []float64 {
	f.checkShapes(z, y, weights)
	f.schedule(z, weights)
	n := z.Len()
	f.targets, f.scores = resized(f.targets, n*f.k), resized(f.scores, n*f.k)
	for i := range n {
		for t := range f.k {
			f.targets[i*f.k+t] = (y[i*f.k+t] - f.Shift[t]) / f.Scale[t]
		}
	}
	block := max(1, onlineBlock/f.d)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		vec.Parallel(f.k, 1, func(from, to int) {
			if f.work[from] == nil && f.cfg.Optimizer == "adagrad" {
				f.work[from] = make([]float64, f.d)
			}
			for t := from; t < to; t++ {
				for i := lo; i < hi; i++ {
					f.row(t, i, z, weights, f.work[from])
				}
			}
		})
	}
	f.count(y, weights)
	return f.scores
}

func resized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// schedule computes what the rows of a call have in common for all outputs.
func (f *OnlineFit) schedule(z matrix.Rows, weights []float64) {
	n := z.Len()
	f.eta, f.mu, f.decay, f.norm = resized(f.eta, n), resized(f.mu, n), resized(f.decay, n), resized(f.norm, n)
	rate := f.cfg.Rate
	if f.cfg.Lambda > 0 {
		rate = min(rate, 0.5/f.cfg.Lambda)
	}
	t := f.Rows
	for i := range n {
		f.decay[i] = f.cfg.Lambda * float64(t)
		fall := 1 + float64(rate*f.cfg.Lambda)*float64(t)
		if f.cfg.AverageFrom >= 0 {
			fall = math.Sqrt(fall * math.Sqrt(fall))
			if f.loss.corner {
				fall = max(fall, math.Sqrt(1+float64(t)/sampleRows))
			}
		}
		f.eta[i] = rate / fall
		switch from := f.cfg.AverageFrom; {
		case from < 0 || from > 0 && t <= from:
			f.mu[i] = 1
		case from == 0:
			f.mu[i] = 4 / float64(t+4)
		default:
			f.mu[i] = 1 / float64(t-from+1)
		}
		if f.loss.curve > 0 {
			_, val := rowOf(z, i)
			f.norm[i] = vec.DotWide(val, val) + 1
		}
		if weights == nil || weights[i] > 0 {
			t++
		}
	}
}

// parameter is that of the loss, in standardised units.
func (f *OnlineFit) parameter(t int) float64 {
	p := f.cfg.Quantile + f.cfg.Epsilon + f.cfg.Huber // at most one of them is not 0
	if f.loss.inUnits {
		p /= f.Scale[t]
	}
	return p
}

// row predicts row i for output t and learns from it. work is memory for the weights of a row.
func (f *OnlineFit) row(t, i int, z matrix.Rows, weights, work []float64) {
	idx, val := rowOf(z, i)
	c := 1.0
	if weights != nil {
		c = weights[i]
	}
	var score float64
	if f.cfg.Optimizer == "adagrad" {
		score = f.leaderScore(t, idx, val, f.decay[i], work)
	} else {
		score = f.descentScore(t, idx, val)
	}
	f.scores[i*f.k+t] = float64(score*f.Scale[t]) + f.Shift[t]
	if c == 0 {
		return
	}
	loss, slope := f.loss.of(score, f.targets[i*f.k+t], f.parameter(t))
	f.Losses[t] += c * loss * f.unit(t)
	if f.cfg.Optimizer == "adagrad" {
		if slope != 0 {
			f.leaderStep(t, idx, val, c*slope, work)
		}
		return
	}
	eta := f.eta[i]
	if f.loss.curve > 0 {
		eta = min(eta, 1/(f.loss.curve*c*f.norm[i]))
	}
	f.descentStep(t, idx, val, 1-eta*f.cfg.Lambda, eta*c*slope, f.mu[i])
}

// count counts the rows of a call and those predicted wrongly.
func (f *OnlineFit) count(y, weights []float64) {
	for i := range len(y) / f.k {
		c := 1.0
		if weights != nil {
			c = weights[i]
		}
		if c == 0 {
			continue
		}
		f.Rows++
		f.Weight += c
		if f.cfg.Numbers {
			continue
		}
		// One class against all is right where its largest score has the target 1; a single
		// output, or labels, where every sign is right.
		of, wrong := y[i*f.k:(i+1)*f.k], false
		scores := f.scores[i*f.k : (i+1)*f.k]
		if f.k > 1 && !f.cfg.Labels {
			best := 0
			for t, s := range scores {
				if s > scores[best] {
					best = t
				}
			}
			wrong = of[best] <= 0
		} else {
			for t, s := range scores {
				wrong = wrong || (s > 0) != (of[t] > 0)
			}
		}
		if wrong {
			f.Wrong += c
		}
	}
}

// Progress is what progressive validation tells of the rows so far.
func (f *OnlineFit) Progress() OnlinePoint {
	p := OnlinePoint{Rows: f.Rows}
	if f.Weight == 0 {
		return p
	}
	for _, l := range f.Losses {
		p.Loss += l / f.Weight
	}
	if !f.cfg.Numbers {
		e := f.Wrong / f.Weight
		p.Error = &e
	}
	return p
}

// Linear is the model that has been learned so far: the averaged weights of sgd. It fails if
// they are not finite.
func (f *OnlineFit) Linear() (*Linear, error) {
	l := &Linear{W: matrix.NewDense(f.d, f.k), B: make([]float64, f.k)}
	for t := range f.k {
		scale := f.Scale[t]
		weight, b := f.weights(t)
		for j := range f.d {
			v := float32(weight(j) * scale)
			if v-v != 0 {
				return nil, option.Errorf("the weights have grown out of float32's range; use a lower %s, or scale the inputs (%s)", option.Ref("rate"), option.Set("scale", "standard"))
			}
			l.W.Data[j*f.k+t] = v
		}
		l.B[t] = float64(b*scale) + f.Shift[t]
		if l.B[t]-l.B[t] != 0 {
			return nil, option.Errorf("the intercept is not finite; use a lower %s, or scale the inputs (%s)", option.Ref("rate"), option.Set("scale", "standard"))
		}
	}
	return l, nil
}

// weights are those of output t, and its intercept, in standardised units.
func (f *OnlineFit) weights(t int) (weight func(j int) float64, b float64) {
	x := f.Factors[OnlineFactors*t : OnlineFactors*(t+1)]
	second := f.Second[t*f.d : (t+1)*f.d]
	if f.cfg.Optimizer == "adagrad" {
		first, decay := f.First[t*f.d:(t+1)*f.d], f.cfg.Lambda*float64(f.Rows)
		return func(j int) float64 { return leader(first[j], second[j], f.cfg.Rate, decay) }, leader(x[0], x[1], f.cfg.Rate, 0)
	}
	v, tau, sigma := f.First32[t*f.d:(t+1)*f.d], x[1], x[2]
	return func(j int) float64 { return float64(tau*second[j]) + float64(sigma*float64(v[j])) }, x[4]
}
