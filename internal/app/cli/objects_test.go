package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mercer/internal/engine/testenv"
)

// Data, plans, models and predictions may be objects of a store, and are what they are as files.
func TestObjectsAreAsFiles(t *testing.T) {
	o := testenv.NewObjects(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	table := flowers(300)
	data := write(t, dir, "flowers.csv", table)
	o.Put("in/flowers.csv", []byte(table))
	same := func(key, path string) {
		t.Helper()
		if b, err := os.ReadFile(path); err != nil || string(b) != string(o.Get(key)) {
			t.Errorf("%s is another than %s: %d and %d bytes, %v", key, path, len(o.Get(key)), len(b), err)
		}
	}
	flags := []string{"--learner", "ridge", "--features", "64", "--ignore", "length"}
	ok(t, append([]string{"train", data, "-o", at("m")}, flags...)...)
	text := ok(t, append([]string{"train", "s3://shop/in/flowers.csv", "-o", "s3://shop/m"}, flags...)...)
	same("m", at("m"))
	if !strings.Contains(text, "s3://shop/m (") || strings.Contains(text, "(0 B)") {
		t.Error(text)
	}
	ok(t, "predict", at("m"), data, "-o", at("p.csv"))
	ok(t, "predict", "s3://shop/m", "s3://shop/in/flowers.csv", "-o", "s3://shop/p.csv")
	same("p.csv", at("p.csv"))
	ok(t, "convert", data, at("f.parquet"))
	ok(t, "convert", "s3://shop/in/flowers.csv", "s3://shop/parts/f.parquet")
	same("parts/f.parquet", at("f.parquet"))
	if text := ok(t, "inspect", "s3://shop/m"); !strings.Contains(text, "ridge") {
		t.Error(text)
	}

	ok(t, "index", data, "-o", at("i"), "--ignore", "kind")
	ok(t, "index", "s3://shop/in/flowers.csv", "-o", "s3://shop/i", "--ignore", "kind")
	same("i", at("i"))
	if found := ok(t, "search", "s3://shop/i", "s3://shop/in/flowers.csv", "--ignore", "kind"); found != ok(t, "search", at("i"), data, "--ignore", "kind") {
		t.Error(found)
	}
	if text := ok(t, "inspect", "S3://shop/m"); !strings.Contains(text, "ridge") {
		t.Error(text)
	}
	ok(t, "predict", at("m"), "S3://shop/in/flowers.csv", "-o", "S3://shop/p2.csv")
	same("p2.csv", at("p.csv"))
	o.Put("in b/#1?.csv", []byte(table))
	if text := ok(t, append([]string{"train", "s3://shop/in b/#1?.csv", "-o", at("m")}, flags...)...); !strings.Contains(text, "s3://shop/in b/#1?.csv") &&
		!strings.Contains(text, "  #1?.csv: ") {
		t.Error(text)
	}

	// In shards, of a folder with Parquet and of one file of text.
	for from, to := range map[string]string{"s3://shop/in/flowers.csv": data, "s3://shop/parts/": at("f.parquet")} {
		flags := append(flags, "--shards", "2", "--piece", "2KiB")
		plan := strings.TrimSuffix(filepath.Base(to), filepath.Ext(to))
		if strings.HasSuffix(from, "/") { // a folder on this side as well
			if err := os.Mkdir(at("parts"), 0o777); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"parts/f.parquet", "parts/g.parquet"} {
				o.Put(name, o.Get("parts/f.parquet"))
				write(t, dir, name, string(o.Get(name)))
			}
			to = at("parts")
		}
		ok(t, append([]string{"shard", "plan", to, "-o", at(plan)}, flags...)...)
		ok(t, "shard", "solve", at(plan), "-o", at("s.mercer"), "--alone")
		there := "s3://shop/plans/" + plan
		ok(t, append([]string{"shard", "plan", from, "-o", there}, flags...)...)
		for range 3 {
			if round := ok(t, "shard", "next", there+"/plan.json"); strings.TrimSpace(round) == "" {
				t.Fatal("no round is next")
			}
			ok(t, "shard", "run", there, "--shard", "1")
			if r := mercer(t, "shard", "merge", there); r.code != 1 || !strings.Contains(r.stderr, "lacks 1 of") {
				t.Error(r.stderr)
			}
			ok(t, "shard", "run", there+"/", "--shard", "0")
			ok(t, "shard", "merge", there)
		}
		ok(t, "shard", "solve", there, "-o", "s3://shop/s.mercer")
		same("s.mercer", at("s.mercer"))
		ok(t, "shard", "predict", at(plan), at("s.mercer"), "-o", at("scored"), "--shard", "1")
		ok(t, "shard", "predict", there, "s3://shop/s.mercer", "-o", "s3://shop/scored", "--shard", "1")
		same("scored/shard-00001.csv", at("scored/shard-00001.csv"))
	}
	o.Put("plans/f/data/copy.parquet", []byte("x"))
	o.Put("plans/f/mine.txt", []byte("x"))
	for _, plan := range []string{at("f"), "s3://shop/plans/f/"} {
		if said := ok(t, "shard", "remove", plan, "--json"); !strings.Contains(said, `"files":`) {
			t.Error(said)
		}
		if r := mercer(t, "shard", "remove", plan); r.code != 1 {
			t.Error("a plan that is gone is removed again")
		}
	}
	for _, key := range o.Keys() {
		if strings.HasPrefix(key, "plans/f/") && key != "plans/f/mine.txt" {
			t.Errorf("%s is left", key)
		}
	}
	if _, err := os.Stat(at("f")); err == nil {
		t.Error("the folder of the plan is left")
	}
	o.Put("in/flowers.csv", []byte(strings.Replace(table, "1", "2", 1)))
	if r := mercer(t, "shard", "run", "s3://shop/plans/flowers", "--round", "survey", "--all"); r.code != 1 ||
		!strings.Contains(r.stderr, "s3://shop/in/flowers.csv: is another object than when it was divided") {
		t.Error(r.stderr)
	}
}

func TestObjectsThatCannotBeHad(t *testing.T) {
	o := testenv.NewObjects(t)
	data := write(t, t.TempDir(), "flowers.csv", flowers(60))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"train", "s3://shop/none.csv", "-o", "m"}, "s3://shop/none.csv: no object has such a name"},
		{[]string{"train", data, "-o", "s3://nobody/m"}, "s3://nobody/m: there is no such bucket"},
		{[]string{"train", data, "-o", "m", "--plots", "s3://shop/p"}, "--plots s3://shop/p: pictures go to a folder of this machine"},
		{[]string{"train", data, "-o", "s3://shop/"}, "s3://shop/: is no name for an object"},
		{[]string{"shard", "run", "s3://shop/none", "--all"}, "s3://shop/none/plan.json: file does not exist"},
		{[]string{"predict", write(t, t.TempDir(), "m", ""), data}, "m: the file is empty"},
		{[]string{"predict", "s3://shop/none", data}, "s3://shop/none: file does not exist"},
		{[]string{"train", "gs://shop/a.csv", "-o", "m"}, "read are http://, https://, s3:// and postgres://"},
	} {
		if r := mercer(t, c.args...); r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: %d, %s", c.args, r.code, r.stderr)
		}
	}
	for _, c := range [][]string{
		{"train", "s3://shop/in/", "-o", "s3://shop/in/day=1/m"},
		{"train", "s3://shop/*/a.csv", "-o", "s3://shop/in/a.csv"},
		{"convert", "s3://shop/in", "s3://shop/in/all.parquet"},
	} {
		if r := mercer(t, c...); r.code != 2 || !strings.Contains(r.stderr, "would be one of the objects of DATA s3://shop/") {
			t.Errorf("%v: %d, %s", c, r.code, r.stderr)
		}
	}
	if r := mercer(t, "tune", data, "-o", "m", "--journal", "s3://shop/j"); r.code != 1 || !strings.Contains(r.stderr, "give a file of this machine") {
		t.Error(r.stderr)
	}
	o.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			testenv.Refuse(w, http.StatusForbidden, "QuotaExceeded")
			return true
		}
		return false
	}
	r := mercer(t, "train", data, "-o", "s3://shop/m", "--learner", "ridge", "--features", "16")
	if r.code != 1 || !strings.Contains(r.stderr, "s3://shop/m: permission denied: the store refuses (QuotaExceeded)") || len(o.Keys()) > 0 {
		t.Error(r.code, r.stderr, o.Keys())
	}
}

// watchedOutput tells when a text has been written.
type watchedOutput struct {
	mu   sync.Mutex
	all  strings.Builder
	want string
	seen chan struct{}
}

func (w *watchedOutput) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.all.String(), w.want)
	w.all.Write(b)
	if !before && strings.Contains(w.all.String(), w.want) {
		close(w.seen)
	}
	return len(b), nil
}

// Who looks at a terminal is told of a server or a store that has taken a connection and does not answer, long before the wait ends.
func TestSilenceIsTold(t *testing.T) {
	o := testenv.NewObjects(t)
	over := make(chan struct{})
	o.Before = func(http.ResponseWriter, *http.Request) bool { <-over; return true }
	defer close(over)
	host := strings.TrimPrefix(os.Getenv("AWS_ENDPOINT_URL"), "http://")
	for _, address := range []string{"s3://shop/rows.csv", "http://" + host + "/rows.csv"} {
		w := &watchedOutput{want: "mercer train: note: " + host + " has not answered for a second; waits for up to 30s\n", seen: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() {
			done <- Run(ctx, []string{"train", address, "-o", filepath.Join(t.TempDir(), "m"), "--progress", "always"}, strings.NewReader(""), io.Discard, w)
		}()
		select {
		case <-w.seen:
		case code := <-done:
			t.Errorf("%s: ended with %d: %s", address, code, w.all.String())
			done <- code
		}
		stop()
		if code := <-done; code != exitInterrupted {
			t.Errorf("%s: exit code %d: %s", address, code, w.all.String())
		}
	}
}
