package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/testenv"
)

// onnxCheck is an exported model with data, and what mercer predict says of them.
type onnxCheck struct {
	Name  string  `json:"name"`
	Model string  `json:"model"`
	Data  string  `json:"data"`
	Told  string  `json:"told"`
	Ties  float64 `json:"ties,omitempty"` // the share of rows that may be near two words

	Failed string `json:"failed"` // of the result
}

// onnxPython is a Python with onnx and onnxruntime.
func onnxPython(t *testing.T) string {
	python := testenv.Program(t, "python3")
	if text, err := exec.Command(python, "-c", "import onnx, onnxruntime").CombinedOutput(); err != nil {
		testenv.Missing(t, "python3 has no onnx and onnxruntime: %s", text)
	}
	return python
}

// runChecks has a program of testdata run models and compare, all in one process.
func runChecks[C any](t *testing.T, checks []C, program ...string) {
	t.Helper()
	list, err := json.Marshal(checks)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range program[1:] {
		if strings.HasPrefix(file, "testdata/") { // go test runs the test again if it changes, as it sees that it is read
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command(program[0], slices.Insert(program[1:], min(len(program)-1, 2), write(t, t.TempDir(), "checks.json", string(list)))...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, said.String())
	}
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); n++ {
		var result onnxCheck
		if err := json.Unmarshal(lines.Bytes(), &result); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		if result.Failed != "" {
			t.Errorf("%s: %s", result.Name, result.Failed)
		}
	}
	t.Logf("%s", out)
	if n != len(checks) {
		t.Errorf("%d results of %d", n, len(checks))
	}
}

// messyTable is a table with dates, levels, written numbers, texts with hostile characters and missing values.
func messyTable(rows, k int) string {
	r := rand.New(rand.NewPCG(11, uint64(rows)))
	var b strings.Builder
	b.WriteString("when,\"_1 \"\"b\"\"\",label,grade,paid,day,y\n")
	some := func(s string) string {
		if r.IntN(12) == 0 {
			return []string{"", "NA", "null", "?"}[r.IntN(4)]
		}
		return s
	}
	for range rows {
		at := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(9000*86400)) * time.Second)
		grade, town, paid := r.IntN(3), r.IntN(4), r.IntN(9_999_999)
		y := float64(grade) + float64(town)/2 + float64(at.Month())/6 + float64(paid)/5e6 + float64(at.Hour())/24
		text := fmt.Sprintf("%.4f", y)
		if k > 0 {
			text = fmt.Sprintf("is %d", min(k-1, int(y*float64(k)/8)))
		}
		written := fmt.Sprintf("%d,%03d,%03d.5", paid/1_000_000, paid/1000%1000, paid%1000)
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s\n", some(at.Format("2006-01-02 15:04:05")),
			some([]string{"Łódź", `"x, ""y"""`, "O'Hare; --", "none"}[town]), some(fmt.Sprintf("%.2f", r.NormFloat64())),
			some([]string{"S", "M", "L"}[grade]), `"`+some(written)+`"`, some(at.Format("2 January 2006")), text)
	}
	return b.String()
}

// Graphs predict what mercer predict does, row by row of those that training has not seen: of tables with all that columns can be,
// of every task, calibration and kind of scores.
func TestGraphsPredictRawColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Parallel()
	python := onnxPython(t)
	rows := testenv.Size(t, 1000, 10_000, "rows that are rare")
	dir := t.TempDir()
	var checks []onnxCheck
	for _, c := range testenv.Few(t, exportCases, 3, "every coding, map and learner in ONNX, by Python and Node") {
		name := c.train(t, dir, 320, rows)
		ok(t, "export", name+".mercer", "--target", "onnx", "-o", name+".onnx")
		checks = append(checks, onnxCheck{Name: c.name, Model: name + ".onnx", Data: name + ".csv", Told: name + ".told"})
	}
	for i, c := range []exportCase{
		{"residuals", 0, false, "--task outliers --learner residual --map rff --features 64", false},
		{"residuals of numbers", 0, true, "--task outliers --learner residual --kernel linear --kept 3 --ordinal grade=S<M<L --date when,day", false},
		{"neighbours", 3, false, "--learner knn --neighbours 5 --neighbour-weights uniform --calibrate platt", true},
		{"near neighbours", 0, true, "--learner knn --neighbours 4 --neighbour-weights distance --ordinal grade=S<M<L --date when,day", false},
		{"neighbours by sums", 2, false, "--learner knn --kernel laplacian --neighbours 7 --neighbour-weights distance --scale minmax", false},
		{"neighbours by histograms", 2, false, "--learner knn --kernel exp-chi2 --neighbours 3 --neighbour-weights uniform --scale minmax", false},
	} {
		name := c.train(t, dir, 700, 1000-300*(i/5)) // of the last the same rows again
		ok(t, "export", name+".mercer", "--target", "onnx", "-o", name+".onnx")
		check := onnxCheck{Name: c.name, Model: name + ".onnx", Data: name + ".csv", Told: name + ".told"}
		if i >= 2 {
			check.Ties = 0.003 // of rows that are as near
		}
		checks = append(checks, check)
	}
	runChecks(t, checks, python, "-B", "testdata/onnx_check.py")

	node := testenv.Program(t, "node")
	if text, err := exec.Command(node, "-e", "require('onnxruntime-node')").CombinedOutput(); err != nil {
		testenv.Missing(t, "node has no package onnxruntime-node: %s", text)
	}
	for i := range checks {
		checks[i].Data = asJSON(t, checks[i].Data)
	}
	runChecks(t, checks, node, "testdata/onnx_check.cjs")
}

// labelledTable is a table whose rows have any number of labels.
func labelledTable(rows int) string {
	r := rand.New(rand.NewPCG(5, uint64(rows)))
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for range rows {
		u, v := r.NormFloat64(), r.NormFloat64()
		var labels []string
		for i, yes := range []bool{u > 0, u*u+v*v < 2, v < 0.3} {
			if yes {
				labels = append(labels, []string{"up", "near", "left"}[i])
			}
		}
		if labels == nil {
			labels = []string{"none of them"}
		}
		fmt.Fprintf(&b, "%.3f,%.3f,%s\n", u, v, strings.Join(labels, ";"))
	}
	return b.String()
}

// asJSON writes the columns of a table as JSON, lists of texts by name.
func asJSON(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			columns[name] = append(columns[name], row[i])
		}
	}
	text, err := json.Marshal(columns)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".json", text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path + ".json"
}

// What no graph can express is refused by name.
func TestGraphsRefuse(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "a.csv", exportTable(300, 2, false))
	for _, c := range []struct{ flags, want string }{
		{"--learner kernel-ridge --kernel matern --nu 1.3", "matern with nu 1.3"},
		{"--learner ridge --map rff --features 20 --text town", `the column "town" is coded as text by hashes of its words`},
		{"--learner knn --kernel poly", "nearest neighbours by the kernel poly cannot be exported; those by linear, rbf"},
		{"--learner kernel-svm --kernel intersection --lookup 20 --scale minmax", "the machine with lookup cannot be exported"},
	} {
		file, out := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "m.onnx")
		if r := mercer(t, append([]string{"train", data, "-o", file}, strings.Fields(c.flags)...)...); r.code != 0 {
			t.Fatalf("%s: %s", c.flags, r.stderr)
		}
		if r := mercer(t, "export", file, "--target", "onnx", "-o", out); r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", c.flags, r.code, r.stderr)
		}
		if found, _ := filepath.Glob(out + "*"); found != nil {
			t.Errorf("%s: left %v", c.flags, found)
		}
	}
}
