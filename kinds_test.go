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

	"mercer/kernel"
)

// namesOfKernels lists the places of a file where the name of a kernel is written: in a comparison or
// a case, a table's key, a list, an argument. Only what makes a kind, its field name, may have it.
func namesOfKernels(set *token.FileSet, file *ast.File) (places []string) {
	names := kernel.Names()
	row := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "name" && file.Name.Name == "kernel" {
				row[n.Value] = true
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING || row[n] {
				break
			}
			if value, err := strconv.Unquote(n.Value); err == nil && slices.Contains(names, value) {
				places = append(places, set.Position(n.Pos()).String()+": "+n.Value)
			}
		}
		return true
	})
	return places
}

// The packages that work with kernels know no kernel by its name: they ask for a property of it, or
// for its kind. So a new kernel is a file with its kind and a row in kernel's table, and cannot be
// taken for another.
func TestKernelsAreNotToldByTheirNames(t *testing.T) {
	for _, pkg := range []string{"kernel", "feature", "approx", "exact", "pool"} {
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
	for code, want := range map[string]int{
		`var _ = k.Name == "rbf"`:                               1,
		`func f() { switch k.Name { case "chi2", "poly": } }`:   2,
		`var _ = slices.Contains([]string{"rbf", "x"}, k.Name)`: 1,
		`var _ = map[string]int{"matern": 1}`:                   1,
		`var _ = kernel.Kernel{Name: "linear"}`:                 1,
		`var _ = kind{name: "linear"}`:                          1,
		`var _ = k.Kind() == kernel.RBF`:                        0,
		`var _ = "rbf of 2"`:                                    0,
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
