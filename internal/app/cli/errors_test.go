package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every error is one line that names the command, the place and what to do; the exit code is
// 1 if the work failed and 2 if the command line was wrong. Nothing is at the output path.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := func(name, text string) string {
		write(t, dir, name, text)
		return name
	}
	flowersCSV := file("flowers.csv", flowers(200))
	curveCSV := file("curve.csv", curve(200))
	plain := file("plain.csv", "1,2,3,a\n2,3,4,b\n3,4,6,a\n4,4,4,b\n9,8,7,a\n")
	ok(t, "train", plain, "-o", "plain.mercer", "--features", "16")
	whole, err := os.ReadFile("plain.mercer")
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)-3] ^= 4
	file("flipped.mercer", string(whole))
	file("cut.mercer", string(whole[:len(whole)/2]))

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		// The command line.
		{[]string{"train", "--foo"}, 2, "mercer train: unknown flag: --foo (mercer train --help lists the flags)"},
		{[]string{"fly"}, 2, `mercer: "fly" is no command; mercer --help lists them`},
		{[]string{"train"}, 2, "mercer train: 0 arguments; usage: mercer train [flags] DATA -o MODEL"},
		{[]string{"train", plain}, 2, "mercer train: no file to write the model to; give -o MODEL"},
		{[]string{"predict", "plain.mercer", plain, "-o", ""}, 2, "mercer predict: --output has an empty name; give that of a file, or leave --output out"},
		{[]string{"inspect", plain, "--report", ""}, 2, "mercer inspect: --report has an empty name"},
		{[]string{"inspect", ""}, 2, "mercer inspect: MODEL|DATA has an empty name"},
		{[]string{"approx", plain, "--features", "1000000000"}, 2, "features is 1000000000; it must be 67108864 at most"},
		{[]string{"approx", curveCSV, "--features", "67108864"}, 1, "67,108,864 features of 100 rows take 25 GiB, of 16 GiB at most"},
		{[]string{"train", plain, "-o", "m", "--task", "guess"}, 2, `mercer train: task "guess" is not known; known are auto, classify, regress`},
		{[]string{"train", plain, "-o", "m", "--scale", "big"}, 2,
			`mercer train: scale "big" is not known; known are auto, none, standard, minmax, maxabs, global, l1, l2, quantile, robust`},
		{[]string{"train", plain, "-o", "m", "--kernel", "magic"}, 2,
			`mercer train: "magic" is not a kernel; known are linear, poly, exp, arccos, rbf, laplacian, cauchy, matern`},
		{[]string{"train", plain, "-o", "m", "--map", "magic"}, 2, `mercer train: "magic" is not a map; known are`},
		{[]string{"train", plain, "-o", "m", "--gamma", "wide"}, 2,
			`mercer train: gamma "wide" is neither a positive number nor median nor scale`},
		{[]string{"train", plain, "-o", "m", "--learner", "oracle"}, 2, `mercer train: learner "oracle" is not known; known are auto, ridge, `},
		{[]string{"train", plain, "-o", "m", "--missing", "guess"}, 2,
			`mercer train: --missing "guess" is not known; known are auto, error, mean, zero`},
		{[]string{"train", plain, "-o", "m", "--format", "xls"}, 2,
			`mercer train: --format "xls" is not known; known are auto, csv, tsv, blank, arff, jsonl, libsvm, parquet, arrow, npy, npz, idx`},
		{[]string{"train", plain, "-o", "m", "--memory", "much"}, 2,
			"give a number of bytes such as 512MiB, 8GiB or 8GB (GiB is 1024³ bytes, GB 1000³)"},
		{[]string{"train", plain, "-o", "m", "--progress", "maybe"}, 2,
			`mercer train: --progress "maybe" is not known; known are auto, always, never`},
		{[]string{"train", plain, "-o", "m", "--threads", "-1"}, 2, "mercer train: --threads -1: give 1 to 1024, or 0 for all processors"},
		{[]string{"bench", "--map", "orf", "--rows", "99999999999"}, 2, "99999999999 rows of 784 dimensions to 4096 features take more than 16 GiB"}, // a panic
		{[]string{"tune", plain, "-o", "m", "--repeats", "99999999"}, 1, "99999999 repeats of 5 folds: give 13107 repeats at most"},                  // which took all memory
		{[]string{"train", plain, "-o", "m", "--threads", "999999999"}, 2, "mercer train: --threads 999999999: give 1 to 1024"},                      // which took all memory
		{[]string{"train", plain, "-o", "m", "--holdout", "1.5"}, 2, "mercer train: --holdout 1.5 is not a share between 0 and 1"},
		{[]string{"train", plain, "-o", "m", "--features", "33"}, 2,
			"mercer train: sorf: features is 33, but a cos and a sin make two: use 34, or form phase"},
		{[]string{"transform", plain}, 2, "mercer transform: no file to write the features to; give -o Z.npy"},
		{[]string{"kernel", plain, "-o", "k.npy", "--degree", "0", "--kernel", "poly"}, 2, "degree"},

		// Files.
		{[]string{"train", "none.csv", "-o", "m"}, 1, "mercer train: none.csv: file does not exist"},
		{[]string{"predict", "plain.mercer", t.TempDir()}, 1, ": there is no file in this folder"},
		{[]string{"train", file("empty.csv", ""), "-o", "m"}, 1, "mercer train: empty.csv: is empty"},
		{[]string{"train", file("archive.zip", "PK\x03\x04....."), "-o", "m"}, 1,
			"mercer train: archive.zip: is a zip or npz archive that is cut short or damaged"},
		{[]string{"train", plain, "-o", "no/m"}, 1, "mercer train: no/m: directory no: file does not exist"},
		{[]string{"train", plain, "-o", "."}, 1, "mercer train: .: is a directory; give the name of a file"},
		{[]string{"train", plain, "-o", "m", "--test", "none.csv"}, 1, "mercer train: none.csv: file does not exist"},

		// Data.
		{[]string{"train", file("ragged.csv", "1,2,a\n3,4,b\n5,6\n"), "-o", "m"}, 1, "mercer train: ragged.csv:3: 2 columns"},
		{[]string{"train", file("nan.csv", "x,y,kind\n1,2,a\n3,NaN,b\n5,6,a\n"), "-o", "m", "--missing", "error"}, 1,
			`mercer train: nan.csv:3: column "y": "NaN" is not a number (a missing value? --missing mean or --missing zero fills it in)`},
		{[]string{"train", file("zero.svm", "1 0:1 2:3\n-1 1:2\n"), "-o", "m"}, 1,
			"mercer train: zero.svm:1: index 0, but indices start at 1; if they start at 0 in this file, use --base 0"},
		{[]string{"train", file("twice.svm", "1 1:1\n-1 2:1 2:3\n"), "-o", "m"}, 1, "mercer train: twice.svm:2: index 2 comes twice"},
		{[]string{"train", file("order.svm", "1 1:1 5:3 3:1\n-1 1:2\n"), "-o", "m"}, 1,
			"mercer train: order.svm:1: index 3 comes after 5; indices must increase within a row"},
		{[]string{"train", file("huge.svm", "1 1:1 1099511627776:3\n-1 1:2\n"), "-o", "m"}, 1,
			"mercer train: huge.svm:1: index 1099511627776 is larger than any this program handles (2147483647)"},
		{[]string{"train", file("one.svm", "1 1:1\n1 1:2\n"), "-o", "m"}, 1,
			`mercer train: one.svm: every row has the label "1"; to tell classes apart at least two are needed (is --label the right column?)`},
		{[]string{"train", flowersCSV, "--label", "species", "-o", "m"}, 1,
			`mercer train: flowers.csv: there is no column "species" for --label; the columns are length, width, colour, kind`},
		{[]string{"train", plain, "--label", "9", "-o", "m"}, 1,
			"mercer train: plain.csv: there is no column 9 for --label; the columns are 0 to 3 and have no names"},
		{[]string{"train", plain, "--label", "none", "-o", "m"}, 1,
			"mercer train: plain.csv: the rows have no labels; name the column with --label or a file of labels with --labels"},
		{[]string{"train", curveCSV, "--learner", "svm", "-o", "m"}, 1, "use --learner ridge or "},
		{[]string{"train", plain, "--memory", "1KiB", "-o", "m"}, 1, "of 1.0 KiB at most; use fewer features"},

		// Models.
		{[]string{"predict", plain, plain}, 1, "mercer predict: plain.csv: not a model file"},
		{[]string{"predict", "none.mercer", plain}, 1, "mercer predict: none.mercer: file does not exist"},
		{[]string{"predict", "flipped.mercer", plain}, 1, "mercer predict: flipped.mercer: the checksum is wrong"},
		{[]string{"inspect", "cut.mercer"}, 1, "mercer inspect: cut.mercer: "},
		{[]string{"eval", "plain.mercer", file("wide.csv", "1,2,3,4,5,a\n1,2,3,4,5,b\n")}, 1, "but the model was trained on 3"},
		{[]string{"predict", "plain.mercer", file("narrow.csv", "1,a\n1,b\n")}, 1, "but the model was trained on 3"},
		{[]string{"predict", "plain.mercer", file("narrower.csv", "1,2,a\n1,2,b\n")}, 1,
			"mercer predict: narrower.csv: column 2 holds text where the model was trained on numbers; " +
				"the model has 3 inputs (and 1 label), the file 3 columns"},
		{[]string{"predict", "plain.mercer", file("wide.svm", "1 1:1 7:3\n")}, 1,
			"mercer predict: wide.svm:1: index 7, but the model has 3 dimensions"},
		{[]string{"eval", "plain.mercer", file("bare.csv", "1,2,3\n3,2,1\n")}, 1,
			"mercer eval: bare.csv: the rows have no labels to compare predictions with; name them with --label or --labels"},
	} {
		name := "mercer " + strings.Join(c.args, " ")
		r := mercer(t, c.args...)
		if r.code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", name, r.code, c.code, r.stderr)
		}
		if r.stdout != "" {
			t.Errorf("%s: on standard output: %q", name, r.stdout)
		}
		if strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "mercer") {
			t.Errorf("%s: not one line: %q", name, r.stderr)
		}
		if !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s:\n got  %s want %s", name, r.stderr, c.want)
		}
		if _, err := os.Stat("m"); err == nil {
			t.Fatalf("%s: something is at the output path", name)
		}
	}
	list, err := filepath.Glob(".*")
	if err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

func TestFailureKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	m := write(t, dir, "m", "precious")
	bad := write(t, dir, "bad.csv", "1,2,a\n3,x,b\n4,5\n")
	if r := mercer(t, "train", bad, "-o", m); r.code != 1 {
		t.Fatalf("%+v", r)
	}
	good := write(t, dir, "good.csv", flowers(60))
	trained := filepath.Join(dir, "trained")
	ok(t, "train", good, "-o", trained, "--features", "16")
	if r := mercer(t, "predict", trained, bad, "-o", m); r.code != 1 {
		t.Fatalf("%+v", r)
	}
	if text, _ := os.ReadFile(m); string(text) != "precious" {
		t.Errorf("the file that was there holds %q", text)
	}
}

// A bad row in the test data does not throw a training away.
func TestBadTestDataLeavesTheModel(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m")
	r := mercer(t, "train", write(t, dir, "curve.csv", curve(200)), "-o", m, "--features", "16",
		"--test", write(t, dir, "bad.csv", "0.1,0.2,0.3\n0.1,x,0.3\n"))
	if r.code != 1 || !strings.Contains(r.stderr, "bad.csv:2: column 1: \"x\" is not a number") || !strings.Contains(r.stderr, "it is in "+m) {
		t.Errorf("%+v", r)
	}
	ok(t, "inspect", m)
}

// TestTestDataThatDoNotFitEndAContinuationBeforeItBegins is about trainings that go on, with statistics or a model, and about bags.
func TestTestDataThatDoNotFitEndAContinuationBeforeItBegins(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var rows, bags strings.Builder
	bags.WriteString("g,a,y\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%d 1:%d 3:1\n", i%2, i%7)
		fmt.Fprintf(&bags, "%d,%d,%s\n", i/4, i%7, []string{"no", "yes"}[i/4%2])
	}
	sparse, wide := write(t, dir, "sparse.svm", rows.String()), write(t, dir, "wide.svm", rows.String()+"1 2:1 5:1\n0 7:1\n")
	table, other := write(t, dir, "table.csv", "a,b,y\n"+strings.Repeat("1,2,0.5\n2,1,1.5\n3,2,4\n", 5)),
		write(t, dir, "other.csv", "a,c,y\n1,2,3\n")
	text, bag := write(t, dir, "text.csv", "a,b,y\n1,2,many\n"), write(t, dir, "bag.csv", bags.String())
	ok(t, "train", sparse, "-o", at("m"), "--learner", "ridge", "--features", "8", "--save-stats", at("sparse.stats"))
	ok(t, "train", table, "-o", at("m"), "--task", "regress", "--features", "8", "--save-stats", at("table.stats"))
	ok(t, "train", sparse, "-o", at("sparse.m"), "--online", "--features", "8")
	ok(t, "train", table, "-o", at("table.m"), "--online", "--task", "regress", "--features", "8")
	ok(t, "train", bag, "-o", at("bag.m"), "--group", "g", "--online")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{sparse, "--append", at("sparse.stats"), "--test", wide},
			"wide.svm: has 7 dimensions, but the file of statistics has 3; make that with --dim 7"},
		{[]string{"--append", at("table.stats"), "--test", other}, `there is no column "b"`},
		{[]string{table, "--like", at("table.stats"), "--test", other}, `there is no column "b"`},
		{[]string{sparse, "--continue", at("sparse.m"), "--test", wide}, "has 3; train that with --dim 7"},
		{[]string{table, "--continue", at("table.m"), "--test", other}, `there is no column "b"`},
		{[]string{table, "--continue", at("table.m"), "--test", text}, `row 1: the label "many" is not a number`},
		{[]string{table, "--continue", at("table.m"), "--test", at("none")}, "none: file does not exist"},
		{[]string{bag, "--continue", at("bag.m"), "--test", table}, `there is no column "g"`},
		{[]string{bag, "--group", "g", "--test", table}, `there is no column "g"`},
	} {
		r := mercer(t, append([]string{"train", "-o", at("none.mercer")}, c.args...)...)
		if _, err := os.Stat(at("none.mercer")); r.code != 1 || !strings.Contains(r.stderr, c.want) || err == nil {
			t.Errorf("%s: exit code %d, %q, a model %t; want %q and none", strings.Join(c.args, " "), r.code, r.stderr, err == nil, c.want)
			os.Remove(at("none.mercer"))
		}
	}
	ok(t, "train", sparse, "--append", at("sparse.stats"), "--test", sparse, "-o", at("m"))
	ok(t, "train", bag, "--continue", at("bag.m"), "--test", bag, "-o", at("m"))
}

// TestTestDataOfOtherWidthEndATrainingBeforeItBegins gives LIBSVM rows with an index that the training
// rows do not have, and a table with a column more: no model is trained or chosen, and with the flag that the error
// names one is.
func TestTestDataOfOtherWidthEndATrainingBeforeItBegins(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "%d 1:%d 3:1\n", i%2, i%7)
	}
	narrow, model := write(t, dir, "narrow.svm", rows.String()), filepath.Join(dir, "m.mercer")
	wide := write(t, dir, "wide.svm", rows.String()+"1 2:1 5:1\n0 7:1\n")
	table, wideTable := write(t, dir, "two.csv", "a,b,y\n"+strings.Repeat("1,2,no\n2,1,yes\n3,2,no\n", 4)),
		write(t, dir, "three.csv", "a,c,y\n1,2,no\n2,1,yes\n")
	for _, c := range []struct{ train, test, want string }{
		{narrow, wide, "mercer train: wide.svm: has 7 dimensions, but narrow.svm has 3; train with --dim 7\n"},
		{table, wideTable, `mercer train: ` + wideTable + `: there is no column "b", which the model was trained on`},
	} {
		for _, command := range []string{"train", "train --auto --budget 20s", "tune --learner ridge,kernel-svm", "tune --search halving"} {
			args := append(strings.Fields(command), c.train, "--test", c.test, "--features", "16", "-o", model)
			r := mercer(t, args...)
			want := strings.Replace(c.want, "train", args[0], 1)
			left, _ := filepath.Glob(model + "*") // no journal of a search either
			if r.code != 1 || !strings.HasPrefix(r.stderr, want) || left != nil {
				t.Errorf("%s of %s: exit code %d, %q; want %q and no model; there are %v", command, c.train, r.code, r.stderr, want, left)
			}
		}
	}
	ok(t, "train", narrow, "--test", wide, "--features", "16", "-o", model, "--dim", "7")
	ok(t, "train", narrow, "--features", "16", "-o", model)
	for _, command := range []string{"eval", "predict"} {
		want := "wide.svm:41: index 5, but the model has 3 dimensions; train it with --dim 5 or more, the largest number that any file has\n"
		if r := mercer(t, command, model, wide); r.code != 1 || !strings.HasSuffix(r.stderr, want) {
			t.Errorf("%s: exit code %d, %q; want %q", command, r.code, r.stderr, want)
		}
	}
}

// TestTestDataMayHaveAnotherFormatThanLIBSVMText trains on LIBSVM text and tests on the same rows
// in other formats, whose width is known before a pass.
func TestTestDataMayHaveAnotherFormatThanLIBSVMText(t *testing.T) {
	dir := t.TempDir()
	var rows, table, labels strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "%d 1:%d 3:1\n", i%2, i%7)
		fmt.Fprintf(&table, "%d,0,1,%d\n", i%7, i%2)
		fmt.Fprintf(&labels, "%d\n", i%2)
	}
	text, model := write(t, dir, "rows.svm", rows.String()), filepath.Join(dir, "m.mercer")
	array, sparse := filepath.Join(dir, "rows.npy"), filepath.Join(dir, "rows.npz")
	for _, out := range []string{array, sparse} {
		ok(t, "transform", text, "--kernel", "linear", "-o", out)
	}
	y := write(t, dir, "labels", labels.String())
	for _, test := range [][]string{{text}, {write(t, dir, "rows.csv", table.String())}, {array, "--test-labels", y},
		{sparse, "--test-labels", y}} {
		for _, command := range []string{"train", "tune --lambda 0.1,1"} {
			args := append(strings.Fields(command), text, "--features", "16", "--learner", "ridge", "-o", model, "--test")
			if out := ok(t, append(args, test...)...); !strings.Contains(out, "40 rows") {
				t.Errorf("%s --test %v: %s", command, test, out)
			}
		}
	}
}
