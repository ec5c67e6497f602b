package learn

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/option"
	"mercer/matrix"
)

// Online is the configuration of learning from a stream of rows, one after the other: for each output
// separately (one class against all, one label, one number)
//
//	min over w, b of λ/2‖w‖² + mean over the rows of cᵢ·ℓ(w·zᵢ + b, yᵢ),
//
// cᵢ being the row's weight. Before a row is learned it is predicted: the mean of these losses
// is an unbiased estimate, since no row was seen before (progressive validation).
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
// (Nemirovski et al. 2009): η₀ is right for a thousand rows, and for N rows it should be
// √(N/1000) times smaller. For a loss of curvature κ, η_t is at most 1/(κ·c·(‖z‖²+1)), the step that
// minimises the row's own loss. μ is 4/(t+4), so that early weights are soon forgotten (polynomial decay,
// Shamir and Zhang 2013), or with AverageFrom = a 1 up to row a and the plain mean from there on
// (Ruppert 1988; Polyak and Juditsky 1992). Both w = s·v and w̄ = τ·u + σ·v are kept in factors,
// so that a sparse row costs only its nonzero values (Xu 2011, section 4; here for any μ).
//
// adagrad has a rate for each coordinate (Duchi, Hazan and Singer 2011), in the form that follows
// the regularised leader (McMahan 2011): with gⱼ = c·ℓ'·zⱼ and hⱼ = √Σgⱼ²,
//
//	wⱼ = -aⱼ/(hⱼ/η₀ + λ·t),   aⱼ ← aⱼ + gⱼ - wⱼ·(hⱼ' - hⱼ)/η₀.
//
// For λ = 0 these are the steps wⱼ ← wⱼ - η₀·gⱼ/hⱼ'; for λ > 0 the regulariser is exact and still
// only the weights of a row's nonzero values change. Its weights are not averaged.
//
// η₀ is the best for a first sample of the rows (see [OnlineFit.Begin]): of a starting value times
// powers of two, the one with the least progressive loss (Bottou's calibration, with an unbiased loss).
//
// The result depends neither on threads, which divide the outputs, nor on how the rows are
// divided into calls. Memory: 12·D·K bytes for sgd and 16·D·K for adagrad.
type Online struct {
	// Numbers means that targets are numbers to predict; otherwise they are ±1.
	Numbers bool `json:"numbers,omitempty"`

	// Labels means that a row may have any number of the outputs; otherwise it has one.
	Labels bool `json:"labels,omitempty"`

	// Optimizer is "sgd" (or "") or "adagrad".
	Optimizer string `json:"optimizer"`

	// Loss is one of OnlineLosses, "" meaning the first.
	Loss string `json:"loss"`

	// Lambda is λ; 0 means no regulariser. Numeric targets are in units of their standard
	// deviation in the first sample.
	Lambda float64 `json:"lambda"`

	// Rate is η₀; 0 means that Begin chooses it.
	Rate float64 `json:"rate"`

	// AverageFrom is how many rows pass before weights are averaged uniformly; 0
	// means averages that forget, a negative number no averaging.
	AverageFrom int64 `json:"average_from,omitempty"`

	// Quantile is q in (0, 1); 0 means ½.
	Quantile float64 `json:"quantile,omitempty"`

	// Epsilon is ε ≥ 0 of the epsilon loss, Huber is δ > 0; 0 means one standard deviation
	// of the targets in the first sample. Both are in units of the targets.
	Epsilon float64 `json:"epsilon,omitempty"`
	Huber   float64 `json:"huber,omitempty"`
}

// WithDefaults replaces zero values by defaults and checks the rest.
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

// OnlineState is the whole state of a learner, from which it can continue.
type OnlineState struct {
	// Rows counts the rows of the stream so far, Weight is the sum of their weights and Losses, for
	// each output, the sum of their losses. Wrong is the sum of the weights of rows predicted wrongly.
	Rows   int64     `json:"rows"`
	Weight float64   `json:"weight"`
	Wrong  float64   `json:"wrong"`
	Losses []float64 `json:"-"`

	// Shift and Scale are the mean and the deviation of each output's targets in the first
	// sample, by which targets are standardised; 0 and 1 for classes.
	Shift, Scale []float64 `json:"-"`

	// Factors are, for each output, s, τ, σ, b and b̄ (sgd) or a and h of the intercept.
	Factors []float64 `json:"-"`

	// First and Second are K×D: v and u (sgd) or a and h (adagrad).
	First32       []float32 `json:"-"` // v
	First, Second []float64 `json:"-"` // a of adagrad; u or h
}

// OnlineFactors is how many factors an output has in OnlineState.
const OnlineFactors = 5

// OnlineFit is a running learner. It is not safe for concurrent use.
type OnlineFit struct {
	cfg  Online
	loss onlineLoss
	d, k int
	OnlineState

	// For the rows of one call: rate and μ of sgd, λt of adagrad, ‖z‖²+1 for a loss
	// with curvature, target and score of each output.
	eta, mu, decay, norm []float64
	targets, scores      []float64

	work [][]float64 // by the first output of a thread's range
}

// NewOnline returns a new learner of k outputs on d features.
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

// ContinueOnline returns a learner that continues from a state, which it takes over.
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
	if state.Rows < 0 || !(state.Weight >= 0) || !all(state.Scale, positive) ||
		slices.ContainsFunc(state.First32, func(v float32) bool { return v-v != 0 }) {
		return nil, fmt.Errorf("the learner's state holds a number that cannot be")
	}
	for t := range k {
		if x := state.Factors[OnlineFactors*t:]; f.cfg.Optimizer == "sgd" && !all(x[:2], positive) {
			return nil, fmt.Errorf("the learner's state holds a factor that cannot be")
		}
	}
	for _, list := range [][]float64{state.Losses, state.Shift, state.Scale, state.Factors, state.First, state.Second, {state.Weight, state.Wrong}} {
		if slices.ContainsFunc(list, func(v float64) bool { return v-v != 0 }) {
			return nil, fmt.Errorf("the learner's state holds a number that is not finite")
		}
	}
	f.OnlineState = state
	return f, nil
}

// Config is the learner's configuration, including the choices of Begin.
func (f *OnlineFit) Config() Online { return f.cfg }

// Linear is the model learned so far, with averaged weights for sgd. It fails if
// they are not finite.
func (f *OnlineFit) Linear() (*Linear, error) {
	l := &Linear{W: matrix.NewDense(f.d, f.k), B: make([]float64, f.k)}
	for t := range f.k {
		scale := f.Scale[t]
		weight, b := f.weights(t)
		for j := range f.d {
			v := float32(weight(j) * scale)
			if v-v != 0 {
				return nil, option.Errorf("the weights have grown out of float32's range; use a lower %s, or scale the inputs (%s)", option.Ref("rate"),
					option.Set("scale", "standard"))
			}
			l.W.Data[j*f.k+t] = v
		}
		l.B[t] = float64(b*scale) + f.Shift[t]
		if l.B[t]-l.B[t] != 0 {
			return nil, option.Errorf("the intercept is not finite; use a lower %s, or scale the inputs (%s)", option.Ref("rate"),
				option.Set("scale", "standard"))
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
