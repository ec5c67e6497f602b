package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/chromium"
	"mercer/internal/engine/testenv"
	"mercer/model"
)

// sourceCheck is a model as source code with rows, and what mercer predict says of them.
type sourceCheck struct {
	Name    string   `json:"name"`
	Model   string   `json:"model"`
	Rows    string   `json:"rows"`
	Out     string   `json:"out"`
	Columns []string `json:"columns"`
	Others  bool     `json:"others,omitempty"` // run on other machines too

	target, told, file string
	ties               float64 // the share of rows that may be near two words
	loose              float64 // by how much scores may differ instead of 1e-4 of the largest
}

// sources are the targets that are source code.
var sources = []string{"go", "js", "c"}

// checkSources has all files predict, those of a language in one process, and compares.
func checkSources(t *testing.T, checks []sourceCheck) {
	t.Helper()
	python, node := testenv.Program(t, "python3"), testenv.Program(t, "node")
	testenv.Program(t, "gcc")
	for i := range checks {
		c := &checks[i]
		m, err := model.Load(c.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range m.Info().Schema.Columns {
			c.Columns = append(c.Columns, of.Name)
		}
		c.Out = c.Model + ".out"
	}
	of := func(target string) (some []sourceCheck) {
		for _, c := range checks {
			if c.target == target {
				some = append(some, c)
			}
		}
		return some
	}
	if some := of("js"); some != nil {
		runChecks(t, some, node, "testdata/source_js.mjs")
	}
	if some := of("c"); some != nil {
		runChecks(t, some, python, "-B", "testdata/source_c.py")
	}
	if some := of("go"); some != nil {
		runChecks(t, some, goDriver(t, some))
	}
	for _, c := range checks {
		if err := c.compare(); err != nil {
			t.Errorf("%s, %s: %v", c.target, c.Name, err)
		}
	}
}

// goDriver builds a program of generated packages.
func goDriver(t *testing.T, checks []sourceCheck) string {
	t.Helper()
	dir := t.TempDir()
	main, err := os.ReadFile("testdata/source_go.txt")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", "module check\n\ngo 1.26\n")
	write(t, dir, "main.go", string(main))
	var imports, table strings.Builder
	for i, c := range checks {
		text, err := os.ReadFile(c.Model)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("m%d", i)
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "model.go", string(text))
		list := func(of string) string {
			if strings.Contains(string(text), "\nvar "+of+" ") {
				return name + "." + of + "[:]"
			}
			return "nil"
		}
		fmt.Fprintf(&imports, "%s \"check/%[1]s\"\n", name)
		fmt.Fprintf(&table, "func(c check) error {\nif !%s.SelfTest() {\nreturn errors.New(\"its own rows\")\n}\nm := new(%[1]s.Model)\n"+
			"return run(c, %s, %s, %s, m.Predict)\n},\n", name, list("Columns"), list("Classes"), list("Labels"))
	}
	write(t, dir, "table.go", "package main\n\nimport (\n\"errors\"\n"+imports.String()+")\n\nvar predictors = []func(check) error{\n"+table.String()+"}\n")
	cmd := exec.Command("go", "build", "-o", "check", ".")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return filepath.Join(dir, "check")
}

// sourceSaid is a prediction, of a generated file or of mercer predict.
type sourceSaid struct {
	Scores     []float64
	Label      string
	Class      *int // or its number
	Labels     []string
	Prediction any

	Probabilities any // numbers, or an object
}

func readSaid(path string) (all []sourceSaid, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<24); lines.Scan(); {
		var s sourceSaid
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, err
		}
		if s.Scores == nil {
			switch v := s.Prediction.(type) {
			case float64:
				s.Scores = []float64{v}
			case []any:
				for _, x := range v {
					s.Scores = append(s.Scores, x.(float64))
				}
			}
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// compare says how predictions differ from those of mercer predict.
func (c *sourceCheck) compare() error {
	got, err := readSaid(c.Out)
	if err != nil {
		return err
	}
	want, err := readSaid(c.told)
	if err != nil {
		return err
	}
	m, err := model.Load(c.file)
	if err != nil {
		return err
	}
	if len(want) < len(got) || len(got) == 0 {
		return fmt.Errorf("%d predictions of %d", len(got), len(want))
	}
	want = want[:len(got)]
	largest, tied := 1e-6, 0
	for _, w := range want {
		for _, v := range w.Scores {
			largest = max(largest, math.Abs(v))
		}
	}
	most := largest * 1e-4
	if c.loose > 0 {
		most = largest * c.loose
	}
	for i, w := range want {
		g := got[i]
		if g.Class != nil {
			g.Label = m.Classes()[*g.Class]
		}
		if len(g.Scores) != len(w.Scores) {
			return fmt.Errorf("row %d: %d scores of %d", i, len(g.Scores), len(w.Scores))
		}
		apart := 0.0
		for k, v := range w.Scores {
			apart = max(apart, math.Abs(g.Scores[k]-v))
		}
		if !(apart <= most) {
			if tied++; float64(tied) > c.ties*float64(len(want)) {
				return fmt.Errorf("row %d: scores %v, and not %v", i, g.Scores, w.Scores)
			}
			continue
		}
		p, q := probabilitiesOf(m, g.Probabilities), probabilitiesOf(m, w.Probabilities)
		for k := range min(len(p), len(q)) {
			if c.loose == 0 && !(math.Abs(p[k]-q[k]) < 1e-4) {
				return fmt.Errorf("row %d: probabilities %v, and not %v", i, p, q)
			}
		}
		if margin(m, w.Scores, q) < max(1e-5*max(1, largest), c.loose*largest) {
			continue
		}
		switch {
		case m.Labels() != nil:
			if fmt.Sprint(g.Labels) != fmt.Sprint(w.Prediction) {
				return fmt.Errorf("row %d: labels %v, and not %v", i, g.Labels, w.Prediction)
			}
		case m.Classes() != nil && fmt.Sprint(w.Prediction) != g.Label:
			return fmt.Errorf("row %d: label %v, and not %v (scores %v)", i, g.Label, w.Prediction, w.Scores)
		}
	}
	return nil
}

// margin is how far a row is from another prediction, by its scores and its probabilities, if it has any.
func margin(m *model.Model, scores, probabilities []float64) float64 {
	near := math.Inf(1)
	switch at := m.Info().Threshold; {
	case at != nil:
		return math.Abs(scores[0] - float64(at.Score))
	case m.Labels() != nil || len(scores) == 1:
		for _, v := range scores {
			near = min(near, math.Abs(v))
		}
	}
	for _, list := range [][]float64{scores, probabilities} {
		sorted := slices.Clone(list)
		if slices.Sort(sorted); len(sorted) > 1 && m.Labels() == nil {
			near = min(near, sorted[len(sorted)-1]-sorted[len(sorted)-2])
		}
	}
	return near
}

// probabilitiesOf are probabilities in the order of the classes or labels.
func probabilitiesOf(m *model.Model, v any) (all []float64) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			all = append(all, x.(float64))
		}
	case map[string]any:
		for _, name := range slices.Concat(m.Classes(), m.Labels()) {
			all = append(all, v[name].(float64))
		}
	}
	return all
}

// asRows writes the rows of a table as JSON: objects of texts and of numbers, which dates are too.
func asRows(t *testing.T, path string, most int) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := []map[string]any{}
	for _, cells := range table[1:min(len(table), most+1)] {
		row := map[string]any{}
		for i, name := range table[0] {
			cell := strings.TrimSpace(cells[i])
			row[name] = cell
			if v, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64); err == nil && !math.IsNaN(v) {
				row[name] = v
			}
			for _, layout := range []string{time.DateTime, "2 January 2006"} {
				if at, err := time.Parse(layout, cell); err == nil {
					row[name] = at.Unix()
				}
			}
		}
		rows = append(rows, row)
	}
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	out := path + ".rows.json"
	if err := os.WriteFile(out, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// Generated files predict what mercer predict does, of rows that training has not seen: of tables with all that columns can be, of
// every task, scaling, calibration and kind of scores.
func TestSourcePredictsRawColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Parallel()
	rows := testenv.Size(t, 300, 2000, "rows that are rare")
	dir := t.TempDir()
	var checks []sourceCheck
	for _, c := range testenv.Few(t, exportCases, 4, "every coding, map and learner as source code of every language, on other machines too") {
		name := c.train(t, dir, 320, rows)
		json := asRows(t, name+".csv", rows)
		for _, target := range sources {
			check := sourceCheck{Name: c.name, target: target, Model: name + "." + strings.Replace(target, "js", "mjs", 1), Rows: json,
				told: name + ".told", file: name + ".mercer", Others: os.Getenv("MERCER_LONG") != ""}
			ok(t, "export", check.file, "--target", target, "-o", check.Model)
			checks = append(checks, check)
		}
	}
	checkSources(t, checks)
}

// wasmMost is the most bytes of a program for js/wasm that only predicts.
const wasmMost = 3 << 20

// buildWASM builds examples/wasm for a model as m.wasm, beside which it puts what runs it.
func buildWASM(t *testing.T, dir, file string) {
	t.Helper()
	program := t.TempDir()
	if err := os.CopyFS(program, os.DirFS("../../../examples/wasm")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(program, "model"), 0o755); err != nil {
		t.Fatal(err)
	}
	ok(t, "export", file, "--target", "go", "-o", filepath.Join(program, "model/model.go"))
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "m.wasm"), ".")
	build.Dir, build.Env = program, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if st, err := os.Stat(filepath.Join(dir, "m.wasm")); err != nil || st.Size() > wasmMost {
		t.Errorf("%v, or more than %d bytes", err, wasmMost)
	} else {
		t.Logf("m.wasm has %d bytes", st.Size())
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "wasm_exec.js", string(support))
}

// Modules predict in a browser what mercer predict does, and so does the program of examples/wasm, which is small, there and in Node.
func TestSourceInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Parallel()
	browser, node := chromium.Open(t), testenv.Program(t, "node")
	dir := t.TempDir()
	c := exportCase{"m", 3, true, "--map sorf --features 1024 --learner logistic --date when,day", true}
	check := sourceCheck{file: c.train(t, dir, 500, 300) + ".mercer", told: filepath.Join(dir, "m.told")}
	ok(t, "export", check.file, "--target", "js", "-o", filepath.Join(dir, "m.mjs"))
	buildWASM(t, dir, check.file)
	rows := filepath.Base(asRows(t, filepath.Join(dir, "m.csv"), 300))
	write(t, dir, "page.html", `<!doctype html><link rel="icon" href="data:,"><title>-</title>`)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	m, err := model.Load(check.file)
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, c := range m.Info().Schema.Columns {
		columns = append(columns, c.Name)
	}
	names, err := json.Marshal(columns)
	if err != nil {
		t.Fatal(err)
	}
	const all = `if (!selfTest()) throw new Error("its own rows"); return all.map(row => JSON.stringify(predict(`
	const ofModule = `const { predict, selfTest } = await import("./m.mjs"); ` + all + `row))).join("\n")`
	ofWASM := `await import("./wasm_exec.js"); const go = new Go(); go.run((await WebAssembly.instantiate(await bytes("m.wasm"), go.importObject)).instance); ` +
		all + string(names) + `.map(name => row[name])))).join("\n")`
	inChromium := func(code string) (lines string) {
		const fetched = `(async () => { const bytes = async path => await (await fetch(path)).arrayBuffer(); const all = await (await fetch("%s")).json(); %s })()`
		if console := browser.Evaluate(server.URL+"/page.html", fmt.Sprintf(fetched, rows, code), &lines); console != "" {
			t.Errorf("the console says %q", console)
		}
		return lines
	}
	inNode := func(code string) string {
		const read = `(async () => { const bytes = path => require("fs").readFileSync(path); const all = JSON.parse(bytes("%s")); %s })()`
		cmd := exec.Command(node, "-e", fmt.Sprintf(read, rows, code)+".then(lines => { console.log(lines); process.exit(0) })")
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return strings.TrimSpace(string(text))
	}
	for name, lines := range map[string]string{"js in Chromium": inChromium(ofModule), "wasm in Chromium": inChromium(ofWASM), "wasm in Node": inNode(ofWASM)} {
		check.Out = write(t, dir, "out", lines)
		if err := check.compare(); err != nil || strings.Count(lines, "\n") != 299 {
			t.Errorf("%s: %v, or fewer lines: %.200s", name, err, lines)
		}
	}
}

// hostileTexts end strings, comments and templates of a language, or are words of it.
var hostileTexts = []string{`"; panic("x"); "`, "*/ #error x /*", "\\", "??/", "`${process.exit(3)}`", "a\nb", "</script>", "__proto__", "constructor", "%s%n",
	"\u2028", "\u202etxt", "class", "int", "2nd", "é"}

// Names of columns, categories and classes are texts and nothing else, and columns are told apart whatever their names are.
func TestSourceTakesHostileNames(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	var table strings.Builder
	w := csv.NewWriter(&table)
	w.Write(append(append([]string{"kind"}, hostileTexts...), "y"))
	for i := range 160 {
		kind := hostileTexts[i*7%len(hostileTexts)]
		row := []string{kind}
		for j := range hostileTexts {
			row = append(row, fmt.Sprint((i+1)*(2*j+3)*7919%101))
		}
		w.Write(append(row, hostileTexts[(i*7%len(hostileTexts)+i%2)%3]))
	}
	w.Flush()
	data, file, told := write(t, dir, "a.csv", table.String()), filepath.Join(dir, "m.mercer"), filepath.Join(dir, "told")
	ok(t, "train", data, "-o", file, "--learner", "ridge", "--map", "rff", "--features", "40", "--na", "*/ \"NA", "--missing", "auto")
	ok(t, "predict", file, data, "--scores", "--json", "-o", told)
	var checks []sourceCheck
	for _, target := range sources {
		c := sourceCheck{Name: "hostile", target: target, Model: filepath.Join(dir, "m."+strings.Replace(target, "js", "mjs", 1)), Rows: asRows(t, data, 200),
			told: told, file: file}
		ok(t, "export", file, "--target", target, "--package", "names_2", "-o", c.Model)
		checks = append(checks, c)
		if text, err := os.ReadFile(c.Model); err != nil || target == "js" && strings.Contains(string(text), "</script") || strings.Contains(string(text), "\u2028") {
			t.Errorf("%s: %v, or a text as it is", target, err)
		}
	}
	checkSources(t, checks)
}

// Weights of 8 bits are a fourth of the file's, and scores are nearly the same.
func TestSourceOfSmallWeights(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data, more := write(t, dir, "a.csv", exportTable(600, 3, true)), write(t, dir, "b.csv", exportTable(500, 3, true))
	file, told := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "told")
	ok(t, "train", data, "-o", file, "--map", "sorf", "--features", "1024", "--learner", "logistic")
	ok(t, "predict", file, more, "--scores", "--json", "-o", told)
	c := sourceCheck{Name: "int8", target: "c", Model: filepath.Join(dir, "m.c"), Rows: asRows(t, more, 500), told: told, file: file, loose: 0.02}
	ok(t, "export", file, "--target", "c", "--int8", "-o", c.Model)
	if text, err := os.ReadFile(c.Model); err != nil || !regexp.MustCompile(`static const signed char w\d+\[(1536)\]`).Match(text) {
		t.Errorf("%v, or no weights of a byte", err)
	}
	checkSources(t, []sourceCheck{c})
}

// What no source code can express is refused by name, and leaves no file.
func TestSourceRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := write(t, dir, "a.csv", exportTable(300, 2, false))
	for _, c := range []struct{ flags, export, want string }{
		{"--learner kernel-ridge --kernel matern --nu 1.3", "--target go", "matern with nu 1.3"},
		{"--learner ridge --map rff --features 20 --text town", "--target js", `the column "town" is coded as text by hashes of its words`},
		{"--learner kernel-svm --kernel intersection --lookup 20 --scale minmax", "--target c", "the machine with lookup cannot be exported"},
		{"--learner knn", "--target go", "a search and no formula"},
		{"--learner ridge --kernel linear", "--target go --package func", `"func" is no name for a package`},
		{"--learner ridge --kernel linear", "--target c --package a;b", `"a;b" is no name for a package`},
		{"--learner ridge --kernel linear", "--target js --int8", "weights of 8 bits are for the target c"},
		{"--learner kernel-ridge --kernel rbf", "--target c --int8", "no matrix of weights to keep in 8 bits"},
	} {
		file, out := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "m.source")
		if r := mercer(t, append([]string{"train", data, "-o", file}, strings.Fields(c.flags)...)...); r.code != 0 {
			t.Fatalf("%s: %s", c.flags, r.stderr)
		}
		if r := mercer(t, append([]string{"export", file, "-o", out}, strings.Fields(c.export)...)...); r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", c.flags, r.code, r.stderr)
		}
		if found, _ := filepath.Glob(out + "*"); found != nil {
			t.Errorf("%s: left %v", c.flags, found)
		}
	}
}

// Rows without columns are arrays of numbers, and the file's own test holds for them too.
func TestSourceOfRowsWithoutColumns(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 200 {
		a, b := float64(i*37%101)/101, float64(i*53%89)/89
		fmt.Fprintf(&rows, "%d 1:%g 3:%g\n", i%2, a+float64(i%2), b)
	}
	data, file := write(t, dir, "a.svm", rows.String()), filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "-o", file, "--learner", "ridge", "--map", "orf", "--features", "32")
	for target, name := range map[string]string{"go": "m.go", "js": "m.mjs", "c": "m.c"} {
		ok(t, "export", file, "--target", target, "--package", "m", "-o", filepath.Join(dir, name))
	}
	write(t, dir, "go.mod", "module m\n\ngo 1.26\n")
	write(t, dir, "m_test.go", "package m\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\nif p, fault := new(Model).Predict(&Row{1, 0, 0.5}); "+
		"!SelfTest() || fault != 0 || len(p.Scores) != 1 {\nt.Fatal(p, fault)\n}\n}\n")
	for _, command := range [][]string{
		{"go", "test", "-vet=off", "m.go", "m_test.go"},
		{testenv.Program(t, "node"), "-e", `import("./m.mjs").then(m => process.exit(m.selfTest() && m.predict([1, 0, "0.5"]).scores.length == 1 ? 0 : 1))`},
		{testenv.Program(t, "gcc"), "-std=c99", "-Wall", "-Wextra", "-Werror", "-DMERCER_TEST", "m.c", "-lm", "-o", "m"},
		{"./m"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", command, err, text)
		}
	}
}
