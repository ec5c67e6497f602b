package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
)

// uneven is a table whose columns differ in range, so that train scales them.
func uneven(rows int, seed uint64) string {
	r := random.New(seed, "uneven")
	var b strings.Builder
	b.WriteString("a,b,c,colour,kind\n")
	for i := range rows {
		x, y := r.Normal(), r.Normal()
		fmt.Fprintf(&b, "%.5f,%.3f,%.6f,%s,%d\n", x, 1000*y+300, 0.01*r.Normal(), []string{"red", "blue"}[i%2], i%3)
	}
	return b.String()
}

// modelFeatures are the features that a model's own pipeline computes of data.
func modelFeatures(t *testing.T, path, data string) *matrix.Dense {
	t.Helper()
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var src dataset.Source
	if b := m.Bag(); b != nil {
		f, err := dataset.OpenBags(context.Background(), data, dataset.Options{Schema: &m.Info().Bag.Schema})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		src = b.Source(f)
	} else {
		f, err := dataset.Open(context.Background(), data, dataset.Options{Schema: &m.Info().Schema})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		src = f
	}
	in, d := m.Pipeline().Dims()
	all, err := dataset.Collect(context.Background(), src, in)
	if err != nil {
		t.Fatal(err)
	}
	z := matrix.NewDense(all.X.Len(), d)
	if err := m.Pipeline().Transform(z, all.X); err != nil {
		t.Fatal(err)
	}
	return z
}

// The features that transform --fit gives with the flags of a training, and those that transform gives of the
// model, are those that the model computes, bit for bit.
func TestTransformGivesTheFeaturesOfTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	fitted, judged := write(t, dir, "train.csv", uneven(120, 1)), write(t, dir, "test.csv", uneven(50, 2))
	bags := func(name string, seed uint64) string {
		r := random.New(seed, "bags")
		var b strings.Builder
		b.WriteString("g,x,y,label\n")
		for i := range 180 {
			fmt.Fprintf(&b, "g%03d,%.4f,%.2f,%d\n", i/6, r.Normal()+float64(i/6%2), 500*r.Normal(), i/6%2)
		}
		return write(t, dir, name, b.String())
	}
	bagsFitted, bagsJudged := bags("bags.csv", 3), bags("bagstest.csv", 4)
	for _, c := range []struct{ train, test, flags, scale string }{
		{fitted, judged, "", "standard"},
		{fitted, judged, "--features 128 --map orf --seed 3 --gamma median*4", "standard"},
		{fitted, judged, "--kernel matern --sigma 2 --map nystrom --features 40", "standard"},
		{fitted, judged, "--kernel poly --degree 2 --scale minmax --features 64", "minmax"},
		{fitted, judged, "--kernel linear", "standard"},
		{fitted, judged, "--scale none --sigma 300 --features 64", "none"},
		{bagsFitted, bagsJudged, "--group g --bag-features 32", ""},
		{bagsFitted, bagsJudged, "--group g --bag-features 32 --bag-scale none --norm none --scale none", "none"},
		{bagsFitted, bagsJudged, "--group g --bag-kernel linear --kernel rbf --features 64", ""},
		{bagsFitted, bagsJudged, "--group g --pooling full", ""},
	} {
		m, z := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "z.npy")
		flags := strings.Fields(c.flags)
		ok(t, append([]string{"train", c.train, "-o", m, "--learner", "ridge", "--lambda", "0.1"}, flags...)...)
		want := modelFeatures(t, m, c.test)
		for _, args := range [][]string{append([]string{c.test, "--fit", c.train}, flags...), {m, c.test}} {
			v := object(t, ok(t, append(append([]string{"transform"}, args...), "-o", z, "--json")...))
			got, _ := rowsOf(t, z, want.Cols, dataset.Options{Label: "none"})
			if got.Rows != want.Rows || !slices.Equal(got.Data, want.Data) {
				t.Errorf("%s: transform %v gives other features than the model", c.flags, args)
			}
			if scale, _ := v["scale"].(string); scale == "" || c.scale != "" && scale != c.scale {
				t.Errorf("%s: the scaling is said to be %q, want %q", c.flags, scale, c.scale)
			}
			if _, said := v["bag_scale"]; said != strings.Contains(c.flags, "--group") {
				t.Errorf("%s: bag_scale %v", c.flags, v["bag_scale"])
			}
		}
	}
}

func TestTransformOfAModel(t *testing.T) {
	dir := t.TempDir()
	data, m, out := write(t, dir, "train.csv", uneven(90, 1)), filepath.Join(dir, "m.mercer"), filepath.Join(dir, "z.csv")
	ok(t, "train", data, "-o", m, "--learner", "ridge", "--lambda", "0.1", "--features", "32")
	text := ok(t, "transform", m, data, "-o", out)
	for _, want := range []string{"model     " + m, "scaling   standard (", "kernel    rbf, γ = ", "90 rows × 32 features, float32 (csv)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// A table trains again, with its labels.
	if table, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(table), "z0,z1,") ||
		!strings.Contains(strings.SplitN(string(table), "\n", 2)[0], ",z31,label") {
		t.Errorf("%.80q, %v", table, err)
	}
	if v := object(t, ok(t, "train", out, "-o", filepath.Join(dir, "again"), "--kernel", "linear", "--scale", "none",
		"--learner", "ridge", "--json", "--test", out)); v["n"] != 90.0 {
		t.Errorf("%v rows", v["n"])
	}
	exact := filepath.Join(dir, "exact.mercer")
	ok(t, "train", data, "-o", exact, "--learner", "kernel-ridge", "--lambda", "0.1")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{data + " " + m, 2, m + " is a model and " + data + " is not; the model comes first"},
		{m, 2, m + " is a model; say of which data"},
		{m + " " + data + " --features 8 --scale none", 2, "--features, --scale cannot be given with a model"},
		{exact + " " + data, 1, "takes the kernel itself and has no features"},
		{m + " " + filepath.Join(dir, "none.csv"), 1, "none.csv"},
		{data + " --features 8 -o z.xlsx", 2, "z.xlsx: the ending .xlsx is of no format that is written: .npy (or none)"},
		{data + " --features 8 -o z.csv.gz", 2, "the ending .gz is of no format"},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "-o ") {
			args = append(args, "-o", filepath.Join(dir, "no.npy"))
		}
		if r := mercer(t, append([]string{"transform"}, args...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v, want %q", c.args, r, c.want)
		}
	}
}

// All four commands scale by the same rule, and say so.
func TestOneDefaultScaling(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "data.csv", uneven(80, 5))
	for _, kern := range []string{"rbf", "linear", "poly", "exp"} {
		said := map[string]string{}
		for _, c := range []struct{ name, flags string }{
			{"train", "-o " + filepath.Join(dir, "m") + " --learner ridge --lambda 1"},
			{"transform", "-o " + filepath.Join(dir, "z.npy")},
			{"kernel", "-o " + filepath.Join(dir, "k.npy")},
			{"approx", "--rows 20 --seeds 1"},
		} {
			args := append([]string{c.name, data, "--kernel", kern}, strings.Fields(c.flags)...)
			v := object(t, ok(t, append(args, "--json")...))
			if c.name == "train" {
				v = v["trained"].(map[string]any)
				v["why"] = v["training"].(map[string]any)["why"]
			}
			scale, _ := v["scale"].(string)
			why, _ := v["why"].(map[string]any)["scale"].(string)
			if said[scale+why] = c.name; scale == "" || why == "" {
				t.Errorf("%s --kernel %s --json says scale %q, because of %q", c.name, kern, scale, why)
			}
			if text := ok(t, args...); !strings.Contains(text, scale+" ("+why+")") {
				t.Errorf("%s --kernel %s does not say %s (%s):\n%s", c.name, kern, scale, why, text)
			}
		}
		if len(said) != 1 {
			t.Errorf("--kernel %s: commands scale differently: %v", kern, said)
		}
	}
}

// A Gram matrix is that of the kernel, the scaling and the γ that a learner of the kernel itself trains with.
func TestKernelIsThatOfTheTraining(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "data.csv", uneven(80, 5)), filepath.Join(dir, "m.mercer")
	for _, flags := range []string{"", "--kernel matern --sigma 3", "--kernel laplacian --gamma median*4",
		"--kernel poly --degree 2 --gamma scale"} {
		ok(t, append([]string{"train", data, "-o", m, "--learner", "kernel-ridge", "--lambda", "1"}, strings.Fields(flags)...)...)
		loaded, err := model.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		v := object(t, ok(t, append([]string{"kernel", data, "-o", filepath.Join(dir, "k.npy"), "--json"}, strings.Fields(flags)...)...))
		if got := v["kernel"].(map[string]any); got["gamma"] != loaded.Pipeline().Kernel().Gamma || v["scale"] != loaded.Info().Scale {
			t.Errorf("%s: kernel %v on rows scaled by %v, the model has %v and %s", flags, got, v["scale"],
				loaded.Pipeline().Kernel(), loaded.Info().Scale)
		}
	}
	if text := ok(t, "kernel", data, "-o", filepath.Join(dir, "k.npy"), "--kernel", "matern",
		"--sigma", "3"); !strings.Contains(text, "length scale σ = 3 (σ = 3)") {
		t.Errorf("matern's length scale is not said:\n%s", text)
	}
}
