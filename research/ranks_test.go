package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// distortions are those of López-Sánchez et al. (2018), as rank's tests have them: two of the data sets.
const distortions = `data,explicit,P-RP 1,P-RP 30,KG-RP
CIFAR 40,0.177,0.386,0.188,0.438
CIFAR 80,0.122,0.277,0.132,0.431
CIFAR 120,0.103,0.239,0.109,0.430
CIFAR 160,0.090,0.239,0.091,0.424
ISOLET 40,0.174,0.361,0.181,0.344
ISOLET 80,0.123,0.245,0.132,0.349
ISOLET 120,0.102,0.215,0.107,0.348
ISOLET 160,0.089,0.179,0.092,0.335
`

func TestRanksTellsWhichMethodsDiffer(t *testing.T) {
	path := write(t, t.TempDir(), "distortions.csv", distortions)
	got := object(t, ok(t, "ranks", path, "--lower", "--json"))
	// The rank sums are 8, 25, 16 and 31: Σ(R - 20)² = 306, χ² = 12·306/(8·4·5) = 22.95.
	friedman := got["friedman"].(map[string]any)
	if chi := friedman["chi_square"].(float64); math.Abs(chi-22.95) > 1e-9 {
		t.Errorf("χ² = %g", chi)
	}
	var order []string
	for _, m := range got["methods"].([]any) {
		order = append(order, m.(map[string]any)["method"].(string))
	}
	if s := strings.Join(order, ", "); s != "explicit, P-RP 30, P-RP 1, KG-RP" {
		t.Errorf("the methods in order: %s", s)
	}
	if n := len(got["comparisons"].([]any)); n != 6 {
		t.Errorf("%d pairs of 4 methods", n)
	}
	// q₀.₀₅ of 4 is 2.569 (Demšar 2006, table 5): 2.569·√(4·5/48) = 1.658.
	if cd := got["critical_difference"].(float64); math.Abs(cd-1.658) > 1e-3 {
		t.Errorf("critical difference %g", cd)
	}

	text := ok(t, "ranks", path, "--lower")
	for _, want := range []string{"8 data sets × 4 methods, lower scores are better", "χ² = 22.95 of 3 degrees of freedom",
		"explicit – KG-RP", "┃", "├"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \n")+"\n" != line {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}

// The rows of docs/systems.md whose command is one of this program run.
func TestSystemsOfResearchRun(t *testing.T) {
	text, err := os.ReadFile("../docs/systems.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write(t, ".", "errors.csv", distortions)
	rows := 0
	for line := range strings.Lines(string(text)) {
		if _, command, is := strings.Cut(line, "`cd research && go run . "); is {
			command, _, _ = strings.Cut(command, "`")
			ok(t, strings.Fields(command)...)
			rows++
		}
	}
	if rows == 0 {
		t.Error("docs/systems.md has no row of this program")
	}
}

func TestRanksOfHigherAreThoseOfLowerTurned(t *testing.T) {
	path := write(t, t.TempDir(), "d.csv", distortions)
	lower := object(t, ok(t, "ranks", path, "--lower", "--json"))["methods"].([]any)
	higher := object(t, ok(t, "ranks", path, "--json"))["methods"].([]any)
	for i, m := range lower {
		a, b := m.(map[string]any), higher[len(higher)-1-i].(map[string]any)
		if a["method"] != b["method"] || a["mean_rank"].(float64)+b["mean_rank"].(float64) != 5 {
			t.Errorf("%v from the best by --lower, %v from the worst by --higher", a, b)
		}
	}
}

func TestRanksAgainstAControl(t *testing.T) {
	path := write(t, t.TempDir(), "d.csv", distortions)
	got := object(t, ok(t, "ranks", path, "--lower", "--control", "explicit", "--json"))
	if got["control"] != "explicit" || got["groups"] != nil {
		t.Errorf("control %v, groups %v", got["control"], got["groups"])
	}
	for _, c := range got["comparisons"].([]any) {
		c := c.(map[string]any)
		if c["a"] != "explicit" || c["nemenyi"] != nil || !(c["p"].(float64) <= c["hochberg"].(float64) &&
			c["hochberg"].(float64) <= c["holm"].(float64) && c["holm"].(float64) <= c["bonferroni_dunn"].(float64)) {
			t.Errorf("comparison %v", c)
		}
	}
	text := ok(t, "ranks", path, "--lower", "--control", "explicit")
	for _, want := range []string{"Bonferroni-Dunn, to explicit", "control\n", "≈\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

func TestRanksOfTwoMethodsAreWilcoxons(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "two.tsv", "a\tb\n3\t1\n4\t1.5\n5\t2\n9\t1\n7\t7\n")
	got := object(t, ok(t, "ranks", path, "--json"))
	// Four differences of one sign: 2/2⁴, by either test.
	c := got["comparisons"].([]any)[0].(map[string]any)
	two := got["two_methods"].(map[string]any)
	if math.Abs(two["sign_p"].(float64)-0.125) > 1e-12 || two["wins"] != 4.0 || two["ties"] != 1.0 {
		t.Errorf("sign test %v", two)
	}
	if p := c["wilcoxon"].(float64); p <= 0.05 || p >= 0.3 {
		t.Errorf("Wilcoxon p = %g", p)
	}
	if text := ok(t, "ranks", path); !strings.Contains(text, "a wins 4, loses 0, ties 1") {
		t.Errorf("%s", text)
	}
}

func TestRanksErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := func(name, text string) string { return filepath.Base(write(t, dir, name, text)) }
	good := file("good.csv", distortions)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{good, "--higher", "--lower"}, 2, "--higher and --lower exclude each other"},
		{[]string{good, "--alpha", "5"}, 2, "--alpha 5 is not a level between 0 and 1"},
		{[]string{good, "--control", "svm"}, 2, `--control "svm" is no method of good.csv, which has explicit, P-RP 1, P-RP 30, KG-RP`},
		{[]string{"none.csv"}, 1, "none.csv"},
		{[]string{file("empty.csv", "")}, 1, "empty.csv: the table is empty"},
		{[]string{file("one.csv", "data,svm\na,1\nb,2\nc,3\n")}, 1, "one.csv: has 1 method to compare; give a column for each of two or more"},
		{[]string{file("short.csv", "a,b\n1,2\n2,1\n")}, 1,
			"short.csv: 2 data sets cannot tell methods apart by their ranks; give three or more"},
		{[]string{file("ragged.csv", "a,b\n1,2\n2\n3,4\n")}, 1, "ragged.csv:3: 1 cell, but the first line has 2"},
		{[]string{file("gap.csv", "set,a,b\nx,1,2\ny,,4\nz,5,6\n")}, 1, `gap.csv:3: column "a": there is no score`},
		{[]string{file("gap.tsv", "a\tb\n1\t2\n2\t\n5\t6\n")}, 1, `gap.tsv:3: column "b": there is no score`},
		{[]string{file("nan.csv", "set,a,b\nx,1,2\ny,3,NaN\nz,5,6\n")}, 1, `nan.csv:3: column "b": "NaN" is not a finite number`},
		{[]string{file("text.csv", "set,a,b\nx,1,2\ny,3,good\nz,5,6\n")}, 1, `text.csv:3: column "b": "good" is not a finite number`},
		{[]string{file("twice.csv", "set,a,a\nx,1,2\ny,3,4\nz,5,6\n")}, 1, `twice.csv:1: two columns are called "a"`},
		{[]string{file("nameless.csv", "set,a,\nx,1,2\ny,3,4\nz,5,6\n")}, 1, "nameless.csv:1: column 3 has no name"},
		{[]string{file("tied.csv", "a,b\n1,1\n2,2\n3,3\n")}, 1, "tied.csv: all methods have equal scores on every data set"},
		{[]string{file("quote.csv", "a,b\n1,\"2\n2,2\n3,3\n")}, 1, "quote.csv:"},
	} {
		r := run(t, append([]string{"ranks"}, c.args...)...)
		if r.code != c.code || !strings.HasPrefix(r.stderr, "research ranks: ") || !strings.Contains(r.stderr, c.want) ||
			strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
			t.Errorf("%v: exit code %d, %q; want %d, %q", c.args, r.code, r.stderr, c.code, c.want)
		}
	}
}

// A table of scores that is not UTF-8 is refused with its line, and one of zero bytes as well.
func TestRanksOfOtherText(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"set,tea,caf\xe9\na,1,2\nb,2,1\n": "scores.csv:1: ",
		strings.Repeat("\x00", 4096):      "scores.csv",
	} {
		if r := run(t, "ranks", write(t, dir, "scores.csv", text)); r.code != 1 || !strings.Contains(r.stderr, want) ||
			strings.Contains(r.stderr, "--encoding") {
			t.Errorf("%.20q: exit code %d, %s", text, r.code, r.stderr)
		}
	}
}

func TestReportOfRanks(t *testing.T) {
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("data,exact,rff,linear\n")
	for i := range 12 {
		fmt.Fprintf(&table, "d%d,%d,%d,%d\n", i, 90+i%3, 88+i%4, 70+i%5)
	}
	data, html, plots := write(t, dir, "scores.csv", table.String()), filepath.Join(dir, "r.html"), filepath.Join(dir, "plots")
	pageHas := func(wants ...string) {
		t.Helper()
		page, err := os.ReadFile(html)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(page), want) {
				t.Errorf("the page has no %q", want)
			}
		}
	}
	ok(t, "ranks", data, "--report", html, "--plots", plots)
	pageHas("scores.csv: 12 data sets × 3 methods, higher scores are better", "Friedman", "χ² = ", "Nemenyi", "Shaffer", "research ranks ")
	for _, name := range []string{"ranks.svg", "ranks.png"} {
		if st, err := os.Stat(filepath.Join(plots, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	ok(t, "ranks", data, "--control", "rff", "--report", html, "--json")
	pageHas("The bars join rff with methods whose mean ranks do not differ from its own", "Hochberg")
	ok(t, "ranks", write(t, dir, "two.csv", "a,b\n1,2\n3,1\n2,5\n4,6\n5,7\n1,8\n"), "--report", html)
	pageHas("2 methods")
}
