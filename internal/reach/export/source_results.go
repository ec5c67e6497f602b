package export

import (
	"fmt"

	"mercer/internal/solve/learn"
)

// judging writes what follows from the scores: scores as float32, probabilities and the class, or which labels a row has.
func (s *sourceCode) judging() {
	s.wide = true
	if s.Votes {
		s.votes()
	}
	outs, classes := s.Outputs, len(s.Classes)
	s.buffer("scores", kindFloat, outs)
	n := 1
	if len(s.Labels) > 0 {
		n = outs
	}
	s.loop("k", 0, n, func() { s.p("verdict[k] = 0") })
	s.loop("k", 0, outs, func() {
		s.p("@scores[k] = %s[k]", s.outName())
		s.when("$scores[k] - $scores[k] != 0", func() { s.p("verdict[0] = -1") })
	})
	switch {
	case classes > 0:
		if s.Probabilities != "none" {
			s.buffer("probabilities", kindDouble, classes)
			s.probability(classes)
		}
		s.class(classes)
	case len(s.Labels) > 0:
		if s.Probabilities != "none" {
			s.buffer("probabilities", kindDouble, outs)
			s.probability(outs)
		}
		s.loop("k", 0, outs, func() {
			has := "$scores[k] > 0"
			if s.Probabilities == "platt" || s.Probabilities == "isotonic" {
				half := s.num(0.5)
				has = "probabilities[k] > " + half + " || (probabilities[k] == " + half + " && " + has + ")"
			}
			s.when("verdict[0] >= 0 && ("+has+")", func() { s.p("verdict[k] = 1") })
		})
	}
	s.buffer("verdict", kindCount, n)
}

// outName is the array of the scores in double.
func (s *sourceCode) outName() string {
	if s.Votes {
		return "won"
	}
	return "out"
}

// votes are the contests that each class wins less those that it loses.
func (s *sourceCode) votes() {
	classes := len(s.Classes)
	s.buffer("won", kindDouble, classes)
	s.loop("k", 0, classes, func() { s.p("won[k] = 0") })
	s.index("at", "0")
	s.loop("a", 0, classes, func() {
		s.loop("b", "a+1", classes, func() {
			s.p("if (out[at] > 0) {")
			s.p("won[a] += 1")
			s.p("won[b] -= 1")
			s.p("} else {")
			s.p("won[a] -= 1")
			s.p("won[b] += 1")
			s.p("}")
			s.p("at += 1")
		})
	})
}

// class tells the class as verdict.
func (s *sourceCode) class(classes int) {
	s.when("verdict[0] == 0", func() {
		calibrated := s.Probabilities == "platt" || s.Probabilities == "isotonic"
		one := s.Outputs == 1
		switch {
		case s.Threshold != nil:
			s.when("$scores[0] >= "+s.num(*s.Threshold), func() { s.p("verdict[0] = 1") })
		case one && calibrated:
			s.when("probabilities[1] > probabilities[0] || (probabilities[1] == probabilities[0] && $scores[0] > 0)", func() { s.p("verdict[0] = 1") })
		case one:
			s.when("$scores[0] > 0", func() { s.p("verdict[0] = 1") })
		default:
			s.index("best", "0")
			better := "$scores[k] > $scores[best]"
			if calibrated {
				better = "probabilities[k] > probabilities[best] || (probabilities[k] == probabilities[best] && " + better + ")"
			}
			s.loop("k", 1, classes, func() { s.when(better, func() { s.p("best = k") }) })
			s.p("verdict[0] = best")
		}
	})
}

// probability writes the probabilities of n classes or labels.
func (s *sourceCode) probability(n int) {
	outs, labels := s.Outputs, len(s.Labels) > 0
	kind, joint := s.Probabilities, outs > 1 && !labels
	turned := "$scores[k]"
	if kind == "logit" {
		turned = "logOf(q)"
		if !joint {
			turned = "(logOf(q) - logOf(1 - q))"
		}
	}
	one := s.num(1)
	each := func(value string) {
		s.loop("k", 0, outs, func() {
			if kind == "logit" {
				s.let("q", fmt.Sprintf("maxOf(minOf((1 + $scores[k])/2, %s), %s)", s.num(1-learn.LeastLogit), s.num(learn.LeastLogit)))
			}
			s.p("probabilities[k] = %s", value)
		})
	}
	switch {
	case kind == "softmax":
		each(turned)
		s.softmax(outs)
		return
	case (kind == "temperature" || kind == "logit") && joint:
		each(turned + "/" + s.num(s.Temperature))
		s.softmax(outs)
		return
	case kind == "temperature" || kind == "logit":
		each("sigmoidOf(" + turned + "/" + s.num(s.Temperature) + ")")
	case kind == "platt":
		a, b := s.constant(kindDouble, s.tensors["calibration.a"].F64), s.constant(kindDouble, s.tensors["calibration.b"].F64)
		each(fmt.Sprintf("sigmoidOf(-($%s[k]*$scores[k] + $%s[k]))", a, b))
	case kind == "isotonic":
		var knots, rise []float64
		bounds := []int32{0}
		for k := range outs {
			knots = append(knots, s.tensors[knotsName(k)].F64...)
			rise = append(rise, s.tensors[riseName(k)].F64...)
			bounds = append(bounds, int32(len(knots)))
		}
		b, x, y := s.wholes(bounds), s.constant(kindDouble, knots), s.constant(kindDouble, rise)
		each(fmt.Sprintf("lineOf(%s, %s, #%[3]s[k], #%[3]s[k+1], $scores[k])", s.arg(x), s.arg(y), b))
	default:
		each("sigmoidOf(" + turned + ")")
	}
	switch {
	case labels:
	case outs == 1:
		s.p("probabilities[1] = probabilities[0]")
		s.p("probabilities[0] = %s - probabilities[1]", one)
	default:
		s.share(n)
	}
}

// share divides the probabilities by their sum.
func (s *sourceCode) share(n int) {
	s.let("sum", s.num(0))
	s.loop("k", 0, n, func() { s.p("sum += probabilities[k]") })
	s.loop("k", 0, n, func() {
		s.p("if (sum > 0) {")
		s.p("probabilities[k] /= sum")
		s.p("} else {")
		s.p("probabilities[k] = %s", s.num(1/float64(n)))
		s.p("}")
	})
}

func (s *sourceCode) softmax(n int) {
	s.let("top", "probabilities[0]")
	s.loop("k", 1, n, func() { s.p("top = maxOf(top, probabilities[k])") })
	s.loop("k", 0, n, func() { s.p("probabilities[k] = expOf(probabilities[k] - top)") })
	s.share(n)
}
