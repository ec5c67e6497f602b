package database_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mercer/dataset"
	"mercer/internal/engine/testenv"
	"mercer/train"
)

// server is a PostgreSQL server of a test's own.
type server struct {
	url  string
	stop func() // at once
}

// startServer starts Debian's PostgreSQL.
func startServer(t *testing.T) *server {
	url, stop := testenv.Postgres(t, "timezone=Asia/Tokyo", "datestyle=German")
	return &server{url, stop}
}

func (s *server) exec(t *testing.T, statements string) {
	t.Helper()
	db, err := pgx.Connect(context.Background(), s.url)
	if err == nil {
		defer db.Close(context.Background())
		_, err = db.Exec(context.Background(), statements)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const kinds = `create schema s; create type mood as enum ('sad', 'glad');
	create table s.kinds(i smallint, l bigint, f real, d double precision, n numeric(30, 12), b boolean, t text, day date,
		at timestamp, zoned timestamptz, id uuid, m mood, j jsonb);
	insert into s.kinds values
		(-7, 9007199254740993, 0.1, 1e-300, 12345678901234567.000000000001, true, 'a "b", c', '2024-02-29', '1999-12-31 23:59:59.5',
			'2024-01-01 00:00:00+09', '00000000-0000-0000-0000-000000000007', 'glad', '{"a": 1}'),
		(null, null, null, 'NaN', null, false, 'two' || chr(10) || 'lines', '0044-03-15 BC', 'infinity', null, null, null, null);`

func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	s := startServer(t)
	s.exec(t, kinds)

	t.Run("values", func(t *testing.T) {
		const want = "i,l,f,d,n,b,t,day,at,zoned,id,m,j\n" +
			`-7,9007199254740993,0.1,1e-300,12345678901234567.000000000001,true,"a ""b"", c",2024-02-29,1999-12-31T23:59:59.5Z,` +
			"2023-12-31T15:00:00Z,00000000-0000-0000-0000-000000000007,glad,\"{\"\"a\"\": 1}\"\n" +
			",,,NaN,,false,\"two\nlines\",0044-03-15 BC,infinity,,,,\n"
		for _, opt := range []dataset.Options{{Table: "s.kinds"}, {Query: "select * from s.kinds;"}} {
			if got, err := csvOf(s.url, opt); got != want || err != nil {
				t.Errorf("%q (%v), want %q", got, err, want)
			}
		}
	})

	t.Run("errors", func(t *testing.T) {
		name := strings.Replace(s.url, "owner@", "", 1)
		for _, c := range []struct {
			url  string
			opt  dataset.Options
			want string
		}{
			{s.url, dataset.Options{}, `give a query (query "select …") or a table`},
			{s.url, dataset.Options{Query: "select 1", Table: "s.kinds"}, "give query or table, not both"},
			{s.url, dataset.Options{Table: "kinds"}, `relation "kinds" does not exist`},
			{s.url, dataset.Options{Query: "select x from s.kinds"}, `column "x" does not exist (at character 8 of the query)`},
			{s.url, dataset.Options{Query: "delete from s.kinds returning i"}, "cannot execute DELETE in a read-only transaction"},
			{s.url, dataset.Options{Query: "select 1; select 2"}, "cannot insert multiple commands"},
			{s.url, dataset.Options{Query: "create table s.x(a int)"}, "query gives no rows; give a SELECT"},
			{s.url, dataset.Options{Query: "select * from s.kinds where i = $1"}, "query has parameters ($1)"},
			{s.url, dataset.Options{Query: "select i from s.kinds where i > 5"}, "the query has no rows"},
			{s.url, dataset.Options{Query: "select 1/i as a, 1/(i+7) as b from s.kinds"}, "division by zero"},
			{s.url, dataset.Options{Query: "select array[1,2] as a"}, `column "a" is nested`},
			{s.url, dataset.Options{Query: "select row(1,2) as a"}, `column "a" is nested`},
			{s.url, dataset.Options{Query: "select 'x'::bytea as a"}, `column "a" is bytea`},
			{s.url, dataset.Options{Query: "select 1 as a, 2 as a"}, `two columns are called "a"`},
			{strings.Replace(s.url, "owner@", "owner:geheim@", 1), dataset.Options{Table: "s.kinds"}, "a password in the URL would be seen by others"},
			{s.url + "?password=geheim", dataset.Options{Table: "s.kinds"}, "a password in the URL would be seen by others"},
			{s.url + "?sslmode=never", dataset.Options{Table: "s.kinds"}, "the URL or the environment (PGHOST, PGSSLMODE, …) cannot be read"},
		} {
			_, err := csvOf(c.url, c.opt)
			if err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "geheim") {
				t.Errorf("%s %q: %v, want %q", c.url, c.opt.Query+c.opt.Table, err, c.want)
			}
		}
		t.Setenv("PGPASSWORD", "wrong")
		if _, err := csvOf(s.url, dataset.Options{Table: "s.kinds"}); err == nil || !strings.Contains(err.Error(), "password authentication failed") ||
			!strings.Contains(err.Error(), "cannot connect") {
			t.Errorf("a wrong password: %v", err)
		}
	})

	// A table of a million rows comes in pieces, and the same rows in every pass, whatever happens to the table.
	t.Run("a million rows", func(t *testing.T) {
		s.exec(t, "create table big as select i, sin(i) as x, i % 7 as label from generate_series(1, 1000000) i")
		src, err := dataset.Open(context.Background(), s.url, dataset.Options{Table: "big", Missing: "error"})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		s.exec(t, "truncate big")
		for range 2 {
			rows, sum := 0, 0.0
			var peak, now runtime.MemStats
			for b, err := range dataset.Each(context.Background(), src) {
				if err != nil {
					t.Fatal(err)
				}
				rows += b.X.Len()
				for _, y := range b.Y {
					sum += y
				}
				if runtime.ReadMemStats(&now); now.HeapAlloc > peak.HeapAlloc {
					peak = now
				}
			}
			if rows != 1_000_000 || sum != 2_999_998 {
				t.Errorf("%d rows, labels of sum %g", rows, sum)
			}
			if peak.HeapAlloc > 64<<20 {
				t.Errorf("%d MiB are held", peak.HeapAlloc>>20)
			}
		}
		if testing.Short() {
			return
		}
		// A training holds no rows either.
		var least, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&least)
		most := uint64(0)
		m, _, err := train.Fit(context.Background(), src, train.Config{Learner: train.Ridge{}, Scale: "standard",
			Map: train.Map{Name: "rff", Features: 64}, Kernel: train.Kernel{Gamma: "1"}}, train.Options{Progress: func(string, int, float64) {
			if runtime.ReadMemStats(&now); now.HeapAlloc > most {
				most = now.HeapAlloc
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if most == 0 || most > least.HeapAlloc+64<<20 || m.Info().Training.Rows != 1_000_000 {
			t.Errorf("%d MiB are held by a training on %d rows", most>>20, m.Info().Training.Rows)
		}
	})

	t.Run("cancelled", func(t *testing.T) {
		for _, query := range []string{"select generate_series(1, 1000000000) i", "select pg_sleep(1000)::text"} {
			ctx, cancel := context.WithCancel(context.Background())
			opt := dataset.Options{Query: query}
			opt.Columns.Progress = func(int, float64) { cancel() }
			if strings.Contains(query, "sleep") {
				time.AfterFunc(200*time.Millisecond, cancel)
			}
			if _, err := dataset.Open(ctx, s.url, opt); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", query, err)
			}
		}
		// The server does not go on with what nobody waits for.
		left := dataset.Options{Query: "select count(*) from pg_stat_activity where state = 'active' and query like '%sleep(1000)%' and pid <> pg_backend_pid()"}
		for range 6000 {
			if got, err := csvOf(s.url, left); err != nil {
				t.Fatal(err)
			} else if got == "count\n0\n" {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error("the cancelled query still runs")
	})

	t.Run("a server that goes away", func(t *testing.T) {
		opt := dataset.Options{Query: "select generate_series(1, 1000000000) i"}
		opt.Columns.Progress = func(int, float64) { s.stop() }
		_, err := dataset.Open(context.Background(), s.url, opt)
		if err == nil || !strings.Contains(err.Error(), "the connection was lost after ") || !strings.Contains(err.Error(), "; try again") {
			t.Errorf("%v", err)
		}
		if _, err = dataset.Open(context.Background(), s.url, opt); err == nil || !strings.Contains(err.Error(), "cannot connect") {
			t.Errorf("%v", err)
		}
	})
}
