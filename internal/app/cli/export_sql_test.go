package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"mercer/internal/engine/testenv"
)

// sqlCheck is an exported model with data, and what mercer predict says of them.
type sqlCheck struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Model  string `json:"model"`
	Data   string `json:"data"`
	Told   string `json:"told"`
	View   string `json:"view"`
	Table  string `json:"table"`
	Rows   int    `json:"rows,omitempty"` // the first ones
	Texts  bool   `json:"texts,omitempty"`
}

// databases are the targets that are databases.
var databases = []string{"postgres", "sqlite", "duckdb"}

// checkSQL runs models in their databases.
func checkSQL(t *testing.T, checks []sqlCheck) {
	t.Helper()
	python := testenv.Program(t, "python3")
	if text, err := exec.Command(python, "-c", "import duckdb, sqlite3").CombinedOutput(); err != nil {
		testenv.Missing(t, "python3 has no duckdb: %s", text)
	}
	testenv.Program(t, "psql")
	url, _ := testenv.Postgres(t, "timezone=Asia/Tokyo", "datestyle=German", "standard_conforming_strings=off", "jit=off")
	runChecks(t, checks, python, "-B", "testdata/sql_check.py", url)
}

// Views in databases predict what mercer predict does: of tables with all that columns can be, of every task, calibration and kind
// of scores. Their names are as hostile as those of columns and categories.
func TestDatabasesPredictRawColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	inDatabases(t, testenv.Few(t, exportCases, 3, "every coding, map and learner in SQL"), 320, 120)
}

// A hundred thousand rows have the labels and scores of mercer predict: of projections by signs, and linear models of them.
func TestDatabasesPredictManyRows(t *testing.T) {
	testenv.Long(t, "100,000 rows of projections in each database")
	inDatabases(t, []exportCase{
		{"signs", 2, false, "--kernel linear --map rp --entries sparse --sparsity 3 --features 32 --learner logistic", true},
		{"many of pk-rp", 3, false, "--map pk-rp --entries sparse --sparsity 3 --kernel poly --degree 2 --features 64 --learner ridge", false},
		{"many of d2pk-rp", 0, false, "--map d2pk-rp --kernel poly --degree 2 --coef0 0 --features 64 --learner ridge", false},
	}, 3000, 100_000)
}

// Texts that stand for a missing number or date do so in databases too, in columns of text, and bounds count as their numbers.
func TestDatabasesKnowMarks(t *testing.T) {
	dir := t.TempDir()
	table := func(rows int) string {
		var b strings.Builder
		b.WriteString("size,price,when,town,lead,y\n")
		for i := range rows {
			at := func(k int, cells []string, other string) string {
				if i%k < len(cells) {
					return cells[i%k]
				}
				return other
			}
			fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%d\n", at(31, []string{"-", "?", "T", "999", "999.0", "0000-00-00", "n/a"}, fmt.Sprint(i%53)),
				at(29, []string{"", "NA", "unknown", "#N/A"}, fmt.Sprintf("%d.5", i*7%61)),
				at(37, []string{"never", "NULL", "-", "0000-00-00"}, fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28)), at(11, []string{"#N/A", "none"}, "Rome"),
				at(7, []string{"<0.5", "≥ 90", "<= -3", "NA", "90+", "Over 80"}, fmt.Sprintf("%d.25", i%71)), i*i%17)
		}
		return b.String()
	}
	data, more := write(t, dir, "a.csv", table(900)), write(t, dir, "b.csv", table(100))
	file, told := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "told")
	if r := mercer(t, "train", data, "-o", file, "--na", "999", "--learner", "ridge", "--kernel", "linear"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	ok(t, "predict", file, more, "--json", "-o", told)
	var checks []sqlCheck
	for _, target := range databases {
		out := filepath.Join(dir, target+".sql")
		ok(t, "export", file, "--target", target, "-o", out)
		checks = append(checks, sqlCheck{Name: "marks", Target: target, Model: out, Data: more, Told: told, View: "model", Table: "rows", Texts: true})
	}
	checkSQL(t, checks)
}

// inDatabases trains models on so many rows, and has each database predict others.
func inDatabases(t *testing.T, cases []exportCase, rows, others int) {
	t.Helper()
	const view, table = `m"; DROP TABLE rows; --`, `ro'w\s " é`
	dir := t.TempDir()
	var checks []sqlCheck
	for _, c := range cases {
		name := c.train(t, dir, rows, others)
		if model, err := os.ReadFile(name + ".mercer"); err != nil || strings.HasPrefix(c.name, "trees") && !bytes.Contains(model, []byte("rfm.trees")) {
			t.Fatalf("%s: %v, or the model has no trees", c.name, err)
		}
		for _, target := range databases {
			out := name + "." + target + ".sql"
			ok(t, "export", name+".mercer", "--target", target, "--view", view, "--table", table, "-o", out)
			script, err := os.ReadFile(out)
			if err != nil || bytes.Contains(script, []byte(") x CROSS JOIN LATERAL")) { // DuckDB copies what sums are joined to, and planned for half a minute
				t.Errorf("%s: %s: a sum is joined to rows without a name (%v)", c.name, target, err)
			}
			checks = append(checks, sqlCheck{Name: c.name, Target: target, Model: out, Data: name + ".csv", Told: name + ".told", View: view, Table: table})
		}
	}
	checkSQL(t, checks)
}

// What no script can express is refused by name, and so are tables wider than a database has them.
func TestScriptsRefuse(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "a.csv", exportTable(300, 2, false))
	var wide strings.Builder
	for i := range 40 {
		for j := range 1100 {
			fmt.Fprintf(&wide, "%d,", i*j%7)
		}
		fmt.Fprintf(&wide, "%d\n", i%2)
	}
	broad := write(t, dir, "wide.csv", wide.String())
	trained := ""
	for _, c := range []struct{ data, target, flags, want string }{
		{data, "postgres", "--learner ridge --map rff --features 20 --text town", `the column "town" is coded as text by hashes of its words`},
		{data, "duckdb", "--learner kernel-ridge --kernel matern --nu 1.3", "matern with nu 1.3"},
		{data, "sqlite", "--learner kernel-svm --kernel intersection --lookup 20 --scale minmax", "the machine with lookup cannot be exported"},
		{broad, "postgres", "--learner ridge --kernel linear --lambda 1", "columns at once, and postgres has 1000 at most"},
		{broad, "sqlite", "--learner ridge --kernel linear --lambda 1", ""},
		{data, "duckdb", `--map {"map":"chain","steps":[{"map":"rff","features":1200},{"map":"rff","features":20}]} --learner ridge`,
			"1200 features are input of a further step, and 1000 can be in SQL"},
	} {
		file, out := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "m.sql")
		if trained != c.flags {
			if r := mercer(t, append([]string{"train", c.data, "-o", file}, strings.Fields(c.flags)...)...); r.code != 0 {
				t.Fatalf("%s: %s", c.flags, r.stderr)
			}
			trained = c.flags
		}
		r := mercer(t, "export", file, "--target", c.target, "-o", out)
		if c.want == "" && r.code != 0 || c.want != "" && (r.code != 1 || !strings.Contains(r.stderr, c.want)) {
			t.Errorf("%s: exit code %d: %s", c.flags, r.code, r.stderr)
		}
		if found, _ := filepath.Glob(out + "*"); c.want != "" && found != nil {
			t.Errorf("%s: left %v", c.flags, found)
		}
		os.Remove(out)
	}
}

// A missing number makes the prediction NULL if the model knows no missing ones, and so does one outside the kernel's domain, as it
// does whether the map is an expression or a table. Texts that stand for missing numbers are missing in SQLite.
func TestScriptsPredictNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for i := range 200 {
		fmt.Fprintf(&rows, "%d,%d,%d\n", i%7, i*i%11, i%7+i*i%11)
	}
	data := write(t, dir, "a.csv", rows.String())
	for _, flags := range []string{"--map homogeneous --kernel chi2 --learner ridge --scale none", "--map rff --features 32 --learner ridge",
		"--map rff --features 3000 --learner ridge --lambda 1", "--learner kernel-ridge --kernel chi2 --scale none"} {
		file, out := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "m.sql")
		ok(t, append([]string{"train", data, "-o", file, "--missing", "error"}, strings.Fields(flags)...)...)
		ok(t, "export", file, "--target", "sqlite", "-o", out)
		script, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		db, err := sqlite3.Open(":memory:")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Exec("create table rows(a, b); insert into rows values(1, 2), (1, null), (-1, 2), ('1', ' NA '), ('1', ' 2 ');" + string(script)); err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		query, _, err := db.Prepare("select prediction from model")
		if err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		var got []string
		for query.Step() {
			got = append(got, query.ColumnText(0))
		}
		if err := errors.Join(query.Close(), db.Close()); err != nil || len(got) != 5 {
			t.Fatalf("%s: %d rows, %v", flags, len(got), err)
		}
		outside := strings.Contains(flags, "chi2")
		if got[0] == "" || got[1] != "" || (got[2] == "") != outside || got[3] != "" || got[4] != got[0] {
			t.Errorf("%s: %q", flags, got)
		}
	}
}
