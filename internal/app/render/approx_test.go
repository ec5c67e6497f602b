package render

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/search/approx"
	"mercer/kernel"
)

// measuredMap has the error 1/√D, five draws apart by a tenth of it.
func measuredMap(name string, worse float64, features ...int) approx.Curve {
	c := approx.Curve{Map: name, Config: feature.Config{Map: name}, Exact: approx.Exact{Lambda: 0.1, Dimension: 12.5, StableRank: 2.25},
		Rate: &approx.Rate{Exponent: -0.5, Constant: worse, SE: of(0.03)}, RateRel: &approx.Rate{Exponent: -0.49, Constant: 2}}
	for _, d := range features {
		e := worse / math.Sqrt(float64(d))
		c.Points = append(c.Points, approx.Point{Features: d, Outputs: d, Bytes: int64(d) * 40, MeanAbs: approx.Stat{Mean: e, SD: e / 10},
			MaxAbs: approx.Stat{Mean: 4 * e, SD: e}, MeanRel: &approx.Stat{Mean: 3 * e, SD: e}, MaxRel: &approx.Stat{Mean: 9 * e},
			Within: approx.Stat{Mean: 0.99}, MeanSigned: approx.Stat{Mean: -e / 9,
				SD: e}, RMS: e, Spread: e, RelFrobenius: &approx.Stat{Mean: e}, Distortion: &approx.Stat{Mean: e}, Delta1: &approx.Stat{Mean: 0.5},
			Delta2:    &approx.Stat{Mean: 1.5},
			Dimension: &approx.Stat{Mean: 11}, PerRow: float64(d) / 500, OneRow: float64(d) / 300, Pairs: []approx.Pair{{Exact: 0.1,
				Estimate: 0.1 + e}, {Exact: 0.9, Estimate: 0.9 - e}}})
	}
	return c
}

func someApprox() *Approx {
	r := &approx.Result{Rows: 1000, Pairs: 499_500, Seeds: 5, Curves: []approx.Curve{measuredMap("orf", 0.8, 256, 1024, 4096),
		measuredMap("nystrom", 1, 256, 1024)}, Skipped: []approx.Skipped{{Map: "unary", Reason: "feature: unary is for histograms"}}}
	short := &r.Curves[1]
	short.Config.Map, short.Repeated = "nystrom", []int{4096}
	short.Points[1].Outputs = 360
	best := approx.Offer{Map: "orf", Features: 1024, Outputs: 1024, Error: 0.025, PerRow: 2, Bytes: 40_960, Point: &r.Curves[0].Points[1]}
	return &Approx{Data: "letter.csv", Total: 20_000, Dim: 16, Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.25}, Scale: "standard",
		Why: map[string]string{"scale": "columns differ"}, FitOn: "train.csv", FitRows: 2000,
		Left: []approx.Skipped{{Map: "icholesky", Reason: "approx: landmarks take too much"}}, Result: r,
		Vectors: []VectorLine{{Map: "pk-rp", T: 0, Vectors: 500, Dimensions: 5, Coordinates: 15, Correlation: 0.03, Disjoint: 0.07,
			Common: 0.08}, {Map: "pk-rp", T: 1, OfMap: true, Vectors: 500, Coordinates: 15, Sparsity: 3, Correlation: 0.1, Disjoint: 0.09,
			Common: 0.3}},
		Recommendation: &approx.Recommendation{Goal: approx.Goal{Error: 0.03}, Offer: best,
			Config: feature.Config{Map: "orf", Features: 1024}, Exact: r.Curves[0].Exact, Hopeless: []string{"rff"},
			Offers: []approx.Offer{best, {Map: "nystrom", Features: 2048, Outputs: 2048, Error: 0.03, PerRow: 9, Bytes: 1 << 20, Added: 512}}}}
}

// undefined has nothing that can be undefined, one draw and wild numbers.
func undefined() *Approx {
	a := &Approx{Data: strings.Repeat("d", 200), Kernel: kernel.Kernel{Name: "linear"}, Scale: "none", Result: &approx.Result{Seeds: 1}}
	for _, v := range []float64{0, math.NaN(), math.Inf(1), 1e300} {
		a.Result.Curves = append(a.Result.Curves, approx.Curve{Map: hostile(3)[2],
			Points: []approx.Point{{Features: 8, Outputs: 8, MeanAbs: approx.Stat{Mean: v}, MaxAbs: approx.Stat{Mean: v}, PerRow: v, OneRow: v}}})
	}
	return a
}

func TestApprox(t *testing.T) {
	relative := someApprox()
	relative.Recommendation.Goal.Relative = true
	for name, a := range map[string]*Approx{"approx": someApprox(), "approx-relative": relative, "approx-undefined": undefined()} {
		goldenText(t, name, func(w *bytes.Buffer) { a.Text(w) })
		goldenPage(t, name, a.Page())
		var w bytes.Buffer
		if err := a.CSV(&w); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".csv", w.Bytes())
	}
	goldenJSON(t, "approx", someApprox().JSON())
}

// The table has a line for every map and D, and a cell for every column.
func TestApproxCSV(t *testing.T) {
	var w bytes.Buffer
	if err := someApprox().CSV(&w); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&w).ReadAll() // an error where a line is shorter
	if err != nil || len(rows) != 6 || rows[1][0] != "orf" || rows[5][1] != "1024" || rows[5][2] != "360" {
		t.Errorf("%v, %v", rows, err)
	}
}

// The picture has ticks at the numbers of features that were measured, and error bars around each mean.
func TestApproxPicture(t *testing.T) {
	html := string(pageBytes(t, someApprox().Page()))
	first := html[strings.Index(html, "<svg"):]
	picture := first[strings.Index(first, "Error against D"):]
	picture = picture[:strings.Index(picture, "</svg>")]
	for _, tick := range []string{">256<", ">360<", ">1,024<", ">4,096<"} {
		if !strings.Contains(picture, tick) {
			t.Errorf("no tick %s", tick)
		}
	}
	if strings.Contains(picture, ">1,000<") {
		t.Error("there is a tick where nothing was measured")
	}
	if !strings.Contains(html, "Bars are one standard deviation of 5 draws to either side.") || strings.Contains(string(pageBytes(t,
		undefined().Page())), "Bars are") {
		t.Error("what the bars are is not said, or said where there are none")
	}
}

// A map that is measured against the centred kernel is told from all others, in the text, the table and the pictures.
func TestApproxTellsCentredMaps(t *testing.T) {
	a := someApprox()
	kgrp, kpca := measuredMap("kg-rp", 2, 256), measuredMap("kpca-rp", 1, 256)
	kgrp.Centred, kpca.Centred = true, true
	kgrp.Exact.Dimension, kpca.Exact.Dimension = 28.5, 28.5 // of the centred kernel
	a.Result.Curves = append(a.Result.Curves, kgrp, kpca)
	var text, table bytes.Buffer
	a.Text(&text)
	for _, want := range []string{"kg-rp and kpca-rp keep distances, not inner products",
		"its Gram matrix, centred, has effective dimension 28.5"} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("not once %q in\n%s", want, &text)
		}
	}
	for _, l := range a.JSON().Results {
		if l.Centred != (l.Map == "kg-rp" || l.Map == "kpca-rp") {
			t.Errorf("%s: centred is %t", l.Map, l.Centred)
		}
	}
	if err := a.CSV(&table); err != nil || strings.Count(table.String(), ",true\n") != 2 {
		t.Errorf("%v\n%s", err, &table)
	}
	html := string(pageBytes(t, a.Page()))
	for _, want := range []string{"kg-rp (centred)", "z(x)·z(y), centred", "kg-rp and kpca-rp keep distances"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	text.Reset()
	if someApprox().Text(&text); strings.Contains(text.String(), "centred") {
		t.Errorf("no map is centred:\n%s", &text)
	}
}

func TestFlagsOfMaps(t *testing.T) {
	rec := func(cfg feature.Config) *approx.Recommendation {
		return &approx.Recommendation{Offer: approx.Offer{Map: cfg.Map, Features: 64, Outputs: 64}, Config: cfg}
	}
	for _, c := range []struct {
		cfg  feature.Config
		want string
	}{
		{feature.Config{Map: "orf", Features: 64}, "--map orf --features 64"},
		{feature.Config{Map: "chain", Steps: []feature.Config{{Map: "orf"}}}, `--map '{"map":"chain"`},
		{feature.Config{Map: "d2pk-rp"}, "--map d2pk-rp (D = 64)"},
	} {
		if got := flagsOf(rec(c.cfg)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.cfg, got, c.want)
		}
	}
}
