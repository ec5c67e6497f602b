package serve

import (
	"strconv"

	"mercer/model"
)

// label appends the prediction of row i as JSON: a class, a list of labels, a number, or a list of numbers.
func (in *input) label(dst []byte, i int) []byte {
	info, scores := in.m.Info(), in.scores.Row(i)
	switch {
	case info.Classes != nil:
		return appendClass(dst, info.Classes[in.m.Class(scores)])
	case info.Labels != nil:
		dst = append(dst, '[')
		first := true
		for t, v := range scores {
			if in.m.Has(t, v) {
				if !first {
					dst = append(dst, ',')
				}
				first = false
				dst = appendText(dst, info.Labels[t])
			}
		}
		return append(dst, ']')
	case len(scores) == 1:
		return appendNumber(dst, in.m.Value(0, scores[0]), in.m.ValueBits())
	}
	return in.appendScores(dst, i)
}

// appendClass appends a class: a number if it is written as JSON writes one, or else a string.
func appendClass(dst []byte, class string) []byte {
	if v, err := strconv.ParseFloat(class, 64); err == nil && v-v == 0 && strconv.FormatFloat(v, 'f', -1, 64) == class {
		return append(dst, class...)
	}
	return appendText(dst, class)
}

// appendScores appends the scores of row i; those of a regression are its predictions.
func (in *input) appendScores(dst []byte, i int) []byte {
	dst = append(dst, '[')
	for t, v := range in.scores.Row(i) {
		if t > 0 {
			dst = append(dst, ',')
		}
		dst = appendNumber(dst, in.m.Value(t, v), in.m.ValueBits())
	}
	return append(dst, ']')
}

// appendOneOrAll appends a number, or a list of them.
func appendOneOrAll(dst []byte, values []float32, bits int, value func(t int, v float32) float64) []byte {
	if len(values) == 1 {
		return appendNumber(dst, value(0, values[0]), bits)
	}
	dst = append(dst, '[')
	for t, v := range values {
		if t > 0 {
			dst = append(dst, ',')
		}
		dst = appendNumber(dst, value(t, v), bits)
	}
	return append(dst, ']')
}

// names are those of the probabilities.
func names(m *model.Model) []string {
	if c := m.Classes(); c != nil {
		return c
	}
	return m.Labels()
}

// probabilities are those of row i, nil if the model has none.
func (in *input) probabilities(i int) []float64 {
	if !in.probable {
		return nil
	}
	if in.proba == nil {
		in.proba = make([]float64, len(names(in.m)))
	}
	if in.m.Probabilities(in.proba, in.scores.Row(i)) != nil {
		return nil
	}
	return in.proba
}

// object appends what the plain protocol says of row i.
func (in *input) object(dst []byte, i int, want wish) []byte {
	dst = append(dst, `{"prediction":`...)
	dst = in.label(dst, i)
	if p := in.probabilities(i); p != nil {
		dst = append(dst, `,"probabilities":{`...)
		for k, name := range names(in.m) {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(dst, name), ':')
			dst = appendNumber(dst, p[k], 64)
		}
		dst = append(dst, '}')
	}
	if want.scores {
		dst = append(dst, `,"scores":`...)
		dst = in.appendScores(dst, i)
	}
	if in.sure.varies {
		dst = append(dst, `,"deviation":`...)
		dst = appendOneOrAll(dst, in.sure.deviations.Row(i), 32, func(_ int, v float32) float64 { return float64(v) })
	}
	if in.sure.intervals() {
		dst = in.appendEnds(dst, i)
	}
	if want.explain {
		p := &in.parts[i]
		dst = appendText(append(dst, `,"contributions":{"of":`...), outputNames(in.m)[p.output])
		dst = appendNumber(append(dst, `,"base":`...), p.base, 64)
		dst = appendNumber(append(dst, `,"score":`...), in.m.Value(p.output, in.scores.Row(i)[p.output]), in.m.ValueBits())
		dst = append(dst, `,"values":{`...)
		for k := range in.explained {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(dst, in.explained[k].Name), ':')
			dst = appendNumber(dst, p.values[k], 64)
		}
		dst = append(dst, "}}"...)
	}
	return append(dst, '}')
}

// appendEnds appends the ends of the interval of row i to an object.
func (in *input) appendEnds(dst []byte, i int) []byte {
	dst = appendOneOrAll(append(dst, `,"lower":`...), in.sure.lower.Row(i), in.m.ValueBits(), in.m.Value)
	return appendOneOrAll(append(dst, `,"upper":`...), in.sure.upper.Row(i), in.m.ValueBits(), in.m.Value)
}

// predictions appends the predictions of all rows as a list: of objects with the ends of intervals, if the request wants those.
func (in *input) predictions(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range in.scores.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		if in.sure.asked {
			dst = append(in.appendEnds(in.label(append(dst, `{"prediction":`...), i), i), '}')
		} else {
			dst = in.label(dst, i)
		}
	}
	return append(dst, ']')
}
