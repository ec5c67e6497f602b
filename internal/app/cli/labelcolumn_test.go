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
			if args[0] != "eval" && strings.Contains(r.stdout+r.stderr, `column "y" has no value in 12 of 132 rows`) != (data == whole) {
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
