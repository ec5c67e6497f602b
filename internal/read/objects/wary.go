package objects

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"mercer/internal/engine/remote"
)

// check is what to do if a store is none, or does not answer.
const check = "is AWS_ENDPOINT_URL right?"

// stopped is the key by which the context of an operation has what ends it.
type stopped struct{}

// operation is the context of one operation, such as to list objects. Its cause says why it was ended, if the transport did so: the client
// would try again.
func operation(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	return context.WithValue(ctx, stopped{}, stop), func() { stop(nil) }
}

// wary is a transport that ends operations on a host that is silent, or is no store.
type wary struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w *wary) RoundTrip(r *http.Request) (*http.Response, error) {
	stop, is := r.Context().Value(stopped{}).(context.CancelCauseFunc)
	if !is { // of the client itself
		return w.next.RoundTrip(r)
	}
	silence := remote.Watch(r.URL.Host, patience, stop)
	sent := &sending{ReadCloser: r.Body, silence: silence}
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context())
		r.Body = sent
	}
	response, err := w.next.RoundTrip(r)
	sent.over.Store(true)
	silence.Pause()
	if err != nil {
		return nil, err
	}
	if what := notOfStore(response); what != "" {
		response.Body.Close()
		err := &otherServer{r.URL.Host, what}
		stop(err)
		return nil, err
	}
	response.Body = &coming{response.Body, silence}
	return response, nil
}

// sending is the body of a request. While it is sent, and until the answer comes, a host may be silent for so long after each part of it.
type sending struct {
	io.ReadCloser
	silence *remote.Silence
	over    atomic.Bool
}

func (s *sending) Read(p []byte) (int, error) {
	if !s.over.Load() {
		s.silence.Go()
	}
	return s.ReadCloser.Read(p)
}

// coming is the body of a response, during each read of which a host may be silent for so long.
type coming struct {
	io.ReadCloser
	silence *remote.Silence
}

func (c *coming) Read(p []byte) (int, error) {
	c.silence.Go()
	defer c.silence.Pause()
	return c.ReadCloser.Read(p)
}

// otherServer says that a server is no store.
type otherServer struct{ host, what string }

func (e *otherServer) Error() string {
	return fmt.Sprintf("%s answers with %s, so it is no object store", e.host, e.what)
}

// notOfStore is what a response is if no store answers so; "" if it may be one's. Stores write XML, but for the objects themselves, which have an ETag,
// and answers without a body. What stands in front of a store may refuse with a page where that is overloaded.
func notOfStore(r *http.Response) string {
	if r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests || r.Header.Get("ETag") != "" ||
		r.Request.Method == http.MethodHead && r.StatusCode >= 300 {
		return ""
	}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz") || strings.HasPrefix(name, "x-goog") || strings.HasPrefix(name, "x-minio") {
			return ""
		}
	}
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case kind == "text/html":
		return "a web page"
	case strings.Contains(kind, "xml"):
		return ""
	default:
		return kind
	}
}
