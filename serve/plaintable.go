package serve

import (
	"strconv"
	"strings"

	"mercer/model"
)

// answerColumn is a column of an answer that is a table: its texts, or its numbers.
type answerColumn struct {
	name   string
	text   func(i int) string
	number func(i int) float64
	bits   int // of numbers
}

// cell is the text of row i.
func (a *answerColumn) cell(i int) string {
	if a.text != nil {
		return a.text(i)
	}
	return strconv.FormatFloat(a.number(i), 'g', -1, a.bits)
}

// answerColumns are the columns of an answer, with the names that "mercer predict" gives them.
func (in *input) answerColumns(want wish) (all []answerColumn) {
	m := in.m
	number := func(name string, bits int, of func(i int) float64) {
		all = append(all, answerColumn{name: name, number: of, bits: bits})
	}
	value := func(name string, t int, of func(i int) []float32) {
		number(name, m.ValueBits(), func(i int) float64 { return m.Value(t, of(i)[t]) })
	}
	outputs, several := m.Outputs(), func(t int) string { return "_" + strconv.Itoa(t) }
	if outputs == 1 {
		several = func(int) string { return "" }
	}
	switch {
	case m.Classes() != nil:
		all = append(all, answerColumn{name: "prediction", text: func(i int) string { return m.Classes()[m.Class(in.scores.Row(i))] }})
	case m.Labels() != nil:
		all = append(all, answerColumn{name: "prediction", text: func(i int) string { return strings.Join(m.Predicted(in.scores.Row(i)), " ") }})
	default:
		for t := range outputs {
			value("prediction"+several(t), t, in.scores.Row)
		}
	}
	if in.probable {
		at := -1 // the row of proba
		var proba []float64
		for k, name := range names(m) {
			number("p_"+name, 64, func(i int) float64 {
				if i != at {
					at, proba = i, in.probabilities(i)
				}
				return proba[k]
			})
		}
	}
	if want.scores {
		for t := range outputs {
			name := "score"
			if len(outputNames(m)) == outputs && outputs > 1 {
				name += "_" + outputNames(m)[t]
			}
			value(name, t, in.scores.Row)
		}
	}
	if in.sure.varies {
		for t := range outputs {
			number("deviation"+several(t), 32, func(i int) float64 { return float64(in.sure.deviations.Row(i)[t]) })
		}
	}
	if in.sure.intervals() {
		for t := range outputs {
			value("lower"+several(t), t, in.sure.lower.Row)
			value("upper"+several(t), t, in.sure.upper.Row)
		}
	}
	if want.explain {
		number("base", 64, func(i int) float64 { return in.parts[i].base })
		for k := range in.explained {
			number("contribution_"+in.explained[k].Name, 64, func(i int) float64 { return in.parts[i].values[k] })
		}
	}
	return all
}

// outputNames are those of the scores: classes (of two the second), labels, or targets by their numbers.
func outputNames(m *model.Model) []string {
	switch c := m.Classes(); {
	case c != nil && m.Outputs() == 1:
		return c[len(c)-1:]
	case c != nil:
		return c
	case m.Labels() != nil:
		return m.Labels()
	}
	all := make([]string, m.Outputs())
	for t := range all {
		all[t] = strconv.Itoa(t)
	}
	if places := m.Info().Schema.Labels; len(places) == len(all) {
		for t := range all {
			all[t] = places[t].Name
		}
	}
	return all
}

// outputNamed is the number of the output with a name, -1 for none.
func outputNamed(m *model.Model, name string) int {
	for t, n := range outputNames(m) {
		if n == name {
			return t
		}
	}
	return -1
}
