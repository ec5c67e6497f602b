package cli

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestATableAsPeopleHaveIt goes from a messy table to predictions that join to it.
func TestATableAsPeopleHaveIt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var b strings.Builder
	b.WriteString("customer_id,joined,zip,income,age,note,closed,churn\n")
	for i := range 900 {
		age, label, closed := fmt.Sprint(20+i*7%50), "no", ""
		if i*7%50 < 20 {
			label, closed = "yes", "2024-02-01"
		}
		if i%11 == 3 {
			age = "NA"
		}
		fmt.Fprintf(&b, "C%05d,2023-%02d-%02d,0%d,\"$%d,%03d\",%s,\"said, \"\"x\"\"\n%d\",%s,%s\n", i, 1+i%12,
			1+i%28, 8001+i%4, 20+i*13%60, i%1000, age, i%3,
			closed, label)
	}
	write(t, ".", "customers.csv", b.String())
	seen := mercer(t, "inspect", "customers.csv", "--schema", "kinds.json", "--report", "page.html")
	for _, want := range []string{"customer_id", "looks like an ID", `"closed" says all of the label "churn"`, "written numbers"} {
		if seen.code != 0 || !strings.Contains(seen.stdout, want) {
			t.Fatalf("want %q:\n%s%s", want, seen.stdout, seen.stderr)
		}
	}
	train := mercer(t, "train", "customers.csv", "--schema", "kinds.json", "--ignore", "closed", "--features", "64",
		"--learner", "logistic", "-o", "m")
	if train.code != 0 {
		t.Fatal(train.stderr)
	}
	ok(t, "predict", "m", "customers.csv", "--progress", "never", "-o", "p.csv")
	f, err := os.Open("p.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 901 || strings.Join(rows[0], " ") != "customer_id prediction p_no p_yes" ||
		rows[900][0] != "C00899" {
		t.Fatalf("%d rows, %v, %v", len(rows), rows[0], err)
	}
	if r := mercer(t, "train", "customers.csv", "--label", "customer_id", "-o", "other"); r.code != 1 ||
		!strings.Contains(r.stderr, "900 different values in 900 rows") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if r := mercer(t, "predict", "m", "customers.csv", "--missing", "zero"); r.code != 1 || !strings.Contains(r.stderr, "contradicts the model") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// The index that pandas writes has no name; a clock says the hour; a class for each row is none; and advice can be pasted into a shell.
func TestTablesOfOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	var index, unnamed, clock, each strings.Builder
	index.WriteString(",a,y\n")
	unnamed.WriteString("Unnamed: 0,a,y\n")
	clock.WriteString("t,a,y\n")
	each.WriteString("a,y\n")
	for i := range 60 {
		day := []string{"night", "day"}[i%24/12]
		fmt.Fprintf(&index, "%d,%d,%s\n", i, i*i%17, day)
		fmt.Fprintf(&unnamed, "%d,%d,%s\n", i, i*i%17, day)
		fmt.Fprintf(&clock, "%d:%02d,%d,%s\n", i%24, i, i*i%17, day)
		fmt.Fprintf(&each, "%d,name %d\n", i, i)
	}
	for _, c := range []struct{ name, text, says, shows string }{
		{"index.csv", index.String(), `column "0" looks like an ID`, "60 rows × 1 dimensions"},
		{"unnamed.csv", unnamed.String(), "--numeric 'Unnamed: 0' keeps it", "60 rows × 1 dimensions"},
		{"clock.csv", clock.String(), "", "60 rows × 2 dimensions"},
		{"pipe.csv", strings.ReplaceAll(clock.String(), ",", "|"), "", "60 rows × 2 dimensions"},
		{"tabs.csv", strings.ReplaceAll(clock.String(), ",", "\t"), "", "60 rows × 2 dimensions"},
	} {
		r := mercer(t, "train", write(t, dir, c.name, c.text), "--label", "y", "--quick", "-o", filepath.Join(dir, "m"))
		if r.code != 0 || !strings.Contains(r.stderr, c.says) || !strings.Contains(r.stdout, c.shows) {
			t.Errorf("%s: %d, %s%s", c.name, r.code, r.stdout, r.stderr)
		}
	}
	r := mercer(t, "train", write(t, dir, "each.csv", each.String()), "--label", "y", "--quick", "-o", filepath.Join(dir, "m"))
	if r.code != 1 || !strings.Contains(r.stderr, "60 different values in 60 rows") {
		t.Errorf("a class for each row: %d, %s", r.code, r.stderr)
	}
}

// Classes that look alike are told by a look as by a training.
func TestLookTellsOfAlikeClasses(t *testing.T) {
	data := write(t, t.TempDir(), "a.csv", "a,y\n"+strings.Repeat("1.5,Yes\n2.5,yes\n3,no\n", 20))
	want := `the classes "Yes" and "yes" look alike; if they are one, give their rows one label`
	if out := ok(t, "inspect", data); !strings.Contains(out, want) {
		t.Errorf("%s, want %s", out, want)
	}
}

// The look at all rows of a table shows how far it is, and notes have lines of their own above that.
func TestLookShowsProgress(t *testing.T) {
	var text strings.Builder
	text.WriteString("rain,tree,y\n")
	for i := range 3000 {
		cell := fmt.Sprint(float64(i) / 8)
		if i%30 == 0 {
			cell = "T"
		}
		fmt.Fprintf(&text, "%s,%c,%d\n", cell, "abc"[i%3], i/7%2)
	}
	path := write(t, t.TempDir(), "rain.csv", text.String())
	for _, command := range []string{"train", "inspect"} {
		args := []string{command, path, "--progress", "always"}
		if command == "train" {
			args = append(args, "-o", path+".m", "--features", "16")
		}
		r := mercer(t, args...)
		if r.code != 0 || !strings.Contains(r.stderr, "\rlook ") {
			t.Errorf("%s: %d: %q", command, r.code, r.stderr)
		}
		want := `note: column "rain" takes "T", in 67 of the first 1,999 values, for a missing value among numbers; --categorical rain takes the column as text`
		if command == "train" && !strings.Contains(r.stderr, "mercer train: "+want+"  ") && !strings.Contains(r.stderr, "mercer train: "+want+"\n") {
			t.Errorf("%s: %q", command, r.stderr)
		}
	}
	if r := mercer(t, "predict", path+".m", path); r.code != 0 || strings.Contains(r.stderr, "rain") {
		t.Errorf("predict: %d: %s", r.code, r.stderr)
	}
}
