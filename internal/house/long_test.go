package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// mostLines is how many lines a function may have, from func to the brace that closes it.
const mostLines = 80

// longFunctions are those that may have more, by file and name, with the reason.
var longFunctions = map[string]string{
	"feature/program.go add":                       "a table: a case for each map",
	"internal/reach/export/onnx_columns.go column": "a table: a case for each coding of a column",
	"internal/reach/export/sql_values.go step":     "a table: a case for each operation of a map",
	"internal/reach/export/sql_weights.go segment": "a generator of a query, whose parts write into one another",
	"kernel/sums.go sparseSums":                    "a table: a loop for each kind of sum",
}

// longIn lists the functions of a file that have more than mostLines.
func longIn(set *token.FileSet, file *ast.File) (names []string) {
	for _, d := range file.Decls {
		if f, is := d.(*ast.FuncDecl); is && set.Position(f.End()).Line-set.Position(f.Pos()).Line >= mostLines {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// A function is read on one screen. Tests and research may have longer ones.
func TestFunctionsAreShort(t *testing.T) {
	t.Chdir(root)
	looked, found := 0, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "research" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		looked++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, name := range longIn(set, file) {
			key := filepath.ToSlash(path) + " " + name
			found[key] = true
			if longFunctions[key] == "" {
				t.Errorf("%s: %s has more than %d lines; divide it where a part has a name of its own", path, name, mostLines)
			}
		}
		return nil
	})
	if err != nil || looked < 500 {
		t.Errorf("looked at %d files: %v", looked, err)
	}
	for key := range longFunctions {
		if !found[key] {
			t.Errorf("%s has at most %d lines or is gone; take it off longFunctions", key, mostLines)
		}
	}
}

func TestLongFunctionsAreFound(t *testing.T) {
	t.Chdir(root)
	for lines, want := range map[int]int{mostLines: 0, mostLines + 1: 1} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "p.go", "package p\n\n// f does it.\nfunc f() {"+strings.Repeat("\n", lines-1)+"}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if names := longIn(set, file); len(names) != want {
			t.Errorf("of %d lines: found %q, want %d", lines, names, want)
		}
	}
}
