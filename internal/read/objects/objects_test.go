package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mercer/internal/engine/remote"
	"mercer/internal/engine/testenv"
)

func someBytes(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

// gets is what was fetched of an object.
func gets(o *testenv.Objects, key string) (list []string) {
	for _, r := range o.Requests() {
		if ranges, is := strings.CutPrefix(r, "GET "+key+" "); is {
			list = append(list, ranges)
		}
	}
	return list
}

// Whatever the order of reads, nothing is fetched twice, and reads in order ask for more and more.
func TestObjectsAreReadInAnyOrder(t *testing.T) {
	o := testenv.NewObjects(t)
	b := someBytes(3<<20 + 17)
	o.Put("a b/ü.bin", b)
	f, err := remote.Open(t.Context(), "s3://shop/a b/ü.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Size() != int64(len(b)) || f.Version() == "" {
		t.Errorf("%d bytes of version %q", f.Size(), f.Version())
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil || !bytes.Equal(got, b) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if n := len(gets(o, "a b/ü.bin")); n != 4 { // 1, 2, 4 and the last 6 of 13 blocks
		t.Errorf("%d requests: %v", n, gets(o, "a b/ü.bin"))
	}
	before := len(o.Requests())
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 50 {
				at, n := r.IntN(len(b)), r.IntN(600<<10)
				p := make([]byte, n)
				k, err := f.ReadAt(p, int64(at))
				if want := b[at:min(at+n, len(b))]; !bytes.Equal(p[:k], want) || (err == io.EOF) != (k < n) {
					t.Errorf("%d bytes from %d: %d, %v", n, at, k, err)
				}
			}
		})
	}
	all.Wait()
	if now := len(o.Requests()); now != before {
		t.Errorf("%d requests for what was read before", now-before)
	}
	if k, err := f.ReadAt(make([]byte, 1), f.Size()); k != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", k, err)
	}
}

// Blocks at random are fetched once each, by goroutines that want them at the same time.
func TestBlocksAreFetchedOnce(t *testing.T) {
	o := testenv.NewObjects(t)
	b := someBytes(20 * blockSize)
	o.Put("k", b)
	f, err := remote.Open(t.Context(), "s3://shop/k")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for _, i := range rand.New(rand.NewPCG(2, uint64(g))).Perm(20) {
				p := make([]byte, blockSize)
				if _, err := f.ReadAt(p, int64(i)*blockSize); err != nil || !bytes.Equal(p, b[i*blockSize:(i+1)*blockSize]) {
					t.Errorf("block %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	list := gets(o, "k")
	slices.Sort(list)
	if n := len(list); n > 20 || len(slices.Compact(list)) != n {
		t.Errorf("%d requests: %v", n, list)
	}
}

// A connection that breaks off is continued where it stopped; an object that is another one then is an error.
func TestBrokenConnectionsAreContinued(t *testing.T) {
	o := testenv.NewObjects(t)
	b := someBytes(blockSize)
	o.Put("k", b)
	var cut atomic.Int32
	o.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || cut.Add(1) > 3 {
			return false
		}
		w.Header().Set("Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT")
		w.Header().Set("Content-Length", "262144")
		w.WriteHeader(http.StatusPartialContent)
		from := int(cut.Load()-1) * 1000
		_, _ = w.Write(b[from : from+1000])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	f, err := remote.Open(t.Context(), "s3://shop/k")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, len(b))
	if _, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, b) {
		t.Errorf("%v; %v", err, gets(o, "k"))
	}
	if list := gets(o, "k"); len(list) != 4 || list[3] != "bytes=3000-262143" {
		t.Errorf("asked for %v", list)
	}

	again, err := remote.Open(t.Context(), "s3://shop/k")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	o.Put("k", someBytes(10))
	if _, err := again.ReadAt(p, 0); err == nil || !strings.Contains(err.Error(), "s3://shop/k: has changed while it was read") {
		t.Error(err)
	}
}

func TestListsAreFoldersAndPatterns(t *testing.T) {
	o := testenv.NewObjects(t)
	for _, key := range []string{"logs/day=1/a.csv", "logs/day=1/b.csv", "logs/day=2/a.csv", "logs/day=2/_SUCCESS", "logs/.hidden/x.csv", "logs/", "logs2/a.csv", "one.csv"} {
		o.Put(key, []byte("x"))
	}
	all := []string{"s3://shop/logs/day=1/a.csv", "s3://shop/logs/day=1/b.csv", "s3://shop/logs/day=2/a.csv"}
	for address, want := range map[string][]string{
		"s3://shop/logs":             all,
		"s3://shop/logs/":            all,
		"s3://shop/logs/day=?":       all,
		"s3://shop/logs/*/a.csv":     {all[0], all[2]},
		"s3://shop/logs*/a.csv":      {"s3://shop/logs2/a.csv"},
		"s3://shop/logs/day=1/a.csv": nil,
		"s3://shop/*.csv":            {"s3://shop/one.csv"},
	} {
		if got, err := remote.List(t.Context(), address, 100); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", address, got, err)
		}
	}
	for address, want := range map[string]string{
		"s3://shop/none":     "s3://shop/none: no object has such a name: file does not exist",
		"s3://shop/logs/[":   "the pattern cannot be read",
		"s3://nobody/x":      "s3://nobody/x: there is no such bucket",
		"s3://":              "s3://: is no address of an object; they are written s3://BUCKET/KEY",
		"s3:///x":            "is no address of an object",
		"s3://shop/logs/*":   "there are more than 2 objects",
		"s3://UPPER_CASE/x/": "UPPER_CASE",
	} {
		if _, err := remote.List(t.Context(), address, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestObjectsAreWritten(t *testing.T) {
	o := testenv.NewObjects(t)
	for _, n := range []int{0, 1, 100_000, 20 << 20} { // the last in parts
		b := someBytes(n)
		if err := remote.Put(t.Context(), "s3://shop/out/x", bytes.NewReader(b), int64(n)); err != nil {
			t.Error(err)
		}
		if got := o.Get("out/x"); got == nil && n > 0 || !bytes.Equal(got, b) {
			t.Errorf("of %d bytes there are %d", n, len(got))
		}
		if keys := o.Keys(); len(keys) != 1 {
			t.Errorf("there are %v", keys)
		}
	}
	if err := remote.Writable(t.Context(), "s3://shop/x"); err != nil {
		t.Error(err)
	}
	for address, want := range map[string]string{
		"s3://nobody/x": "s3://nobody/x: there is no such bucket",
		"s3://shop":     "s3://shop: is no name for an object",
		"s3://shop/x/":  "is no name for an object",
	} {
		if err := remote.Writable(t.Context(), address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := remote.Put(ctx, "s3://shop/never", strings.NewReader("x"), 1); !errors.Is(err, context.Canceled) || o.Get("never") != nil {
		t.Error(err)
	}
}

// Errors say which object, and what to do.
func TestErrorsOfStores(t *testing.T) {
	testenv.NewObjects(t)
	open := func(address string) error {
		f, err := remote.Open(t.Context(), address)
		if err == nil {
			f.Close()
		}
		return err
	}
	if err := open("s3://shop/none"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "s3://shop/none: file does not exist" {
		t.Error(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "another")
	if err := open("s3://shop/x"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Error(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	if err := open("s3://shop/x"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err) // nothing is signed
	}
	for _, endpoint := range []string{"localhost:9000", "ftp://x", "http://x/path", "http://"} {
		t.Setenv("AWS_ENDPOINT_URL", endpoint)
		if err := open("s3://shop/x"); err == nil || !strings.Contains(err.Error(), "is no address of a store; write https://HOST[:PORT]") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
