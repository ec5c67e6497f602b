package dataset

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// storedFile is the bytes of a file as they are stored.
type storedFile interface {
	io.ReaderAt
	io.Closer
}

// bytesFile is a file in memory.
type bytesFile struct{ data []byte }

func (b bytesFile) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(b.data).ReadAt(p, at)
}
func (b bytesFile) Close() error { return nil }

// packed is an input that may be compressed.
type packed struct {
	name    string
	file    storedFile
	size    int64
	method  string // "", "gzip", "bzip2" or "zstd"
	head    []byte
	witness *witness // nil: nobody can change it
	version string   // of an object

	typed typedTable // not nil: there are no bytes, but these rows
}

// newPacked determines the compression and reads the head. It closes the file on an error.
func newPacked(name string, file storedFile, size int64) (*packed, error) {
	p := &packed{name: name, file: file, size: size}
	magic := make([]byte, 4)
	n, err := file.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.method = methodOf(magic[:n])
	r, _, err := p.Open()
	if err != nil {
		file.Close()
		return nil, err
	}
	defer r.Close()
	size = headSize
	if p.method == "" {
		size = min(size, p.size) // a folder may have very many small files
	}
	p.head = make([]byte, size)
	n, err = io.ReadFull(r, p.head)
	p.head = p.head[:n]
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, bare(name, err))
	}
	return p, nil
}

// methodOf is the compression of a file that begins with magic.
func methodOf(magic []byte) string {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(magic, []byte("BZh")):
		return "bzip2"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// methodOfFile is the compression of a file; of one that cannot be read, such as one of a server, what its name says.
func methodOfFile(name string) string {
	if f, err := os.Open(name); err == nil {
		defer f.Close()
		magic := make([]byte, 4)
		if n, err := io.ReadFull(f, magic); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			return methodOf(magic[:n])
		}
	}
	return map[string]string{".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd"}[filepath.Ext(name)]
}

func (p *packed) Name() string { return p.name }
func (p *packed) Head() []byte { return p.head }
func (p *packed) Close() error { return p.file.Close() }

// Open implements input.
func (p *packed) Open() (io.ReadCloser, func() float64, error) {
	counted := &countingReader{r: io.NewSectionReader(p.file, 0, p.size)}
	if p.witness != nil {
		counted.saw = p.summed()
	}
	share := func(read *atomic.Int64) func() float64 {
		return func() float64 {
			switch p.size {
			case 0:
				return 1
			case math.MaxInt64: // a stream
				return -1
			}
			return float64(read.Load()) / float64(p.size)
		}
	}
	if p.method == "" {
		return io.NopCloser(counted), share(&counted.n), nil
	}
	ahead := func(r io.Reader, close func() error) (io.ReadCloser, func() float64, error) {
		a := readAhead(&unpacked{p, r, close}, &counted.n)
		return a, share(&a.used), nil
	}
	buffered := bufio.NewReaderSize(counted, 1<<16)
	switch p.method {
	case "gzip":
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, p.damaged(err)
		}
		return ahead(&members{z: z, from: buffered}, z.Close)
	case "bzip2":
		return ahead(bzip2.NewReader(buffered), nil)
	}
	z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return nil, nil, p.damaged(err)
	}
	return ahead(z, func() error { z.Close(); return nil })
}

// members reads the members of a gzip file one after the other. Zeros behind them pad it to whole blocks, as of a tape.
type members struct {
	z    *gzip.Reader
	from *bufio.Reader
}

func (m *members) Read(b []byte) (int, error) {
	for {
		m.z.Multistream(false)
		n, err := m.z.Read(b)
		if err != io.EOF || n > 0 {
			return n, noEOF(err, n)
		}
		for {
			next, err := m.from.Peek(1)
			if err != nil {
				return 0, err // io.EOF where it ends as it should
			}
			if next[0] != 0 {
				break
			}
			m.from.Discard(1)
		}
		if magic, _ := m.from.Peek(2); methodOf(magic) != "gzip" {
			return 0, errBehindGzip
		}
		if err := m.z.Reset(m.from); err != nil {
			return 0, atLeast(err)
		}
	}
}

var errBehindGzip = errors.New("bytes that are no gzip follow its end")

// noEOF is the error of a read that gave n bytes: the end comes with the next one.
func noEOF(err error, n int) error {
	if n > 0 && err == io.EOF {
		return nil
	}
	return err
}

// atLeast is an error of a member that has begun.
func atLeast(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// damaged is the error for compressed data that are truncated or corrupt.
func (p *packed) damaged(err error) error {
	if err == errBehindGzip {
		return &named{p.name, fmt.Errorf("%w; remove them, for example by gzip -dc < FILE > DATA", err)}
	}
	if errors.Is(err, errChanged) {
		return &named{p.name, err}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &named{p.name, fmt.Errorf("the %s data are cut short; copy the file again", p.method)}
	}
	return &named{p.name, fmt.Errorf("the %s data are damaged (%w); copy the file again", p.method, err)}
}

// named is an error of a file, by name.
type named struct {
	name string
	err  error
}

func (n *named) Error() string { return n.name + ": " + n.err.Error() }
func (n *named) Unwrap() error { return n.err }

// bare is an error without the name of its file, for a message that begins with it.
func bare(name string, err error) error {
	if n, ok := err.(*named); ok && n.name == name {
		return n.err
	}
	var at *fs.PathError
	if errors.As(err, &at) && at.Path == name {
		return at.Err
	}
	return err
}

// unpacked adds the file's name to the errors of a decompressor, and turns an early
// end of its input, which some report as the normal end of data, into an error.
type unpacked struct {
	p     *packed
	r     io.Reader
	close func() error
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if err != nil && err != io.EOF {
		err = u.p.damaged(err)
	}
	return n, err
}

func (u *unpacked) Close() error {
	if u.close != nil {
		return u.close()
	}
	return nil
}

// countingReader counts the bytes that have been read.
type countingReader struct {
	r   io.Reader
	n   atomic.Int64
	saw func(read []byte) error // if not nil, is told what was read
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	if c.saw != nil {
		if changed := c.saw(b[:n]); changed != nil {
			return 0, changed
		}
	}
	return n, err
}

// readAhead runs a decompressor in its own goroutine while its previous output is
// being used. read is how many bytes the decompressor has been given.
func readAhead(r io.ReadCloser, read *atomic.Int64) *ahead {
	// It reads ahead the length of a batch of images, so that nobody waits for the next one. Pieces
	// are allocated when first filled: a small file needs one.
	const pieces, size = 16, 1 << 18
	a := &ahead{full: make(chan piece, pieces), empty: make(chan []byte, pieces), stop: make(chan struct{})}
	for range pieces {
		a.empty <- nil
	}
	go func() {
		defer close(a.full)
		defer r.Close()
		for {
			var buf []byte
			select {
			case buf = <-a.empty:
			case <-a.stop:
				return
			}
			if buf == nil {
				buf = make([]byte, size)
			}
			n, err := io.ReadFull(r, buf)
			if errors.Is(err, io.ErrUnexpectedEOF) {
				// unpacked never returns this error for a fault: it is the end of the data.
				err = io.EOF
			}
			select {
			case a.full <- piece{buf[:n], read.Load(), err}:
			case <-a.stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

type piece struct {
	data []byte
	read int64 // what the decompressor had been given by then
	err  error
}

type ahead struct {
	full    chan piece
	empty   chan []byte
	stop    chan struct{}
	current piece
	before  int64 // read, of the piece before
	at      int
	used    atomic.Int64 // read, of what has been used
	closed  bool
}

func (a *ahead) Read(b []byte) (int, error) {
	for a.at == len(a.current.data) {
		if a.current.err != nil {
			return 0, a.current.err
		}
		if a.current.data != nil {
			a.empty <- a.current.data[:cap(a.current.data)]
		}
		next, ok := <-a.full
		if !ok {
			return 0, io.ErrClosedPipe
		}
		a.before = a.current.read
		a.current, a.at = next, 0
		if len(next.data) == 0 {
			a.used.Store(next.read)
		}
	}
	n := copy(b, a.current.data[a.at:])
	a.at += n
	part := float64(a.at) / float64(len(a.current.data))
	a.used.Store(a.before + int64(part*float64(a.current.read-a.before)))
	return n, nil
}

func (a *ahead) Close() error {
	if !a.closed {
		a.closed = true
		close(a.stop)
		for range a.full {
			// Until the goroutine has ended.
		}
	}
	return nil
}
