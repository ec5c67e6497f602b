package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/kernel"
)

// namesOfKernels lists the places of a file where the name of a kernel is written: in a comparison or
// a case, a table's key, a list, an argument. Only what makes a kind, its field name, may have it. The
// beginning of names, such as "skewed-", counts as one, and so does a comparison with kernel.RBF.Name().
func namesOfKernels(set *token.FileSet, file *ast.File) (places []string) {
	names := kernel.Names()
	named := func(text string) bool {
		return slices.Contains(names, text) || len(text) > 1 && strings.HasSuffix(text, "-") &&
			slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, text) })
	}
	compared := func(e ast.Expr) {
		if call, ok := e.(*ast.CallExpr); ok && isNameOfKind(call) {
			places = append(places, set.Position(e.Pos()).String()+": the name of a kind")
		}
	}
	row := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "name" && file.Name.Name == "kernel" {
				row[n.Value] = true
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared(n.X)
				compared(n.Y)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				compared(e)
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING || row[n] {
				break
			}
			if value, err := strconv.Unquote(n.Value); err == nil && named(value) {
				places = append(places, set.Position(n.Pos()).String()+": "+n.Value)
			}
		}
		return true
	})
	return places
}

// isNameOfKind says that a call is kernel.RBF.Name(), of any kind.
func isNameOfKind(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Name" {
		return false
	}
	kind, ok := method.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := kind.X.(*ast.Ident)
	return ok && pkg.Name == "kernel"
}

// The packages that work with kernels know no kernel by its name: they ask for a property of it, or
// for its kind. So a new kernel is a file with its kind and a row in kernel's table, and cannot be
// taken for another. A default, such as the kernels that a race begins with, is kernel.RBF.Name(), which
// the compiler checks. The tables of papers, in research, are left out: each is about kernels that it names.
func TestKernelsAreNotToldByTheirNames(t *testing.T) {
	t.Chdir(root)
	for _, pkg := range []string{"kernel", "feature", "internal/search", "internal/search/approx", "internal/solve/exact", "internal/solve/pool", "internal/solve/pipeline",
		"internal/app/render", "internal/app/cli"} {
		files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(pkg, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, place := range namesOfKernels(set, file) {
				t.Errorf("%s: ask for a property of kernel.Kernel, or compare its Kind", place)
			}
		}
	}
}

func TestNamesOfKernelsAreFound(t *testing.T) {
	t.Chdir(root)
	for code, want := range map[string]int{
		`var _ = k.Name == "rbf"`:                                1,
		`func f() { switch k.Name { case "chi2", "poly": } }`:    2,
		`var _ = slices.Contains([]string{"rbf", "x"}, k.Name)`:  1,
		`var _ = map[string]int{"matern": 1}`:                    1,
		`var _ = kernel.Kernel{Name: "linear"}`:                  1,
		`var _ = kind{name: "linear"}`:                           1,
		`var _ = strings.HasPrefix(k.Name, "skewed-")`:           1,
		`var _ = k.Name != kernel.RBF.Name()`:                    1,
		`func f() { switch k.Name { case kernel.RBF.Name(): } }`: 1,
		`var _ = kernel.Kernel{Name: kernel.RBF.Name()}`:         0,
		`var _ = "-"`:                    0,
		`var _ = k.Kind() == kernel.RBF`: 0,
		`var _ = "rbf of 2"`:             0,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package feature\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOfKernels(set, file); len(got) != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", "package kernel\nvar _ = Kind{name: \"linear\"}", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOfKernels(set, file); len(got) != 0 {
		t.Errorf("the row of a kind: %v", got)
	}
}
