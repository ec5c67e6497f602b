package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// λ may be given in parts of the mean variance of the features in each of the ways that tune and
// train know, and a calibration has the same λ as the training.
func TestLambdaInPartsOfTheTrace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "flowers.csv", flowers(240))
	trained := func(args ...string) string {
		t.Helper()
		ok(t, append([]string{"train", "flowers.csv", "-o", "m.mercer", "--features", "32", "--learner", "ridge"}, args...)...)
		m, err := os.ReadFile("m.mercer")
		if err != nil {
			t.Fatal(err)
		}
		return string(m)
	}
	given := trained("--lambda", "0.01", "--lambda-by", "trace")
	for _, args := range [][]string{{"--lambda", "trace*0.01"}, {"--lambda", "Trace*1e-2", "--lambda-by", "trace"},
		{"--lambda-by", "TRACE", "--lambda", "trace*0.01"}} {
		if trained(args...) != given {
			t.Errorf("%v: another model than by --lambda-by trace", args)
		}
	}
	if trained("--lambda", "trace*0.02") == given || trained("--lambda", "0.01") == given {
		t.Error("the number, or that it is in parts of the trace, makes no difference")
	}
	if trained("--lambda", "auto", "--lambda-by", "loo") != trained("--lambda-by", "loo") {
		t.Error("auto is not the default")
	}

	var m struct {
		Trained struct {
			Training struct{ Ridge struct{ Lambda float64 } }
		}
	}
	calibrated := func(lambda string) string {
		text := ok(t, "train", "flowers.csv", "-o", "m.mercer", "--features", "32", "--learner", "ridge", "--calibrate", "platt",
			"--json", "--lambda", lambda)
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return ok(t, "predict", "m.mercer", "flowers.csv", "--proba")
	}
	parts := calibrated("trace*0.5")
	if number := calibrated(strconv.FormatFloat(m.Trained.Training.Ridge.Lambda, 'g', -1, 64)); number != parts ||
		m.Trained.Training.Ridge.Lambda == 0 {
		t.Errorf("probabilities differ with the same λ, %g", m.Trained.Training.Ridge.Lambda)
	}
}

func TestLambdaContradictions(t *testing.T) {
	data := write(t, t.TempDir(), "flowers.csv", flowers(60))
	out := filepath.Join(t.TempDir(), "m.mercer")
	for _, c := range []struct{ args, want string }{
		{"--lambda trace*0.1 --lambda-by gcv", "--lambda trace*0.1 gives λ, so that --lambda-by gcv has nothing to say"},
		{"--lambda trace*0.1 --lambda-by given", "--lambda-by given has nothing to say"},
		{"--lambda trace*0.1 --learner lasso", "which the ridge alone knows; give lasso a number"},
		{"--lambda trace*0.1 --learner svm", "which the ridge alone knows; give svm a number"},
		{"--lambda trace*0.1 --path", "no path of others"},
		{"--lambda trace*0", "give a positive number, trace*NUMBER"},
		{"--lambda trace*-1", "give a positive number, trace*NUMBER"},
		{"--lambda trace*", "give a positive number, trace*NUMBER"},
		{"--lambda trace*NaN", "give a positive number, trace*NUMBER"},
		{"--lambda inf", "give a positive number, trace*NUMBER"},
		{"--lambda median*2", "give a positive number, trace*NUMBER"},
		{"--lambda auto --lambda-by trace", "--lambda auto gives no λ, but --lambda-by trace needs one"},
		{"--lambda auto --lambda-by given", "--lambda auto gives no λ, but --lambda-by given needs one"},
		{"--lambda 0.1 --lambda-by folds", "lambda_by folds has nothing to choose"},
	} {
		r := mercer(t, append([]string{"train", data, "-o", out, "--features", "16"}, strings.Fields(c.args)...)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", c.args, r.code, r.stderr)
		}
		r = mercer(t, "compare", data, "--config", c.args, "--config", "")
		if r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("compare, %s: exit code %d: %s", c.args, r.code, r.stderr)
		}
	}
}
