package hypothesis

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// distance is the Kolmogorov-Smirnov distance of values from the uniform distribution on [0, 1].
func distance(values []float64) float64 {
	slices.Sort(values)
	far, n := 0.0, float64(len(values))
	for i, v := range values {
		far = max(far, float64(i+1)/n-v, v-float64(i)/n)
	}
	return far
}

// uniform fails where p-values under the hypothesis are not uniform: the distance of n of them exceeds 1.95/√n with
// probability 0.001. lattice allows for a p-value's own steps.
func uniform(t *testing.T, what string, p []float64, lattice float64) {
	t.Helper()
	if d := distance(p); d > 1.95/math.Sqrt(float64(len(p)))+lattice {
		t.Errorf("%s: p-values without a difference are at a distance %.3f from uniform", what, d)
	}
}

func TestPValuesAreUniformWithoutDifference(t *testing.T) {
	const seeds = 1000
	p := map[string][]float64{}
	for seed := range uint64(seeds) {
		r := random.New(seed, "null")
		add := func(what string, v float64) { p[what] = append(p[what], v) }

		scores := make([][]float64, 40)
		for i := range scores {
			scores[i] = make([]float64, 6)
			for j := range scores[i] {
				scores[i][j] = r.Normal()
			}
		}
		f, err := Friedman(scores, true)
		if err != nil {
			t.Fatal(err)
		}
		add("Friedman", f.P)
		add("Iman-Davenport", f.FP)
		_, v := f.Compare(0, 1)
		add("two of six methods", v)
		worst, best := f.Ranks[0], f.Ranks[0]
		for _, rank := range f.Ranks {
			worst, best = max(worst, rank), min(best, rank)
		}
		add("Nemenyi", StudentizedRangeTail(math.Sqrt2*(worst-best)/f.StandardError(), 6))

		d := make([]float64, 60)
		for i := range d {
			d[i] = r.Normal()
		}
		for what, n := range map[string]int{"Wilcoxon, exact": 40, "Wilcoxon, normal": 60} {
			w, err := Wilcoxon(d[:n], DropZeros)
			if err != nil {
				t.Fatal(err)
			}
			add(what, w.P)
		}
		// Independent differences need no correction.
		c, err := CorrectedT(d[:8], 0)
		if err != nil {
			t.Fatal(err)
		}
		add("t", c.P)
		wins := 0
		for range 2000 {
			wins += r.Intn(2)
		}
		add("McNemar", McNemar(wins, 2000-wins).P)
	}
	// What steps of ranks and of counts allow: the largest probability of one value.
	lattice := map[string]float64{"Friedman": 0.01, "Iman-Davenport": 0.01, "two of six methods": 0.02, "Nemenyi": 0.04, "McNemar": 0.036}
	for what, values := range p {
		uniform(t, what, values, lattice[what])
	}
}

func TestBootstrapPIsUniformAndIntervalsCover(t *testing.T) {
	// 400 data sets of 120 rows; an interval of 90 % that covers with probability q holds the truth in binomial(400, q)
	// of them, 4 standard deviations being 24. Skewed losses cost the percentile interval some of its level.
	const sets, rowCount = 400, 120
	if testing.Short() {
		t.Skip("400 bootstraps")
	}
	inside := map[string]int{}
	var p []float64
	for seed := range uint64(sets) {
		r := random.New(seed, "losses")
		a, b := make([]float64, rowCount), make([]float64, rowCount)
		for i := range a {
			shared := r.Exponential()
			a[i], b[i] = shared+r.Exponential(), shared+r.Exponential()
		}
		d, err := PairedBootstrap(context.Background(), a, b, 400, seed)
		if err != nil {
			t.Fatal(err)
		}
		p = append(p, d.P())
		for name, interval := range map[string]func(float64) (float64, float64){"percentile": d.Percentile, "BCa": d.BCa} {
			if low, high := interval(0.9); low <= 0 && 0 <= high {
				inside[name]++
			}
		}
	}
	uniform(t, "bootstrap", p, 0.02)
	for name, n := range inside {
		if want := 0.9 * sets; math.Abs(float64(n)-want) > 24+0.01*sets {
			t.Errorf("%s: %d of %d intervals of 90 %% hold the truth", name, n, sets)
		}
	}
}

func TestBCaMovesTowardsTheLongTail(t *testing.T) {
	r := random.New(1, "tail")
	losses := make([]float64, 50)
	for i := range losses {
		losses[i] = r.Exponential()
	}
	d, err := PairedBootstrap(context.Background(), losses, make([]float64, 50), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	low, high := d.Percentile(0.95)
	bcaLow, bcaHigh := d.BCa(0.95)
	if bcaLow <= low || bcaHigh <= high {
		t.Errorf("BCa [%g, %g], percentile [%g, %g] of exponential losses", bcaLow, bcaHigh, low, high)
	}
}

// TestBootstrapPIsOfTheInterval: the interval of level 1-p ends at 0.
func TestBootstrapPIsOfTheInterval(t *testing.T) {
	for seed := range uint64(20) {
		r := random.New(seed, "skewed")
		losses := make([]float64, 80)
		for i := range losses {
			losses[i] = r.Exponential() - 0.85
		}
		d, err := PairedBootstrap(context.Background(), losses, make([]float64, 80), 0, seed)
		if err != nil {
			t.Fatal(err)
		}
		p := d.P()
		low, high := d.BCa(1 - p)
		end := low
		if d.Estimate < 0 {
			end = high
		}
		// 0 lies between two of the 2,000 resamples, which are closer than this.
		if wide, _ := d.Percentile(0.95); math.Abs(end) > 0.02*(d.Estimate-wide) {
			t.Errorf("seed %d: p = %g, but that interval is [%g, %g] around %g", seed, p, low, high, d.Estimate)
		}
	}
}

func TestBootstrapDoesNotDependOnThreads(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 7, 1, 2}, []float64{2, 1, 3, 3, 5, 0, 1}
	one := func() Distribution {
		d, err := PairedBootstrap(context.Background(), a, b, 500, 3)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := one()
	threads(t, 1, func() {
		if got := one(); !slices.Equal(got.resamples, want.resamples) || !slices.Equal(got.jackknife, want.jackknife) {
			t.Error("one thread draws otherwise")
		}
	})
}

func TestMinusIsTheBootstrapOfTheDifference(t *testing.T) {
	r := random.New(2, "minus")
	a, b := make([]float64, 300), make([]float64, 300)
	for i := range a {
		a[i], b[i] = r.Normal(), r.Normal()
	}
	mean := func(of []float64, weights []int32) float64 {
		sum := 0.0
		for i, w := range weights {
			sum += float64(w) * of[i] / 300
		}
		return sum
	}
	both, err := Bootstrap(context.Background(), Resampling{Rows: 300, Seed: 9, Resamples: 200, Quantities: 2,
		Statistic: func(weights []int32, q []float64) { q[0], q[1] = mean(a, weights), mean(b, weights) }})
	if err != nil {
		t.Fatal(err)
	}
	paired, err := PairedBootstrap(context.Background(), a, b, 200, 9)
	if err != nil {
		t.Fatal(err)
	}
	got := both[0].Minus(both[1])
	for i, v := range got.resamples {
		if math.Abs(v-paired.resamples[i]) > 1e-12 {
			t.Fatalf("resample %d: %g, want %g", i, v, paired.resamples[i])
		}
	}
}

func TestAdjustedPAreOrdered(t *testing.T) {
	for seed := range uint64(200) {
		r := random.New(seed, "adjust")
		k := 2 + r.Intn(7)
		p := make([]float64, k*(k-1)/2)
		for i := range p {
			p[i] = math.Pow(r.Uniform(), 3)
		}
		bonferroni, holm, hochberg, shaffer := Bonferroni(p), Holm(p), Hochberg(p), Shaffer(p, k)
		for i := range p {
			const eps = 1 + 1e-12
			if p[i] > hochberg[i]*eps || hochberg[i] > holm[i]*eps || holm[i] > bonferroni[i]*eps ||
				p[i] > shaffer[i]*eps || shaffer[i] > holm[i]*eps || bonferroni[i] > 1 {
				t.Fatalf("seed %d: p %g, Hochberg %g, Shaffer %g, Holm %g, Bonferroni %g", seed, p[i], hochberg[i], shaffer[i], holm[i], bonferroni[i])
			}
		}
	}
}

// TestShafferCountsWhatCanBeTrue: of 3 methods, once one equality is false only one other can be true; of 5 methods
// 0, 1, 2, 3, 4, 6 or 10 can (Shaffer 1986).
func TestShafferCountsWhatCanBeTrue(t *testing.T) {
	if got := Shaffer([]float64{0.01, 0.02, 0.03}, 3); !slices.Equal(got, []float64{0.03, 0.03, 0.03}) {
		t.Errorf("adjusted p of 3 methods: %v", got)
	}
	var counts []int
	for n, can := range possiblyTrue(5) {
		if can {
			counts = append(counts, n)
		}
	}
	if !slices.Equal(counts, []int{0, 1, 2, 3, 4, 6, 10}) {
		t.Errorf("of 5 methods %v equalities can be true", counts)
	}
}

func TestExactWilcoxonCountsAllSigns(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for w := 0; w <= n*(n+1)/4; w++ {
			below := 0
			for signs := range 1 << n {
				sum := 0
				for i := range n {
					if signs>>i&1 == 1 {
						sum += i + 1
					}
				}
				if sum <= w {
					below++
				}
			}
			near(t, fmt.Sprintf("n = %d, W = %d", n, w), signedRankP(n, w), min(1, 2*float64(below)/float64(int(1)<<n)), 1e-14)
		}
	}
}

func TestMeanRanksShareTies(t *testing.T) {
	got, _, err := meanRanks([][]float64{{0.9, 0.8, 0.8}, {0.5, 0.7, 0.5}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{(1 + 2.5) / 2, (2.5 + 1) / 2, (2.5 + 2.5) / 2}; !slices.Equal(got, want) {
		t.Errorf("mean ranks %v, want %v", got, want)
	}
}

func TestGroupsAreMaximal(t *testing.T) {
	for _, c := range []struct {
		ranks []float64
		cd    float64
		want  [][]int
	}{
		{[]float64{1, 2, 3, 4}, 1.5, [][]int{{0, 1}, {1, 2}, {2, 3}}},
		{[]float64{3, 1, 1.2, 4}, 1, [][]int{{1, 2}, {0, 3}}},
		{[]float64{1, 5, 9}, 1, nil},
		{[]float64{2, 2, 2}, 0.5, [][]int{{0, 1, 2}}},
		{[]float64{1, 1.5, 2, 2.6, 5}, 1, [][]int{{0, 1, 2}, {2, 3}}},
	} {
		got := Groups(c.ranks, c.cd)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("groups of %v at %g: %v, want %v", c.ranks, c.cd, got, c.want)
		}
	}
	// Against all subsets: a group is a set of methods within the difference that no method can join.
	for seed := range uint64(100) {
		r := random.New(seed, "groups")
		ranks := make([]float64, 7)
		for i := range ranks {
			ranks[i] = 1 + 6*r.Uniform()
		}
		within := func(set int) bool {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i, v := range ranks {
				if set>>i&1 == 1 {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			return hi-lo <= 1.3
		}
		want := map[int]bool{}
		for set := 1; set < 1<<7; set++ {
			maximal := within(set) && set&(set-1) != 0
			for i := range ranks {
				maximal = maximal && (set>>i&1 == 1 || !within(set|1<<i))
			}
			if maximal {
				want[set] = true
			}
		}
		got := Groups(ranks, 1.3)
		for _, g := range got {
			set := 0
			for _, i := range g {
				set |= 1 << i
			}
			if !want[set] {
				t.Fatalf("seed %d: %v is no maximal group of %v", seed, g, ranks)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d groups of %v, want %d", seed, len(got), ranks, len(want))
		}
	}
}

func TestCriticalDifferenceMeetsItsP(t *testing.T) {
	f := &FriedmanTest{DataSets: 14, Methods: 5, Ranks: []float64{1, 1, 1, 1, 1}}
	for _, alpha := range []float64{0.1, 0.05, 0.001} {
		f.Ranks[1] = 1 + f.NemenyiDifference(alpha)
		near(t, "Nemenyi", f.Nemenyi(0, 1), alpha, 1e-10)
		f.Ranks[1] = 1 + f.DunnDifference(alpha)
		_, p := f.Compare(0, 1)
		near(t, "Bonferroni-Dunn", 4*p, alpha, 1e-10)
	}
}

func TestDegenerateComparisons(t *testing.T) {
	perfect, err := Friedman([][]float64{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(perfect.F, 1) || perfect.FP != 0 || perfect.ChiSquare != 6 {
		t.Errorf("methods always ranked alike: χ² = %g, F = %g, p = %g", perfect.ChiSquare, perfect.F, perfect.FP)
	}
	if got := McNemar(0, 0); got.P != 1 || got.ChiSquareP != 1 {
		t.Errorf("no row differs: p = %g, %g", got.P, got.ChiSquareP)
	}
	for _, c := range []struct{ d, p float64 }{{0, 1}, {0.5, 0}} {
		got, err := CorrectedT([]float64{c.d, c.d, c.d}, 0.5)
		if err != nil || got.P != c.p || got.Mean != c.d {
			t.Errorf("differences all %g: %+v, %v", c.d, got, err)
		}
	}
	same, err := PairedBootstrap(context.Background(), []float64{1, 2, 3}, []float64{1, 2, 3}, 200, 1)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := same.BCa(0.95); same.P() != 1 || low != 0 || high != 0 {
		t.Errorf("equal losses: p = %g, [%g, %g]", same.P(), low, high)
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	friedman := func(scores ...[]float64) error { _, err := Friedman(scores, true); return err }
	wilcoxon := func(zeros Zeros, d ...float64) error { _, err := Wilcoxon(d, zeros); return err }
	corrected := func(ratio float64, d ...float64) error { _, err := CorrectedT(d, ratio); return err }
	paired := func(a, b []float64, n int) error { _, err := PairedBootstrap(ctx, a, b, n, 1); return err }
	nan := math.NaN()
	for _, c := range []struct {
		err  error
		want string
	}{
		{friedman(), "no scores"},
		{friedman([]float64{1, 2}, []float64{1}), "data set 2 has 1 scores, but data set 1 has 2"},
		{friedman([]float64{1, 2}, []float64{1, nan}), "data set 2, method 2: NaN is not a finite number"},
		{friedman([]float64{1}, []float64{1}), "one method cannot be compared"},
		{friedman([]float64{1, 2}), "one data set cannot tell"},
		{friedman([]float64{1, 1}, []float64{2, 2}), "all methods have equal scores"},
		{wilcoxon(DropZeros, 0, 0), "of 2 differences none is other than 0"},
		{wilcoxon("keep", 1), `zeros "keep" is not known`},
		{wilcoxon(DropZeros, 1, nan), "difference 2 is NaN"},
		{corrected(0.1, 1), "a t-test takes two or more"},
		{corrected(-1, 1, 2), "give n₂/n₁"},
		{corrected(0.1, 1, math.Inf(1)), "difference 2 is +Inf"},
		{paired([]float64{1, 2}, []float64{1}, 0), "2 losses of one method, 1 of the other"},
		{paired([]float64{1, nan}, []float64{1, 2}, 0), "row 2"},
		{paired([]float64{1}, []float64{1}, 0), "1 rows; the bootstrap takes two or more"},
		{paired([]float64{1, 2}, []float64{1, 2}, 10), "10 resamples are too few"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
	_, err := Bootstrap(ctx, Resampling{Rows: 3, Quantities: 1, Statistic: func(_ []int32, q []float64) { q[0] = nan }})
	if err == nil || !strings.Contains(err.Error(), "not defined") {
		t.Errorf("a quantity that is not defined: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := PairedBootstrap(cancelled, []float64{1, 2}, []float64{2, 1}, 0, 1); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
