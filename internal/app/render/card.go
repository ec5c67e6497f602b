package render

import (
	"fmt"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/model"
)

// recorded are the metrics of a test that a model keeps, the most important first.
var recorded = []string{"accuracy", "subset_accuracy", "hamming_loss", "micro_f1", "macro_f1", "f1", "precision", "recall", "average_precision", "auc", "log_loss",
	"brier", "ece", "rmse", "mae", "r2"}

// Record is what a model keeps of its test.
func Record(t *Tested) *model.Tested {
	out := &model.Tested{On: t.On, Rows: t.Metrics.N}
	for _, name := range recorded {
		metric, err := eval.MetricNamed(name)
		if err != nil || metric.Value(t.Metrics) == nil || name == "micro_f1" && t.Metrics.Accuracy != nil {
			continue
		}
		one := model.TestedMetric{Name: name, Value: *metric.Value(t.Metrics)}
		if i, ok := t.Metrics.Intervals[name]; ok {
			one.Low, one.High = &i.Low, &i.High
		}
		out.Metrics = append(out.Metrics, one)
	}
	return out
}

// Card is what a model card tells beside the model itself.
type Card struct {
	File, SHA256 string // of the model
	Bytes        int64

	// Data is the file that the model was trained on, "" if it was not given, with its hash.
	Data, DataSHA256 string
	DataBytes        int64

	Command string // that makes the model again
	Config  string // JSON
}

// CardPage is the card of a model: how good it is, what it is for, what it was trained on, what matters, its limits, and how to make it
// again.
func CardPage(m Model, c *Card) *report.Page {
	page := &report.Page{Title: c.File, Subtitle: "Model card. " + strings.ToUpper(predicts(m)[:1]) + predicts(m)[1:] + ", trained on " +
		units.Plural(m.Training.Rows, m.Row()) + "."}
	testedSection(page, m)
	if t := m.Threshold; t != nil {
		thresholdSection(page, m)
	}
	modelSection(page, m)
	if m.Relevance == nil {
		page.Section("What matters").Note("The learner measures no relevance of columns. “mercer explain MODEL DATA” finds which columns matter to it on labelled rows.")
	}
	cardDataSection(page, m)
	limitsSection(page, m)
	s := page.Section("Files")
	facts := []report.Fact{{Name: "model", Value: units.Bytes(c.Bytes), Remark: "SHA-256 " + c.SHA256}}
	if c.Data != "" {
		facts = append(facts, report.Fact{Name: c.Data, Value: units.Bytes(c.DataBytes), Remark: "SHA-256 " + c.DataSHA256})
	}
	s.Facts(facts...)
	if c.Data == "" {
		s.Note("A model does not hold the name of its data. “mercer inspect MODEL --data FILE --report CARD” adds the hash of the file.")
	}
	s = page.Section("Making it again")
	s.Code(c.Command)
	s.Note("The same rows, settings and seed give the same model, byte for byte, for any number of threads. All settings:")
	s.Code(c.Config)
	return page
}

// predicts says what a model does.
func predicts(m Model) string {
	labels := ""
	var names []string
	for _, l := range m.Schema.Labels {
		names = append(names, l.Name)
	}
	if m.Schema.Header && names != nil {
		labels = " of " + firstOf(names, 3)
	}
	switch {
	case m.Task == "outliers":
		return "detects outliers"
	case m.Classes != nil:
		return fmt.Sprintf("predicts one of %d classes%s", len(m.Classes), labels)
	case m.Labels != nil:
		return "predicts any of " + units.Plural(len(m.Labels), "label")
	}
	return "predicts " + units.Plural(m.Outputs, "number") + labels
}

// testedSection shows the test that a model keeps.
func testedSection(page *report.Page, m Model) {
	s := page.Section("How good it is")
	if m.Tested == nil {
		s.Note("The model was not tested when it was trained, or by another program. “mercer train --holdout 0.2”, or --test FILE, keeps the test in the model; " +
			"“mercer eval MODEL DATA” measures it on labelled rows.")
		return
	}
	t := &report.Table{Caption: fmt.Sprintf("On %s: %s that played no part in the training", m.Tested.On, units.Plural(m.Tested.Rows, m.Row())),
		Columns: []report.Column{{Name: "metric"}, {Name: "value", Number: true}, {Name: "95 % interval", Number: true}, {Name: "what it is"}}}
	for _, one := range m.Tested.Metrics {
		metric, err := eval.MetricNamed(one.Name)
		if err != nil {
			continue // of a later program
		}
		text, interval := scoreText(metric, one.Value), ""
		if one.Low != nil && one.High != nil {
			interval = scoreText(metric, *one.Low) + " to " + scoreText(metric, *one.High)
		}
		about := metric.About
		if len(m.Classes) == 2 {
			about = strings.ReplaceAll(about, "the second of two classes", m.Classes[1])
		}
		t.Rows = append(t.Rows, []string{metric.Title, text, interval, about})
	}
	s.Table(t)
	s.Note("The intervals are of the bootstrap (BCa): they hold the value on all rows from the same source with a probability of 95 %. They say nothing of other sources.")
}

// thresholdSection shows the threshold between two classes.
func thresholdSection(page *report.Page, m Model) {
	t := m.Threshold
	facts := []report.Fact{{Name: "from score", Value: fmt.Sprintf("%.4g", t.Score), Remark: "on a row is " + m.Classes[1]}}
	if t.Probability != nil {
		facts = append(facts, report.Fact{Name: "which is a probability of", Value: fmt.Sprintf("%.4g", *t.Probability)})
	}
	asked := report.Fact{Name: "asked for", Value: t.Rule}
	if t.Rows > 0 {
		asked.Remark = fmt.Sprintf("chosen on %s that the learner had not seen: precision %.3g, recall %.3g, F1 %.3g there", units.Plural(t.Rows, m.Row()), t.Precision, t.Recall, t.F1)
	}
	page.Section("Threshold").Facts(append(facts, asked)...)
}

// cardDataSection shows what the rows were.
func cardDataSection(page *report.Page, m Model) {
	schema := &m.Schema
	if m.Bag != nil {
		schema = &m.Bag.Schema
	}
	s := page.Section("The data")
	facts := []report.Fact{{Name: m.Row() + "s", Value: units.Count(m.Training.Rows)}, {Name: "dimensions", Value: units.Count(m.Dim)},
		{Name: "format", Value: schema.Format}, {Name: "labels", Value: labelsText(m.Info)}}
	for _, list := range []struct {
		name   string
		places []dataset.Place
	}{{"label", schema.Labels}, {"IDs", schema.IDs}, {"left out", schema.Ignored}} {
		var names []string
		for _, p := range list.places {
			names = append(names, p.Name)
		}
		if names != nil && schema.Header {
			facts = append(facts, report.Fact{Name: list.name, Value: firstOf(names, 8)})
		}
	}
	if schema.Weight != nil {
		facts = append(facts, report.Fact{Name: "weights", Value: schema.Weight.Name})
	}
	if schema.Missing != "" {
		rule := map[string]string{"auto": "numbers become the mean, categories one of their own", "mean": "numbers become the mean", "zero": "numbers become 0",
			"error": "an error"}[schema.Missing]
		facts = append(facts, report.Fact{Name: "missing values", Value: rule})
	}
	s.Facts(facts...)
}

// mostLimits bounds the lines of the table of limits.
const mostLimits = 300

// limitsSection shows the values that the training had.
func limitsSection(page *report.Page, m Model) {
	t := &report.Table{Caption: "What the training had in each column", Columns: []report.Column{{Name: "column"}, {Name: "least", Number: true},
		{Name: "mean", Number: true}, {Name: "most", Number: true}, {Name: "missing", Number: true}, {Name: "values"}}}
	columns := m.Schema.Columns
	for _, c := range columns[:min(len(columns), mostLimits)] {
		t.Rows = append(t.Rows, limits(&c, m.Training.Rows))
	}
	s := page.Section("Limits")
	if t.Rows == nil {
		s.Note("The rows were no table, so there are no ranges by column.")
	} else {
		s.Table(t)
	}
	if len(columns) > mostLimits {
		s.Note(fmt.Sprintf("The first %d of %s columns.", mostLimits, units.Count(len(columns))))
	}
	s.Note("Outside of what the training had, predictions are guesses. “mercer predict --check” counts such rows and tests whether columns have drifted.")
}

// limits is a line of the table of limits.
func limits(c *dataset.Column, rows int) []string {
	line := []string{c.Name, "", "", "", "", ""}
	what := func(text string) { line[5] = strings.TrimPrefix(line[5]+"; "+text, "; ") }
	s := c.Seen
	switch {
	case c.Categories != nil:
		what(units.Plural(len(c.Categories), "value") + ": " + firstOf(c.Categories, 6))
		if s != nil {
			what("most often " + ShortLabel(s.Usual, listedName))
		}
	case c.Coding != nil && c.Coding.Kind == dataset.CodedDate && s != nil:
		day := func(days float64) string { return time.Unix(int64(days*86400), 0).UTC().Format("2006-01-02") }
		line[1], line[2], line[3] = day(s.Min), day(s.Mean), day(s.Max)
		what("dates")
	case c.Coding != nil && s == nil:
		what(c.Coding.Kind)
	case s != nil:
		line[1], line[2], line[3] = Number(s.Min), Number(s.Mean), Number(s.Max)
	}
	if s != nil && c.Indicator {
		line[4] = fmt.Sprintf("%.3g %%", 100*float64(s.Missing)/float64(max(rows, 1)))
	}
	if c.Means != nil {
		what("coded by mean targets")
	}
	return line
}
