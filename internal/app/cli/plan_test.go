package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
	"mercer/train"
)

// towns is a table of which a column of words decides much.
func towns(rows int) string {
	var b strings.Builder
	b.WriteString("size,age,town,price\n")
	for i := range rows {
		size, age := float64(i*i%97)/10, float64(i*7%31)
		fmt.Fprintf(&b, "%.1f,%g,%s,%.3f\n", size, age, []string{"Ulm", "Bonn", "Kiel", "Trier"}[i*i%11%4], size*float64(1+i*i%11%4)+age/10)
	}
	return b.String()
}

// planOf is what train --plan says.
func planOf(t *testing.T, args ...string) (p train.Plan) {
	t.Helper()
	if err := json.Unmarshal([]byte(ok(t, append([]string{"train", "--plan", "--json"}, args...)...)), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// A plan says what the training does: the same learner, scaling and map, for every way in which one is asked for.
func TestPlansAreWhatIsTrained(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data, m := write(t, dir, "towns.csv", towns(300)), filepath.Join(dir, "m.mercer")
	for _, flags := range []string{"", "--metric diagonal --metric-rows 200 --features 32", "--learner rfm --kernel rbf --features 30 --holdout 0.2", "--quick",
		"--task classify --label town --learner logistic --c 1", "--kernel poly --degree 2 --components 5 --learner ridge", "--leaf 200 --kernel rbf --features 30"} {
		args := append([]string{data}, strings.Fields(flags)...)
		p := planOf(t, args...)
		ok(t, append([]string{"train", "-o", m}, args...)...)
		v := object(t, ok(t, "inspect", m, "--json"))
		if got := v["model"].(map[string]any)["training"].(map[string]any)["learner"]; got != p.Config.LearnerName() {
			t.Errorf("%q: the plan has the learner %s, the model %s", flags, p.Config.LearnerName(), got)
		}
		if said := ok(t, append([]string{"train", "--plan"}, args...)...); !strings.Contains(said, "learner   "+p.Config.LearnerName()) || !strings.Contains(said, "survey    read") {
			t.Errorf("%q: %s", flags, said)
		}
		if strings.Contains(flags, "holdout") && p.Rows != 240 && p.Rows < 230 {
			t.Errorf("%d rows are planned for where a fifth is held out", p.Rows)
		}
	}
	for _, wrong := range []string{"--plan --estimate", "--plan --auto", "--plan --group town", "--plan --survey-rows 50 --online"} {
		if r := mercer(t, append([]string{"train", data}, strings.Fields(wrong)...)...); r.code != 2 || !strings.Contains(r.stderr, "--plan") {
			t.Errorf("%s: exit code %d: %s", wrong, r.code, r.stderr)
		}
	}
}

// train, --plan, --estimate, tune, compare and curve agree on what the default is.
func TestOneDefaultForAllCommands(t *testing.T) {
	testenv.Long(t, "--estimate, tune, compare and curve take the default that train --plan says, on a table and on few rows")
	dir := t.TempDir()
	many, few, m := write(t, dir, "many.csv", towns(1000)), write(t, dir, "few.csv", towns(45)), filepath.Join(dir, "m.mercer")
	for _, data := range []string{many, few} {
		want := planOf(t, data).Config.LearnerName()
		if (want == train.Chooser().Name()) != (data == many) {
			t.Fatalf("%s: the default is %s", data, want)
		}
		if v := object(t, ok(t, "train", data, "--estimate", "--json")); v["plan"].(map[string]any)["config"].(map[string]any)["learner"] != want {
			t.Errorf("%s: --estimate is about %v, not %s", data, v["plan"], want)
		}
		compared := ok(t, "compare", data, "--folds", "2", "--config", "--seed 1", "--config", "--learner "+want, "--progress", "never", "--json")
		var c struct{ Configs []struct{ Mean float64 } }
		if err := json.Unmarshal([]byte(compared), &c); err != nil || len(c.Configs) != 2 || c.Configs[0].Mean == 0 || c.Configs[0].Mean != c.Configs[1].Mean {
			t.Errorf("%s: compare has for the default and %s: %+v, %v", data, want, c, err)
		}
	}
	found := ok(t, "tune", many, "-o", m, "--folds", "2", "--progress", "never")
	if !strings.Contains(found, train.Chooser().Name()) || !strings.Contains(found, "ridge") || strings.Contains(found, "left out") {
		t.Errorf("tune of a table says\n%s", found)
	}
	if found := ok(t, "tune", few, "-o", m, "--folds", "2", "--progress", "never"); strings.Contains(found, train.Chooser().Name()+" ") {
		t.Errorf("tune of few rows says\n%s", found)
	}
	curve := object(t, ok(t, "curve", many, "--seeds", "1", "--at-rows", "200,500", "--json", "--progress", "never"))
	if got := curve["config"].(map[string]any)["learner"]; got != train.Chooser().Name() {
		t.Errorf("the curve is of %v", got)
	}
}

// Where the learner chooses kernels itself there is nothing to race.
func TestAutoOfALearnerThatChoosesItself(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data, m := write(t, dir, "towns.csv", towns(300)), filepath.Join(dir, "m.mercer")
	for _, flags := range []string{"--leaf 200", "--learner rfm"} {
		out := ok(t, append([]string{"train", data, "-o", m, "--auto", "--kernel", "rbf", "--features", "30", "--members", "1"}, strings.Fields(flags)...)...)
		if !strings.Contains(out, "there is nothing to race") || !strings.Contains(out, "learner   rfm") {
			t.Errorf("%s: %s", flags, out)
		}
	}
}

// Mean targets of words are for held-out rows and folds as well, of columns of few words and of so many that rows have hashes of them.
func TestHeldOutRowsHaveMeans(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	m := filepath.Join(dir, "m.mercer")
	var names strings.Builder
	names.WriteString("size,name,price\n")
	for i := range 1500 {
		name := i * 7 % 300
		fmt.Fprintf(&names, "%g,n%d,%.3f\n", float64(i%17), name, float64(name%7)+float64(i%17)/10)
	}
	flags := []string{"--learner", "rfm", "--kernel", "laplacian", "--scale", "standard", "--features", "20", "--members", "1", "--leaf", "4000", "--target-means", "categories"}
	for _, data := range []string{write(t, dir, "towns.csv", towns(300)), write(t, dir, "names.csv", names.String())} {
		r := mercer(t, append([]string{"train", data, "-o", m, "--holdout", "0.3", "--json"}, flags...)...) // a note says what hashes are
		if r.code != 0 {
			t.Fatalf("%s: %s", data, r.stderr)
		}
		if r2 := object(t, r.stdout)["r2"].(float64); !(r2 > 0.6) {
			t.Errorf("%s: R² of held-out rows is %g", data, r2)
		}
		out := ok(t, "compare", data, "--folds", "2", "--progress", "never", "--metric", "r2", "--json", "--config", strings.Join(flags, " "), "--config", "--learner ridge --kernel linear")
		var c struct{ Configs []struct{ Mean float64 } }
		if err := json.Unmarshal([]byte(out), &c); err != nil || len(c.Configs) != 2 || !(c.Configs[0].Mean > 0.6) {
			t.Errorf("%s: compare says %s, %v", data, out, err)
		}
	}
}
