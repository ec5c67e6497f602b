package kernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

// missing lists what a row of the table lacks: the fields that are empty and not marked as such that
// may be.
func missing(row any) (fields []string) {
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Tag.Get("may") == "be nil" {
			continue
		}
		if kind := field.Type.Kind(); (kind == reflect.Func || kind == reflect.String || kind == reflect.Interface) && v.Field(i).IsZero() {
			fields = append(fields, field.Name)
		}
	}
	return fields
}

// A kind states all that its family needs, so that no case is forgotten.
func TestEveryKindIsComplete(t *testing.T) {
	for _, k := range Kinds() {
		if k.name == "" || k.formula == "" || k.about == "" || k.family == nil {
			t.Errorf("%q lacks a name, a formula, a description or its family", k.name)
			continue
		}
		if lacks := missing(k.family); lacks != nil {
			t.Errorf("%s lacks %v", k, lacks)
		}
		if _, has := k.Parameter("gamma"); has != (k.gamma != nil) {
			t.Errorf("%s: it has γ: %t, and a rule for γ: %t", k, has, k.gamma != nil)
		}
		if k.gamma != nil {
			if lacks := missing(*k.gamma); lacks != nil {
				t.Errorf("%s: its rule for γ lacks %v", k, lacks)
			}
		}
		if k.law != nil {
			if l := k.law(k.Usual()); l.Coordinates == 0 || l.Wave == 0 {
				t.Errorf("%s: its law %+v lacks the coordinates or the wave", k, l)
			}
		}
		for _, p := range k.parameters {
			if !slices.Contains(ParameterNames(), p.Name) || p.About == "" || p.must == "" || p.text == nil || !(p.Least <= p.Most) {
				t.Errorf("%s: the parameter %+v is not complete", k, p)
			}
			if p.Usual == p.Usual && !p.Takes(p.Usual) || p.Usual != p.Usual && p.Name != "gamma" {
				t.Errorf("%s: %s is usually %g, which it cannot be", k, p.Name, p.Usual)
			}
			if !strings.Contains(ParameterHelp(p.Name), k.name) {
				t.Errorf("the help of %s does not name %s", p.Name, k)
			}
		}
		if slices.Contains(Names(), k.name) && byName[k.name] != k {
			t.Errorf("%s is there twice", k)
		}
	}
}

// The check finds what is missing.
func TestIncompleteKindIsFound(t *testing.T) {
	row := RBF.family.(radial)
	row.gap, row.steep = nil, nil
	if got, want := missing(row), []string{"gap", "steep"}; !slices.Equal(got, want) {
		t.Errorf("%v is missing, want %v", got, want)
	}
	sum := SkewedChi2.family.(summed)
	if got := missing(sum); got != nil || sum.origin != nil {
		t.Errorf("%v is missing, but may be", got)
	}
}

// The package's documentation lists the kernels as their table has them, and each has a documented
// variable.
func TestDocumentationListsEveryKernel(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := Help("//\t"); !strings.Contains(string(text), want) {
		t.Errorf("the list of kernels in doc.go is not that of the table, which is\n%s", want)
	}
	documented := 0
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if !v.Names[0].IsExported() || len(v.Values) != 1 {
					continue
				}
				if address, ok := v.Values[0].(*ast.UnaryExpr); ok && address.Op == token.AND {
					documented++
					if !strings.HasPrefix(g.Doc.Text(), v.Names[0].Name+" is ") {
						t.Errorf("%s has no documentation", v.Names[0].Name)
					}
				}
			}
		}
	}
	if documented != len(Kinds()) {
		t.Errorf("%d of %d kinds are documented variables", documented, len(Kinds()))
	}
}

// usualKernels has every kind with its usual parameters and γ = 0.3.
func usualKernels() (all []Kernel) {
	for _, kind := range Kinds() {
		k := kind.Usual()
		if Has(k.Name, "gamma") {
			k.Gamma = 0.3
		}
		all = append(all, k)
	}
	return all
}

// What a kind says of itself is true of its values.
func TestPropertiesAreThoseOfTheValues(t *testing.T) {
	x, y := histograms("x", 12, 5, 0), histograms("y", 12, 5, 0)
	for _, k := range slices.Concat(usualKernels(), everyKernel, histogramKernels) {
		series, hasSeries := k.Series(60)
		falls, hasFalling := k.Falling()
		sum, isSum := k.Additive()
		inner, outer, hasParts := k.Parts()
		for i := range x.Rows {
			a, b := x.Row(i), y.Row(i)
			want, xy := k.Eval(a, b), product(a, b)
			check := func(what string, got float64) {
				t.Helper()
				if relative(got, want) > 1e-9 {
					t.Errorf("%s: by its %s it is %g, want %g", k, what, got, want)
				}
			}
			if hasSeries {
				got := 0.0
				for _, p := range series.Powers {
					got += p.A * math.Pow(series.Gamma*xy+series.Constant, float64(p.N))
				}
				check("series", got)
			}
			if hasFalling {
				got := 0.0
				for j := range a {
					got += falls.Term(math.Abs(float64(a[j]) - float64(b[j])))
				}
				check("distances by dimension", math.Exp(-falls.Rate*got))
			}
			if isSum {
				got := 0.0
				for j := range a {
					u, v := float64(a[j]), float64(b[j])
					got += math.Pow(u*v, sum.Homogeneity/2) * sum.Signature(math.Log(v/u))
				}
				check("signature", got)
			}
			if hasParts {
				aa, bb, ab := inner.Eval(a, a), inner.Eval(b, b), inner.Eval(a, b)
				check("parts", outer.OfProducts(ab, aa, bb))
			}
			if k.Smooth() {
				check("inner products", k.OfProducts(xy, product(a, a), product(b, b)))
			}
			if law, ok := k.Law(); ok && law.ShiftInvariant() {
				c, d := slices.Clone(a), slices.Clone(b)
				for j := range c {
					c[j], d[j] = c[j]+4, d[j]+4
				}
				if got := k.Eval(c, d); relative(got, want) > 1e-4 {
					t.Errorf("%s is %g after a shift, before it %g", k, got, want)
				}
			}
		}
		// Growth: k(sx, sx) = sᵍ k(x, x) for large s, with g above 2 for powers.
		far, farther := slices.Clone(x.Row(0)), slices.Clone(x.Row(0))
		for j := range far {
			far[j], farther[j] = 8*far[j], 16*farther[j]
		}
		if growth := math.Log2(k.Eval(farther, farther) / k.Eval(far, far)); !math.IsInf(float64(k.Lowest()), -1) {
			if k.Powers() {
				t.Errorf("%s is a kernel of histograms and of powers", k)
			}
		} else if k.Powers() != (growth > 2.1) {
			t.Errorf("%s grows by 2^%.2f and is of powers: %t", k, growth, k.Powers())
		}
	}
}

// The spectrum of an additive kernel is the one whose Fourier transform is its signature.
func TestSpectraAreThoseOfSignatures(t *testing.T) {
	for _, k := range usualKernels() {
		sum, ok := k.Additive()
		if !ok || sum.Roots() {
			continue
		}
		for _, omega := range []float64{0, 0.3, 1, 2.5} {
			const h, reach = 1e-3, 400.0
			got := sum.Spectrum(0) * h
			for l := h; l < reach; l += h {
				got += 2 * h * sum.Spectrum(l) * math.Cos(l*omega)
			}
			if want := sum.Signature(omega); math.Abs(got-want) > 1e-3 {
				t.Errorf("%s: the transform of its spectrum at %g is %g, want %g", k, omega, got, want)
			}
		}
	}
}

func TestDefaultsFillWhatCannotBeZero(t *testing.T) {
	for _, c := range []struct{ k, want Kernel }{
		{Kernel{Name: "poly"}, Kernel{Name: "poly", Degree: 3}},
		{Kernel{Name: "poly", Degree: 2, Coef0: 4}, Kernel{Name: "poly", Degree: 2, Coef0: 4}},
		{Kernel{Name: "arccos"}, Kernel{Name: "arccos"}},
		{Kernel{Name: "matern", Gamma: 2}, Kernel{Name: "matern", Gamma: 2, Nu: 1.5}},
		{Kernel{Name: "skewed-chi2"}, Kernel{Name: "skewed-chi2", Coef0: 1}},
		{Kernel{Name: "chi2"}, Kernel{Name: "chi2"}},
		{Kernel{Name: "magic", Nu: 1}, Kernel{Name: "magic", Nu: 1}},
	} {
		if got := c.k.WithDefaults(); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.k, got, c.want)
		}
	}
	for _, want := range []Kernel{
		{Name: "linear"}, {Name: "poly", Degree: 3, Coef0: 1}, {Name: "arccos", Degree: 1}, {Name: "rbf"}, {Name: "matern", Nu: 1.5},
		{Name: "skewed-intersection", Coef0: 1}, {Name: "chi2", Homogeneity: 1},
	} {
		if got := want.Kind().Usual(); got != want {
			t.Errorf("the usual kernel is %+v, want %+v", got, want)
		}
	}
}

func TestParameterHelp(t *testing.T) {
	for name, want := range map[string]string{
		"degree":      "degree p of poly (default 3); order p, 0 or 1, of arccos (default 1)",
		"nu":          "smoothness ν of matern (default 1.5)",
		"homogeneity": "degree of homogeneity h, k(ax, ay) = aʰ·k(x, y), of hellinger, chi2, intersection and jensen-shannon (default 1)",
	} {
		if got := ParameterHelp(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// 0 of a parameter stands for its usual value, but where the kernel takes 0 itself.
func TestUngivenParameters(t *testing.T) {
	for _, c := range []struct {
		kernel, parameter string
		want              float64
	}{
		{"arccos", "degree", 1}, {"poly", "degree", 0}, {"poly", "coef0", 1}, {"skewed-chi2", "coef0", 0}, {"rbf", "degree", 0},
		{"rbf", "gamma", 0}, {"magic", "degree", 0},
	} {
		if got := Ungiven(c.kernel, c.parameter); got != c.want {
			t.Errorf("%s of %s: %g, want %g", c.parameter, c.kernel, got, c.want)
		}
	}
}

// A length scale of 3 is γ = 1/18, and exp(-‖x-y‖/3) is matern of ν = ½.
func TestLengthScale(t *testing.T) {
	k := Kernel{Name: "matern", Nu: 0.5, Gamma: 1.0 / 18}
	sigma, ok := k.LengthScale()
	if !ok || math.Abs(sigma-3) > 1e-12 {
		t.Errorf("%g, %t", sigma, ok)
	}
	if got, want := k.Eval([]float32{0, 0}, []float32{3, 4}), math.Exp(-5/sigma); math.Abs(got-want) > 1e-12 {
		t.Errorf("k is %g, want %g", got, want)
	}
	if _, ok := (Kernel{Name: "rbf", Gamma: 1}).LengthScale(); ok {
		t.Error("the formula of rbf has γ and no σ")
	}
}

func TestRulesOfGammaAreWritten(t *testing.T) {
	for name, want := range map[string][3]string{
		"rbf":    {"1/median‖x-y‖²", "1/(d·variance)", "distance"},
		"poly":   {"1/median‖x‖²", "1/(d·variance)", "length"},
		"cauchy": {"1/√median‖x-y‖²", "1/√(d·variance)", "distance"},
		"chi2":   {"", "", ""},
	} {
		kind, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		median, scale := kind.GammaRule()
		if got := [3]string{median, scale, kind.MedianOf()}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Of a name that is no kernel's nothing holds, and nothing panics.
func TestUnknownKernelsHaveNoProperties(t *testing.T) {
	k := Kernel{Name: "magic", Gamma: 1}
	_, law := k.Law()
	_, series := k.Series(3)
	_, sum := k.Additive()
	_, falls := k.Falling()
	_, _, parts := k.Parts()
	if k.Kind() != nil || k.Linear() || k.Powers() || k.Smooth() || law || series || sum || falls || parts ||
		!math.IsInf(float64(k.Lowest()), -1) || k.Own() != (Kernel{Name: "magic"}) {
		t.Error("an unknown kernel has properties")
	}
	if err := k.CheckRows(matrix.Rows{Dense: rows("any", 3, 2, 0)}); err != nil {
		t.Error(err)
	}
}

// What others call a kernel says what it is here, or that there is none and what to take.
func TestNamesOfOtherPrograms(t *testing.T) {
	for name, want := range map[string]string{
		"gaussian":               "it is called rbf here; known are linear",
		"Gaussian":               "it is called rbf here",
		"RBF":                    "did you mean rbf?",
		"rbf_kernel":             "did you mean rbf?",
		"polynomial":             "it is called poly here",
		"quadratic":              "poly of degree 2",
		"sigmoid":                "there is none, since tanh",
		"cosine":                 "take linear on rows of length 1",
		"laplace":                "it is called laplacian here",
		"matern32":               "matern with nu 1.5",
		"Matern 5/2":             "matern with nu 2.5",
		"matern-52":              "matern with nu 2.5",
		"additive_chi2":          "it is called chi2 here",
		"histogram-intersection": "it is called intersection here",
		"histogram_intersection": "it is called intersection here",
		"jensen_shannon":         "did you mean jensen-shannon?",
		"gausian":                "did you mean gaussian? it is called rbf here",
		"laplacain":              "did you mean laplacian?",
		"rational-quadratic":     "there is none; take matern",
		"":                       `"" is not a kernel; known are`,
		"magic":                  `"magic" is not a kernel; known are`,
	} {
		_, err := Find(name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "known are linear, poly") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if again := (Kernel{Name: name}).Validate(); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: Validate says %v", name, again)
		}
	}
	for name, text := range foreign {
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;()", r) })
		if !slices.ContainsFunc(words, func(w string) bool { return byName[w] != nil }) {
			t.Errorf("%s: %q names no kernel", name, text)
		}
		if byName[name] != nil {
			t.Errorf("%s is a kernel", name)
		}
	}
}
