package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// Commands that need no labels say which column without a name they left out as one, of arrays as of tables.
func TestColumnLeftOutAsLabelIsTold(t *testing.T) {
	dir := t.TempDir()
	table := write(t, dir, "x.csv", "1,2,3\n4,5,7\n2,1,1\n")
	array, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "out.npy")
	ok(t, "convert", table, array, "--label", "none")
	const left = "the last column (2, from 0) was left out as the label"
	for _, data := range []string{table, array} {
		for _, args := range [][]string{{"kernel", data, "-o", out}, {"transform", data, "-o", out, "--features", "8"}} {
			if got := ok(t, args...); !strings.Contains(got, filepath.Base(data)+": "+left) {
				t.Errorf("%v says\n%s", args, got)
			}
			for _, label := range []string{"none", "0"} {
				if got := ok(t, append(args, "--label", label)...); strings.Contains(got, "left out") {
					t.Errorf("%v with --label %s says\n%s", args, label, got)
				}
			}
		}
	}
}
