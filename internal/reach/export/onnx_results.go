package export

import "mercer/internal/solve/learn"

// results adds the outputs: of classes the label, the probabilities if there are any, and the scores; of labels which of them a
// row has; of regressions the prediction.
func (o *onnx) results(scores string) {
	classes, outs := len(o.Classes), o.Outputs
	if classes == 0 && len(o.Labels) == 0 {
		o.output("prediction", scores, typeFloat, -1, outs)
		return
	}
	p := "" // float64
	if o.Probabilities != "none" {
		p = o.probability(scores)
	}
	if classes == 0 {
		has := o.op("Greater", scores, o.one(0))
		if o.Probabilities == "platt" || o.Probabilities == "isotonic" {
			half := o.two(0.5)
			has = o.op("Or", o.op("Greater", p, half), o.op("And", o.op("Equal", p, half), has))
		}
		o.output("labels", has, typeBool, -1, outs)
		if p != "" {
			o.output("probabilities", o.cast(p, typeFloat), typeFloat, -1, outs)
		}
		o.output("scores", scores, typeFloat, -1, outs)
		return
	}
	by := scores
	if outs == 1 {
		by = o.join([]string{o.op("Neg", scores), scores})
	}
	if o.Threshold == nil && (o.Probabilities == "platt" || o.Probabilities == "isotonic") {
		// Of equal probabilities the one with the larger score.
		largest := o.value()
		o.named("TopK", []string{p, o.list(1)}, []string{largest, o.value()}, integer("axis", 1))
		by = o.op("Where", o.op("Equal", p, largest), by, o.one(-3.4e38))
	}
	if o.Threshold != nil {
		is := o.cast(o.op("GreaterOrEqual", scores, o.one(float32(*o.Threshold))), typeFloat)
		by = o.join([]string{o.op("Sub", o.one(1), is), is})
	}
	best := o.node("ArgMax", []string{by}, integer("axis", 1), integer("keepdims", 0))
	o.output("label", o.op("Gather", o.strings([]int{classes}, o.Classes), best), typeString, -1)
	if p != "" {
		o.output("probabilities", o.cast(p, typeFloat), typeFloat, -1, classes)
	}
	o.output("scores", scores, typeFloat, -1, outs)
}

// probability are the probabilities of classes or labels, in float64.
func (o *onnx) probability(scores string) string {
	s, outs := o.cast(scores, typeDouble), o.Outputs
	labels := len(o.Labels) > 0
	kind := o.Probabilities
	if kind == "logit" {
		q := o.op("Mul", o.op("Add", s, o.two(1)), o.two(0.5))
		q = o.op("Min", o.op("Max", q, o.two(learn.LeastLogit)), o.two(1-learn.LeastLogit))
		if s = o.op("Log", q); outs == 1 || labels {
			s = o.op("Sub", s, o.op("Log", o.op("Sub", o.two(1), q)))
		}
	}
	if kind == "temperature" || kind == "logit" {
		s = o.op("Mul", s, o.two(1/o.Temperature))
		if kind = "sigmoid"; outs > 1 && !labels {
			kind = "softmax"
		}
	}
	var p string
	switch kind {
	case "softmax":
		return o.node("Softmax", []string{s}, integer("axis", 1))
	case "platt":
		a, b := o.tensors["calibration.a"], o.tensors["calibration.b"]
		t := o.op("Add", o.op("Mul", s, o.double([]int{1, outs}, a.F64)), o.double([]int{1, outs}, b.F64))
		p = o.op("Div", o.two(1), o.op("Add", o.op("Exp", t), o.two(1)))
	case "isotonic":
		knots, rise := make([][]float64, outs), make([][]float64, outs)
		for k := range outs {
			knots[k], rise[k] = o.tensors[knotsName(k)].F64, o.tensors[riseName(k)].F64
		}
		p = o.lines(s, knots, rise)
	default:
		p = o.op("Div", o.two(1), o.op("Add", o.op("Exp", o.op("Neg", s)), o.two(1)))
	}
	switch {
	case labels:
		return p
	case outs == 1:
		return o.join([]string{o.op("Sub", o.two(1), p), p})
	}
	sum := o.sum(p, 1)
	none := o.op("LessOrEqual", sum, o.two(0))
	return o.op("Where", none, o.two(1/float64(outs)), o.op("Div", p, o.op("Where", none, o.two(1), sum)))
}
