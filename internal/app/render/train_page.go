package render

import (
	"fmt"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/train"
)

// Tested is an evaluation of a model that was just trained.
type Tested struct {
	Metrics *eval.Metrics
	On      string // which rows
}

// TrainPage is the page of a training: how good the model out is, if it was tested, what it is, the data and what it took,
// peak bytes of memory among it. Others add sections after those of the evaluation.
func TrainPage(m Model, r *train.Report, out, data string, tested *Tested, peak int64, others ...func(*report.Page)) *report.Page {
	rows := m.Row() + "s"
	page := &report.Page{Title: out, Subtitle: fmt.Sprintf("Trained on %s: %s", data, units.Plural(m.Training.Rows, m.Row()))}
	if tested != nil {
		page.Subtitle += ". Tested on " + tested.On
		evaluationSections(page, tested.Metrics, m.Task, rows)
	}
	for _, add := range others {
		add(page)
	}
	modelSection(page, m)
	schema := &m.Schema
	if r.Bags != nil {
		schema = &m.Bag.Schema
	}
	dataSection(page, data, schema.Format, m, r.Summary, r.Bags)
	costSection(page, m, r, peak)
	return page
}

// EvalPage is the page of an evaluation of the model in file on data, with what a pass over them told: of rows, of bags, or of neither if
// others have read them.
func EvalPage(m Model, file string, metrics *eval.Metrics, data *Data) *report.Page {
	rows := m.Row() + "s"
	page := &report.Page{Title: file + " on " + data.Name}
	evaluationSections(page, metrics, m.Task, rows)
	modelSection(page, m)
	if data.Summary != nil || data.Bags != nil {
		dataSection(page, data.Name, data.Schema.Format, m, data.Summary, data.Bags)
	}
	return page
}

// MadeBy ends a page with how it was made: the command, the program's version and the machine.
func MadeBy(page *report.Page, command, version, machine string) {
	s := page.Section("How this was made")
	s.Code(command)
	s.Facts(report.Fact{Name: "mercer", Value: version}, report.Fact{Name: "machine", Value: machine})
}
