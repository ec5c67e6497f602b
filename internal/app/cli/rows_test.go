package cli

import (
	"fmt"
	"strings"
	"testing"
)

// tinted is 300 rows of three numbers of 0 or more, and a class; row bad, from 1, has one below.
func tinted(bad int) string {
	var b strings.Builder
	b.WriteString("red,green,blue,class\n")
	for i := range 300 {
		green := fmt.Sprintf("0.%02d", 10+i*37%83)
		if i+1 == bad {
			green = "-0.01"
		}
		fmt.Fprintf(&b, "0.%02d,%s,%d.5,%c\n", 10+i*61%89, green, i*7%5, 'a'+i%2)
	}
	return b.String()
}

// A number that a kernel does not take is named by the row of the file and the column, whatever
// rows of the file a command works on.
func TestBadNumberRow(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "c.csv", tinted(150))
	write(t, dir, "good.csv", tinted(0))
	write(t, dir, "three.json", `{"kernel": "chi2", "scale": "none"}`)
	write(t, dir, "five.json", `{"kernel": "chi2", "scale": "none", "terms": 5}`)
	chi2 := " --kernel chi2 --scale none"
	lines := []string{
		"train c.csv -o m --seed 5" + chi2,
		"train c.csv -o m --auto --budget 2s" + chi2,
		"train c.csv -o m --estimate" + chi2,
		"train c.csv -o m --estimate --holdout 0.5" + chi2,
		"curve c.csv" + chi2,
		"tune c.csv -o m --strict" + chi2,
		"compare c.csv --configs three.json five.json",
		"approx c.csv" + chi2,
		"approx good.csv --fit c.csv" + chi2,
		"approx c.csv --fit good.csv" + chi2,
		"kernel c.csv -o k.npy" + chi2,
		"transform c.csv -o z.npy" + chi2,
	}
	for seed := 1; seed <= 4; seed++ {
		lines = append(lines, fmt.Sprintf("train c.csv -o m --holdout 0.3 --seed %d", seed)+chi2)
	}
	for _, line := range lines {
		r := mercer(t, strings.Fields(line)...)
		if r.code != 1 || !strings.Contains(r.stderr, "c.csv: ") || !strings.Contains(r.stderr, `: row 150, column "green": -0.01 is too small`) {
			t.Errorf("%s: exit %d: %s", line, r.code, r.stderr)
		}
	}
}

// A member of a bag is named by bag, member and column.
func TestBadNumberBag(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var b strings.Builder
	b.WriteString("item,red,green,class\n")
	for i := range 120 {
		green := 0.1 + float64(i%7)
		if i == 4*20+2 {
			green = -0.25
		}
		fmt.Fprintf(&b, "i%d,%d,%g,%c\n", i/4, i%5, green, 'a'+i/4%2)
	}
	write(t, dir, "bags.csv", b.String())
	for seed := 1; seed <= 6; seed++ { // the bag is trained on, and then held back
		line := fmt.Sprintf(`train bags.csv -o m --group item --holdout 0.5 --seed %d --bag {"kernel":"chi2","scale":"none"}`, seed)
		r := mercer(t, strings.Fields(line)...)
		if r.code != 1 || !strings.Contains(r.stderr, `bags.csv: bag "i20": member 2 (from 0), column "green": -0.25 is too small`) {
			t.Errorf("%s: exit %d: %s", line, r.code, r.stderr)
		}
	}
}
