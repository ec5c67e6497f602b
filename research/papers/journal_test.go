package papers

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mercer/internal/engine/checkpoint"
)

// Wherever a run was stopped, the same run makes the same figures, and more seeds begin where it
// ended.
func TestStoppedTablesGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	run := func(name string, seeds int) *Result {
		table, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), table, Options{Seeds: seeds, Journal: path})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	read := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	other := run("S14-F4.6", 1) // of another table, in the same file
	for _, name := range []string{"S14-F4.5", "S14-F4.7"} {
		start := len(read())
		whole := run(name, 2)
		text := read()
		rows := strings.Count(text[start:], "\n")
		if rows != 2*len(whole.Rows) {
			t.Errorf("%s: %d lines for two seeds of %d rows", name, rows, len(whole.Rows))
		}
		for _, share := range []int{0, 1, 2, 3, 4} {
			cut := start + share*(len(text)-start)/4
			if err := os.WriteFile(path, []byte(text[:cut]), 0o600); err != nil {
				t.Fatal(err)
			}
			if again := run(name, 2); !reflect.DeepEqual(again.Cells, whole.Cells) {
				t.Errorf("%s, stopped after %d quarters: other figures", name, share)
			}
			if n := strings.Count(read()[start:], "\n"); n != rows {
				t.Errorf("%s, stopped after %d quarters: %d lines, want %d", name, share, n, rows)
			}
		}
		three := run(name, 3)
		if n := strings.Count(read()[start:], "\n"); n != 3*len(whole.Rows) {
			t.Errorf("%s: %d lines for three seeds", name, n)
		}
		table, _ := Find(name)
		if r, err := Run(context.Background(), table, Options{Seeds: 3}); err != nil || !reflect.DeepEqual(r.Cells, three.Cells) {
			t.Errorf("%s: a third seed later makes other figures than three at once: %v", name, err)
		}
	}
	if again := run("S14-F4.6", 1); !reflect.DeepEqual(again.Cells, other.Cells) {
		t.Error("S14-F4.6: other figures")
	}
}

func TestJournalsOfTablesAreChecked(t *testing.T) {
	table, err := Find("S14-F4.6")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a,b\n1,2\n":                  "is not a journal of tables",
		"{\"mercer\":\"tune 2\"}\n":   "is not a journal of tables",
		"{\"mercer\":\"other\"}\n1\n": "is not a journal of tables",
		"{\"mercer\":\"reproduce 2\"}\n{\"table\":\"S14-F4.6\",\"row\":\"x\"}\n":                               "line 2 is not one",
		"{\"mercer\":\"reproduce 2\"}\n{\"table\":\"S14-F4.6\",\"seed\":1,\"row\":\"x\",\"values\":[\"1\"]}\n": "line 2 is not one",
		"{\"mercer\":\"reproduce 2\"}\n{\"table\":\"S14-F4.6\",\"seed\":1,\"row\":\"x\",\"values\":[1]}\n":     `line 2 has 1 figures of "x"`,
	} {
		if lines := strings.Split(text, "\n"); strings.Contains(text, "reproduce") {
			text = ""
			for _, line := range lines[:len(lines)-1] {
				text += string(checkpoint.Seal([]byte(line)))
			}
		}
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(context.Background(), table, Options{Seeds: 1, Journal: path})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
}
