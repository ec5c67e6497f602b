package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that need no labels say which column without a name they left out as one, of tables; of arrays they leave out none.
func TestColumnLeftOutAsLabelIsTold(t *testing.T) {
	dir := t.TempDir()
	table := write(t, dir, "x.csv", "1,2,3\n4,5,7\n2,1,1\n")
	array, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "out.npy")
	ok(t, "convert", table, array, "--label", "none")
	const left = "the last column (2, from 0) was left out as the label"
	for _, data := range []string{table, array} {
		for _, args := range [][]string{{"kernel", data, "-o", out}, {"transform", data, "-o", out, "--features", "8"}} {
			if got := ok(t, args...); strings.Contains(got, filepath.Base(data)+": "+left) != (data == table) {
				t.Errorf("%v says\n%s", args, got)
			}
			for _, label := range []string{"none", "0"} {
				if got := ok(t, append(args, "--label", label)...); strings.Contains(got, "left out") {
					t.Errorf("%v with --label %s says\n%s", args, label, got)
				}
			}
		}
	}
	// All columns of an array are inputs, in what is computed too.
	ok(t, "kernel", array, "-o", out, "--kernel", "linear", "--scale", "none")
	want := filepath.Join(dir, "want.npy")
	ok(t, "kernel", table, "--label", "none", "-o", want, "--kernel", "linear", "--scale", "none")
	a, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(want); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the kernel of an array is not that of all its columns, %v", err)
	}
	if got := ok(t, "approx", array, "--features", "8", "--gamma", "1"); !strings.Contains(got, "× 3 dimensions") {
		t.Errorf("approx of an array says\n%s", got)
	}
	if got := ok(t, "index", array, "-o", filepath.Join(dir, "x.index"), "--json"); !strings.Contains(got, `"d":3`) {
		t.Errorf("index of an array says\n%s", got)
	}
}
