package feature

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/kernel"
)

// The package's documentation lists the maps as their table has them.
func TestDocumentationListsEveryMap(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := Help("//\t"); !strings.Contains(string(text), want) {
		t.Errorf("the list of maps in doc.go is not that of the table, which is\n%s", want)
	}
}

// Every map has a documented constant of its name, and a complete row in the table.
func TestEveryMapIsDocumented(t *testing.T) {
	documented := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if !v.Names[0].IsExported() || len(v.Values) != 1 {
					continue
				}
				if literal, ok := v.Values[0].(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(literal.Value)
					documented[name] = g.Doc.Text() + v.Doc.Text()
				}
			}
		}
	}
	for _, k := range kinds() {
		if doc := documented[k.name]; strings.Count(doc, "\n") < 4 {
			t.Errorf("%s has no documented constant: %q", k.name, doc)
		}
		doc := documented[k.name]
		for what, says := range map[string]*regexp.Regexp{
			"what a row takes":   regexp.MustCompile(`O\(|multiplications|costs as much as`),
			"what the map holds": regexp.MustCompile(`bytes|holds|costs as much as`),
			"its source":         regexp.MustCompile(`(19|20)\d\d`),
		} {
			if !says.MatchString(doc) && (what != "its source" || k.source != "") {
				t.Errorf("the documentation of %s does not say %s", k.name, what)
			}
		}
		if k.name == "" || k.about == "" || k.cost == "" {
			t.Errorf("%+v lacks a name, a description or a cost", k)
		}
		if k.make == nil && (k.fit == nil || k.restore == nil) || (k.fit == nil) != (k.restore == nil) {
			t.Errorf("%s cannot be made, or not restored", k.name)
		}
		if both := k.make != nil && k.fit != nil; both && !k.composed && k.given == nil {
			t.Errorf("%s is drawn and fitted, and does not say when", k.name)
		}
		for option := range k.words {
			if !slices.Contains(k.options, option) {
				t.Errorf("%s has words for the option %s, which it has not", k.name, option)
			}
		}
		for _, option := range k.options {
			if !slices.Contains(OptionNames(), option) {
				t.Errorf("%s has the option %s, which has no help", k.name, option)
			}
		}
	}
}

// The help of an option has all words that maps take, and "" stands for the first.
func TestWordsOfOptions(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	sample, _ := someRows(40, 5)
	x := positive(sample)
	for _, k := range kinds() {
		if k.name == Precomputed {
			continue // takes kernel values for rows; its own test has its words
		}
		for option, words := range k.words {
			config := func(word string) Config {
				cfg := Config{Map: k.name, Features: 8, Kernel: kernel.RBF.Usual()}
				if names := Kernels(k.name); names != nil {
					kind, _ := kernel.Find(names[len(names)-1])
					cfg.Kernel = kind.Usual()
				}
				if cfg.Kernel.Gamma == 0 && kernel.Has(cfg.Kernel.Name, "gamma") {
					cfg.Kernel.Gamma = 0.5
				}
				if k.dim && cfg.Decides() {
					cfg.Features = 0
				}
				if word == "given" {
					cfg.Given = gather(x, []int{1, 2, 3})
				}
				switch option {
				case "form":
					cfg.Form = word
				case "radius":
					cfg.Radius = word
				case "hash":
					cfg.Hash = word
				case "entries":
					cfg.Entries = word
				case "reuse":
					cfg.Reuse = word
				case "window":
					cfg.Window = word
				case "landmarks":
					cfg.Landmarks = word
				case "widths":
					cfg.Widths = word
				default:
					t.Fatalf("the option %s has words", option)
				}
				return cfg
			}
			var first []float32
			for i, word := range append([]string{""}, words...) {
				m, err := Fit(t.Context(), config(word), x)
				if err != nil {
					t.Errorf("%s with %s %q: %v", k.name, option, word, err)
					continue
				}
				z := transform(m, x).Data
				switch i {
				case 0:
					first = z
				case 1:
					if !slices.Equal(z, first) {
						t.Errorf("%s: %s %s is not the default", k.name, option, word)
					}
				default:
					// In few dimensions there is nothing to project.
					if slices.Equal(z, first) && word != "projected" {
						t.Errorf("%s: %s %s is the default", k.name, option, word)
					}
				}
			}
			if _, err := Fit(t.Context(), config("nonsense"), x); err == nil {
				t.Errorf("%s takes %s nonsense", k.name, option)
			}
			help := OptionHelp(option)
			if want := strings.Join(words, ", "); !strings.Contains(help, want) || !strings.Contains(help, k.name) {
				t.Errorf("the help of %s is %q, without %q of %s", option, help, want, k.name)
			}
		}
	}
	want := "form of the features: pair, phase (default pair) of rff, orf, sorf, qmc, fastfood, skewed; " +
		"fraction, step (default fraction) of unary; db2, haar (default db2) of wavelets"
	if help := OptionHelp("form"); help != want {
		t.Error(help)
	}
	if OptionHelp("magic") != "" {
		t.Error("there is help for an option that no map has")
	}
}

// The default map of every kernel approximates it, in few dimensions and in many, and is the one that
// docs/algorithms.md names.
func TestDefaultMapOfEveryKernel(t *testing.T) {
	want := map[string][2]string{
		"linear": {"", ""}, "poly": {"tensorsketch", "tensorsketch"}, "exp": {"maclaurin", "maclaurin"}, "arccos": {"orf", "sorf"},
		"rbf": {"orf", "sorf"}, "laplacian": {"rff", "rff"}, "cauchy": {"rff", "rff"}, "matern": {"orf", "sorf"},
		"hellinger": {"homogeneous", "homogeneous"}, "chi2": {"homogeneous", "homogeneous"},
		"intersection": {"homogeneous", "homogeneous"}, "jensen-shannon": {"homogeneous", "homogeneous"},
		"exp-chi2": {"sorf", "sorf"}, "skewed-chi2": {"skewed", "skewed"}, "skewed-intersection": {"skewed", "skewed"},
	}
	for _, kind := range kernel.Kinds() {
		k := kind.Usual()
		got := [2]string{Default(k, 16), Default(k, 17)}
		if w, known := want[kind.Name()]; known && got != w {
			t.Errorf("%s: %v, want %v", kind, got, w)
		}
		for _, name := range got {
			if name != "" && !slices.Contains(MapsOf(kind.Name()), name) || name == "" && !k.Linear() {
				t.Errorf("%s: the default map %q does not approximate it", kind, name)
			}
		}
	}
	if got := Default(kernel.Kernel{Name: "a kernel to come"}, 5); got != Nystrom {
		t.Errorf("a kernel without properties has the map %s", got)
	}
}

// What maps of other programs are called says what they are here, and names maps and kernels that
// there are.
func TestNamesOfOtherPrograms(t *testing.T) {
	for name, want := range map[string]string{
		"fourier":                    "rff",
		"rks":                        "rff",
		"RBFSampler":                 "rff",
		"Nystroem":                   "nystrom",
		"PolynomialCountSketch":      "tensorsketch",
		"AdditiveChi2Sampler":        "homogeneous",
		"SkewedChi2Sampler":          "skewed",
		"gaussian projection":        "rp with entries normal",
		"Gaussian_Random-Projection": "rp with entries normal",
		"polynomialcountskech":       "tensorsketch",
		"Tensor-Sketch":              "did you mean tensorsketch?",
		"KG_RP":                      "did you mean kg-rp?",
		"sorff":                      "did you mean sorf?",
		"homogenous":                 "did you mean homogeneous?",
		"rbf":                        "rbf is a kernel, which has the maps rff, orf, sorf",
		"SORF":                       "did you mean sorf?",
	} {
		err := Check(Config{Map: name, Kernel: rbf, Features: 8})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "known are rff, orf") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	known, _ := Names()
	words := append(known, kernel.Names()...)
	for name, text := range foreign {
		if !slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;()", r) }),
			func(w string) bool { return slices.Contains(words, w) }) && !strings.Contains(text, "components") {
			t.Errorf("%s: %q names nothing that there is", name, text)
		}
		if slices.Contains(known, name) {
			t.Errorf("%s is a map", name)
		}
	}
	err := Check(Config{Map: "qqqqqqqqq", Kernel: rbf, Features: 8})
	if err == nil || !strings.Contains(err.Error(), `"qqqqqqqqq" is not a map; known are`) {
		t.Error(err)
	}
}

// Features of centred maps have the kernel's values when both are moved to the mean of the rows, and
// those of no other map need that.
func TestCentred(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want bool
	}{
		{Config{Map: "kg-rp", Kernel: rbf}, true},
		{Config{Map: "nystrom", Kernel: rbf}, false},
		{Config{Map: "", Kernel: rbf}, false},
		{Config{Map: "sum", Steps: []Config{{Map: "rff", Kernel: rbf}, {Map: "korp", Kernel: rbf}}}, true},
		{Config{Map: "sum", Steps: []Config{{Map: "rff", Kernel: rbf}}}, false},
		{Config{Map: "chain", Steps: []Config{{Map: "rp", Kernel: linear}, {Map: "kpca-rp", Kernel: rbf}}}, true},
		{Config{Map: "chain", Steps: []Config{{Map: "kpca-rp", Kernel: rbf}, {Map: "rp", Kernel: linear}}}, true},
		{Config{Map: "chain", Steps: []Config{{Map: "kpca-rp", Kernel: rbf}, {Map: "rff", Kernel: rbf}}}, false},
		{Config{Map: "chain", Steps: []Config{{Map: "rp", Kernel: linear}, {Map: "countsketch", Kernel: linear}}}, false},
	} {
		if got := Centred(c.cfg); got != c.want {
			t.Errorf("%+v: %t", c.cfg, got)
		}
	}
}
