package render

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file in testdata, and with -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s:%d is\n%.300s\nwant\n%.300s\n(go test ./internal/app/render -update writes it anew)", path, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", path, len(a), len(b))
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
	golden(t, name+".html", pageBytes(t, page))
}

func pageBytes(t *testing.T, page *report.Page) []byte {
	t.Helper()
	var w bytes.Buffer
	if err := page.Write(&w); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// goldenJSON compares an object, so that what --json prints stays as it is.
func goldenJSON(t *testing.T, name string, v any) {
	t.Helper()
	var w bytes.Buffer
	if err := JSON(&w, v); err != nil {
		t.Fatal(err)
	}
	golden(t, name+".json", w.Bytes())
}

// narrow is an error where a line of text is longer than so many characters: a long name has not been cut.
func narrow(t *testing.T, text string, most int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > most {
			t.Errorf("a line has %d characters, %d at most were expected: %.80s…", n, most, line)
		}
	}
}

// hostile are names that files have and tables must bear: very long, empty, with markup, controls, right-to-left and wide letters.
func hostile(n int) []string {
	list := []string{strings.Repeat("a very long name ", 60), "",
		"<script>alert('x')</script> & co", "tab\tand\nline", "שלום", "汉字汉字",
		strings.Repeat("x", 3000), "%s %d", "a,b;\"c\""}
	for len(list) < n {
		list = append(list, fmt.Sprintf("class %d", len(list)))
	}
	return list[:n]
}

func of[T any](v T) *T { return &v }
