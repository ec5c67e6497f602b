package auto

import (
	"math"

	"mercer/internal/search/trial"
	"mercer/matrix"
)

// Facts are what Train looks at before it chooses candidates.
type Facts struct {
	Rows    int     `json:"rows"`
	Dim     int     `json:"dim"`
	Density float64 `json:"density"`
	Task    string  `json:"task"`

	// Classes is the number of classes; Least and Most are the shares of the smallest and
	// the largest.
	Classes int     `json:"classes,omitempty"`
	Least   float64 `json:"least_share,omitempty"`
	Most    float64 `json:"most_share,omitempty"`

	// Deviation is the standard deviation of the numbers to predict: the error of always guessing their mean.
	Deviation float64 `json:"deviation,omitempty"`

	// Positive says that no number is negative, and Histograms that rows look like histograms:
	// they have about the same sum, or they are sparse counts.
	Positive   bool `json:"positive"`
	Histograms bool `json:"histograms"`

	sparse bool // rows are read as sparse ones

	numbers int // dimensions that are no categories
	filled  float64
}

// factsOf collects the facts about a sample's source.
func factsOf(s *trial.Sample) Facts {
	sum := s.Summary
	f := Facts{Rows: s.Rows(), Dim: sum.Dim, Density: sum.Density(), Task: s.Task, Positive: true, sparse: sum.Sparse}
	f.numbers, f.filled = s.Schema().Numbers(sum)
	rows, integer := s.Drawn(), true
	for _, c := range sum.Columns {
		f.Positive = f.Positive && c.Min >= 0
		integer = integer && c.Integer
	}
	if f.Positive {
		least, most := math.Inf(1), 0.0
		for i := range rows.X.Len() {
			total := 0.0
			for _, v := range rowValues(rows.X, i) {
				total += float64(v)
			}
			least, most = min(least, total), max(most, total)
		}
		f.Histograms = sum.Dim >= 8 && (least > 0.9*most || integer && sum.Sparse && f.Density < 0.25)
	}
	switch s.Task {
	case "classify":
		counts := map[int]int{}
		classes, _ := sum.Classes() // they existed when the sample was drawn
		for i := range rows.X.Len() {
			counts[classes.Of(rows, i)]++
		}
		f.Classes, f.Least = len(classes.Labels()), 1
		for _, n := range counts {
			share := float64(n) / float64(rows.X.Len())
			f.Least, f.Most = min(f.Least, share), max(f.Most, share)
		}
	case "regress":
		k := rows.Outputs
		for t := range k {
			y := make([]float64, rows.X.Len())
			for i := range y {
				y[i] = rows.Y[i*k+t]
			}
			_, se := trial.MeanError(y)
			f.Deviation += se * se * float64(len(y))
		}
		f.Deviation = math.Sqrt(f.Deviation)
	}
	return f
}

// rowValues returns the values of a row, for a sparse row only those that are stored.
func rowValues(x matrix.Rows, i int) []float32 {
	if x.CSR != nil {
		_, val := x.CSR.Row(i)
		return val
	}
	return x.Dense.Row(i)
}
