package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mercer/internal/app/render"
	"mercer/internal/engine/report"
	"mercer/internal/search"
	"mercer/train"
)

// page is what a report says: its headings, and its text with tables and facts as words.
type page struct {
	headings []string
	text     string
	figures  int
}

func readPage(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var p page
	var inside []string
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			inside = append(inside, v.Name.Local)
			switch v.Name.Local {
			case "figure":
				p.figures++
			case "script":
				t.Errorf("%s has a script", path)
			}
		case xml.EndElement:
			inside = inside[:len(inside)-1]
		case xml.CharData:
			switch {
			case slices.Contains(inside, "style") || slices.Contains(inside, "svg"):
			case slices.Contains(inside, "h2"):
				p.headings = append(p.headings, string(v))
			default:
				p.text += string(v) + " "
			}
		}
	}
	p.text = strings.Join(strings.Fields(p.text), " ")
	return p
}

func (p page) has(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(p.text, w) {
			t.Errorf("the page does not say %q:\n%.3000s", w, p.text)
		}
	}
}

func pictures(t *testing.T, dir string) string {
	t.Helper()
	svg, _ := filepath.Glob(filepath.Join(dir, "*.svg"))
	png, _ := filepath.Glob(filepath.Join(dir, "*.png"))
	if len(svg) != len(png) {
		t.Errorf("%d SVG and %d PNG files", len(svg), len(png))
	}
	var list []string
	for _, f := range svg {
		list = append(list, strings.TrimSuffix(filepath.Base(f), ".svg"))
	}
	return strings.Join(list, " ")
}

func TestReportOfTwoClasses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	names := []string{"<b>no & never", "yes's"}
	data, test := write(t, dir, "data.csv", steps(600, 2, names...)), write(t, dir, "test rows.csv", steps(140, 2, names...))
	m, html, plots := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "m.html"), filepath.Join(dir, "plots")
	out := ok(t, "train", data, "-o", m, "--features", "64", "--calibrate", "platt", "--test", test, "--report", html, "--plots", plots)
	if !regexp.MustCompile(`\n  report    \S+m\.html \(\d+ KiB\)\n` +
		`  plots     \S+plots \(8 pictures, each as SVG and PNG\)\n$`).MatchString(out) {
		t.Errorf("train says\n%s", out)
	}
	p := readPage(t, html)
	p.has(t, "m.mercer", "Trained on data.csv: 600 rows. Tested on test rows.csv",
		"rows 140 accuracy 90.00 % share of rows whose class is predicted",
		"<b>no & never", "yes's", "mercer train "+data+" -o "+m, "--test '"+test+"' --report "+html, "features, seed 1 (",
		"mercer "+version(), "data data.csv csv rows 600 dimensions 1 values from 0 to 1.6")
	headings := "How good it is; Confusion matrix; Scores and probabilities; Classes; Other metrics; " +
		"The model; Choice of parameters; The data; Time and memory; How this was made"
	if got := strings.Join(p.headings, "; "); got != headings {
		t.Errorf("headings %s, want %s", got, headings)
	}
	if got, want := pictures(t, plots), "c calibration classes confusion precision-recall probabilities roc time"; got != want {
		t.Errorf("pictures %s, want %s", got, want)
	}
	if p.figures != 8 {
		t.Errorf("%d figures", p.figures)
	}

	// eval has the same evaluation, and the same bytes each time.
	a, b := filepath.Join(dir, "a.html"), filepath.Join(dir, "b")
	if out := ok(t, "eval", m, test, "--report", a); !strings.HasSuffix(out, ")\n") || !strings.Contains(out, "\n  report    "+a+" (") {
		t.Errorf("eval says\n%s", out)
	}
	v := object(t, ok(t, "eval", m, test, "--report", a, "--plots", b, "--json"))
	if v["curves"] != nil || v["accuracy"] != 0.9 {
		t.Errorf("eval --json: %v", v)
	}
	e := readPage(t, a)
	e.has(t, "m.mercer on test rows.csv", "rows 140 accuracy 90.00 % ", "--json",
		"data test rows.csv csv rows 140 dimensions 1 values from 0 to ",
		" of them non-zero labels one of 2 classes", "The number of rows of each class.")
	headings = "How good it is; Confusion matrix; Scores and probabilities; Classes; Other metrics; " +
		"The model; Choice of parameters; The data; How this was made"
	if got := strings.Join(e.headings, "; "); got != headings {
		t.Errorf("headings %s, want %s", got, headings)
	}
	first, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	ok(t, "eval", m, test, "--report", a, "--plots", b, "--json")
	if again, err := os.ReadFile(a); err != nil || string(again) != string(first) {
		t.Error("the same command wrote another page")
	}
}

func TestReportOfNumbers(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(400))
	html, plots := filepath.Join(dir, "m.html"), filepath.Join(dir, "plots")
	ok(t, "train", data, "-o", filepath.Join(dir, "m"), "--features", "64",
		"--path", "--holdout", "0.25", "--report", html, "--plots", plots, "--json")
	p := readPage(t, html)
	p.has(t, "25 % of the rows, held back", "RMSE", "Each point is one of", "λ = ", "Path of λ")
	if got, want := pictures(t, plots), "lambda prediction residuals-against-prediction residuals time"; got != want {
		t.Errorf("pictures %s, want %s", got, want)
	}
	again := filepath.Join(dir, "eval.html")
	ok(t, "eval", filepath.Join(dir, "m"), data, "--report", again)
	readPage(t, again).has(t, "data curve.csv csv rows 400 dimensions 2 values from", "labels a number")

	// The lines of --path are in a table of the page, not in a sentence.
	if strings.Contains(p.text, "-2 log ev.") {
		t.Error(p.text)
	}
}

func TestReportWithoutTestRows(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", steps(300, 3))
	html := filepath.Join(dir, "m.html")
	for _, c := range [][]string{
		{"--learner", "ridge"}, {"--learner", "logistic"}, {"--online"},
		{"--learner", "ridge", "--components", "5"}, {"--learner", "kernel-svm"}, {"--kernel", "linear"},
	} {
		r := mercer(t, append([]string{"train", data, "-o", filepath.Join(dir, "m"), "--report", html}, c...)...)
		if r.code != 0 {
			t.Errorf("%v: %s", c, r.stderr)
			continue
		}
		p := readPage(t, html)
		p.has(t, "Trained on data.csv: 300 rows", "3 classes: class 00, class 01, class 02", "How the ")
		if strings.Contains(p.text, "accuracy") || p.figures < 2 {
			t.Errorf("%v: %d figures; %s", c, p.figures, p.text)
		}
	}
}

func TestReportOfManyClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	m := stepModel(t, dir, 60)
	html := filepath.Join(dir, "m.html")
	ok(t, "eval", m, write(t, dir, "test.csv", steps(1200, 60)), "--report", html)
	p := readPage(t, html)
	p.has(t, "The 40 of 54 classes with the smallest F1", "the 6 of 54 with the smallest areas", "The most frequent mistakes")
	if st, err := os.Stat(html); err != nil || st.Size() > 400_000 {
		t.Errorf("%v, %v", st, err)
	}
}

func TestReportOfLabelsAndOutputs(t *testing.T) {
	dir := t.TempDir()
	var sets, numbers strings.Builder
	for i := range 200 {
		x := float64(i%20) / 10
		label := []string{"a", "a,b", "b,c", "c"}[i%20/5]
		fmt.Fprintf(&sets, "%s 1:%g 2:%g\n", label, x, 1-x)
		fmt.Fprintf(&numbers, "%g,%g,%g\n", x, 2*x, x*x)
	}
	html := filepath.Join(dir, "m.html")
	data := write(t, dir, "sets.svm", sets.String())
	ok(t, "train", data, "-o", filepath.Join(dir, "m"), "--features", "32", "--test", data, "--report", html)
	readPage(t, html).has(t, "Hamming", "of each label", "label rows predicted precision recall F1")
	data = write(t, dir, "numbers.csv", "x,y,z\n"+numbers.String())
	ok(t, "train", data, "-o", filepath.Join(dir, "m"), "--label", "y,z", "--features", "32", "--test", data, "--report", html)
	readPage(t, html).has(t, "Each output", "output RMSE MAE median AE max error R²")
}

// What cannot be written is said before the work, and no model is made.
func TestReportThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", steps(100, 2))
	m := filepath.Join(dir, "m.mercer")
	for _, args := range [][]string{{"train", data, "-o", m, "--report", m}, {"train", data, "-o", m, "--report", data},
		{"eval", m, data, "--report", filepath.Join(dir, ".", "data.csv")}} {
		if r := mercer(t, args...); r.code != 2 || !strings.Contains(r.stderr, " and --report are both ") {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	for _, c := range []struct{ flag, value, want string }{
		{"--report", dir, "is a directory"},
		{"--report", filepath.Join(dir, "none", "m.html"), "file does not exist"},
		{"--plots", data, "is a file; --plots takes the name of a folder"},
		{"--plots", filepath.Join(dir, "none", "plots"), "none"},
	} {
		r := mercer(t, "train", data, "-o", m, c.flag, c.value)
		if r.code != 1 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s %s: exit code %d, %s", c.flag, c.value, r.code, r.stderr)
		}
		if _, err := os.Stat(m); err == nil {
			t.Fatalf("%s %s: a model was written", c.flag, c.value)
		}
		if r := mercer(t, "eval", m, data, c.flag, c.value); r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("eval %s %s: exit code %d, %s", c.flag, c.value, r.code, r.stderr)
		}
	}
}

func TestReportOfMaps(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "data.csv", steps(300, 3))
	html, plots := filepath.Join(dir, "a.html"), filepath.Join(dir, "plots")
	out := ok(t, "approx", data, "--map", "rff,orf", "--features", "32,128",
		"--rows", "100", "--seeds", "2", "--error", "0.1", "--report", html, "--plots", plots)
	if !strings.HasSuffix(out, " (5 pictures, each as SVG and PNG)\n") {
		t.Error(out)
	}
	p := readPage(t, html)
	p.has(t, "Maps for the rbf kernel", "data.csv: all 4,950 pairs of 100 rows, means over 2 draws of each map",
		"asked for a mean absolute error of at most 0.1", "take --map ", "orf 128 ", "rff 32 ",
		"share of pairs", "largest relative", "bias", "effective dimension", "µs one row",
		"Fitted rates: error = c·D^e", "e of the mean error", "its Gram matrix has effective dimension ",
		"kernel rbf, γ = ", "mercer approx "+data)
	if got, want := pictures(t, plots), "error-against-d error-against-time offers pairs-orf pairs-rff"; got != want {
		t.Errorf("pictures %s, want %s", got, want)
	}
	if svg, err := os.ReadFile(filepath.Join(plots, "error-against-d.svg")); err != nil || !strings.Contains(string(svg), "fitted rates") {
		t.Errorf("no line of the fitted rates: %v", err)
	}
	v := object(t, ok(t, "approx", data, "--map", "rff", "--features", "16", "--rows", "50", "--seeds", "1", "--report", html, "--json"))
	if len(v["results"].([]any)) != 1 {
		t.Errorf("%v", v)
	}
	p = readPage(t, html)
	p.has(t, "each map and number of features")
	if strings.Contains(p.text, "Fitted rates") {
		t.Error("one number of features has a rate")
	}
	// Of one draw nothing deviates: rather than "0" there is no number.
	first := v["results"].([]any)[0].(map[string]any)
	if !strings.Contains(p.text, fmt.Sprintf("rff 16 %.3g (best) – ", first["mean_abs"].(float64))) {
		t.Error(p.text)
	}
}

func TestReportOfComparisons(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "data.csv", steps(300, 2))
	a, b := filepath.Join(dir, "a.mercer"), filepath.Join(dir, "b.mercer")
	ok(t, "train", data, "-o", a, "--features", "64", "--learner", "ridge")
	ok(t, "train", data, "-o", b, "--kernel", "linear", "--learner", "ridge")
	html, plots := filepath.Join(dir, "c.html"), filepath.Join(dir, "plots")
	ok(t, "compare", data, a, b, "--control", "b.mercer", "--resamples", "200", "--report", html, "--plots", plots)
	p := readPage(t, html)
	p.has(t, "2 models on data.csv: 300 rows", "a.mercer 9", "reference", "McNemar's exact test", "adjusted for the number of comparisons")
	if got := pictures(t, plots); got != "differences values" {
		t.Errorf("pictures %s", got)
	}
	if strings.Contains(p.text, "flatters") {
		t.Error("a control is not chosen by the rows")
	}
	ok(t, "compare", data, "--config", "--kernel linear --learner ridge",
		"--config", "--features 32 --learner ridge", "--folds", "3", "--report", html, "--json")
	readPage(t, html).has(t, "2 configurations on data.csv: 300 rows in 3 folds",
		"± sd", "corrected resampled t-test", "flatters it a little")
	if r := mercer(t, "compare", data, a, b, "--report", a); r.code != 2 || !strings.Contains(r.stderr, " and --report are both ") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}

func TestReportOfASearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := write(t, dir, "data.csv", steps(300, 3))
	html, plots := filepath.Join(dir, "t.html"), filepath.Join(dir, "plots")
	args := []string{"tune", data, "-o", filepath.Join(dir, "t.mercer"), "--features", "32",
		"--gamma", "0.5,2", "--learner", "ridge", "--lambda", "0.01,1", "--folds", "3", "--test", data, "--report", html}
	ok(t, append(args, "--plots", plots)...)
	p := readPage(t, html)
	p.has(t, "search 4 configurations, 3 trainings each", "gamma lambda accuracy sd se seconds", "trained",
		"mapped 600 rows, 6 times fewer than without sharing", "Score against seconds", "mercer train ",
		"A star marks the one that was trained", "Trained on data.csv: 300 rows. Tested on data.csv")
	if got, want := strings.Join(p.headings[:2], "; "), "How good it is; Confusion matrix"; got != want ||
		!slices.Contains(p.headings, "The search") {
		t.Errorf("headings %v", p.headings)
	}
	if got := pictures(t, plots); !strings.Contains(got, "tuning tuning-grid") && !strings.Contains(got, "tuning-grid tuning") {
		t.Errorf("pictures %s", got)
	}
	if v := object(t, ok(t, append(args, "--json")...)); v["curves"] != nil || v["search"] == nil {
		t.Errorf("%v", v)
	}
}

// What the text of a search says of what it could not do, its report says, too.
func TestReportOfASearchSaysWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.html")
	cand := func(c, mean, seconds float64, dropped string) *search.Candidate {
		return &search.Candidate{Values: map[string]string{"c": fmt.Sprint(c)},
			Config: train.Config{Learner: train.SVM{C: c}}, Mean: mean, Seconds: seconds, Dropped: dropped}
	}
	r := &search.TuneResult{Metric: "accuracy", Larger: true, Task: "classify",
		Splits: 2, Wrong: 3, Why: "they do not go together", AtEnd: []string{"c"},
		Candidates: []*search.Candidate{cand(10, 0.9, 0.02, ""), cand(1, 0.8, 0.01, ""), cand(100, 0, 0, "not enough memory")}}
	r.Picked = r.Candidates[0]
	want := []string{"left out 3 combinations that cannot be (they do not go together)",
		"dropped 1 not judged, such as c 100: not enough memory",
		"At the end of what was tried: c 10; better values may lie beyond.", "20 ms"}
	plots := "score-against-seconds"
	for _, known := range []bool{true, false} {
		page := &report.Page{Title: "t"}
		render.SearchSections(r, 1, "")(page)
		if err := page.Save(path); err != nil {
			t.Fatal(err)
		}
		readPage(t, path).has(t, want...)
		if drawn := slices.ContainsFunc(page.Figures(), func(f *report.Figure) bool { return f.Name == plots }); drawn != known {
			t.Errorf("seconds are known: %v, drawn: %v", known, drawn)
		}
		// By an older journal no seconds are known.
		for _, c := range r.Candidates {
			c.Seconds = 0
		}
		want[3] = "90.00 % 0.00 % 0.00 % - "
	}
	var text bytes.Buffer
	render.SearchText(&text, r, 1, "")
	for _, want := range []string{"left out", "1 not judged, such as c 100: not enough memory",
		"at the end of what was tried: c 10", "se  seconds"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the text:\n%s", want, text.String())
		}
	}
}
