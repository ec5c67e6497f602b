package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// exportCase is a model that is exported, of a table of classes (0: numbers, -1: several labels a row).
type exportCase struct {
	name    string
	classes int
	messy   bool
	flags   string
	proba   bool
}

// exportCases have all that columns can be, every task, scaling, calibration and kind of scores.
var exportCases = []exportCase{
	{"default", 3, false, "", false},
	{"sorf", 3, false, "--map sorf --features 512 --learner logistic", true},
	{"labels with odds", -1, false, "--task multilabel --label-separator ; --map rff --features 64 --learner logistic", true},
	{"threshold and platt", 2, false, "--map rff --features 64 --learner ridge --calibrate platt --threshold 0.3", true},
	{"default of numbers", 0, true, "--ordinal grade=S<M<L --date when,day", false},
	{"leaves", 3, true, "--learner rfm --leaf 300 --calibrate platt --ordinal grade=S<M<L --date when,day", true},
	{"means", 3, false, "--learner rfm --target-means all", false},
	{"means of messy columns", 2, true, "--learner rfm --target-means all --ordinal grade=S<M<L --date when,day", false},
	{"quantiles", 2, false, "--learner rfm --scale quantile --missing zero --calibrate isotonic", true},
	{"robust", 0, false, "--learner rfm --leaf 200 --scale robust --missing mean", false},
	{"fastfood", 2, true, "--map fastfood --kernel rbf --features 200 --learner svm --calibrate platt --date when,day", true},
	{"tensorsketch", 3, true, "--map tensorsketch --kernel poly --features 200 --learner svm --calibrate temperature --missing zero --date when,day", true},
	{"threshold", 2, false, "--learner rfm --threshold recall=0.95", true},
	{"rff", 2, false, "--map rff --features 256 --learner ridge --calibrate platt --scale l2", true},
	{"components", 0, false, "--map rff --features 128 --components 20 --learner ridge", false},
	{"votes", 4, false, "--learner kernel-svm --kernel rbf --multiclass ovo", false},
	{"online", 3, false, "--map rff --features 64 --learner online --loss logistic", true},
	{"metric", 3, false, "--learner kernel-ridge --kernel rbf --metric full --calibrate logit", true},
	{"nu", 0, false, "--learner kernel-ridge --kernel matern --nu 1.5 --scale l1", false},
	{"labels", -1, false, "--task multilabel --label-separator ; --map rff --features 64 --learner ridge", false},
	{"outliers", 0, false, "--task outliers --map rff --features 64 --learner one-class", false},
	{"projected", 2, true, "--map pk-rp --kernel poly --degree 2 --features 200 --sparsity 3 --learner logistic --date when,day", true},
	{"chain", 3, false, `--map {"map":"chain","steps":[{"map":"countsketch","features":5},{"map":"sorf","features":40}]} --learner ridge`, false},
	{"sum", 3, false, `--map {"map":"sum","weights":[1,2],"steps":[{"map":"nystrom","features":20},{"map":"rff","features":40}]} --learner svm`, false},
	{"variance", 0, false, "--map orf --features 64 --learner ridge --variance", false},
	{"trees of more classes than a table holds", 18, false, "--learner rfm --features 40 --leaf 100", false},
	{"threshold of scores", 2, false, "--learner ridge --map rff --features 64 --threshold score=-0.25", false},
	{"rff in a table", 2, false, "--map rff --features 3000 --learner ridge --calibrate platt --scale l2", true},
	{"two projections", 0, false, "--map d2pk-rp --kernel poly --degree 2 --coef0 0 --features 100 --learner ridge", false},
}

// table is a table of so many rows.
func (c exportCase) table(rows int) string {
	switch {
	case c.messy:
		return messyTable(rows, c.classes)
	case c.classes < 0:
		return labelledTable(rows)
	case strings.HasPrefix(c.name, "trees"):
		return steppedTable(rows)
	}
	return exportTable(rows, c.classes, true)
}

// steppedTable has 18 classes with sharp edges, which boosted trees see and smooth functions do not.
func steppedTable(rows int) string {
	r := rand.New(rand.NewPCG(7, uint64(rows)))
	var b strings.Builder
	b.WriteString("a,b,c,y\n")
	for range rows {
		u, v := r.Float64(), r.Float64()
		fmt.Fprintf(&b, "%.3f,%.3f,%.3f,class %d\n", u, v, r.Float64(), int(6*u)*3+int(3*v))
	}
	return b.String()
}

// trained are the model files of cases, by the name and the rows: several tests ask for the same ones.
var trained sync.Map

// model is the model file of a case, trained once on so many rows of the file data.
func (c exportCase) model(t *testing.T, data string, rows int) []byte {
	t.Helper()
	once, _ := trained.LoadOrStore(fmt.Sprint(c.name, " ", rows), sync.OnceValues(func() ([]byte, error) {
		file := data + ".mercer"
		if r := mercer(t, append([]string{"train", data, "-o", file}, strings.Fields(c.flags)...)...); r.code != 0 {
			return nil, errors.New(r.stderr)
		}
		return os.ReadFile(file)
	}))
	text, err := once.(func() ([]byte, error))()
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return text
}

// train trains on so many rows, and returns the beginning of the names of the model, NAME.mercer, of other rows, NAME.csv, and of what
// mercer predict says of them, NAME.told.
func (c exportCase) train(t *testing.T, dir string, rows, others int) (name string) {
	t.Helper()
	name = filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-"))
	data, more := write(t, dir, filepath.Base(name)+".a.csv", c.table(rows)), write(t, dir, filepath.Base(name)+".csv", c.table(others))
	write(t, dir, filepath.Base(name)+".mercer", string(c.model(t, data, rows)))
	ask := []string{"predict", name + ".mercer", more, "--scores", "--json", "-o", name + ".told"}
	if c.proba {
		ask = append(ask, "--proba")
	}
	ok(t, ask...)
	return name
}
