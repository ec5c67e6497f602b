package render

import (
	"testing"

	"mercer/dataset"
	"mercer/model"
)

// TestCards: of a model with all that a card can tell, and of one that knows little.
func TestCards(t *testing.T) {
	info := *someInfo()
	info.Task, info.Classes, info.Labels, info.Outputs = "classify", []string{"no", "<b>yes</b>"}, nil, 1
	p, low, high := 0.25, 0.5, 0.75
	info.Threshold = &model.Threshold{Rule: "max-f1", Score: -0.5, Probability: &p, Rows: 1200, Precision: 0.5, Recall: 0.75, F1: 0.6}
	info.Tested = &model.Tested{On: "20 % of the rows", Rows: 300, Metrics: []model.TestedMetric{{Name: "accuracy", Value: 0.625, Low: &low, High: &high},
		{Name: "auc", Value: 0.75}, {Name: "of a later program", Value: 1}}}
	info.Schema = dataset.Schema{Format: "csv", Dim: 9, Header: true, Missing: "auto", Labels: []dataset.Place{{Name: "churn", At: 4}},
		IDs: []dataset.Place{{Name: "id"}}, Columns: []dataset.Column{
			{Place: dataset.Place{Name: "age"}, Indicator: true, Seen: &dataset.Seen{Min: 18, Max: 90.5, Mean: 40, Missing: 12}},
			{Place: dataset.Place{Name: "town"}, Categories: []string{"", "Kiel", "<i>"}, Seen: &dataset.Seen{Max: 1, Usual: "<i>"}},
			{Place: dataset.Place{Name: "joined"}, Coding: &dataset.Coding{Kind: dataset.CodedDate}, Seen: &dataset.Seen{Min: 19000, Mean: 19100, Max: 19200}},
			{Place: dataset.Place{Name: "note"}, Coding: &dataset.Coding{Kind: dataset.CodedText}}}}
	goldenPage(t, "card", CardPage(Model{Info: &info, Dim: 9}, &Card{File: "churn.mercer", SHA256: "ab12", Bytes: 2048, Data: "churn.csv", DataSHA256: "cd34", DataBytes: 99,
		Command: "mercer train DATA --label churn -o MODEL", Config: "{}"}))
	plain := *someInfo()
	plain.Schema = dataset.Schema{Format: "libsvm", Dim: 3}
	goldenPage(t, "card-plain", CardPage(Model{Info: &plain, Dim: 3}, &Card{File: "m", SHA256: "ab", Command: "mercer train DATA -o MODEL", Config: "{}"}))
}
