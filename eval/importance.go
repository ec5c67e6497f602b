package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/model"
)

// Repeats is the default number of permutations of a column.
const Repeats = 5

// ImportanceOptions are the options of Importance; the zero value has useful defaults.
type ImportanceOptions struct {
	// Repeats is the number of permutations of each column; 0 means Repeats.
	Repeats int

	// Seed draws the permutations; 0 means 1.
	Seed uint64

	// Progress, if not nil, is called with the share of the work that is done.
	Progress func(share float64)
}

// Importances are the permutation importances of all columns.
type Importances struct {
	// Rows is the number of rows used, Of that of the data; Unknown of them have labels that the model does not know
	// and count for nothing.
	Rows    int `json:"rows"`
	Of      int `json:"of"`
	Unknown int `json:"unknown,omitempty"`

	Repeats int `json:"repeats"`

	// Measures name the losses: log_loss and error for classes, log_loss and hamming_loss for several labels
	// a row, each without log_loss if the model has no probabilities; 1-r2 for numbers, pinball for a quantile. Losses
	// has them of the rows as they are.
	Measures []string  `json:"measures"`
	Losses   []float64 `json:"losses"`

	// Columns are those of the data, those with the largest rise of the first measure first.
	Columns []ColumnImportance `json:"columns"`
}

// ColumnImportance is the importance of a column.
type ColumnImportance struct {
	Column string `json:"column"`

	// Rises has one rise for each measure.
	Rises []Rise `json:"rises"`

	at int
}

// Rise is how much a loss rises if the values of a column are permuted.
type Rise struct {
	// Mean is over rows and repeats.
	Mean float64 `json:"mean"`

	// SE is its standard error, from the spread over the rows of their mean rise: it covers the draw of the
	// rows as well as that of the permutations.
	SE float64 `json:"se"`

	// RepeatSE is the standard error over the repeats alone, of the permutations for these rows.
	RepeatSE float64 `json:"repeat_se"`
}

// Importance measures how much the model needs each column, by permutation (Breiman, "Random forests", 2001; Fisher,
// Rudin and Dominici, "All models are wrong, but many are useful", 2019): the values of a column are permuted among
// the rows, all dimensions of a categorical one together, and the loss of the predictions rises. The rows should be
// none of the training. Columns that say the same share their importance: permuting one leaves the other.
//
// Time: at most (columns × repeats + 1) × rows predictions; a row whose value stays the same is not predicted again.
// Memory: that of the rows and 16 bytes per row and measure.
func Importance(ctx context.Context, m *model.Model, rows *Rows, opt ImportanceOptions) (*Importances, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	if opt.Repeats == 0 {
		opt.Repeats = Repeats
	}
	if opt.Repeats < 2 {
		return nil, fmt.Errorf("%d repeats have no spread; give 2 or more", opt.Repeats)
	}
	l, err := newLosses(m, rows)
	if err != nil {
		return nil, err
	}
	scores, err := rows.scores(ctx, m)
	if err != nil {
		return nil, err
	}
	before, err := l.all(scores)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rows.Name(), err)
	}
	p := &permuter{l: l, before: before, repeats: opt.Repeats, columns: Columns(m), column: -1,
		rise: make([]float64, len(before)), byRepeat: make([]float64, opt.Repeats*len(l.measures)), after: make([]float64, len(l.measures))}
	out := &Importances{Rows: rows.X.Len(), Of: rows.Of, Unknown: l.unknown, Repeats: opt.Repeats, Measures: l.measures,
		Losses: make([]float64, len(l.measures))}
	for i, w := range l.weight {
		for k := range out.Losses {
			out.Losses[k] += w * before[i*len(out.Losses)+k] / l.allWeight
		}
	}
	for c := range p.columns {
		out.Columns = append(out.Columns, ColumnImportance{Column: p.columns[c].Name, Rises: make([]Rise, len(l.measures)), at: c})
	}
	p.out = out
	if err := p.run(ctx, m, rows, opt); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.Columns, func(a, b ColumnImportance) int { return cmp.Compare(b.Rises[0].Mean, a.Rises[0].Mean) })
	return out, nil
}

// DefaultRows is how many rows suffice for Importance with so many repeats: 5000, or fewer where these took more than
// two million predictions, but at least 500.
func DefaultRows(m *model.Model, repeats int) int {
	return min(5000, max(500, 2_000_000/max(1, len(Columns(m))*repeats)))
}

// Leading are the first n columns by importance, as DependenceOptions takes them.
func (imp *Importances) Leading(n int) []int {
	var list []int
	for _, c := range imp.Columns[:min(n, len(imp.Columns))] {
		list = append(list, c.at)
	}
	return list
}

// permuter gathers what permutations do to the losses, a column at a time.
type permuter struct {
	l       *losses
	before  []float64 // losses of the rows, row-major
	repeats int
	columns []Column
	out     *Importances

	column   int       // the one gathered, -1 for none
	rise     []float64 // of each row and measure, added up over the repeats
	byRepeat []float64 // rise of each repeat and measure
	after    []float64
}

// permuted is a row in which a column has the value of another.
type permuted struct{ column, repeat, row int }

func (p *permuter) run(ctx context.Context, m *model.Model, rows *Rows, opt ImportanceOptions) error {
	x, n := rows.X, rows.X.Len()
	b := newBlock(ctx, m, x, p.add)
	mask := make([]bool, m.Dim())
	varies := varying(rows, p.columns)
	for c := range p.columns {
		if !varies[c] {
			continue
		}
		if err := ctx.Err(); err != nil { // columns of rare values fill no block for long
			return err
		}
		cover(mask, p.columns, []int{c}, true)
		for repeat := range opt.Repeats {
			to := random.New(max(opt.Seed, 1), "explain.importance", uint64(c), uint64(repeat)).Perm(n)
			for i, j := range to {
				if p.columns[c].same(x, i, j) {
					continue
				}
				if err := b.add(permuted{c, repeat, i}, x, i, x, j, mask); err != nil {
					return err
				}
			}
			if opt.Progress != nil {
				opt.Progress(float64(c*opt.Repeats+repeat+1) / float64(len(p.columns)*opt.Repeats))
			}
		}
		cover(mask, p.columns, []int{c}, false)
	}
	if err := b.flush(); err != nil {
		return err
	}
	p.finish()
	return nil
}

// varying says which columns may have several values: sparse rows have most columns nowhere.
func varying(rows *Rows, columns []Column) []bool {
	varies := make([]bool, len(columns))
	if rows.X.CSR == nil {
		for c := range varies {
			varies[c] = true
		}
		return varies
	}
	of := columnOf(columns)
	for i := range rows.X.Len() {
		idx, _ := rows.X.CSR.Row(i)
		for _, dim := range idx {
			varies[of[dim]] = true
		}
	}
	return varies
}

// add takes the scores of a row. Rows come in the order of their columns.
func (p *permuter) add(t permuted, scores []float32) {
	if t.column != p.column {
		p.finish()
		p.column = t.column
	}
	k := len(p.l.measures)
	p.l.of(p.after, t.row, scores)
	for q, v := range p.after {
		d := v - p.before[t.row*k+q]
		p.rise[t.row*k+q] += d
		p.byRepeat[t.repeat*k+q] += d * p.l.weight[t.row]
	}
}

// finish writes the rises of the column gathered.
func (p *permuter) finish() {
	if p.column < 0 {
		return
	}
	k, n, times := len(p.l.measures), len(p.l.weight), float64(p.repeats)
	for q := range k {
		mean := 0.0
		for i, w := range p.l.weight {
			mean += w * p.rise[i*k+q]
		}
		mean /= p.l.allWeight * times
		spread := 0.0
		for i, w := range p.l.weight {
			d := w * (p.rise[i*k+q]/times - mean)
			spread += d * d
		}
		over := 0.0
		for r := range p.repeats {
			d := p.byRepeat[r*k+q]/p.l.allWeight - mean
			over += d * d
		}
		known := float64(n - p.l.unknown)
		p.out.Columns[p.column].Rises[q] = Rise{Mean: mean,
			SE:       math.Sqrt(spread*known/max(known-1, 1)) / p.l.allWeight,
			RepeatSE: math.Sqrt(over / (times - 1) / times)}
	}
	clear(p.rise)
	clear(p.byRepeat)
}
