package report

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// gallery is a page with every kind of block and figure.
func gallery() *Page {
	r := rand.New(rand.NewPCG(7, 7))
	p := &Page{Title: "adult.mercer on a9a.t", Subtitle: "16,281 rows, two classes; accuracy 85.02 %"}
	s := p.Section("Model")
	s.Facts(Fact{"task", "2 classes: −1, +1", "as the labels are whole numbers with few values"},
		Fact{"kernel", "rbf, γ = 0.0354", "median distance of 1,000 pairs"},
		Fact{"map", "orthogonal random features, 4,096", ""})
	s.Code("mercer eval adult.mercer a9a.t.gz --report adult.html")
	s = p.Section("Metrics")
	t := &Table{Caption: "The models on the same rows",
		Columns: []Column{{"model", false}, {"accuracy", true}, {"log loss", true}, {"seconds", true}},
		Rows: [][]string{{"linear", "84.98 %", "0.3241", "0.2"}, {"rff 1,024", "84.92 %", "0.3237", "0.9"},
			{"orf 4,096", "85.12 %", "0.3190", "3.1"}}}
	t.MarkBest(2, 1)
	t.MarkBest(2, 2)
	t.MarkBest(0, 3)
	s.Table(t)
	s.Note("A row of a class that the model has never seen counts as an error.")

	curve := func(name string, bend float64, n int) Curve {
		c := Curve{Name: name}
		for i := range n {
			x := float64(i) / float64(n-1)
			c.X, c.Y = append(c.X, x), append(c.Y, math.Pow(x, bend))
		}
		return c
	}
	s = p.Section("Curves")
	s.Figure(&Figure{Name: "roc", Title: "ROC", Caption: "The share of positives found against the share of negatives taken for positives.",
		Drawing: &Lines{X: Axis{Name: "false positive rate", To: 1, Percent: true},
			Y: Axis{Name: "true positive rate", To: 1, Percent: true}, Diagonal: true,
			Curves: []Curve{curve("AUC 0.902", 0.18, 5000)}}})
	s.Figure(&Figure{Name: "roc-classes", Title: "ROC by class", Caption: "Each class against the others.",
		Drawing: &Lines{X: Axis{Name: "false positive rate", To: 1, Percent: true},
			Y: Axis{Name: "true positive rate", To: 1, Percent: true}, Diagonal: true,
			Curves: []Curve{curve("setosa", 0.05, 300), curve("versicolor", 0.2, 300),
				curve("virginica", 0.3, 300), curve("a class with a long name", 0.5, 300)}}})
	path := Curve{Name: "leave-one-out error", Points: true}
	for i := range 25 {
		l := math.Pow(10, -8+float64(i)*0.4)
		path.X = append(path.X, l)
		path.Y = append(path.Y, 0.52+0.04*math.Pow(math.Log10(l)+3, 2)/10)
		path.Low = append(path.Low, path.Y[i]-0.02)
		path.High = append(path.High, path.Y[i]+0.02)
	}
	s.Figure(&Figure{Name: "lambda", Title: "Path of λ", Caption: "Error against λ; the band is ± one standard error.",
		Drawing: &Lines{X: Axis{Name: "λ", Log: true}, Y: Axis{Name: "RMSE"}, Curves: []Curve{path},
			Marks: []Mark{{0.001, "smallest: 10⁻³"}, {0.1, "one-standard-error rule: 0.1"}}}})
	d := &Lines{X: Axis{Name: "features D", Log: true}, Y: Axis{Name: "mean absolute error of the kernel", Log: true}}
	for k, name := range []string{"rff", "orf", "sorf", "fastfood"} {
		c := Curve{Name: name}
		for _, n := range []float64{64, 128, 256, 512, 1024, 2048, 4096} {
			c.X, c.Y = append(c.X, n), append(c.Y, (0.9-0.12*float64(k))/math.Sqrt(n)*(1+0.05*r.NormFloat64()))
		}
		d.Curves = append(d.Curves, c)
	}
	d.Curves = append(d.Curves, Curve{Name: "1/√D", Dashed: true, X: []float64{64, 4096}, Y: []float64{1.0 / 8, 1.0 / 64}})
	s.Figure(&Figure{Name: "error-against-d", Title: "Error against D", Caption: "Mean over five seeds.", Drawing: d})
	sc := Cloud{}
	for range 20000 {
		x := r.Float64()
		sc.X, sc.Y = append(sc.X, x), append(sc.Y, x+0.03*r.NormFloat64())
	}
	sc.X[3] = math.NaN()
	s = p.Section("Points and bins")
	s.Figure(&Figure{Name: "kernel", Title: "Exact against approximate kernel",
		Caption: "Pairs of rows; on the diagonal the approximation is exact.",
		Drawing: &Scatter{X: Axis{Name: "exact kernel"}, Y: Axis{Name: "approximate kernel"}, Diagonal: true, Clouds: []Cloud{sc}}})
	few := &Scatter{X: Axis{Name: "seconds", Log: true}, Y: Axis{Name: "accuracy", Percent: true}}
	for k, name := range []string{"ridge", "svm", "logistic"} {
		c := Cloud{Name: name}
		for i := range 6 {
			c.X, c.Y = append(c.X, math.Pow(2, float64(i+k))/10), append(c.Y, 0.8+0.02*float64(i)-0.005*float64(k))
		}
		few.Clouds = append(few.Clouds, c)
	}
	s.Figure(&Figure{Title: "Accuracy against seconds", Caption: "One point a size.", Drawing: few})
	var residuals []float64
	for range 5000 {
		residuals = append(residuals, 30000*r.NormFloat64()+8000*r.ExpFloat64())
	}
	h := &Histogram{X: Axis{Name: "prediction minus truth, dollars"}, What: "rows", Marks: []Mark{{0, "exact"}}}
	h.Edges, h.Counts = Bins(residuals)
	s.Figure(&Figure{Title: "Residuals", Caption: "How far predictions are off.", Drawing: h})

	s = p.Section("Matrices")
	s.Figure(&Figure{Title: "Confusion, two classes", Caption: "Counts of rows.",
		Drawing: Confusion([]string{"−1", "+1"}, [][]float64{{11600, 835}, {1610, 2236}})})
	s.Figure(&Figure{Title: "Confusion, ten digits", Caption: "Counts of rows.", Drawing: confusion(r, 10)})
	s.Figure(&Figure{Title: "Confusion, 40 classes", Caption: "Shares of rows.", Drawing: confusion(r, 40)})
	grid := &HeatMap{RowName: "γ", ColumnName: "C", Legend: "accuracy", Percent: true,
		Rows: []string{"0.01", "0.03", "0.1", "0.3"}, Columns: []string{"0.1", "1", "10", "100", "1000"}}
	for i := range grid.Rows {
		var row []float64
		for j := range grid.Columns {
			row = append(row, 0.8+0.01*float64(i)-0.003*math.Pow(float64(j-2), 2))
		}
		grid.Values = append(grid.Values, row)
	}
	grid.Values[0][0] = math.NaN()
	s.Figure(&Figure{Title: "Grid of γ and C", Caption: "Mean accuracy over five folds.", Drawing: grid})

	s = p.Section("Comparison")
	in := &Intervals{X: Axis{Name: "accuracy", Percent: true}}
	for i, name := range []string{"linear", "rff, D = 1,024", "orf, D = 4,096", "sorf, D = 4,096", "nystrom, 500 landmarks"} {
		v := 0.83 + 0.004*float64(i%4)
		in.Rows = append(in.Rows, Interval{Name: name, Value: v, Low: v - 0.003, High: v + 0.003, Best: i == 3})
	}
	s.Figure(&Figure{Title: "Tuning", Caption: "Mean and one standard error over five folds.", Drawing: in})
	bars := &Intervals{X: Axis{Name: "seconds"}, Bars: true, Rows: []Interval{
		{"read", 0.31, math.NaN(), math.NaN(), false}, {"map", 1.9, 1.7, 2.2, false}, {"solve", 0.8, 0.8, 0.8, false}}}
	s.Figure(&Figure{Title: "Time", Caption: "Where the seconds went.", Drawing: bars})
	ranks := &Ranks{Names: []string{"TensorSketch", "LS18", "Maclaurin", "RFF", "D2PK-RP", "linear"},
		Averages: []float64{2.1, 1.8, 4.2, 3.9, 3.1, 5.9}, Critical: 1.9}
	s.Figure(&Figure{Title: "Critical difference",
		Caption: "Average ranks over 14 data sets; bars join methods that do not differ (Nemenyi, α = 0.05).", Drawing: ranks})
	return p
}

func confusion(r *rand.Rand, n int) *HeatMap {
	var names []string
	counts := make([][]float64, n)
	for i := range n {
		names = append(names, fmt.Sprint(i))
		if n > 20 {
			names[i] = fmt.Sprintf("species %d", i)
		}
		counts[i] = make([]float64, n)
		counts[i][i] = float64(900 + r.IntN(200))
		for range 60 {
			counts[i][r.IntN(n)]++
		}
	}
	return Confusion(names, counts)
}
