package cli

import (
	"bytes"
	"context"
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// result is what a command line did.
type result struct {
	code           int
	stdout, stderr string
}

var usualThreads = runtime.GOMAXPROCS(0)

// mercer runs a command line in this process.
func mercer(t testing.TB, args ...string) result {
	t.Helper()
	defer runtime.GOMAXPROCS(usualThreads) // which --threads changes
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// ok runs a command line that must succeed and returns its standard output.
func ok(t testing.TB, args ...string) string {
	t.Helper()
	r := mercer(t, args...)
	if r.code != 0 {
		t.Fatalf("mercer %s: exit code %d: %s", strings.Join(args, " "), r.code, r.stderr)
	}
	if r.stderr != "" {
		t.Errorf("mercer %s: on standard error: %s", strings.Join(args, " "), r.stderr)
	}
	return r.stdout
}

// write writes a file in dir and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// flowers is a table with a header, a column of text and text labels.
func flowers(rows int) string {
	var b strings.Builder
	b.WriteString("length,width,colour,kind\n")
	for i := range rows {
		kind, colour := "rose", "red"
		if i%3 == 0 {
			kind, colour = "lily", "white"
		}
		if i%5 == 0 {
			colour = "pink"
		}
		fmt.Fprintf(&b, "%g,%g,%s,%s\n", float64(i%3)+float64(i%7)/10, float64(i%4)/2, colour, kind)
	}
	return b.String()
}

// curve is a table of numbers to predict.
func curve(rows int) string {
	var b strings.Builder
	for i := range rows {
		x := float64(i) / float64(rows)
		fmt.Fprintf(&b, "%g,%g,%g\n", x, 1-x*x, 3*x*(1-x)+float64(i%10)/1000)
	}
	return b.String()
}

// digitFiles writes the digits and returns the paths of train.csv and test.csv.
func digitFiles(t testing.TB) (train, test string) {
	dir := t.TempDir()
	ok(t, "demo", "--write", dir)
	return filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv")
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q is not one JSON object: %v", text, err)
	}
	if strings.Count(text, "\n") != 1 {
		t.Errorf("%q is not on one line", text)
	}
	return v
}

func TestTrainPredictEval(t *testing.T) {
	train, test := digitFiles(t)
	m := filepath.Join(t.TempDir(), "m.mercer")
	out := ok(t, "train", train, "-o", m, "--features", "256", "--test", test)
	for _, want := range []string{"1,337 rows × 64 dimensions", "10 classes", "global", "orf, 256 features", "accuracy", "saved"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary does not say %q:\n%s", want, out)
		}
	}

	metrics := object(t, ok(t, "eval", m, test, "--json"))
	for _, key := range []string{"n", "accuracy", "error", "macro_f1"} {
		if _, there := metrics[key]; !there {
			t.Errorf("eval --json has no %q: %v", key, metrics)
		}
	}
	if metrics["n"] != 460.0 || metrics["accuracy"].(float64) < 0.95 {
		t.Errorf("eval: %v", metrics)
	}

	predicted := strings.Fields(ok(t, "predict", m, test))
	text, _ := os.ReadFile(test)
	right := 0
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(predicted) != len(lines) {
		t.Fatalf("%d predictions for %d rows", len(predicted), len(lines))
	}
	for i, line := range lines {
		if line[strings.LastIndexByte(line, ',')+1:] == predicted[i] {
			right++
		}
	}
	if got := float64(right) / float64(len(lines)); got != metrics["accuracy"] {
		t.Errorf("predict is right on %g, eval says %v", got, metrics["accuracy"])
	}

	file := filepath.Join(t.TempDir(), "p.txt")
	if out := ok(t, "predict", m, test, "-o", file, "--scores"); out != "" {
		t.Errorf("predict -o printed %q", out)
	}
	text, _ = os.ReadFile(file)
	first := strings.Split(strings.SplitN(string(text), "\n", 2)[0], "\t")
	if len(first) != 11 || first[0] != predicted[0] {
		t.Errorf("with scores the first line is %q", first)
	}
	var row struct {
		Prediction string    `json:"prediction"`
		Scores     []float64 `json:"scores"`
	}
	if err := json.Unmarshal([]byte(strings.SplitN(ok(t, "predict", m, test, "--json"), "\n", 2)[0]), &row); err != nil ||
		row.Prediction != predicted[0] || len(row.Scores) != 10 {
		t.Errorf("predict --json: %+v, %v", row, err)
	}

	if out := ok(t, "inspect", m); !strings.Contains(out, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9") {
		t.Errorf("inspect does not list the classes:\n%s", out)
	}
	if object(t, ok(t, "inspect", m, "--json"))["kind"] != "model" {
		t.Error("inspect --json does not say that it is a model")
	}
}

func TestTrainJSON(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "flowers.csv", flowers(300))
	v := object(t, ok(t, "train", data, "-o", filepath.Join(dir, "m"), "--features", "32", "--holdout", "0.3", "--json"))
	for _, key := range []string{"n", "accuracy", "error", "macro_f1", "f1", "auc", "seconds", "peak_rss_bytes"} {
		if _, there := v[key]; !there {
			t.Errorf("train --json of two classes has no %q: %v", key, v)
		}
	}
	for _, key := range []string{"read", "map", "solve", "total"} {
		if s, there := v["seconds"].(map[string]any)[key].(float64); !there || s < 0 {
			t.Errorf("seconds has no %q: %v", key, v["seconds"])
		}
	}
	data = write(t, dir, "curve.csv", curve(400))
	v = object(t, ok(t, "train", data, "-o", filepath.Join(dir, "m"), "--features", "32", "--holdout", "0.3", "--json"))
	for _, key := range []string{"n", "rmse", "mae", "r2"} {
		if _, there := v[key]; !there {
			t.Errorf("train --json of a regression has no %q: %v", key, v)
		}
	}
	if v["r2"].(float64) < 0.98 {
		t.Errorf("R² of a smooth curve is %v", v["r2"])
	}
	if _, there := v["accuracy"]; there {
		t.Error("a regression has no accuracy")
	}
}

func TestCategoriesTravelWithTheModel(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m")
	ok(t, "train", write(t, dir, "flowers.csv", flowers(200)), "-o", m, "--features", "32")
	// Other order of columns, one more, and a colour that is new.
	r := mercer(t, "predict", m, write(t, dir, "new.csv", "colour,id,width,length\nred,7,0.5,1\nblue,8,0,0.2\n"))
	if r.code != 0 || len(strings.Fields(r.stdout)) != 2 || !strings.Contains(r.stderr, `"blue"`) {
		t.Errorf("%+v", r)
	}
	r = mercer(t, "predict", m, write(t, dir, "less.csv", "colour,width\nred,0.5\nwhite,1\n"))
	if r.code != 1 || !strings.Contains(r.stderr, `"length"`) {
		t.Errorf("a column is missing: %+v", r)
	}
}

// idx is an IDX file of bytes with the given sizes.
func idx(data []byte, sizes ...int) string {
	b := []byte{0, 0, 8, byte(len(sizes))}
	for _, s := range sizes {
		b = endian.BigEndian.AppendUint32(b, uint32(s))
	}
	return string(append(b, data...))
}

func TestImagesWithLabels(t *testing.T) {
	dir := t.TempDir()
	const n = 240
	pixels, labels := make([]byte, n*16), make([]byte, n)
	for i := range n {
		labels[i] = byte(i % 3)
		for j := range 16 {
			pixels[i*16+j] = byte(10 * ((i*j)%5 + 4*(i%3)))
		}
	}
	x := write(t, dir, "x", idx(pixels, n, 4, 4))
	y := write(t, dir, "y", idx(labels, n))
	m := filepath.Join(dir, "m")
	v := object(t, ok(t, "train", x, "--labels", y, "-o", m, "--features", "64", "--test", x, "--test-labels", y, "--json"))
	if v["accuracy"].(float64) < 0.95 || v["n"] != float64(n) {
		t.Errorf("%v", v)
	}
	if got := object(t, ok(t, "eval", m, x, "--labels", y, "--json")); got["accuracy"] != v["accuracy"] {
		t.Errorf("eval: %v", got)
	}
	if got := len(strings.Fields(ok(t, "predict", m, x))); got != n {
		t.Errorf("%d predictions", got)
	}
	r := mercer(t, "train", x, "--labels", write(t, dir, "few", idx(labels[:200], 200)), "-o", m)
	if r.code != 1 || !strings.Contains(r.stderr, "200 labels for the 240 rows") {
		t.Errorf("%+v", r)
	}
}

// npy reads the shape and the first numbers of a file that transform or kernel wrote.
func npy(t *testing.T, path string) (header string, data []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := int(endian.LittleEndian.Uint16(b[8:]))
	return string(b[10 : 10+n]), b[10+n:]
}

func TestTransformAndKernel(t *testing.T) {
	train, test := digitFiles(t)
	dir := t.TempDir()
	z := filepath.Join(dir, "z.npy")
	ok(t, "transform", train, "--features", "128", "-o", z)
	if header, data := npy(t, z); !strings.Contains(header, "(1337, 128)") || !strings.Contains(header, "<f4") || len(data) != 1337*128*4 {
		t.Errorf("transform: %s and %d bytes", header, len(data))
	}
	// Rows mapped as those of another file: what they have in common is the same.
	both, one := filepath.Join(dir, "a.npy"), filepath.Join(dir, "b.npy")
	ok(t, "transform", train, "--fit", train, "--features", "128", "-o", both)
	_, a := npy(t, z)
	if _, b := npy(t, both); !bytes.Equal(a, b) {
		t.Error("--fit with the same file changes the features")
	}
	ok(t, "transform", test, "--fit", train, "--features", "128", "-o", one)
	if header, _ := npy(t, one); !strings.Contains(header, "(460, 128)") {
		t.Errorf("transform --fit: %s", header)
	}

	k := filepath.Join(dir, "k.npy")
	ok(t, "kernel", test, train, "--kernel", "poly", "--degree", "2", "--gamma", "0.01", "--coef0", "1", "-o", k)
	if header, data := npy(t, k); !strings.Contains(header, "(460, 1337)") || !strings.Contains(header, "<f8") || len(data) != 460*1337*8 {
		t.Errorf("kernel: %s and %d bytes", header, len(data))
	}
	if out := ok(t, "kernel", test, "--gamma", "0.001", "-o", k); !strings.Contains(out, "460 × 460") {
		t.Errorf("kernel says %q", out)
	}
}

func TestModelBytesDoNotDependOnThreadsOrBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	train, _ := digitFiles(t)
	dir := t.TempDir()
	var first []byte
	for i, flags := range [][]string{{"--threads", "1"}, {"--threads", "2"}, {"--batch", "10"}, {"--batch", "5000"}} {
		m := filepath.Join(dir, fmt.Sprint(i))
		ok(t, append([]string{"train", train, "-o", m, "--features", "64"}, flags...)...)
		b, err := os.ReadFile(m)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		} else if !bytes.Equal(first, b) {
			t.Errorf("%v changes the model", flags)
		}
	}
}

func TestDemo(t *testing.T) {
	out := ok(t, "demo", "--part", "stream", "--rows", "20000", "--features", "64")
	if !strings.Contains(out, "bit for bit the same") {
		t.Errorf("demo says\n%s", out)
	}
	v := object(t, ok(t, "demo", "--rows", "20000", "--features", "64", "--json"))
	if len(v["digits"].([]any)) != 3 || v["stream"].(map[string]any)["r2"].(float64) < v["stream"].(map[string]any)["linear_r2"].(float64) {
		t.Errorf("%v", v)
	}
}

func TestProgressGoesToStandardErrorOnly(t *testing.T) {
	dir := t.TempDir()
	r := mercer(t, "train", write(t, dir, "c.csv", curve(500)), "-o", filepath.Join(dir, "m"), "--features", "32",
		"--progress", "always", "--json")
	if r.code != 0 || !strings.Contains(r.stderr, "rows") || !strings.HasSuffix(r.stderr, "\r") {
		t.Errorf("standard error: %q", r.stderr)
	}
	object(t, r.stdout)
}

func TestHelpHasExamples(t *testing.T) {
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		out := ok(t, cmd.Name(), "--help")
		if _, examples, _ := strings.Cut(out, "Examples:"); !strings.Contains(examples, "\n  mercer "+cmd.Name()) &&
			!strings.Contains(out, "| mercer "+cmd.Name()) {
			t.Errorf("mercer %s --help has no example:\n%s", cmd.Name(), out)
		}
	}
	if out := ok(t, "completion", "bash"); !strings.Contains(out, "mercer") {
		t.Error("no completion for bash")
	}
	if out := ok(t, "--version"); !strings.HasPrefix(out, "mercer version ") {
		t.Errorf("--version says %q", out)
	}
}
