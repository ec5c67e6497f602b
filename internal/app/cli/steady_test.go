package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onText is a writer that does something when a text is first written.
type onText struct {
	strings.Builder
	text string
	do   func()
}

func (w *onText) Write(b []byte) (int, error) {
	n, err := w.Builder.Write(b)
	if w.do != nil && strings.Contains(w.String(), w.text) {
		w.do()
		w.do = nil
	}
	return n, err
}

// A file that is replaced after the forecast and before the training is an error, and not trained on.
func TestFilesReplacedWithinACommand(t *testing.T) {
	announceAll(t)
	dir := t.TempDir()
	data, out := write(t, dir, "data.csv", curve(400)), filepath.Join(dir, "m")
	done := false
	stderr := &onText{text: "note: about", do: func() {
		if err := os.Rename(write(t, dir, "new.csv", curve(60)), data); err != nil {
			t.Error(err)
		}
		done = true
	}}
	code := Run(context.Background(), []string{"train", data, "-o", out, "--features", "64"}, strings.NewReader(""), &strings.Builder{}, stderr)
	_, err := os.Stat(out)
	if !done || code != 1 || err == nil || !strings.Contains(stderr.String(), data+": the file has changed while it is read: another file has taken its place") {
		t.Errorf("replaced %v, code %d, model %v: %s", done, code, err == nil, stderr.String())
	}
}
