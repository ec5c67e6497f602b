package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"mercer/dataset"
	"mercer/internal/engine/remote"
	"mercer/internal/engine/units"
)

// smallFile is the longest file of settings that is read: a device, or another file given by mistake, has no end or is long.
const smallFile = 16 << 20

// ReadSmall reads a file of settings; "-" is stdin where there is one.
func ReadSmall(path string, stdin io.Reader) ([]byte, error) {
	r, name := stdin, "standard input"
	if path != "-" || stdin == nil {
		f, err := openAny(path)
		if err != nil {
			return nil, once(path, err)
		}
		defer f.Close()
		r, name = f, path
	}
	text, err := io.ReadAll(io.LimitReader(r, smallFile+1))
	if err != nil {
		return nil, once(name, err)
	}
	if len(text) > smallFile {
		return nil, fmt.Errorf("%s: is longer than %s, which no file of this kind is", name, units.Bytes(smallFile))
	}
	return text, dataset.CheckUTF8(name, text)
}

// openAny opens a file or an object of a store.
func openAny(path string) (io.ReadCloser, error) {
	if remote.Is(path) {
		r, _, err := remote.Read(context.Background(), path)
		return r, err
	}
	return os.Open(path)
}

// bytesOf is the number of bytes of a file or an object of a store.
func bytesOf(path string) (int64, error) {
	if remote.Is(path) {
		r, size, err := remote.Read(context.Background(), path)
		if err == nil {
			err = r.Close()
		}
		return size, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// peek is the first bytes of a regular file; of a pipe there are none, which would be gone for the one that reads it.
func peek(path string, n int) ([]byte, error) {
	if st, err := os.Stat(path); !remote.Is(path) && (err != nil || !st.Mode().IsRegular()) {
		return nil, err
	}
	f, err := openAny(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, n)
	n, _ = io.ReadFull(f, head)
	return head[:n], nil
}

// once is an error of the system that names its file once, and first.
func once(path string, err error) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		err = fs.ErrPermission
	case errors.As(err, &at):
		err = at.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
