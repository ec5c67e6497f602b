package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mercer/dataset"
	_ "mercer/dataset/fetch"
)

const rows = "x,y\n1,2\n3,4\n"

// Files are read from a server as from a disk, compressed or not; secrets of an address are in no message.
func TestFetched(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, rows)
	z.Close()
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a.csv":
			_, _ = io.WriteString(w, rows)
		case "/a.csv.gz":
			_, _ = w.Write(packed.Bytes())
		case "/moved":
			http.Redirect(w, r, "/a.csv", http.StatusFound)
		case "/short":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, rows)
		case "/slow":
			_, _ = io.WriteString(w, rows)
			w.(http.Flusher).Flush()
			select {
			case <-silent:
			case <-r.Context().Done():
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	defer close(silent)
	for _, name := range []string{"/a.csv", "/a.csv.gz", "/moved", "/a.csv?key=geheim"} {
		src, err := dataset.Open(context.Background(), server.URL+name, dataset.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 0
		for range 2 {
			for b, err := range dataset.Each(context.Background(), src) {
				if err != nil {
					t.Fatal(err)
				}
				n += b.X.Len()
			}
		}
		if n != 4 || strings.Contains(src.Name(), "geheim") {
			t.Errorf("%s: %d rows in two passes", src.Name(), n)
		}
		src.Close()
	}
	secret := strings.Replace(server.URL, "http://", "http://me:geheim@", 1)
	for address, want := range map[string]string{
		secret + "/none?key=geheim":   server.URL + "/none: the server answers 404 Not Found",
		server.URL + "/short":         server.URL + "/short: the connection was lost after 12 bytes (unexpected EOF); try again",
		"http://127.0.0.1:1/x?geheim": "http://127.0.0.1:1/x: dial tcp 127.0.0.1:1: connect: connection refused",
		"http://%zz/geheim":           "http://…: the address cannot be read",
	} {
		_, err := dataset.Open(context.Background(), address, dataset.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := dataset.Open(ctx, server.URL+"/slow", dataset.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
