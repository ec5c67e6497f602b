package mercer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/train"
)

// namedLearners are the places of a Go file that name a learner in a string of its own.
func namedLearners(t *testing.T, path string, src any) (places []string) {
	t.Helper()
	names := train.Learners()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(names, text) {
				places = append(places, files.Position(lit.Pos()).String()+": "+text)
			}
		}
		return true
	})
	return places
}

// A learner is one file and a row of a table in train: what trains many of them asks the learner.
func TestSearchesKnowNoLearnerByName(t *testing.T) {
	for _, pkg := range []string{"trial", "cost", "tune", "auto"} {
		paths, err := filepath.Glob(pkg + "/*.go")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, place := range namedLearners(t, path, nil) {
				t.Errorf("%s; ask train.LearnerOf for what is meant by it", place)
			}
		}
	}
}

func TestNamedLearnersAreFound(t *testing.T) {
	src := "package p\n\nfunc f(learner string) bool {\n" +
		"\treturn learner == \"ridge\" || learner == `kernel-svm` || learner == \"a ridge\"\n}\n"
	if places := namedLearners(t, "p.go", src); len(places) != 2 || places[0] != "p.go:4:20: ridge" {
		t.Errorf("found %q", places)
	}
}
