package mercer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/train"
)

func on(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// statisticsOf are those of a ridge regression on data, as they come back from a file.
func statisticsOf(t *testing.T, data Data) (stats *train.Statistics) {
	t.Helper()
	cfg := Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.Ridge{Lambda: 1}}}
	cfg.Training.Keep = func(s *train.Statistics) (err error) {
		path := filepath.Join(t.TempDir(), "stats")
		if err = s.Save(path); err == nil {
			stats, err = train.LoadStatistics(path)
		}
		return err
	}
	trained(t, data, cfg)
	return stats
}

// Test data that the model could not read end the training before it begins.
func TestTestDataAreLookedAtFirst(t *testing.T) {
	rows := strings.Repeat("1 1:1 2:0.5\n2 1:0.3 2:-1\n", 40)
	trained := false
	cfg := Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.Ridge{}},
		Test: File(on(t, "wide.svm", "1 1:1\n2 7:1\n"), Options{})}
	cfg.Training.Progress = func(stage string, _ int, _ float64) { trained = trained || stage == "train" || stage == "solve" }
	_, err := Train(context.Background(), File(on(t, "rows.svm", rows), Options{}), cfg)
	var wider *WiderError
	if !errors.As(err, &wider) || wider.Dim != 7 || wider.Trained != 2 || trained {
		t.Errorf("%v, trained %v", err, trained)
	}
	cfg.Test = File(on(t, "other.csv", "a,b\n1,2\n"), Options{})
	if _, err := Train(context.Background(), File(on(t, "t.csv", tableText(50)), Options{}), cfg); err == nil || trained {
		t.Errorf("%v, trained %v", err, trained)
	}
}

// A test that fails does not spoil the model.
func TestAFailedTestLeavesTheModel(t *testing.T) {
	text := tableText(50)
	broken := strings.Replace(tableText(3), "small", "medium", 1)
	r, err := Train(context.Background(), file(text, Options{}),
		Config{Config: train.Config{Map: train.Map{Features: 16}}, Test: file(broken+"x,y,z,w\n", Options{})})
	if err == nil || r == nil || r.Model == nil || r.Test != nil {
		t.Errorf("%v, %+v", err, r)
	}
}

// Statistics of some rows with others added, and a learner that goes on, are trainings on all rows.
func TestRowsThatComeInParts(t *testing.T) {
	ctx := context.Background()
	lines := strings.SplitAfter(tableText(400), "\n")
	first, second := strings.Join(lines[:201], ""), lines[0]+strings.Join(lines[201:], "")
	stats := statisticsOf(t, file(first, Options{}))
	more := Config{Config: train.Config{Learner: train.Named{Options: map[string]any{"lambda": 1}}}, Statistics: stats,
		Test: file(second, Options{})}
	r, err := Train(ctx, file(second, Options{}), more)
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.Info().Training.Rows != 400 || r.Test.N != 200 {
		t.Errorf("%d rows, %d tested", r.Model.Info().Training.Rows, r.Test.N)
	}
	online := Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.SGD{}}}
	if r, err = Train(ctx, file(first, Options{}), online); err != nil {
		t.Fatal(err)
	}
	if r, err = Train(ctx, file(second, Options{}), Config{Continue: r.Model, Test: file(first, Options{})}); err != nil {
		t.Fatal(err)
	}
	if r.Model.Info().Training.Rows != 400 || r.Test == nil {
		t.Errorf("%d rows, test %v", r.Model.Info().Training.Rows, r.Test)
	}
}

// What keeps a model from being tested is told before it is trained, however the training begins.
func TestMissingAndUnfitTestDataEndATrainingBeforeItBegins(t *testing.T) {
	ctx := context.Background()
	rows := strings.Repeat("1 1:1 2:0.5\n2 1:0.3 2:-1\n", 40)
	data, wide := File(on(t, "rows.svm", rows), Options{}), File(on(t, "wide.svm", "1 1:1\n2 7:1\n"), Options{})
	stats := statisticsOf(t, data)
	online := trained(t, data, Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.SGD{}}})
	labels := File(on(t, "labels.csv", "1,2,many\n"), Options{})
	var table strings.Builder
	for i := range 40 {
		fmt.Fprintf(&table, "%d,%d,%g\n", i%7, i%5, float64(i)/3)
	}
	numbers := File(on(t, "numbers.csv", table.String()), Options{})
	regression := trained(t, numbers, Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.SGD{}, Task: "regress"}})
	var wider *WiderError
	isWider := func(err error) bool { return errors.As(err, &wider) && wider.Dim == 7 && wider.Trained == 2 }
	isMissing := func(err error) bool { return errors.Is(err, fs.ErrNotExist) }
	for _, c := range []struct {
		name string
		data Data
		cfg  Config
		is   func(error) bool
	}{
		{"no such file", data, Config{Test: File("nowhere.svm", Options{})}, isMissing},
		{"no such file of labels", data, Config{Test: File(on(t, "t.svm", rows), Options{LabelsFile: "nowhere"})}, isMissing},
		{"statistics, no such file", Data{}, Config{Statistics: stats, Test: File("nowhere.svm", Options{})}, isMissing},
		{"statistics alone", Data{}, Config{Statistics: stats, Test: wide}, isWider},
		{"statistics and rows", data, Config{Statistics: stats, Test: wide}, isWider},
		{"a model that goes on", data, Config{Continue: online, Test: wide}, isWider},
		{"a regression that goes on", numbers, Config{Continue: regression, Test: labels}, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), `the label "many" is not a number`)
		}},
	} {
		began := false
		c.cfg.Training.Progress = func(string, int, float64) { began = true }
		if r, err := Train(ctx, c.data, c.cfg); r != nil || !c.is(err) || began {
			t.Errorf("%s: %v, began %t", c.name, err, began)
		}
	}
}

// Where only rows make sense bags are an error.
func TestBagsInPlaceOfRows(t *testing.T) {
	ctx := context.Background()
	bag, err := dataset.FromBags(matrix.Rows{Dense: matrix.NewDense(4, 3)}, []int{0, 2, 4}, []float64{1, 2}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows([][]float64{{1, 2, 3}, {2, 1, 0}, {0, 3, 1}, {1, 1, 2}}, []float64{1.5, 2.5, 3.5, 4.5})
	stats := statisticsOf(t, rows)
	for name, cfg := range map[string]Config{
		"statistics": {Statistics: stats},
		"unlabelled": {Config: train.Config{Map: train.Map{Features: 16}, Reduce: train.Reduction{Components: 2}}, Unlabelled: Bags(bag)},
	} {
		data := rows
		if cfg.Statistics != nil {
			data = Bags(bag)
		}
		if _, err := Train(ctx, data, cfg); err == nil || !strings.Contains(err.Error(), "takes rows, but the data are bags") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A model that cannot go on learning says so by an error of its own.
func TestModelsThatCannotGoOn(t *testing.T) {
	data := file(tableText(100), Options{})
	ridge := trained(t, data, Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.Ridge{}}})
	_, err := Train(context.Background(), data, Config{Continue: ridge})
	var cannot *ContinueError
	if !errors.As(err, &cannot) || !strings.Contains(cannot.Err.Error(), "learner=online") {
		t.Errorf("%v", err)
	}
}

// Categories that a model does not know are told of rows that it learns later, and of test data.
func TestUnseenCategoriesAreTold(t *testing.T) {
	text := tableText(100)
	online := trained(t, file(text, Options{}), Config{Config: train.Config{Map: train.Map{Features: 16}, Learner: train.SGD{}}})
	other := strings.ReplaceAll(text, "red", "mauve")
	r, err := Train(context.Background(), file(other, Options{}),
		Config{Continue: online, Test: file(strings.ReplaceAll(text, "green", "ochre"), Options{})})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Unseen) != 2 || r.Unseen[0].Value != "mauve" || r.Unseen[1].Value != "ochre" || r.Unseen[0].Data != "table.csv" {
		t.Errorf("%+v", r.Unseen)
	}
}

// What auto does is told by the progress of the training.
func TestAutoTellsItsProgress(t *testing.T) {
	told := map[string]bool{}
	cfg := Config{Config: train.Config{Kernel: train.Kernel{Name: "rbf", Gamma: "0.1"}, Learner: train.Ridge{Lambda: 1},
		Map: train.Map{Features: 16}, Scale: "none"}, Auto: true}
	cfg.Training.Progress = func(stage string, _ int, _ float64) {
		what, _, _ := strings.Cut(stage, ":")
		told[what] = true
	}
	if _, err := Train(context.Background(), file(tableText(200), Options{}), cfg); err != nil {
		t.Fatal(err)
	}
	if !told["auto"] || !told["solve"] {
		t.Errorf("told of %v", told)
	}
}
