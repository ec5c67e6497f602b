package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumbersAsCSV(t *testing.T) {
	dir := t.TempDir()
	data, file := write(t, dir, "data.csv", steps(300, 2)), filepath.Join(dir, "n.csv")
	for _, c := range []struct {
		args  []string
		first string
		rows  int
	}{
		{[]string{"approx", data, "--map", "rff,orf", "--features", "16,32", "--rows", "40", "--seeds", "2"}, "map", 5},
		{[]string{"curve", data, "--at-rows", "50,100", "--at-features", "8", "--features", "16", "--seeds", "1"}, "by", 4},
	} {
		for _, more := range [][]string{{}, {"--json"}} {
			os.Remove(file)
			out := ok(t, append(append(c.args, "--csv", file), more...)...)
			if said := strings.Contains(out, "\n  csv       "+file+" ("); said == (len(more) > 0) {
				t.Errorf("%v %v says\n%s", c.args, more, out)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
			if err != nil || len(rows) < c.rows || rows[0][0] != c.first {
				t.Errorf("%v: %v\n%s", c.args, err, text)
			}
		}
		// The data stay, and the page has another name than the table.
		if r := mercer(t, append(c.args, "--csv", data)...); r.code != 2 ||
			!strings.Contains(r.stderr, " and --csv are both "+data) {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
		if r := mercer(t, append(c.args, "--csv", file, "--report", file)...); r.code != 2 ||
			!strings.Contains(r.stderr, "--csv and --report are both "+file) {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
		if r := mercer(t, append(c.args, "--csv", filepath.Join(dir, "none", "n.csv"))...); r.code != 1 {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	}
}

// A size is written into a command that trains again so that it is read as the same size.
func TestMemoryIsReadAgain(t *testing.T) {
	for text, want := range map[string]string{"8GiB": "8.0 GiB", "8G": "8.0 GiB", "8GB": "8000000000", "512MiB": "512 MiB", "1000": "1000 B"} {
		var v, again bytesValue
		if err := v.Set(text); err != nil {
			t.Fatal(err)
		}
		if v.String() != want {
			t.Errorf("%s is written as %s, want %s", text, &v, want)
		}
		if err := again.Set(v.String()); err != nil || again != v {
			t.Errorf("%s is read as %d, %v, not as %d", &v, again, err, v)
		}
	}
	if zero := bytesValue(0); zero.String() != "0" {
		t.Error(zero.String())
	}
}
