package learn

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"mercer/internal/engine/random"
)

// signs are labels as ±1.
func signs(labels []bool) []float64 {
	y := make([]float64, len(labels))
	for i, l := range labels {
		y[i] = -1
		if l {
			y[i] = 1
		}
	}
	return y
}

// narrow are numbers as float32, which scores are.
func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func TestCalibrationAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/calibrate.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Cases []struct {
			Scores, Weights []float64
			Labels          []int
			A, B            float64
			At, Isotonic    []float64
		}
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Cases) != 4 {
		t.Fatalf("%d cases", len(recorded.Cases))
	}
	for n, c := range recorded.Cases {
		labels := make([]bool, len(c.Labels))
		for i, l := range c.Labels {
			labels[i] = l == 1
		}
		sigmoid, err := FitCalibration("platt", false, narrow(c.Scores), signs(labels), c.Weights, 1)
		if err != nil {
			t.Fatal(err)
		}
		// Theirs stops by a gradient of 1e-5 or so.
		if math.Abs(sigmoid.A[0]-c.A) > 1e-3*(1+math.Abs(c.A)) || math.Abs(sigmoid.B[0]-c.B) > 1e-3*(1+math.Abs(c.B)) {
			t.Errorf("case %d: A = %g and B = %g, scikit-learn %g and %g", n, sigmoid.A[0], sigmoid.B[0], c.A, c.B)
		}
		step, err := FitCalibration("isotonic", false, narrow(c.Scores), signs(labels), c.Weights, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range c.At {
			p := make([]float64, 2)
			step.Probabilities(p, []float32{float32(at)})
			if math.Abs(p[1]-c.Isotonic[i]) > 1e-6 || math.Abs(p[0]+p[1]-1) > 1e-15 {
				t.Errorf("case %d: isotonic at %g is %g, scikit-learn %g", n, at, p[1], c.Isotonic[i])
			}
		}
		for _, c := range []*Calibration{sigmoid, step} {
			if err := c.Check(1); err != nil {
				t.Error(err)
			}
		}
	}
}

// overconfident draws scores that are three times the logits of the truth, for k classes or for
// one output, and the targets.
func overconfident(seed uint64, n, k int) (scores []float32, y []float64) {
	s := random.New(seed, "overconfident")
	p := make([]float64, k)
	for range n {
		logits := make([]float64, k)
		for t := range logits {
			logits[t] = 1.5 * s.Normal()
		}
		hit := 0
		if k == 1 {
			if s.Uniform() < sigmoid(logits[0]) {
				hit = 1
			}
			y = append(y, float64(2*hit-1))
		} else {
			Softmax(p, func(t int) float64 { return logits[t] })
			u := s.Uniform()
			for u > p[hit] && hit < k-1 {
				u -= p[hit]
				hit++
			}
			for t := range k {
				y = append(y, -1)
				if t == hit {
					y[len(y)-1] = 1
				}
			}
		}
		for _, l := range logits {
			scores = append(scores, float32(3*l))
		}
	}
	return scores, y
}

// logLoss is the mean of -log of the probability of what was true.
func logLoss(c *Calibration, scores []float32, y []float64, k int) float64 {
	p, sum := make([]float64, max(2, k)), 0.0
	for i := 0; i < len(y); i += k {
		c.Probabilities(p, scores[i:i+k])
		at := slices.Index(y[i:i+k], 1)
		if k == 1 {
			at = (int(y[i]) + 1) / 2
		}
		sum -= math.Log(max(p[at], 1e-15)) / float64(len(y)/k)
	}
	return sum
}

func TestPlattIsStationaryWhereItsTargetsSay(t *testing.T) {
	scores, y := overconfident(1, 400, 1)
	c, err := FitCalibration("platt", false, scores, y, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	plus := 0.0
	for _, v := range y {
		plus += (v + 1) / 2
	}
	ga, gb := 0.0, 0.0
	for i, v := range scores {
		target := 1 / (400 - plus + 2)
		if y[i] > 0 {
			target = (plus + 1) / (plus + 2)
		}
		d := target - 1/(1+math.Exp(c.A[0]*float64(v)+c.B[0]))
		ga, gb = ga+d*float64(v), gb+d
	}
	if max(math.Abs(ga), math.Abs(gb)) > 1e-5 {
		t.Errorf("the gradient at A = %g, B = %g is %g, %g", c.A[0], c.B[0], ga, gb)
	}
	if math.Abs(c.A[0]+1.0/3) > 0.1 {
		t.Errorf("A = %g for scores three times the logits", c.A[0])
	}
	// A large scale of the scores is no matter.
	big := make([]float32, len(scores))
	for i, v := range scores {
		big[i] = v * 1e20
	}
	c2, _ := FitCalibration("platt", false, big, y, nil, 1)
	if math.Abs(c2.A[0]*1e20/c.A[0]-1) > 1e-4 {
		t.Errorf("A = %g for scores 1e20 times those of %g", c2.A[0], c.A[0])
	}
}

// TestTemperatureIsWhatTheScoresWereHeatedBy: T is 3, up to the spread of its estimate.
func TestTemperatureIsWhatTheScoresWereHeatedBy(t *testing.T) {
	for _, k := range []int{1, 4} {
		scores, y := overconfident(2, 5000, k)
		c, err := FitCalibration("temperature", false, scores, y, nil, k)
		if err != nil {
			t.Fatal(err)
		}
		// 1/Var of 1/T is the sum of p(1-p)s², of order 10 a row: 1/√50000 of 3², ×4.
		if math.Abs(c.T-3) > 0.25 {
			t.Errorf("%d outputs: T = %g", k, c.T)
		}
		best := logLoss(c, scores, y, k)
		for _, factor := range []float64{0.99, 1.01} {
			if other := logLoss(&Calibration{Method: "temperature", T: c.T * factor}, scores, y, k); other < best {
				t.Errorf("%d outputs: T = %g has log loss %g, %g times it %g", k, c.T, best, factor, other)
			}
		}
	}
}

// FitOwn has the least loss with what is known of T added, whatever the weights are measured in: of few rows near 1, of many where
// FitCalibration finds it.
func TestTemperatureOfOwnRows(t *testing.T) {
	for _, k := range []int{1, 4} {
		for _, n := range []int{50, 5000} {
			scores, y := overconfident(3, n, k)
			free, err := FitCalibration("temperature", false, scores, y, nil, k)
			if err != nil {
				t.Fatal(err)
			}
			c := FitOwn("temperature", false, scores, y, nil, k, 4*n)
			// Here T is 3. Of n rows at least n·E p(1-p)s² is known, which is of order 10 a row at 1/T = 1/3.
			if !(c.T >= 1 && c.T < free.T) || n == 5000 && math.Abs(1/c.T-1/free.T) > 0.05 {
				t.Errorf("%d rows of %d outputs: T = %g, %g without a prior", n, k, c.T, free.T)
			}
			other := 1 / (4*float64(n) + 2)
			loss := func(T float64) float64 { // as temperature has it: each class is another one with probability 1/(4n+2)
				sum := (1/T - 1) * (1/T - 1) / (2 * nearOne * nearOne)
				p := make([]float64, max(2, k))
				by := &Calibration{Method: "temperature", T: T}
				for i := range n {
					by.Probabilities(p, scores[i*k:(i+1)*k])
					for t := range p {
						of := other / float64(len(p)-1)
						if k == 1 && (t == 1) == (y[i] > 0) || k > 1 && y[i*k+t] > 0 {
							of = 1 - other
						}
						sum -= of * math.Log(p[t])
					}
				}
				return sum
			}
			for _, factor := range []float64{0.98, 1.02} {
				if best, next := loss(c.T), loss(c.T*factor); !(best < next) {
					t.Errorf("%d rows of %d outputs: T = %g has the loss %g, %g times it %g", n, k, c.T, best, factor, next)
				}
			}
			if other := FitOwn("temperature", false, scores, y, slices.Repeat([]float64{1e-3}, n), k, 4*n); math.Abs(other.T/c.T-1) > 1e-9 {
				t.Errorf("T = %g with weights of 1/1000, %g without", other.T, c.T)
			}
		}
	}
}

// Rows that are all told apart are as sure as all rows that the machine was trained on allow, not as the few that it held out.
func TestCertaintyOfOwnRows(t *testing.T) {
	scores, y := make([]float32, 100), make([]float64, 100)
	for i := range scores {
		y[i] = float64(i%2*2 - 1)
		scores[i] = float32(y[i])
	}
	for trained, want := range map[int]float64{100: 1. / 102, 1000: 1. / 1002} {
		p := make([]float64, 2)
		c := FitOwn("logit", false, scores, y, nil, 1, trained)
		c.Probabilities(p, []float32{1})
		// Where the slope of the loss, 100 (p - 1/(n+2)) log 199, and that of what is known of T meet.
		if slope := 100*(want-p[0])*math.Log(199) + (1/c.T-1)/(nearOne*nearOne); math.Abs(slope) > 1e-3 || p[0] > 0.0075 {
			t.Errorf("100 rows of %d: the other class has the probability %g, T %g, the slope %g", trained, p[0], c.T, slope)
		}
	}
}

// With the method quota as many rows come above a class's border as are of the class, by weight, whatever the scales and offsets of the scores;
// the class is that of the largest distance from the border.
func TestQuotasAreFilled(t *testing.T) {
	const n, k = 600, 3
	r := random.New(5, "learn.quota")
	scores, y, weights := make([]float32, n*k), make([]float64, n*k), make([]float64, n)
	truth, total := make([]int, n), make([]float64, k)
	for i := range n {
		class := []int{0, 1, 1, 2, 2, 2}[r.Intn(6)]
		truth[i], weights[i] = class, float64(r.Intn(3))
		total[class] += weights[i]
		for c := range k {
			y[i*k+c] = -1
			scores[i*k+c] = float32(r.Normal())/2 + []float32{5, 0, -3}[c] // on scales of their own
		}
		y[i*k+class] = 1
		scores[i*k+class] += 3
	}
	c, err := FitCalibration("quota", false, scores, y, weights, k)
	if err != nil || c.Check(k) != nil || c.A[0] != c.A[1] || c.A[0] >= 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for class := range k {
		above := 0.0
		for i := range n {
			if c.output(class, scores[i*k+class]) > 0.5 {
				above += weights[i]
			}
		}
		if above < total[class] || above >= total[class]+2 { // a row has a weight of 2 at most
			t.Errorf("class %d: %g above the border, %g are of it", class, above, total[class])
		}
	}
	plain, quota := 0, 0
	for i := range n {
		row := scores[i*k:][:k]
		if c.Class(row) == truth[i] {
			quota++
		}
		if Predicted(row) == truth[i] {
			plain++
		}
		best := 0
		for j, v := range row {
			if float64(v)+c.B[j]/c.A[j] > float64(row[best])+c.B[best]/c.A[best] {
				best = j
			}
		}
		if c.Class(row) != best {
			t.Errorf("row %d: class %d, but %d is farthest above its border", i, c.Class(row), best)
		}
	}
	if quota < n*97/100 || plain > n*60/100 {
		t.Errorf("of %d rows %d are right, without quotas %d", n, quota, plain)
	}
}

// A border that no rows, or all of them, are above; and equal scores.
func TestBordersOfQuotas(t *testing.T) {
	for _, c := range []struct {
		scores []float32
		y      []float64
		above  int
	}{
		{[]float32{1, 2, 3}, []float64{-1, -1, -1}, 0},
		{[]float32{1, 2, 3}, []float64{1, 1, 1}, 3},
		{[]float32{1, 2, 3}, []float64{1, -1, -1}, 1},
		{[]float32{2, 2, 2, 2}, []float64{1, -1, 1, -1}, 0}, // a border at the score of all
		{[]float32{0, 0}, []float64{1, -1}, 0},
	} {
		got, err := FitCalibration("quota", true, c.scores, c.y, nil, 1)
		if err != nil || got.Check(1) != nil {
			t.Fatalf("%+v: %+v, %v", c, got, err)
		}
		above := 0
		for _, v := range c.scores {
			if got.output(0, v) > 0.5 {
				above++
			}
		}
		if above != c.above {
			t.Errorf("%+v: %d are above the border of %+v, want %d", c, above, got, c.above)
		}
	}
}

func TestIsotonicRisesAndIsNearest(t *testing.T) {
	scores, y := overconfident(3, 60, 1)
	for i := range scores {
		scores[i] = float32(math.Round(float64(scores[i]))) // ties
	}
	c, _ := FitCalibration("isotonic", false, scores, y, nil, 1)
	if err := c.Check(1); err != nil {
		t.Fatal(err)
	}
	square := func(f func(s float64) float64) float64 {
		sum := 0.0
		for i, v := range scores {
			d := f(float64(v)) - (y[i]+1)/2
			sum += d * d
		}
		return sum
	}
	fitted := func(s float64) float64 { return interpolated(c.Knots[0], c.Rise[0], s) }
	best := square(fitted)
	// No rising function is nearer: mixing in any step that rises makes it worse.
	for _, at := range scores {
		for _, level := range []float64{0, 1} {
			mixed := func(s float64) float64 {
				step := level
				if s >= float64(at) {
					step = 1
				}
				return 0.999*fitted(s) + 0.001*step
			}
			if square(mixed) < best-1e-12 {
				t.Errorf("a step at %g from %g comes nearer", at, level)
			}
		}
	}
}

func TestCalibrationOfOddScores(t *testing.T) {
	p := make([]float64, 3)
	for _, method := range CalibrationMethods() {
		for name, c := range map[string]struct {
			scores []float32
			y      []float64
		}{
			"constant":         {[]float32{2, 2, 2, 2}, []float64{1, -1, -1, -1}},
			"zero":             {[]float32{0, 0}, []float64{1, -1}},
			"one class":        {[]float32{1, 2, 3}, []float64{1, 1, 1}},
			"separable":        {[]float32{-2, -1, 1, 2}, []float64{-1, -1, 1, 1}},
			"the wrong way":    {[]float32{-2, -1, 1, 2}, []float64{1, 1, -1, -1}},
			"one row":          {[]float32{5}, []float64{-1}},
			"no row":           {nil, nil},
			"the largest ones": {[]float32{-3e38, 3e38, 1}, []float64{-1, 1, 1}},
		} {
			fit, err := FitCalibration(method, false, c.scores, c.y, nil, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := fit.Check(1); err != nil {
				t.Errorf("%s, %s: %v", method, name, err)
			}
			for _, s := range []float32{-3e38, -1, 0, 0.5, 3e38} {
				fit.Probabilities(p[:2], []float32{s})
				if !(p[0] >= 0 && p[1] >= 0 && math.Abs(p[0]+p[1]-1) < 1e-12) {
					t.Errorf("%s, %s: probabilities %v of the score %g", method, name, p[:2], s)
				}
			}
			if name == "constant" && !fit.oneNumber() && method != "quota" { // of quota, they are the border
				fit.Probabilities(p[:2], []float32{2})
				// 1 of 4, or by Platt's prior between 1/4 and 1/2.
				if p[1] < 0.25-1e-9 || p[1] > 0.45 || method == "isotonic" && p[1] != 0.25 {
					t.Errorf("%s: constant scores, one row of four positive: %g", method, p[1])
				}
			}
		}
		// Rows of weight 0 are ignored.
		a, _ := FitCalibration(method, false, []float32{-2, -1, 1, 2, 9}, []float64{-1, 1, -1, 1, -1}, []float64{1, 1, 1, 1, 0}, 1)
		b, _ := FitCalibration(method, false, []float32{-2, -1, 1, 2}, []float64{-1, 1, -1, 1}, nil, 1)
		a.Probabilities(p[:2], []float32{1.5})
		first := p[1]
		b.Probabilities(p[:2], []float32{1.5})
		if math.Abs(first-p[1]) > 1e-6 {
			t.Errorf("%s: a row of weight 0 moves a probability from %g to %g", method, p[1], first)
		}
	}
	// Classes of which none is likely are equally likely.
	none := &Calibration{Method: "isotonic", Knots: [][]float64{{0}, {0}, {0}}, Rise: [][]float64{{0}, {0}, {0}}}
	none.Probabilities(p, []float32{1, 2, 3})
	if p[0] != 1.0/3 || p[2] != 1.0/3 {
		t.Errorf("%v", p)
	}
	// Labels keep their own probabilities.
	labels := &Calibration{Method: "platt", Labels: true, A: []float64{-1, -1, -1}, B: []float64{0, 0, 0}}
	labels.Probabilities(p, []float32{0, 0, 100})
	if p[0] != 0.5 || p[1] != 0.5 || p[2] != 1 {
		t.Errorf("%v", p)
	}
	for _, bad := range []*Calibration{
		{Method: "platt", A: []float64{1}}, {Method: "quota", A: []float64{1}}, {Method: "temperature"}, {Method: "x"}, {Method: "isotonic",
			Knots: [][]float64{{1, 0}}, Rise: [][]float64{{0, 1}}},
		{Method: "isotonic", Knots: [][]float64{{0, 1}}, Rise: [][]float64{{0, 2}}}, {Method: "platt", A: []float64{math.NaN()}, B: []float64{0}},
	} {
		if bad.Check(1) == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

func TestCalibrationLowersTheLogLossOfOtherRows(t *testing.T) {
	for _, k := range []int{1, 4} {
		scores, y := overconfident(4, 4000, k)
		test, truth := overconfident(5, 4000, k)
		before := logLoss(&Calibration{Method: "temperature", T: 1}, test, truth, k)
		right := logLoss(&Calibration{Method: "temperature", T: 3}, test, truth, k)
		for _, method := range CalibrationMethods() {
			c, _ := FitCalibration(method, false, scores, y, nil, k)
			after := logLoss(c, test, truth, k)
			if after > before-0.5*(before-right) {
				t.Errorf("%s, %d outputs: log loss %.4f, before %.4f, of the truth %.4f", method, k, after, before, right)
			}
		}
	}
}

// TestPredictedClassHasTheLargestProbability draws scores and calibrations at random, with many ties.
func TestPredictedClassHasTheLargestProbability(t *testing.T) {
	s := random.New(6, "predicted")
	moved, ties := 0, 0
	for round := range 4000 {
		k := 1 + round%6
		c := &Calibration{Method: CalibrationMethods()[round%3], T: math.Exp(2 * s.Normal())}
		for range k {
			c.A, c.B = append(c.A, -math.Exp(3*s.Normal())), append(c.B, 2*s.Normal())
			if s.Intn(8) == 0 {
				c.A[len(c.A)-1] *= -1 // scores that go the wrong way
			}
			var knots, rise []float64
			for range 1 + s.Intn(4) {
				knots, rise = append(knots, s.Normal()), append(rise, float64(s.Intn(5))/4)
			}
			slices.Sort(knots)
			slices.Sort(rise)
			c.Knots, c.Rise = append(c.Knots, knots), append(c.Rise, rise)
		}
		if err := c.Check(k); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			scores := make([]float32, k)
			for i := range scores {
				scores[i] = float32(s.Intn(9)-4) / 4
				if s.Intn(2) == 0 {
					scores[i] = float32(s.Normal() * math.Exp(4*s.Normal()))
				}
			}
			p := make([]float64, max(2, k))
			c.Probabilities(p, scores)
			got, most := c.Class(scores), slices.Max(p)
			if p[got] != most {
				t.Fatalf("%+v: class %d of the probabilities %v, scores %v", c, got, p, scores)
			}
			if got != Predicted(scores) {
				moved++
			}
			for other, v := range p {
				if other == got || v != most {
					continue
				}
				ties++
				if k == 1 && got != Predicted(scores) || k > 1 && (scores[other] > scores[got] || scores[other] == scores[got] && other < got) {
					t.Fatalf("%+v: class %d of the probabilities %v, which are equal, scores %v", c, got, p, scores)
				}
			}
			labels := *c
			labels.Labels = true
			labels.Probabilities(p[:k], scores)
			for i, v := range scores {
				if has := labels.Has(i, v); has != (p[i] > 0.5 || p[i] == 0.5 && v > 0) {
					t.Fatalf("%+v: label of probability %g told: %v", labels, p[i], has)
				}
			}
		}
	}
	if moved == 0 || ties == 0 {
		t.Errorf("%d predictions that the scores would not make, %d ties: the test shows nothing", moved, ties)
	}
}

// TestTellingAClassAllocatesNothing holds for single rows.
func TestTellingAClassAllocatesNothing(t *testing.T) {
	scores, y := overconfident(4, 400, 70)
	for _, method := range CalibrationMethods() {
		c, err := FitCalibration(method, false, scores, y, nil, 70)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { c.Class(scores[:70]) }); n != 0 {
			t.Errorf("%s: %g allocations", method, n)
		}
	}
}

// TestLogisticModelsNeedNoCalibrationToAgree: where the loss is logistic, probabilities are in the order of the scores.
func TestLogisticModelsNeedNoCalibrationToAgree(t *testing.T) {
	s := random.New(7, "agree")
	for round := range 20_000 {
		scores := make([]float32, 1+round%5)
		for i := range scores {
			scores[i] = float32(s.Normal() * math.Exp(4*s.Normal()))
		}
		for _, joint := range []bool{false, true} {
			p := make([]float64, max(2, len(scores)))
			Probabilities(p, scores, joint)
			if got := Predicted(scores); p[got] != slices.Max(p) {
				t.Fatalf("joint %v: class %d of the probabilities %v, scores %v", joint, got, p, scores)
			}
		}
	}
}

// Scores 2P-1, which is what squared error estimates, need no correction; those of a learner that shrinks towards 0 on the scale of
// log-odds do.
func TestLogitOfScoresThatAreProbabilities(t *testing.T) {
	r := random.New(9, "learn.logit")
	const n = 20_000
	for _, k := range []int{1, 3} {
		for _, heat := range []float64{1, 1.6} {
			scores, y := make([]float32, 0, n*k), make([]float64, 0, n*k)
			p, logs := make([]float64, k), make([]float64, k)
			for range n {
				at := 0
				if k == 1 {
					l := 1.5 * r.Normal()
					if r.Uniform() < 1/(1+math.Exp(-l)) {
						at = 1
					}
					y = append(y, float64(2*at-1))
					scores = append(scores, float32(2/(1+math.Exp(-l*heat))-1))
					continue
				}
				for j := range logs {
					logs[j] = 0.8 * r.Normal()
				}
				Softmax(p, func(j int) float64 { return logs[j] })
				for u := r.Uniform() - p[0]; u > 0 && at < k-1; u -= p[at] {
					at++
				}
				Softmax(p, func(j int) float64 { return heat * logs[j] })
				for j := range k {
					scores, y = append(scores, float32(2*p[j]-1)), append(y, -1)
				}
				y[len(y)-k+at] = 1
			}
			c, err := FitCalibration("logit", false, scores, y, nil, k)
			if err != nil {
				t.Fatal(err)
			}
			// 1/Var of 1/T is Σ of the variance of the log-odds by p: more than 0.1 a row.
			if math.Abs(1/c.T-1/heat) > 5*heat/math.Sqrt(0.1*n) {
				t.Errorf("%d outputs, heated by %g: T = %g", k, heat, c.T)
			}
			for i := 0; i < 100*k; i += k {
				if c.Class(scores[i:i+k]) != Predicted(scores[i:i+k]) {
					t.Fatalf("%d outputs: another class for %v", k, scores[i:i+k])
				}
			}
		}
	}
	c, _ := FitCalibration("logit", false, slices.Repeat([]float32{-1, -0.9, 0.9, 1}, 100_000), slices.Repeat([]float64{-1, -1, 1, 1}, 100_000), nil, 1)
	if c.T != 0.5 {
		t.Errorf("T = %g for many rows on their right sides", c.T)
	}
}

// However far from the border n rows are on their right sides, the next one is taken to be on it with probability (n+1)/(n+2); weights count
// as the rows of equal weights that tell as much.
func TestFewRowsAreNotCertain(t *testing.T) {
	for _, n := range []int{1, 10, 300} {
		for _, k := range []int{1, 3} {
			var scores []float32
			var y, weights []float64
			for i := range n {
				row, code := make([]float32, k), slices.Repeat([]float64{-1}, k)
				row[i%k], code[i%k] = 7, 1
				scores, y, weights = append(scores, row...), append(y, code...), append(weights, 0.4)
			}
			c, err := FitCalibration("temperature", false, scores, y, weights, k)
			if err != nil {
				t.Fatal(err)
			}
			p := make([]float64, max(2, k))
			c.Probabilities(p, scores[:k])
			if got, want := slices.Max(p), float64(n+1)/float64(n+2); math.Abs(got-want) > 1e-6 {
				t.Errorf("%d rows, %d outputs: probability %g, want %g", n, k, got, want)
			}
		}
	}
	if n := effectiveRows([]float64{3, 1, 0}); n != 1.6 {
		t.Errorf("weights of 3, 1 and 0 count as %g rows", n)
	}
}
