package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A model of LIBSVM text from 0 reads later text from 0 too, even if it has no index 0, and refuses another base.
func TestModelRemembersBase(t *testing.T) {
	dir := t.TempDir()
	var from0, later strings.Builder
	for i := range 60 {
		fmt.Fprintf(&from0, "%d 0:%d 1:%d 2:%d\n", i%2, i%3, i%2, i%5)
		fmt.Fprintf(&later, "%d 1:%d 2:%d\n", i%2, i%2, i%5)
	}
	train, test := write(t, dir, "train.svm", from0.String()), write(t, dir, "test.svm", later.String())
	m := filepath.Join(dir, "m")
	ok(t, "train", train, "--base", "0", "-o", m, "--kernel", "linear", "--learner", "ridge", "--test", test, "--lambda", "0.1")
	want := ok(t, "predict", m, test, "--base", "0", "--scores")
	if got := ok(t, "predict", m, test, "--scores"); got != want {
		t.Error("without --base the scores are others")
	}
	if got := ok(t, "eval", m, test); !strings.Contains(got, "100") {
		t.Errorf("eval says\n%s", got)
	}
	for _, args := range [][]string{{"predict", m, test}, {"eval", m, test}} {
		r := mercer(t, append(args, "--base", "1")...)
		if r.code != 1 || !strings.Contains(r.stderr, "--base 1, but the model was trained on LIBSVM text whose indices start at 0") {
			t.Errorf("%v: code %d, %s", args, r.code, r.stderr)
		}
	}
}
