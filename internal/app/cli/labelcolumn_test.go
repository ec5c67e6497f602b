package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that need no labels say which column without a name they left out as one, of tables; of arrays they leave out none.
func TestColumnLeftOutAsLabelIsTold(t *testing.T) {
	dir := t.TempDir()
	table := write(t, dir, "x.csv", "1,2,3\n4,5,7\n2,1,1\n")
	array, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "out.npy")
	ok(t, "convert", table, array, "--label", "none")
	const left = "the last column (2, from 0) was left out as the label"
	for _, data := range []string{table, array} {
		for _, args := range [][]string{{"kernel", data, "-o", out}, {"transform", data, "-o", out, "--features", "8"}} {
			if got := ok(t, args...); strings.Contains(got, filepath.Base(data)+": "+left) != (data == table) {
				t.Errorf("%v says\n%s", args, got)
			}
			for _, label := range []string{"none", "0"} {
				if got := ok(t, append(args, "--label", label)...); strings.Contains(got, "left out") {
					t.Errorf("%v with --label %s says\n%s", args, label, got)
				}
			}
		}
	}
	// All columns of an array are inputs, in what is computed too.
	ok(t, "kernel", array, "-o", out, "--kernel", "linear", "--scale", "none")
	want := filepath.Join(dir, "want.npy")
	ok(t, "kernel", table, "--label", "none", "-o", want, "--kernel", "linear", "--scale", "none")
	a, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(want); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the kernel of an array is not that of all its columns, %v", err)
	}
	if got := ok(t, "approx", array, "--features", "8", "--gamma", "1"); !strings.Contains(got, "× 3 dimensions") {
		t.Errorf("approx of an array says\n%s", got)
	}
	if got := ok(t, "index", array, "-o", filepath.Join(dir, "x.index"), "--json"); !strings.Contains(got, `"d":3`) {
		t.Errorf("index of an array says\n%s", got)
	}
}

// With --drop-unlabelled rows without a label are left out by train, eval, tune and inspect, which say how many; without it they are an error that names it.
func TestRowsWithoutALabelAreDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var some, all strings.Builder
	for _, b := range []*strings.Builder{&some, &all} {
		b.WriteString("a,town,y\n")
	}
	for i := range 120 {
		row := fmt.Sprintf("%d,%s,%s\n", i*37%101, []string{"Bonn", "Ulm"}[i/2%2], []string{"no", "yes"}[i%2])
		some.WriteString(row)
		all.WriteString(row)
		if i%10 == 4 {
			fmt.Fprintf(&all, "7,elsewhere,%s\n", []string{"", "?"}[i/10%2])
		}
	}
	less, whole := write(t, dir, "less.csv", some.String()), write(t, dir, "all.csv", all.String())
	if r := mercer(t, "train", whole, "--label", "y", "-o", filepath.Join(dir, "no.mercer")); r.code == 0 ||
		!strings.Contains(r.stderr, "all.csv:7") || !strings.Contains(r.stderr, "--drop-unlabelled") {
		t.Errorf("without the flag: %d, %s", r.code, r.stderr)
	}
	models := [][]byte{}
	for _, data := range []string{less, whole} {
		model := filepath.Join(dir, "m.mercer")
		for _, args := range [][]string{
			{"train", data, "-o", model}, {"eval", model, data}, {"inspect", data},
			{"tune", data, "-o", filepath.Join(dir, "t.mercer"), "--learner", "ridge", "--features", "16", "--gamma", "median"},
		} {
			args = append(args, "--drop-unlabelled")
			if args[0] != "eval" {
				args = append(args, "--label", "y")
			}
			r := mercer(t, args...)
			if r.code != 0 {
				t.Fatalf("%v: %d, %s", args, r.code, r.stderr)
			}
			said := `column "y" has no value in 12 of 132 rows`
			if args[0] == "eval" {
				said = `column "y" has no value in 12 rows, which are left out`
			}
			if strings.Contains(r.stdout+r.stderr, said) != (data == whole) {
				t.Errorf("%v: %s\n%s", args, r.stdout, r.stderr)
			}
		}
		b, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, b)
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("another model")
	}
}

// What needs no labels takes rows without one; what does stops at the first, counts them and names the flag that leaves them out.
func TestCommandsThatNeedNoLabels(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	var b strings.Builder
	b.WriteString("a,town,y\n")
	for i := range 80 {
		fmt.Fprintf(&b, "%d,%s,%s\n", i*37%101, []string{"Bonn", "Ulm"}[i/2%2], []string{"no", "yes", "no", "yes", ""}[i%5])
	}
	data := write(t, dir, "d.csv", b.String())
	full := write(t, dir, "full.csv", strings.ReplaceAll(b.String(), ",\n", ",yes\n"))
	ok(t, "train", full, "--label", "y", "--quick", "-o", file("m.mercer"))
	ok(t, "index", full, "--label", "y", "--features", "16", "-o", file("full.index"))
	for _, args := range [][]string{
		{"inspect", data, "--label", "y"},
		{"transform", data, "--label", "y", "--features", "16", "-o", file("z.csv")},
		{"transform", full, "--label", "y", "--features", "16", "-o", file("z.npy")},
		{"transform", file("m.mercer"), data, "-o", file("z2.npy")},
		{"kernel", data, data, "--label", "y", "-o", file("k.npy")},
		{"cluster", data, "--label", "y", "--clusters", "2", "--features", "16", "-o", file("c.mercer")},
		{"approx", data, "--label", "y", "--features", "16", "--rows", "20"},
		{"index", data, "--label", "y", "--features", "16", "-o", file("some.index")},
		{"index", data, "--add", file("full.index")},
		{"search", file("some.index"), data},
		{"convert", data, "--label", "y", file("d.npy")},
		{"explain", file("m.mercer"), data, "--rows", "2", "--background", data},
		{"predict", file("m.mercer"), data},
		{"train", data, "--label", "y", "--learner", "one-class", "--features", "16", "-o", file("o.mercer")},
		{"train", full, "--label", "y", "--components", "2", "--quick", "--unlabelled", data, "-o", file("u.mercer")},
	} {
		r := mercer(t, args...)
		if r.code != 0 {
			t.Errorf("%v: %d, %s", args, r.code, r.stderr)
		}
		if args[0] == "inspect" && !strings.Contains(r.stdout, `the label "y" is missing in 16 of 80 rows; --drop-unlabelled leaves them out of a training`) {
			t.Errorf("%v says\n%s", args, r.stdout)
		}
	}
	features, err := os.ReadFile(file("z.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if z := strings.Split(string(features), "\n"); !strings.HasSuffix(z[4], ",yes") || !strings.HasSuffix(z[5], ",") || len(z) != 82 {
		t.Errorf("transform writes %d lines, such as %s and %s", len(z), z[4], z[5])
	}
	for _, args := range [][]string{
		{"train", data, "--label", "y", "-o", file("x.mercer")},
		{"eval", file("m.mercer"), data},
		{"explain", file("m.mercer"), data},
		{"compare", data, file("m.mercer"), file("m.mercer")},
		{"transform", data, "--label", "y", "--features", "16", "-o", file("z.libsvm")},
		{"convert", data, "--label", "y", file("d.libsvm")},
		{"transform", data, "--label", "y", "--reduce", "lda", "-o", file("z.npy")},
	} {
		r := mercer(t, args...)
		if r.code == 0 || !strings.Contains(r.stderr, `d.csv:6: column "y": the label is missing (""), as in 16 of 80 rows; `+
			"give these rows labels, or leave them out with --drop-unlabelled") {
			t.Errorf("%v: %d, %s", args, r.code, r.stderr)
		}
		if r := mercer(t, append(args, "--drop-unlabelled")...); r.code != 0 && args[0] != "compare" {
			t.Errorf("%v with the flag: %d, %s", args, r.code, r.stderr)
		}
	}
}
