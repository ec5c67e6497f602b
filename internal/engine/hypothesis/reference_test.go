package hypothesis

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// reference reads testdata/reference.txt, which R wrote by testdata/reference.R: the lines of a name.
func reference(t *testing.T) map[string][][]float64 {
	t.Helper()
	f, err := os.Open("testdata/reference.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][][]float64{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		var numbers []float64
		for _, w := range words[1:] {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, v)
		}
		out[words[0]] = append(out[words[0]], numbers)
	}
	return out
}

// near fails where two numbers differ by more than a share of the larger.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*max(math.Abs(got), math.Abs(want))) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

func rows(values []float64, columns int) [][]float64 {
	var out [][]float64
	for ; len(values) > 0; values = values[columns:] {
		out = append(out, values[:columns])
	}
	return out
}

func TestFriedmanMatchesR(t *testing.T) {
	r := reference(t)
	for _, name := range []string{"friedman1", "friedman2", "friedman3"} {
		want := r[name+".want"][0]
		got, err := Friedman(rows(r[name+".scores"][0], int(r[name+".shape"][0][1])), false)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" χ²", got.ChiSquare, want[0], 1e-12)
		near(t, name+" p", got.P, want[1], 1e-10)
		near(t, name+" F", got.F, want[2], 1e-12)
		near(t, name+" p of F", got.FP, want[3], 1e-10)
		for j, rank := range want[4:] {
			near(t, name+" rank", got.Ranks[j], rank, 1e-12)
		}
	}
}

func TestStudentizedRangeMatchesRAndScipy(t *testing.T) {
	r := reference(t)
	for _, k := range []int{2, 3, 8, 40} {
		name := strconv.Itoa(k)
		for i, q := range []float64{0.05, 0.5, 1, 2, 3, 4, 5, 6} {
			// R's error grows with k, to 2·10⁻⁷ for 40.
			if got, want := StudentizedRangeTail(q, k), r["tail.k"+name][0][i]; math.Abs(got-want) > 3e-7 {
				t.Errorf("k = %d: P(Q > %g) = %.15g, want %.15g", k, q, got, want)
			}
		}
		for i, alpha := range []float64{0.1, 0.05, 0.01} {
			near(t, "quantile of k = "+name, StudentizedRangeQuantile(alpha, k), r["quantile.k"+name][0][i], 1e-5)
		}
	}
	for _, c := range scipy(t).Tail {
		near(t, "tail by scipy", StudentizedRangeTail(c[0], int(c[1])), c[2], 1e-10)
	}
}

func TestStudentizedRangeOfTwoIsNormalFarOut(t *testing.T) {
	for _, q := range []float64{0.01, 1, 5, 12, 30, 45} {
		near(t, "tail", StudentizedRangeTail(q, 2), math.Erfc(q/2), 1e-12)
	}
	if got := StudentizedRangeTail(0, 5); got != 1 {
		t.Errorf("P(Q > 0) = %g", got)
	}
}

func TestAdjustedPMatchR(t *testing.T) {
	r := reference(t)
	for _, name := range []string{"adjust1", "adjust2"} {
		p := r[name+".p"][0]
		for method, got := range map[string][]float64{"bonferroni": Bonferroni(p), "holm": Holm(p), "hochberg": Hochberg(p)} {
			for i, want := range r[name+"."+method][0] {
				near(t, name+" "+method, got[i], want, 1e-12)
			}
		}
	}
}

func TestWilcoxonMatchesRAndScipy(t *testing.T) {
	r := reference(t)
	for name, exact := range map[string]bool{"exact5": true, "exact12": true, "exact49": true, "many": false, "ties": false, "zeros": false} {
		got, err := Wilcoxon(r["wilcoxon."+name+".d"][0], DropZeros)
		if err != nil {
			t.Fatal(err)
		}
		want := r["wilcoxon."+name+".want"][0]
		if got.Exact != exact || got.Plus != want[0] {
			t.Errorf("%s: exact %v, V = %g; want %v, %g", name, got.Exact, got.Plus, exact, want[0])
		}
		near(t, name, got.P, want[1], 1e-12)
	}
	for _, c := range scipy(t).Pratt {
		got, err := Wilcoxon(c.D, PrattZeros)
		if err != nil {
			t.Fatal(err)
		}
		if s := min(got.Plus, got.Minus); s != c.Statistic {
			t.Errorf("Pratt: statistic %g, want %g", s, c.Statistic)
		}
		near(t, "Pratt", got.P, c.P, 1e-12)
	}
}

func TestMcNemarMatchesR(t *testing.T) {
	for _, c := range reference(t)["mcnemar"] {
		got := McNemar(int(c[0]), int(c[1]))
		near(t, "exact p", got.P, c[2], 1e-12)
		near(t, "χ²", got.ChiSquare, c[3], 1e-12)
		near(t, "p of χ²", got.ChiSquareP, c[4], 1e-12)
	}
}

func TestCorrectedTMatchesR(t *testing.T) {
	r := reference(t)
	want := r["resampled.want"][0]
	got, err := CorrectedT(r["resampled.d"][0], 1.0/9)
	if err != nil {
		t.Fatal(err)
	}
	low, high := got.Interval(0.95)
	for i, v := range []float64{got.Mean, got.T, got.P, low, high} {
		near(t, "corrected t", v, want[i], 1e-9)
	}
}

// recorded is what scipy says; testdata/reference.py wrote it.
type recorded struct {
	Tail  [][3]float64 `json:"tail"`
	Pratt []struct {
		D         []float64 `json:"d"`
		Statistic float64   `json:"statistic"`
		P         float64   `json:"p"`
	} `json:"pratt"`
	Losses     []float64  `json:"losses"`
	Percentile [2]float64 `json:"percentile"`
	BCa        [2]float64 `json:"BCa"`
}

func scipy(t *testing.T) (r recorded) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBootstrapIntervalsMatchScipy(t *testing.T) {
	want := scipy(t)
	d, err := PairedBootstrap(context.Background(), want.Losses, make([]float64, len(want.Losses)), 20000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]func(float64) (float64, float64){"percentile": d.Percentile, "BCa": d.BCa} {
		low, high := got(0.95)
		of := map[string][2]float64{"percentile": want.Percentile, "BCa": want.BCa}[name]
		// A percentile of B resamples errs by √(p(1-p)/B)/density: 0.0011/(0.058/σ) = 0.019·σ here, and σ is a quarter
		// of the interval's width.
		bound := 4 * 0.019 * (of[1] - of[0]) / 4
		if math.Abs(low-of[0]) > bound || math.Abs(high-of[1]) > bound {
			t.Errorf("%s: [%g, %g], want %v ± %g", name, low, high, of, bound)
		}
	}
}
