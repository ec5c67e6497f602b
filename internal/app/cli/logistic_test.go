package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTrainLogistic(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "flowers.csv", flowers(300))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "logistic, logistic loss, C = "},
		{[]string{"--multiclass", "ovr", "--c", "2"}, "logistic, logistic loss, C = 2, in the primal"},
		{[]string{"--penalty", "l1", "--solver", "primal", "--tolerance", "0.001"}, "logistic, logistic loss and L1 penalty, C = "},
	} {
		out := ok(t, append([]string{"train", data, "-o", dir + "/m", "--learner", "logistic", "--features", "64"}, c.args...)...)
		if !strings.Contains(out, c.want) {
			t.Errorf("%v: want %q in\n%s", c.args, c.want, out)
		}
		if shown := ok(t, "inspect", dir+"/m"); !strings.Contains(shown, c.want) {
			t.Errorf("%v: want %q in\n%s", c.args, c.want, shown)
		}
	}
	var r struct {
		Trained struct {
			Training struct {
				Primal struct {
					C         float64   `json:"c"`
					Gradient  float64   `json:"gradient"`
					Converged bool      `json:"converged"`
					Objective []float64 `json:"objective"`
					Path      []struct {
						C       float64 `json:"c"`
						LogLoss float64 `json:"log_loss"`
						Chosen  bool    `json:"chosen"`
					} `json:"path"`
				} `json:"primal"`
			} `json:"training"`
		} `json:"trained"`
	}
	out := ok(t, "train", data, "-o", dir+"/m", "--learner", "logistic", "--features", "64", "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	p := r.Trained.Training.Primal
	if !p.Converged || p.Gradient <= 0 || len(p.Objective) != 1 || len(p.Path) < 3 {
		t.Errorf("%+v", p)
	}
	for _, point := range p.Path {
		if point.Chosen != (point.C == p.C) || point.LogLoss <= 0 {
			t.Errorf("%+v", p)
		}
	}
	// Without a learner, an option of both is the svm's.
	said := ok(t, "train", data, "-o", dir+"/m", "--penalty", "l1", "--features", "64")
	if !strings.Contains(said, "svm (for the option penalty)") || !strings.Contains(said, "weights are not zero") {
		t.Errorf("%s", said)
	}
}

// Rows of several labels get the probability of each, through the whole command line.
func TestLogisticOfLabels(t *testing.T) {
	dir := t.TempDir()
	text := "x,y,labels\n"
	for i := range 200 {
		text += []string{"-1,-1,", "1,-1,a", "-1,1,b", "1,1,a|b"}[i%4] + "\n"
	}
	data, m := write(t, dir, "sets.csv", text), dir+"/m"
	out := ok(t, "train", data, "-o", m, "--label-separator", "|", "--learner", "logistic", "--kernel", "linear", "--c", "10", "--test", data)
	for _, want := range []string{"multi-label, 2 labels: a, b", "logistic, logistic loss, C = 10, in the primal",
		"exact     100.00 %", "log loss"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	lines := strings.Split(ok(t, "predict", m, data, "--proba"), "\n")
	for i, want := range []string{"", "a", "b", "a,b"} {
		fields := strings.Split(lines[i], "\t")
		if len(fields) != 3 || fields[0] != want || (fields[1] > "0.5") != strings.Contains(want, "a") ||
			(fields[2] > "0.5") != strings.Contains(want, "b") {
			t.Errorf("row %d: %q, want %q with two probabilities", i+1, lines[i], want)
		}
	}
	if r := mercer(t, "train", data, "-o", m, "--label-separator", "|", "--learner", "logistic",
		"--multiclass", "multinomial"); r.code != 1 || !strings.Contains(r.stderr, "takes one class a row") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}
