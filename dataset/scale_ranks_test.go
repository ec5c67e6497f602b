package dataset

import (
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// sampled is what a survey tells of rows whose sample is all of them.
func sampled(x *matrix.Dense) *Summary {
	s := &Summary{Rows: x.Rows, Dim: x.Cols, Sample: matrix.Rows{Dense: x}, Columns: make([]ColumnStats, x.Cols)}
	for j := range s.Columns {
		c := &s.Columns[j]
		c.Min, c.Max = math.Inf(1), math.Inf(-1)
		sum, square := 0.0, 0.0
		for i := range x.Rows {
			v := float64(x.Row(i)[j])
			c.Min, c.Max = min(c.Min, v), max(c.Max, v)
			sum += v
			square += v * v
			if v != 0 {
				c.NonZero++
				s.NonZero++
			}
		}
		c.Mean = sum / float64(x.Rows)
		c.Variance = square/float64(x.Rows) - c.Mean*c.Mean
	}
	return s
}

// probability is Φ.
func probability(z float64) float64 { return (1 + math.Erf(z/math.Sqrt2)) / 2 }

// A column with a tail of any length becomes normal: its distribution function is within what a sample of
// this size allows (the bound of Dvoretzky, Kiefer, Wolfowitz and Massart at 10⁻⁶), for rows that the
// scaling has not seen.
func TestQuantileScalingMakesColumnsNormal(t *testing.T) {
	const n = 20000
	draw := func(name string) *matrix.Dense {
		r := random.New(1, name)
		x := matrix.NewDense(n, 3)
		for i := range n {
			u := r.Uniform()
			x.Row(i)[0] = float32(math.Tan(math.Pi * (u - 0.5))) // Cauchy
			x.Row(i)[1] = float32(math.Exp(5 * r.Uniform()))
			x.Row(i)[2] = float32(r.Uniform())
		}
		return x
	}
	sc, err := NewScaler("quantile", sampled(draw("train")))
	if err != nil {
		t.Fatal(err)
	}
	var ws Workspace
	out := sc.Apply(matrix.Rows{Dense: draw("test")}, &ws).Dense
	// Both samples are off by at most ε; knots are 1/1000 apart.
	bound := 2*math.Sqrt(math.Log(2/1e-6)/(2*n)) + 1.0/maxKnots
	for j := range 3 {
		var column []float64
		for i := range n {
			column = append(column, float64(out.Row(i)[j]))
		}
		slices.Sort(column)
		for i, v := range column {
			if limit := float64(float32(mostScore)); math.Abs(v) > limit {
				t.Fatalf("column %d: score %g", j, v)
			} else if math.Abs(v) == limit {
				continue
			}
			if p := (float64(i) + 0.5) / n; math.Abs(p-probability(v)) > bound {
				t.Fatalf("column %d: %g is at quantile %g, normal would be %g", j, v, p, probability(v))
			}
		}
	}
}

// Few different values have the scores of their mid-ranks exactly, and what lies between is in between.
func TestQuantileScalingOfFewValues(t *testing.T) {
	x := matrix.NewDense(10, 2)
	for i, v := range []float32{1, 1, 1, 1, 2, 2, 5, 5, 5, 5} {
		x.Row(i)[0] = v
		x.Row(i)[1] = 7 // does not vary
	}
	sc, err := NewScaler("quantile", sampled(x))
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.Check(2); err != nil {
		t.Fatal(err)
	}
	score := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	for _, c := range []struct{ v, want float64 }{
		{1, score(0.2)}, {2, score(0.5)}, {5, score(0.8)}, {-3, score(0.2)}, {9, score(0.8)},
		{1.5, score(0.2) / 2}, {3, score(0.8) / 3},
	} {
		var ws Workspace
		row := &matrix.Dense{Rows: 1, Cols: 2, Stride: 2, Data: []float32{float32(c.v), 1e9}}
		got := sc.Apply(matrix.Rows{Dense: row}, &ws).Dense.Row(0)
		if math.Abs(float64(got[0])-c.want) > 1e-6 || got[1] != 0 {
			t.Errorf("%g becomes %v, want %g and 0", c.v, got, c.want)
		}
	}
}

// A value that the sample has for all rows, while other rows have others, is still told from them.
func TestQuantileScalingOfRareValues(t *testing.T) {
	sum := sampled(matrix.NewDense(100, 3))
	sum.Columns[0].Max, sum.Columns[1].Min = 1, -1
	sum.Columns[2].Min, sum.Columns[2].Max = -1, 1
	sc, err := NewScaler("quantile", sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.Check(3); err != nil {
		t.Fatal(err)
	}
	rare := -math.Sqrt2 * math.Erfinv(2*0.005-1)
	var ws Workspace
	rows := &matrix.Dense{Rows: 3, Cols: 3, Stride: 3, Data: []float32{0, 0, 0, 1, 1, 1, -1, -1, -1}}
	got := sc.Apply(matrix.Rows{Dense: rows}, &ws).Dense.Data
	for i, want := range []float64{0, 0, 0, rare, 0, rare, 0, -rare, -rare} {
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Fatalf("%v: element %d, want %g", got, i, want)
		}
	}
}

func TestRobustScaling(t *testing.T) {
	x := matrix.NewDense(101, 2)
	for i := range 101 {
		x.Row(i)[0] = float32(i) - 20 // median 30, quartiles 5 and 55
		if i >= 90 {
			x.Row(i)[1] = 4 // the quartiles are equal
		}
	}
	x.Row(100)[0] = 1e30
	sum := sampled(x)
	sc, err := NewScaler("robust", sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.Check(2); err != nil {
		t.Fatal(err)
	}
	var ws Workspace
	out := sc.Apply(matrix.Rows{Dense: x}, &ws).Dense
	for i := range 101 {
		for j, width := range []float64{50 / 1.3489795003921634, math.Sqrt(sum.Columns[1].Variance)} {
			u := (float64(x.Row(i)[j]) - []float64{30, 0}[j]) / width
			want := u / math.Sqrt(1+u*u/9)
			if u > 1e20 {
				want = 3
			}
			if got := float64(out.Row(i)[j]); math.Abs(got-want) > 1e-5 {
				t.Fatalf("row %d, column %d is %g, want %g", i, j, got, want)
			}
		}
	}
}

// Rows that stay sparse keep their zeros, and a dense row has the numbers of the same row stored sparsely.
func TestRankScalingsOfSparseRows(t *testing.T) {
	src, _ := numbersSource(t, true)
	sum := surveyed(t, src)
	sum.NonZero = 1 // as if the rows were very sparse
	all, err := everything(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"quantile", "robust"} {
		sc, err := NewScaler(kind, sum)
		if err != nil {
			t.Fatal(err)
		}
		if err := sc.Check(sum.Dim); err != nil {
			t.Fatal(err)
		}
		var ws, wsDense Workspace
		out := sc.Apply(all.X, &ws)
		if out.CSR == nil {
			t.Fatalf("%s made sparse rows dense", kind)
		}
		var before, after matrix.Dense
		all.X.CSR.Densify(&before)
		out.CSR.Densify(&after)
		dense := sc.Apply(matrix.Rows{Dense: &before}, &wsDense).Dense
		different := 0
		for i := range before.Rows {
			for j, v := range before.Row(i) {
				if v == 0 && after.Row(i)[j] != 0 {
					t.Fatalf("%s: a zero became %g", kind, after.Row(i)[j])
				}
				if after.Row(i)[j] != dense.Row(i)[j] {
					t.Fatalf("%s: %g of a sparse row, %g of a dense one", kind, after.Row(i)[j], dense.Row(i)[j])
				}
				if v != after.Row(i)[j] {
					different++
				}
			}
		}
		if different == 0 {
			t.Errorf("%s changed nothing", kind)
		}
		for _, x := range []matrix.Rows{all.X, {Dense: &before}} {
			if n := testing.AllocsPerRun(10, func() { sc.Apply(x, &ws) }); n > 0 {
				t.Errorf("%s: %g allocations", kind, n)
			}
		}
	}
}

// Tables of a file are not trusted.
func TestRanksCheck(t *testing.T) {
	good := func() *Scaler {
		return &Scaler{Kind: "quantile", Ranks: &Ranks{Ends: []int{2, 2, 5}, Knots: []float64{1, 2, 1, 2, 3}, Scores: []float64{-1, 1, -1, 0, 1}}}
	}
	if err := good().Check(3); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Scaler){
		"no tables":        func(s *Scaler) { s.Ranks = nil },
		"another kind":     func(s *Scaler) { s.Kind = "none" },
		"too few ends":     func(s *Scaler) { s.Ranks.Ends = s.Ranks.Ends[:2] },
		"an end too far":   func(s *Scaler) { s.Ranks.Ends[2] = 6 },
		"ends fall":        func(s *Scaler) { s.Ranks.Ends[1] = 0 },
		"one knot":         func(s *Scaler) { s.Ranks.Ends[1] = 3 },
		"knots left over":  func(s *Scaler) { s.Ranks.Ends[2] = 4 },
		"equal knots":      func(s *Scaler) { s.Ranks.Knots[1] = 1 },
		"NaN":              func(s *Scaler) { s.Ranks.Knots[1] = math.NaN() },
		"infinite":         func(s *Scaler) { s.Ranks.Knots[4] = math.Inf(1) },
		"scores fall":      func(s *Scaler) { s.Ranks.Scores[4] = -0.5 },
		"scores of NaN":    func(s *Scaler) { s.Ranks.Scores[0] = math.NaN() },
		"a score too high": func(s *Scaler) { s.Ranks.Scores[4] = 7 },
		"scores left over": func(s *Scaler) { s.Ranks.Scores = append(s.Ranks.Scores, 1) },
	} {
		s := good()
		spoil(s)
		if s.Check(3) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
