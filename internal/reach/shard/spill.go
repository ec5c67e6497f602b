package shard

import (
	"bufio"
	"io"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/solve/moments"
)

// spill writes statistics to a temporary file.
func spill(s momentSum) (*atomicfile.Temporary, error) {
	f, err := atomicfile.CreateTemporary("", "mercer-sum-*")
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = (&moments.File{Pipeline: []byte("{}"), Parts: s}).Write(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unspill reads it and closes the file.
func unspill(f *atomicfile.Temporary) (momentSum, error) {
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
