package mercer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// Test data that the model could not read end the training before it begins.
func TestTestDataAreLookedAtFirst(t *testing.T) {
	rows := strings.Repeat("1 1:1 2:0.5\n2 1:0.3 2:-1\n", 40)
	trained := false
	cfg := Config{Config: train.Config{Features: 16, Learner: "ridge"}, Test: File(on(t, "wide.svm", "1 1:1\n2 7:1\n"), Options{})}
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
	r, err := Train(context.Background(), file(text, Options{}), Config{Config: train.Config{Features: 16}, Test: file(broken+"x,y,z,w\n", Options{})})
	if err == nil || r == nil || r.Model == nil || r.Test != nil {
		t.Errorf("%v, %+v", err, r)
	}
}

// Statistics of some rows with others added, and a learner that goes on, are trainings on all rows.
func TestRowsThatComeInParts(t *testing.T) {
	ctx := context.Background()
	lines := strings.SplitAfter(tableText(400), "\n")
	first, second := strings.Join(lines[:201], ""), lines[0]+strings.Join(lines[201:], "")
	var stats *train.Statistics
	cfg := Config{Config: train.Config{Features: 16, Learner: "ridge", Lambda: 1}}
	cfg.Training.Keep = func(s *train.Statistics) error {
		path := filepath.Join(t.TempDir(), "stats")
		if err := s.Save(path); err != nil {
			return err
		}
		var err error
		stats, err = train.LoadStatistics(path)
		return err
	}
	if _, err := Train(ctx, file(first, Options{}), cfg); err != nil {
		t.Fatal(err)
	}
	more := Config{Config: train.Config{Lambda: 1}, Statistics: stats, Test: file(second, Options{})}
	r, err := Train(ctx, file(second, Options{}), more)
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.Info().Training.Rows != 400 || r.Test.N != 200 {
		t.Errorf("%d rows, %d tested", r.Model.Info().Training.Rows, r.Test.N)
	}
	online := Config{Config: train.Config{Features: 16, Learner: "online"}}
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
