package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inspected is what a package has that decides how .ci/run runs it.
type inspected struct {
	tests      []string
	long       []string // those that call testenv.Long, Few or Size
	goroutines bool
	assembly   bool
}

// inspectPackages are the packages of the module, and of research, by their folders.
func inspectPackages(t *testing.T) map[string]*inspected {
	all := map[string]*inspected{}
	err := filepath.WalkDir(".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder := path.Dir(filepath.ToSlash(at))
		if d.IsDir() {
			_, wrong := os.Stat(filepath.Join(at, "go.mod"))
			if at != "." && (wrong == nil && at != "research" || d.Name() == "testdata" || d.Name()[0] == '.') {
				return fs.SkipDir
			}
			return nil
		}
		if p := all[folder]; p != nil && strings.HasSuffix(at, ".s") {
			p.assembly = true
		}
		if !strings.HasSuffix(at, ".go") {
			return nil
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte("//go:build ignore")) || strings.Contains(folder, "/avo") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), at, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p := all[folder]
		if p == nil {
			p = &inspected{}
			all[folder] = p
		}
		p.add(file, strings.HasSuffix(at, "_test.go"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (p *inspected) add(file *ast.File, tests bool) {
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is {
			continue
		}
		test := tests && strings.HasPrefix(f.Name.Name, "Test") && f.Recv == nil
		if test {
			p.tests = append(p.tests, f.Name.Name)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				p.goroutines = p.goroutines || !tests
			case *ast.CallExpr:
				if test && slices.Contains([]string{"testenv.Long", "testenv.Few", "testenv.Size"}, dotted(n.Fun)) {
					p.long = append(p.long, f.Name.Name)
				}
			}
			return true
		})
	}
}

var rowOfPackage = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+?) \\| (.+?) \\| (.+?) \\| (.+) \\|$")

// Every package has one row in the table of .ci/README.md, and is run as its code asks for.
func TestGateRunsEveryPackage(t *testing.T) {
	t.Chdir(root)
	text, err := os.ReadFile(".ci/README.md")
	if err != nil {
		t.Fatal(err)
	}
	packages := inspectPackages(t)
	seen := map[string]bool{}
	for _, m := range rowOfPackage.FindAllStringSubmatch(strings.ReplaceAll(string(text), `\|`, "\x00"), -1) {
		name, race, portable, lesser, why := m[1], m[2], m[3], m[4], m[5]
		p := packages[name]
		switch {
		case p == nil:
			t.Errorf(".ci/README.md has a row for %s, which is no package", name)
			continue
		case seen[name]:
			t.Errorf(".ci/README.md has two rows for %s", name)
		case p.goroutines && race == "–" && why == "no goroutine of its own":
			t.Errorf("%s has goroutines, and is not run under the race detector", name)
		case p.assembly && (portable == "–" || lesser == "–"):
			t.Errorf("%s has assembly, and is not run without it or on AVX2", name)
		}
		seen[name] = true
		for _, pattern := range []string{race, portable, lesser} {
			if pattern == "–" {
				continue
			}
			pattern = strings.ReplaceAll(strings.Trim(pattern, "`"), "\x00", "|")
			if pattern == "all" {
				pattern = ""
			}
			if r, err := regexp.Compile(pattern); err != nil || !slices.ContainsFunc(p.tests, r.MatchString) {
				t.Errorf("%s: %q matches none of its tests", name, pattern)
			}
		}
	}
	for name := range packages {
		if !seen[name] {
			t.Errorf("package %s has no row in .ci/README.md", name)
		}
	}
}

// The list of long tests, of which .ci/run takes some, is that of the tests that ask for MERCER_LONG.
func TestLongTestsAreListed(t *testing.T) {
	t.Chdir(root)
	text, err := os.ReadFile(".ci/long")
	if err != nil {
		t.Fatal(err)
	}
	asking := map[string]bool{}
	for folder, p := range inspectPackages(t) {
		for _, name := range p.long {
			asking[folder+" "+name] = true
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 4 {
			t.Errorf(".ci/long: %q is not a package, a test, seconds and what it guards", line)
			continue
		}
		if seconds, err := strconv.Atoi(words[2]); err != nil || seconds <= 0 {
			t.Errorf(".ci/long: %s %s: %q is no number of seconds", words[0], words[1], words[2])
		}
		test := words[0] + " " + words[1]
		if !asking[test] {
			t.Errorf(".ci/long has %s, which calls none of testenv.Long, Few and Size, or is there twice", test)
		}
		delete(asking, test)
	}
	for _, test := range slices.Sorted(maps.Keys(asking)) {
		t.Errorf("%s calls testenv.Long, Few or Size and is not in .ci/long", test)
	}
}
