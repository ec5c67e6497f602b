package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainKernelSVM(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "flowers.csv", flowers(120)), filepath.Join(dir, "m.mercer")
	out := ok(t, "train", data, "-o", m, "--learner", "kernel-svm", "--c", "10", "--gamma", "1", "--test", data)
	for _, want := range []string{"kernel-svm, c-svc: ", "support vectors", "violation"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if lines := strings.Count(ok(t, "predict", m, data), "\n"); lines != 120 {
		t.Errorf("%d predictions", lines)
	}
	if got := ok(t, "inspect", m); !strings.Contains(got, "support vectors") {
		t.Errorf("inspect: %s", got)
	}
	numbers := write(t, dir, "curve.csv", curve(150))
	for _, c := range [][2]string{{"--epsilon=0.01", "0.01"}, {"--epsilon=0", "0"}, {"--tolerance=0.001", "0.1"}} {
		if out := ok(t, "train", numbers, "-o", m, "--learner", "kernel-svm", c[0]); !strings.Contains(out, "epsilon-svr: ε = "+c[1]+", ") {
			t.Errorf("%s: %s", c[0], out)
		}
	}
	if out := ok(t, "train", numbers, "-o", m, "--learner", "kernel-svm", "--svm-nu", "0.3"); !strings.Contains(out,
		"nu-svr: ν = 0.3, ε = ") {
		t.Errorf("%s", out)
	}
	if out := ok(t, "train", data, "-o", m, "--learner", "kernel-svm", "--svm-nu", "0.2"); !strings.Contains(out, "nu-svc: ν = 0.2, ") {
		t.Errorf("%s", out)
	}
	for nu, want := range map[string]string{"--nu=0.5": "is --svm-nu", "--svm-nu=0": "give a number above 0 and up to 1"} {
		if r := mercer(t, "train", data, "-o", m, "--learner", "kernel-svm", nu); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d: %s", nu, r.code, r.stderr)
		}
	}
	r := mercer(t, "train", data, "-o", m, "--learner", "kernel-svm", "--multiclass", "all")
	if r.code == 0 || !strings.Contains(r.stderr, `has no multiclass "all"`) {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// ν of the kernel and ν of the machine are two flags. Which kernels have the former is for these to say.
func TestNuOfTheKernelIsNotThatOfTheMachine(t *testing.T) {
	r := mercer(t, "train", "no.csv", "-o", "m", "--learner", "kernel-svm", "--kernel", "RBF", "--nu", "0.5")
	want := "--nu is ν of the kernel matern, and the kernel is RBF; ν of a support vector machine is --svm-nu"
	if r.code != 2 || !strings.Contains(r.stderr, want) {
		t.Errorf("%+v, want %q", r, want)
	}
	if r := mercer(t, "train", "no.csv", "-o", "m", "--learner", "kernel-svm", "--kernel", "MATERN", "--nu", "0.5"); r.code != 1 {
		t.Errorf("matern has ν: %+v", r)
	}
}
