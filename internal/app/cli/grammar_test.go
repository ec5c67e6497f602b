package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/solve/pipeline"
)

// grammars are all ways to give a flag that is not a plain word or number. Those that only some commands
// take name these.
func grammars(t *testing.T, dir string) []struct{ flag, values, only string } {
	chain := write(t, dir, "chain.json", `{"map":"chain","steps":[{"map":"countsketch","features":8},{"map":"rff","features":16}]}`)
	landmarks := write(t, dir, "landmarks.csv", "0.1,0.2,0.3\n0.4,0.1,0.9\n0.5,0.5,0.5\n0.2,0.9,0.1\n")
	return []struct{ flag, values, only string }{
		// Values are separated by blanks.
		{"gamma", "0.5 1e-2 median scale median*4 scale*0.25 median*1e-1", ""},
		{"gamma", "median*0.5,median*2,1 median*log:0.5:2:3 lin:1:3:2", "tune"},
		{"bag-gamma", "0.5 median scale median*4 scale*2", ""},
		{"sigma", "2 0.5 1e1", ""},
		{"sigma", "1,2 log:0.5:2:3", "tune"},
		{"lambda", "0.1 1e-3 trace*0.01 auto 0", "train curve"},
		{"lambda", "0.1 1e-3", "approx"},
		{"lambda", "0.1 1e-3 trace*0.01 0.1,1 trace*log:1e-4:1:3 auto", "tune"},
		{"memory", "512MB 1GB 1GiB 2g 1073741824 1.5GB", ""},
		{"features", "16 32", "train transform curve tune"},
		{"features", "16 16,32 8:32 8:32,64", "approx"},
		{"features", "16,32 log:8:32:3", "tune"},
		{"at-rows", "10,20,40 10:40", ""},
		{"at-features", "8,16 8:16", ""},
		{"scale", strings.Join(pipeline.ScaleNames, " "), ""},
		{"scale", "none,standard", "tune"},
		{"bag-scale", strings.Join(pipeline.ScaleNames, " "), ""},
		{"map", "rff orf @" + chain + ` {"map":"sum","weights":[1,2],"steps":[{"map":"rff","features":8},{"map":"orf","features":8}]}`, ""},
		{"map", "rff,orf", "approx tune"},
		{"bag-map", "rff @" + chain, ""},
		{"landmarks", "uniform kmeans kmedoid leverage rpcholesky " + landmarks, ""},
		{"landmarks", "uniform,kmeans", "tune"},
		{"kernel", "rbf matern laplacian poly exp", ""},
		{"kernel", "rbf,laplacian", "tune"},
		{"degree", "2 3", ""},
		{"label", "-1 label 3", ""},
		{"seed", "1 12345678901234567890", ""},
		{"threads", "1 2 0", ""},
		{"progress", "auto never", ""},
	}
}

// Every grammar of a flag is taken by every command that has the flag.
func TestEveryGrammarOfEveryFlag(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs some hundred commands")
	}
	dir := t.TempDir()
	var rows, bags strings.Builder
	rows.WriteString("a,b,c,label\n")
	bags.WriteString("g,a,b,c,label\n")
	for i := range 60 {
		x, y, z := float64(i%7)/7, float64(i%5)/5, float64(i*i%11)/11
		fmt.Fprintf(&rows, "%.3f,%.3f,%.3f,%d\n", x, y, z, i%2)
		fmt.Fprintf(&bags, "g%02d,%.3f,%.3f,%.3f,%d\n", i/3, x, y, z, i/3%2)
	}
	data, pooled := write(t, dir, "data.csv", rows.String()), write(t, dir, "bags.csv", bags.String())
	m := filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "-o", m, "--features", "8", "--learner", "ridge", "--lambda", "1")
	quick := map[string]string{
		"train":     "train DATA -o " + filepath.Join(dir, "out.mercer") + " --learner ridge",
		"transform": "transform DATA -o " + filepath.Join(dir, "z.npy"),
		"kernel":    "kernel DATA -o " + filepath.Join(dir, "k.npy"),
		"approx":    "approx DATA --rows 20 --seeds 1",
		"curve":     "curve DATA --seeds 1 --rows 60 --learner ridge --progress never",
		"tune":      "tune DATA -o " + filepath.Join(dir, "t.mercer") + " --folds 2 --learner ridge --progress never",
		"predict":   "predict " + m + " DATA",
		"eval":      "eval " + m + " DATA",
		"inspect":   "inspect DATA",
		"compare":   "compare DATA " + m + " " + m + " --resamples 100",
	}
	ran := map[string]int{}
	for _, g := range grammars(t, dir) {
		for _, c := range newRoot().Commands() {
			line, measured := quick[c.Name()]
			flag := c.Flags().Lookup(g.flag)
			if flag == nil && g.flag == "threads" {
				flag = c.Root().PersistentFlags().Lookup("threads")
			}
			if !measured || flag == nil || g.only != "" && !contains(g.only, c.Name()) || c.Name() == "compare" && g.flag == "memory" {
				continue // memory is for compare --config alone
			}
			for value := range strings.FieldsSeq(g.values) {
				args := strings.Fields(strings.ReplaceAll(line, "DATA", data))
				switch {
				case strings.HasPrefix(g.flag, "bag-"):
					args = append(strings.Fields(strings.ReplaceAll(line, "DATA", pooled)), "--group", "g")
					if g.flag == "bag-map" && value == "rff" {
						args = append(args, "--bag-features", "8")
					}
				case g.flag == "landmarks":
					args = append(args, "--map", "nystrom")
				case g.flag == "degree":
					args = append(args, "--kernel", "poly")
				}
				if fitted := c.Flags().Lookup("features"); fitted != nil && g.flag != "features" && g.flag != "map" &&
					g.flag != "landmarks" && !strings.HasPrefix(g.flag, "bag-") {
					args = append(args, "--features", "8")
				}
				if c.Name() == "tune" && g.flag != "gamma" && g.flag != "sigma" && !strings.HasPrefix(g.flag, "bag-") {
					args = append(args, "--gamma", "1")
				}
				if c.Name() == "tune" && g.flag != "lambda" {
					args = append(args, "--lambda", "1")
				}
				if c.Name() == "curve" && g.flag != "at-rows" {
					args = append(args, "--at-rows", "20")
				}
				if c.Name() == "train" && g.flag != "lambda" {
					args = append(args, "--lambda", "1")
				}
				args = append(args, "--"+g.flag, value)
				if r := mercer(t, args...); r.code != 0 {
					t.Errorf("mercer %s: exit code %d: %s", strings.Join(args, " "), r.code, r.stderr)
				}
				ran[c.Name()]++
			}
		}
	}
	// Configurations of compare take the flags of train.
	landmarks := filepath.Join(dir, "landmarks.csv")
	ok(t, "compare", data, "--folds", "2", "--progress", "never",
		"--config", "--map nystrom --landmarks "+landmarks+" --learner ridge --lambda trace*0.01",
		"--config", "--gamma median*4 --features 8 --learner ridge --lambda 1")
	for name := range quick {
		if ran[name] < 4 {
			t.Errorf("mercer %s was run %d times", name, ran[name])
		}
	}
}

// What is no such value is refused by every command alike, before any data are read.
func TestWrongGrammarsAreRefusedAlike(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"gamma", "media", `gamma "media" is neither a positive number nor median nor scale`},
		{"gamma", "-1", "is neither a positive number"},
		{"gamma", "4*median", "is neither a positive number"},
		{"sigma", "-1", "sigma -1 is not a positive number"},
		{"sigma", "0", "--sigma 0: σ of rbf is a positive number"},
		{"scale", "big", `scale "big" is not known; known are auto, none, standard`},
		{"kernel", "magic", "magic"},
	} {
		for _, line := range []string{"train no.csv -o m", "transform no.csv -o z", "kernel no.csv -o k", "approx no.csv", "curve no.csv"} {
			r := mercer(t, append(strings.Fields(line), "--"+c.flag, c.value)...)
			if r.code != 2 || !strings.Contains(r.stderr, c.want) {
				t.Errorf("%s --%s %s: %+v, want %q", line, c.flag, c.value, r, c.want)
			}
		}
	}
}
