// Package fetch lets Mercer read data from http:// and https:// addresses, and from s3://, where AWS_ACCESS_KEY_ID and the other variables of
// Amazon's programs say who asks. A program imports it for that alone:
//
//	import _ "mercer/dataset/fetch"
//
// What is fetched is copied to an unlinked temporary file first, once, since rows are read several times. A transfer that breaks off is
// continued where it stopped, if the server can do that.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"mercer/internal/engine/remote"
	_ "mercer/internal/read/objects" // reads s3://
	"mercer/internal/read/outside"
)

func init() { outside.Fetch = newGetter().get }

// getter fetches files.
type getter struct {
	client   *http.Client
	patience time.Duration // how long a server may be silent
	tries    int           // in a row, without a byte
	pause    time.Duration // before the second try; then twice as long each time
}

// mostSilent is how often in a row a server may not answer.
const mostSilent = 2

func newGetter() *getter {
	g := &getter{patience: remote.Patience, tries: 4, pause: time.Second}
	g.client = &http.Client{CheckRedirect: stayPrivate, Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		DisableCompression:  true, // files that are compressed are unpacked where they are read
		ForceAttemptHTTP2:   true,
	}}
	return g
}

// stayPrivate follows redirections, but not from https to http.
func stayPrivate(to *http.Request, via []*http.Request) error {
	switch last := via[len(via)-1].URL; {
	case len(via) > 10:
		return errors.New("the server redirects again and again")
	case last.Scheme == "https" && to.URL.Scheme != "https":
		return errors.New("the server redirects from https to " + to.URL.Scheme)
	}
	return nil
}

// get opens what is at an address; size is -1 if the server does not say it.
func (g *getter) get(ctx context.Context, address string) (r io.ReadCloser, size int64, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, 0, errors.New("the address cannot be read")
	}
	b := &body{getter: g, outer: ctx, address: address}
	if err := b.again(nil); err != nil {
		return nil, 0, err
	}
	return b, b.size, nil
}

// body is what is at an address.
type body struct {
	*getter
	outer   context.Context
	address string
	tag     string // tells versions of the file apart; "": what is there cannot be continued
	size    int64  // -1: unknown
	read    int64
	failed  int // tries without a byte since the last one
	silent  int // of these, those that the server did not answer

	stop    context.CancelCauseFunc // of this connection
	silence *remote.Silence
	ctx     context.Context
	r       io.ReadCloser
}

// passing is an error that may be gone in a moment.
type passing struct {
	error
	after time.Duration // as the server asks; 0: it does not
}

func (p passing) Unwrap() error { return p.error }

// again connects, after err if that is not nil, until it works or there is no hope.
func (b *body) again(err error) error {
	for {
		if err != nil {
			b.failed++
			var p passing
			if !errors.As(err, &p) || b.outer.Err() != nil {
				return err
			}
			if errors.As(err, new(*remote.SilentError)) {
				b.silent++
			}
			if b.failed >= b.tries || b.silent >= mostSilent {
				return fmt.Errorf("%w (tried %d times)", err, b.failed)
			}
			wait := max(p.after, b.pause<<(b.failed-1))
			select {
			case <-time.After(min(wait, b.patience)):
			case <-b.outer.Done():
				return b.outer.Err()
			}
		}
		if err = b.connect(); err == nil {
			return nil
		}
		b.disconnect()
	}
}

func (b *body) connect() error {
	b.ctx, b.stop = context.WithCancelCause(b.outer)
	request, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.address, nil)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	b.silence = remote.Watch(request.URL.Host, b.patience, b.stop)
	defer b.silence.Pause()
	request.Header.Set("User-Agent", "mercer")
	if b.read > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", b.read))
		request.Header.Set("If-Range", b.tag)
	}
	response, err := b.client.Do(request)
	if err != nil {
		return b.told(err)
	}
	b.r = response.Body
	switch code := response.StatusCode; {
	case b.read > 0 && code == http.StatusPartialContent && startOf(response.Header.Get("Content-Range")) == b.read:
		return nil
	case b.read > 0 && (code == http.StatusOK || code == http.StatusPartialContent):
		return fmt.Errorf("the connection was lost after %d bytes, and the file at the address is another one now; try again", b.read)
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return passing{fmt.Errorf("the server answers %s", response.Status), time.Duration(after) * time.Second}
	case code != http.StatusOK:
		return fmt.Errorf("the server answers %s", response.Status)
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/html" {
		return errors.New("the server answers with a web page; give the address of the file itself")
	}
	if response.Header.Get("Accept-Ranges") == "bytes" {
		b.tag = response.Header.Get("ETag")
	}
	b.size = response.ContentLength
	return nil
}

// startOf is where a range begins: 5 in "bytes 5-9/10"; -1 if it is none.
func startOf(contentRange string) int64 {
	var from, to int64
	if n, _ := fmt.Sscanf(contentRange, "bytes %d-%d/", &from, &to); n < 2 {
		return -1
	}
	return from
}

// told is an error of a connection, without the address, in which there may be a secret.
func (b *body) told(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var unknown *net.DNSError
	switch {
	case b.outer.Err() != nil:
		return b.outer.Err()
	case b.ctx.Err() != nil:
		return passing{context.Cause(b.ctx), 0}
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("there is no host %s", unknown.Name)
	case b.read == 0 && errors.Is(err, syscall.ECONNREFUSED):
		return err // nothing listens there
	case outer != nil && outer.Op == "Get" && !isNetwork(err):
		return err // a certificate, a redirection, a protocol
	}
	return passing{err, 0}
}

// isNetwork says whether an error is about a connection that could not be made, or was lost.
func isNetwork(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op != "remote error" || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for {
		b.silence.Go()
		n, err := b.r.Read(p)
		b.silence.Pause() // the reader may take its time
		if b.read += int64(n); n > 0 {
			b.failed, b.silent = 0, 0
		}
		if n > 0 && err != io.EOF {
			return n, nil // an error comes again
		}
		if err == nil || err == io.EOF {
			return n, err
		}
		err = b.told(err)
		b.disconnect()
		if b.tag == "" || b.read == 0 {
			return n, fmt.Errorf("the connection was lost after %d bytes (%w); try again", b.read, err)
		}
		if err := b.again(err); err != nil {
			return n, err
		}
	}
}

func (b *body) disconnect() {
	b.stop(nil)
	if b.r != nil {
		b.r.Close()
		b.r = nil
	}
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.disconnect()
	return nil
}
