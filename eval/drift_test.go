package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mercer/dataset"
)

// driftRows are rows of a table: shifted moves a, more makes Ulm more frequent, gaps are the share of missing values of b.
func driftRows(r *rand.Rand, n int, shifted, more, gaps float64) string {
	var b strings.Builder
	b.WriteString("a,b,grade,town,y\n")
	for i := range n {
		town, gap := []string{"Kiel", "Bonn", "Ulm"}[min(2, int((3-more)*r.Float64()+more*r.Float64()))], ""
		if r.Float64() > gaps || i == 1 {
			gap = fmt.Sprintf("%.3f", r.ExpFloat64())
		}
		if i == 0 {
			gap = ""
		}
		fmt.Fprintf(&b, "%.4f,%s,%d,%s,%d\n", r.NormFloat64()+shifted, gap, r.IntN(4), town, i%2)
	}
	return b.String()
}

// trainedSchema is the schema of a model of a table.
func trainedSchema(t *testing.T, text string) (*dataset.Schema, int) {
	t.Helper()
	src, err := dataset.OpenBytes(context.Background(), "t.csv", []byte(text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sum, err := dataset.Survey(context.Background(), src, dataset.SurveyOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	schema := *src.Schema()
	schema.Columns = dataset.SeenColumns(schema.Columns, sum)
	return &schema, sum.Rows
}

func compareRows(t *testing.T, schema *dataset.Schema, rows int, text string) *DriftReport {
	t.Helper()
	d, err := NewDrift(schema, rows)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.OpenBytes(context.Background(), "n.csv", []byte(text), dataset.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for b, err := range dataset.Each(context.Background(), src) {
		if err != nil {
			t.Fatal(err)
		}
		d.Add(b.X)
	}
	return d.Report()
}

// TestRowsOfTheSameSourceDoNotDrift: of 200 comparisons at most a few find drift, for the level is one in a hundred.
func TestRowsOfTheSameSourceDoNotDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 20 {
		schema, rows := trainedSchema(t, driftRows(r, 800, 0, 0, 0.1))
		for range 10 {
			if rep := compareRows(t, schema, rows, driftRows(r, 500, 0, 0, 0.1)); rep.Drifted > 0 {
				found++
			} else if rep.Rows != 500 || len(rep.Columns) != 4 {
				t.Fatalf("%+v", rep)
			}
		}
	}
	if found > 6 { // 2 are expected at most; 7 or more have a probability below 1 %
		t.Errorf("%d of 200 comparisons find drift", found)
	}
}

func TestDriftIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	schema, rows := trainedSchema(t, driftRows(r, 2000, 0, 0, 0.1))
	for name, c := range map[string]struct {
		text    string
		drifted string
	}{
		"shift":    {driftRows(r, 1000, 0.5, 0, 0.1), "a"},
		"category": {driftRows(r, 1000, 0, 2, 0.1), "town"},
		"gaps":     {driftRows(r, 1000, 0, 0, 0.4), "b"},
		"range":    {driftRows(r, 1000, 0, 0, 0.1) + strings.Repeat("99,1,2,Kiel,0\n", 6), "a"},
		"new":      {driftRows(r, 1000, 0, 0, 0.1) + strings.Repeat("0,1,2,Oslo,0\n", 80), "town"},
	} {
		rep := compareRows(t, schema, rows, c.text)
		var drifted []string
		for _, col := range rep.Columns {
			if col.Drifted {
				drifted = append(drifted, col.Column)
			}
			if (name == "range" && col.Column == "a" && (col.Outside < 6 || col.Max != 99)) || (name == "new" && col.Column == "town" && col.Outside != 80) {
				t.Errorf("%s: %+v", name, col)
			}
		}
		if strings.Join(drifted, " ") != c.drifted || rep.Drifted != 1 {
			t.Errorf("%s: drifted %v, %+v", name, drifted, rep)
		}
	}
	// One value outside is no drift.
	if rep := compareRows(t, schema, rows, driftRows(r, 1000, 0, 0, 0.1)+"99,1,2,Kiel,0\n"); rep.Drifted != 0 || rep.Outside < 1 {
		t.Errorf("%+v", rep)
	}
	if rep := compareRows(t, schema, rows, "a,b,grade,town\n"); rep.Rows != 0 || rep.Columns != nil {
		t.Errorf("no rows: %+v", rep)
	}
	if _, err := NewDrift(&dataset.Schema{Dim: 2}, 10); err == nil {
		t.Error("a model that knows nothing is compared with")
	}
}

// TestTestsOfDrift compares with values by SciPy: kstwobign.sf, chi2_contingency without correction; and with all orders.
func TestTestsOfDrift(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{{1.36, 0.0494859}, {1.0, 0.269999}, {2, 0.000670925}} {
		const n = 1e12 // Stephens's correction vanishes
		if got := kolmogorov(c.x/math.Sqrt(n), n); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("kolmogorov(%g) = %g, want %g", c.x, got, c.want)
		}
	}
	if got := homogeneity([]int{10, 20, 30}, []int{20, 20, 10}); math.Abs(got-0.00190383) > 1e-6 {
		t.Errorf("χ²: %g", got)
	}
	if got := homogeneity([]int{10, 20, 0}, []int{20, 10, 0}); math.Abs(got-0.00982327) > 1e-7 {
		t.Errorf("χ²: %g", got)
	}
	// Of all ways to choose which 3 of 7 values are new, the share in which the 2 largest are.
	share, all := 0, 0
	for set := range 1 << 7 {
		n := 0
		for i := range 7 {
			n += set >> i & 1
		}
		if n == 3 {
			all++
			if set>>5 == 3 {
				share++
			}
		}
	}
	if got := beyond(2, 3, 4); math.Abs(got-float64(share)/float64(all)) > 1e-12 {
		t.Errorf("beyond: %g, want %d of %d", got, share, all)
	}
	if got := variation([]int{1, 1}, []int{0, 4}); got != 0.5 {
		t.Errorf("variation %g", got)
	}
}
