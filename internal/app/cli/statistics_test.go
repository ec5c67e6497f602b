package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// predicted are the numbers that predict writes, by line and column.
func predicted(t *testing.T, args ...string) [][]float64 {
	t.Helper()
	var all [][]float64
	for line := range strings.Lines(ok(t, append([]string{"predict"}, args...)...)) {
		var row []float64
		for field := range strings.SplitSeq(strings.TrimSpace(line), "\t") {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			row = append(row, v)
		}
		all = append(all, row)
	}
	return all
}

func TestStatisticsOnTheCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	part := func(name string, from, to int) string {
		text := ""
		for i := from; i < to; i++ {
			// Low-discrepancy points of the square, so that all parts are alike.
			u, v := math.Mod(float64(i)*0.7548776662, 1), math.Mod(float64(i)*0.5698402910, 1)
			text += fmt.Sprintf("%g,%g,%g\n", u, v, math.Sin(9*u)+5*v+0.1*math.Mod(float64(i)*0.618, 1))
		}
		return write(t, dir, name, text)
	}
	a, b, c, all := part("a.csv", 0, 400), part("b.csv", 400, 600), part("c.csv", 600, 900), part("all.csv", 0, 900)

	ok(t, "train", a, "-o", at("a.mercer"), "--features", "64", "--save-stats", at("a.stats"))
	if text := ok(t, "inspect", at("a.stats")); !strings.Contains(text, "400 rows × 2 dimensions, 64 features, 1 target") {
		t.Errorf("inspect says %s", text)
	}
	ok(t, "train", all, "-o", at("one.mercer"), "--like", at("a.stats"))
	want := predicted(t, at("one.mercer"), all)
	compare := func(what, model string) {
		t.Helper()
		for i, row := range predicted(t, model, all) {
			if math.Abs(row[0]-want[i][0]) > 1e-4*(1+math.Abs(want[i][0])) {
				t.Fatalf("%s: row %d is predicted as %g, in one pass as %g", what, i, row[0], want[i][0])
			}
		}
	}
	ok(t, "train", b, "-o", at("ab.mercer"), "--append", at("a.stats"), "--save-stats", at("ab.stats"))
	ok(t, "train", c, "-o", at("abc.mercer"), "--append", at("ab.stats"))
	compare("appended twice", at("abc.mercer"))

	// Shards: λ is given, as their rows belong to other folds.
	var info struct {
		Trained struct {
			Training struct{ Ridge struct{ Lambda float64 } }
		}
	}
	text := ok(t, "train", all, "-o", at("one.mercer"), "--like", at("a.stats"), "--json")
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		t.Fatal(err)
	}
	lambda := fmt.Sprint(info.Trained.Training.Ridge.Lambda)
	ok(t, "train", b, "-o", at("x.mercer"), "--like", at("a.stats"), "--save-stats", at("b.stats"))
	ok(t, "train", c, "-o", at("x.mercer"), "--like", at("a.stats"), "--save-stats", at("c.stats"))
	if text := ok(t, "merge", at("a.stats"), at("b.stats"), at("c.stats"), "-o", at("all.stats")); !strings.Contains(text,
		"900 rows, 64 features, 1 target") {
		t.Errorf("merge says %s", text)
	}
	ok(t, "train", "--append", at("all.stats"), "-o", at("m.mercer"), "--lambda", lambda)
	compare("merged", at("m.mercer"))
	ok(t, "train", "--append", at("c.stats"), "--append", at("b.stats"), "--append", at("a.stats"), "-o", at("m.mercer"), "--lambda", lambda)
	compare("appended as three files", at("m.mercer"))

	ok(t, "train", a, "-o", at("x.mercer"), "--features", "64", "--seed", "5", "--save-stats", at("other.stats"))
	two := write(t, dir, "two.csv", "1,2,3,4\n4,5,6,7\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"merge", at("a.stats"), at("other.stats"), "-o", at("x")}, 1, "the statistics are of another pipeline"},
		{[]string{"train", b, "--append", at("a.stats"), "-o", at("x"), "--gamma", "3"}, 2, "--gamma was decided when the statistics were made"},
		{[]string{"train", b, "--append", at("a.stats"), "--like", at("a.stats"), "-o", at("x")}, 2, "leave out --like"},
		{[]string{"train", "-o", at("x")}, 2, "0 arguments"},
		{[]string{"train", b, "--append", at("a.mercer"), "-o", at("x")}, 1, "a model, not a file of statistics"},
		{[]string{"train", b, "--append", at("none.stats"), "-o", at("x")}, 1, "file does not exist"},
		{[]string{"train", two, "--append", at("a.stats"), "-o", at("x")}, 1, "two.csv"},
		{[]string{"train", b, "-o", at("x"), "--save-stats", filepath.Join(dir, "no", "such")}, 1, "does not exist"},
		{[]string{"predict", at("a.stats"), b}, 1, "statistics of rows, not a model"},
	} {
		if r := mercer(t, c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("mercer %s: %d, %s; want %d, %s", strings.Join(c.args, " "), r.code, r.stderr, c.code, c.want)
		}
	}
}

func TestDeviationsAndIntervalsOnTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "data.csv", curve(1000)), filepath.Join(dir, "m.mercer")
	text := ok(t, "train", data, "-o", m, "--features", "64", "--variance", "--conformal", "0.9")
	for _, want := range []string{"by evidence", "effective parameters", "noise of deviation", "90 % intervals of ±"} {
		if !strings.Contains(text, want) {
			t.Errorf("train does not say %q: %s", want, text)
		}
	}
	for i, row := range predicted(t, m, data, "--variance", "--interval") {
		if len(row) != 4 || !(row[1] > 0) || !(row[2] < row[0] && row[0] < row[3]) {
			t.Fatalf("row %d: %v, want a number, its deviation and the ends of an interval around it", i, row)
		}
	}
	line, _, _ := strings.Cut(ok(t, "predict", m, data, "--variance", "--interval", "--json"), "\n")
	var both map[string]any
	if err := json.Unmarshal([]byte(line), &both); err != nil || both["deviations"] == nil || both["lower"] == nil || both["upper"] == nil {
		t.Errorf("%s: %v", line, err)
	}
	ok(t, "train", data, "-o", m, "--features", "64", "--lambda-by", "gcv")
	for _, flag := range []string{"--variance", "--interval"} {
		if r := mercer(t, "predict", m, data, flag); r.code != 1 || !strings.Contains(r.stderr, "ridge regression with --") {
			t.Errorf("predict %s: %d, %s", flag, r.code, r.stderr)
		}
	}
}

// The learner of the default has intervals of any level without a flag at training; the level stands before, between or behind the files.
func TestIntervalsOfAnyLevel(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "data.csv", curve(300)), filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "-o", m, "--learner", "rfm", "--smooth", "--features", "50")
	last := 0.0
	for _, args := range [][]string{{"--interval", "0.5", m, data}, {m, "--interval=0.8", data}, {m, data, "--interval"}, {m, data, "--interval", "0.95"}} {
		inside, width, n := 0.0, 0.0, 0.0
		for line := range strings.Lines(ok(t, append([]string{"predict"}, args...)...)) {
			words := strings.Split(strings.TrimSpace(line), "\t")
			low, _ := strconv.ParseFloat(words[1], 64)
			high, _ := strconv.ParseFloat(words[2], 64)
			v, _ := strconv.ParseFloat(words[0], 64)
			if n++; low < v && v < high {
				inside++
			}
			width += high - low
		}
		if inside != n || n != 300 || !(width > last) {
			t.Errorf("%q: %g of %g predictions are between the ends, widths are %g after %g", args, inside, n, width, last)
		}
		last = width
	}
	if a, b := ok(t, "predict", m, data, "--interval", "80%"), ok(t, "predict", m, data, "--interval", "0.8"); a != b {
		t.Errorf("80%% and 0.8 are other intervals: %.60q, %.60q", a, b)
	}
	if r := mercer(t, "predict", "--interval", "abc", m, data); r.code != 2 || !strings.Contains(r.stderr, "--interval abc is not a probability") {
		t.Errorf("--interval abc: %d, %s", r.code, r.stderr)
	}
	for arg, want := range map[string]string{"2": "not a probability", "x": "not a probability", "0.9999": "at least 9999 rows"} {
		if r := mercer(t, "predict", m, data, "--interval="+arg); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("--interval=%s: %d, %s", arg, r.code, r.stderr)
		}
	}
}

func TestLambdaOnTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "data.csv", curve(600)), filepath.Join(dir, "m.mercer")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--lambda", "0"}, "λ = 0 (given, least squares in "},
		{[]string{"--lambda", "0.5"}, "λ = 0.5 (given)"},
		{nil, "over 5 folds"},
		{[]string{"--lambda-by", "held-out"}, "on a held-out tenth"},
		{[]string{"--lambda-by", "gcv"}, "by generalised cross-validation"},
		{[]string{"--lambda-by", "loo"}, "by leave-one-out"},
		{[]string{"--path"}, "λ           error         gcv           loo"},
		{[]string{"--path", "--lambda-by", "folds"}, "the best of 27 over 5 folds"},
	} {
		text := ok(t, append([]string{"train", data, "-o", m, "--features", "64"}, c.args...)...)
		if !strings.Contains(text, c.want) {
			t.Errorf("train %v does not say %q: %s", c.args, c.want, text)
		}
		if c.args == nil && !strings.Contains(text, " to choose λ)") {
			t.Errorf("what choosing cost is not said: %s", text)
		}
		ok(t, "inspect", m)
	}
	for _, args := range [][]string{
		{"--lambda", "1", "--lambda-by", "gcv"}, {"--lambda-by", "luck"}, {"--lambda", "1", "--path"}, {"--conformal", "1.5"},
		{"--learner", "svm", "--path"}, {"--learner", "lasso", "--lambda", "0"}, {"--learner", "elastic-net", "--lambda", "0"},
		{"--learner", "elastic-net", "--l1-ratio", "0"},
	} {
		if r := mercer(t, append([]string{"train", data, "-o", m}, args...)...); r.code != 2 {
			t.Errorf("train %v: %d, %s", args, r.code, r.stderr)
		}
	}
}

// What the documentation of the ridge says of its memory: 30 MB of program, batches and what the
// collector leaves, and squares of D, of which the halves that are used are resident, the others
// too where the runtime had to clear memory that it used before.
func TestRidgeTakesTheMemoryThatItSays(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("peak memory is known on Linux, and takes two trainings")
	}
	bin, dir := program(t), t.TempDir()
	data := write(t, dir, "data.csv", curve(6000))
	for _, c := range []struct {
		d, parts, squares float64
		args              []string
	}{
		{3072, 1, 2, []string{"--lambda", "1"}},
		{1024, 5, 7, []string{"--lambda-by", "folds"}},
	} {
		args := append([]string{"train", data, "-o", filepath.Join(dir, "m.mercer"), "--learner", "ridge",
			"--features", fmt.Sprint(c.d), "--json"}, c.args...)
		out, err := exec.Command(bin, args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Peak float64 `json:"peak_rss_bytes"`
		}
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatal(err)
		}
		rest := 4096*c.parts*c.d + 8192*c.d
		least, most := 16e6+c.squares*4*c.d*(c.d+512)+rest, 30e6+c.squares*8*c.d*c.d+rest
		if v.Peak < 0.85*least || v.Peak > 1.15*most {
			t.Errorf("%v: %.0f MB at its peak, the formulas say %.0f to %.0f", c.args, v.Peak/1e6, least/1e6, most/1e6)
		}
	}
}

// TestStatisticsAppearWithTheModel lets a training fail after its rows were added to the file of
// statistics that they were appended to: the file is as it was, or the same rows would count twice when the training
// is repeated.
func TestStatisticsAppearWithTheModel(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, dir, "flowers.csv", flowers(60))
	ok(t, "train", data, "-o", at("m"), "--features", "16", "--save-stats", at("s"))
	if r := mercer(t, "train", data, "-o", at("n"), "--append", at("s"), "--save-stats", at("s"), "--variance"); r.code != 1 {
		t.Fatalf("%+v", r)
	}
	if text := ok(t, "inspect", at("s")); !strings.Contains(text, "60 rows") {
		t.Errorf("a training that failed left %s", text)
	}
	ok(t, "train", data, "-o", at("n"), "--append", at("s"), "--save-stats", at("s"))
	if text := ok(t, "inspect", at("s")); !strings.Contains(text, "120 rows") {
		t.Errorf("after one that did not: %s", text)
	}
	if left, _ := filepath.Glob(at(".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
