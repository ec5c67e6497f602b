package eval_test

import (
	"math"
	"testing"

	"mercer/eval"
	"mercer/matrix"
)

// The contributions of a linear model are w_j·(x_j - mean b_j), from permutations and from subsets alike, and
// permutations have no error.
func TestContributionsOfALinearModel(t *testing.T) {
	for _, d := range []int{4, 15} {
		weight := normal(1, d, 7).Row(0)
		m := modelOf(t, d, func(row []float32) float64 {
			sum := 0.25
			for j, v := range row {
				sum += float64(weight[j]) * float64(v)
			}
			return sum
		})
		back, x := drawn(t, m, dense(normal(30, d, 1)), nil, 20), normal(3, d, 2)
		for i, c := range contributions(t, m, dense(x), back, eval.ContributionOptions{}) {
			if c.Exact != (d == 4) {
				t.Errorf("%d columns: exact is %v", d, c.Exact)
			}
			for j, got := range c.Values[0] {
				mean := 0.0
				for b := range back.X.Len() {
					mean += float64(back.X.Dense.Row(b)[j]) / float64(back.X.Len())
				}
				want := float64(weight[j]) * (float64(x.Row(i)[j]) - mean)
				if math.Abs(got-want) > 2e-6 || c.SE[0][j] > 1e-6 { // scores are float32
					t.Errorf("%d columns, row %d, column %d: %.8f ± %.1g, want %.8f", d, i, j, got, c.SE[0][j], want)
				}
			}
		}
	}
}

// together is a function with interactions, symmetric in its columns 0 and 1, that ignores the last.
func together(row []float32) float64 {
	a, b, c := float64(row[0]), float64(row[1]), float64(row[2])
	v := a*b + math.Sin(a+b)*c
	for j := 3; j+1 < len(row); j++ {
		v += float64(row[j]) * float64(row[j-1])
	}
	return v
}

// Contributions and base add up to the score; a column that is ignored has none; those that count alike and have the
// same values contribute the same, by subsets exactly and by permutations within the error.
func TestContributionsAddUp(t *testing.T) {
	for _, d := range []int{6, 20} {
		m := modelOf(t, d, together)
		data, x := normal(40, d, 3), normal(5, d, 4)
		for _, rows := range []*matrix.Dense{data, x} {
			for i := range rows.Rows {
				rows.Row(i)[1] = rows.Row(i)[0]
			}
		}
		back := drawn(t, m, dense(data), nil, 40)
		for _, c := range contributions(t, m, dense(x), back, eval.ContributionOptions{Permutations: 20}) {
			sum := c.Base[0]
			for _, v := range c.Values[0] {
				sum += v
			}
			if math.Abs(sum-c.Score[0]) > 1e-12*float64(d)*(1+math.Abs(c.Score[0])) {
				t.Errorf("%d columns, row %d: base and contributions are %.17g, the score is %.17g", d, c.Row, sum, c.Score[0])
			}
			if last := c.Values[0][d-1]; last != 0 {
				t.Errorf("%d columns, row %d: the column that is ignored contributes %g", d, c.Row, last)
			}
			off, se := math.Abs(c.Values[0][0]-c.Values[0][1]), math.Hypot(c.SE[0][0], c.SE[0][1])
			if off > 5*se+1e-6 || c.Exact && se != 0 || !c.Exact && se == 0 {
				t.Errorf("%d columns, row %d, exact %v: columns that count alike contribute %g and %g, ± %g", d, c.Row, c.Exact,
					c.Values[0][0], c.Values[0][1], se)
			}
		}
	}
}

// Permutations have the mean of the exact values, and the standard error that they tell.
func TestPermutationsAgreeWithSubsets(t *testing.T) {
	const d, n = 7, 200
	m := modelOf(t, d, together)
	back, x := drawn(t, m, dense(normal(12, d, 5)), nil, 12), dense(normal(n, d, 6))
	exact := contributions(t, m, x, back, eval.ContributionOptions{Permutations: 40})
	near := contributions(t, m, x, back, eval.ContributionOptions{Permutations: 10})
	// Of each row, the errors and how far their squares are from what SE says: both are 0 in the mean. Pairs of an order
	// and its reverse have no error in the other columns, of which no more than two interact.
	var off, squares [3][]float64
	for i := range exact {
		if !exact[i].Exact || near[i].Exact {
			t.Fatal("40 permutations of 7 columns cost more than the subsets, 10 less")
		}
		for j := range off {
			e, se := near[i].Values[0][j]-exact[i].Values[0][j], near[i].SE[0][j]
			off[j], squares[j] = append(off[j], e), append(squares[j], e*e-se*se)
		}
	}
	for j := range off {
		for what, list := range map[string][]float64{"errors": off[j], "squares of errors less those of SE": squares[j]} {
			mean, sd := moments(list)
			if math.Abs(mean) > 5*sd/math.Sqrt(n) || sd == 0 {
				t.Errorf("column %d: the mean of the %s is %.3g ± %.3g", j, what, mean, sd/math.Sqrt(n))
			}
		}
	}
}

// moments are the mean and the standard deviation.
func moments(list []float64) (mean, sd float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		sd += (v - mean) * (v - mean) / float64(len(list)-1)
	}
	return mean, math.Sqrt(sd)
}
