package objects

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mercer/internal/engine/remote"
	"mercer/internal/engine/testenv"
)

// soon makes stores impatient.
func soon(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

// operations are what can be asked of a store.
var operations = map[string]func(ctx context.Context, address string) error{
	"open": func(ctx context.Context, address string) error {
		f, err := remote.Open(ctx, address)
		if err == nil {
			f.Close()
		}
		return err
	},
	"list": func(ctx context.Context, address string) error {
		_, err := remote.List(ctx, address+"/", 10)
		return err
	},
	"put": func(ctx context.Context, address string) error {
		return remote.Put(ctx, address, bytes.NewReader(make([]byte, 1<<20)), 1<<20)
	},
	"delete":   remote.Delete,
	"writable": remote.Writable,
}

// A store that takes a connection and never answers is an error after a while, and is not asked again.
func TestSilentStores(t *testing.T) {
	soon(t, 2*time.Second) // a busy machine may take a while to ask
	o := testenv.NewObjects(t)
	asked := make(chan struct{}, 100)
	over := make(chan struct{})
	defer close(over)
	o.Before = func(http.ResponseWriter, *http.Request) bool {
		asked <- struct{}{}
		<-over
		return true
	}
	var all sync.WaitGroup
	for name, do := range operations {
		all.Go(func() {
			err := do(t.Context(), "s3://shop/k")
			if err == nil || !strings.Contains(err.Error(), "has sent nothing for 2s; is AWS_ENDPOINT_URL right?") || !strings.Contains(err.Error(), "the store at 127.0.0.1:") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
	if n := len(asked); n != len(operations) {
		t.Errorf("%d requests of %d operations", n, len(operations))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for name, do := range operations {
		if err := do(ctx, "s3://shop/k"); err == nil || strings.Contains(err.Error(), "has sent nothing") {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

// One that falls silent within an object is asked once more.
func TestStoresThatFallSilent(t *testing.T) {
	o := testenv.NewObjects(t)
	b := someBytes(blockSize)
	o.Put("k", b)
	f, err := remote.Open(t.Context(), "s3://shop/k")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	soon(t, 2*time.Second)
	over := make(chan struct{})
	defer close(over)
	o.Before = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		w.WriteHeader(http.StatusPartialContent)
		_ = http.NewResponseController(w).Flush()
		<-over
		return true
	}
	_, err = f.ReadAt(make([]byte, 10), 0)
	if err == nil || !strings.Contains(err.Error(), "s3://shop/k: the store at 127.0.0.1:") || !strings.Contains(err.Error(), "has sent nothing for 2s") {
		t.Error(err)
	}
	if n := len(gets(o, "k")); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// What answers and is no store is told so.
func TestServersThatAreNoStores(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"pages":          {answer(200, "text/html; charset=utf-8", "<!doctype html><p>welcome"), "answers with a web page, so it is no object store; is AWS_ENDPOINT_URL right?"},
		"missing pages":  {answer(404, "text/html", "<html>not found</html>"), "answers with a web page, so it is no object store; is AWS_ENDPOINT_URL right?"},
		"an API":         {answer(200, "application/json", `{"ok":true}`), "answers with application/json, so it is no object store; is AWS_ENDPOINT_URL right?"},
		"text":           {answer(200, "text/plain", "hello"), "answers with text/plain, so it is no object store"},
		"another XML":    {answer(200, "application/xml", "<feed><a/></feed>"), "the server answers what no store does"},
		"broken XML":     {answer(200, "application/xml", "<ListBucketResult><a></ListBucketResult>"), "the server answers what no store does"},
		"missing texts":  {http.NotFound, "answers with text/plain, so it is no object store; is AWS_ENDPOINT_URL right?"},
		"wrong requests": {answer(400, "text/plain", "bad"), "the store says 400 Bad Request; are AWS_ENDPOINT_URL and AWS_REGION right?"},
	} {
		testenv.NewObjects(t)
		server := httptest.NewServer(c.handler)
		t.Setenv("AWS_ENDPOINT_URL", server.URL)
		if _, err := remote.List(t.Context(), "s3://shop/rows.csv", 10); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s3://shop/rows.csv: ") {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}

// So is what does not speak HTTP.
func TestServersOfAnotherProtocol(t *testing.T) {
	testenv.NewObjects(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n")
			c.Close()
		}
	}()
	t.Setenv("AWS_ENDPOINT_URL", "http://"+l.Addr().String())
	if _, err := remote.List(t.Context(), "s3://shop/rows.csv", 10); err == nil || !strings.Contains(err.Error(), "is AWS_ENDPOINT_URL right?") {
		t.Error(err)
	}
}

// Addresses may be written in large letters.
func TestAddressesInLargeLetters(t *testing.T) {
	o := testenv.NewObjects(t)
	o.Put("k", []byte("x"))
	f, err := remote.Open(t.Context(), "S3://shop/k")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if !remote.Is("S3://shop/k") || !remote.Is("s3://shop/k") || remote.Is("s3:/shop") || remote.Is("s3") {
		t.Error("what an address is")
	}
}
