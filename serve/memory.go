package serve

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"mercer/internal/engine/units"
)

// memory bounds what all requests hold at a time: their bodies, what is made of them, and the answers.
type memory struct {
	most int64
	held atomic.Int64
}

// lease is what one request holds of the memory.
type lease struct {
	of   *memory
	held int64
}

// take adds bytes to what the request holds, if there is room for them.
func (l *lease) take(n int64) error {
	if l.held+n > l.of.most {
		return &httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("the request takes more than %s of memory; send fewer rows at a time", units.Bytes(l.of.most))}
	}
	if l.of.held.Add(n) > l.of.most {
		l.of.held.Add(-n)
		return &overloaded{time.Second, fmt.Sprintf("there is no room for the request beside others, which hold up to %s", units.Bytes(l.of.most))}
	}
	l.held += n
	return nil
}

// release gives back all that the request holds.
func (l *lease) release() {
	l.of.held.Add(-l.held)
	l.held = 0
}

// numberBytes are those of a number in an answer, about.
const numberBytes = 24

// answers takes the memory of an answer with so many bytes a row.
func (c *call) answers(each int) error {
	return c.lease.take(max(0, int64(c.in.x.Rows)*int64(each)-int64(cap(c.in.out))))
}

// leased is a body that is read into memory.
type leased struct {
	io.ReadCloser
	lease *lease
	most  int64 // bytes that may come
	got   int64
	taken int64
}

// mostKept bounds the memory of a request that is kept for those to come.
const mostKept = 16 << 20

var errTooLarge = errors.New("the body is too large")

// Read reads what there is room for: what is read is copied as its buffer grows, and so counts twice.
func (b *leased) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.got += int64(n); b.got > b.most {
		return 0, errTooLarge
	}
	if more := 2*b.got - b.taken; more > 0 {
		if full := b.lease.take(more); full != nil {
			return 0, full
		}
		b.taken += more
	}
	return n, err
}

// bodyBuffer is memory for a body of n bytes, -1 for not known; of large ones more is taken as they come.
func (c *call) bodyBuffer(n int64) (*bytes.Buffer, error) {
	buffer, size := c.bodies.Get().(*bytes.Buffer), int(max(0, min(n, 1<<20)))+bytes.MinRead
	if c.lease.take(int64(buffer.Cap())) != nil { // one that is too large for the room that there is
		buffer = new(bytes.Buffer)
	}
	if more := int64(size - buffer.Cap()); more > 0 {
		if err := c.lease.take(more); err != nil {
			return nil, err
		}
	}
	buffer.Grow(size)
	return buffer, nil
}

// readBody reads the body of the request, unpacked. The buffer that it returns is nil on errors.
func (c *call) readBody() (*bytes.Buffer, error) {
	tooLarge := &httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", c.opt.Body)}
	if n := c.r.ContentLength; n > c.opt.Body {
		tooLarge.error = fmt.Errorf("the body has %d bytes; at most %d are taken", n, c.opt.Body)
		return nil, tooLarge
	}
	body := http.MaxBytesReader(c.w, c.r.Body, c.opt.Body)
	var err error
	switch kind := c.r.Header.Get("Content-Encoding"); kind {
	case "", "identity":
	case "gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	default:
		c.w.Header().Set("Accept-Encoding", "gzip, deflate")
		return nil, &httpError{http.StatusUnsupportedMediaType, fmt.Errorf("the Content-Encoding %s is not known; expected gzip, deflate or none", shortened([]byte(kind)))}
	}
	var buffer *bytes.Buffer
	if err == nil {
		buffer, err = c.bodyBuffer(c.r.ContentLength)
	}
	if err == nil {
		_, err = buffer.ReadFrom(&leased{ReadCloser: body, lease: &c.lease, most: c.opt.Body, taken: int64(buffer.Cap())})
	}
	var large *http.MaxBytesError
	var given *httpError
	var full *overloaded
	switch {
	case errors.As(err, &large), errors.Is(err, errTooLarge):
		return nil, tooLarge
	case errors.As(err, &given), errors.As(err, &full):
		if buffer != nil {
			c.lease.release()
			// What is on its way is read, or the connection would be cut before the client has read the answer.
			_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(time.Second))
			_, _ = io.Copy(io.Discard, body)
		}
		return nil, err
	case err != nil:
		return nil, badf("the body could not be read: %w", err)
	}
	return buffer, nil
}
