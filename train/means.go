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
	if !f.mayHaveMeans() {
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
	made := map[bool]surveyed{}
	with := func(numbers bool) (*problem, error) {
		with := *f
		var err error
		with.surveyed, err = f.survey(sums.Source(rows, numbers, false), nil)
		with.seen = f.seen
		made[numbers] = with.surveyed
		return &with, err
	}
	c, err := f.chooseMeans(sums, f.meansNeeded(), func() (float64, error) { return f.heldOut(f.src, sums) }, func(numbers bool) (float64, error) {
		with, err := with(numbers)
		if err != nil {
			return 0, err
		}
		return with.heldOut(sums.Source(rows, numbers, true), sums)
	})
	if err != nil || c.Columns == nil {
		f.report.Summary = f.sum
		return f.surveyed, err
	}
	best, have := made[c.Numbers]
	if !have {
		p, err := with(c.Numbers)
		if err != nil {
			return f.surveyed, err
		}
		best = p.surveyed
	}
	f.report.Summary = best.sum
	f.why["means"] = c.String()
	return best, nil
}

// mayHaveMeans says whether columns may have mean targets.
func (f *problem) mayHaveMeans() bool {
	return f.cfg.own() && f.cfg.targetMeans() != "none" && f.outputs <= mostMeanOutputs
}

// meanChoice is which columns have means.
type meanChoice struct {
	Numbers bool     `json:"numbers,omitempty"` // those of whole numbers that are names too
	Columns []string `json:"columns,omitempty"` // nil: none
	Why     string   `json:"why,omitempty"`
}

func (c meanChoice) String() string {
	return fmt.Sprintf("%s (%s)", strings.Join(c.Columns, ", "), c.Why)
}

// chooseMeans chooses by the squared errors of held-out rows without means, which are needed if rows are no table otherwise, and with them.
func (f *problem) chooseMeans(sums *dataset.MeanSums, needed bool, without func() (float64, error),
	with func(numbers bool) (float64, error)) (c meanChoice, err error) {
	asked := f.cfg.targetMeans()
	auto, none, least := asked == "auto", 0.0, math.Inf(1)
	if len(sums.Columns(true)) == 0 {
		return c, nil
	}
	if auto && !needed {
		if none, err = without(); err != nil {
			return c, err
		}
		least = meansMargin * none
	}
	before := 0
	for _, numbers := range []bool{false, true} {
		columns := sums.Columns(numbers)
		if len(columns) == before || !auto && numbers != (asked == "all") {
			continue
		}
		before = len(columns)
		why, e := "as asked", 0.0
		if auto {
			if e, err = with(numbers); err != nil {
				return c, err
			}
			if e >= least {
				continue
			}
			if why = fmt.Sprintf("categories have %s dimensions", units.Count(f.sum.Dim)); none > 0 {
				why = fmt.Sprintf("a squared error of %.3g on held-out rows, %.3g without", e, none)
			}
		}
		c, least = meanChoice{numbers, columns, why}, e
	}
	return c, nil
}

// addMeans adds all rows to the sums of targets.
func (f *problem) addMeans(src dataset.Source, sums *dataset.MeanSums) error {
	return f.eachMean(src, func(b *matrix.Batch, y, weights []float64) error {
		sums.Add(b, y, weights)
		return nil
	})
}

// eachMean calls body with all rows, their targets and weights.
func (f *problem) eachMean(src dataset.Source, body func(b *matrix.Batch, y, weights []float64) error) error {
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
		if err := body(b.Batch, y, weights); err != nil {
			return err
		}
	}
	return nil
}

// meanTrial are rows to learn from, and others that judge.
type meanTrial struct {
	x, held              matrix.Rows
	y, want              []float64
	weights, heldWeights []float64 // nil: all 1
}

// heldOut judges how rows are coded by those of src that are apart.
func (f *problem) heldOut(src dataset.Source, sums *dataset.MeanSums) (float64, error) {
	var t meanTrial
	var err error
	drawn := func(apart bool) (matrix.Rows, []float64, []float64, error) {
		part, n := *f, 0
		for row := range f.sum.Rows {
			if sums.Apart(row) == apart {
				n++
			}
		}
		sum := *f.sum
		sum.Rows = n
		part.sum, part.src = &sum, dataset.Keep(src, func(row int) bool { return sums.Apart(row) == apart })
		return part.drawSample(meansRows)
	}
	if t.x, t.y, t.weights, err = drawn(false); err != nil {
		return 0, err
	}
	if t.held, t.want, t.heldWeights, err = drawn(true); err != nil {
		return 0, err
	}
	return f.judgeMeans(&t)
}

// judgeMeans is the squared error, of rows that are held and divided by that of their mean, of the better of two small machines whose metrics
// are learned from the others, with the usual scaling.
func (f *problem) judgeMeans(t *meanTrial) (float64, error) {
	cfg := f.cfg.pipeline()
	if f.cfg.Scale == "auto" {
		cfg.Scale, _ = pipeline.ChooseScale(kernel.RBF.Usual(), f.sum)
	}
	p, _, err := pipeline.SettleScaling(*cfg, f.rows())
	if err != nil {
		return 0, err
	}
	scaled := func(x matrix.Rows) *matrix.Dense {
		rows := p.Pass().Scale(x)
		if rows.CSR == nil {
			return rows.Dense
		}
		dense := &matrix.Dense{}
		rows.CSR.Densify(dense)
		return dense
	}
	x, held := scaled(t.x), scaled(t.held)
	all := &matrix.Dense{Rows: x.Rows + held.Rows, Cols: x.Cols, Stride: x.Cols, Data: slices.Concat(x.Contiguous(), held.Contiguous())}
	opt := metric.Options{Form: "diagonal", Classes: f.classes != nil, Rounds: meansRounds, Rows: meansRows * 2 / 3, Landmarks: meansCentres, Seed: f.cfg.Seed}
	for row := range held.Rows {
		opt.Held = append(opt.Held, x.Rows+row)
	}
	weights := t.weights
	if weights != nil {
		weights = slices.Concat(weights, t.heldWeights)
	}
	least := math.Inf(1)
	for i, k := range rfm.Kinds(f.sum.Dim)[:2] {
		opt.Kernel = k.Kernel
		opt.Progress = func(round, rounds int) { f.progress("columns", 0, (float64(i)+float64(round)/float64(rounds+1))/2) }
		learned, err := metric.Learn(f.ctx, matrix.Rows{Dense: all}, slices.Concat(t.y, t.want), f.outputs, weights, opt)
		if err != nil {
			return 0, f.located(err)
		}
		least = min(least, learned.Report.Rounds[learned.Report.Best].Error)
	}
	return least, nil
}
