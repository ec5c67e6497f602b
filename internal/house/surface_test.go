package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The exported functions and types of train: those that programs use, and those that only the packages that
// compare trainings use, which docs/design.md says are not stable.
var (
	trainForPrograms = []string{
		"As", "Calibration", "Config", "Continue", "ElasticNet", "Falkon", "Fit", "FitBagPipeline", "FitBags",
		"FitPipeline", "FitStatistics", "GroupLasso", "KMeans", "KNN", "Kernel", "KernelRidge", "KernelSVM", "LDA", "Lasso", "Learner",
		"Learners", "LoadStatistics", "Logistic", "Map", "Metric", "Named", "NewPlan", "OneClass", "Online", "Options",
		"PartialFit", "Plan", "Prediction", "RFM", "ReadStatistics", "Reduction", "Report", "Residual", "Resolve", "Ridge", "SGD",
		"SVM", "SVR", "Shrinkage", "Statistics", "Step", "Survey",
	}
	trainForSearches = []string{
		"CheckSharded", "Chooser", "Data", "ExactSVM", "LearnerOf", "MappedRows", "Means", "NewSharded", "OnePass", "PartsFit",
		"PathRows", "Prepare", "Prepared", "Setting", "Settings", "Sharded", "ShardedCost", "Size", "Traits",
	}
)

// What train exports is written down, so that it does not grow by the way.
func TestSurfaceOfTrain(t *testing.T) {
	t.Chdir(root)
	var exported []string
	paths, err := filepath.Glob("train/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					exported = append(exported, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						exported = append(exported, s.Name.Name)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							exported = append(exported, n.Name)
						}
					}
				}
			}
		}
	}
	exported = slices.DeleteFunc(exported, func(name string) bool { return !ast.IsExported(name) })
	slices.Sort(exported)
	want := slices.Sorted(slices.Values(slices.Concat(trainForPrograms, trainForSearches)))
	if !slices.Equal(exported, want) {
		t.Errorf("train exports\n%q\nand is to export\n%q", exported, want)
	}
	design, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range trainForSearches {
		if !strings.Contains(string(design), "`"+name+"`") {
			t.Errorf("docs/design.md does not say that train.%s is not stable", name)
		}
	}
}
