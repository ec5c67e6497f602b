package learn

import "math"

// boxed are the losses whose conjugates are quadratic between bounds,
//
//	φ(β) = -pβ + ε|β| + ½λβ²,   lo ≤ β ≤ hi.
//
// With the cost c of a row and y = ±1 a class, or y a number:
//
//	loss                                          p  ε  λ       lo ≤ β ≤ hi
//	hinge                c·max(0, 1 - yu)         y  0  0       0 ≤ yβ ≤ c
//	squared_hinge        c·max(0, 1 - yu)²        y  0  1/(2c)  0 ≤ yβ
//	epsilon              c·max(0, |y - u| - ε)    y  ε  0       -c ≤ β ≤ c
//	squared_epsilon      c·max(0, |y - u| - ε)²   y  ε  1/(2c)  any β
//	one-class            c·max(0, -u)             0  0  0       0 ≤ β ≤ c
type boxed struct {
	*goals
	kind    boxKind
	squared bool
	epsilon float64
	typical float64
}

// goals are the targets of the rows and their costs.
type goals struct {
	c       float64
	weights []float64 // n, nil: all 1

	// Either the classes of the rows, where output t is for class t (1 if there is
	// one output), or numbers, one per row.
	class   []int
	outputs int
	y       []float64

	// classWeights are LIBLINEAR's: that of a class applies where it is on the positive side,
	// and with two classes both apply.
	classWeights []float64
}

// side is ±1 for classes, otherwise the target of output t for row i.
func (g *goals) side(i, t int) float64 {
	switch {
	case g.class == nil:
		return g.y[i*g.outputs+t]
	case g.outputs == 1 && g.class[i] == 1 || g.outputs > 1 && g.class[i] == t:
		return 1
	default:
		return -1
	}
}

// cost is c of row i in output t.
func (g *goals) cost(i, t int) float64 {
	c := g.c
	if g.weights != nil {
		c *= g.weights[i]
	}
	if g.classWeights != nil && (g.outputs == 1 || g.class[i] == t) {
		c *= g.classWeights[g.class[i]]
	}
	return c
}

func (g *goals) counts(i int) bool { return g.weights == nil || g.weights[i] > 0 }

type boxKind int

const (
	hingeBox boxKind = iota
	epsilonBox
	oneClassBox
)

// coordinate gives φᵢ for output t.
func (b *boxed) coordinate(i, t int) (p, lambda, lo, hi float64) {
	c := b.cost(i, t)
	if c == 0 {
		return 0, 0, 0, 0
	}
	hi = c
	if b.squared {
		lambda, hi = 0.5/c, math.Inf(1)
	}
	switch b.kind {
	case hingeBox:
		p = b.side(i, t)
		if p < 0 {
			return p, lambda, -hi, 0
		}
		return p, lambda, 0, hi
	case epsilonBox:
		return b.side(i, t), lambda, -hi, hi
	default:
		return 0, 0, 0, hi
	}
}

func (b *boxed) step(i, t int, beta, u, h float64) (x, violation, slack float64) {
	p, lambda, lo, hi := b.coordinate(i, t)
	if lo == hi {
		return 0, 0, math.Inf(1)
	}
	g := u - p + lambda*beta
	// The subgradient at β nearest to 0, and at a kink or bound the slack.
	var d float64
	switch {
	case beta > 0:
		d = g + b.epsilon
	case beta < 0:
		d = g - b.epsilon
	case g+b.epsilon < 0 && hi > 0:
		d = g + b.epsilon
	case g-b.epsilon > 0 && lo < 0:
		d = g - b.epsilon
	default:
		slack = math.Inf(1)
		if hi > 0 {
			slack = g + b.epsilon
		}
		if lo < 0 {
			slack = min(slack, b.epsilon-g)
		}
		return 0, 0, slack
	}
	if beta == hi && d <= 0 || beta == lo && d >= 0 {
		return beta, 0, math.Abs(d)
	}
	// ½h(x-β)² + ux - px + ½λx² + ε|x| has its minimum where a soft threshold puts it.
	v := (h+lambda)*beta - g
	switch {
	case v > b.epsilon:
		x = (v - b.epsilon) / (h + lambda)
	case v < -b.epsilon:
		x = (v + b.epsilon) / (h + lambda)
	}
	if far := beta + relaxation*(x-beta); far*x > 0 && far*beta >= 0 {
		x = far
	}
	return min(max(x, lo), hi), math.Abs(d), 0
}

// relaxation is the factor by which a step goes beyond the minimum of its coordinate, on the
// same side of 0. Any factor below 2 reduces the objective (Mangasarian and Musicant 1999); this one
// saves up to a fifth of the passes, a larger one no more.
const relaxation = 1.3

func (b *boxed) terms(i, t int, beta, u float64) (loss, conjugate float64) {
	p, lambda, lo, hi := b.coordinate(i, t)
	conjugate = -p*beta + b.epsilon*math.Abs(beta) + 0.5*lambda*beta*beta
	// ℓ(u) is the maximum of (p-u)x - ε|x| - ½λx².
	v := p - u
	x := math.Abs(v) - b.epsilon
	if x <= 0 || v > 0 && hi == 0 || v < 0 && lo == 0 {
		return 0, conjugate
	}
	if lambda > 0 {
		return 0.5 * x * x / lambda, conjugate
	}
	return x * max(hi, -lo), conjugate
}

func (b *boxed) allows(i, t int, beta float64) bool {
	_, _, lo, hi := b.coordinate(i, t)
	return lo <= beta && beta <= hi
}

func (b *boxed) scale() float64 { return b.typical }

// logistic is the loss c·log(1 + exp(-yu)), whose conjugate is, for 0 ≤ α = yβ ≤ c,
//
//	φ(β) = α log α + (c-α) log(c-α) - c log c.
//
// Its derivative is unbounded at both ends, so α stays between them, and nothing
// is ever set aside. The step (Yu, Huang, Lin 2011) solves the optimality
// condition in t = log(α/(c-α)), where it is nearly linear:
//
//	h(c/(1+e⁻ᵗ) - α₀) + yu + t = 0.
//
// Their Newton steps are in α, and have to switch between α and c-α to avoid losing digits.
type logistic struct{ *goals }

// logitSteps bounds Newton's steps in t; two or three are usual.
const logitSteps = 50

func (l *logistic) step(i, t int, beta, u, h float64) (x, violation, slack float64) {
	c, y := l.cost(i, t), l.side(i, t)
	if c == 0 {
		return 0, 0, math.Inf(1)
	}
	alpha, a := y*beta, y*u
	violation = math.Inf(1)
	at := -a
	if alpha > 0 && alpha < c {
		at = math.Log(alpha / (c - alpha))
		violation = math.Abs(a + at)
	}
	// The left side increases in t, and has different signs at the ends of this range.
	low, high := -a-h*(c-alpha), -a+h*alpha
	at = min(max(at, low), high)
	for range logitSteps {
		p := 1 / (1 + math.Exp(-at))
		value := h*(c*p-alpha) + a + at
		if value > 0 {
			high = at
		} else {
			low = at
		}
		next := at - value/(1+h*c*p*(1-p))
		if !(next > low && next < high) {
			next = 0.5 * (low + high)
		}
		if math.Abs(next-at) <= 1e-12*max(1, math.Abs(at)) {
			at = next
			break
		}
		at = next
	}
	alpha = c / (1 + math.Exp(-at))
	// Where c-α would round to 0, or α to c, the ends are kept out of reach.
	alpha = min(max(alpha, c*1e-300), c*(1-1e-15))
	return y * alpha, violation, 0
}

func (l *logistic) terms(i, t int, beta, u float64) (loss, conjugate float64) {
	c, y := l.cost(i, t), l.side(i, t)
	if c == 0 {
		return 0, 0
	}
	alpha := y * beta
	for _, part := range [2]float64{alpha, c - alpha} {
		if part > 0 {
			conjugate += part * math.Log(part/c)
		}
	}
	return c * softplus(-y*u), conjugate
}

func (l *logistic) allows(i, t int, beta float64) bool {
	alpha := l.side(i, t) * beta
	return 0 <= alpha && alpha <= l.cost(i, t)
}

func (l *logistic) scale() float64 { return 1 }

// softplus is log(1 + eˣ).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
