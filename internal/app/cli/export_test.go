package cli

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// exportTable is a table with numbers, text with hostile characters, missing values and a label: a class of k, or a number
// for k = 0.
func exportTable(rows, k int, gaps bool) string {
	r := rand.New(rand.NewPCG(7, uint64(rows)))
	var b strings.Builder
	b.WriteString("size,\"a \"\"b\"\", c\",town,shop,y\n")
	towns := []string{"Łódź", "O'Hare; DROP", `"x, y"`, "NA", ""}
	for range rows {
		size, other, town, shop := r.NormFloat64()*40, r.ExpFloat64(), r.IntN(5), r.IntN(60)
		y := size/40 + float64(town) - 2 + other*other/4 + float64(shop*37%60)/15
		label := fmt.Sprintf("%.4f", y)
		if k > 0 {
			label = fmt.Sprintf("class %d", max(0, min(k-1, int(y+float64(k)/2))))
		}
		number := fmt.Sprintf("%.3f", other)
		if gaps && r.IntN(10) == 0 {
			number = "?"
		}
		fmt.Fprintf(&b, "%.3f,%s,%s,%d,%s\n", size, number, `"`+strings.ReplaceAll(towns[town], `"`, `""`)+`"`, 3*shop, label)
	}
	return b.String()
}

const exportCheck = `
import csv, json, sys
sys.path.insert(0, sys.argv[1])
import mercer_numpy, numpy as np
rows = list(csv.DictReader(open(sys.argv[3])))
m = mercer_numpy.load(sys.argv[2])
x = {n: [r[n] for r in rows] for n in rows[0]}
want = [json.loads(l) for l in open(sys.argv[4])]
s, got = m.scores(x), m.predict(x)
ref = np.array([w["scores"] for w in want])
err = np.abs(s - ref).max() / np.abs(ref).max()
assert s.shape == ref.shape and err < 1e-5, ("scores", s.shape, ref.shape, err)
label = [w["prediction"] for w in want]
if m.about.get("classes"):
    near = np.sort(np.hstack([-s, s]) if s.shape[1] == 1 else s, 1)
    close = near[:, -1] - near[:, -2] < 1e-5
    assert all(a == b or c for a, b, c in zip(got, label, close)), "labels"
if m.about["probabilities"] != "none":
    p = np.array([list(w["probabilities"].values()) for w in want])
    assert np.abs(m.proba(x) - p).max() < 1e-5, ("probabilities", np.abs(m.proba(x) - p).max())
print(err)
`

// Exported models predict in NumPy what mercer predict does: every learner and kernel without a map, every scaling.
func TestExportedModelsPredictInNumPy(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Parallel()
	python := testenv.Program(t, "python3")
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		testenv.Missing(t, "python3 has no numpy")
	}
	cases := []struct {
		name    string
		classes int
		flags   string
	}{
		{"rfm", 3, "--learner rfm --leaf 300 --missing mean --calibrate platt"},
		{"rfm-auto", 3, "--learner rfm --leaf 300 --missing auto"},
		{"means", 3, "--learner rfm --target-means all --missing auto"},
		{"means of categories", 0, "--learner rfm --target-means categories --missing mean"},
		{"rfm-logit", 2, "--learner rfm --leaf 300 --missing mean"},
		{"ridge-auto", 3, "--kernel linear --missing auto"},
		{"rfm-two", 2, "--learner rfm --scale quantile --missing zero --calibrate isotonic"},
		{"threshold", 2, "--learner rfm --threshold recall=0.95 --missing mean"},
		{"threshold and platt", 2, "--kernel linear --calibrate platt --threshold 0.3 --missing mean"},
		{"rfm-number", 0, "--learner rfm --leaf 200 --scale robust --missing mean"},
		{"svm", 4, "--learner kernel-svm --kernel rbf --missing mean"},
		{"matern", 0, "--learner kernel-ridge --kernel matern --nu 2.5 --missing mean"},
		{"cauchy", 2, "--learner kernel-ridge --kernel cauchy --missing mean --calibrate temperature"},
		{"laplacian", 3, "--learner kernel-ridge --kernel laplacian --scale l2 --missing mean"},
		{"poly", 0, "--learner kernel-ridge --kernel poly --degree 3 --coef0 1 --missing mean"},
		{"exp", 0, "--learner kernel-ridge --kernel exp --gamma 0.1 --scale minmax --missing mean"},
		{"linear", 0, "--kernel linear --missing mean"},
		{"logistic", 3, "--kernel linear --learner logistic --missing mean"},
		{"logistic-two", 2, "--kernel linear --learner logistic --scale l1 --missing zero"},
		{"rff", 3, "--map rff --kernel rbf --features 256 --learner ridge --missing mean"},
		{"phase", 0, "--map orf --kernel matern --form phase --features 257 --missing mean"},
		{"sorf", 2, "--map sorf --kernel rbf --features 250 --learner logistic --missing mean"},
		{"qmc", 2, "--map qmc --kernel laplacian --features 128 --learner ridge --missing mean"},
		{"fastfood", 0, "--map fastfood --kernel rbf --features 200 --missing mean"},
		{"ramp", 0, "--map rff --kernel arccos --degree 1 --features 256 --missing mean"},
		{"nystrom", 3, "--map nystrom --kernel rbf --features 50 --learner svm --missing mean"},
		{"kernel principal components", 0, "--map kpca-rp --kernel laplacian --features 30 --learner ridge --missing mean"},
		{"empirical", 2, "--map empirical --kernel rbf --features 40 --learner logistic --missing mean"},
		{"projection", 3, "--map rp --kernel linear --features 5 --learner ridge --missing mean"},
		{"components", 2, "--map rff --kernel rbf --features 128 --components 20 --learner ridge --missing mean"},
		{"components of columns", 0, "--kernel linear --components 3 --learner ridge --missing mean"},
		{"metric", 3, "--learner kernel-ridge --kernel rbf --metric full --missing mean"},
	}
	for _, c := range testenv.Few(t, cases, 4, "every kernel, map and coding by the reader in NumPy") {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			data, more := write(t, dir, "a.csv", exportTable(450, c.classes, true)), write(t, dir, "b.csv", exportTable(400, c.classes, true))
			file, told := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "p.out")
			ok(t, append([]string{"train", data, "-o", file}, strings.Fields(c.flags)...)...)
			if c.name == "means" {
				if text := mercer(t, "inspect", file).stdout; strings.Count(text, ", mean targets") != 2 {
					t.Errorf("not town and shop have mean targets:\n%s", text)
				}
			}
			ask := []string{"predict", file, more, "--scores", "--json", "-o", told}
			if strings.Contains(c.flags, "calibrate") || strings.Contains(c.flags, "logistic") {
				ask = append(ask, "--proba")
			}
			fields := strings.Fields(c.flags)
			ask = append(ask, "--missing", fields[slices.Index(fields, "--missing")+1])
			ok(t, ask...)
			for _, target := range []string{"npz", "safetensors"} {
				out := filepath.Join(dir, "m."+target)
				ok(t, "export", file, "--target", target, "-o", out)
				if text, err := exec.Command(python, "-B", "-c", exportCheck, "../../../python", out, more, told).CombinedOutput(); err != nil {
					t.Errorf("%s: %s", target, text)
				}
			}
		})
	}
}

// What cannot be exported is refused by name, and leaves no file.
func TestExportRefuses(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "a.csv", exportTable(300, 2, false))
	for _, c := range []struct{ flags, want string }{
		{"--map tensorsketch --kernel poly --features 64", "the map tensorsketch cannot be exported"},
		{"--learner kernel-ridge --kernel matern --nu 1.3", "matern with nu 1.3"},
		{"--learner kernel-ridge --kernel arccos", "the kernel arccos cannot be exported"},
		{"--map rff --features 64 --learner ridge --text town", "coded as a text"},
		{"--learner knn", "a search and no formula; the target onnx can hold them"},
		{"--learner residual", "residuals of principal components cannot be exported as linear or kernel machines; the target onnx can"},
	} {
		file, out := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "m.npz")
		ok(t, append([]string{"train", data, "-o", file}, strings.Fields(c.flags)...)...)
		if r := mercer(t, "export", file, "-o", out); r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", c.flags, r.code, r.stderr)
		}
		if found, _ := filepath.Glob(out + "*"); found != nil {
			t.Errorf("%s: left %v", c.flags, found)
		}
		if r := mercer(t, "export", file, "--target", "tar", "-o", out); r.code == 0 || !strings.Contains(r.stderr, "npz, safetensors") {
			t.Errorf("target tar: exit code %d: %s", r.code, r.stderr)
		}
	}
}
