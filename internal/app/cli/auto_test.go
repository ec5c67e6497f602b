package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/internal/app/render"
	"mercer/internal/engine/testenv"
	"mercer/internal/search"
	"mercer/train"
)

func TestTrainAutoSaysWhatItTriedAndCanBeRepeated(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "flowers one.csv", flowers(200))
	out := dir + "/a.mercer"
	args := []string{"train", data, "-o", out, "--auto", "--budget", "2m", "--features", "32", "--holdout", "0.2",
		"--kernel", "rbf", "--learner", "ridge", "--seed", "3"}
	var r struct {
		Accuracy float64
		Auto     struct {
			Command string
			Config  train.Config
			Heats   []struct {
				Candidates []struct {
					Name string
					Runs []struct {
						Rows  int
						Score float64
					}
				}
				Rungs []int
			}
			Why   []string
			Exact struct {
				Rows    int
				Bytes   float64 `json:"gram_bytes"`
				Seconds float64 `json:"seconds_extrapolated"`
			}
		}
	}
	if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &r); err != nil {
		t.Fatal(err)
	}
	a := r.Auto
	if len(a.Heats) != 2 || len(a.Heats[0].Candidates) != 3 || len(a.Heats[0].Candidates[0].Runs) == 0 || len(a.Why) < 2 {
		t.Errorf("%+v", a)
	}
	// A fifth of the 200 rows is held back, 35 of them: the Gram matrix has as many rows as are left.
	if n := float64(a.Exact.Rows); n < 140 || n > 180 || a.Exact.Bytes != 4*n*n {
		t.Errorf("%+v", a.Exact)
	}
	if !strings.HasPrefix(a.Command, "mercer train '") || strings.Contains(a.Command, "auto") || strings.Contains(a.Command, "budget") {
		t.Fatalf("the command is %q", a.Command)
	}
	first, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// The words of the command, of which only the file's name is quoted.
	var words []string
	for i, part := range strings.Split(a.Command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	ok(t, words[1:]...)
	again, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, again) {
		t.Errorf("%s trains another model", a.Command)
	}
	text := ok(t, args...)
	for _, want := range []string{"accuracy in %", "the best", "why", "Gram matrix", "extrapolated", "again", "test"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

func TestTrainEstimate(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(400))
	text := ok(t, "train", data, "--estimate", "--features", "64")
	for _, want := range []string{"about ", " for 400 rows", "64 features", "D² bytes", "trials"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	var c struct {
		Rows    int
		Seconds float64
		Plan    struct {
			Bytes    int64
			Features int
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "train", data, "--estimate", "--features", "64", "--json")), &c); err != nil {
		t.Fatal(err)
	}
	if c.Rows != 400 || c.Plan.Features != 64 || c.Plan.Bytes < 56*64*64 || c.Seconds <= 0 {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(dir + "/m"); err == nil {
		t.Error("an estimate writes a model")
	}
}

// announceAll takes every work for a long one, which is announced.
func announceAll(t *testing.T) {
	before := longWork
	longWork = 0
	t.Cleanup(func() { longWork = before })
}

func TestLongTrainingsAreAnnouncedInLogs(t *testing.T) {
	announceAll(t)
	dir := t.TempDir()
	data, out := write(t, dir, "curve.csv", curve(400)), filepath.Join(dir, "m")
	args := []string{"train", data, "-o", out, "--features", "64"}
	for _, c := range []struct {
		flags []string
		said  bool
	}{{nil, true}, {[]string{"--json"}, true}, {[]string{"--progress", "never"}, false}, {[]string{"--auto", "--budget", "2m", "--kernel", "rbf", "--learner", "ridge"}, false}} {
		r := mercer(t, append(args, c.flags...)...)
		if r.code != 0 || strings.Contains(r.stdout, "for 400 rows") {
			t.Fatalf("%v: code %d: %s%s", c.flags, r.code, r.stdout, r.stderr)
		}
		if said := strings.HasPrefix(r.stderr, "mercer train: note: about ") &&
			strings.HasSuffix(r.stderr, " for 400 rows\n"); said != c.said || !c.said && r.stderr != "" {
			t.Errorf("%v: on standard error %q", c.flags, r.stderr)
		}
	}
	if (&training{}).estimable(os.DevNull) == "" {
		t.Error("what is no file would be read twice")
	}
}

func TestAutoFlagsThatDoNotGoTogether(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(40))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-o", dir + "/m", "--budget", "5s"}, "give --auto as well"},
		{[]string{"-o", dir + "/m", "--auto", "--estimate"}, "give one of them"},
		{[]string{"-o", dir + "/m", "--auto", "--online"}, "not on online learning"},
		{[]string{"-o", dir + "/m", "--auto", "--budget", "-1s"}, "is not a time"},
		{[]string{"-o", dir + "/m", "--auto", "--save-stats", dir + "/s"}, "leave out --save-stats"},
		{[]string{"--auto"}, "-o MODEL"},
		{[]string{"--estimate", "--task", "outliers"}, "not of outliers"},
	} {
		r := mercer(t, append([]string{"train", data}, c.args...)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: code %d, %q; it is to say %q", c.args, r.code, r.stderr, c.want)
		}
	}
}

func TestCurveCommand(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(300))
	args := []string{"curve", data, "--features", "32", "--at-rows", "25,50,100,200", "--at-features", "8,32", "--seeds", "2"}
	text := ok(t, args...)
	for _, want := range []string{"RMSE", "by rows", "by features", "memory", " KiB", "test ≈ ", "extrapolated", "█"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	var c struct {
		Metric     string
		ByRows     []struct{ Rows, Features int } `json:"by_rows"`
		ByFeatures []struct{ Features int }       `json:"by_features"`
	}
	if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &c); err != nil {
		t.Fatal(err)
	}
	if c.Metric != "rmse" || len(c.ByRows) != 4 || c.ByRows[3].Rows != 200 || c.ByRows[0].Features != 32 ||
		len(c.ByFeatures) != 2 || c.ByFeatures[0].Features != 8 {
		t.Errorf("%+v", c)
	}
	if r := mercer(t, "curve", data, "--at-rows", "1000"); r.code != 1 || !strings.Contains(r.stderr, "200 to train on") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	if r := mercer(t, "curve", data, "--rows", "3"); r.code != 2 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// Columns stay apart, whatever the numbers; how seconds grow is said where they do.
func TestPrintedCurve(t *testing.T) {
	var out strings.Builder
	point := search.CurvePoint{Rows: 100_000, Features: 16_384, Train: 1.23456e-5, TrainSD: 1.23456e-7, Test: 123456.7,
		TestSD: 1234567, Seconds: 1}
	render.CurveText(&out, &search.Curve{Metric: "rmse", Seeds: 2, ByRows: []search.CurvePoint{point}, SecondsFactor: 0.002,
		SecondsExponent: 1.25})
	for _, want := range []string{" 16,384 1.235e-05 ± 1.2e-07 1.235e+05 ± 1.2e+06 ", "seconds ≈ 0.002·n^1.2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	if render.CurveText(&out, &search.Curve{Metric: "rmse", SecondsFactor: 1}); strings.Contains(out.String(), "seconds ≈") {
		t.Errorf("seconds that do not grow:\n%s", out.String())
	}
	// One point has no law, and one seed no deviation.
	html := filepath.Join(t.TempDir(), "c.html")
	data := write(t, t.TempDir(), "data.csv", steps(300, 2))
	if text := ok(t, "curve", data, "--at-rows", "100", "--seeds", "1", "--features", "16",
		"--report", html); strings.Contains(text, "±") || strings.Contains(text, "seconds ≈") || !strings.Contains(text, "of one seed") {
		t.Error(text)
	}
	if p := readPage(t, html); !strings.Contains(p.text, "of one seed") || !strings.Contains(p.text, " – ") ||
		strings.Contains(p.text, "With n rows") {
		t.Error(p.text)
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a.csv": "a.csv", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'",
		"/d/ü": "'/d/ü'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q is quoted as %s, want %s", word, got, want)
		}
	}
}

func TestCurveAndAutoWriteReports(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(300))
	page := func(args ...string) string {
		t.Helper()
		ok(t, append(args, "--report", dir+"/page.html", "--plots", dir+"/pictures")...)
		text, err := os.ReadFile(dir + "/page.html")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := page("curve", data, "--features", "32", "--at-rows", "25,50,100,200", "--at-features", "8,32", "--seeds", "2")
	for _, want := range []string{"Error against rows", "Error against features", "Test error against seconds", "fitted law", "extrapolated"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in the page of curve", want)
		}
	}
	for _, name := range []string{"error-against-rows.svg", "error-against-features.png", "error-against-seconds.svg"} {
		if _, err := os.Stat(dir + "/pictures/" + name); err != nil {
			t.Error(err)
		}
	}
	text = page("train", data, "-o", dir+"/m", "--auto", "--budget", "2m", "--features", "16", "--kernel", "rbf", "--learner", "ridge")
	for _, want := range []string{"How it was chosen", "The race of the kernels", "The race of the variations", "the best",
		"Gram matrix", "extrapolated as n^", "Scores against seconds"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in the page of train --auto", want)
		}
	}
	if r := mercer(t, "curve", data, "--report", data); r.code != 2 || !strings.Contains(r.stderr, "DATA and --report are both") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

func TestTrainAutoSaysThatABudgetIsTooSmall(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(300))
	r := mercer(t, "train", data, "-o", dir+"/m", "--auto", "--budget", "1us")
	if r.code != 1 || !strings.Contains(r.stderr, "a budget of ") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	if _, err := os.Stat(dir + "/m"); err == nil {
		t.Error("there is a model")
	}
}

func TestShortTrainingsAreSaid(t *testing.T) {
	var w bytes.Buffer
	a := &render.AutoJSON{AutoReport: &search.AutoReport{Rows: 4000,
		Short: "trained on 4,000 of 37,312 rows: the budget had no time for more", Wanted: 300}, Command: "mercer train x"}
	render.AutoText(&w, a)
	if want := "trained on 4,000 of 37,312 rows: the budget had no time for more; --budget 5m would do"; !strings.Contains(w.String(), want) {
		t.Errorf("want %q in\n%s", want, w.String())
	}
	out, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(out), `"wanted_budget_seconds":300`) || !strings.Contains(string(out), `"trained_rows":4000`) {
		t.Errorf("%s, %v", out, err)
	}
}

func TestInterruptedAutoLeavesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "data.csv", strings.Repeat(curve(2000), 10))
	cmd := exec.Command(program(t), "train", data, "-o", dir+"/m", "--auto", "--budget", "10m", "--report", dir+"/page.html",
		"--progress", "always")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	buf := make([]byte, 1<<12)
	for interrupted := false; ; {
		n, err := stderr.Read(buf)
		told.Write(buf[:n])
		if !interrupted && strings.Contains(told.String(), "auto: kernels") {
			interrupted = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(told.String(), "interrupted; nothing was written") {
		t.Errorf("it said %q", told.String())
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

// Without a budget nothing depends on the clock; the learner that is taken without --auto is among the finalists, and the
// command that is printed makes the same model.
func TestAutoDependsOnTheDataAlone(t *testing.T) {
	testenv.Long(t, "--auto gives the same bytes on one and two threads, and so does the command it prints")
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(1100))
	var files [][]byte
	var command []string
	for _, threads := range []string{"1", "2"} {
		out := dir + "/m" + threads
		var r struct {
			Auto struct {
				Command string
				Config  train.Config
				Heats   []struct{ Candidates []struct{ Name string } }
			}
		}
		if err := json.Unmarshal([]byte(ok(t, "train", data, "-o", out, "--auto", "--threads", threads, "--json")), &r); err != nil {
			t.Fatal(err)
		}
		last := r.Auto.Heats[len(r.Auto.Heats)-1].Candidates
		if !slices.ContainsFunc(last, func(c struct{ Name string }) bool { return c.Name == "rfm" }) {
			t.Errorf("rfm is not among the finalists: %+v", last)
		}
		first, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		command = strings.Fields(r.Auto.Command)[1:]
		files = append(files, first)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the model depends on the number of threads")
	}
	ok(t, command...)
	again, err := os.ReadFile(command[len(command)-1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(files[1], again) {
		t.Errorf("%s trains another model", command)
	}
}
