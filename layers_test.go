package mercer

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floors are the storeys of the house: a package imports packages from lower floors only.
// docs/design.md describes them.
var floors = map[string]int{
	"internal/spare":       -1, // internal/vec needs it too
	"internal/option":      0,
	"internal/units":       0,
	"internal/vec":         0,
	"internal/random":      0,
	"internal/whole":       0,
	"internal/journal":     0,
	"internal/digits":      0,
	"internal/spelling":    0,
	"internal/need":        0,
	"internal/outside":     0,
	"matrix":               1,
	"internal/safetensors": 1,
	"internal/arrow":       1,
	"internal/parquet":     1,
	"internal/report":      1,
	"internal/chromium":    1,
	"rank":                 1,
	"kernel":               2,
	"cluster":              2,
	"dataset":              2,
	"moments":              2,
	"fetch":                1, // as those of database
	"database":             1, // its tests are above dataset
	"feature":              3,
	"learn":                4,
	"reduce":               4,
	"exact":                4,
	"pool":                 4,
	"approx":               4,
	"metric":               4,
	"rfm":                  5,
	"internal/landmarks":   3,
	"internal/trees":       4,
	"internal/bench":       4,
	"pipeline":             5,
	"model":                6,
	"neighbours":           7,
	"train":                7,
	"libsvm":               7,
	"liblinear":            7,
	"export":               7,
	"lab":                  8,
	"shard":                8,
	"explain":              8,
	"trial":                8,
	"cost":                 9,
	"tune":                 10,
	"auto":                 11,
	".":                    12,
	"serve":                12,
	"internal/present":     13,
	"internal/cli":         14,
	"cmd/mercer":           15,
	"examples/service":     15,
	"python/native":        15, // a module of its own
	"research/papers":      15, // research is one, too
	"research":             16,
	"research/benchmarks":  16,
	"research/histograms":  16,
	"research/pooling":     16,
}

// upward says what is wrong with a package's import of another, "" if nothing is.
func upward(from, to string) string {
	a, known := floors[from]
	if !known {
		return "package " + from + " has no floor; give it one in layers_test.go and docs/design.md"
	}
	b, known := floors[to]
	if !known {
		return "package " + from + " imports " + to + ", which has no floor"
	}
	if b >= a {
		return "package " + from + " (floor " + strconv.Itoa(a) + ") imports " + to + " (floor " + strconv.Itoa(b) + "); imports go down only"
	}
	return ""
}

func TestImportsGoDownOnly(t *testing.T) {
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
	for pkg := range floors {
		if !seen[pkg] {
			t.Errorf("floor given to %s, which does not exist", pkg)
		}
	}
}

func TestUpwardImportIsFound(t *testing.T) {
	for _, c := range []struct {
		from, to string
		wrong    bool
	}{
		{"model", "learn", false},
		{"learn", "model", true},
		{"learn", "exact", true},
		{"matrix", "nowhere", true},
		{"nowhere", "matrix", true},
	} {
		if got := upward(c.from, c.to); (got != "") != c.wrong {
			t.Errorf("%s → %s: %q", c.from, c.to, got)
		}
	}
}
