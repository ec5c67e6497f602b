package database_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"mercer/dataset"
	_ "mercer/dataset/database"
	"mercer/internal/engine/testenv"
)

// sqliteFile makes a database by statements.
func sqliteFile(t testing.TB, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("pragma page_size = 512; pragma journal_mode = off;" + statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// csvOf is data as CSV.
func csvOf(path string, opt dataset.Options) (string, error) {
	dir, err := os.MkdirTemp("", "mercer-test-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out.csv")
	if _, err := dataset.Convert(context.Background(), path, out, "csv", opt); err != nil {
		return "", err
	}
	text, err := os.ReadFile(out)
	return string(text), err
}

const towns = `create table towns(id integer primary key, name text, area real, code, note blob);
	insert into towns values(1, 'Bonn', 141.06, '053', null), (2, 'a "b", c', 1e-300, 7, x'6162'), (3, null, -0.5, '', 'two
lines');`

// The rows of a file are those of the table or the query, with their values as they are.
func TestSQLiteRows(t *testing.T) {
	path := sqliteFile(t, towns)
	const all = "id,name,area,code,note\n1,Bonn,141.06,053,\n2,\"a \"\"b\"\", c\",1e-300,7,ab\n3,,-0.5,,\"two\nlines\"\n"
	for _, c := range []struct {
		opt  dataset.Options
		want string
	}{
		{dataset.Options{}, all},
		{dataset.Options{Table: "Towns"}, all},
		{dataset.Options{Query: "select name as n, area * 2 from towns where id < 3 order by id desc; "}, "n,area * 2\n\"a \"\"b\"\", c\",2e-300\nBonn,282.12\n"},
		{dataset.Options{Query: "select code from towns"}, "code\n053\n7\n\"\"\n"},
		{dataset.Options{Query: "with recursive c(x) as (select 1 union all select x + 1 from c where x < 3) select x, null y from c"}, "x,y\n1,\n2,\n3,\n"},
	} {
		if got, err := csvOf(path, c.opt); got != c.want || err != nil {
			t.Errorf("%+v: %q (%v), want %q", c.opt, got, err, c.want)
		}
	}
	after, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(after) != 1 {
		t.Errorf("%d files beside the database (%v)", len(after), err)
	}
}

// What is wrong with a file or a query is told in words.
func TestSQLiteRefuses(t *testing.T) {
	one, two := sqliteFile(t, towns), sqliteFile(t, towns+"create view big as select * from towns where area > 1;")
	cut := filepath.Join(t.TempDir(), "cut.db")
	whole, err := os.ReadFile(one)
	if err == nil {
		err = os.WriteFile(cut, whole[:700], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		opt  dataset.Options
		want string
	}{
		{one, dataset.Options{Table: "cities"}, `there is no table "cities" for table; the tables are towns`},
		{two, dataset.Options{}, "the database has 2 tables: big, towns; name one by table, or give a query"},
		{one, dataset.Options{Query: "select 1", Table: "towns"}, "give query or table, not both"},
		{one, dataset.Options{Query: "selec 1"}, "syntax error"},
		{one, dataset.Options{Query: "delete from towns"}, "query gives no rows; give a SELECT"},
		{one, dataset.Options{Query: "insert into towns(id) values(9) returning id"}, "query gives no rows; give a SELECT"},
		{one, dataset.Options{Query: "select 1; select 2"}, "query has more than one statement"},
		{one, dataset.Options{Query: " "}, "query is empty"},
		{one, dataset.Options{Query: "select id, name as id from towns"}, `two columns are called "id"`},
		{one, dataset.Options{Query: "select * from towns where id > 5"}, "the query has no rows"},
		{one, dataset.Options{Query: "select x'ff' b"}, `row 1, column "b": "\xff" is not UTF-8; write`},
		{one, dataset.Options{Query: "select 'tea' b union all select cast(x'636166e9' as text)"}, `row 2, column "b": "caf\xe9" is not UTF-8; write`},
		{one, dataset.Options{Query: "select 1 \"caf\xe9\""}, `the name of column 0 (from 0), "caf\xe9", is not UTF-8; rename`},
		{one, dataset.Options{Query: "select 9e999 b"}, `row 1, column "b": +Inf is not a finite number`},
		{sqliteFile(t, "create table a(b); drop table a"), dataset.Options{}, "the database has no tables"},
		{cut, dataset.Options{}, "the database is cut short: 700 of 1024 bytes"},
	} {
		_, err := csvOf(c.path, c.opt)
		if err == nil || !strings.HasPrefix(err.Error(), c.path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	if _, err := dataset.OpenBytes(context.Background(), "x.db", whole, dataset.Options{}); err == nil ||
		!strings.Contains(err.Error(), "give the path of the database itself") {
		t.Errorf("a database within a pipe: %v", err)
	}
	csv := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(csv, []byte("a,b\n1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Open(context.Background(), csv, dataset.Options{Query: "select 1"}); err == nil || !strings.Contains(err.Error(),
		"query is for databases") {
		t.Errorf("a query of a CSV file: %v", err)
	}
}

// A query without an end is cancelled.
func TestSQLiteIsCancelled(t *testing.T) {
	path := sqliteFile(t, towns)
	ctx, cancel := context.WithCancel(context.Background())
	rows := 0
	opt := dataset.Options{Query: "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c"}
	opt.Columns.Progress = func(n int, _ float64) {
		if rows = n; n > 50_000 {
			cancel()
		}
	}
	if _, err := dataset.Open(ctx, path, opt); !errors.Is(err, context.Canceled) || rows < 50_000 {
		t.Errorf("%v after %d rows", err, rows)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	opt.Query = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"
	if _, err := dataset.Open(ctx, path, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("a query without rows: %v", err)
	}
}

// Damaged databases are errors, never panics.
func FuzzSQLite(f *testing.F) {
	data, err := os.ReadFile(sqliteFile(f, towns))
	if err != nil {
		f.Fatal(err)
	}
	for at := range len(data) {
		if at%97 == 0 {
			bad := bytes.Clone(data)
			bad[at] ^= 0xff
			f.Add(bad)
		}
	}
	path := filepath.Join(f.TempDir(), fmt.Sprint("fuzz", os.Getpid(), ".db"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		if err := os.WriteFile(path, append([]byte("SQLite format 3\x00"), data[min(16, len(data)):]...), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := dataset.Open(context.Background(), path, dataset.Options{Missing: "zero"})
		if err == nil {
			f.Close()
		}
	})
}
