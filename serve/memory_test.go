package serve

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A request is refused that would take more memory than there is, alone or beside others, whatever of it is large: the body, the rows
// that a few bytes stand for, or the answer; and all is given back.
func TestMemoryOfRequests(t *testing.T) {
	s := handler(t, "three", Options{Memory: 1 << 20})
	rows := func(n int) string { return "[{}" + strings.Repeat(",{}", n-1) + "]" }
	column := func(n int) string { return `{"inputs":{"size":[1` + strings.Repeat(",1", n-1) + `]}}` }
	tensor := func(n int) string {
		return fmt.Sprintf(`{"inputs":[{"name":"size","datatype":"INT8","shape":[%d],"data":[1`, n) + strings.Repeat(",1", n-1) + "]}]}"
	}
	large := strings.Repeat(" ", 600_000)
	for _, c := range []struct {
		path, kind, body string
		code             int
	}{
		{"/predict", "", "{}" + large, 413}, {"/predict", "", rows(1000), 200}, {"/predict", "", rows(10_000), 413},
		{"/v1/models/people:predict", "", `{"instances":` + rows(30_000) + `}`, 413},
		{"/invocations", "application/json", column(2000), 200}, {"/invocations", "application/json", column(40_000), 413},
		{"/v2/models/people/infer", "", tensor(2000), 200}, {"/v2/models/people/infer", "", tensor(70_000), 413},
		{"/predict", arrowStream, arrowOf(t, false), 413}, // which may stand for more than it does
	} {
		if code, body, _ := ask(t, s, "POST", c.path, c.kind, c.body); code != c.code || code == 413 && !strings.Contains(body, "more than 1.0 MiB of memory") {
			t.Errorf("%s %.60s: %d %.200s, want %d", c.path, c.body, code, body, c.code)
		}
	}
	if held := s.memory.held.Load(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
	s.memory.held.Add(1 << 20)
	code, body, header := ask(t, s, "POST", "/predict", "", "{}")
	if code != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "no room for the request beside others") {
		t.Errorf("beside others: %d %s", code, body)
	}
	client := dialled(t, s)
	if _, err := invoke(t.Context(), client, "ModelInfer", appendString(nil, 1, "people")); status.Code(err) != codes.Unavailable {
		t.Errorf("beside others, over gRPC: %v", err)
	}
	s.memory.held.Add(-1 << 20)
	if code, body, _ := ask(t, s, "POST", "/predict", "", "{}"); code != 200 {
		t.Errorf("after others: %d %s", code, body)
	}
}

// Connections that announce much, and send it slowly or never, take no more memory than there is.
func TestMemoryOfSlowBodies(t *testing.T) {
	s := handler(t, "two", Options{Memory: 8 << 20})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, Listening{Listener: l, Finish: time.Nanosecond}) }()
	var refused int
	var all []net.Conn
	for range 20 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
		if _, err := io.WriteString(c, "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	answers := make(chan string, len(all))
	for _, c := range all {
		go func() {
			head := make([]byte, 12)
			_, _ = io.ReadFull(c, head)
			answers <- string(head)
		}()
	}
	for range 12 { // of 20, 8 have room
		if got := <-answers; got == "HTTP/1.1 503" {
			refused++
		}
	}
	if refused != 12 {
		t.Errorf("%d requests are refused", refused)
	}
	for _, c := range all {
		c.Close()
	}
	cancel()
	<-ended
}

// packing gives a body as a client packs it.
func packing(t *testing.T, kind string, body []byte) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if kind == "deflate" {
		w = zlib.NewWriter(&b)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Bodies may be packed by gzip or deflate, bounded by what they unpack to.
func TestPackedBodies(t *testing.T) {
	s := handler(t, "two", Options{Body: 5000})
	_, want, _ := ask(t, s, "POST", "/predict", "", `{"size":1.5}`)
	for _, kind := range []string{"gzip", "deflate"} {
		if code, body, _ := ask(t, s, "POST", "/predict", "", packing(t, kind, []byte(`{"size":1.5}`)), "Content-Encoding", kind); code != 200 || body != want {
			t.Errorf("%s: %d %s", kind, code, body)
		}
		bomb := packing(t, kind, make([]byte, 1<<20))
		if code, body, _ := ask(t, s, "POST", "/predict", "", bomb, "Content-Encoding", kind); code != 413 || !strings.Contains(body, "more than 5000 bytes") {
			t.Errorf("a bomb of %s with %d bytes: %d %s", kind, len(bomb), code, body)
		}
		for _, broken := range []string{"", "{}", bomb[:len(bomb)/2]} {
			if code, body, _ := ask(t, s, "POST", "/predict", "", broken, "Content-Encoding", kind); code != 400 && code != 413 || !strings.Contains(body, "body") {
				t.Errorf("%s of %d bytes: %d %s", kind, len(broken), code, body)
			}
		}
	}
	code, body, header := ask(t, s, "POST", "/predict", "", "{}", "Content-Encoding", "br")
	if code != http.StatusUnsupportedMediaType || header.Get("Accept-Encoding") != "gzip, deflate" || !strings.Contains(body, "Content-Encoding br") {
		t.Errorf("br: %d %s %v", code, body, header)
	}
}
