package dataset

import (
	"io"
	"math"
	"os"
	"sync"

	"mercer/internal/engine/option"
)

// stream is a file that can be read only once, such as a pipe. What has been read is
// kept in memory, so that it can be read again from the start, until the last pass
// begins: that one keeps nothing, so a stream may be endless.
type stream struct {
	mu    sync.Mutex
	r     io.ReadCloser
	start int64  // where buf begins
	buf   []byte // what is kept
	err   error  // of r
	last  bool   // the last pass has begun
}

var errGone = option.Errorf("the stream has been read and is gone; leave out %s, so that it is kept for several passes",
	option.Ref("survey_rows"))

// openStream opens a file that can be read only once; it returns nil if path is an ordinary file.
func openStream(path string) (*packed, error) {
	f := os.Stdin
	name := standardInput
	if path != "-" {
		st, err := os.Stat(path)
		if err != nil || st.Mode().IsRegular() || st.IsDir() {
			return nil, nil // the usual way reports the error
		}
		if f, err = os.Open(path); err != nil {
			return nil, nil
		}
		name = path
	}
	return newPacked(name, &stream{r: f}, math.MaxInt64)
}

// ReadAt implements io.ReaderAt; a last pass has to read forwards.
func (s *stream) ReadAt(p []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at < s.start {
		return 0, errGone
	}
	if s.last {
		gone := min(at-s.start, int64(len(s.buf)))
		s.buf, s.start = s.buf[gone:], s.start+gone
	}
	for s.err == nil && s.start+int64(len(s.buf)) < at+int64(len(p)) {
		const least = 1 << 16
		n := len(s.buf)
		if cap(s.buf)-n < least {
			s.buf = append(make([]byte, 0, 2*n+4*least), s.buf...)
		}
		var got int
		got, s.err = s.r.Read(s.buf[n:cap(s.buf)])
		s.buf = s.buf[:n+got]
	}
	n := 0
	if from := at - s.start; from < int64(len(s.buf)) {
		n = copy(p, s.buf[from:])
	}
	if n < len(p) {
		return n, s.err
	}
	return n, nil
}

func (s *stream) Close() error { return s.r.Close() }

// streamed reports whether an input is a stream.
func streamed(in input) bool {
	if t, ok := in.(*recoded); ok {
		in = t.input
	}
	if p, ok := in.(*packed); ok {
		_, ok = p.file.(*stream)
		return ok
	}
	return false
}

// LastPass announces that the next pass is the last. It matters for streams, of which nothing
// is kept from then on.
func (f *File) LastPass() {
	if streamed(f.in) {
		s := f.in.(*packed).file.(*stream)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = true
	}
}
