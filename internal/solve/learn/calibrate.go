package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Calibration turns the scores of a classifier into probabilities.
//
// platt: p = 1/(1 + exp(A·s + B)) for each output (Platt 2000, by the algorithm of Lin, Lin and
// Weng 2007). isotonic: the nondecreasing function of the score that is closest to
// the labels in least squares (Zadrozny and Elkan 2002), linear between the scores that it
// was fitted to and constant beyond. temperature: one number T for all outputs, softmax(s/T),
// or 1/(1 + exp(-s/T)) for a single output or for labels (Guo et al. 2017).
//
// logit: as temperature, but of log(p/(1-p)) (for several classes log p) instead of s, with p = (1+s)/2 between 1/200 and 199/200: by
// squared error the scores of targets ±1 are estimates of 2P-1 already, which T, at least ½, corrects.
//
// quota: p = 1/(1 + exp(-(s-t)/T)) with a border t for each output, above which the q-th highest score is and below which the next one, q
// being the weight of the rows of its class: so many rows as have the class come above its border, for every class (Li, Lebanon and
// Sminchisescu 2012, section 7.3, who make the 500th highest scores of all classes the same), and one T for all. A and B are -1/T and t/T.
// It is for classes whose scores are not on one scale, which otherwise take rows from one another.
//
// With classes, the probabilities that platt, isotonic and quota give one against all are divided by
// their sum; if all are 0 the classes are equally likely. If a row may have several labels, their probabilities
// are not divided.
type Calibration struct {
	// Method is one of CalibrationMethods.
	Method string

	// Labels means that a row may have any number of the outputs; otherwise it has one class,
	// or, with one output, one of two.
	Labels bool

	A, B        []float64   // platt, quota: K
	Knots, Rise [][]float64 // isotonic, for each output: increasing scores, and their probabilities
	T           float64     // temperature, logit
}

// CalibrationMethods are the names of the methods.
func CalibrationMethods() []string {
	return []string{"platt", "isotonic", "temperature", "logit", "quota"}
}

// FitCalibration fits a calibration to the scores, n×K, of rows that the learner has not seen,
// with their targets ±1, n×K, and weights (nil: all 1). It takes O(n log n) time.
func FitCalibration(method string, labels bool, scores []float32, y, weights []float64, k int) (*Calibration, error) {
	if k < 1 || len(scores) != len(y) || len(scores)%k != 0 || weights != nil && len(weights) != len(y)/k {
		panic(fmt.Sprintf("learn: FitCalibration of %d scores, %d targets and %d weights, %d outputs", len(scores), len(y), len(weights), k))
	}
	if !slices.Contains(CalibrationMethods(), method) {
		return nil, fmt.Errorf("calibration %q is not known; known are none, %s", method, strings.Join(CalibrationMethods(), ", "))
	}
	n := len(scores) / k
	if weights == nil {
		weights = make([]float64, n)
		for i := range weights {
			weights[i] = 1
		}
	}
	c := &Calibration{Method: method, Labels: labels}
	if c.oneNumber() {
		c.heat(scores, y, weights, k, known{})
		return c, nil
	}
	if method == "quota" {
		c.A, c.B = quotas(scores, y, weights, k)
		return c, nil
	}
	s, positive := make([]float64, n), make([]bool, n)
	for t := range k {
		for i := range n {
			s[i], positive[i] = float64(scores[i*k+t]), y[i*k+t] > 0
		}
		if method == "platt" {
			a, b := platt(s, positive, weights)
			c.A, c.B = append(c.A, a), append(c.B, b)
		} else {
			knots, rise := isotonic(s, positive, weights)
			c.Knots, c.Rise = append(c.Knots, knots), append(c.Rise, rise)
		}
	}
	return c, nil
}

// FitOwn is FitCalibration by temperature or logit for a machine that held out the rows itself, of those it was trained on: what all of them
// together show of a class is as certain as their number allows. Its scores are logits that the logistic loss made, or estimates of
// probabilities, so that T is near 1: 1/T has a normal distribution about 1 with the deviation nearOne before the scores are seen, which some
// hundreds of rows alone do not tell better.
func FitOwn(method string, labels bool, scores []float32, y, weights []float64, k, trained int) *Calibration {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(y)/k)
	}
	c := &Calibration{Method: method, Labels: labels}
	c.heat(scores, y, weights, k, known{float64(trained), 1 / (nearOne * nearOne)})
	return c
}

// heat fits T.
func (c *Calibration) heat(scores []float32, y, weights []float64, k int, known known) {
	turned := make([]float32, len(scores))
	for i, v := range scores {
		turned[i] = float32(c.turned(v, k))
	}
	c.T = temperature(c.Labels, turned, y, weights, k, known)
	if c.Method == "logit" {
		c.T = max(c.T, leastHeat)
	}
}

// nearOne is about what 1/T deviates by on fourteen tables, .1, and more, because it is no normal distribution.
const nearOne = 0.15

// oneNumber says whether T is all that the calibration has. Such ones keep the order of the scores.
func (c *Calibration) oneNumber() bool { return c.Method == "temperature" || c.Method == "logit" }

// turned is what is divided by T for the score s, one of k.
func (c *Calibration) turned(s float32, k int) float64 {
	if c.Method == "temperature" {
		return float64(s)
	}
	p := min(max((1+float64(s))/2, LeastLogit), 1-LeastLogit)
	if k > 1 && !c.Labels {
		return math.Log(p)
	}
	return math.Log(p) - math.Log1p(-p)
}

// LeastLogit is the smallest p of the method logit, and 1 less it the largest. Beyond, scores say that a row is far from the border, not how far.
const LeastLogit = 1.0 / 200

// leastHeat is the smallest T of the method logit, so that no class has a probability above 0.99998 even if the scores of all rows
// are on the right side.
const leastHeat = 0.5

// Probabilities writes the probabilities for a row's K scores into dst: of K classes or
// labels, or, if K = 1 (and it is not a label), of two classes.
func (c *Calibration) Probabilities(dst []float64, scores []float32) {
	if c.oneNumber() {
		scaled := func(t int) float64 { return c.turned(scores[t], len(scores)) / c.T }
		if len(scores) > 1 && !c.Labels {
			Softmax(dst, scaled)
		} else {
			Sigmoids(dst, len(scores), c.Labels, scaled)
		}
		return
	}
	c.each(dst, scores)
	shares(dst, len(scores), c.Labels)
}

// each writes each output's probability.
func (c *Calibration) each(dst []float64, scores []float32) {
	for t, v := range scores {
		dst[t] = c.output(t, v)
	}
}

// output is what platt, isotonic or quota make of the score v of output t.
func (c *Calibration) output(t int, v float32) float64 {
	if c.Method != "isotonic" {
		return sigmoid(-(float64(c.A[t]*float64(v)) + c.B[t]))
	}
	return interpolated(c.Knots[t], c.Rise[t], float64(v))
}

// Class is the class of the largest of the Probabilities; of equal ones the one that Predicted takes
// by their scores. It allocates nothing.
func (c *Calibration) Class(scores []float32) int {
	if c.oneNumber() {
		return Predicted(scores) // whose order it keeps
	}
	if len(scores) == 1 {
		switch second := c.output(0, scores[0]); {
		case second > 1-second:
			return 1
		case second < 1-second:
			return 0
		}
		return Predicted(scores)
	}
	sum := 0.0
	for t, v := range scores {
		sum += c.output(t, v)
	}
	if sum == 0 {
		return Predicted(scores)
	}
	best, most := 0, -1.0
	for t, v := range scores {
		if p := c.output(t, v) / sum; p > most || p == most && v > scores[best] {
			best, most = t, p
		}
	}
	return best
}

// Has says whether a row with the score v of label t is told to have it: its probability is above
// ½, or is ½ and the score is positive.
func (c *Calibration) Has(t int, v float32) bool {
	if c.oneNumber() {
		return v > 0
	}
	p := c.output(t, v)
	return p > 0.5 || p == 0.5 && v > 0
}

// Check validates a calibration of k outputs from an untrusted source.
func (c *Calibration) Check(k int) error {
	finite := func(v float64) bool { return v-v == 0 }
	switch c.Method {
	case "platt", "quota":
		if len(c.A) != k || len(c.B) != k || !all(c.A, finite) || !all(c.B, finite) {
			return fmt.Errorf("%s with %d and %d numbers for %d outputs, or not finite", c.Method, len(c.A), len(c.B), k)
		}
	case "isotonic":
		if len(c.Knots) != k || len(c.Rise) != k {
			return fmt.Errorf("isotonic with %d functions for %d outputs", len(c.Knots), k)
		}
		for t, knots := range c.Knots {
			inside := func(v float64) bool { return v >= 0 && v <= 1 }
			if len(knots) == 0 || len(knots) != len(c.Rise[t]) || !all(knots, finite) || !all(c.Rise[t], inside) ||
				!slices.IsSorted(knots) || !slices.IsSorted(c.Rise[t]) {
				return fmt.Errorf("isotonic: the function of output %d does not rise from score to score within [0, 1]", t)
			}
		}
	case "temperature", "logit":
		if !(c.T > 0) || math.IsInf(c.T, 0) {
			return fmt.Errorf("the temperature %g is not a positive number", c.T)
		}
	default:
		return fmt.Errorf("calibration %q is not known", c.Method)
	}
	return nil
}

func all(v []float64, ok func(float64) bool) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !ok(x) })
}

// Sigmoids writes 1/(1 + exp(-s)) for k scores: of labels; of a single score, for the second of
// two classes; or of classes one against all, divided by their sum.
func Sigmoids(dst []float64, k int, labels bool, score func(t int) float64) {
	for t := range k {
		dst[t] = sigmoid(score(t))
	}
	shares(dst, k, labels)
}

// shares turns the k numbers in dst, one for each output, into probabilities of the classes.
func shares(dst []float64, k int, labels bool) {
	switch {
	case labels:
	case k == 1:
		dst[0], dst[1] = 1-dst[0], dst[0]
	default:
		sum := 0.0
		for _, p := range dst {
			sum += p
		}
		for t := range dst {
			if sum > 0 {
				dst[t] /= sum
			} else {
				dst[t] = 1 / float64(k)
			}
		}
	}
}

// Softmax writes exp(s_t)/Σexp(s).
func Softmax(dst []float64, score func(t int) float64) {
	top := math.Inf(-1)
	for t := range dst {
		dst[t] = score(t)
		top = max(top, dst[t])
	}
	sum := 0.0
	for t, s := range dst {
		dst[t] = math.Exp(s - top)
		sum += dst[t]
	}
	for t := range dst {
		dst[t] /= sum
	}
}

// sigmoid is 1/(1 + exp(-s)), without overflow.
func sigmoid(s float64) float64 {
	if s >= 0 {
		return 1 / (1 + math.Exp(-s))
	}
	e := math.Exp(s)
	return e / (1 + e)
}

// platt minimises -Σ wᵢ(tᵢ log pᵢ + (1-tᵢ) log(1-pᵢ)), pᵢ = 1/(1 + exp(A·sᵢ + B)), over A and B by
// Newton's method with backtracking (Lin, Lin and Weng 2007). The targets are not 1 and
// 0 but, from a uniform prior, (N₊+1)/(N₊+2) and 1/(N₋+2), so that A
// stays finite if the scores separate the classes. Newton's steps are taken for
// scores divided by their largest absolute value.
func platt(s []float64, positive []bool, weights []float64) (a, b float64) {
	plus, minus, size := 0.0, 0.0, 0.0
	for i, v := range s {
		if weights[i] == 0 {
			continue
		}
		size = max(size, math.Abs(v))
		if positive[i] {
			plus += weights[i]
		} else {
			minus += weights[i]
		}
	}
	if size == 0 {
		size = 1
	}
	high, low := (plus+1)/(plus+2), 1/(minus+2)
	target := func(i int) float64 {
		if positive[i] {
			return high
		}
		return low
	}
	// With f = A·s + B, the loss of a row is t·f + log(1 + exp(-f)) and its slope t - p.
	value := func(a, b float64) float64 {
		sum := 0.0
		for i, v := range s {
			f := a*(v/size) + b
			sum += weights[i] * (target(i)*f + softplus(-f))
		}
		return sum
	}
	a, b = 0, math.Log((minus+1)/(plus+1))
	now := value(a, b)
	for range 100 {
		var ga, gb, haa, hab, hbb float64
		for i, v := range s {
			v /= size
			p := sigmoid(-(a*v + b))
			d := weights[i] * (target(i) - p)
			h := weights[i] * p * (1 - p)
			ga, gb = ga+d*v, gb+d
			haa, hab, hbb = haa+h*v*v, hab+h*v, hbb+h
		}
		if max(math.Abs(ga), math.Abs(gb)) <= 1e-10*(plus+minus) {
			break
		}
		const ridge = 1e-12 // constant scores leave A undetermined
		haa, hbb = haa+ridge*(1+haa), hbb+ridge*(1+hbb)
		det := haa*hbb - hab*hab
		da, db := -(hbb*ga-hab*gb)/det, -(haa*gb-hab*ga)/det
		falls := ga*da + gb*db
		step := 1.0
		for step > 1e-10 {
			if next := value(a+step*da, b+step*db); next < now+1e-4*step*falls {
				a, b, now = a+step*da, b+step*db, next
				break
			}
			step /= 2
		}
		if step <= 1e-10 {
			break // no descent is left beyond rounding
		}
	}
	return a / size, b
}

// quotas are A and B of the method quota.
func quotas(scores []float32, y, weights []float64, k int) (a, b []float64) {
	shifted, borders := make([]float32, len(scores)), make([]float64, k)
	for t := range k {
		q := 0.0
		order := make([]int, 0, len(weights))
		for i, w := range weights {
			if w > 0 {
				order = append(order, i)
			}
			if y[i*k+t] > 0 {
				q += w
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j*k+t], scores[i*k+t]) })
		borders[t] = border(order, q, func(i int) (score, weight float64) { return float64(scores[i*k+t]), weights[i] })
		for i := range weights {
			shifted[i*k+t] = float32(float64(scores[i*k+t]) - borders[t])
		}
	}
	heat := temperature(true, shifted, y, weights, k, known{})
	for t := range k {
		a, b = append(a, -1/heat), append(b, borders[t]/heat)
	}
	return a, b
}

// border is midway between the scores of the row by which the weights of rows, in falling order of scores, come to q, and of the next one. No
// row is above it if q is 0, and all are if no weight is left.
func border(order []int, q float64, of func(i int) (score, weight float64)) float64 {
	if len(order) == 0 {
		return 0
	}
	first, _ := of(order[0])
	if q <= 0 {
		return first
	}
	sum := 0.0
	for at, i := range order {
		score, weight := of(i)
		if sum += weight; sum < q*(1-1e-12) {
			continue
		}
		if at+1 < len(order) {
			next, _ := of(order[at+1])
			return score/2 + next/2
		}
		return float64(math.Nextafter32(float32(score), float32(math.Inf(-1))))
	}
	last, _ := of(order[len(order)-1])
	return float64(math.Nextafter32(float32(last), float32(math.Inf(-1))))
}

// isotonic pools adjacent violators: it takes the mean of the labels of equal scores, and
// wherever a mean lies below that of smaller scores, the mean of both (Ayer et al. 1955). The
// result is the ends of each pool.
func isotonic(s []float64, positive []bool, weights []float64) (knots, rise []float64) {
	order := make([]int, 0, len(s))
	for i := range s {
		if weights[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case s[i] < s[j]:
			return -1
		case s[i] > s[j]:
			return 1
		}
		return 0
	})
	type run struct{ from, to, weight, sum float64 }
	var pools []run
	for at := 0; at < len(order); {
		r := run{from: s[order[at]], to: s[order[at]]}
		for ; at < len(order) && s[order[at]] == r.from; at++ {
			i := order[at]
			r.weight += weights[i]
			if positive[i] {
				r.sum += weights[i]
			}
		}
		for n := len(pools); n > 0 && pools[n-1].sum*r.weight >= r.sum*pools[n-1].weight; n-- {
			r = run{pools[n-1].from, r.to, pools[n-1].weight + r.weight, pools[n-1].sum + r.sum}
			pools = pools[:n-1]
		}
		pools = append(pools, r)
	}
	for _, r := range pools {
		p := min(r.sum/r.weight, 1)
		knots, rise = append(knots, r.from), append(rise, p)
		if r.to > r.from {
			knots, rise = append(knots, r.to), append(rise, p)
		}
	}
	if len(knots) == 0 {
		return []float64{0}, []float64{0.5}
	}
	return knots, rise
}

// interpolated is the function through the knots at s.
func interpolated(knots, rise []float64, s float64) float64 {
	at, exact := slices.BinarySearch(knots, s)
	switch {
	case exact:
		return rise[at]
	case at == 0:
		return rise[0]
	case at == len(knots):
		return rise[at-1]
	}
	share := (s - knots[at-1]) / (knots[at] - knots[at-1])
	return rise[at-1] + share*(rise[at]-rise[at-1])
}

// effectiveRows is the number of rows of equal weights that tell as much (Kish).
func effectiveRows(weights []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, w := range weights {
		sum += w
		squares += w * w
	}
	return sum * sum / max(squares, math.SmallestNonzeroFloat64)
}

// known is what is known of scores beside their rows: how many rows there are in all, and the precision of a normal distribution of 1/T about 1;
// zero means nothing.
type known struct{ rows, precision float64 }

// temperature is T with the least -Σ log p, which is convex in 1/T: its slope there is bisected
// between 10⁻⁶ and 10⁶ over the largest score. If the labels do not follow the scores, T is the
// largest possible value, and everything is equally likely. As many rows as there are do not show a class to be certain: by Laplace's rule
// of succession each is taken to be of another one with probability 1/(n+2), as in Platt's method.
func temperature(labels bool, scores []float32, y, weights []float64, k int, known known) float64 {
	size := 0.0
	for _, v := range scores {
		size = max(size, math.Abs(float64(v)))
	}
	if size == 0 {
		return 1
	}
	rows, total := effectiveRows(weights), 0.0
	for _, w := range weights {
		total += w
	}
	p, other := make([]float64, k), 1/(max(rows, known.rows)+2)
	if k > 1 && !labels {
		other /= float64(k - 1)
	}
	slope := func(a float64) float64 { // of the loss by a = 1/T
		sum := known.precision * (a - 1) * total / max(1, rows) // weights say how much rows count, not how many there are
		for i, w := range weights {
			s, y := scores[i*k:(i+1)*k], y[i*k:(i+1)*k]
			if k > 1 && !labels {
				Softmax(p, func(t int) float64 { return a * float64(s[t]) })
			} else {
				for t, v := range s {
					p[t] = sigmoid(a * float64(v))
				}
			}
			for t, v := range s {
				of := other
				switch {
				case y[t] <= 0:
				case k > 1 && !labels:
					of = 1 - float64(k-1)*other
				default:
					of = 1 - other
				}
				sum += w * (p[t] - of) * float64(v)
			}
		}
		return sum
	}
	low, high := math.Log(1e-6/size), math.Log(1e6/size)
	for range 60 {
		if mid := (low + high) / 2; slope(math.Exp(mid)) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Exp(-(low + high) / 2)
}
