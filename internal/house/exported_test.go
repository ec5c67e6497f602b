package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// undocumented lists the exported names of a file without a comment: types, functions, methods of exported
// types, the methods of interfaces, and constants and variables, for which that of their group counts.
func undocumented(set *token.FileSet, file *ast.File) (places []string) {
	add := func(name *ast.Ident) {
		places = append(places, set.Position(name.Pos()).String()+": "+name.Name)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || receiver(d.Recv).IsExported()) {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if !spec.Name.IsExported() {
						break
					}
					if d.Doc == nil && spec.Doc == nil {
						add(spec.Name)
					}
					if of, ok := spec.Type.(*ast.InterfaceType); ok {
						for _, m := range of.Methods.List {
							if len(m.Names) > 0 && m.Names[0].IsExported() && m.Doc == nil && m.Comment == nil {
								add(m.Names[0])
							}
						}
					}
				case *ast.ValueSpec:
					if name := spec.Names[0]; name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
						add(name)
					}
				}
			}
		}
	}
	return places
}

// receiver is the name of the type that a method belongs to.
func receiver(list *ast.FieldList) *ast.Ident {
	t := list.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of
		default:
			return ast.NewIdent("_")
		}
	}
}

// public are the packages that programs import: all that are not internal, a command or an example, but for readers that a program
// imports for their effect (dataset/database, dataset/fetch).
var public = []string{".", "dataset", "eval", "feature", "kernel", "matrix", "model", "serve", "train"}

// No package is public by the way.
func TestPublicPackages(t *testing.T) {
	t.Chdir(root)
	var found []string
	for pkg := range inspectPackages(t) {
		if of, _, _ := strings.Cut(pkg, "/"); !slices.Contains([]string{"internal", "cmd", "examples", "research"}, of) {
			found = append(found, pkg)
		}
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(append([]string{"dataset/database", "dataset/fetch"}, public...)))
	if !slices.Equal(found, want) {
		t.Errorf("public are\n%q\nand are to be\n%q", found, want)
	}
}

// What programs import is documented, every name of it. Methods that every error or value has need no comment.
func TestExportedNamesAreDocumented(t *testing.T) {
	t.Chdir(root)
	for _, pkg := range public {
		files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(pkg, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, place := range undocumented(set, file) {
				if _, name, _ := strings.Cut(place, ": "); name != "Error" && name != "Unwrap" && name != "String" {
					t.Errorf("%s has no comment", place)
				}
			}
		}
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	t.Chdir(root)
	for code, want := range map[string]int{
		"func F() {}":                      1,
		"// F does it.\nfunc F() {}":       0,
		"func f() {}":                      0,
		"type T struct{}":                  1,
		"// T is one.\ntype T struct{}":    0,
		"type t struct{}\nfunc (t) M() {}": 0,
		"// T is one.\ntype T[K any] int\nfunc (*T[K]) M() {}": 1,
		"// I is one.\ntype I interface { M(); N() // n\n}":    1,
		"// Of a group.\nconst (\n\tA = 1\n\tB = 2\n)":         0,
		"const (\n\tA = 1 // one\n\tB = 2\n)":                  1,
		"var V, w int":                                         1,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package p\n"+code, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := undocumented(set, file); len(got) != want {
			t.Errorf("%q: %q, want %d", code, got, want)
		}
	}
}
