package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/app/render"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/kernel"
)

// cloud is a CSV of n rows of three numbers and a label.
func cloud(n int, of func(v float64) float64) string {
	r := random.New(1, "approx.cloud")
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%c\n", of(r.Normal()), of(r.Normal()), of(r.Normal()), 'a'+i%2)
	}
	return b.String()
}

type approxJSON struct {
	N       int `json:"n"`
	Rows    int `json:"rows"`
	Pairs   int `json:"pairs"`
	Results []map[string]any
	Rates   []struct {
		Map, Error string
		Exponent   float64
	}
	Skipped        []struct{ Map, Reason string }
	Recommendation *struct {
		Map      string
		Features int
		Measured map[string]any
		Offers   []map[string]any
	}
}

func approxOf(t *testing.T, args ...string) approxJSON {
	t.Helper()
	var v approxJSON
	if err := json.Unmarshal([]byte(ok(t, append([]string{"approx", "--json", "--progress", "never"}, args...)...)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The contract: one object a (map, features), each with these numbers.
func TestApproxJSON(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", cloud(400, func(v float64) float64 { return v }))
	v := approxOf(t, data, "--map", "rff,orf", "--map", "nystrom", "--features", "16,64", "--rows", "80", "--seeds", "3", "--rel", "0.3")
	if v.N != 400 || v.Rows != 80 || v.Pairs != 80*79/2 || len(v.Results) != 6 {
		t.Fatalf("%d rows, %d judged, %d pairs, %d results", v.N, v.Rows, v.Pairs, len(v.Results))
	}
	seen := map[string]bool{}
	for _, r := range v.Results {
		seen[fmt.Sprint(r["map"], r["features"])] = true
		for _, name := range []string{"mean_abs", "mean_rel", "rel_frobenius", "distortion", "us_per_row", "us_one_row", "bytes",
			"max_abs", "max_rel", "rel_share", "delta1", "effective_dimension", "lambda"} {
			if n, ok := r[name].(float64); !ok || n <= 0 {
				t.Errorf("%v %v: %s is %v", r["map"], r["features"], name, r[name])
			}
		}
	}
	for _, want := range []string{"rff16", "rff64", "orf16", "orf64", "nystrom16", "nystrom64"} {
		if !seen[want] {
			t.Errorf("no result for %s", want)
		}
	}
	if len(v.Rates) != 6 {
		t.Errorf("%d rates", len(v.Rates))
	}
	rec := v.Recommendation
	if rec == nil || rec.Measured["map"] != rec.Map || rec.Measured["features"] != float64(rec.Features) || len(rec.Offers) == 0 {
		t.Fatalf("recommendation %+v", rec)
	}
	if e := rec.Measured["mean_rel"].(float64); e > 0.3 {
		t.Errorf("an error of 0.3 was asked for; measured %g", e)
	}
}

// One D is enough to be told of another one.
func TestApproxRecommendsFromOneSize(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", cloud(200, func(v float64) float64 { return v }))
	args := []string{data, "--map", "rff", "--features", "64", "--rows", "60", "--seeds", "4"}
	half := approxOf(t, args...).Results[0]["mean_abs"].(float64) / 2
	args = append(args, "--error", strconv.FormatFloat(half, 'g', -1, 64))
	v := approxOf(t, args...)
	if rec := v.Recommendation; len(v.Results) != 1 || rec == nil || rec.Features <= 64 ||
		rec.Measured["mean_abs"].(float64) > half || rec.Offers[0]["added_features"] != 16.0 {
		t.Errorf("%d results, %+v", len(v.Results), rec)
	}
	if text := ok(t, append([]string{"approx"}, args...)...); !strings.Contains(text,
		"measured for them alone: rff at D = 16") || strings.Contains(text, "\n\n\n") {
		t.Errorf("the text:\n%s", text)
	}
}

// The same numbers whatever the threads and batches; times apart.
func TestApproxIsDeterministic(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", cloud(300, func(v float64) float64 { return v }))
	once := func(args ...string) string {
		v := approxOf(t, append([]string{data, "--features", "32", "--map", "sorf,nystrom", "--seeds", "2", "--rows", "50"}, args...)...)
		for _, r := range v.Results {
			delete(r, "us_per_row")
			delete(r, "us_one_row")
		}
		return fmt.Sprint(v.Results)
	}
	if a, b := once("--threads", "1"), once("--threads", "2", "--batch", "17"); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if a, b := once(), once("--seed", "2"); a == b {
		t.Error("the seed changes nothing")
	}
}

// Every kernel has maps that are measured by default.
func TestApproxOfEveryKernel(t *testing.T) {
	dir := t.TempDir()
	signed := write(t, dir, "signed.csv", cloud(150, func(v float64) float64 { return v }))
	positive := write(t, dir, "positive.csv", cloud(150, math.Abs))
	for name, want := range map[string]string{
		"linear": "rp", "poly": "tensorsketch", "exp": "maclaurin", "arccos": "rff", "rbf": "sorf", "laplacian": "rff",
		"cauchy": "rff", "matern": "orf",
		"hellinger": "homogeneous", "chi2": "chebyshev", "intersection": "unary", "jensen-shannon": "homogeneous",
		"exp-chi2": "sorf", "skewed-chi2": "skewed", "skewed-intersection": "skewed",
	} {
		data := signed
		if strings.Contains("hellinger chi2 intersection jensen-shannon exp-chi2 skewed-chi2 skewed-intersection", name) {
			data = positive
		}
		args := []string{data, "--kernel", name, "--rows", "30", "--seeds", "1"}
		if want != "homogeneous" && want != "unary" && want != "chebyshev" {
			args = append(args, "--features", "32")
		}
		v := approxOf(t, args...)
		found := false
		for _, r := range v.Results {
			found = found || r["map"] == want
		}
		if !found {
			t.Errorf("%s: %v, skipped %v", name, v.Results, v.Skipped)
		}
	}
}

func TestApproxOfChainsAndSums(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", cloud(120, func(v float64) float64 { return v }))
	chain := `{"map":"chain","steps":[{"map":"explicit-poly","kernel":{"name":"poly","degree":2,"coef0":1}},{"map":"orf"}]}`
	sum := `{"map":"sum","weights":[1,2],"steps":[{"map":"explicit-poly","kernel":{"name":"poly","degree":1,"gamma":1}},` +
		`{"map":"explicit-poly","kernel":{"name":"poly","degree":2}}]}`
	v := approxOf(t, data, "--map", chain, "--map", sum, "--map", "orf", "--rows", "40", "--seeds", "4", "--features", "64,1024")
	if len(v.Results) != 5 {
		t.Fatalf("%d results", len(v.Results))
	}
	errors := map[string]float64{}
	for _, r := range v.Results {
		errors[fmt.Sprint(r["map"], r["features"])] = r["mean_abs"].(float64)
	}
	if e := errors["sum(explicit-poly, explicit-poly)12"]; !(e < 1e-5) {
		t.Errorf("a sum of explicit maps errs by %g: %v", e, errors)
	}
	// orf on the feature space of another kernel has the errors of a random map.
	few, many := errors["chain(explicit-poly, orf)64"], errors["chain(explicit-poly, orf)1,024"]
	if many == 0 {
		many = errors["chain(explicit-poly, orf)1024"]
	}
	if !(few > 0 && few < 0.2 && many < few/2) {
		t.Errorf("a chain errs by %g and %g: %v", few, many, errors)
	}
}

// Scaling, γ and maps are fitted on --fit.
func TestApproxFit(t *testing.T) {
	dir := t.TempDir()
	small := write(t, dir, "small.csv", cloud(40, func(v float64) float64 { return v }))
	large := write(t, dir, "large.csv", cloud(300, func(v float64) float64 { return 2 * v }))
	v := approxOf(t, small, "--fit", large, "--map", "nystrom,rff", "--features", "16", "--seeds", "1")
	if v.N != 40 || v.Rows != 40 || len(v.Results) != 2 {
		t.Errorf("%+v", v)
	}
	out := ok(t, "approx", small, "--fit", large, "--map", "nystrom", "--features", "16", "--seeds", "1", "--scale", "none")
	if !strings.Contains(out, "to 300 rows of "+large) || !strings.Contains(out, "all 780 pairs of 40 rows") {
		t.Error(out)
	}
}

func TestApproxText(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", cloud(200, func(v float64) float64 { return v }))
	out := ok(t, "approx", data, "--map", "fastfood,qmc", "--features", "64,256", "--rows", "60", "--seeds", "3", "--error", "0.05")
	for _, want := range []string{"max rel", "1,770 pairs of 60 rows", "effective dimension", "falls like D^(",
		"a mean absolute error of 0.05", "take      --map "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Index(out, "qmc ") > strings.Index(out, "fastfood ") {
		t.Errorf("the map with the least error is not first:\n%s", out)
	}
	histograms := write(t, t.TempDir(), "h.csv", cloud(200, math.Abs))
	out = ok(t, "approx", histograms, "--kernel", "chi2", "--map", "homogeneous", "--rows", "60", "--seeds", "1", "--error", "0.001")
	if !strings.Contains(out, "--map homogeneous --terms ") {
		t.Errorf("no --terms in\n%s", out)
	}
}

// What a map has is shown, with what was asked for where that is more.
func TestApproxShowsTheFeaturesThereAre(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", cloud(50, func(v float64) float64 { return v }))
	html := filepath.Join(dir, "a.html")
	out := ok(t, "approx", data, "--map", "nystrom,rff", "--gamma", "3", "--features", "8,512,1024", "--rows", "20",
		"--seeds", "1", "--report", html)
	for _, want := range []string{" 30 of 512 ", "of nystrom are 30 where 512 and 1,024 were asked for", " 1,024 "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "rff are") {
		t.Error(out)
	}
	readPage(t, html).has(t, "nystrom 30 of 512 ", "nystrom, D = 30 of 512", "Features of nystrom are 30 where 512 and 1,024 were asked for")
}

// The coordinates of projection vectors that have common factors depend on one another, the less the
// more terms are summed.
func TestApproxCorrelation(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "data.csv", cloud(50, func(v float64) float64 { return v }))
	html := filepath.Join(dir, "a.html")
	args := []string{data, "--kernel", "poly", "--degree", "2", "--map", "pk-rp,d2pk-rp,tensorsketch", "--features", "8",
		"--rows", "20", "--seeds", "1", "--correlation", "--report", html}
	var v struct {
		Vectors []render.VectorLine `json:"projection_vectors"`
	}
	if err := json.Unmarshal([]byte(ok(t, append([]string{"approx", "--json", "--progress", "never"}, args...)...)), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Vectors) != 12 {
		t.Fatalf("%+v", v.Vectors)
	}
	for i, name := range []string{"pk-rp", "d2pk-rp"} {
		l := v.Vectors[6*i:][:6]
		if l[1].Map != name || l[1].T != 1 || l[5].T != 30 || l[1].Common < 0.2 || l[5].Common > 0.12 || l[0].Common > 0.12 ||
			l[1].Disjoint > 0.12 || l[1].OfMap != (name == "pk-rp") || l[2].OfMap != (name == "d2pk-rp") {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if out := ok(t, append([]string{"approx"}, args...)...); !strings.Contains(out, "coordinates of 500 projection vectors") ||
		!strings.Contains(out, "1, as measured") {
		t.Error(out)
	}
	readPage(t, html).has(t, "Projection vectors", "2, as measured")

	// Sparse entries, and more coordinates than can be looked at: sums of few terms are nearly always 0
	// and left out.
	args = []string{data, "--kernel", "poly", "--degree", "6", "--map", "pk-rp", "--sparsity", "3", "--t", "30",
		"--features", "8", "--rows", "20", "--seeds", "1", "--correlation"}
	if err := json.Unmarshal([]byte(ok(t, append([]string{"approx", "--json", "--progress", "never"}, args...)...)), &v); err != nil {
		t.Fatal(err)
	}
	if l := v.Vectors; len(l) != 3 || l[0].T != 0 || l[1].T != 10 || l[2].T != 30 || !l[2].OfMap {
		t.Fatalf("%+v", l)
	}
	for _, l := range v.Vectors {
		// √(2/π/500) = 0.036 is what independent pairs have in the mean.
		if l.Sparsity != 3 || l.Coordinates != 128 || l.Dimensions != 5 || l.Correlation > 0.06 || !(l.Common > 0 && l.Disjoint > 0) {
			t.Errorf("%+v", l)
		}
	}
	if l := v.Vectors; l[1].Common < 1.2*l[1].Disjoint {
		t.Errorf("sums of 10 products: %+v", l[1])
	}
	if out := ok(t, append([]string{"approx"}, args...)...); !strings.Contains(out, "pk-rp, s 3") ||
		!strings.Contains(out, "30, as measured") {
		t.Error(out)
	}
}

// Estimates of rbf from those of a polynomial are good by the lengths that features tell; those of a polynomial from rbf only by
// the lengths of rows.
func TestApproxConvert(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", cloud(80, math.Abs))
	html := filepath.Join(dir, "a.html")
	var v struct {
		Converted struct {
			Kernel  kernel.Kernel
			Results []struct {
				Map, Estimates    string
				Features          int
				Mean              float64  `json:"mean_abs"`
				Rel               *float64 `json:"mean_rel"`
				Share, Impossible float64
			}
		}
	}
	of := func(args ...string) {
		v.Converted.Results = nil
		args = append([]string{"approx", data, "--scale", "none", "--rows", "40", "--seeds", "2", "--json", "--progress", "never"}, args...)
		if err := json.Unmarshal([]byte(ok(t, args...)), &v); err != nil {
			t.Fatal(err)
		}
	}
	of("--kernel", "poly", "--degree", "2", "--coef0", "0", "--map", "tensorsketch,explicit-poly", "--features", "4,8", "--convert", "rbf")
	if c := v.Converted; c.Kernel.Name != "rbf" || !(c.Kernel.Gamma > 0) || len(c.Results) != 9 || c.Results[1].Estimates != "lengths-of-features" {
		t.Fatalf("%+v", c)
	}
	for i, r := range v.Converted.Results {
		if exact := r.Map == "explicit-poly"; exact != (r.Mean < 1e-5) || !exact && r.Features == 0 || r.Rel == nil {
			t.Errorf("%d: %+v", i, r)
		}
	}
	of("--map", "orf", "--features", "2048", "--gamma", "0.1", "--convert", `{"name":"poly","gamma":0.5,"degree":3,"coef0":1}`)
	c := v.Converted
	if (c.Kernel != kernel.Kernel{Name: "poly", Gamma: 0.5, Degree: 3, Coef0: 1}) || len(c.Results) != 3 || *c.Results[2].Rel > 0.1 ||
		*c.Results[1].Rel < 2**c.Results[2].Rel {
		t.Errorf("%+v", c)
	}
	out := ok(t, "approx", data, "--rows", "20", "--seeds", "1", "--map", "rff", "--features", "16", "--convert", "poly", "--report", html)
	for _, want := range []string{"estimates of the kernel poly, γ = ", "lengths of features", "lengths of rows", "impossible"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	readPage(t, html).has(t, "Converted estimates", "lengths of rows")
	for args, want := range map[string]string{
		"--convert chi2":                             "estimates of the chi2 kernel cannot be converted; those of poly and rbf can",
		"--convert gauss":                            `"gauss" is not a kernel`,
		`--convert {"name":"poly","gama":1}`:         `unknown field "gama"`,
		`--convert {"degree":2}`:                     `"" is not a kernel`,
		`--convert {`:                                "this is no kernel in JSON",
		`--convert {"name":"poly","gamma":-1}`:       "gamma is -1",
		"--kernel laplacian --map rff --convert rbf": "estimates of the laplacian kernel cannot be converted",
		`--convert poly --map {"map":"sum","steps":[{"map":"rff","features":8}]}`: "those of single maps can",
	} {
		if r := mercer(t, append([]string{"approx", data}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d: %s, want %q", args, r.code, r.stderr, want)
		}
	}
}

func TestApproxErrors(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", cloud(50, func(v float64) float64 { return v }))
	one := write(t, dir, "one.csv", "1,2,a\n")
	equal := write(t, dir, "equal.csv", "1,2,a\n1,2,b\n1,2,a\n1,2,b\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{data + " --map magic", 2, `"magic" is not a map; known are`},
		{data + " --map tensorsketch", 2, "tensorsketch does not approximate the rbf kernel"},
		{data + " --map rff --features 7", 2, "features is 7, but a cos and a sin make two"},
		{data + " --map rff --features 8,9", 2, "features is 9, but a cos and a sin make two"},
		{data + " --features 0", 2, "--features 0: give 1 or more"},
		{data + " --rows 1", 2, "--rows 1: give 2 or more"},
		{data + " --rows 9000", 2, "--rows 9000: give 8000 at most"},
		{data + " --seeds 0", 2, "--seeds 0: give 1 or more"},
		{data + " --lambda -1", 2, "--lambda -1: give a positive number"},
		{data + " --error 0", 2, "the error asked for is 0"},
		{data + " --error 0.1 --rel 0.1", 2, "give one of --error and --rel"},
		{data + " --form phase --map nystrom", 2, "--form: no map that is named has this option"},
		{data + ` --form phase --map {"map":"sum","steps":[{"map":"rff","features":8}]}`, 2, "--form: no map that is named has this option"},
		{data + " --map rff --correlation", 2, "--correlation: of the maps pk-rp and d2pk-rp"},
		{data + " --kernel poly --degree 21 --map pk-rp --features 8 --correlation", 2,
			"--correlation: coordinates of projection vectors of degree 21 are products of so many random numbers, " +
				"of which 500 vectors tell nothing; give a --degree of 20 or less"},
		{data + " --kernel poly --degree 8 --map pk-rp --features 8 --entries sparse --correlation", 2,
			"a product of 8 entries of sparsity 3 is 0 but once in 6.56e+03, so 500 vectors of pk-rp show too few; " +
				"give a smaller --sparsity, a larger --t, or --entries normal"},
		{data + " --map {x", 2, "not a map in JSON"},
		{data + ` --map {"map":"chain","steps":[{"map":"rff","features":8},` +
			`{"map":"rff","kernel":{"name":"laplacian"},"features":8}]}`, 1, "has no exact value here"},
		{data + " --gamma wide", 2, `gamma "wide" is neither a positive number nor median nor scale`},
		{data + " --kernel magic", 2, `"magic" is not a kernel`},
		{data + " --kernel chi2 --scale none", 1, "is too small; chi2 takes numbers of 0 or more"},
		{data + " --map rff --features 8 --rows 20 --seeds 1 --error 1e-9", 1,
			"data.csv: no map comes to the error of 1e-09 that --error asks for"},
		{data + " --map rff --features 8 --rows 20 --seeds 1 --error 1e-9", 1, "give a larger --error, larger --features"},
		{data + " --map rff --features 8 --rows 20 --seeds 1 --rel 1e-9", 1, "give a larger --rel, larger --features"},
		{data + ` --map {"map":"chain","steps":[{"map":"rff","features":8},` +
			`{"map":"rff","kernel":{"name":"laplacian"},"features":8}]}`, 1, "data.csv: the laplacian kernel"},
		{one, 1, "1 rows are too few"},
		{equal + " --map rff --features 8", 1, "all rows are equal; give gamma as a number"},
		{dir + "/nothing.csv", 1, "file does not exist"},
	} {
		var out, problems bytes.Buffer
		code := Run(context.Background(), append([]string{"approx"}, strings.Fields(c.args)...), nil, &out, &problems)
		text := problems.String()
		if code != c.code || !strings.HasPrefix(text, "mercer approx: ") || !strings.Contains(text, c.want) ||
			strings.Count(text, "\n") != 1 || out.Len() > 0 {
			t.Errorf("%s: exit %d: %s%s", c.args, code, text, out.String())
		}
	}
	// Equal rows with a γ: what is not defined is null, not NaN.
	v := approxOf(t, equal, "--map", "rff", "--features", "8", "--gamma", "1", "--rows", "4", "--scale", "none")
	if v.Results[0]["distortion"] != nil || v.Results[0]["mean_abs"].(float64) > 1e-6 {
		t.Errorf("equal rows: %v", v.Results[0])
	}
}

// What one map leaves out of its numbers of features, others still have: default maps of wide rows
// are shortened, and landmarks that take too much are left out.
func TestApproxOfWideRows(t *testing.T) {
	a := &approximation{features: []int{16, 4096}, dim: 20_000, kernel: kernel.Kernel{Name: "rbf", Gamma: 1}}
	var list []approx.Candidate
	for _, name := range []string{"nystrom", "rff"} {
		list = append(list, approx.Candidate{Config: feature.Config{Map: name}})
	}
	list, err := a.fill(t.Context(), list, approx.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %v, %s %v", list[0].Name(), list[0].Features, list[1].Name(),
		list[1].Features); got != "nystrom [16], chain(countsketch, rff) [16 4096]" {
		t.Error(got)
	}
}
