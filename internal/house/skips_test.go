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

// A test says by internal/engine/testenv what it lacks, so that .ci/run can insist on it. It calls Skip
// itself for -short, the operating system and the race detector only.
func TestSkipsAreExpected(t *testing.T) {
	t.Chdir(root)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || filepath.ToSlash(filepath.Dir(path)) == "internal/engine/testenv" {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range unexpectedSkips(file) {
			t.Errorf("%s: a skip for another reason than -short, the operating system or the race detector; ask internal/engine/testenv for what may lack",
				files.Position(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unexpectedSkips are the places of calls of Skip, Skipf and SkipNow that are not in the body of
// an if whose condition is a reason to skip.
func unexpectedSkips(file *ast.File) []token.Pos {
	expected := map[ast.Node]bool{}
	var found []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if skipReason(n.Cond) {
				for _, s := range n.Body.List {
					if s, is := s.(*ast.ExprStmt); is {
						expected[s.X] = true
					}
				}
			}
		case *ast.CallExpr:
			if f, is := n.Fun.(*ast.SelectorExpr); is && !expected[n] {
				switch f.Sel.Name {
				case "Skip", "Skipf", "SkipNow":
					found = append(found, n.Pos())
				}
			}
		}
		return true
	})
	return found
}

// skipReason tells whether a condition is one for which a test may skip itself.
func skipReason(cond ast.Expr) bool {
	switch c := cond.(type) {
	case *ast.BinaryExpr:
		if c.Op == token.LOR {
			return skipReason(c.X) && skipReason(c.Y)
		}
		return (c.Op == token.NEQ || c.Op == token.EQL) && dotted(c.X) == "runtime.GOOS"
	case *ast.CallExpr:
		return dotted(c.Fun) == "testing.Short"
	}
	return dotted(cond) == "raceDetector"
}

// dotted is what an expression of names is called, "" for others.
func dotted(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return dotted(x.X) + "." + x.Sel.Name
	}
	return ""
}

func TestUnexpectedSkipIsFound(t *testing.T) {
	t.Chdir(root)
	for body, want := range map[string]int{
		`if testing.Short() { t.Skip("long") }`:                                                     0,
		`if runtime.GOOS != "linux" || raceDetector || testing.Short() { t.Skip("Linux's alone") }`: 0,
		`t.Skip("for now")`:                                             1,
		`if err != nil { t.Skipf("no data: %v", err) }`:                 1,
		`if testing.Short() || err != nil { t.SkipNow() }`:              1,
		`if testing.Short() { return }; b.Skip("")`:                     1,
		`if testing.Short() { t.Skip("") } else { t.Skip("") }`:         1,
		`if testing.Short() { t.Run("", func() { t.Skip("inside") }) }`: 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc _() {"+body+"}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(unexpectedSkips(file)); got != want {
			t.Errorf("%s: %d unexpected, want %d", body, got, want)
		}
	}
}
