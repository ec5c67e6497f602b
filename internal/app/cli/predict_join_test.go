package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rows to predict may lack labels and have marks for missing numbers; joined output has numbers for numbers, no more classes than there are,
// and no name that says what it is not; flags that contradict the model are errors.
func TestPredictionsThatJoin(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	text.WriteString("code,size,colour,kind\n")
	for i := range 120 {
		text.WriteString([]string{"x1,0.5,red,u\n", "x2,1.5,blue,v\n", "x3,2.5,red,w\n"}[i%3])
	}
	write(t, dir, "t.csv", text.String())
	write(t, dir, "new.csv", "code,size,colour,kind\nx1,0.5,red,\nx2,-,blue,\nx3,<0.5,red,\n")
	ok(t, "train", at("t.csv"), "-o", at("m"), "--quick")
	if r := mercer(t, "predict", at("m"), at("new.csv"), "--with-input", "--top-k", "5", "-o", at("p.jsonl")); r.code != 0 || !strings.Contains(r.stderr, "lacks a value in 1 row") ||
		!strings.Contains(r.stderr, `new.csv: column "size": "<0.5" is a bound, of which the training had none, and counts as its number (1 row, first in line 4)`) {
		t.Fatalf("%+v", r)
	}
	out, err := os.ReadFile(at("p.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	if !strings.HasPrefix(lines[0], `{"code":"x1","size":0.5,"colour":"red","kind":"","prediction":"u","class_1":"u","p_1":`) ||
		!strings.Contains(lines[1], `"size":"-"`) || !strings.Contains(lines[0], `"class_3":`) || strings.Contains(lines[0], `"class_4"`) {
		t.Errorf("%s", out)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--na", "red"}, 1, "new.csv: --na red contradicts the model, which was trained without it; leave it out, or train again"},
		{[]string{"--ignore", "size"}, 1, "--ignore size contradicts the model"},
		{[]string{"--categorical", "size"}, 1, "--categorical size contradicts the model"},
		{[]string{"-o", at("p.csv.gz")}, 2, "predictions are not written as .gz"},
		{[]string{"-o", at("p.pq")}, 2, "predictions are not written as .pq"},
	} {
		if r := mercer(t, append([]string{"predict", at("m"), at("new.csv")}, c.args...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
}
