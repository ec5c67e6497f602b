package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/report"
	"mercer/lab"
	"mercer/learn"
	"mercer/model"
	"mercer/train"
)

// modelPage adds what a model is, and how its λ, C and the like were chosen.
func modelPage(page *report.Page, m *model.Model) {
	s := page.Section("The model")
	info := m.Info()
	s.Facts(factLines(func(line func(what, format string, args ...any)) {
		line("trained on", "%s × %s dimensions", plural(info.Training.Rows, rowWord(m)), comma(m.Dim()))
		printInfo(line, m)
	})...)
	choicePage(page, info)
}

// path is a parameter that was tried at several values, with a measure at each.
type path struct {
	parameter, measure string
	at, values         []float64
	chosen             float64
	percent            bool
}

// figure draws the path in the order of the parameter.
func (v *path) figure(name, title, caption string) *report.Figure {
	order := make([]int, len(v.at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.at[a], v.at[b]) })
	curve := report.Curve{Name: v.measure, Points: true}
	for _, i := range order {
		curve.X, curve.Y = append(curve.X, v.at[i]), append(curve.Y, v.values[i])
	}
	return &report.Figure{Name: name, Title: title, Caption: caption, Drawing: &report.Lines{
		X: report.Axis{Name: v.parameter, Log: true}, Y: report.Axis{Name: v.measure, Percent: v.percent},
		Curves: []report.Curve{curve},
		Marks:  []report.Mark{{X: v.chosen, Name: fmt.Sprintf("chosen: %.3g", v.chosen)}}}}
}

// choicePage adds the values of λ, C and the like that were tried, and what came of them.
func choicePage(page *report.Page, info *model.Info) {
	s, t := page.Section("What was tried"), &info.Training
	if r, ok := t.Report.(*learn.RidgeReport); ok && len(r.Path) > 0 {
		s.Figure(ridgePath(r, info.Task != "regress"))
		s.Table(ridgeTable(r))
	}
	if r, ok := t.Report.(*learn.LassoReport); ok && len(r.Path) > 0 {
		v := path{parameter: "λ", measure: "mean squared error, held out", chosen: r.Lambda}
		weights := v
		weights.measure = "weights that are not 0"
		for _, p := range r.Path {
			v.at, v.values = append(v.at, p.Lambda), append(v.values, p.Error)
			weights.at, weights.values = append(weights.at, p.Lambda), append(weights.values, float64(p.Weights))
		}
		s.Figure(v.figure("lambda", "Path of λ", fmt.Sprintf("The error of %s held-out rows for each λ that was tried.", comma(r.HeldOut))))
		s.Figure(weights.figure("weights", "Weights along the path", "How many weights are not 0 for each λ."))
	}
	if r, ok := t.Report.(*learn.SVMReport); ok {
		cPath(s, r.Path, r.C, true)
	}
	if r, ok := t.Report.(*learn.SVRReport); ok {
		cPath(s, r.Path, r.C, false)
	}
	if r, ok := t.Report.(*learn.PrimalReport); ok {
		trials(s, r.Path, r.C)
	}
	if r, ok := t.Report.(*learn.L1Report); ok {
		trials(s, r.Path, r.C)
	}
	if r, ok := t.Report.(*learn.OnlineReport); ok && len(r.Progressive) > 0 {
		loss := path{parameter: "rows learned", measure: "mean loss"}
		wrong := path{parameter: "rows learned", measure: "error", percent: true}
		for _, p := range r.Progressive {
			loss.at, loss.values = append(loss.at, float64(p.Rows)), append(loss.values, p.Loss)
			if p.Error != nil {
				wrong.at, wrong.values = append(wrong.at, float64(p.Rows)), append(wrong.values, *p.Error)
			}
		}
		for _, v := range []path{loss, wrong} {
			if len(v.at) > 0 {
				f := v.figure("progressive-"+v.measure, "Progressive validation: "+v.measure, "The "+v.measure+" of the rows so far, each predicted before it was learned.")
				f.Drawing.(*report.Lines).Marks = nil
				s.Figure(f)
			}
		}
	}
	if r := t.Reduction; r != nil && len(r.Variances) > 0 {
		c := report.Curve{Name: "share of the variance"}
		sum := 0.0
		for i, v := range r.Variances {
			sum += v
			c.X, c.Y = append(c.X, float64(i+1)), append(c.Y, sum/r.Variance)
		}
		s.Figure(&report.Figure{Name: "components", Title: "Principal components", Caption: "The share of the features' variance that the first components hold together.",
			Drawing: &report.Lines{X: report.Axis{Name: "components", Log: len(c.X) > 50}, Y: report.Axis{Name: "share of the variance", Percent: true, To: 1}, Curves: []report.Curve{c}}})
	}
}

func ridgePath(r *learn.RidgeReport, classes bool) *report.Figure {
	how := map[string]string{"held-out": "of held-out rows", "folds": "over folds", "gcv": "by generalised cross-validation", "loo": "of rows left out one by one", "evidence": "by generalised cross-validation"}[r.By]
	chosen := report.Curve{Name: "mean squared error " + how, Points: true}
	loo, gcv := report.Curve{Name: "leave-one-out"}, report.Curve{Name: "generalised cross-validation"}
	best := r.Lambda
	for _, p := range r.Path {
		if p.Chosen {
			best = p.Lambda
		}
		chosen.X, chosen.Y = append(chosen.X, p.Lambda), append(chosen.Y, p.Error)
		if p.LOO != nil {
			loo.X, loo.Y = append(loo.X, p.Lambda), append(loo.Y, *p.LOO)
		}
		if p.GCV != nil {
			gcv.X, gcv.Y = append(gcv.X, p.Lambda), append(gcv.Y, *p.GCV)
		}
	}
	lines := &report.Lines{X: report.Axis{Name: "λ", Log: true}, Y: report.Axis{Name: "mean squared error"}, Curves: []report.Curve{chosen},
		Marks: []report.Mark{{X: best, Name: fmt.Sprintf("chosen: %.3g", best)}}}
	if len(loo.X) > 0 && r.By != "loo" {
		lines.Curves = append(lines.Curves, loo)
	}
	if len(gcv.X) > 0 && r.By != "gcv" && r.By != "evidence" {
		lines.Curves = append(lines.Curves, gcv)
	}
	caption := "The mean squared error " + how + " for each λ that was tried"
	if classes {
		caption += ", the targets being −1 and 1"
	}
	caption += "."
	if best != r.Lambda {
		caption += fmt.Sprintf(" The model, fitted to all rows, has λ = %.3g.", r.Lambda)
	}
	return &report.Figure{Name: "lambda", Title: "Path of λ", Caption: caption, Drawing: lines}
}

// ridgeTable has the numbers of ridgePath, with the effective parameters.
func ridgeTable(r *learn.RidgeReport) *report.Table {
	t := &report.Table{Caption: "Each λ that was tried", Columns: []report.Column{{Name: "λ", Number: true}, {Name: "mean squared error", Number: true}, {Name: "effective parameters", Number: true}, {Name: "−2 log evidence", Number: true}}}
	some := [4]bool{true, true}
	for i, p := range r.Path {
		row := []string{fmt.Sprintf("%.3g", p.Lambda), numberText(p.Error), "", ""}
		if p.Parameters > 0 {
			row[2], some[2] = numberText(p.Parameters), true
		}
		if p.Evidence != nil {
			row[3], some[3] = numberText(*p.Evidence), true
		}
		t.Rows = append(t.Rows, row)
		if p.Chosen {
			t.MarkBest(i, 1)
		}
	}
	// Columns without a number go, the last first.
	for j := 3; j >= 2 && !some[j]; j-- {
		t.Columns = t.Columns[:j]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:j]
		}
	}
	return t
}

func cPath(s *report.Section, points []learn.CPoint, chosen float64, share bool) {
	if len(points) == 0 {
		return
	}
	v := path{parameter: "C", measure: "error of held-out rows", chosen: chosen, percent: share}
	if !share {
		v.measure = "loss of held-out rows"
	}
	for _, p := range points {
		v.at, v.values = append(v.at, p.C), append(v.values, p.Error)
	}
	s.Figure(v.figure("c", "Path of C", "The "+v.measure+" for each C that was tried."))
}

func trials(s *report.Section, list []learn.Trial, chosen float64) {
	wrong := path{parameter: "C", measure: "error of held-out rows", chosen: chosen, percent: true}
	loss := path{parameter: "C", measure: "log loss of held-out rows", chosen: chosen}
	for _, p := range list {
		wrong.at, wrong.values = append(wrong.at, p.C), append(wrong.values, p.Error)
		if p.LogLoss > 0 {
			loss.at, loss.values = append(loss.at, p.C), append(loss.values, p.LogLoss)
		}
	}
	if len(loss.at) > 0 {
		s.Figure(loss.figure("c-log-loss", "Log loss against C", "The log loss of held-out rows for each C that was tried."))
	}
	if len(wrong.at) > 0 {
		s.Figure(wrong.figure("c-error", "Error against C", "The error of held-out rows for each C that was tried."))
	}
}

// dataPage adds what the rows hold that a model was trained on or judged by, or the bags if bags is not nil.
func dataPage(page *report.Page, name, format string, m *model.Model, sum *dataset.Summary, bags *dataset.BagSummary) {
	info := m.Info()
	schema, what := &info.Schema, report.Fact{Name: "rows"}
	if bags != nil {
		sum, schema = bags.Summary, &info.Bag.Schema
		what = report.Fact{Name: "bags", Value: fmt.Sprintf("%s of %s", comma(bags.Bags), membersText(bags.Least, bags.Most))}
	}
	if sum == nil {
		return // a training that was continued
	}
	if bags == nil {
		what.Value = comma(sum.Rows)
	}
	s := page.Section("The data")
	facts := []report.Fact{{Name: "data", Value: name, Remark: format}, what,
		{Name: "dimensions", Value: comma(sum.Dim)}, {Name: "values", Value: rangeText(sum)}}
	if sum.Outputs > 0 {
		facts = append(facts, report.Fact{Name: "labels", Value: labelsText(info)})
	}
	s.Facts(facts...)
	if info.Classes != nil && info.Task == "classify" {
		classShares(s, info.Classes, sum.ClassRows(dataset.NewClasses(info.Classes)), rowWord(m)+"s")
	}
	columnTable(s, schema, sum)
}

// labelsText says what a row's labels are.
func labelsText(info *model.Info) string {
	switch {
	case info.Classes != nil:
		return fmt.Sprintf("one of %d classes", len(info.Classes))
	case info.Labels != nil:
		return fmt.Sprintf("any of %s", plural(len(info.Labels), "label"))
	case info.Outputs == 1:
		return "a number"
	}
	return fmt.Sprintf("%d numbers", info.Outputs)
}

// classShares shows how many rows each class has.
func classShares(s *report.Section, labels []string, counts []int, rows string) {
	total, values := 0, make([]float64, len(counts))
	for i, n := range counts {
		total += n
		values[i] = float64(n)
	}
	if total == 0 {
		return
	}
	if len(labels) <= mostNamed {
		bars := &report.Intervals{X: report.Axis{Name: rows}, Bars: true}
		for i, l := range labels {
			bars.Rows = append(bars.Rows, certain(fmt.Sprintf("%s (%.3g %%)", l, 100*values[i]/float64(total)), values[i]))
		}
		s.Figure(&report.Figure{Name: "classes", Title: "Classes", Caption: "How many " + rows + " each class has.", Drawing: bars})
		return
	}
	h := &report.Histogram{X: report.Axis{Name: rows + " of a class"}, What: "classes"}
	h.Edges, h.Counts = report.Bins(values)
	s.Figure(&report.Figure{Name: "classes", Title: "Classes", Caption: fmt.Sprintf("How many of the %s classes have how many %s.", comma(len(labels)), rows), Drawing: h})
}

// certain is a bar without uncertainty.
func certain(name string, v float64) report.Interval {
	return report.Interval{Name: name, Value: v, Low: v, High: v}
}

// rangeText is the range of all values.
func rangeText(sum *dataset.Summary) string {
	low, high, constant := math.Inf(1), math.Inf(-1), 0
	for _, c := range sum.Columns {
		low, high = min(low, c.Min), max(high, c.Max)
		if c.Min == c.Max {
			constant++
		}
	}
	text := fmt.Sprintf("from %s to %s, %.3g %% of them not 0", numberText(low), numberText(high), 100*sum.Density())
	if constant > 0 {
		text += fmt.Sprintf("; %s constant", plural(constant, "dimension"))
	}
	return text
}

// mostColumns bounds the lines of the table of columns.
const mostColumns = 100

// columnTable shows the range of each column, where these are the columns of a table.
func columnTable(s *report.Section, schema *dataset.Schema, sum *dataset.Summary) {
	if n := len(schema.Columns); n == 0 || n > mostColumns {
		return
	}
	t := &report.Table{Caption: "Columns", Columns: []report.Column{{Name: "column"}, {Name: "least", Number: true}, {Name: "mean", Number: true}, {Name: "greatest", Number: true}, {Name: "deviation", Number: true}, {Name: "not 0", Number: true}}}
	if hasCategories(schema.Columns) {
		t.Columns = append(t.Columns, report.Column{Name: "values"})
	}
	at := 0
	for _, c := range schema.Columns {
		switch {
		case c.Categories != nil:
			t.Rows = append(t.Rows, []string{c.Name, "", "", "", "", "", plural(len(c.Categories), "value") + ": " + shortened(c.Categories, 6)})
		case at < len(sum.Columns):
			v := &sum.Columns[at]
			t.Rows = append(t.Rows, []string{c.Name, numberText(v.Min), numberText(v.Mean), numberText(v.Max), numberText(math.Sqrt(v.Variance)),
				fmt.Sprintf("%.3g %%", 100*float64(v.NonZero)/float64(max(sum.Rows, 1)))})
		}
		at += c.Width()
	}
	s.Table(t)
}

// costPage adds where the time and the memory went.
func costPage(page *report.Page, m *model.Model, r *train.Report) {
	s := page.Section("Time and memory")
	bars := &report.Intervals{X: report.Axis{Name: "seconds"}, Bars: true}
	for _, part := range []report.Interval{certain("read", r.Read), certain("map", r.Map), certain("solve", r.Solve), certain("of it to add up rows", r.Collect), certain("of it to choose "+penaltyOf(m), r.Choose), certain("total", r.Total)} {
		if part.Value > 0 {
			bars.Rows = append(bars.Rows, part)
		}
	}
	s.Figure(&report.Figure{Name: "time", Title: "Time", Caption: fmt.Sprintf("Where the %s went: reading the data, mapping rows, solving; the total has all else as well.", secondsText(duration(r.Total))), Drawing: bars})
	var facts []report.Fact
	if rss := peakRSS(); rss > 0 {
		facts = append(facts, report.Fact{Name: "memory", Value: bytesText(rss) + " at its peak"})
	}
	if r.Features != "" {
		facts = append(facts, report.Fact{Name: "features", Value: r.Features})
	}
	s.Facts(facts...)
}

// evalPage is the report of eval, for which it reads the data once more.
func evalPage(ctx context.Context, m *model.Model, file string, src *rows, metrics *lab.Metrics) (*report.Page, error) {
	data := src.Name()
	task, rows := m.Info().Task, rowWord(m)+"s"
	page := &report.Page{Title: filepath.Base(file) + " on " + filepath.Base(data), Subtitle: summaryText(metrics, task, rows)}
	evaluationPage(page, metrics, task, rows)
	modelPage(page, m)
	if bags, are := src.file.(*dataset.BagFile); are {
		sum, err := dataset.SurveyBags(ctx, bags, dataset.SurveyOptions{})
		if err != nil {
			return nil, err
		}
		dataPage(page, filepath.Base(data), bags.Schema().Format, m, nil, sum)
		return page, nil
	}
	sum, err := dataset.Survey(ctx, src, dataset.SurveyOptions{})
	if err != nil {
		return nil, err
	}
	dataPage(page, filepath.Base(data), src.Schema().Format, m, sum, nil)
	return page, nil
}

// summaryText is an evaluation in a line.
func summaryText(metrics *lab.Metrics, task, rows string) string {
	text := fmt.Sprintf("%s %s", comma(metrics.N), rows)
	if h := headline(metrics, task); h != "" {
		text += ", " + h
	}
	return text
}

// writePages writes the report of train, if one is wanted; name is that of the data, tested
// says which rows the metrics are of. Others add sections after those of the evaluation.
func (t *training) writePages(cmd *cobra.Command, m *model.Model, r *train.Report, metrics *lab.Metrics, name, tested string, more ...func(*report.Page)) error {
	if !t.pages.wanted() {
		return nil
	}
	task, rows := m.Info().Task, rowWord(m)+"s"
	page := &report.Page{Title: filepath.Base(t.out), Subtitle: fmt.Sprintf("Trained on %s: %s", name, plural(m.Info().Training.Rows, rowWord(m)))}
	if metrics != nil {
		page.Subtitle += fmt.Sprintf(". Tested on %s: %s", tested, summaryText(metrics, task, rows))
		evaluationPage(page, metrics, task, rows)
		metrics.Curves = nil // the page has them
	}
	for _, add := range more {
		add(page)
	}
	modelPage(page, m)
	schema := m.Info().Schema
	if r.Bags != nil {
		schema = m.Info().Bag.Schema
	}
	dataPage(page, name, schema.Format, m, r.Summary, r.Bags)
	costPage(page, m, r)
	if err := t.pages.write(cmd, page, t.json); err != nil {
		return fmt.Errorf("%w (the model is in %s)", err, t.out)
	}
	return nil
}
