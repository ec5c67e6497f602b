package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mercer/internal/app/render"
	"mercer/internal/engine/report"
)

// result is what a command line did.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command line in this process.
func run(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := program().Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// ok runs a command line that must succeed and returns its standard output.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	r := run(t, args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("research %s: exit code %d: %s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// object is the JSON object of a text that has one.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q is not one JSON object: %v", text, err)
	}
	return v
}

// write writes a file in dir and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The help of every command has an example, fits into 80 columns, and is that of this program, and so are errors.
func TestHelp(t *testing.T) {
	for _, name := range []string{"", "ranks", "reproduce"} {
		out := ok(t, strings.Fields(name+" --help")...)
		if _, examples, _ := strings.Cut(out, "Examples:"); !strings.Contains(examples, "\n  go run . "+name) {
			t.Errorf("research %s --help has no example:\n%s", name, out)
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("research %s --help: %d characters: %s", name, n, line)
			}
		}
		if strings.Contains(out, "\n  mercer ") {
			t.Errorf("research %s --help speaks of mercer's commands:\n%s", name, out)
		}
	}
	want := "research: \"reprodce\" is no command; did you mean reproduce? research --help lists them\n"
	if r := run(t, "reprodce"); r.code != 2 || r.stderr != want {
		t.Errorf("%+v", r)
	}
}

// shown are the command lines of this program in the pages of Mercer and its own: behind "cd research" in a line, and as lines of
// the pages of this module.
var shown = regexp.MustCompile("(?m)(?:cd research && |^(?:\\$ )?)go run \\. ([^`#|\n]+)")

// Every command line that a page shows has flags and a command that there are. That of the README runs.
func TestCommandsOfPages(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range slices.Concat(pages, others, []string{"../README.md"}) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllStringSubmatch(string(text), -1) {
			commands++
			args := strings.Fields(strings.ReplaceAll(m[1], "'", ""))
			if page == "../README.md" {
				ok(t, args...)
			} else if r := run(t, append(args, "--help")...); r.code != 0 || !strings.HasPrefix(args[0], "r") {
				t.Errorf("%s shows %q: %s", page, m[1], r.stderr)
			}
		}
	}
	if commands < 12 {
		t.Errorf("pages show %d commands; they have at least 12", commands)
	}
}

// The page about ranks shows what the commands print.
func TestPageOfRanks(t *testing.T) {
	text, err := os.ReadFile("docs/ranks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```csv\n")
	table, _, _ := strings.Cut(after, "```")
	t.Chdir(filepath.Dir(write(t, t.TempDir(), "ls18.csv", table)))
	blocks := strings.Split(string(text), "```text\n$ go run . ")[1:]
	for _, block := range blocks {
		command, rest, _ := strings.Cut(block, "\n")
		want, _, _ := strings.Cut(rest, "```")
		want, _, _ = strings.Cut(want, "  …") // what is left out
		if got := ok(t, strings.Fields(strings.ReplaceAll(command, "'", ""))...); !strings.HasPrefix(strings.ReplaceAll(got, "\n\n", "\n"),
			strings.ReplaceAll(want, "\n\n", "\n")) {
			t.Errorf("%s prints\n%s\nand the page has\n%s", command, got, want)
		}
	}
	if len(blocks) != 2 {
		t.Errorf("the page shows %d commands, not 2", len(blocks))
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file in testdata, and with -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("%s differs from line %d on; go test . -update writes it anew", path, i+1)
		}
	}
}

// goldenText compares what write writes.
func goldenText(t *testing.T, name string, write func(w *bytes.Buffer)) {
	t.Helper()
	var w bytes.Buffer
	write(&w)
	golden(t, name+".txt", w.Bytes())
}

// goldenPage compares a page.
func goldenPage(t *testing.T, name string, page *report.Page) {
	t.Helper()
	var w bytes.Buffer
	if err := page.Write(&w); err != nil {
		t.Fatal(err)
	}
	golden(t, name+".html", w.Bytes())
}

// goldenJSON compares an object, so that what --json prints stays as it is.
func goldenJSON(t *testing.T, name string, v any) {
	t.Helper()
	var w bytes.Buffer
	if err := render.JSON(&w, v); err != nil {
		t.Fatal(err)
	}
	golden(t, name+".json", w.Bytes())
}
