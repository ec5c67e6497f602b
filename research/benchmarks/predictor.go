package main

// predictor is one prediction of a Go program, from a record to its label and probabilities.
func predictor(s sizes) *section {
	out := &section{
		name:  "predictor",
		title: "One prediction in a Go program",
		intro: "`mercer.Predictor` on one thread: microseconds from what a program has to the label and the probabilities of ten classes, " +
			"by `sorf` of 4,096 features and logistic regression; beside it the parts that it cannot do without: the map, the scores, and for a map of names " +
			"the time that Go takes to range over it once.",
	}
	out.turns(command{"predictor", goBench(".", "Predictor", 1, s.text("300ms", "10x")), readGo(1)})
	t := table{head: []string{"columns", "the map", "scores", "a row of floats", "values in order", "a map of names", "ranging over it", "allocations"}}
	for _, d := range []string{"16", "784"} {
		row := []cell{label(d)}
		for _, part := range []string{"map", "scores", "row", "values", "record", "range"} {
			row = append(row, value{metric: metric{"predictor", "Predictor/" + d + "/" + part + " ns/op"}, scale: 1e-3})
		}
		t.add(append(row, value{metric: metric{"predictor", "Predictor/" + d + "/record allocs/op"}, format: integer})...)
	}
	out.tables = []table{t}
	return out
}
