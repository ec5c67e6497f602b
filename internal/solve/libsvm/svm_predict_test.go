package libsvm

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/testenv"
)

// Where LIBSVM and the public data are, models of real data give the labels that svm-predict gives,
// every one of them, and its numbers.
func TestPredictionsOnRealData(t *testing.T) {
	if testing.Short() {
		t.Skip("trains models")
	}
	train := testenv.Program(t, "svm-train")
	for _, c := range []struct{ data, options string }{
		{"a9a/a9a.gz", "-g 0.05"},
		{"w8a/w8a.gz", "-t 1 -g 0.2 -r 1 -d 2"},
		{"ijcnn1/ijcnn1.trn.bz2", "-g 2 -c 10 -s 3"},
		{"reuters_lasvm/reuters.trn.bz2", "-t 3 -g 0.5 -c 10"},
	} {
		f, err := os.Open(testenv.Data(t, c.data))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var text io.Reader = bzip2.NewReader(f)
		if strings.HasSuffix(c.data, ".gz") {
			if text, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		all := make([]byte, 4_000_000)
		n, _ := io.ReadFull(text, all)
		lines := bytes.SplitAfter(all[:n], []byte("\n"))
		dir := t.TempDir()
		trainFile, testFile := filepath.Join(dir, "train"), filepath.Join(dir, "test")
		modelFile, outFile := filepath.Join(dir, "model"), filepath.Join(dir, "out")
		for path, part := range map[string][][]byte{trainFile: lines[:800], testFile: lines[800:2800]} {
			if err := os.WriteFile(path, bytes.Join(part, nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := exec.Command(train, append(strings.Fields(c.options), trainFile, modelFile)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if text, err := exec.Command("svm-predict", testFile, modelFile, outFile).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		out, err := os.ReadFile(outFile)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(string(out))
		m, err := Load(modelFile)
		if err != nil {
			t.Fatal(err)
		}
		src, err := dataset.Open(context.Background(), testFile, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		sum, err := dataset.Survey(context.Background(), src, dataset.SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := dataset.Collect(context.Background(), src, sum.Dim)
		if err != nil {
			t.Fatal(err)
		}
		i, wrong := 0, 0
		err = m.Predict(b.X, false, func(v *Values) error {
			w, err := strconv.ParseFloat(want[i], 64)
			if err != nil {
				return err
			}
			if m.Classifies() && v.Prediction != w || !near(v.Prediction, w) {
				wrong++
			}
			i++
			return nil
		})
		if err != nil || i != 2000 || wrong > 0 {
			t.Errorf("%s: %d rows, %d differ, %v", c.data, i, wrong, err)
		}
	}
}
