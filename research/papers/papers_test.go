package papers

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Every row has a figure for every column; spreads are given by all papers but S14.
func TestTablesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range Tables() {
		if seen[table.Name] {
			t.Errorf("two tables are called %s", table.Name)
		}
		seen[table.Name] = true
		if found, err := Find(strings.ToLower(table.Name)); err != nil || found.Title != table.Title {
			t.Errorf("%s is not found by its name: %v", table.Name, err)
		}
		if table.Title == "" || table.Source == "" || table.Protocol == "" || table.Corner == "" ||
			len(table.Columns) == 0 || len(table.Rows) == 0 {
			t.Errorf("%s lacks something", table.Name)
		}
		rows := map[string]bool{}
		for _, row := range table.Rows {
			if rows[row.Name] {
				t.Errorf("%s: two rows are called %s", table.Name, row.Name)
			}
			rows[row.Name] = true
			if row.Theirs != nil && len(row.Theirs) != len(table.Columns) {
				t.Errorf("%s: %s: %d figures for %d columns", table.Name, row.Name, len(row.Theirs), len(table.Columns))
			}
			for j, f := range row.Theirs {
				if !f.Readable() {
					continue
				}
				if table.Digits || slices.Contains(table.Unmarked, j) || strings.HasPrefix(table.Name, "S14-F") {
					continue // no errors of one kind
				}
				spread := strings.HasPrefix(table.Name, "LS")
				if table.Corner == "F1" {
					if !(f.Mean > 0.5 && f.Mean < 1 && f.SD > 0 && f.SD < 0.02) {
						t.Errorf("%s: %s, %s: %s is no F1", table.Name, row.Name, table.Columns[j], f.Text)
					}
					continue
				}
				if strings.HasPrefix(table.Name, "L12") { // of other data than ours: a sixth of 1,000 classes to half of 20 are right
					if !(f.Mean > 11 && f.Mean < 50 && f.SD < 1.5) || j < len(table.Columns)-table.LackingColumns {
						t.Errorf("%s: %s, %s: %s is no accuracy on the paper's data", table.Name, row.Name, table.Columns[j], f.Text)
					}
					continue
				}
				if table.Gain {
					if !(f.Mean > 50 && f.Mean < 100 && (f.SD > 0) == byRandomMap(row.Name) && f.SD < 1) {
						t.Errorf("%s: %s, %s: %s is no accuracy in percent", table.Name, row.Name, table.Columns[j], f.Text)
					}
					continue
				}
				if !(f.Mean > 0) || spread != (f.SD > 0) || spread && !(f.Mean < 1 && f.SD < f.Mean) {
					t.Errorf("%s: %s, %s: %s is no error", table.Name, row.Name, table.Columns[j], f.Text)
				}
			}
		}
	}
	for name, want := range map[string]string{"LS19-9.9": "those of LS19 are LS19-4.2, ", "X-1": "known are S14-4.1, "} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) || want[0] == 't' && strings.Contains(err.Error(), "S14") {
			t.Errorf("a table that is not there: %v", err)
		}
	}
	for _, table := range Tables() {
		if !slices.Contains(Papers(), table.Paper()) {
			t.Errorf("%s is of %s, which is no paper", table.Name, table.Paper())
		}
	}
}

// byRandomMap says that a row of accuracies is over several maps.
func byRandomMap(row string) bool {
	return row != "linear SVM" && row != "(γ x·y + 1)², exact" && !strings.HasPrefix(row, "rbf, exact")
}

// In all tables errors fall as D grows, up to rounding and the scatter of both figures, and
// a random projection from the feature space is a projection: its figures are those of χ²_D.
func TestFiguresAreThoseOfErrors(t *testing.T) {
	for _, table := range Tables() {
		// These have no columns of one measure.
		if table.Gain || table.Digits || table.Unmarked != nil || strings.HasPrefix(table.Name, "S14-F") || table.Name == "K10-1" {
			continue
		}
		if table.Name == "S14-4.1" {
			for j := range table.Columns {
				for i := 1; i < len(table.Rows); i++ {
					if a, b := table.Rows[i-1].Theirs[j], table.Rows[i].Theirs[j]; b.Mean >= a.Mean {
						t.Errorf("%s: %s: %s, then %s", table.Name, table.Columns[j], a.Text, b.Text)
					}
				}
			}
			continue
		}
		for _, row := range table.Rows {
			for j := 1; j < len(row.Theirs); j++ {
				a, b := row.Theirs[j-1], row.Theirs[j]
				if a.Readable() && b.Readable() && b.Mean > a.Mean+a.SD+b.SD+0.001 {
					t.Errorf("%s: %s: %s, then %s", table.Name, row.Name, a.Text, b.Text)
				}
			}
			for j, f := range row.Theirs {
				if !strings.HasPrefix(row.Name, "φ + RP") {
					break
				}
				d, err := strconv.Atoi(strings.TrimPrefix(table.Columns[j], "D = "))
				if err != nil {
					t.Fatal(err)
				}
				if want := projected(d); math.Abs(f.Mean-want) > 2*f.SD+f.rounding() {
					t.Errorf("%s: %s, D = %d: %s, but χ² gives %.4f", table.Name, row.Name, d, f.Text, want)
				}
			}
		}
	}
}

// projected is the mean distortion of a projection by D normal directions, the mean of |χ²_D/D - 1|:
// 2 h^(h-1) e^(-h)/Γ(h), h = D/2.
func projected(d int) float64 {
	h := float64(d) / 2
	log, _ := math.Lgamma(h)
	return 2 * math.Exp((h-1)*math.Log(h)-h-log)
}

func TestFigures(t *testing.T) {
	got := figures("0.335±0.02 ? 8.39")
	want := []Figure{{"0.335±0.02", 0.335, 0.02}, {Text: "?"}, {Text: "8.39", Mean: 8.39}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := figures("- -"); got != nil {
		t.Errorf("no figures are %v", got)
	}
	if got := figures("- 2"); len(got) != 2 || got[0].Readable() || got[0].Text != "" {
		t.Errorf("%v", got)
	}
	if r := figures("6.79534e-6")[0].rounding(); math.Abs(r-0.5e-11) > 1e-20 {
		t.Errorf("6.79534e-6 is rounded by %g at most", r)
	}
	if r := got[0].rounding(); math.Abs(r-0.0005) > 1e-12 {
		t.Errorf("0.335 is rounded by %g at most", r)
	}
}

func TestMark(t *testing.T) {
	printed := figures("0.100±0.010 0.10 ?")
	for _, c := range []struct {
		theirs   Figure
		mean, sd float64
		want     Mark // of errors
	}{
		{printed[0], 0.1104, 0.5, Within}, // 0.010 and 0.0005 for rounding
		{printed[0], 0.1106, 0.5, Worse},
		{printed[0], 0.0896, 0.5, Within},
		{printed[0], 0.0894, 0.5, Better},
		{printed[1], 0.1340, 0.03, Within}, // our scatter, as there is none of theirs
		{printed[1], 0.1360, 0.03, Worse},
		{printed[2], 0.5, 0.1, Unreadable},
	} {
		if got := mark(c.theirs, c.mean, c.sd, false, true); got != c.want {
			t.Errorf("%g ± %g beside %s: %s, want %s", c.mean, c.sd, c.theirs.Text, got, c.want)
		}
		want := c.want
		switch want {
		case Better:
			want = Worse
		case Worse:
			want = Better
		}
		if got := mark(c.theirs, c.mean, c.sd, true, true); got != want {
			t.Errorf("gain %g ± %g beside %s: %s, want %s", c.mean, c.sd, c.theirs.Text, got, want)
		}
		if c.theirs == printed[1] { // one seed does not say how ours scatter, nor does the paper of its own
			c.want = NoFigure
		}
		if got := mark(c.theirs, c.mean, 0, false, false); got != c.want {
			t.Errorf("one seed, %g beside %s: %s, want %s", c.mean, c.theirs.Text, got, c.want)
		}
	}
}

func TestMeanSD(t *testing.T) {
	if mean, sd := meanSD([][]float64{{0, 1}, {0, 2}, {0, 6}}, 1); mean != 3 || math.Abs(sd-math.Sqrt(7)) > 1e-15 {
		t.Errorf("%g ± %g", mean, sd)
	}
	if mean, sd := meanSD([][]float64{{4}}, 0); mean != 4 || sd != 0 {
		t.Errorf("of one: %g ± %g", mean, sd)
	}
}

// Without its data a table is printed with the paper's figures alone.
func TestDataNotAvailable(t *testing.T) {
	for _, table := range Tables() {
		if table.Data == "" {
			continue
		}
		r, err := Run(context.Background(), table, Options{Dir: t.TempDir(), Seeds: 10})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Missing, filepath.Join("", table.Data)) || r.Cells[0][0].Mark != NoData {
			t.Errorf("%s: missing %q, mark %q", table.Name, r.Missing, r.Cells[0][0].Mark)
		}
	}
}

// Sivertsen's experiment needs no data. Fastfood's mean error falls as 1/√D, by a factor of
// √512 over the table; TensorSketch's does in the mean of many seeds only.
func TestKernelErrorTable(t *testing.T) {
	table, err := Find("S14-4.1")
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	r, err := Run(context.Background(), table, Options{Seeds: 7, Quick: true, Progress: func(share float64) {
		if share <= last {
			t.Errorf("share %g after %g", share, last)
		}
		last = share
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Seeds != 1 || last != 1 {
		t.Errorf("%d seeds in a quick run, and %g of the work done", r.Seeds, last)
	}
	again, err := Run(context.Background(), table, Options{Seeds: 1, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Cells {
		if !slices.Equal(r.Cells[i], again.Cells[i]) {
			t.Errorf("row %d: %v, then %v", i, r.Cells[i], again.Cells[i])
		}
		for j, c := range r.Cells[i] {
			if !(c.Mean > 0) || c.SD != 0 {
				t.Errorf("row %d, column %d: %g ± %g", i, j, c.Mean, c.SD)
			}
		}
	}
	if fall := r.Cells[0][0].Mean / r.Cells[9][0].Mean; fall < math.Sqrt(512)/2 || fall > 2*math.Sqrt(512) {
		t.Errorf("Fastfood's error falls by a factor of %g from 16 to 8192 frequencies", fall)
	}
	if _, err := Run(context.Background(), table, Options{}); err == nil {
		t.Error("no seeds are enough")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, table, Options{Seeds: 2}); err == nil {
		t.Error("a run that was cancelled has a result")
	}
}

// Rows and columns whose data are not to be had stand beside those that are made, with theirs and a mark.
func TestRowsAndColumnsWithoutData(t *testing.T) {
	table := &Table{
		Name: "test", Columns: []string{"a", "b", "theirs", "c"}, LackingRows: 1, LackingColumns: 1, AloneColumns: 1,
		Rows: []Row{{"first", figures("1±1 2±1 7±1 3±1")}, {"second", nil}, {"third", figures("4±1 5±1 8±1 6±1")}},
	}
	var ran atomic.Int64 // seeds run at the same time
	table.open = func(context.Context, string, bool) (run, error) {
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				if i > 1 {
					t.Errorf("row %d is run", i)
				}
				ran.Add(1)
				return []float64{float64(seed), 2}, nil
			}, nil
		}, nil
	}
	journal := filepath.Join(t.TempDir(), "journal")
	for range 2 {
		last := 0.0
		r, err := Run(t.Context(), table, Options{Seeds: 2, Journal: journal, Progress: func(share float64) { last = share }})
		if err != nil {
			t.Fatal(err)
		}
		want := [][]Mark{{Within, Within, Alone, NoData}, {NoFigure, NoFigure, Alone, NoData}, {NoData, NoData, NoData, NoData}}
		for i, cells := range r.Cells {
			for j, c := range cells {
				if c.Mark != want[i][j] || (c.Mean != 0) != (c.Mark != NoData && c.Mark != Alone) {
					t.Errorf("%s, %s: %+v", table.Rows[i].Name, table.Columns[j], c)
				}
			}
		}
		if r.Missing != "" || last != 1 || ran.Load() != 4 {
			t.Errorf("missing %q, share %g, %d rows run", r.Missing, last, ran.Load())
		}
	}
}

// Parts of tables that lack data are not left out.
func TestTheirsWithoutData(t *testing.T) {
	for _, c := range []struct{ table, row, column, theirs string }{
		{"LS19-3.5", "webspam", "test rows", "70000"},
		{"LS19-3.6", "linear SVM", "webspam, k = 2000", "93.15"},
		{"LS19-3.6", "KG-RP, m = 9√N, t = 10", "webspam, k = 2000", "97.76±0.04"},
		{"K10-1", "Census", "random features, ridge", "5"},
		{"K10-1-time", "Census", "random features, ridge", "36"},
		{"K10-1", "covtype", "core vector machine (theirs alone)", "2.3"},
		{"K10-1-time", "cpu_act", "core vector machine (theirs alone)", "51"},
		{"LS19-4.4", "φ + RP, normal (theirs alone)", "D = 2000", "97.40±0.07"},
		{"L12-1", "exp-chi2, exact", "their VOC, SIFT words", "44.19"},
		{"L12-1-3000", "exp-chi2, homogeneous", "their ImageNet", "16.05±0.04"},
	} {
		table, err := Find(c.table)
		if err != nil {
			t.Fatal(err)
		}
		rows, columns := table.made()
		i := slices.IndexFunc(table.Rows, func(r Row) bool { return r.Name == c.row })
		j := slices.Index(table.Columns, c.column)
		if i < 0 || j < 0 || i < rows && j < columns || table.Rows[i].Theirs[j].Text != c.theirs {
			t.Errorf("%s: %s, %s is not %s without data", c.table, c.row, c.column, c.theirs)
		}
	}
}

// A table in which nothing is random runs once, and its figures are those of any seed.
func TestCertainTables(t *testing.T) {
	known := 0
	for _, table := range Tables() {
		if !table.Certain || table.Data != "" {
			continue
		}
		known++
		r, err := Run(t.Context(), table, Options{Seeds: 10})
		if err != nil || r.Seeds != 1 {
			t.Fatalf("%s: %v", table.Name, err)
		}
		prepare, err := table.open(t.Context(), "", false)
		if err != nil {
			t.Fatal(err)
		}
		other, err := prepare(2)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range table.Rows {
			values, err := other(i)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range values {
				if v != r.Cells[i][j].Mean {
					t.Errorf("%s: %s, %s: %g, with another seed %g", table.Name, row.Name, table.Columns[j], r.Cells[i][j].Mean, v)
				}
			}
		}
	}
	if known == 0 {
		t.Error("there is none without data")
	}
}
