package safetensors

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Load reads a file of one kind, such as "a model file".
func Load[T any](path, kind string, read func(io.Reader, int64) (T, error)) (none T, err error) {
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
	v, err := read(bufio.NewReaderSize(f, 1<<20), st.Size())
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}
