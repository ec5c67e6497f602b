package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// What fails for a moment is tried again; a transfer that breaks off is continued, if it is still the same file.
func TestRetries(t *testing.T) {
	const text = "0123456789abcdefghij"
	var counting sync.Mutex // an answer that nobody waits for may still be under way
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counting.Lock()
		n := asked[r.URL.Path]
		asked[r.URL.Path]++
		counting.Unlock()
		from, ranged := 0, r.Header.Get("Range")
		fmt.Sscanf(ranged, "bytes=%d-", &from)
		w.Header().Set("Content-Length", fmt.Sprint(len(text)-from))
		tag := `"v1"`
		switch r.URL.Path {
		case "/busy":
			if n < 2 {
				w.Header().Set("Retry-After", "0")
				http.Error(w, "later", http.StatusServiceUnavailable)
				return
			}
		case "/down":
			http.Error(w, "never", http.StatusBadGateway)
			return
		case "/changes":
			tag = fmt.Sprintf(`"v%d"`, n)
		case "/silent":
			<-r.Context().Done()
			return
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		if r.URL.Path != "/whole" {
			w.Header().Set("Accept-Ranges", "bytes")
			w.Header().Set("ETag", tag)
		}
		if ranged != "" && r.Header.Get("If-Range") == tag {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(text)-1, len(text)))
			w.WriteHeader(http.StatusPartialContent)
		} else if ranged != "" {
			from = 0
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		}
		switch r.URL.Path {
		case "/breaks", "/changes", "/whole":
			_, _ = io.WriteString(w, text[from:min(from+7, len(text))]) // and no more
		case "/stalls":
			_, _ = io.WriteString(w, text[from:from+10])
			w.(http.Flusher).Flush()
			if from == 0 {
				<-r.Context().Done()
				return
			}
		default:
			_, _ = io.WriteString(w, text[from:])
		}
	}))
	defer server.Close()
	g := newGetter()
	g.pause = time.Millisecond
	usual := g.patience // a busy machine may take its time
	for path, want := range map[string]string{
		"/busy": "", "/breaks": "", "/stalls": "", "/plain": "",
		"/down":    "the server answers 502 Bad Gateway (tried 4 times)",
		"/changes": "the connection was lost after 7 bytes, and the file at the address is another one now; try again",
		"/whole":   "the connection was lost after 7 bytes (unexpected EOF); try again",
		"/page":    "the server answers with a web page; give the address of the file itself",
	} {
		if g.patience = usual; path == "/stalls" {
			g.patience = 2 * time.Second
		}
		got := ""
		r, size, err := g.get(context.Background(), server.URL+path)
		if err == nil {
			if size != int64(len(text)) {
				t.Errorf("%s: %d bytes are announced", path, size)
			}
			var all []byte
			all, err = io.ReadAll(r)
			got = string(all)
			r.Close()
		}
		if want == "" && (err != nil || got != text) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %q, %v, want %s", path, got, err, want)
		}
	}
	g.patience = 300 * time.Millisecond
	if _, _, err := g.get(context.Background(), server.URL+"/silent"); err == nil || !strings.HasSuffix(err.Error(), " has sent nothing for 300ms (tried 2 times)") {
		t.Error(err)
	}
	counting.Lock()
	defer counting.Unlock()
	if asked["/busy"] != 3 || asked["/breaks"] != 3 || asked["/down"] != 4 || asked["/page"] != 1 {
		t.Errorf("asked %v", asked)
	}
}

// What is asked for by https is not fetched by http.
func TestRedirections(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/around" {
			http.Redirect(w, r, "/around", http.StatusFound)
			return
		}
		http.Redirect(w, r, plain.URL, http.StatusFound)
	}))
	defer secure.Close()
	g := newGetter()
	if _, _, err := g.get(context.Background(), secure.URL); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	g.client.Transport = secure.Client().Transport
	for path, want := range map[string]string{"/": "redirects from https to http", "/around": "redirects again and again"} {
		if _, _, err := g.get(context.Background(), secure.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
