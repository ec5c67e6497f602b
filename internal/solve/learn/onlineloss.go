package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// onlineLoss is a convex loss of one score s for the target y, as online learners take it.
type onlineLoss struct {
	name string

	// of is the loss and its derivative in s, a subgradient where it has none. p is the
	// loss's parameter.
	of func(s, y, p float64) (loss, slope float64)

	// curve is the largest second derivative, 0 if there is none or it does not matter;
	// corner means that the derivative jumps.
	//
	// degree is d in ℓ(a·s, a·y) = aᵈ·ℓ(s, y), where the parameter is scaled too if inUnits is set.
	curve   float64
	corner  bool
	degree  int
	inUnits bool
}

// classLosses take y = ±1; numberLosses any y.
var classLosses = []onlineLoss{
	{name: "logistic", of: onlineLogistic},
	{name: "hinge", corner: true, of: func(s, y, _ float64) (float64, float64) {
		if m := 1 - y*s; m > 0 {
			return m, -y
		}
		return 0, 0
	}},
	{name: "squared_hinge", curve: 2, of: func(s, y, _ float64) (float64, float64) {
		if m := 1 - y*s; m > 0 {
			return m * m, -2 * y * m
		}
		return 0, 0
	}},
	{name: "squared", curve: 1, of: squaredLoss},
}

var numberLosses = []onlineLoss{
	{name: "squared", curve: 1, degree: 2, of: squaredLoss},
	{name: "epsilon", corner: true, degree: 1, inUnits: true, of: func(s, y, eps float64) (float64, float64) {
		switch r := s - y; {
		case r > eps:
			return r - eps, 1
		case r < -eps:
			return -r - eps, -1
		}
		return 0, 0
	}},
	{name: "quantile", corner: true, degree: 1, of: func(s, y, q float64) (float64, float64) {
		switch r := y - s; {
		case r > 0:
			return q * r, -q
		case r < 0:
			return (q - 1) * r, 1 - q
		}
		return 0, 0
	}},
	{name: "huber", curve: 1, degree: 2, inUnits: true, of: func(s, y, delta float64) (float64, float64) {
		switch r := s - y; {
		case r > delta:
			return delta * (r - delta/2), delta
		case r < -delta:
			return delta * (-r - delta/2), -delta
		default:
			return r * r / 2, r
		}
	}},
}

func squaredLoss(s, y, _ float64) (loss, slope float64) {
	r := s - y
	return r * r / 2, r
}

// onlineLogistic is log(1 + exp(-y·s)), without overflow on either side.
func onlineLogistic(s, y, _ float64) (loss, slope float64) {
	m := y * s
	if m > 0 {
		e := math.Exp(-m)
		return math.Log1p(e), -y * e / (1 + e)
	}
	e := math.Exp(m)
	return math.Log1p(e) - m, -y / (1 + e)
}

// OnlineLosses are the names of the losses for classes or for numbers, the default first.
func OnlineLosses(numbers bool) []string {
	var names []string
	for _, l := range lossesOf(numbers) {
		names = append(names, l.name)
	}
	return names
}

func lossesOf(numbers bool) []onlineLoss {
	if numbers {
		return numberLosses
	}
	return classLosses
}

// lossNamed finds a loss; "" means the default.
func lossNamed(name string, numbers bool) (onlineLoss, error) {
	all := lossesOf(numbers)
	if name == "" {
		return all[0], nil
	}
	i := slices.IndexFunc(all, func(l onlineLoss) bool { return l.name == name })
	if i < 0 {
		what := "classes"
		if numbers {
			what = "numbers to predict"
		}
		return onlineLoss{}, fmt.Errorf("loss %q is not one for %s; known are %s", name, what, strings.Join(OnlineLosses(numbers), ", "))
	}
	return all[i], nil
}
