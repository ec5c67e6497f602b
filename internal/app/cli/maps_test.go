package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/app/render"
	"mercer/internal/engine/testenv"
	kernels "mercer/kernel"
)

// Every map that mercer maps lists trains, with each of its kernels; the model file predicts
// what eval judges; and transform writes the features.
func TestEveryMapTrains(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	train, test := digitFiles(t)
	few := testenv.Size(t, 250, 2000, "accuracies of all digits")
	for _, path := range []string{train, test} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		write(t, filepath.Dir(path), filepath.Base(path), strings.Join(lines[:min(few, len(lines))], ""))
	}
	var listed struct{ Maps []render.MapJSON }
	if err := json.Unmarshal([]byte(ok(t, "maps", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	people := ok(t, "maps")
	dir := t.TempDir()
	for _, m := range testenv.Few(t, listed.Maps, 8, "every map from the command line, with every kernel it has") {
		if !strings.Contains(people, m.Map) || !strings.Contains(people, m.About) {
			t.Errorf("mercer maps does not show %s", m.Map)
		}
		if m.Map == "precomputed" { // whose rows are values of a kernel, as many as there are rows
			continue
		}
		names := m.Kernels
		if len(names) == 0 {
			names = []string{"rbf", "linear"}
		}
		for _, kernel := range testenv.Few(t, names, 2, "every kernel that a map has") {
			name, model := m.Map+" "+kernel, filepath.Join(dir, "m.mercer")
			args := []string{"--kernel", kernel, "--map", m.Map, "--features", "256"}
			switch {
			case m.Map == "chain":
				args[3] = `{"map":"chain","steps":[{"map":"rff","features":32,"kernel":{"name":"rbf"}},` +
					`{"map":"orf","features":256,"kernel":{"name":"rbf"}}]}`
			case m.Map == "sum":
				args[3] = `{"map":"sum","weights":[1,2],"steps":[{"map":"rff","features":128,"kernel":{"name":"rbf","gamma":0.1}},` +
					`{"map":"orf","features":128,"kernel":{"name":"rbf"}}]}`
			case m.Map == feature.CKSVD: // whose landmarks are learned, which takes seconds for 256
				args[5] = "64"
			case (feature.Config{Map: m.Map, Kernel: kernels.Kernel{Name: kernel}}).Decides():
				args = []string{"--kernel", kernel, "--map", m.Map}
			}
			if strings.Contains(m.Map, "poly") {
				args = []string{"--kernel", kernel, "--map", m.Map, "--degree", "2"}
			} else if strings.Contains(m.Map, "d2pk") || strings.Contains(m.Map, "explicit") {
				args = append(args, "--degree", "2")
			}
			report := object(t, ok(t, slices.Concat([]string{"train", train, "-o", model,
				"--learner", "ridge", "--lambda", "0.01", "--json", "--test", test}, args)...))
			if a, _ := report["accuracy"].(float64); a < 0.6 {
				t.Errorf("%s: accuracy %g", name, a)
			}
			metrics := object(t, ok(t, "eval", model, test, "--json"))
			if metrics["accuracy"] != report["accuracy"] {
				t.Errorf("%s: the model file has accuracy %v, the model had %v", name, metrics["accuracy"], report["accuracy"])
			}
		}
	}
}

func TestMapInJSON(t *testing.T) {
	dir := t.TempDir()
	plain := write(t, dir, "plain.csv", "1,2,3,a\n2,3,4,b\n3,4,6,a\n4,4,4,b\n9,8,7,a\n")
	chain := `{"map":"sum","weights":[1,0.5],"steps":[{"map":"rff","features":8},` +
		`{"map":"orf","features":4,"kernel":{"name":"rbf","gamma":3}}]}`
	file := write(t, dir, "map.json", chain)
	var models [2][]byte
	for i, arg := range []string{chain, "@" + file} {
		m := filepath.Join(dir, "m.mercer")
		if out := ok(t, "train", plain, "-o", m, "--map", arg); !strings.Contains(out, "sum of rff (rbf, γ = ") ||
			!strings.Contains(out, "orf (rbf, γ = 3, 4 features, weight 0.5), 12 features") {
			t.Errorf("the summary does not show the map:\n%s", out)
		}
		models[i], _ = os.ReadFile(m)
	}
	if string(models[0]) != string(models[1]) {
		t.Error("a map from a file gives another model than the same on the command line")
	}
	for arg, want := range map[string]string{
		`{"map":"sum","steps":[`:                                             "not a map in JSON",
		`{"map":"sum","stops":[]}`:                                           `unknown field "stops"`,
		`{"map":"rff","features":8}`:                                         "name a single map by --map NAME",
		`{"map":"sum","steps":[{"map":"magic"}]}`:                            `"magic" is not a map`,
		`{"map":"sum","steps":[{"map":"rff"}]}`:                              "step 1: map rff: features is 0",
		"@" + filepath.Join(dir, "none.json"):                                "none.json",
		`{"map":"sum","steps":[{"map":"rff","features":8}],"weights":[1,2]}`: "2 weights for 1 steps",
	} {
		r := mercer(t, "train", plain, "-o", filepath.Join(dir, "n.mercer"), "--map", arg)
		if r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %q; want %q", arg, r.code, r.stderr, want)
		}
	}
}

// A map that is fitted to data is the same whether it is fitted to the rows that are mapped or, by
// --fit, to the same rows in another file.
func TestTransformFitsMapsToOtherData(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	train, test := digitFiles(t)
	dir := t.TempDir()
	features := func(args ...string) string {
		z := filepath.Join(dir, "z.npy")
		ok(t, append([]string{"transform", "-o", z, "--map", "kg-rp", "--pool", "64", "--features", "32"}, args...)...)
		text, err := os.ReadFile(z)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	copied, err := os.ReadFile(train)
	if err != nil {
		t.Fatal(err)
	}
	other := write(t, dir, "other.csv", string(copied))
	own := features(train)
	if features(train, "--fit", other) != own {
		t.Error("--fit with the same rows gives other features")
	}
	if features(test, "--fit", train) == features(test) {
		t.Error("--fit changes nothing")
	}
}

// The maps of exp-chi2 choose how many features they have like any Gaussian map, and rows of
// many dimensions are not shortened to signed ones.
func TestExpChi2NeedsNoFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	var narrow, wide strings.Builder
	for i := range 40 {
		fmt.Fprintf(&narrow, "%d,%d,%d,%s\n", i%5, 1+i%3, 9*(i%2), string(rune('a'+i%2)))
		fmt.Fprintf(&wide, "%d 1:%d %d:1 20000:%d\n", i%2, 1+i%4, 2+17*i, 1+9*(i%2))
	}
	table, sparse := write(t, dir, "t.csv", narrow.String()), write(t, dir, "w.svm", wide.String())
	for _, args := range [][]string{{table}, {table, "--map", "homogeneous"}, {table, "--map", "chebyshev"},
		{table, "--map", "elementary"}, {table, "--map", "fastfood"}, {sparse}} {
		report := object(t, ok(t, slices.Concat([]string{"train"}, args,
			[]string{"--kernel", "exp-chi2", "-o", filepath.Join(dir, "m"), "--json"})...))
		trained, _ := report["trained"].(map[string]any)
		mapped, _ := trained["feature"].(map[string]any)
		if d, _ := mapped["features"].(float64); d < 256 {
			t.Errorf("%v: %g features", args, d)
		}
	}
}

// c of the skewed kernels is --coef0, and is told wherever the kernel is.
func TestSkewedKernelsTakeC(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "h.csv", strings.Repeat("0.25,0,0.75,a\n0.5,0.125,0.375,b\n0,1,0,b\n", 40))
	m := filepath.Join(dir, "m")
	for _, c := range []struct{ flags, want string }{
		{"--kernel skewed-chi2", "skewed-chi2, c = 1"},
		{"--kernel skewed-chi2 --coef0 0.25", "skewed-chi2, c = 0.25"},
		{"--kernel skewed-intersection --coef0 0.03", "skewed-intersection, c = 0.03"},
	} {
		flags := append(strings.Fields(c.flags), "--features", "16")
		_, value, _ := strings.Cut(c.want, "c = ")
		for _, out := range []string{
			ok(t, append([]string{"train", data, "-o", m, "--learner", "ridge"}, flags...)...), ok(t, "inspect", m),
			ok(t, append([]string{"transform", data, "-o", filepath.Join(dir, "z.npy")}, flags...)...),
			ok(t, append([]string{"approx", data, "--rows", "10", "--seeds", "1", "--progress", "never"}, flags...)...),
		} {
			if !strings.Contains(out, c.want) {
				t.Errorf("%s: nothing says %q:\n%s", c.flags, c.want, out)
			}
		}
		v := object(t, ok(t, append([]string{"transform", data, "-o", filepath.Join(dir, "z.npy"), "--json"}, flags...)...))
		if got := v["feature"].(map[string]any)["kernel"].(map[string]any)["coef0"]; fmt.Sprint(got) != value {
			t.Errorf("%s: coef0 is %v in JSON", c.flags, got)
		}
	}
	search := []string{"tune", data, "-o", m, "--kernel", "skewed-chi2", "--features", "16",
		"--learner", "ridge", "--folds", "2", "--lambda", "0.1", "--progress", "never", "--coef0"}
	if out := ok(t, append(search, "0,0.01,0.1")...); !strings.Contains(out, "2 configurations") ||
		!strings.Contains(out, "coef0") || !strings.Contains(out, "0.01") {
		t.Errorf("tune: %s", out)
	}
	if r := mercer(t, append(search, "0")...); r.code == 0 ||
		!strings.Contains(r.stderr, "coef0 is 0; of skewed-chi2 it must be a positive number") {
		t.Errorf("tune of c = 0: %+v", r)
	}
	for _, wrong := range []string{"0", "-1"} {
		if r := mercer(t, "train", data, "-o", m, "--kernel", "skewed-chi2", "--coef0", wrong); r.code != 2 ||
			!strings.Contains(r.stderr, "coef0") {
			t.Errorf("--coef0 %s: %+v", wrong, r)
		}
	}
}
