package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// visits are rows of patients, of whom each comes several times, hardly changed.
func visits(patients int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("patient,age,dose,state\n")
	for p := range patients {
		age, state := r.NormFloat64(), "well"
		if age+r.NormFloat64() > 0 {
			state = "sick"
		}
		for range 3 + r.IntN(6) {
			fmt.Fprintf(&b, "p%d,%.3f,%.3f,%s\n", p, age+0.1*r.NormFloat64(), r.NormFloat64(), state)
		}
	}
	return b.String()
}

func TestTuneChoosesAndTrains(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "flowers.csv", flowers(300))
	out, results := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "trials.csv")
	text := ok(t, "tune", data, "-o", out, "--features", "32", "--gamma", "median*0.25,median", "--learner", "ridge,svm",
		"--lambda", "trace*0.01,1", "--c", "0.1,1", "--results", results, "--folds", "3", "--test", data)
	for _, want := range []string{"8 configurations, 3 trainings each", "3 stratified folds by accuracy", "best, picked",
		"times fewer than without sharing", "test", "saved"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the text:\n%s", want, text)
		}
	}
	if _, err := os.Stat(out + ".tune"); !os.IsNotExist(err) {
		t.Error("the journal was left")
	}
	table, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	if len(lines) != 9 || lines[0] != "rank,c,features,gamma,lambda,learner,mean,sd,se,score1,score2,score3,picked,dropped" ||
		strings.Count(string(table), ",picked,") != 2 {
		t.Errorf("the results:\n%s", table)
	}

	var got struct {
		Search struct {
			Candidates []struct{ Mean float64 }
			Work       struct {
				Mapped int `json:"rows_mapped"`
			}
			Alone struct {
				Mapped int `json:"rows_mapped"`
			} `json:"work_alone"`
		}
		Picked struct {
			Values map[string]string
			Mean   float64
		}
		Model   string
		Trained struct{ Config json.RawMessage }
	}
	if err := json.Unmarshal([]byte(ok(t, "tune", data, "-o", out, "--features", "32", "--kernel", "rbf,linear",
		"--lambda", "trace*0.01", "--learner", "ridge", "--gamma", "median", "--json", "--keep-journal")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Search.Candidates) != 2 || got.Picked.Mean != max(got.Search.Candidates[0].Mean,
		got.Search.Candidates[1].Mean) || got.Model != out || got.Search.Work.Mapped != 600 || got.Search.Alone.Mapped != 3000 {
		t.Errorf("%+v", got)
	}
	if got.Picked.Values["kernel"] == "linear" && got.Picked.Values["features"] != "" {
		t.Errorf("the linear kernel has features: %v", got.Picked.Values)
	}
	if _, err := os.Stat(out + ".tune"); err != nil {
		t.Error("the journal was to be kept:", err)
	}
}

// The command that a search prints makes the same model, to the byte.
func TestTrainMakesTheTunedModel(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "curve.csv", curve(200))
	write(t, dir, "flowers.csv", flowers(150))
	write(t, dir, "space.json", `{"lambda": ["auto", 1e-3], "form": "phase", "gamma": ["scale*2"]}`)
	members, labels := crosses(1, 60)
	grouped(t, dir, "devices.csv", members, labels)
	folder(t, dir, "folder", members, labels)
	for _, args := range [][]string{
		{"curve.csv", "--features", "64", "--gamma", "median*4", "--lambda", "trace*0.001"},
		{"curve.csv", "--space", "space.json", "--features", "32", "--seed", "3", "--folds", "3"},
		{"flowers.csv", "--features", "32,64", "--gamma", "median", "--class-weight", "balanced", "--metric", "macro-f1",
			"--scale", "minmax,none", "--strict"},
		{"devices.csv", "--group", "device", "--learner", "ridge,svm", "--bag-features", "64", "--lambda", "trace*0.001,auto"},
		{"folder", "--kernel", "rbf,linear", "--features", "32", "--bag", `{"pooling":"full","scale":"standard"}`, "--gamma", "median,median*2"},
		{"flowers.csv", "--kernel", "poly", "--degree", "2", "--learner", "svm,ridge", "--c", "1,auto", "--lambda", "0",
			"--features", "32", "--map", "tensorsrht", "--complex=true"},
	} {
		var got struct{ Command string }
		if err := json.Unmarshal([]byte(ok(t, append([]string{"tune", "-o", "a.mercer", "--json"}, args...)...)), &got); err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(strings.NewReplacer("'", "", "-o a.mercer", "-o b.mercer").Replace(got.Command))
		if len(words) < 2 || words[0] != "mercer" || words[1] != "train" {
			t.Fatalf("%v: the command is %q", args, got.Command)
		}
		ok(t, words[1:]...)
		a, _ := os.ReadFile("a.mercer")
		b, err := os.ReadFile("b.mercer")
		if err != nil || string(a) != string(b) {
			t.Errorf("%v: another model by %s (%v)", args, got.Command, err)
		}
	}
}

// No output replaces another one, or what is read: the journal, say, is removed in the end. A command line
// that cannot be is known before the data are read.
func TestTuneKeepsFilesApart(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := curve(60)
	write(t, dir, "curve.csv", text)
	write(t, dir, "space.json", `{"gamma": "median"}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-o", "m", "--journal", filepath.Join(dir, "m")}, "--journal and --output are both"},
		{[]string{"-o", "m", "--results", "./m"}, "--output and --results are both ./m"},
		{[]string{"-o", "m", "--results", "m.tune"}, "--results and --journal are both m.tune"},
		{[]string{"-o", "m", "--learner", "oracle"}, `learner "oracle" is not known`},
		{[]string{"-o", "curve.csv"}, "DATA and --output are both curve.csv"},
		{[]string{"-o", "m", "--results", "curve.csv"}, "DATA and --results are both curve.csv"},
		{[]string{"-o", "space.json", "--space", "space.json"}, "--space and --output are both space.json"},
	} {
		r := mercer(t, append([]string{"tune", "curve.csv", "--features", "16", "--lambda", "1"}, c.args...)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, r.code, r.stderr)
		}
	}
	r := mercer(t, "train", "curve.csv", "-o", "curve.csv")
	if left, err := os.ReadFile("curve.csv"); r.code != 2 || err != nil || string(left) != text {
		t.Errorf("train replaced its data: %d %s", r.code, r.stderr)
	}
	ok(t, "tune", "curve.csv", "--features", "16", "--lambda", "1", "--gamma", "median", "-o", "m", "--results", os.DevNull)
}

func TestFoldGroupIsNoInput(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "visits.csv", visits(40))
	out := filepath.Join(dir, "m.mercer")
	flags := []string{"--features", "64", "--learner", "ridge", "--lambda", "trace*0.1", "--gamma", "median", "--fold-group"}
	text := ok(t, append([]string{"tune", data, "-o", out}, append(flags, "patient")...)...)
	if !strings.Contains(text, "folds of groups") || !strings.Contains(text, "× 2 dimensions") {
		t.Errorf("the patient is an input, or folds are not of groups:\n%s", text)
	}
	// Without the column of groups the model predicts all the same.
	var without strings.Builder
	for line := range strings.Lines(visits(40)) {
		_, rest, _ := strings.Cut(line, ",")
		without.WriteString(rest)
	}
	if a, b := ok(t, "predict", out, data), ok(t, "predict", out, write(t, dir, "new.csv", without.String())); a != b {
		t.Error("other predictions without the column of groups")
	}
	for _, c := range [][2]string{{data, "nobody"}, {write(t, dir, "d.txt", "1 1:2\n2 1:3\n"), "1"}} {
		if r := mercer(t, "tune", c[0], "-o", out, "--fold-group", c[1]); r.code != 1 || !strings.Contains(r.stderr, "--fold-group") {
			t.Errorf("%v: %d: %s", c, r.code, r.stderr)
		}
	}
	// Where columns have no names, the model knows at which position there is none.
	_, rows, _ := strings.Cut(visits(40), "\n")
	bare := write(t, dir, "bare.csv", rows)
	ok(t, append([]string{"tune", bare, "-o", out}, append(flags, "0")...)...)
	ok(t, "eval", out, bare)
}

// killer is the standard error of a program that dies as soon as a journal has more lines than when
// it was started: its progress is drawn after each of them.
type killer struct {
	journal string
	lines   int
}

func (k *killer) Write(text []byte) (int, error) {
	if journalLines(k.journal) > k.lines {
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
			select {}
		}
		os.Exit(3)
	}
	return len(text), nil
}

// journalLines is how many lines a journal has, apart from its head.
func journalLines(path string) int {
	text, _ := os.ReadFile(path)
	return max(0, bytes.Count(text, []byte("\n"))-1)
}

// killedTuning is the program of TestKilledTuningGoesOn, which is this test binary started once more.
func killedTuning(journal string) int {
	drawEvery = 0
	k := &killer{journal, journalLines(journal)}
	return Run(context.Background(), os.Args[1:], strings.NewReader(""), os.Stdout, k)
}

// A tuning that is killed after each thing that it kept, and run again, ends as one that was not.
func TestKilledTuningGoesOn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the program many times")
	}
	dir := t.TempDir()
	data := write(t, dir, "flowers.csv", flowers(300))
	args := func(out string) []string {
		return []string{"tune", data, "-o", out, "--features", "128", "--gamma", "median*0.25,median,median*4",
			"--learner", "ridge,svm,kernel-svm", "--c", "0.1,10",
			"--lambda", "trace*0.001,trace*0.1", "--results", out + ".csv", "--folds", "2", "--progress", "always"}
	}
	whole, killed := filepath.Join(dir, "whole.mercer"), filepath.Join(dir, "killed.mercer")
	if r := mercer(t, args(whole)...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	journal := killed + ".tune"
	// Each γ has a job of all ridge regressions, and for each fold one of support vector machines by C and one
	// for each C of the kernel's.
	want := 3 * (1 + 2 + 2*2)
	kills := 0
	for kills <= want {
		before := journalLines(journal)
		cmd := exec.Command(os.Args[0], args(killed)...)
		cmd.Env = append(os.Environ(), killJournal+"="+journal)
		text, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("after %d kills: %v: %s", kills, err, text)
		}
		kills++
		if after := journalLines(journal); after <= before {
			t.Fatalf("the journal has %d lines, after %d", after, before)
		}
		if _, err := os.Stat(killed); err == nil {
			t.Fatal("there is a model of a search that was killed")
		}
	}
	if kills != want {
		t.Errorf("%d kills, want %d", kills, want)
	}
	for _, suffix := range []string{"", ".csv"} {
		a, err1 := os.ReadFile(whole + suffix)
		b, err2 := os.ReadFile(killed + suffix)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("after %d kills another file (%v, %v)", kills, err1, err2)
		}
	}
	if _, err := os.Stat(journal); !os.IsNotExist(err) {
		t.Error("the journal was left")
	}
}

// Folds are of bags: a search on them finds what the same search finds on the rows that transform makes of them, and
// the model takes bags.
func TestTuneOnBags(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	members, labels := crosses(1, 90)
	grouped(t, dir, "devices.csv", members, labels)
	testMembers, testLabels := crosses(2, 40)
	grouped(t, dir, "test.csv", testMembers, testLabels)
	folder(t, dir, "test", testMembers, testLabels)
	flags := []string{"--learner", "ridge,svm", "--lambda", "trace*0.01,trace*1", "--c", "0.1,1", "--folds", "3", "--json"}
	var got [2]struct {
		Search struct {
			Rows       int
			Candidates []struct {
				Values map[string]string
				Scores []float64
			}
		}
		Accuracy float64
	}
	pooling := []string{"--group", "device", "--bag-features", "6", "--bag-gamma", "0.5", "--norm", "l2"}
	text := ok(t, slices.Concat([]string{"tune", "devices.csv", "-o", "m", "--test", "test.csv"}, pooling, flags)...)
	if err := json.Unmarshal([]byte(text), &got[0]); err != nil {
		t.Fatal(err)
	}
	if got[0].Search.Rows != 90 || len(got[0].Search.Candidates) != 4 || got[0].Accuracy < 0.55 {
		t.Errorf("%+v", got[0])
	}
	ok(t, slices.Concat([]string{"transform", "devices.csv", "-o", "rows.npy"}, pooling)...)
	write(t, dir, "labels", strings.Join(labels, "\n")+"\n")
	text = ok(t, slices.Concat([]string{"tune", "rows.npy", "--labels", "labels", "-o", "n", "--kernel", "linear"}, flags)...)
	if err := json.Unmarshal([]byte(text), &got[1]); err != nil {
		t.Fatal(err)
	}
	for _, c := range got[1].Search.Candidates {
		delete(c.Values, "kernel") // which bags need not be told
	}
	if a, b := fmt.Sprint(got[0].Search.Candidates), fmt.Sprint(got[1].Search.Candidates); a != b || !strings.Contains(a, "0.") {
		t.Errorf("on bags %s\non rows %s", a, b)
	}
	if text := ok(t, "tune", "test", "-o", "m", "--learner", "svm", "--c", "1", "--folds", "2",
		"--search", "halving"); !strings.Contains(text, "40 bags") {
		t.Errorf("the text:\n%s", text)
	}
}

func TestTuneErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "flowers.csv", flowers(60))
	write(t, dir, "curve.csv", curve(60))
	write(t, dir, "tiny.csv", "1,a\n2,b\n3,a\n4,b\n")
	write(t, dir, "space.json", `{"gamma": [1, 2]}`)
	write(t, dir, "wrong.json", `{"colour": [1, 2]}`)
	write(t, dir, "visits.csv", visits(3))
	members, _ := crosses(1, 6)
	folder(t, dir, "flat", members, nil)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"tune flowers.csv", 2, "mercer tune: no file to write the model to; give -o MODEL"},
		{"tune tiny.csv -o m", 1, "tiny.csv: 4 rows are fewer than 5 folds take; give fewer folds"},
		{"tune visits.csv -o m --fold-group patient", 1, "3 groups are fewer than the 5 folds"},
		{"tune visits.csv -o m --fold-kind group", 2, "name it with --fold-group"},
		{"tune visits.csv -o m --fold-kind kfold --fold-group patient", 2, "leave out one of them"},
		{"tune flowers.csv -o m --metric rmse", 1, "the metric rmse is not for the task classify"},
		{"tune flowers.csv -o m --metric beauty", 2, `there is no metric "beauty"`},
		{"tune curve.csv -o m --fold-kind stratified", 1, "the labels are not classes"},
		{"tune flowers.csv -o m --gamma median,median", 2, "--gamma: the value median is there twice"},
		{"tune flowers.csv -o m --gamma log:3:1:4", 2, "is not a range"},
		{"tune flowers.csv -o m --features 12.5", 2, `"12.5" is not a whole number`},
		{"tune flowers.csv -o m --degree 2,3", 1, "no combination of the values has a use for the setting degree"},
		{"tune flowers.csv -o m --learner ridge --c 1,2", 1, "no combination of the values has a use for the setting c"},
		{"tune flowers.csv -o m --kernel poly --map rff", 2, "no combination of the values can be trained"},
		{"tune flowers.csv -o m --gamma -1", 2, "no combination of the values can be trained"},
		{"tune flowers.csv -o m --trials 4", 2, "--trials is for random or halving"},
		{"tune flowers.csv -o m --search clever", 2, "known are grid, random, halving"},
		{"tune flowers.csv -o m --pick worst", 2, "known are best, one-se"},
		{"tune flowers.csv -o m --folds 1", 2, "give 2 or more"},
		{"tune flowers.csv -o m --fold-kind holdout --folds 3", 2, "leave out --folds"},
		{"tune flowers.csv -o m --fold-share 0.5", 2, "--fold-share is for --fold-kind holdout"},
		{"tune flowers.csv -o m --fold-kind spiral", 2, "known are auto, kfold"},
		{"tune flowers.csv -o m --gamma 3 --space space.json", 2, "--gamma and space.json both say what to try"},
		{"tune flowers.csv -o m --space wrong.json", 1, "colour is not a setting that a search knows"},
		{"tune flowers.csv -o m --variance", 2, "are for mercer train"},
		{"tune flowers.csv -o m --metric log_loss --learner svm --gamma median", 1, "it takes probabilities"},
		{"tune nowhere.csv -o m", 1, "nowhere.csv"},
		{"tune flat -o m", 1, "the bags have no labels"},
		{"tune visits.csv -o m --group patient --strict", 2, "leave out --strict"},
		{"tune visits.csv -o m --group patient --fold-group patient", 2, "folds of bags keep the members of a bag together"},
		{"tune visits.csv -o m --group patient --fold-kind group", 2, "leave out --fold-kind group"},
		{"tune visits.csv -o m --group patient --gamma 1,2", 2, "use --bag-gamma"},
		{"tune visits.csv -o m --group patient --bag-features -2", 2, "bag"},
		{"tune visits.csv -o m --group patient --pooling cbp-krp --pool 3", 2, "give it by --bag"},
		{"tune visits.csv -o m --group nobody", 1, "nobody"},
	} {
		r := mercer(t, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Count(strings.TrimSpace(r.stderr), "\n") != 0 {
			t.Errorf("mercer %s: exit code %d, %q; want %d and %q", c.args, r.code, r.stderr, c.code, c.want)
		}
		if _, err := os.Stat("m"); err == nil {
			t.Errorf("mercer %s: there is a model", c.args)
			os.Remove("m")
		}
		os.Remove("m.tune")
	}
}

func TestLongTuningsAreAnnounced(t *testing.T) {
	announceAll(t)
	dir := t.TempDir()
	data, out := write(t, dir, "flowers.csv", flowers(90)), filepath.Join(dir, "m")
	args := []string{"tune", data, "-o", out, "--features", "16", "--gamma", "median,median*4", "--learner", "ridge",
		"--lambda", "0.1,1", "--folds", "3"}
	r := mercer(t, args...)
	if want := "mercer tune: note: 4 configurations, 12 trainings: about "; r.code != 0 ||
		!strings.HasPrefix(r.stderr, want) || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d: on standard error %q, want %q", r.code, r.stderr, want)
	}
	if r := mercer(t, append(args, "--progress", "never")...); r.code != 0 || r.stderr != "" {
		t.Errorf("code %d: on standard error %q", r.code, r.stderr)
	}
}
