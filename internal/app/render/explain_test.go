package render

import (
	"bytes"
	"encoding/csv"
	"testing"

	"mercer/eval"
)

// explained is an explanation of a model of two classes, with columns of numbers and of categories.
func explained(names []string) *Explanation {
	rise := func(mean float64) eval.Rise {
		return eval.Rise{Mean: mean, SE: mean/20 + 0.0001, RepeatSE: 0.0001}
	}
	imp := &eval.Importances{Rows: 5000, Of: 12_345, Unknown: 3, Repeats: 5, Measures: []string{"log_loss", "error"},
		Losses: []float64{0.3211, 0.1498}}
	for i, name := range names {
		v := 0.05 / float64(i*i+1)
		if i == len(names)-1 {
			v = -0.00004
		}
		imp.Columns = append(imp.Columns, eval.ColumnImportance{Column: name, Rises: []eval.Rise{rise(v), rise(v / 2)}})
	}
	return &Explanation{Model: "adult.mercer", Data: "test.csv", Importance: imp, Dependence: &eval.Dependences{Of: "probability",
		Outputs: []string{">50K"}, Rows: 500, Curves: []eval.ColumnDependence{
			{Column: names[0], Values: []float64{17, 25, 40, 62.5}, Rows: []int{900, 2100, 1500, 500}, Mean: [][]float64{{0.02, 0.14, 0.31, 0.25}},
				Low: [][]float64{{0.001, 0.002, 0.01, 0.02}}, High: [][]float64{{0.08, 0.5, 0.8, 0.75}}},
			{Column: names[1], Categories: names[2:5], Rows: []int{3000, 1500, 400}, Left: 100, Mean: [][]float64{{0.2, 0.3, 0.1}},
				Low: [][]float64{{0.1, 0.05, 0}}, High: [][]float64{{0.4, 0.8, 0.3}}},
		}},
		Pairs: []eval.Pair{{First: names[0], Second: names[1], Strength: 0.81, Size: 0.1},
			{First: names[1], Second: names[2], Strength: 0.4, Size: 0.05}}}
}

// explainedNumbers is one of two targets, without pairs.
func explainedNumbers() *Explanation {
	e := explained([]string{"longitude", "latitude", "income", "rooms", "age"})
	imp := e.Importance
	imp.Measures, imp.Losses, imp.Of, imp.Unknown = []string{"1-r2"}, []float64{0.2105}, 5000, 0
	for i := range imp.Columns {
		imp.Columns[i].Rises = imp.Columns[i].Rises[:1]
	}
	e.Dependence = &eval.Dependences{Of: "value", Outputs: []string{"price", "rent"}, Rows: 500, Curves: []eval.ColumnDependence{
		{Column: "longitude", Values: []float64{-123.03, -118, -117}, Rows: []int{1000, 3000, 1000},
			Mean: [][]float64{{249_274, 190_554, 136_355}, {-3, 2, 4}},
			Low:  [][]float64{{187_343, 81_568, 80_923}, {-5, 1, 3}}, High: [][]float64{{339_170, 357_821, 196_494}, {-1, 3, 5}}}}}
	e.Pairs, e.NoPairs = nil, "the model has no learned metric to tell which columns act together; train it with --metric full"
	return e
}

func explainedRows(names []string) *Contributions {
	return &Contributions{Model: "adult.mercer", Data: "new.csv", Background: 100, BackgroundData: "train.csv",
		Outputs: []string{">50K"}, Columns: names,
		Rows: []RowContributions{
			{Row: 1, Prediction: ">50K", Inputs: []string{"39", "Husband", "13", ""}, Class: ">50K", Base: []float64{-2.5}, Score: []float64{1.25},
				Values: [][]float64{{2, 1.5, 0.5, -0.25}}, SE: [][]float64{{0.01, 0.02, 0.001, 0}}},
			{Row: 1700, Prediction: "<=50K", Inputs: []string{"17", "Own-child", "6", "x"}, Class: "<=50K", Negated: true, Base: []float64{-2.5},
				Score: []float64{-6.25}, Values: [][]float64{{-2.5, -1, -0.5, 0.25}}, SE: [][]float64{{0, 0, 0, 0}}, Exact: true},
		}}
}

func TestExplainOutput(t *testing.T) {
	plain, odd := explained([]string{"age", "relationship", "Husband", "Own-child", "Wife", "hours"}), explained(hostile(9))
	goldenText(t, "explain", func(w *bytes.Buffer) { ExplainText(w, plain, 4) })
	goldenPage(t, "explain", ExplainPage(plain, 4))
	goldenJSON(t, "explain", plain)
	goldenText(t, "explain-hostile", func(w *bytes.Buffer) {
		ExplainText(w, odd, 20)
		narrow(t, w.String(), 150)
	})
	goldenPage(t, "explain-hostile", ExplainPage(odd, 20))
	goldenText(t, "explain-numbers", func(w *bytes.Buffer) { ExplainText(w, explainedNumbers(), 10) })
	goldenPage(t, "explain-numbers", ExplainPage(explainedNumbers(), 10))
	var table bytes.Buffer
	if err := ExplainCSV(&table, odd); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain-hostile.csv", table.Bytes())
}

func TestContributionsOutput(t *testing.T) {
	plain, odd := explainedRows([]string{"age", "relationship", "education", "note"}), explainedRows(hostile(4))
	text := func(c *Contributions, top int) func(w *bytes.Buffer) {
		return func(w *bytes.Buffer) {
			for i := range c.Rows {
				c.Text(w, &c.Rows[i], top)
			}
			narrow(t, w.String(), 150)
		}
	}
	goldenText(t, "contributions", text(plain, 3))
	goldenPage(t, "contributions", plain.Page(3))
	goldenJSON(t, "contributions", plain)
	goldenText(t, "contributions-hostile", text(odd, 10))
	goldenPage(t, "contributions-hostile", odd.Page(10))
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := plain.CSVHeader(w); err != nil {
		t.Fatal(err)
	}
	for i := range plain.Rows {
		if err := plain.CSVRow(w, &plain.Rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	golden(t, "contributions.csv", b.Bytes())
}
