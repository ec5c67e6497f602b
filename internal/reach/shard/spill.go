package shard

import (
	"bufio"
	"io"
	"os"

	"mercer/internal/solve/moments"
)

// spill writes statistics to a temporary file.
func spill(s momentSum) (path string, err error) {
	f, err := os.CreateTemp("", "mercer-sum-*")
	if err != nil {
		return "", err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := (&moments.File{Pipeline: []byte("{}"), Parts: s}).Write(w); err != nil {
		return "", err
	}
	return f.Name(), w.Flush()
}

// unspill reads it and removes the file.
func unspill(path string) (momentSum, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	all, err := moments.ReadFile(bufio.NewReaderSize(f, 1<<20), size)
	if err != nil {
		return nil, err
	}
	return all.Parts, nil
}
