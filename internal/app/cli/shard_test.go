package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// The commands of shards give a model of the same bytes for 1, 3 and 7 shards, and so does --alone; with a single piece it is that of
// train.
func TestShardsOnTheCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, dir, "flowers.csv", flowers(480)) // so few that no column is told of as a leak
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	flags := []string{"--learner", "ridge", "--features", "64", "--piece", "1KiB"}
	want := ""
	for _, n := range []int{1, 3, 7} {
		plan, out := at(fmt.Sprint("plan", n)), at(fmt.Sprint(n, ".mercer"))
		text := ok(t, append([]string{"shard", "plan", data, "-o", plan, "--shards", fmt.Sprint(n)}, flags...)...)
		if !strings.Contains(text, "look, survey, statistics") {
			t.Error(text)
		}
		for _, round := range []string{"look", "survey", "statistics"} {
			for i := n - 1; i > 0; i-- {
				ok(t, "shard", "run", plan, "--shard", fmt.Sprint(i), "--round", round)
			}
			if n > 1 {
				if r := mercer(t, "shard", "merge", plan); r.code != 1 || !strings.Contains(r.stderr, "lacks 1 of") {
					t.Error(r.stderr)
				}
			}
			t.Setenv("JOB_COMPLETION_INDEX", "0")
			ok(t, "shard", "run", plan)
			var merged struct{ Round string }
			if err := json.Unmarshal([]byte(ok(t, "shard", "merge", plan, "--json")), &merged); err != nil || merged.Round != round {
				t.Error(merged, err)
			}
		}
		if text := ok(t, "shard", "merge", plan); !strings.Contains(text, "mercer shard solve "+plan) {
			t.Error(text)
		}
		summary := ok(t, "shard", "solve", plan, "-o", out, "--test", data)
		if !strings.Contains(summary, "480 rows") || !strings.Contains(summary, "flowers.csv") {
			t.Error(summary)
		}
		if want == "" {
			want = read(out)
			ok(t, "shard", "solve", plan, "-o", at("alone.mercer"), "--alone", "--test", data)
			if read(at("alone.mercer")) != want {
				t.Error("another model by one process")
			}
		}
		if read(out) != want {
			t.Errorf("another model by %d shards", n)
		}
	}
	ok(t, "shard", "plan", data, "-o", at("whole"), "--learner", "ridge", "--features", "64", "--calibrate", "none")
	ok(t, "shard", "solve", at("whole"), "-o", at("whole.mercer"), "--alone")
	ok(t, "train", data, "-o", at("train.mercer"), "--learner", "ridge", "--features", "64", "--calibrate", "none", "--progress", "never")
	if !bytes.Equal([]byte(read(at("whole.mercer"))), []byte(read(at("train.mercer")))) {
		t.Error("a plan of one piece gives another model than train")
	}

	// Data that need no look take the same commands.
	rows := write(t, dir, "rows.svm", strings.Repeat("1 1:2 3:4\n-1 1:1 2:0.5\n", 60))
	ok(t, "shard", "plan", rows, "-o", at("svm"), "--features", "16", "--shards", "2", "--piece", "500")
	for _, round := range []string{"look", "survey", "statistics"} {
		ok(t, "shard", "run", at("svm"), "--all", "--round", round)
		ok(t, "shard", "merge", at("svm"), "--round", round)
		ok(t, "shard", "merge", at("svm"), "--round", round)
	}
	ok(t, "shard", "solve", at("svm"), "-o", at("svm.mercer"))

	// Passes are rounds until the learner is done.
	ok(t, "shard", "plan", rows, "-o", at("passes"), "--features", "8", "--shards", "2", "--piece", "500", "--learner", "svm", "--c", "1", "--tolerance", "0.1")
	count := 0
	for {
		round := strings.TrimSpace(ok(t, "shard", "next", at("passes")))
		if round == "" {
			break
		}
		ok(t, "shard", "run", at("passes"), "--all", "--round", round)
		ok(t, "shard", "merge", at("passes"), "--round", round)
		if count++; count > 100 {
			t.Fatal("passes without end")
		}
	}
	ok(t, "shard", "solve", at("passes"), "-o", at("passes.mercer"))
	ok(t, "shard", "solve", at("passes"), "-o", at("passes1.mercer"), "--alone")
	if count < 4 || read(at("passes.mercer")) != read(at("passes1.mercer")) {
		t.Errorf("another model after %d rounds than by one process", count)
	}

	// Without flags the survey decides on the learner, as train does.
	few := write(t, dir, "few.csv", flowers(90))
	if text := ok(t, "shard", "plan", few, "-o", at("open"), "--piece", "500", "--shards", "2", "--part", "1000"); !strings.Contains(text, "by the survey") {
		t.Error(text)
	}
	told := ""
	for {
		round := strings.TrimSpace(ok(t, "shard", "next", at("open")))
		if round == "" {
			break
		}
		ok(t, "shard", "run", at("open"), "--all", "--round", round)
		told += ok(t, "shard", "merge", at("open"), "--round", round)
	}
	ok(t, "shard", "solve", at("open"), "-o", at("open.mercer"))
	summary := ok(t, "shard", "solve", at("open"), "-o", at("open1.mercer"), "--alone")
	if read(at("open.mercer")) != read(at("open1.mercer")) || strings.Count(told, "learner: rfm (for a table)") != 1 ||
		!strings.Contains(summary, "rfm (for a table)") {
		t.Errorf("a plan that is open: %s%s", told, summary)
	}
	// A plan of rfm by its name leaves kernels to it, too.
	ok(t, "shard", "plan", few, "-o", at("rfm"), "--learner", "rfm")
	if strings.Contains(read(at("rfm/plan.json")), `"kernel"`) {
		t.Errorf("a plan of rfm has a kernel: %s", read(at("rfm/plan.json")))
	}

	estimate := ok(t, "shard", "plan", data, "--estimate", "--rows", "1000000", "--features", "64", "--price", "3", "--ignore", "length")
	if !strings.Contains(estimate, "1,000,000 of ") || !strings.Contains(estimate, "efficiency") {
		t.Error(estimate)
	}

	t.Setenv("JOB_COMPLETION_INDEX", "")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"shard", 2, "no command"},
		{"shard pln", 2, "no command \"pln\""},
		{"shard plan " + data, 2, "give -o FOLDER"},
		{"shard plan " + data + " -o " + at("p") + " --shards 3", 1, "fewer shards"},
		{"shard plan " + data + " -o " + at("p") + " --learner kernel-ridge", 1, "--learner ridge or lasso"},
		{"shard plan " + data + " -o " + at("p") + " --learner rfm --part 10", 1, "parts of 10 rows"},
		{"shard plan " + data + " -o " + at("p") + " --part 5000 --learner ridge", 1, "only learners with leaves"},
		{"shard plan " + data + " -o " + at("plan3") + " --learner ridge", 1, "has another plan"},
		{"shard run " + at("plan3"), 2, "no shard"},
		{"shard run " + at("plan3") + " --shard 2-x", 2, "2-x"},
		{"shard run " + at("plan3") + " --shard 3", 2, "shards 0 to 2"},
		{"shard run " + at("plan3") + " --shard 2 --all", 2, "one of them"},
		{"shard run " + at("plan3") + " --all", 1, "all rounds are merged"},
		{"shard run " + at("nowhere") + " --all", 1, "nowhere"},
		{"shard solve " + at("plan3"), 2, "give -o MODEL"},
	} {
		if r := mercer(t, strings.Fields(c.args)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("mercer %s: %d, %s", c.args, r.code, r.stderr)
		}
	}
}

// The tables of all shards, one after another, are what predict writes, of a file, of several, and of rows without names; one that fails leaves none.
func TestPredictShards(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, dir, "a.csv", messyTable(300, 2))
	svm := write(t, dir, "a.svm", strings.Repeat("1 1:2 3:4\n-1 1:1 2:0.5\n-1 2:3\n", 90))
	ok(t, "train", data, "-o", at("a.mercer"), "--map", "rff", "--features", "32", "--learner", "logistic", "--id", "label")
	ok(t, "train", svm, "-o", at("svm.mercer"), "--features", "16", "--learner", "svm")
	parts := t.TempDir()
	for _, name := range []string{"1.csv", "2.csv", "3.csv"} {
		write(t, parts, name, messyTable(60+len(parts), 2))
	}
	for _, c := range []struct {
		data, model string
		flags       []string
	}{
		{data, "a.mercer", []string{"--with-input", "--scores"}},
		{data, "a.mercer", nil},
		{parts, "a.mercer", []string{"--threshold", "0.3"}},
		{svm, "svm.mercer", []string{"--scores"}},
	} {
		plan, out, want := filepath.Join(t.TempDir(), "plan"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "want.csv")
		ok(t, "shard", "plan", c.data, "-o", plan, "--shards", "3", "--piece", "1KiB")
		ok(t, append([]string{"predict", at(c.model), c.data, "-o", want}, c.flags...)...)
		words := append([]string{"shard", "predict", plan, at(c.model), "-o", out}, c.flags...)
		ok(t, append(words, "--shard", "2")...)
		ok(t, append(words, "--shard", "0-1")...)
		ok(t, append(words, "--all")...)
		var all []string
		for i := range 3 {
			text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("shard-%05d.csv", i)))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfterN(string(text), "\n", 2)
			if i == 0 {
				all = append(all, lines[0])
			}
			all = append(all, lines[1])
		}
		text, err := os.ReadFile(want)
		if got := strings.Join(all, ""); err != nil || got != string(text) {
			t.Errorf("%s %v: other predictions of three shards: %.300s, %.300s, %v", c.data, c.flags, got, text, err)
		}
	}

	good := "x,y\n" + strings.Repeat("1,2\n3,4\n", 200)
	bad := write(t, dir, "bad.csv", good)
	ok(t, "train", bad, "-o", at("bad.mercer"), "--learner", "ridge", "--features", "8", "--label", "y", "--missing", "error")
	ok(t, "shard", "plan", bad, "-o", at("bad"), "--shards", "2", "--piece", "400", "--label", "y")
	write(t, dir, "bad.csv", strings.Replace(good, "1,2\n3,4\n1,2\n3,4\n", "o,2\n3,4\n1,2\n3,4\n", 1))
	ok(t, "shard", "predict", at("bad"), at("bad.mercer"), "-o", at("out"), "--shard", "1", "--json", "--output-format", "jsonl")
	r := mercer(t, "shard", "predict", at("bad"), at("bad.mercer"), "-o", at("out"), "--shard", "0")
	if left, _ := filepath.Glob(at("out/*")); r.code != 1 || !strings.Contains(r.stderr, "shard 0, piece 0 (") || !strings.Contains(r.stderr, "bad.csv:2") ||
		len(left) != 1 || filepath.Base(left[0]) != "shard-00001.jsonl" {
		t.Errorf("%d, %s, %v", r.code, r.stderr, left)
	}
	for args, want := range map[string]string{
		"--shard 0":                            "give -o FOLDER",
		"--shard 2 -o " + at("o"):              "shards 0 to 1",
		"--all --output-format=avro -o " + dir: `"avro" is not known`,
	} {
		if r := mercer(t, append([]string{"shard", "predict", at("bad"), at("bad.mercer")}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d, %s", args, r.code, r.stderr)
		}
	}
}

// Evaluated in shards, a model has the numbers that eval gives for all rows in one place, of classes, numbers and labels, with weights.
func TestEvaluateShards(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	classes := write(t, dir, "classes.csv", messyTable(300, 2))
	three := write(t, dir, "three.csv", messyTable(200, 3))
	var numbers, labels strings.Builder
	numbers.WriteString("x,w,y\n")
	labels.WriteString("x,z,tags\n")
	for i := range 240 {
		fmt.Fprintf(&numbers, "%d,%d,%d\n", i%17, 1+i%3, i%17*2+i%5)
		fmt.Fprintf(&labels, "%d,%d,%s\n", i%17, i%5, []string{"red", "red;blue", "", "blue;green"}[(i%17+i%5)%4])
	}
	write(t, dir, "numbers.csv", numbers.String())
	write(t, dir, "labels.csv", labels.String())
	for _, c := range []struct {
		name, data  string
		data1, flag []string // of the data and of the evaluation
		learner     []string
	}{
		{"classes", classes, nil, []string{"--per-class", "--threshold", "0.3"}, []string{"--learner", "logistic", "--map", "rff", "--id", "label"}},
		{"three", three, nil, []string{"--json", "--curves"}, []string{"--learner", "svm", "--map", "rff"}},
		{"numbers", at("numbers.csv"), []string{"--weight", "w"}, []string{"--json", "--curves", "--quantile", "0.3"}, []string{"--learner", "ridge"}},
		{"labels", at("labels.csv"), []string{"--label-separator", ";"}, []string{"--json"}, []string{"--learner", "ridge"}},
	} {
		m, plan := at(c.name+".mercer"), at(c.name)
		ok(t, append(append([]string{"train", c.data, "-o", m, "--features", "16"}, c.data1...), c.learner...)...)
		ok(t, append([]string{"shard", "plan", c.data, "-o", plan, "--shards", "3", "--piece", "500"}, c.data1...)...)
		want := ok(t, append(append([]string{"eval", m, c.data}, trimmed(c.data1, "--label-separator")...), c.flag...)...)
		for _, which := range []string{"2", "0-1", "1"} {
			ok(t, "shard", "eval", plan, m, "--shard", which)
		}
		if got := ok(t, append([]string{"shard", "eval", plan, m, "--merge"}, c.flag...)...); got != want {
			t.Errorf("%s: %.600s\nin one place %.600s", c.name, got, want)
		}
	}

	plan, m := at("classes"), at("classes.mercer")
	ok(t, "shard", "eval", plan, m, "--merge", "--threshold", "none", "--report", at("page.html"))
	if page, err := os.ReadFile(at("page.html")); err != nil || !strings.Contains(string(page), "shard eval") || !strings.Contains(string(page), "<svg") {
		t.Errorf("a page without pictures or its command: %v, %.300s", err, page)
	}
	scores := filepath.Join(plan, "eval", "shard-00001.scores")
	text, err := os.ReadFile(scores)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, want string
		change     func() error
	}{
		{"a bit", "shard 1: ", func() error { text[len(text)/2] ^= 1; return os.WriteFile(scores, text, 0o666) }},
		{"the end", "shard 1: ", func() error { text[len(text)/2] ^= 1; return os.WriteFile(scores, text[:len(text)-40], 0o666) }},
		{"the file", "the evaluation lacks 1 of 3 shards: 1 (pieces ", func() error { return os.Remove(scores) }},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if r := mercer(t, "shard", "eval", plan, m, "--merge"); r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("without %s: %d, %s", c.what, r.code, r.stderr)
		}
	}
	ok(t, "train", classes, "-o", at("other.mercer"), "--features", "8", "--learner", "ridge", "--id", "label")
	for args, want := range map[string]string{
		"other.mercer --merge":                         "the scores are of another model; run it again",
		"classes.mercer --shard 3":                     "shards 0 to 2",
		"classes.mercer":                               "no shard",
		"classes.mercer --shard 0 --threshold 0.3":     "--threshold is for --merge",
		"classes.mercer --merge --quantile 2":          "--quantile 2 is not between 0 and 1",
		"classes.mercer --merge --curves":              "--curves is for --json",
		"three.mercer --shard 0 --merge --threshold 2": "classes",
	} {
		if r := mercer(t, append([]string{"shard", "eval", plan}, strings.Fields(strings.Replace(args, "", dir+"/", 1))...)...); r.code == 0 ||
			!strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d, %s", args, r.code, r.stderr)
		}
	}
	ok(t, "shard", "eval", plan, m, "--all", "--merge")
	ok(t, "shard", "remove", plan)
	if left, _ := filepath.Glob(plan + "/*"); left != nil {
		t.Errorf("left are %v", left)
	}
}

// trimmed are flags without one that has a value.
func trimmed(flags []string, name string) []string {
	if i := slices.Index(flags, name); i >= 0 {
		return slices.Delete(slices.Clone(flags), i, i+2)
	}
	return flags
}

// However many pieces follow, one of them is open at a time.
func TestPiecesAreClosedInTurn(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "d.csv", "a,b,y\n"+strings.Repeat("1,2,3\n4,6,5\n3,1,7\n", 10))
	at := filepath.Join(dir, "m")
	ok(t, "train", data, "--learner", "ridge", "--features", "8", "-o", at)
	m, err := model.Load(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := newPredict()
	cmd.SetContext(t.Context())
	open, most, pieces := 0, 0, 0
	piece := func() (*rows, error) {
		if pieces++; pieces > 5 {
			return nil, nil
		}
		r, err := openRows(cmd, m, data, dataset.Options{})
		if err == nil {
			open++
			most = max(most, open)
			r.file = closing{r.file, func() { open-- }}
		}
		return r, err
	}
	first, err := piece()
	if err != nil {
		t.Fatal(err)
	}
	p := &predict{following: following{more: piece}}
	err = p.eachScored(cmd, m, first, &Progress{}, func(dataset.Step, *matrix.Dense, spread) error { return nil })
	if err != nil || p.count != 150 || most > 3 || open != 1 { // the first is its opener's
		t.Errorf("%d rows, at most %d pieces open at a time, %d at the end, %v", p.count, most, open, err)
	}
	_ = first.Close()
}

// closing tells that a file is closed.
type closing struct {
	dataFile
	told func()
}

func (c closing) Close() error {
	c.told()
	return c.dataFile.Close()
}

// What a training tells of the columns the commands of shards tell too, in the same words.
func TestShardsTellOfColumns(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("x,z,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%s,%d.5,%d\n", []string{fmt.Sprint(i, ".25"), "<0.01"}[min(1, i%4/3)], i%17, i%2)
	}
	data, plan, out := write(t, dir, "a.csv", text.String()), filepath.Join(dir, "plan"), filepath.Join(dir, "m")
	ok(t, "shard", "plan", data, "--learner", "ridge", "-o", plan)
	const want = `note: column "x" has bounds such as "<0.01" in 15 rows`
	if r := mercer(t, "train", data, "--learner", "ridge", "-o", out); !strings.Contains(r.stderr, "mercer train: "+want) {
		t.Errorf("train: %+v", r)
	}
	for _, args := range [][]string{{"solve", plan, "-o", out, "--alone"}, {"run", plan, "--all"}, {"merge", plan}, {"run", plan, "--all"}, {"merge", plan},
		{"run", plan, "--all"}, {"merge", plan}, {"solve", plan, "-o", out, "--json"}} {
		r := mercer(t, append([]string{"shard"}, args...)...)
		told := strings.Contains(r.stderr, "mercer shard "+args[0]+": "+want)
		if r.code != 0 || told != (args[0] == "solve" || args[0] == "merge" && strings.HasPrefix(r.stdout, "look")) {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
