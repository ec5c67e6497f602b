package mercer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Test data that are looked at before a training and replaced during it are an error of the test.
func TestTestDataReplacedDuringTraining(t *testing.T) {
	dir := t.TempDir()
	data, test, other := filepath.Join(dir, "data.csv"), filepath.Join(dir, "test.csv"), filepath.Join(dir, "other.csv")
	rows := strings.Repeat("1,2,3\n2,4,5\n3,1,1\n4,4,2\n", 20)
	for _, path := range []string{data, test, other} {
		if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var cfg Config
	cfg.Test = File(test, Options{})
	cfg.Training.Progress = func(stage string, _ int, _ float64) {
		if stage == "solve" { // it has been looked at
			_ = os.Rename(other, test)
		}
	}
	r, err := Train(context.Background(), File(data, Options{}), cfg)
	if r == nil || err == nil || !strings.Contains(err.Error(), test+": the file has changed while it is read: another file has taken its place") {
		t.Errorf("%v, %v", r, err)
	}
}
