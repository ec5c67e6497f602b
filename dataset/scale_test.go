package dataset

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/matrix"
)

func surveyed(t testing.TB, src Source) *Summary {
	t.Helper()
	sum, err := Survey(context.Background(), src, SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// scaledNaively is the definition of a scaling, one value at a time.
func scaledNaively(kind string, c *ColumnStats, sum *Summary, row []float32, j int, shifted bool) float64 {
	v := float64(row[j])
	over := func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return v / x
	}
	switch kind {
	case "standard":
		if c.Variance == 0 {
			return 0
		}
		if shifted {
			v -= c.Mean
		}
		return v / math.Sqrt(c.Variance)
	case "minmax":
		if !shifted {
			return over(max(math.Abs(c.Min), math.Abs(c.Max)))
		}
		if c.Max == c.Min {
			return 0
		}
		return (v - c.Min) / (c.Max - c.Min)
	case "maxabs":
		return over(max(math.Abs(c.Min), math.Abs(c.Max)))
	case "global":
		largest := 0.0
		for _, c := range sum.Columns {
			largest = max(largest, math.Abs(c.Min), math.Abs(c.Max))
		}
		return over(largest)
	case "l1", "l2":
		norm := 0.0
		for _, x := range row {
			if kind == "l1" {
				norm += math.Abs(float64(x))
			} else {
				norm += float64(x) * float64(x)
			}
		}
		if kind == "l2" {
			norm = math.Sqrt(norm)
		}
		return over(norm)
	}
	return v
}

func TestScalingsAreTheirDefinitions(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		src, x := numbersSource(t, sparse)
		sum := surveyed(t, src)
		all, err := everything(src)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(x.Data)
		for _, kind := range []string{"none", "standard", "minmax", "maxabs", "global", "l1", "l2"} {
			for _, densify := range []bool{false, true} {
				sc, err := NewScaler(kind, sum)
				if err != nil {
					t.Fatal(err)
				}
				if !sparse && densify {
					continue
				}
				if sparse && !densify {
					// As if the rows were very sparse: nothing is shifted.
					sum.Sparse = true
					few := *sum
					few.NonZero = 1
					if sc, err = NewScaler(kind, &few); err != nil {
						t.Fatal(err)
					}
				}
				if err := sc.Check(6); err != nil {
					t.Error(err)
				}
				var ws Workspace
				out := sc.Apply(all.X, &ws)
				if stays := sparse && !densify; (out.CSR != nil) != stays {
					t.Fatalf("%s, sparse %t, densify %t: the result is sparse: %t", kind, sparse, densify, out.CSR != nil)
				}
				var dense matrix.Dense
				if out.CSR != nil {
					out.CSR.Densify(&dense)
				} else {
					dense = *out.Dense
				}
				for i := range 900 {
					for j, got := range dense.Row(i) {
						want := scaledNaively(kind, &sum.Columns[j], sum, x.Row(i), j, !sparse || densify)
						if math.Abs(float64(got)-want) > 1e-5*math.Max(1, math.Abs(want)) {
							t.Fatalf("%s, sparse %t, densify %t: row %d, column %d is %g, want %g", kind, sparse, densify, i, j, got, want)
						}
					}
				}
				if !slices.Equal(x.Data, before) {
					t.Fatalf("%s changed its input", kind)
				}
				if n := testing.AllocsPerRun(10, func() { sc.Apply(all.X, &ws) }); n > 0 {
					t.Errorf("%s, sparse %t: %g allocations", kind, sparse, n)
				}
			}
		}
	}
}

func TestZeroRowsStayZero(t *testing.T) {
	x := matrix.Rows{Dense: matrix.NewDense(2, 3)}
	x.Dense.Row(1)[0] = 2
	for _, kind := range []string{"l1", "l2"} {
		sc := &Scaler{Kind: kind}
		var ws Workspace
		if got := sc.Apply(x, &ws).Dense.Data; !slices.Equal(got, []float32{0, 0, 0, 1, 0, 0}) {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestScalerCheck(t *testing.T) {
	for _, s := range []*Scaler{
		{Kind: "log"}, {Kind: "standard", Shift: []float64{1}, Factor: []float64{1, 2}},
		{Kind: "maxabs", Factor: []float64{math.NaN(), 1}}, {Kind: "maxabs", Factor: []float64{1, math.Inf(1)}},
	} {
		if err := s.Check(2); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
	if _, err := NewScaler("log", &Summary{}); err == nil {
		t.Error("an unknown scaling was made")
	}
}

// Kernels that grow as powers of rows' lengths want no rows that are much longer than others.
func TestScalingForPolynomials(t *testing.T) {
	column := func(high float64) ColumnStats { return ColumnStats{Max: high, Mean: 2, Variance: 4} }
	for _, c := range []struct {
		columns []ColumnStats
		want    string
	}{
		{[]ColumnStats{column(22), column(32)}, "standard"},
		{[]ColumnStats{column(22), column(32.1)}, "minmax"},
		{[]ColumnStats{column(22), {Min: -1e9, Max: 4, Mean: 2, Variance: 4}}, "minmax"},
		{[]ColumnStats{column(22), {Min: 7, Max: 7, Mean: 7}}, "standard"}, // it does not vary
		{[]ColumnStats{{Max: 1, Mean: 1e-4, Variance: 1e-4}}, "none"},
		{slices.Repeat([]ColumnStats{{Max: 15, Mean: 7, Variance: 9, Integer: true}}, 16), "standard"}, // as letter
		{slices.Repeat([]ColumnStats{{Max: 15, Mean: 0.1, Variance: 0.5, Integer: true}}, 64), "global"},
	} {
		if kind, why := ChoosePolynomialScale(&Summary{Rows: 10, Dim: len(c.columns), NonZero: int64(9 * len(c.columns)),
			Columns: c.columns}); kind != c.want || why == "" {
			t.Errorf("%+v: %s (%s), want %s", c.columns, kind, why, c.want)
		}
	}
}

func TestScalingByTheData(t *testing.T) {
	column := func(low, high float64, integer bool) ColumnStats {
		return ColumnStats{Min: low, Max: high, Integer: integer}
	}
	many := func(n int, c ColumnStats) []ColumnStats { return slices.Repeat([]ColumnStats{c}, n) }
	for _, c := range []struct {
		name string
		sum  *Summary
		want string
	}{
		{"unit interval", &Summary{Rows: 1, Dim: 3, NonZero: 3, Columns: many(3, column(0, 1, false))}, "none"},
		{"one-hot text", &Summary{Rows: 10, Dim: 100, NonZero: 10, Sparse: true, Columns: many(100, column(0, 1, true))}, "none"},
		{"word counts", &Summary{Rows: 10, Dim: 100, NonZero: 10, Sparse: true, Columns: many(100, column(0, 9, true))}, "maxabs"},
		{"pixels", &Summary{Rows: 10, Dim: 64, NonZero: 320, Columns: many(64, column(0, 16, true)), format: "csv"}, "global"},
		{"images", &Summary{Rows: 10, Dim: 784, NonZero: 1500,
			Columns: append(many(700, column(0, 3, true)), many(84, column(0, 255, true))...), format: "idx"}, "global"},
		{"a table", &Summary{Rows: 10, Dim: 3, NonZero: 30,
			Columns: []ColumnStats{column(-122, -114, false), column(1, 52, true), column(2, 39320, true)}}, "standard"},
		{"few whole numbers", &Summary{Rows: 10, Dim: 4, NonZero: 40, Columns: many(4, column(0, 15, true))}, "standard"},
	} {
		if kind, why := ChooseScale(c.sum); kind != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, kind, why, c.want)
		}
	}
}
