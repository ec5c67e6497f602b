package safetensors

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"mercer/internal/engine/remote"
)

// Load reads a file of one kind, such as "a model file".
func Load[T any](path, kind string, read func(io.Reader, int64) (T, error)) (none T, err error) {
	if remote.Is(path) {
		r, size, err := remote.Read(context.Background(), path)
		if err != nil {
			return none, err
		}
		defer r.Close()
		v, err := read(bufio.NewReaderSize(r, 1<<20), size)
		if err != nil {
			return none, fmt.Errorf("%s: %w", path, err)
		}
		return v, nil
	}
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return none, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return none, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return none, err
	}
	if st.IsDir() {
		return none, fmt.Errorf("%s: is a directory, not %s", path, kind)
	}
	r, size := io.Reader(bufio.NewReaderSize(f, 1<<20)), st.Size()
	if st.Mode()&fs.ModeNamedPipe != 0 {
		if r, size, err = piped(f); err != nil {
			return none, fmt.Errorf("%s: %w", path, err)
		}
	}
	v, err := read(r, size)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// mostPiped bounds a file that comes through a pipe, whose size nobody tells.
const mostPiped = 4 << 30

// piped reads a pipe to its end, if it begins as such a file does.
func piped(f io.Reader) (io.Reader, int64, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, f, 9); err != nil && err != io.EOF {
		return nil, 0, err
	}
	if head := b.Bytes(); len(head) == 9 && head[8] == '{' {
		if n, err := io.CopyN(&b, f, mostPiped); err == nil {
			return nil, 0, fmt.Errorf("%d bytes have come through the pipe, and no end; give a file", n)
		} else if err != io.EOF {
			return nil, 0, err
		}
	}
	return &b, int64(b.Len()), nil
}
