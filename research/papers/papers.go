// Package papers repeats the experiments of the papers behind Mercer, and compares
// the results with theirs. A Table is one published table: its data, its figures,
// and the experiment that reproduces them.
package papers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mercer/internal/engine/vec"
)

// Table is a table of a paper, or one modelled on it with other data.
type Table struct {
	Name   string // such as S14-4.1
	Title  string
	Source string

	// Protocol describes the experiment, and what the paper leaves open.
	Protocol string

	// Data is the data set folder that the table needs; "" if it generates its data.
	Data string

	Corner  string // what the figures are
	Gain    bool   // more is better; otherwise they are errors, and less is better
	Columns []string
	Rows    []Row

	// LackingRows and LackingColumns are how many of the last rows and columns need data that are not
	// available: they show only the paper's figures.
	LackingRows, LackingColumns int

	// AloneRows and AloneColumns are how many rows and columns before those show the paper's figures alone: of a method that is
	// not here, or one that takes the paper hours.
	AloneRows, AloneColumns int

	// Unmarked are the columns whose figures are not compared with the paper's: times, which
	// are from another machine, and sizes.
	Unmarked []int

	// Digits means that figures are neither errors nor gains: they either have the digits that the
	// paper prints or do not.
	Digits bool

	// Certain means that no figure depends on the seed, so that one run is enough.
	Certain bool

	// Timed means that figures are times, so that seeds run one after the other.
	Timed bool

	// Cost is roughly how many seconds one seed takes on two cores.
	Cost float64

	// Clouds are the points, for seed 1, of a table modelled on a scatter plot; otherwise nil.
	Clouds func() ([]Cloud, error)

	// open reads the data, or a few rows of them if quick.
	open func(ctx context.Context, dir string, quick bool) (run, error)
}

// made is how many of the first rows and columns have data.
func (t *Table) made() (rows, columns int) {
	return len(t.Rows) - t.LackingRows - t.AloneRows, len(t.Columns) - t.LackingColumns - t.AloneColumns
}

// Row is a row of a table: its name and the paper's figure for every column, nil if it has
// none, or without text where it has none.
type Row struct {
	Name   string
	Theirs []Figure
}

// Figure is a number as a paper prints it.
type Figure struct {
	// Text is the figure as printed; "?" if the copy of the paper is illegible there.
	Text string

	Mean float64
	SD   float64 // over the paper's runs; 0 if not given
}

// Readable reports whether there is a legible figure.
func (f Figure) Readable() bool { return f.Text != "?" && f.Text != "" }

// rounding is half a unit of the last digit printed.
func (f Figure) rounding() float64 {
	mean, _, _ := strings.Cut(f.Text, "±")
	mean, power, _ := strings.Cut(mean, "e")
	_, decimals, _ := strings.Cut(mean, ".")
	exponent, _ := strconv.Atoi(power) // 0 where there is none; figures has read it
	return 0.5 * math.Pow10(exponent-len(decimals))
}

// figures reads figures as a paper prints them: means, or mean±sd, separated by blanks; ? stands
// for one that cannot be read, and - for none. An empty list is not allowed.
func figures(text string) []Figure {
	var all []Figure
	for word := range strings.FieldsSeq(text) {
		f := Figure{Text: word}
		if word == "-" {
			f.Text = ""
		}
		mean, sd, spread := strings.Cut(word, "±")
		var err, err2 error
		if f.Readable() {
			f.Mean, err = strconv.ParseFloat(mean, 64)
		}
		if spread {
			f.SD, err2 = strconv.ParseFloat(sd, 64)
		}
		if err := errors.Join(err, err2); err != nil {
			panic("papers: " + err.Error()) // the tables are in this program
		}
		all = append(all, f)
	}
	if !slices.ContainsFunc(all, func(f Figure) bool { return f.Text != "" }) {
		return nil
	}
	return all
}

// run prepares the experiment of one seed, which then computes its rows.
type run func(seed uint64) (experiment, error)

// experiment computes row i of a table that has data: the figures of the first columns, of which
// there are fewer than those with data only if quick.
type experiment func(i int) ([]float64, error)

// Tables lists the tables.
func Tables() []*Table {
	return slices.Concat(sivertsen2014(), sivertsenFigures(), sivertsenSpeed(), []*Table{sivertsenDigits()}, lopez2018(),
		lopez2019(), []*Table{lopezTemplates()}, lopezDependence(), lopezTimes(), lopezFigures(),
		[]*Table{lopezTests(), lopezQuadratic(), lopezAccuracy(), lopezF1(), lopezDegrees()}, kumarResults(),
		kumarHistograms(), histograms(), []*Table{severalKernels()})
}

// Papers are the marks of the papers, such as S14.
func Papers() (marks []string) {
	for _, i := range Inventory() {
		if !slices.Contains(marks, i.Paper) {
			marks = append(marks, i.Paper)
		}
	}
	return marks
}

// Paper is the mark of the table's paper.
func (t *Table) Paper() string {
	mark, _, _ := strings.Cut(t.Name, "-")
	return mark
}

// Find returns the table with a name. If there is none its error lists those of the paper that
// the name begins with, or of all papers.
func Find(name string) (*Table, error) {
	var all, ofPaper []string
	paper, _, _ := strings.Cut(name, "-")
	for _, t := range Tables() {
		if strings.EqualFold(t.Name, name) {
			return t, nil
		}
		if all = append(all, t.Name); strings.EqualFold(t.Paper(), paper) {
			ofPaper = append(ofPaper, t.Name)
		}
	}
	if ofPaper != nil {
		return nil, fmt.Errorf("%q is not a table; those of %s are %s", name, strings.ToUpper(paper), strings.Join(ofPaper, ", "))
	}
	return nil, fmt.Errorf("%q is not a table; known are %s", name, strings.Join(all, ", "))
}

// Options define how a table is reproduced.
type Options struct {
	Dir   string // where the folders of the data sets are
	Seeds int    // how many runs; seeds are 1, 2, …
	Quick bool   // one seed, few rows, and one column where columns are expensive

	// Journal is a file that stores each row of each seed as soon as it is computed, for any number of
	// tables, so that an interrupted run can be resumed, or more seeds added. It does not detect other data or
	// another version of the program. "" for none.
	Journal string

	// Progress, if not nil, is called with the share of the work that is done.
	Progress func(share float64)
}

// Result is a reproduced table.
type Result struct {
	*Table
	Seeds int
	Quick bool

	// Cells are ours, by row and column.
	Cells [][]Cell

	// Missing describes missing data, in which case Cells have no figures.
	Missing string
}

// Cell is our figure for a cell of a table.
type Cell struct {
	Mean, SD float64 // over the seeds; SD is 0 for one seed
	Mark     Mark
}

// Mark compares our figure with the paper's.
type Mark string

const (
	// Within: the means differ by no more than one standard deviation of the paper's
	// runs (ours if the paper gives none) plus the paper's rounding.
	Within Mark = "within"
	Better Mark = "better" // less by more than that, of gains more
	Worse  Mark = "worse"  // the other way round

	Differs Mark = "differs" // of digits: they are not the paper's, neither cut nor rounded

	Unreadable Mark = "unreadable" // the paper's figure is
	NotRun     Mark = "not run"    // left out because of Quick
	Alone      Mark = "theirs alone"
	NoData     Mark = "data not available"
	NoFigure   Mark = "" // the paper has none, or one that is not to be compared, or nothing says how figures scatter
)

// Run reproduces a table. If data are missing, the result says so.
func Run(ctx context.Context, t *Table, opt Options) (*Result, error) {
	if opt.Quick {
		opt.Seeds = 1
	}
	if opt.Seeds < 1 {
		return nil, fmt.Errorf("%s: %d seeds; 1 or more are needed", t.Name, opt.Seeds)
	}
	if t.Certain {
		opt.Seeds = 1
	}
	done, err := t.openJournal(opt)
	if err != nil {
		return nil, err
	}
	defer done.file.Close()
	r := &Result{Table: t, Seeds: opt.Seeds, Quick: opt.Quick}
	prepare, err := t.open(ctx, opt.Dir, opt.Quick)
	var missing *fs.PathError
	if errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		r.Missing = missing.Path
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	var values [][][]float64 // by row, seed, column
	if r.Missing == "" {
		if values, err = t.values(ctx, prepare, done, opt); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	rows, columns := t.made()
	for i, row := range t.Rows {
		cells := make([]Cell, len(t.Columns))
		for j := range cells {
			switch {
			case i >= rows && i < rows+t.AloneRows, i < rows && j >= columns && j < columns+t.AloneColumns:
				cells[j].Mark = Alone
			case r.Missing != "" || i >= rows || j >= columns:
				cells[j].Mark = NoData
			case j >= len(values[i][0]):
				cells[j].Mark = NotRun
			default:
				mean, sd := meanSD(values[i], j)
				cells[j] = Cell{mean, sd, NoFigure}
				switch {
				case row.Theirs == nil || slices.Contains(t.Unmarked, j):
				case t.Digits:
					cells[j].Mark = digitsMark(row.Theirs[j], mean)
				default:
					cells[j].Mark = mark(row.Theirs[j], mean, sd, t.Gain, opt.Seeds > 1 || t.Certain)
				}
			}
		}
		r.Cells = append(r.Cells, cells)
	}
	return r, nil
}

// values runs all seeds, by row, seed and column. Two seeds run at the same time,
// as much of the work of one is single-threaded; not more, as some take 2 GB. If times are
// measured only one runs.
func (t *Table) values(ctx context.Context, prepare run, made *rowsMade, opt Options) ([][][]float64, error) {
	rows, _ := t.made()
	values := make([][][]float64, rows)
	for i := range values {
		values[i] = make([][]float64, opt.Seeds)
	}
	errs := make([]error, opt.Seeds)
	var mu sync.Mutex
	done := 0
	one := func(s int) error {
		var e experiment
		var err error
		if !made.all(s + 1) {
			if e, err = prepare(uint64(s + 1)); err != nil {
				return err
			}
		}
		for i, row := range t.Rows[:rows] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if v, there := made.rows[s+1][row.Name]; there {
				values[i][s] = v
			} else if values[i][s], err = e(i); err != nil {
				return fmt.Errorf("%s: %w", row.Name, err)
			} else if err := made.add(s+1, row.Name, values[i][s]); err != nil {
				return err
			}
			mu.Lock()
			done++
			if opt.Progress != nil {
				opt.Progress(float64(done) / float64(opt.Seeds*rows))
			}
			mu.Unlock()
		}
		return nil
	}
	all := func(lo, hi int) {
		for s := lo; s < hi; s++ {
			errs[s] = one(s)
		}
	}
	if t.Timed {
		all(0, opt.Seeds)
	} else {
		vec.Parallel(opt.Seeds, (opt.Seeds+1)/2, all)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// mark compares our mean and standard deviation with a paper's figure. known means that sd is the scatter of
// our runs: for a single seed it is unknown, and then only the paper's own deviation counts.
func mark(theirs Figure, mean, sd float64, gain, known bool) Mark {
	if theirs.Text == "" {
		return NoFigure
	}
	if !theirs.Readable() {
		return Unreadable
	}
	if theirs.SD == 0 && !known {
		return NoFigure
	}
	less, more := Better, Worse
	if gain {
		less, more = more, less
	}
	scatter := theirs.SD
	if scatter == 0 {
		scatter = sd
	}
	scatter += theirs.rounding()
	switch d := mean - theirs.Mean; {
	case d > scatter:
		return more
	case d < -scatter:
		return less
	}
	return Within
}

// digitsMark reports whether a figure has the digits that a paper prints, truncated or rounded.
func digitsMark(theirs Figure, value float64) Mark {
	switch {
	case theirs.Text == "":
		return NoFigure
	case !theirs.Readable():
		return Unreadable
	case math.Abs(value-theirs.Mean) <= 2*theirs.rounding():
		return Within
	}
	return Differs
}

// meanSD returns the mean and the standard deviation (n - 1) of column j over the seeds.
func meanSD(bySeed [][]float64, j int) (mean, sd float64) {
	n := float64(len(bySeed))
	for _, v := range bySeed {
		mean += v[j] / n
	}
	if n < 2 {
		return mean, 0
	}
	for _, v := range bySeed {
		sd += (v[j] - mean) * (v[j] - mean) / (n - 1)
	}
	if sd = math.Sqrt(sd); sd < 1e-12*math.Abs(mean) { // the mean was rounded
		sd = 0
	}
	return mean, sd
}
