package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/rfm"
	"mercer/kernel"
	"mercer/matrix"
)

// Mean targets are taken if they make the squared error of held-out rows meansMargin of what it was. Small machines on
// meansRows rows tell. mostMeanOutputs bounds the targets, each of which takes a dimension for every column.
const (
	meansMargin     = 0.99
	meansRows       = 3000
	meansCentres    = 350
	meansRounds     = 3
	mostMeanOutputs = 10
)

// meanSums are for the mean targets of the columns that may have them; nil if there are none.
func (f *problem) meanSums(schema *dataset.Schema) *dataset.MeanSums {
	var first []int // dimension of each column
	at := 0
	for i := range f.schema.Columns {
		first = append(first, at)
		at += f.schema.Columns[i].Width()
	}
	return dataset.NewMeanSums(schema, f.outputs, func(column int) bool { return f.sum.Columns[first[column]].Integer }, f.cfg.Seed)
}

// learnMeans puts the mean targets of their values in place of categories, and of whole numbers that are names, where that
// helps on held-out rows: of none, of the categories, or of the numbers as well.
func (f *problem) learnMeans() (surveyed, error) {
	asked := f.cfg.targetMeans()
	if !f.cfg.own() || asked == "none" || f.outputs > mostMeanOutputs {
		return f.surveyed, nil
	}
	rows := dataset.AllValues(f.src)
	sums := f.meanSums(rows.Schema())
	if sums == nil {
		return f.surveyed, nil
	}
	defer timed(&f.report.Metric)()
	if err := f.addMeans(rows, sums); err != nil {
		return f.surveyed, err
	}
	if _, most := sums.Source(rows, true, false); len(most) == 0 {
		return f.surveyed, nil
	}
	auto, best, why := asked == "auto", f.surveyed, "as asked"
	var none, least float64
	var found []string
	var err error
	switch {
	case auto && f.meansNeeded():
		least, why = math.Inf(1), fmt.Sprintf("categories have %s dimensions", units.Count(f.sum.Dim))
	case auto:
		if none, err = f.heldOut(f.src, sums); err != nil {
			return best, err
		}
		least = meansMargin * none
	}
	before := 0
	for _, numbers := range []bool{false, true} {
		src, columns := sums.Source(rows, numbers, false)
		if len(columns) == before || !auto && numbers != (asked == "all") {
			continue
		}
		before = len(columns)
		with, e := *f, 0.0
		if with.surveyed, err = f.survey(src, nil); err != nil {
			return best, err
		}
		with.seen = f.seen
		if auto {
			apart, _ := sums.Source(rows, numbers, true)
			if e, err = with.heldOut(apart, sums); err != nil {
				return best, err
			}
			if e >= least {
				continue
			}
			if none > 0 {
				why = fmt.Sprintf("a squared error of %.3g on held-out rows, %.3g without", e, none)
			}
		}
		best, least, found = with.surveyed, e, columns
	}
	if f.report.Summary = best.sum; found != nil {
		f.why["means"] = fmt.Sprintf("%s (%s)", strings.Join(found, ", "), why)
	}
	return best, nil
}

// addMeans adds all rows to the sums of targets.
func (f *problem) addMeans(src dataset.Source, sums *dataset.MeanSums) error {
	k := f.outputs
	var y, weights []float64
	for b, err := range dataset.Each(f.ctx, src) {
		if err != nil {
			return err
		}
		n := b.X.Len()
		y, weights = slices.Grow(y[:0], n*k)[:n*k], slices.Grow(weights[:0], n)[:n]
		if err := f.targets(b.Batch, y); err != nil {
			return err
		}
		for i := range n {
			weights[i] = f.weight(b.Batch, i)
		}
		sums.Add(b.Batch, y, weights)
	}
	return nil
}

// heldOut is the squared error, of the rows of src that are apart and divided by that of their mean, of the better of two small machines
// whose metrics are learned from the others, with the usual scaling.
func (f *problem) heldOut(src dataset.Source, sums *dataset.MeanSums) (float64, error) {
	cfg := f.cfg.pipeline()
	if f.cfg.Scale == "auto" {
		cfg.Scale, _ = pipeline.ChooseScale(kernel.RBF.Usual(), f.sum)
	}
	p, _, err := pipeline.SettleScaling(*cfg, f.rows())
	if err != nil {
		return 0, err
	}
	drawn := func(apart bool) (*matrix.Dense, []float64, []float64, error) {
		part, n := *f, 0
		for row := range f.sum.Rows {
			if sums.Apart(row) == apart {
				n++
			}
		}
		sum := *f.sum
		sum.Rows = n
		part.sum, part.src = &sum, dataset.Keep(src, func(row int) bool { return sums.Apart(row) == apart })
		x, y, weights, err := part.drawSample(meansRows)
		if err != nil {
			return nil, nil, nil, err
		}
		scaled := p.Pass().Scale(x)
		if scaled.CSR != nil {
			dense := &matrix.Dense{}
			scaled.CSR.Densify(dense)
			return dense, y, weights, nil
		}
		return scaled.Dense, y, weights, nil
	}
	x, y, weights, err := drawn(false)
	if err != nil {
		return 0, err
	}
	held, want, heldWeights, err := drawn(true)
	if err != nil {
		return 0, err
	}
	all := &matrix.Dense{Rows: x.Rows + held.Rows, Cols: x.Cols, Stride: x.Cols, Data: slices.Concat(x.Contiguous(), held.Contiguous())}
	opt := metric.Options{Form: "diagonal", Classes: f.classes != nil, Rounds: meansRounds, Rows: meansRows * 2 / 3, Landmarks: meansCentres, Seed: f.cfg.Seed}
	for row := range held.Rows {
		opt.Held = append(opt.Held, x.Rows+row)
	}
	if weights != nil {
		weights = slices.Concat(weights, heldWeights)
	}
	least := math.Inf(1)
	for i, k := range rfm.Kinds(f.sum.Dim)[:2] {
		opt.Kernel = k.Kernel
		opt.Progress = func(round, rounds int) { f.progress("columns", 0, (float64(i)+float64(round)/float64(rounds+1))/2) }
		learned, err := metric.Learn(f.ctx, matrix.Rows{Dense: all}, slices.Concat(y, want), f.outputs, weights, opt)
		if err != nil {
			return 0, f.located(err)
		}
		least = min(least, learned.Report.Rounds[learned.Report.Best].Error)
	}
	return least, nil
}
