package eval

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
)

// drawn are rows of two classes with scores that overlap, rounded so that there are ties.
func drawn(n int, seed uint64) (scores []float32, truth []int, weights []float64) {
	s := random.New(seed, "drawn scores")
	for range n {
		t := int(s.Uint64() >> 63)
		scores = append(scores, float32(math.Round(100*(s.Normal()+float64(t)))/100))
		truth = append(truth, t)
		weights = append(weights, s.Uniform())
	}
	return scores, truth, weights
}

// TestAreaIsTheShareOfPairsInOrder counts all pairs.
func TestAreaIsTheShareOfPairsInOrder(t *testing.T) {
	scores, truth, weights := drawn(300, 1)
	r := newRanking(1)
	right, pairs := 0.0, 0.0
	for i := range scores {
		r.add(scores[i:i+1], truth[i], weights[i])
		for j := range scores {
			if truth[i] == 1 && truth[j] == 0 {
				w := weights[i] * weights[j]
				pairs += w
				switch {
				case scores[i] > scores[j]:
					right += w
				case scores[i] == scores[j]:
					right += w / 2
				}
			}
		}
	}
	if got := r.all()[0]; math.Abs(got.auc-right/pairs) > 1e-12 || got.aucWithin+got.averageWithin != 0 {
		t.Errorf("area %g ± %g, share of pairs %g", got.auc, got.aucWithin, right/pairs)
	}
}

// TestBinnedAreasAreWithinWhatTheySay has room for a tenth of the rows: in random order, where
// bins from the first rows suit the others, and in the worst orders, where they do not.
func TestBinnedAreasAreWithinWhatTheySay(t *testing.T) {
	const n = 40_000
	scores, truth, weights := drawn(n, 2)
	random := make([]int, n)
	for i := range random {
		random[i] = i
	}
	up := slices.Clone(random)
	slices.SortFunc(up, func(a, b int) int { return int(10000*scores[a]) - int(10000*scores[b]) })
	down := slices.Clone(up)
	slices.Reverse(down)
	for name, order := range map[string][]int{"random": random, "rising": up, "falling": down} {
		exact, coarse := newRanking(1), newRanking(1)
		coarse.limit = n / 10 * 16
		for _, i := range order {
			// Scores without ties, but for a few.
			s := []float32{scores[i] + float32(i%97)/1e4}
			exact.add(s, truth[i], weights[i])
			coarse.add(s, truth[i], weights[i])
		}
		if coarse.edges == nil || exact.edges != nil {
			t.Fatal("no test: the scores are kept, or not")
		}
		want, got := exact.all()[0], coarse.all()[0]
		if math.Abs(got.auc-want.auc) > got.aucWithin || math.Abs(got.average-want.average) > got.averageWithin {
			t.Errorf("%s: %+v, exactly %+v", name, got, want)
		}
		if name == "random" && (got.aucWithin > 5e-4 || got.averageWithin > 5e-3) {
			t.Errorf("%s: %d bins leave %.2g and %.2g", name, len(coarse.bins[0]), got.aucWithin, got.averageWithin)
		}
		if got.positive != want.positive && math.Abs(got.positive-want.positive) > 1e-9*want.positive {
			t.Errorf("%s: weight %g of the positive rows, was %g", name, got.positive, want.positive)
		}
	}
}

// TestBinsOfTiedScoresAreExact has ten different scores, each of which has a bin.
func TestBinsOfTiedScoresAreExact(t *testing.T) {
	exact, coarse := newRanking(3), newRanking(3)
	coarse.limit = 20_000
	s := random.New(1, "tied scores")
	row := make([]float32, 3)
	for range 5000 {
		truth := s.Intn(3)
		for k := range row {
			row[k] = float32(s.Intn(8))
		}
		row[truth] += 2
		exact.add(row, truth, 1)
		coarse.add(row, truth, 1)
	}
	for k, want := range exact.all() {
		if got := coarse.all()[k]; coarse.edges == nil || got != want {
			t.Errorf("class %d: %+v, want %+v", k, got, want)
		}
	}
}

func TestLabelsAreBinnedAsClasses(t *testing.T) {
	classes, labels := newRanking(3), newRanking(3)
	classes.limit, labels.limit = 3000, 3000
	s := random.New(2, "scores of labels")
	row, has := make([]float32, 3), make([]bool, 3)
	for range 2000 {
		truth := s.Intn(3)
		for k := range row {
			row[k], has[k] = float32(s.Normal()), k == truth
		}
		row[truth]++
		classes.add(row, truth, 2)
		labels.addLabels(row, has, 2)
	}
	a, b := classes.all(), labels.all()
	for k := range a {
		if labels.edges == nil || math.Abs(a[k].auc-b[k].auc) > a[k].aucWithin+b[k].aucWithin || a[k].positive != b[k].positive {
			t.Errorf("label %d: %+v, as a class %+v", k, b[k], a[k])
		}
	}
}

// TestGatherersAllocateNothingARow measures after the number of rows that are kept.
func TestGatherersAllocateNothingARow(t *testing.T) {
	scores := []float32{0.1, 0.3, 0.2}
	c := NewClassification([]string{"a", "b", "c"})
	c.Add(0, 1, scores, 1)
	c.ranking.limit = 100
	l := NewMultiLabel([]string{"a", "b", "c"})
	has := []bool{true, false, true}
	l.Add(has, has, scores, 0, 1)
	l.ranking.limit = 100
	g := NewRegression(nil, 1)
	g.outputs[0].middle.limit = 20
	predicted := []float64{0.5}
	g.curves = newResiduals(1, 1)
	q := NewProbability(false)
	i := 0
	add := func() {
		i++
		scores[1] = float32(i % 17)
		c.Add(i%3, 1, scores, 1)
		l.Add(has, has, scores, 0, 1)
		g.Add([]float64{float64(i % 5)}, predicted, 2)
		q.Add(1, []float64{0.1, 0.6, 0.3}, 1)
	}
	for range sampleRows + 100 {
		add()
	}
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Errorf("%g allocations a row", n)
	}
}

// TestMedianIsWithinWhatItSays has room for a tenth of the numbers.
func TestMedianIsWithinWhatItSays(t *testing.T) {
	for _, n := range []int{20_000, 20_001} {
		for _, weights := range []bool{false, true} {
			s := random.New(3, "errors")
			exact, coarse := newMiddle(1), newMiddle(1)
			coarse.limit = n / 10
			for range n {
				v, w := math.Abs(s.Normal()), 1.0
				if weights {
					w = s.Uniform()
				}
				exact.add(v, w)
				coarse.add(v, w)
			}
			want, zero := exact.median()
			got, within := coarse.median()
			if coarse.edges == nil || zero != 0 || math.Abs(got-want) > within || !(within > 0 && within < 0.01) {
				t.Errorf("n = %d: median %g ± %g, exactly %g", n, got, within, want)
			}
		}
	}
	even := newMiddle(1)
	for _, v := range []float64{4, 1, 3, 2} {
		even.add(v, 1)
	}
	if m, _ := even.median(); m != 2.5 {
		t.Errorf("the median of 1 to 4 is %g", m)
	}
}

// areaOf is the area under the points of a curve: by trapezoids, or in steps to the left.
func areaOf(c *Curve, steps bool) float64 {
	sum, x, y := 0.0, 0.0, c.Y[0]
	for i := range c.X {
		height := c.Y[i]
		if !steps {
			height = (height + y) / 2
		}
		sum += (c.X[i] - x) * height
		x, y = c.X[i], c.Y[i]
	}
	return sum
}

func TestCurvesKeepTheirAreas(t *testing.T) {
	for _, n := range []int{10, 400, 5000, 100_000} {
		for _, coarse := range []bool{false, true} {
			scores, truth, weights := drawn(n, uint64(n))
			r := newRanking(1)
			if coarse {
				r.limit = 8 * n
			}
			for i := range scores {
				r.add([]float32{scores[i] + float32(i)*1e-7}, truth[i], weights[i])
			}
			roc, pr := r.curves(0, "yes")
			name := fmt.Sprintf("%d rows, coarse %t", n, coarse)
			for _, c := range []*Curve{roc, pr} {
				if len(c.X) > mostPoints || len(c.Y) != len(c.X) || len(c.Threshold) != len(c.X) {
					t.Errorf("%s: %d, %d, %d points", name, len(c.X), len(c.Y), len(c.Threshold))
				}
				if !slices.IsSorted(c.X) || c.X[len(c.X)-1] < 1-1e-12 {
					t.Errorf("%s: the curve ends at %g", name, c.X[len(c.X)-1])
				}
				for i := 1; i < len(c.X); i++ {
					if c.Threshold[i] >= c.Threshold[i-1] {
						t.Fatalf("%s: threshold %g follows %g", name, c.Threshold[i], c.Threshold[i-1])
					}
				}
			}
			if roc.X[0] != 0 || roc.Y[0] != 0 || !slices.IsSorted(roc.Y) {
				t.Errorf("%s: the ROC curve begins at (%g, %g)", name, roc.X[0], roc.Y[0])
			}
			limit := 1e-3
			if n < 500 && !coarse {
				limit = 1e-12 // but for points on straight lines, all are there
			}
			if off := math.Abs(areaOf(roc, false) - roc.Area); off > limit {
				t.Errorf("%s: ROC area %.5f of %d points, was %.5f", name, areaOf(roc, false), len(roc.X), roc.Area)
			}
			if off := math.Abs(areaOf(pr, true) - pr.Area); off > 5*limit {
				t.Errorf("%s: PR area %.5f of %d points, was %.5f", name, areaOf(pr, true), len(pr.X), pr.Area)
			}
		}
	}
}

// TestThresholdsGiveTheirPoints counts the rows with at least the threshold of each point.
func TestThresholdsGiveTheirPoints(t *testing.T) {
	scores, truth, _ := drawn(3000, 5)
	r := newRanking(1)
	all := [2]float64{}
	for i := range scores {
		r.add(scores[i:i+1], truth[i], 1)
		all[truth[i]]++
	}
	roc, pr := r.curves(0, "yes")
	count := func(threshold float64) (n [2]float64) {
		for i, s := range scores {
			if float64(s) >= threshold {
				n[truth[i]]++
			}
		}
		return n
	}
	for i, threshold := range roc.Threshold {
		if n := count(threshold); n[0]/all[0] != roc.X[i] || n[1]/all[1] != roc.Y[i] {
			t.Errorf("ROC at %g: (%g, %g), counted %v", threshold, roc.X[i], roc.Y[i], n)
		}
	}
	for i, threshold := range pr.Threshold {
		if n := count(threshold); n[1]/all[1] != pr.X[i] || n[1]/(n[0]+n[1]) != pr.Y[i] {
			t.Errorf("precision at %g: (%g, %g), counted %v", threshold, pr.X[i], pr.Y[i], n)
		}
	}
}

// TestMetricsSayHowExactTheyAre holds with few scores kept, and has nothing to say with all.
func TestMetricsSayHowExactTheyAre(t *testing.T) {
	few, all := NewClassification([]string{"no", "yes"}), NewClassification([]string{"no", "yes"})
	scores, truth, _ := drawn(5000, 6)
	for i := range scores {
		s := []float32{scores[i] + float32(i%97)/1e4}
		few.Add(truth[i], truth[i], s, 1)
		all.Add(truth[i], truth[i], s, 1)
		few.ranking.limit = 4000
	}
	a, b := few.Metrics(), all.Metrics()
	for _, name := range []string{"auc", "average_precision"} {
		metric, err := MetricNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		within := metric.Within(a)
		if within == nil || metric.Within(b) != nil || !(*within < 0.1) || math.Abs(*metric.Value(a)-*metric.Value(b)) > *within {
			t.Errorf("%s: %g ± %v, exactly %g", name, *metric.Value(a), show(within), *metric.Value(b))
		}
	}
	bound := 0.01
	for name, m := range map[string]*Metrics{
		"macro_auc": {AUCWithin: &bound}, "weighted_auc": {AUCWithin: &bound},
		"macro_average_precision": {AveragePrecisionWithin: &bound}, "weighted_average_precision": {AveragePrecisionWithin: &bound},
	} {
		if metric, err := MetricNamed(name); err != nil || metric.Within(m) != &bound {
			t.Errorf("%s does not say how exact it is (%v)", name, err)
		}
	}
}
