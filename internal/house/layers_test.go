package house

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the storeys of the house from the ground up, each of one or more folders with all that is in them. A package imports
// packages of lower floors, or of its own folder. docs/design.md describes them.
var floors = [][]string{
	{"matrix"},
	{"internal/engine"},
	{"internal/read"},
	{"dataset", "kernel"},
	{"feature"},
	{"internal/solve"},
	{"model"},
	{"train"},
	{"eval"},
	{"internal/search", "internal/reach"},
	{"."},
	{"serve"},
	{"internal/app"},
	{"cmd", "examples", "python", "research"},
}

// roomOf is the floor of a package and its folder there; false if it has none.
func roomOf(pkg string) (floor int, folder string, ok bool) {
	for floor, folders := range floors {
		for _, folder := range folders {
			if pkg == folder || folder != "." && strings.HasPrefix(pkg, folder+"/") {
				return floor, folder, true
			}
		}
	}
	return 0, "", false
}

// upward says what is wrong with a package's import of another, "" if nothing is.
func upward(from, to string) string {
	a, room, known := roomOf(from)
	if !known {
		return "package " + from + " is in no folder that has a floor; see internal/house/layers_test.go and docs/design.md"
	}
	b, other, known := roomOf(to)
	if !known {
		return "package " + from + " imports " + to + ", which is in no folder that has a floor"
	}
	if b > a || b == a && room != other {
		return fmt.Sprintf("package %s (floor %d) imports %s (floor %d); imports go down only", from, a, to, b)
	}
	return ""
}

func TestImportsGoDownOnly(t *testing.T) {
	t.Chdir(root)
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		from := filepath.ToSlash(filepath.Dir(path))
		seen[from] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to != "mercer" && !strings.HasPrefix(to, "mercer/") {
				continue
			}
			to = strings.TrimPrefix(strings.TrimPrefix(to, "mercer"), "/")
			if to == "" {
				to = "."
			}
			if wrong := upward(from, to); wrong != "" {
				t.Errorf("%s: %s", path, wrong)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, folders := range floors {
		for _, folder := range folders {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(pkg string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }) {
				t.Errorf("floor given to %s, which does not exist", folder)
			}
		}
	}
}

func TestUpwardImportIsFound(t *testing.T) {
	t.Chdir(root)
	for _, c := range []struct {
		from, to string
		wrong    bool
	}{
		{"model", "internal/solve/learn", false},
		{"internal/solve/learn", "model", true},
		{"internal/solve/exact", "internal/solve/learn", false},
		{"kernel", "dataset", true},
		{"dataset/database", "dataset", false},
		{"matrix", "nowhere", true},
		{"nowhere", "matrix", true},
	} {
		if got := upward(c.from, c.to); (got != "") != c.wrong {
			t.Errorf("%s → %s: %q", c.from, c.to, got)
		}
	}
}
