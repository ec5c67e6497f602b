package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// A table in a database gives the model that it gives as CSV, and all commands read it.
func TestRowsOfADatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csv, path := write(t, dir, "flowers.csv", flowers(300)), filepath.Join(dir, "flowers.db")
	db, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("begin; create table flowers(length, width, colour, kind);")
	for _, line := range strings.Split(strings.TrimSpace(flowers(300)), "\n")[1:] {
		c := strings.Split(line, ",")
		script.WriteString("insert into flowers values(" + c[0] + "," + c[1] + ",'" + c[2] + "','" + c[3] + "');")
	}
	if err := db.Exec(script.String() + "commit; create view red as select length, kind from flowers where colour = 'red'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(dir, "a.mercer"), filepath.Join(dir, "b.mercer")
	ok(t, "train", csv, "-o", a, "--learner", "ridge", "--features", "16", "--progress", "never")
	ok(t, "train", path, "--table", "flowers", "-o", b, "--learner", "ridge", "--features", "16", "--progress", "never")
	one, _ := os.ReadFile(a)
	two, _ := os.ReadFile(b)
	if len(one) == 0 || !bytes.Equal(one, two) {
		t.Errorf("models of %d and %d bytes differ", len(one), len(two))
	}
	want := ok(t, "predict", a, csv)
	if got := ok(t, "predict", a, path, "--query", "select colour, width, length from flowers"); got != want {
		t.Error("predictions of the rows of a query differ")
	}
	if got := ok(t, "inspect", path, "--table", "red"); !strings.Contains(got, "length") || strings.Contains(got, "width") {
		t.Error(got)
	}
	if r := mercer(t, "train", path, "-o", b); r.code != 1 || r.stderr != "mercer train: "+path+
		": the database has 2 tables: flowers, red; name one by --table, or give a --query\n" {
		t.Error(r.stderr)
	}
	if r := mercer(t, "train", "postgres://me:geheim@127.0.0.1/x", "--table", "t", "-o", b); r.code != 1 || strings.Contains(r.stderr, "geheim") {
		t.Error(r.stderr)
	}
}
