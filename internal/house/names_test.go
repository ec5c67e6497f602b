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

	"mercer/dataset"
	"mercer/feature"
	"mercer/kernel"
	"mercer/train"
)

// Learners, kernels, maps and formats each have a file of their own and a row of a table, which says what they are like: code that
// depends on one asks for that, and does not name it.
var registered = map[string]func() []string{
	"learner": train.Learners,
	"kernel":  kernel.Names,
	"map":     func() []string { names, _ := feature.Names(); return names },
	"format":  dataset.Formats,
}

// namesAllowed are the files that name one of them, with the reason.
var namesAllowed = map[string]string{
	"train/learnernames.go: libsvm":                 "the program, whose learners have other names here",
	"train/learnernames.go: linear":                 "a kernel that is taken for a learner",
	"train/learnernames.go: rbf":                    "a kernel that is taken for a learner",
	"train/memory.go: tensorsketch":                 "a way of pooling",
	"internal/app/cli/foreign.go: libsvm":           "rows with serial numbers, as svm-predict has them",
	"internal/app/cli/liblinear_predict.go: libsvm": "the only text that LIBLINEAR reads",
	"internal/app/cli/liblinear_train.go: libsvm":   "the only text that LIBLINEAR reads",
	"internal/app/cli/outputs.go: csv":              "the flag --csv",
	"internal/app/cli/report.go: csv":               "the flag --csv",
	"internal/app/cli/transform.go: npy":            "complex numbers, which no other format has",
}

// A naming is a place of a Go file that names something registered.
type naming struct{ pos, what, name string }

// namings are the strings in a file that are names, and the comparisons with a row of a table: ==, != or case with ridgeLearner,
// kernel.Poly or feature.Nystrom, and assertions that the options are a Ridge. Not counted are the learners whose options are defined in
// the file, the kernels linear and rbf, which are the rows themselves and the default, and the maps that are composed of others.
func namings(t *testing.T, path string, src any) (all []naming) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	own := ownLearners(file)
	add := func(n ast.Node, what, name string) {
		if !slices.Contains(own, name) {
			all = append(all, naming{files.Position(n.Pos()).String(), what, name})
		}
	}
	compared := func(e ast.Expr) {
		if call, ok := e.(*ast.CallExpr); ok {
			e = call.Fun
		}
		text := exprText(e)
		first, rest, _ := strings.Cut(text, ".")
		constant, _, _ := strings.Cut(rest, ".")
		switch {
		case strings.HasSuffix(first, "Learner") && rest == "name" && !slices.Contains(own, first):
			add(e, "learner", first)
		case first == "kernel" && ast.IsExported(constant) && !slices.Contains([]string{"Linear", "RBF"}, constant):
			add(e, "kernel", text)
		case first == "feature" && ast.IsExported(constant) && !slices.Contains([]string{"Chain", "Sum"}, constant):
			add(e, "map", text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil {
				break
			}
			for what, names := range registered {
				if slices.Contains(names(), text) {
					add(n, what, text)
				}
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
		case *ast.TypeAssertExpr:
			if of := exprText(n.Type); strings.HasSuffix(exprText(n.X), ".Learner") && of != "Named" && of != "T" {
				add(n, "learner", of)
			}
		}
		return true
	})
	return all
}

// ownLearners are the learners whose options a file defines: their names, types and rows of the table.
func ownLearners(file *ast.File) (own []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "learner" && d.Recv != nil && d.Type.Params.NumFields() == 0 {
				if r, ok := d.Body.List[0].(*ast.ReturnStmt); ok {
					if lit, ok := r.Results[0].(*ast.BasicLit); ok {
						name, _ := strconv.Unquote(lit.Value)
						own = append(own, name, exprText(d.Recv.List[0].Type))
					}
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && strings.HasSuffix(v.Names[0].Name, "Learner") {
					own = append(own, v.Names[0].Name)
				}
			}
		}
	}
	return own
}

// exprText is a.b.c of such an expression, "" of others.
func exprText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return exprText(e.X) + "." + e.Sel.Name
	}
	return ""
}

func TestNothingRegisteredIsNamed(t *testing.T) {
	t.Chdir(root)
	met := map[string]bool{}
	for _, pkg := range []string{"internal/search", "train", "internal/app/cli"} {
		paths, err := filepath.Glob(pkg + "/*.go")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, n := range namings(t, path, nil) {
				key := path + ": " + n.name
				if met[key] = true; namesAllowed[key] == "" {
					t.Errorf("%s names the %s %s; ask what is meant by it: train.LearnerOf, kernel.Kind, package feature, package dataset", n.pos, n.what, n.name)
				}
			}
		}
	}
	for key := range namesAllowed {
		if !met[key] {
			t.Errorf("%s is allowed, but is not there", key)
		}
	}
}

func TestNamingsAreFound(t *testing.T) {
	t.Chdir(root)
	src := `package p

func (Own) learner() string { return "svr" }

func f(a string, c Config) bool {
	switch a {
	case "svr", "a ridge", svmLearner.name:
	case feature.Nystrom, feature.Sum:
	}
	_, ok := c.Learner.(Ridge)
	_, ours := c.Learner.(Own)
	return ok || a == "ridge" || a == ` + "`kernel-svm`" + ` || k == kernel.Poly || a != kernel.Poly.Name() || k == kernel.Linear
}
`
	var found []string
	for _, n := range namings(t, "p.go", src) {
		found = append(found, n.pos+" "+n.what+" "+n.name)
	}
	want := []string{
		"p.go:7:25 learner svmLearner", "p.go:8:7 map feature.Nystrom", "p.go:10:11 learner Ridge", "p.go:12:20 learner ridge",
		"p.go:12:36 learner kernel-svm", "p.go:12:57 kernel kernel.Poly", "p.go:12:77 kernel kernel.Poly.Name",
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("found\n%s", strings.Join(found, "\n"))
	}
}
