package report

import (
	"bytes"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
)

func write(t testing.TB, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// figurePage is a page of one figure.
func figurePage(d Drawing) *Page {
	p := &Page{Title: "a page"}
	p.Section("a section").Figure(&Figure{Title: "a figure", Caption: "What is to be seen.", Drawing: d})
	return p
}

// checkPage checks what all pages have in common, and every picture.
func checkPage(t testing.TB, text string) *element {
	t.Helper()
	root := parse(t, text)
	ids := map[string]bool{}
	var walk func(e *element)
	walk = func(e *element) {
		if id, has := e.attr["id"]; has {
			if ids[id] {
				t.Errorf("id %q is there twice", id)
			}
			ids[id] = true
		}
		for name, value := range e.attr {
			switch {
			case name == "src" || name == "href" && !strings.HasPrefix(value, "#") || strings.HasSuffix(name, ":href"):
				t.Errorf("<%s %s=%q> refers to something outside", e.name, name, value)
			case strings.HasPrefix(name, "on"):
				t.Errorf("<%s %s=%q> is a script", e.name, name, value)
			case strings.Contains(value, "url("):
				t.Errorf("<%s %s=%q> refers to something", e.name, name, value)
			}
		}
		if slices.Contains([]string{"script", "link", "iframe", "img", "object", "base"}, e.name) {
			t.Errorf("there is a <%s>", e.name)
		}
		for _, c := range e.children {
			walk(c)
		}
	}
	walk(root)
	for _, s := range root.all("style") {
		if strings.Contains(s.text, "url(") || strings.Contains(s.text, "@import") {
			t.Error("the style refers to something outside")
		}
	}
	for _, f := range root.all("figure") {
		caption, svg := f.all("figcaption"), f.all("svg")
		if len(caption) != 1 || strings.TrimSpace(caption[0].text) == "" || len(svg) != 1 {
			t.Fatalf("figure %s has %d captions and %d pictures", f.attr["id"], len(caption), len(svg))
		}
		for _, what := range []string{"title", "desc"} {
			e := svg[0].all(what)
			if len(e) != 1 || strings.TrimSpace(e[0].text) == "" || !strings.Contains(svg[0].attr["aria-labelledby"], e[0].attr["id"]) {
				t.Errorf("figure %s: its picture has no %s that says what it is", f.attr["id"], what)
			}
		}
		checkPicture(t, svg[0])
	}
	return root
}

// With -look DIR the gallery is written there, for people to look at.
var look = flag.String("look", "", "folder to write a page and pictures of all kinds to")

func TestPageStandsAlone(t *testing.T) {
	p := gallery()
	if *look != "" {
		if err := p.Save(filepath.Join(*look, "gallery.html")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.SavePlots(*look); err != nil {
			t.Fatal(err)
		}
	}
	root := checkPage(t, write(t, p))
	if n := len(root.all("figure")); n != len(p.Figures()) || n < 12 {
		t.Errorf("%d figures of %d", n, len(p.Figures()))
	}
	for _, a := range root.all("a") {
		found := false
		for _, s := range root.all("section") {
			found = found || "#"+s.attr["id"] == a.attr["href"]
		}
		if !found {
			t.Errorf("%s leads nowhere", a.attr["href"])
		}
	}
}

func TestSameDataSameBytes(t *testing.T) {
	a, b := gallery(), gallery()
	if write(t, a) != write(t, b) {
		t.Error("two pages of the same data differ")
	}
	// Pictures of one figure are written in both formats twice.
	dirs := [2]string{t.TempDir(), t.TempDir()}
	var files [2][]string
	for i, p := range []*Page{figurePage(a.Figures()[3].Drawing), figurePage(b.Figures()[3].Drawing)} {
		var err error
		if files[i], err = p.SavePlots(dirs[i]); err != nil {
			t.Fatal(err)
		}
	}
	for k := range files[0] {
		x, err := os.ReadFile(files[0][k])
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(files[1][k])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", filepath.Base(files[0][k]))
		}
	}
}

func TestTextIsOnlyText(t *testing.T) {
	const evil = `<script>alert(1)</script>"'&]]>{{.}}--><b x=`
	p := &Page{Title: evil, Subtitle: evil}
	s := p.Section(evil)
	s.Facts(Fact{evil, evil, evil})
	s.Note(evil)
	s.Code(evil)
	table := &Table{Caption: evil, Columns: []Column{{evil, false}, {evil, true}}, Rows: [][]string{{evil, evil}, {evil}}}
	table.MarkBest(0, 1)
	s.Table(table)
	for _, d := range hostile(evil) {
		s.Figure(&Figure{Name: evil, Title: evil, Caption: evil, Drawing: d})
	}
	root := checkPage(t, write(t, p))
	if got := root.all("h1")[0].text; got != evil {
		t.Errorf("the title reads %q", got)
	}
	if got := root.all("code")[0].text; got != evil {
		t.Errorf("the code reads %q", got)
	}
	if got := root.all("b"); len(got) != len(p.Figures()) {
		t.Errorf("%d <b>, and %d figures", len(got), len(p.Figures()))
	}
}

// hostile is one of each kind of drawing whose names are all the same text.
func hostile(name string) []Drawing {
	axis := Axis{Name: name}
	return []Drawing{
		&Lines{X: axis, Y: axis, Curves: []Curve{{Name: name, X: []float64{1, 2}, Y: []float64{3, 4}},
			{Name: name, X: []float64{1, 2}, Y: []float64{5, 4}}}, Marks: []Mark{{1.5, name}, {1.6, name}}},
		&Scatter{X: axis, Y: axis, Clouds: []Cloud{{name, []float64{1}, []float64{2}}, {name, []float64{1}, []float64{4}}}},
		&Histogram{X: axis, What: name, Edges: []float64{0, 1, 2}, Counts: []float64{3, 1}, Marks: []Mark{{1, name}}},
		&HeatMap{RowName: name, ColumnName: name, Rows: []string{name, name}, Columns: []string{name, name, name}, Legend: name,
			Values: [][]float64{{1, 2, 3}, {4, 5, 6}}, Text: [][]string{{name, name, name}, {name, name, name}}},
		&Intervals{X: axis, Rows: []Interval{{name, 1, 0, 2, true}, {name, 1, 0, 2, false}}, Marks: []Mark{{0, name}}},
		&Ranks{Names: []string{name, name, name}, Averages: []float64{1, 2, 3}, Critical: 1.5},
	}
}

func TestAnyNameFits(t *testing.T) {
	for _, name := range []string{"", " ", "x", strings.Repeat("a very long name ", 60), strings.Repeat("W", 3000), "日本語のラベル",
		"two\nlines\tand a tab", "nul\x00 and \x1b[31m", "not \xff utf-8", "λ² ± 10⁻³ ≤ √χ₂", "\u202eright to left"} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			for _, d := range hostile(name) {
				checkPage(t, write(t, figurePage(d)))
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "<b>", "a&b", "\x00\xff", "]]>", "10⁻³", strings.Repeat("m", 500)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := figurePage(&Lines{X: Axis{Name: name}, Curves: []Curve{{Name: name, X: []float64{1}, Y: []float64{1}}, {Name: name}}})
		p.Title = name
		p.sections[0].Note(name)
		p.sections[0].Facts(Fact{Name: name, Value: name})
		checkPage(t, write(t, p))
	})
}

// Numbers that cannot be shown are left out, and the figure says how many.
func TestOddNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	many := make([]float64, 30000)
	for i := range many {
		many[i] = math.Sin(float64(i) * 12.9898)
	}
	ramp := make([]float64, len(many))
	for i := range ramp {
		ramp[i] = float64(i)
	}
	curve := func(x, y []float64) []Curve { return []Curve{{Name: "one", X: x, Y: y}} }
	for _, c := range []struct {
		name string
		d    Drawing
		says string // in the caption
	}{
		{"no curve", &Lines{}, ""},
		{"no points", &Lines{Curves: curve(nil, nil)}, ""},
		{"one point", &Lines{Curves: curve([]float64{3}, []float64{3})}, ""},
		{"one point, log", &Lines{X: Axis{Log: true}, Y: Axis{Log: true}, Curves: curve([]float64{3}, []float64{3})}, ""},
		{"equal points", &Lines{Curves: curve([]float64{3, 3, 3}, []float64{0, 0, 0})}, ""},
		{"only NaN", &Lines{Curves: curve([]float64{nan, nan}, []float64{1, 2})}, "2 points are left out: not finite."},
		{"NaN and Inf", &Lines{Curves: curve([]float64{1, 2, 3, 4}, []float64{1, nan, inf, -inf})}, "3 points are left out"},
		{"0 on a log axis", &Lines{X: Axis{Log: true}, Curves: curve([]float64{0, 1, 10}, []float64{1, 2, 3})},
			"1 point is left out: not finite, or not above 0"},
		{"huge", &Lines{Curves: curve([]float64{-1e299, 1e299}, []float64{1e-300, 2e-300})}, ""},
		{"tiny and log", &Lines{X: Axis{Log: true}, Y: Axis{Log: true}, Curves: curve([]float64{1e-299, 1e299}, []float64{1, 1.0000001})}, ""},
		{"far from 0", &Lines{Curves: curve([]float64{1e9, 1e9 + 1}, []float64{1, 1 + 1e-12})}, ""},
		{"many", &Lines{Curves: curve(ramp, many)}, ""},
		{"band with NaN", &Lines{Curves: []Curve{{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{nan, 1}, High: []float64{2, inf}}}}, ""},
		{"beyond the axes", &Lines{X: Axis{To: 1}, Y: Axis{To: 1}, Curves: curve([]float64{-5, 0.5, 7}, []float64{-9, 0.5, 20})}, ""},
		{"cloud of none", &Scatter{}, ""},
		{"cloud of one", &Scatter{Diagonal: true, Zero: true, Clouds: []Cloud{{X: []float64{5}, Y: []float64{5}}}}, ""},
		{"cloud of many", &Scatter{Clouds: []Cloud{{X: many, Y: many}}}, "2,000 of the 30,000 points are drawn"},
		{"cloud of NaN", &Scatter{Clouds: []Cloud{{X: []float64{nan}, Y: []float64{1}}}}, "1 point is left out"},
		{"no bins", &Histogram{}, ""},
		{"empty bins", &Histogram{Edges: []float64{0, 1}, Counts: []float64{0}}, ""},
		{"no cells", &HeatMap{}, ""},
		{"NaN cells", &HeatMap{Rows: []string{"a"}, Columns: []string{"b", "c"}, Values: [][]float64{{nan, inf}}}, ""},
		{"equal cells", &HeatMap{Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{{7}}}, ""},
		{"no intervals", &Intervals{}, ""},
		{"an interval of NaN", &Intervals{Rows: []Interval{{"a", nan, nan, nan, false}, {"b", 1, nan, nan, false}}}, "1 value is left out"},
		{"many intervals", &Intervals{Bars: true, Rows: make([]Interval, 100)}, "The first 60 of 100 lines are shown."},
		{"one method", &Ranks{Names: []string{"a"}, Averages: []float64{1}, Critical: 1}, ""},
		{"equal ranks", &Ranks{Names: []string{"a", "b", "c"}, Averages: []float64{2, 2, 2}, Critical: 0.5}, ""},
		{"critical beyond the axis", &Ranks{Names: []string{"a", "b"}, Averages: []float64{1, 2}, Critical: 50}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := write(t, figurePage(c.d))
			root := checkPage(t, text)
			if len(text) > 80_000 {
				t.Errorf("the page has %d bytes", len(text))
			}
			var caption strings.Builder
			for _, e := range root.all("span") {
				caption.WriteString(e.text + " ")
			}
			if !strings.Contains(caption.String(), c.says) {
				t.Errorf("the caption says %q, want %q", caption.String(), c.says)
			}
			if c.says == "" && strings.Contains(caption.String(), "left out") {
				t.Errorf("the caption says %q", caption.String())
			}
		})
	}
}

func TestManyClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, n := range []int{1, 2, 3, 4, 11, 17, 26, 60, 120, 200, 1000} {
		var classes []string
		counts := make([][]float64, n+1)
		for i := range n {
			classes = append(classes, fmt.Sprintf("class %d", i))
		}
		for i := range counts {
			counts[i] = make([]float64, n)
			for j := range n {
				counts[i][j] = float64((i*j)%7 + 1)
			}
		}
		text := write(t, figurePage(Confusion(classes, counts)))
		checkPage(t, text)
		if limit := 900_000; len(text) > limit {
			t.Errorf("%d classes: the page has %d bytes", n, len(text))
		}
	}
	curves := &Lines{}
	for i := range 200 {
		curves.Curves = append(curves.Curves, Curve{Name: fmt.Sprintf("class %d", i), X: []float64{0, 1}, Y: []float64{0, float64(i)}})
	}
	checkPage(t, write(t, figurePage(curves)))
	ranks := &Ranks{Critical: 3}
	for i := range 40 {
		ranks.Names, ranks.Averages = append(ranks.Names, fmt.Sprintf("method number %d", i)), append(ranks.Averages, 1+float64(i)*0.97)
	}
	checkPage(t, write(t, figurePage(ranks)))
}

func TestDataThatDoNotFitAreAnError(t *testing.T) {
	for _, c := range []struct {
		d    Drawing
		says string
	}{
		{&Lines{Curves: []Curve{{Name: "a", X: []float64{1}, Y: []float64{1, 2}}}}, "1 X, 2 Y"},
		{&Lines{Curves: []Curve{{X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}}, "1 Low and 0 High"},
		{&Lines{X: Axis{From: 2, To: 1}}, "from 2 to 1"},
		{&Lines{X: Axis{Log: true, To: 1}}, "from 0 to 1"},
		{&Lines{X: Axis{From: math.NaN()}}, "from NaN"},
		{&Scatter{Clouds: []Cloud{{X: []float64{1}}}}, "1 X and 0 Y"},
		{&Histogram{Edges: []float64{1}, Counts: []float64{1}}, "1 edges and 1 counts"},
		{&Histogram{Edges: []float64{1, 1}, Counts: []float64{1}}, "edges are finite and rise"},
		{&Histogram{Edges: []float64{1, 2}, Counts: []float64{-1}}, "counts -1"},
		{&HeatMap{Rows: []string{"a"}}, "1 names of rows, 0 rows"},
		{&HeatMap{Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{{1, 2}}}, "row 1 (a)"},
		{&Intervals{X: Axis{Log: true}, Bars: true}, "logarithmic"},
		{&Ranks{Names: []string{"a"}}, "1 names and 0 average ranks"},
		{&Ranks{Names: []string{"a"}, Averages: []float64{3}}, "average rank 3"},
		{&Ranks{Names: []string{"a"}, Averages: []float64{1}, Critical: math.NaN()}, "critical difference NaN"},
		{&Ranks{Names: []string{"a"}, Averages: []float64{1}, Groups: [][]int{{0, 1}}}, "method 1 of 1"},
		{nil, "no drawing"},
	} {
		err := figurePage(c.d).Write(new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), `"a figure"`) {
			t.Errorf("error %v, want %q and which figure", err, c.says)
		}
	}
	p := &Page{}
	p.Section("s").Figure(&Figure{Title: "mute", Drawing: &Lines{}})
	if err := p.Write(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "no caption") {
		t.Errorf("a figure without caption: %v", err)
	}
	p = &Page{}
	p.Section("s").Table(&Table{Caption: "t", Columns: []Column{{"a", false}}, Rows: [][]string{{"1", "2"}}})
	if err := p.Write(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "row 1 has 2 cells") {
		t.Errorf("a row that is too long: %v", err)
	}
}

func TestPlotsAreFiles(t *testing.T) {
	p := &Page{}
	s := p.Section("s")
	line := &Lines{Curves: []Curve{{X: []float64{1, 2}, Y: []float64{1, 2}}}}
	for _, f := range []*Figure{{Name: "roc", Title: "ROC"}, {Title: "Path of λ: all / of <them>"},
		{Name: "roc", Title: "another"}, {Title: "λ"}, {Name: "../../etc/x"}} {
		f.Caption, f.Drawing = "c", line
		s.Figure(f)
	}
	dir := filepath.Join(t.TempDir(), "new", "plots")
	paths, err := p.SavePlots(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, path := range paths {
		got = append(got, filepath.Base(path))
		if filepath.Dir(path) != dir {
			t.Errorf("%s is outside", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".svg") {
			checkPicture(t, parse(t, string(data)).all("svg")[0])
			continue
		}
		m, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		colours := map[any]bool{}
		for x := range m.Bounds().Dx() / 3 {
			for y := range m.Bounds().Dy() / 3 {
				colours[m.At(3*x, 3*y)] = true
			}
		}
		if m.Bounds().Dx() < 1000 || len(colours) < 10 {
			t.Errorf("%s: %v, %d colours", path, m.Bounds(), len(colours))
		}
	}
	want := "roc path-of-all-of-them roc-2 figure etc-x"
	for i, name := range strings.Fields(want) {
		if !slices.Contains(got, name+".svg") || !slices.Contains(got, name+".png") || got[2*i] != name+".svg" {
			t.Errorf("files %v, want %s as svg and png", got, name)
		}
	}
}

// A page that cannot be written leaves nothing behind.
func TestSaveIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	bad := figurePage(&Lines{Curves: []Curve{{X: []float64{1}}}})
	if err := bad.Save(filepath.Join(dir, "page.html")); err == nil {
		t.Error("a page with an error was saved")
	}
	if _, err := bad.SavePlots(filepath.Join(dir, "plots")); err == nil {
		t.Error("a picture with an error was saved")
	}
	if err := figurePage(&Lines{}).Save(filepath.Join(dir, "none", "page.html")); err == nil {
		t.Error("a page was saved in no directory")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.html"))
	more, _ := filepath.Glob(filepath.Join(dir, "plots", "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(files)+len(more)+len(hidden) > 0 {
		t.Errorf("left behind: %v %v %v", files, more, hidden)
	}
}

// Every character that pictures write of themselves is in the font that PNG files have.
func TestFontHasTheSigns(t *testing.T) {
	var buffer sfnt.Buffer
	face := style{size: small}.face(small)
	for _, text := range []string{"R² λ γ σ χ √D 1/√D ± × · − – … ≤ ≥ ‖ α κ Δ µ ½",
		"10⁰ 10⁻¹ 10⁻² 10⁻³⁴ 10⁵⁶⁷⁸⁹ 3.2·10⁻⁹ 10⁺⁴", shortText(-1.25e-19), powerText(-90)} {
		for _, r := range runs(text) {
			for _, c := range r.text {
				if g, err := face.Face.GlyphIndex(&buffer, c); g == 0 || err != nil {
					t.Errorf("no glyph for %q in %q", c, text)
				}
			}
		}
	}
}

// contrast is that of WCAG 2.2: (L₁ + 0.05)/(L₂ + 0.05) of the relative luminances, the larger first.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		linear := func(v uint8) float64 {
			s := float64(v) / 255
			if s <= 0.04045 {
				return s / 12.92
			}
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Text has the contrast that WCAG 2.2 asks for (4.5), lines and markers as well (3), on both backgrounds.
func TestColoursAreSeen(t *testing.T) {
	for _, dark := range []bool{false, true} {
		in := func(p paint) color.NRGBA {
			if dark {
				return p.dark
			}
			return p.light
		}
		for _, p := range []paint{ink, muted} {
			if c := contrast(in(p), in(back)); c < 4.5 {
				t.Errorf("dark %v: %s has the contrast %.2f", dark, p.role, c)
			}
		}
		for i, p := range series {
			if c := contrast(in(p), in(back)); c < 3 {
				t.Errorf("dark %v: %s has the contrast %.2f", dark, p.role, c)
			}
			for _, q := range series[:i] {
				if in(p) == in(q) {
					t.Errorf("dark %v: %s is %s", dark, p.role, q.role)
				}
			}
		}
		// Text on the shades of heat maps: the formula finds black on dark blue better than
		// white, which few readers do.
		for s := range shades + 1 {
			over := func(c, ground uint8) uint8 {
				share := float64(s) / shades
				return uint8(share*float64(c) + (1-share)*float64(ground) + 0.5)
			}
			a, b := in(series[0]), in(back)
			cell := color.NRGBA{over(a.R, b.R), over(a.G, b.G), over(a.B, b.B), 255}
			if c := contrast(in(cellInk(s)), cell); c < 4 {
				t.Errorf("dark %v: text on shade %d has the contrast %.2f", dark, s, c)
			}
		}
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		a    Axis
		n    int
		want string
	}{
		{Axis{From: 0, To: 1}, 5, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{From: 0, To: 1, Percent: true}, 4, "0 % 50 % 100 %"},
		{Axis{From: 0.828, To: 0.8412, Percent: true}, 5, "83.0 % 83.5 % 84.0 %"},
		{Axis{From: -30000, To: 41000}, 4, "−20,000 0 20,000 40,000"},
		{Axis{From: -0.3, To: 0.3}, 6, "−0.3 −0.2 −0.1 0.0 0.1 0.2 0.3"},
		{Axis{From: 1, To: 3e9}, 3, "0 10⁹ 2·10⁹ 3·10⁹"},
		{Axis{From: 1e-9, To: 4e-9}, 3, "10⁻⁹ 2·10⁻⁹ 3·10⁻⁹ 4·10⁻⁹"},
		{Axis{From: 60, To: 4100, Log: true}, 6, "100 300 1,000 3,000"},
		{Axis{From: 0.01, To: 0.12, Log: true}, 6, "0.01 0.02 0.05 0.1"},
		{Axis{From: 1e-8, To: 11, Log: true}, 5, "10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 1"},
		{Axis{From: 10, To: 20, Log: true}, 5, "10 12 14 16 18 20"},
		{Axis{From: 243, To: 1078, Log: true}, 8, "400 600 800 1,000"},
		{Axis{From: -0.0031, To: 0.002, Percent: true}, 6, "−0.3 % −0.2 % −0.1 % 0.0 % 0.1 % 0.2 %"},
	} {
		var got []string
		for _, k := range c.a.ticks(c.n) {
			got = append(got, k.label)
			if p := c.a.place(k.at); p < -1e-9 || p > 1+1e-9 {
				t.Errorf("%+v: tick %g is at %g", c.a, k.at, p)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: ticks %s, want %s", c.a, text, c.want)
		}
	}
}

func TestBinsCountEveryValue(t *testing.T) {
	values := []float64{math.NaN(), math.Inf(-1)}
	for i := range 1000 {
		values = append(values, math.Tan(float64(i)))
	}
	for _, v := range [][]float64{values, {1}, {1, 1, 1}, {0, 0}, {-1e-9, 1e9}, {5, 6}} {
		edges, counts := Bins(v)
		if len(edges) != len(counts)+1 || len(counts) > 61 || !slices.IsSorted(edges) {
			t.Fatalf("%d edges, %d counts", len(edges), len(counts))
		}
		for i, n := range counts {
			want := 0.0
			for _, x := range v {
				if x >= edges[i] && (x < edges[i+1] || i == len(counts)-1 && x <= edges[i+1]) {
					want++
				}
			}
			if n != want {
				t.Errorf("bin %d of %v counts %g, want %g", i, edges, n, want)
			}
		}
		total := 0.0
		for _, n := range counts {
			total += n
		}
		if want := float64(len(v)); v[0] == v[0] && total != want || v[0] != v[0] && total != want-2 {
			t.Errorf("%g values of %g", total, want)
		}
	}
	if edges, counts := Bins([]float64{math.NaN()}); edges != nil || counts != nil {
		t.Error("bins of nothing")
	}
}

// A thinned line passes within a tenth of a point of every point of a wavy one.
func TestThinnedLinesStay(t *testing.T) {
	line := Lines{X: Axis{To: 1}, Y: Axis{To: 1}}
	c := Curve{}
	for i := range 100_000 {
		x := float64(i) / 99_999
		c.X, c.Y = append(c.X, x), append(c.Y, 0.9*x+0.05*math.Sin(60*x))
	}
	line.Curves = []Curve{c}
	svg := parse(t, write(t, figurePage(&line))).all("svg")[0]
	var longest [][2]float64
	for _, p := range svg.all("path") {
		if q := pathPoints(t, p.attr["d"]); len(q) > len(longest) {
			longest = q
		}
	}
	if len(longest) > mostPoints || len(longest) < 100 {
		t.Fatalf("%d points", len(longest))
	}
	// The picture's own ends give its scale.
	x0, y0 := longest[0][0], longest[0][1]
	x1, y1 := longest[len(longest)-1][0], longest[len(longest)-1][1]
	for i := 0; i < len(c.X); i += 97 {
		x, y := x0+c.X[i]*(x1-x0), y0+c.Y[i]/c.Y[len(c.Y)-1]*(y1-y0)
		near := math.Inf(1)
		for k, q := range longest[1:] {
			p := longest[k]
			dx, dy := q[0]-p[0], q[1]-p[1]
			along := min(max(((x-p[0])*dx+(y-p[1])*dy)/(dx*dx+dy*dy), 0), 1)
			near = min(near, math.Hypot(p[0]+along*dx-x, p[1]+along*dy-y))
		}
		if near > 0.1 {
			t.Fatalf("point %d is %g from the line", i, near)
		}
	}
}

func TestGroupsOfRanksAreTheLargestRuns(t *testing.T) {
	r := &Ranks{Names: []string{"a", "b", "c", "d", "e"}, Averages: []float64{3, 1, 1.5, 4.4, 4.6}, Critical: 1.6}
	order := []int{1, 2, 0, 3, 4}
	if got := fmt.Sprint(r.runs(order)); got != "[[1 2] [2 0] [0 3 4]]" {
		t.Errorf("groups %s", got)
	}
}

var numbersOf = regexp.MustCompile(`[\d.,]+`)

func TestConfusionOfUnknownClasses(t *testing.T) {
	h := Confusion([]string{"a", "b"}, [][]float64{{8, 2}, {0, 0}, {1.5, 1}})
	if got := strings.Join(h.Rows, " "); got != "a b unknown" {
		t.Errorf("rows %s", got)
	}
	if h.Values[0][1] != 0.2 || !math.IsNaN(h.Values[1][0]) || h.Values[2][0] != 0.6 {
		t.Errorf("shares %v", h.Values)
	}
	if got := fmt.Sprint(h.Text); got != "[[8 2] [0 0] [1.5 1]]" || len(numbersOf.FindAllString(got, -1)) != 6 {
		t.Errorf("text %s", got)
	}
}
