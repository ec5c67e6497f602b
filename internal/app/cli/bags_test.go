package cli

import (
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/internal/solve/pool"
	"mercer/matrix"
)

// crosses makes bags of 12 readings of two numbers that are alike in class "same" and opposite in
// class "opposite": only the numbers of one bag together tell which it is, their means do not.
func crosses(seed uint64, bags int) (members [][][]float32, labels []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range bags {
		sign, label := float32(1), "same"
		if i%2 == 1 {
			sign, label = -1, "opposite"
		}
		var bag [][]float32
		for range 12 {
			a, b := float32(r.NormFloat64()), float32(0.2*r.NormFloat64())
			bag = append(bag, []float32{a + b, sign * (a - b)})
		}
		members, labels = append(members, bag), append(labels, label)
	}
	return members, labels
}

// grouped writes bags as a table with a column of groups.
func grouped(t testing.TB, dir, name string, members [][][]float32, labels []string) string {
	var b strings.Builder
	b.WriteString("device,x,y,state\n")
	for i, bag := range members {
		for _, m := range bag {
			fmt.Fprintf(&b, "dev%d,%g,%g,%s\n", i, m[0], m[1], labels[i])
		}
	}
	return write(t, dir, name, b.String())
}

// qids writes bags as LIBSVM text.
func qids(t testing.TB, dir, name string, members [][][]float32, labels []string) string {
	var b strings.Builder
	for i, bag := range members {
		for _, m := range bag {
			fmt.Fprintf(&b, "%s qid:%d 1:%g 2:%g\n", labels[i], i, m[0], m[1])
		}
	}
	return write(t, dir, name, b.String())
}

// images writes bags as an array, and their labels.
func images(t testing.TB, dir, name string, members [][][]float32, labels []string) (data, labelFile string) {
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 12, 2), }\n", len(members))
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	out = append(out, header...)
	for _, bag := range members {
		for _, m := range bag {
			for _, v := range m {
				out = endian.LittleEndian.AppendUint32(out, math.Float32bits(v))
			}
		}
	}
	return write(t, dir, name, string(out)), write(t, dir, name+".labels", strings.Join(labels, "\n")+"\n")
}

// folder writes bags as a file each, in folders named by their labels, or flat.
func folder(t testing.TB, dir, name string, members [][][]float32, labels []string) string {
	for i, bag := range members {
		path := filepath.Join(dir, name)
		if labels != nil {
			path = filepath.Join(path, labels[i])
		}
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, m := range bag {
			fmt.Fprintf(&b, "%g %g\n", m[0], m[1])
		}
		write(t, path, fmt.Sprintf("%03d.txt", i), b.String())
	}
	return filepath.Join(dir, name)
}

func TestBagsTrainPredictEval(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	members, labels := crosses(1, 160)
	testMembers, testLabels := crosses(2, 60)
	array, arrayLabels := images(t, dir, "train.npy", members, labels)
	testArray, testArrayLabels := images(t, dir, "test.npy", testMembers, testLabels)
	flat := folder(t, dir, "flat", testMembers, nil)
	var byName strings.Builder
	for i, l := range testLabels {
		fmt.Fprintf(&byName, "%03d %s\n", i, l)
	}
	names := write(t, dir, "names", byName.String())
	tests := map[string][]string{
		"table":  {grouped(t, dir, "test.csv", testMembers, testLabels), "--group", "device", "--label", "state"},
		"array":  {testArray, "--labels", testArrayLabels},
		"folder": {folder(t, dir, "test", testMembers, testLabels)},
		"names":  {flat, "--labels", names},
	}
	for form, data := range map[string][]string{
		"table":        {grouped(t, dir, "train.csv", members, labels), "--group", "device"},
		"LIBSVM":       {qids(t, dir, "train.svm", members, labels), "--group", "qid", "--bag-scale", "standard"},
		"array":        {array, "--labels", arrayLabels, "--pooling", "full"},
		"tensorsketch": {array, "--labels", arrayLabels, "--pooling", "tensorsketch", "--bag-features", "64"},
		"cbp-krp": {array, "--labels", arrayLabels, "--pooling", "cbp-krp",
			"--bag-features", "64", "--sparsity", "1", "--t", "3", "--pool", "50"},
		"maclaurin":   {array, "--labels", arrayLabels, "--bag", `{"pooling":"maclaurin","features":64,"norm":"l2"}`},
		"folder":      {folder(t, dir, "train", members, labels), "--bag-map", "rff", "--bag-gamma", "0.5", "--bag-features", "128"},
		"two streams": {array, "--labels", arrayLabels, "--pooling", "full", "--streams", "2", "--first", "1"},
		"rbf on top":  {array, "--labels", arrayLabels, "--pooling", "mean", "--kernel", "rbf", "--features", "64"},
	} {
		path := filepath.Join(dir, "m.mercer")
		got := object(t, ok(t, append(append([]string{"train"}, data...), "-o", path, "--json", "--holdout", "0.1")...))
		if acc, _ := got["accuracy"].(float64); acc < 0.9 {
			t.Errorf("%s: accuracy %v of the bags that were held back", form, got["accuracy"])
		}
		if got["trained"].(map[string]any)["bag"] == nil {
			t.Errorf("%s: the model is not of bags", form)
		}
		for other, test := range tests {
			if form == "LIBSVM" && other == "table" {
				continue // columns by name need names
			}
			page := filepath.Join(dir, "eval.html")
			got := object(t, ok(t, append(append([]string{"eval", path}, test...), "--json", "--report", page)...))
			readPage(t, page).has(t, "bags 60 of ", "labels one of ", "The number of bags of each class.")
			if acc, _ := got["accuracy"].(float64); acc < 0.95 || got["n"] != 60.0 {
				t.Errorf("%s, tested on the %s: %v", form, other, got)
			}
		}
		// Predictions are one a bag, with the name where there is one, whatever the form.
		unnamed := strings.Fields(ok(t, "predict", path, testArray))
		named := strings.Split(strings.TrimSpace(ok(t, "predict", path, flat)), "\n")
		if len(unnamed) != 60 || len(named) != 60 {
			t.Fatalf("%s: %d and %d predictions of 60 bags", form, len(unnamed), len(named))
		}
		for i, line := range named {
			if want := fmt.Sprintf("%03d.txt\t%s", i, unnamed[i]); line != want {
				t.Errorf("%s: prediction %q, want %q", form, line, want)
			}
		}
		if out := ok(t, "inspect", path); !strings.Contains(out, "bags of 12 rows × 2 dimensions") {
			t.Errorf("%s: inspect says %s", form, out)
		}
	}
	// The mean of the members tells nothing: 30 of 60, give or take four times 3.9.
	path := filepath.Join(dir, "m.mercer")
	ok(t, "train", array, "--labels", arrayLabels, "--bag-kernel", "linear", "-o", path)
	if acc := object(t, ok(t, "eval", path, testArray, "--labels", testArrayLabels, "--json"))["accuracy"].(float64); acc > 0.76 {
		t.Errorf("the means of members give an accuracy of %g", acc)
	}
}

func TestPredictNamesBags(t *testing.T) {
	dir := t.TempDir()
	members, labels := crosses(1, 40)
	data := grouped(t, dir, "train.csv", members, labels)
	path := filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "--group", "0", "-o", path, "--bag-features", "32")
	// The model knows the column of groups.
	lines := strings.Split(strings.TrimSpace(ok(t, "predict", path, data, "--json")), "\n")
	for i, line := range lines {
		var p struct {
			Bag        string
			Prediction string
			Scores     []float64
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.Bag != fmt.Sprintf("dev%d", i) || len(p.Scores) != 1 {
			t.Fatalf("line %d: %s (%v)", i, line, err)
		}
	}
	if len(lines) != 40 {
		t.Errorf("%d lines", len(lines))
	}
	out := filepath.Join(dir, "out.txt")
	ok(t, "predict", path, data, "-o", out, "--scores")
	text, err := os.ReadFile(out)
	if err != nil || strings.Count(string(text), "\n") != 40 || strings.Count(strings.SplitN(string(text), "\n", 2)[0], "\t") != 2 {
		t.Errorf("%q (%v)", text, err)
	}
}

func TestTransformPoolsBags(t *testing.T) {
	dir := t.TempDir()
	members, labels := crosses(3, 7)
	data, _ := images(t, dir, "x.npy", members, labels)
	p, err := pool.New(pool.Config{Method: "full", Norm: "l2", Seed: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	_, d := p.Dims()
	want := matrix.NewDense(7, d)
	x, ends := matrix.NewDense(7*12, 2), []int{0}
	for i, bag := range members {
		for j, m := range bag {
			copy(x.Row(i*12+j), m)
		}
		ends = append(ends, 12*(i+1))
	}
	p.Pool(want, matrix.Rows{Dense: x}, ends)
	out := filepath.Join(dir, "z.npy")
	said := object(t, ok(t, "transform", data, "--pooling", "full", "--norm", "l2", "-o", out, "--json"))
	if said["n"] != 7.0 || said["d"] != 2.0 || said["features"] != float64(d) {
		t.Errorf("transform says %v", said)
	}
	_, bytes := npy(t, out)
	var got []float32
	for i := 0; i < len(bytes); i += 4 {
		got = append(got, math.Float32frombits(endian.LittleEndian.Uint32(bytes[i:])))
	}
	if !slices.Equal(got, want.Data) {
		t.Errorf("transform gives %v, want %v", got, want.Data)
	}
	// What was fitted on other bags is applied in any form.
	files := folder(t, dir, "d", members[:3], nil)
	ok(t, "transform", files, "--fit", data, "--pooling", "mean", "--bag-features", "16", "--bag-scale", "standard", "-o", out)
	_, some := npy(t, out)
	ok(t, "transform", data, "--pooling", "mean", "--bag-features", "16", "--bag-scale", "standard", "-o", out)
	_, all := npy(t, out)
	if len(some) != 3*16*4 || string(some) != string(all[:len(some)]) {
		t.Error("bags that were fitted on themselves and by --fit differ")
	}
}

func TestInspectTellsOfBags(t *testing.T) {
	dir := t.TempDir()
	members, labels := crosses(1, 10)
	members[3] = members[3][:5]
	for _, args := range [][]string{
		{grouped(t, dir, "x.csv", members, labels), "--group", "device"},
		{folder(t, dir, "x", members, labels)},
	} {
		out := ok(t, append([]string{"inspect"}, args...)...)
		for _, want := range []string{"10 of 5 to 12 rows", "113 × 2 dimensions", "2 classes (labels are text): opposite, same"} {
			if !strings.Contains(out, want) {
				t.Errorf("inspect says %q, not %q", out, want)
			}
		}
		if got := object(t, ok(t, append([]string{"inspect", "--json"}, args...)...)); got["bags"] != 10.0 ||
			got["least"] != 5.0 || got["most"] != 12.0 || got["rows"] != 113.0 {
			t.Errorf("inspect --json says %v", got)
		}
	}
}

func TestBagErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	members, labels := crosses(1, 20)
	table := grouped(t, ".", "bags.csv", members, labels)
	array, arrayLabels := images(t, ".", "bags.npy", members, labels)
	flat := folder(t, ".", "flat", members, nil)
	ok(t, "train", table, "--group", "device", "--bag-features", "16", "-o", "bags.mercer")
	ok(t, "train", table, "--features", "16", "-o", "rows.mercer", "--progress", "never") // the device says all of the state
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"train " + table + " --pooling max --group device", 2,
			`mercer train: bags: "max" is not a method; known are mean, full, cbp-krp, tensorsketch, maclaurin`},
		{"train " + table + " --pooling full --progress never", 1, "mercer train: bags.csv: nothing says which rows make a bag; name a column with --group, or"},
		{"train " + table + " --group machine", 1,
			`mercer train: bags.csv: there is no column "machine" for --group; the columns are device, x, y, state`},
		{"train " + table + " --group device --features 64", 2, "mercer train: --features is about the rows that bags " +
			"become, which have no map unless --kernel or --map names one; for the members of bags use --bag-features"},
		{"train " + table + " --group device --sigma 2", 2, `mercer train: --sigma is about the rows that bags become, ` +
			`which have no map unless --kernel or --map names one; for the members of bags use --bag '{"sigma": …}'`},
		{"train " + table + " --group device --form phase", 2, `mercer train: --form is about the rows that bags ` +
			`become, which have no map unless --map names one; for the members of bags use --bag '{"form": …}'`},
		{"train " + table + " --group device --pooling full --bag-kernel rbf", 2,
			"mercer train: bags: pooling full has no kernel or map of the members; those belong to mean"},
		{"train " + table + " --group device --streams 2", 2, "mercer train: bags: method mean has no option streams; it belongs to full"},
		{"train " + table + " --group device --bag {", 2, `invalid argument "{" for "--bag" flag: not bags in JSON, such as`},
		{"train " + table + ` --group device --bag {"colour":1}`, 2, `json: unknown field "colour"`},
		{"train " + table + " --group device --bag @nowhere", 2, "nowhere: file does not exist"},
		{"train " + table + " --group device --bag-map none", 2, `mercer train: bags: "none" is not a map; known are`},
		{"train " + array + " --pooling mean", 1,
			"mercer train: bags.npy: the bags have no labels; name their column with --label, " +
				"give one a bag with --labels FILE, or put the files of a folder into folders with the labels as names"},
		{"train " + flat, 1, "mercer train: flat: the bags have no labels; name their column"},
		{"train " + array + " --pooling mean --labels " + table, 1,
			"mercer train: bags.csv: a file of labels has one label a line; this one has 4 columns"},
		{"train " + array + " --pooling full --streams 2 --first 2 --labels " + arrayLabels, 1,
			"mercer train: bags.npy: the first of two streams has 2 of 2 channels; give first from 1 to 1"},
		{"predict bags.mercer " + write(t, ".", "plain.csv", "1,2\n3,4\n"), 1,
			`mercer predict: plain.csv: there is no column "device", by which the model's rows came in bags; name one with --group`},
		{"predict rows.mercer " + table + " --group device", 1, "mercer predict: --group is for models of bags; this one was trained on rows"},
		{"predict rows.mercer " + flat, 1, `mercer predict: flat: there are no columns "device", "x", "y", which the model was trained on`},
		{"predict bags.mercer nowhere", 1, "mercer predict: nowhere: file does not exist"},
		{"eval bags.mercer " + array, 1, "mercer eval: bags.npy: the rows have no labels to compare predictions with"},
		{"eval bags.mercer " + array + " --labels " + write(t, ".", "few", "same\nopposite\n"),
			1, "mercer eval: few: 2 labels for the 20 bags of bags.npy; each bag needs one"},
	} {
		args := strings.Fields(c.line)
		if args[0] == "train" {
			args = append(args, "-o", "m")
		}
		r := mercer(t, args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, want %d:\n got %s want %s", c.line, r.code, c.code, r.stderr, c.want)
		}
		if _, err := os.Stat("m"); err == nil {
			t.Fatalf("%s: wrote a model", c.line)
		}
	}
}

func TestBagModelBytesDoNotDependOnThreadsOrBatches(t *testing.T) {
	dir := t.TempDir()
	members, labels := crosses(1, 60)
	data := grouped(t, dir, "x.csv", members, labels)
	var want []byte
	for _, flags := range []string{"", "--threads 1 --batch 7", "--threads 2 --batch 100000"} {
		out := filepath.Join(dir, "m.mercer")
		ok(t, append([]string{"train", data, "--group", "device", "--bag-features", "64", "-o", out}, strings.Fields(flags)...)...)
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		} else if string(got) != string(want) {
			t.Errorf("%s: other bytes", flags)
		}
	}
}
