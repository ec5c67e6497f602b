package cli

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
)

// descriptors is a table of a histogram of counts, which tells classes by its shape and not by its size, two numbers of a
// scale of their own, and eight of noise.
func descriptors(n int, seed uint64) string {
	r := random.New(seed, "descriptors")
	var text strings.Builder
	text.WriteString("hue_0,hue_1,hue_2,hue_3,size_a,size_b")
	for j := range 8 {
		fmt.Fprintf(&text, ",z%d", j)
	}
	text.WriteString(",label\n")
	for range n {
		class, total := r.Intn(2), math.Exp(2*r.Normal())*100
		for j := range 4 {
			share := 1 + 0.8*float64(2*class-1)*float64(2*(j%2)-1) + 0.3*r.Normal()
			fmt.Fprintf(&text, "%.0f,", total*max(share, 0))
		}
		fmt.Fprintf(&text, "%.5g,%.5g", 1e4*(r.Normal()+0.5*float64(class)), 1e-3*r.Normal())
		for range 8 {
			fmt.Fprintf(&text, ",%.4g", r.Normal())
		}
		fmt.Fprintf(&text, ",%c\n", 'a'+class)
	}
	return text.String()
}

// featureOf is the map of a training that --json prints.
func featureOf(t *testing.T, out string) map[string]any {
	t.Helper()
	return featureOfModel(object(t, out))
}

func featureOfModel(out map[string]any) map[string]any {
	return out["trained"].(map[string]any)["feature"].(map[string]any)
}

func TestKernelsOfGroups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, test := write(t, dir, "train.csv", descriptors(600, 1)), write(t, dir, "test.csv", descriptors(1000, 2))
	m := filepath.Join(dir, "m.mercer")
	accuracy := func(flags ...string) (float64, string) {
		out := ok(t, append([]string{"train", data, "-o", m, "--test", test, "--learner", "ridge", "--features", "600", "--json"}, flags...)...)
		return object(t, out)["accuracy"].(float64), out
	}
	one, _ := accuracy()
	sum := `{"map":"sum","steps":[{"columns":"hue_*","scale":"l1","kernel":{"name":"chi2"}},` +
		`{"columns":"size_a..size_b","kernel":{"name":"rbf"},"map":"rff"},{"columns":"6-13","scale":"minmax","features":100}]}`
	equal, out := accuracy("--map", sum)
	chosen, weighed := accuracy("--map", sum, "--group-weights", "search")
	aligned, _ := accuracy("--map", sum, "--group-weights", "alignment")
	if equal < one+0.1 || chosen < equal-0.005 || aligned < one+0.1 || chosen < 0.95 {
		t.Errorf("one kernel %.3f, a sum %.3f, with searched weights %.3f, aligned %.3f", one, equal, chosen, aligned)
	}
	f := featureOf(t, out)
	steps := f["steps"].([]any)
	for i, want := range []string{
		"map[0:[0 4]] l1 chi2 homogeneous", "map[0:[4 6]] standard rbf rff", "map[0:[6 14]] minmax rbf orf",
	} {
		s := steps[i].(map[string]any)
		dims := map[int]any{}
		for k, r := range s["dims"].([]any) {
			dims[k] = r
		}
		if got := fmt.Sprint(dims, " ", s["scale"], " ", s["kernel"].(map[string]any)["name"], " ", s["map"]); got != want {
			t.Errorf("step %d: %s, want %s", i+1, got, want)
		}
	}
	total := 0.0
	for _, s := range steps {
		total += s.(map[string]any)["features"].(float64)
	}
	if f["features"].(float64) < 500 || steps[2].(map[string]any)["features"].(float64) != 100 || total == 0 {
		t.Errorf("features %v", f)
	}
	w := featureOf(t, weighed)["weights"].([]any)
	if w[0].(float64) < 3*w[2].(float64) {
		t.Errorf("weights %v", w)
	}
	if out := ok(t, "inspect", m); !strings.Contains(out, "columns hue_*, weight ") || !strings.Contains(out, "by alignment with the labels") {
		t.Error(out)
	}
	// γ is that of the columns alone.
	_, out = accuracy("--map", `{"map":"sum","steps":[{"columns":"hue_*","map":"rff"},{"columns":"size*","map":"rff","features":100}]}`)
	gamma := featureOf(t, out)["steps"].([]any)[1].(map[string]any)["kernel"].(map[string]any)["gamma"]
	_, out = accuracy("--only", "size_a,size_b", "--map", "rff")
	if own := featureOf(t, out)["kernel"].(map[string]any)["gamma"]; gamma != own {
		t.Errorf("γ of the group is %v, of its columns alone %v", gamma, own)
	}
}

func TestGroupsByNames(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "train.csv", descriptors(300, 1))
	m := filepath.Join(dir, "m.mercer")
	out := ok(t, "train", data, "-o", m, "--learner", "svm", "--group-kernels", "auto", "--group-weights", "search", "--features", "300", "--json")
	f := featureOf(t, out)
	var columns []string
	for _, s := range f["steps"].([]any) {
		columns = append(columns, s.(map[string]any)["columns"].(string))
	}
	if strings.Join(columns, " ") != "hue* size* z*" || f["features"].(float64) != 300 {
		t.Errorf("groups %v of %v features", columns, f["features"])
	}
	ok(t, "train", data, "-o", m, "--learner", "logistic", "--kernel", "linear", "--group-kernels", "hue*;size_a,size_b;z*", "--group-weights", "alignment")
	ok(t, "transform", data, "-o", filepath.Join(dir, "z.npy"), "--group-kernels", "0-3;4-13")
	for want, flags := range map[string][]string{
		`no input column "heu*" for a group; there are "hue_0"`: {"--group-kernels", "heu*;z*"},
		"takes one kernel of all columns":                       {"--learner", "kernel-svm", "--group-kernels", "auto"},
		"are those of the kernels of a sum":                     {"--group-weights", "search"},
		`"guess" is not known; known are alignment, search`:     {"--group-kernels", "auto", "--group-weights", "guess"},
		"All columns have it by --scale quantile":               {"--map", `{"map":"sum","steps":[{"columns":"hue*","scale":"quantile"},{"columns":"z*"}]}`},
		"--scale quantile is of all columns":                    {"--scale", "quantile", "--map", `{"map":"sum","steps":[{"columns":"hue*","scale":"l1"},{"columns":"z*"}]}`},
		"is in two groups that scale it differently":            {"--map", `{"map":"sum","steps":[{"columns":"0-5","scale":"standard"},{"columns":"5-9","scale":"minmax"}]}`},
		"-3": {"--map", `{"map":"sum","steps":[{"columns":"z*","scale":"none","kernel":{"name":"chi2"}},{"columns":"hue*"}]}`},
	} {
		if err := mercer(t, append([]string{"train", data, "-o", m}, flags...)...).stderr; !strings.Contains(err, want) && want != "-3" {
			t.Errorf("%s: want %q", err, want)
		} else if want == "-3" && !strings.Contains(err, `column "z`) {
			t.Errorf("%s: the column is not named", err)
		}
	}
}

// Features of groups, each with its own scaling and γ, have the products that NumPy finds; so do features of bags of such rows.
func TestKernelsOfGroupsInNumPy(t *testing.T) {
	python := testenv.Program(t, "python3")
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		testenv.Missing(t, "python3 has no numpy")
	}
	dir := t.TempDir()
	var table strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(descriptors(120, 5)), "\n") {
		if of := fmt.Sprint((i - 1) / 4); i > 0 {
			line = of + "," + strings.TrimRight(line, "ab") + string("ab"[(i-1)/4%2]) // one label for a bag
		} else {
			line = "bag," + line
		}
		table.WriteString(line + "\n")
	}
	data := write(t, dir, "bags.csv", table.String())
	sum := func(scales [3]string, first string) string {
		text := `{"map":"sum","weights":[2,0.5,1],"steps":[`
		for i, step := range []string{`"columns":"hue*","kernel":` + first, `"columns":"size*","kernel":{"name":"rbf","gamma":0.3}`,
			`"columns":"z*","kernel":{"name":"laplacian","gamma":0.7}`} {
			text += fmt.Sprintf(`%s{%s,"scale":"%s","map":"nystrom","features":120}`, strings.Repeat(",", min(i, 1)), step, scales[i])
		}
		return text + "]}"
	}
	own := sum([3]string{"l1", "standard", "minmax"}, `{"name":"chi2"}`)
	var checks []map[string]string
	for _, c := range []struct {
		table string
		flags []string
	}{
		{"rows", []string{"--ignore", "bag", "--map", own}},
		{"quantile", []string{"--ignore", "bag", "--scale", "quantile", "--map", sum([3]string{"quantile", "quantile", "quantile"}, `{"name":"rbf","gamma":0.3}`)}},
		{"bag", []string{"--group", "bag", "--bag-map", own, "--norm", "none", "--scale", "none"}},
	} {
		z := filepath.Join(dir, c.table+".npy")
		ok(t, append([]string{"transform", data, "-o", z}, c.flags...)...)
		checks = append(checks, map[string]string{"name": c.table, "data": data, "features": z, "table": c.table})
	}
	runChecks(t, checks, python, "-B", "testdata/groups_check.py")

	m := filepath.Join(dir, "m.mercer")
	flags := []string{data, "-o", m, "--group", "bag", "--learner", "ridge", "--bag-map", own}
	ok(t, append([]string{"tune", "--lambda", "0.1,1"}, flags...)...)
	tuned := ok(t, "predict", m, data, "--scores")
	out := object(t, ok(t, "tune", data, "-o", filepath.Join(dir, "weights.mercer"), "--ignore", "bag", "--group-kernels", "hue*;z*", "--group-weights", "search", "--learner", "ridge", "--lambda", "1", "--gamma",
		"median", "--folds", "2", "--json"))
	if c := out["search"].(map[string]any)["candidates"].([]any); len(c) != 1 || len(c[0].(map[string]any)["scores"].([]any)) != 2 || featureOfModel(out)["weights"] == nil {
		t.Error(c)
	}
	lambda := "1"
	if strings.Contains(ok(t, "inspect", m), "λ = 0.1 ") {
		lambda = "0.1"
	}
	if ok(t, append([]string{"train", "--lambda", lambda}, flags...)...); ok(t, "predict", m, data, "--scores") != tuned {
		t.Error("tune and train have other models")
	}
	for want, flag := range map[string][]string{
		"groups of the members' columns are steps of a sum as --bag-map": {"--group-kernels", "hue*;z*"},
		`no input column "hew*" for a group`:                             {"--bag-map", `{"map":"sum","steps":[{"columns":"hew*"},{"columns":"z*"}]}`},
	} {
		if r := mercer(t, append([]string{"train", data, "-o", m, "--group", "bag", "--learner", "ridge"}, flag...)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %s, want %q", flag, r.stderr, want)
		}
	}
}
