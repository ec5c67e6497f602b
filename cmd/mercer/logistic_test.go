package main

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
	if err := json.Unmarshal([]byte(ok(t, "train", data, "-o", dir+"/m", "--learner", "logistic", "--features", "64", "--json")), &r); err != nil {
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
	if said := ok(t, "train", data, "-o", dir+"/m", "--penalty", "l1", "--features", "64"); !strings.Contains(said, "svm (for the option penalty)") || !strings.Contains(said, "weights are not zero") {
		t.Errorf("%s", said)
	}
}
