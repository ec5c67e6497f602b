package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// searchLine is a line of search --json.
type searchLine struct {
	Query      int
	Neighbours []struct {
		ID       int
		Distance float64
	}
}

func searchLines(t *testing.T, text string) (lines []searchLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var v searchLine
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, v)
	}
	return lines
}

// points writes n rows of two numbers and a colour, and returns the numbers.
func points(t *testing.T, dir, name string, n int, seed uint64) (path string, rows [][2]float64) {
	t.Helper()
	stream := random.New(seed, "test")
	text := "a,b,label\n"
	for range n {
		r := [2]float64{math.Round(1000*stream.Normal()) / 8, math.Round(1000*stream.Normal()) / 8}
		rows = append(rows, r)
		text += fmt.Sprintf("%g,%g,%d\n", r[0], r[1], stream.Intn(2))
	}
	return write(t, dir, name, text), rows
}

func TestIndexAndSearch(t *testing.T) {
	dir := t.TempDir()
	data, rows := points(t, dir, "data.csv", 400, 1)
	queries, asked := points(t, dir, "queries.csv", 30, 2)
	more, added := points(t, dir, "more.csv", 50, 3)
	index := filepath.Join(dir, "data.index")
	at := []string{"--kernel", "linear", "--scale", "none"}
	check := func(path string, gone func(id int) bool, all [][2]float64, flags ...string) {
		t.Helper()
		got := searchLines(t, ok(t, append([]string{"search", path, queries, "--k", "7", "--json"}, flags...)...))
		if len(got) != len(asked) {
			t.Fatalf("%d lines for %d queries", len(got), len(asked))
		}
		for q, line := range got {
			var want []float64
			for id, r := range all {
				if !gone(id) {
					want = append(want, math.Hypot(r[0]-asked[q][0], r[1]-asked[q][1]))
				}
			}
			slices.Sort(want)
			if line.Query != q || len(line.Neighbours) != 7 {
				t.Fatalf("line %d: %v", q, line)
			}
			for j, n := range line.Neighbours {
				r := all[n.ID]
				if d := math.Hypot(r[0]-asked[q][0], r[1]-asked[q][1]); math.Abs(d-n.Distance) > 1e-3 || math.Abs(d-want[j]) > 1e-3 || gone(n.ID) {
					t.Errorf("query %d, neighbour %d: row %d at %g, truly %g, nearest %g", q, j, n.ID, n.Distance, d, want[j])
				}
			}
		}
	}
	none := func(int) bool { return false }
	v := object(t, ok(t, append([]string{"index", data, "-o", index, "--codes", "signs", "--bits", "512", "--json"}, at...)...))
	if v["n"] != 400.0 || v["features"] != 2.0 || v["bits"] != 512.0 {
		t.Error(v)
	}
	check(index, none, rows)
	check(index, none, rows, "--candidates", "400")
	ok(t, "index", more, "--add", index)
	all := append(rows, added...)
	check(index, none, all)
	less := filepath.Join(dir, "less.index")
	text := ok(t, "index", index, "--delete", "3, 10-99,449", "-o", less)
	if !strings.Contains(text, "358 rows × 2 features") || !strings.Contains(text, "signs of 512 bits") {
		t.Error(text)
	}
	check(index, none, all)
	check(less, func(id int) bool { return id == 3 || id >= 10 && id < 100 || id == 449 }, all)

	lines := strings.Split(ok(t, "search", less, queries, "--k", "2"), "\n")
	if f := strings.Fields(lines[29]); len(f) != 3 || f[0] != "29" || !strings.Contains(f[2], ":") {
		t.Errorf("%q", lines[29])
	}
}

func TestIndexSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	data, _ := points(t, dir, "data.csv", 40, 1)
	index, bad := filepath.Join(dir, "data.index"), write(t, dir, "bad.csv", "a,b,label\n1,2,0\n3,x,1\n")
	ok(t, "index", data, "--features", "64", "-o", index)
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"index " + data, 2, "give -o INDEX"},
		{"index " + data + " -o " + data, 2, "give another name"},
		{"index " + data + " --add " + index + " --gamma 1", 2, "--gamma cannot be given with an index"},
		{"index " + index + " --delete 1 --add " + index, 2, "give one of them"},
		{"index " + index + " --delete 7-3", 2, "100-199"},
		{"index " + index + " --delete 3,40", 1, "below 40"},
		{"index " + index + " --delete 0-39", 1, "no rows left"},
		{"index " + index + " --delete 0-9999999999", 1, "below 40"},
		{"index " + data + " -o x --codes hash", 2, "signs, sparse-signs, cosines"},
		{"index " + data + " -o x --codes signs --bits 65", 2, "multiple of 64"},
		{"index " + data + " -o x --bits 64", 2, "say which codes"},
		{"index " + data + " -o x --cells 1", 2, "give 2 to"},
		{"search " + index + " " + data + " --probes 3", 1, "has no cells"},
		{"search " + index + " " + data + " --probes 3 --candidates 50", 2, "no --candidates beside"},
		{"index " + bad + " --add " + index, 1, "bad.csv:3"},
		{"search " + data + " " + data, 1, "not an index"},
		{"search " + index + " " + bad, 1, "bad.csv:3"},
		{"search " + index + " " + data + " --k 0", 2, "1 or more"},
		{"search " + index + " " + data + " --candidates 5", 2, "or 0 for all rows"},
		{"search " + index + " " + data + " --candidates 50", 1, "has no codes"},
	} {
		r := mercer(t, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("mercer %s: exit code %d: %s; want %d with %q", c.args, r.code, r.stderr, c.code, c.want)
		}
	}
	if after, err := os.ReadFile(index); err != nil || !bytes.Equal(before, after) {
		t.Error("the index has changed", err)
	}
}
