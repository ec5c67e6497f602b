package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// flagName is a flag of the command line in a text.
var flagName = regexp.MustCompile(`--[a-z][a-z-]*`)

// namedFlags are the places of a Go file that name a flag in a string.
func namedFlags(t *testing.T, path string, src any) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && flagName.MatchString(text) {
				places = append(places, files.Position(lit.Pos()).String()+": "+flagName.FindString(text))
			}
		}
		return true
	})
	return places
}

// A Go program knows options by their fields: only what is above the front door speaks of flags.
func TestNoFlagsBelowTheCommandLine(t *testing.T) {
	t.Chdir(root)
	looked := 0
	front, _, _ := roomOf(".")
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		floor, _, known := roomOf(filepath.ToSlash(filepath.Dir(path)))
		at := filepath.ToSlash(path)
		another := at == "internal/engine/chromium/chromium.go" || at == "internal/engine/testenv/postgres.go" // flags of other programs
		if !known || another || floor > front || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		looked++
		for _, place := range namedFlags(t, path, nil) {
			t.Errorf("%s; name the option by option.Ref or option.Set", place)
		}
		return nil
	})
	if err != nil || looked < 200 {
		t.Errorf("looked at %d files: %v", looked, err)
	}
}

func TestNamedFlagsAreFound(t *testing.T) {
	t.Chdir(root)
	src := "package p\n\nvar a, b, c = \"leave out --group\", `a -- b --`, \"dim\"\n"
	if places := namedFlags(t, "p.go", src); len(places) != 1 || places[0] != "p.go:3:15: --group" {
		t.Errorf("found %q", places)
	}
}
