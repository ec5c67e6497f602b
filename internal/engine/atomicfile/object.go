package atomicfile

import (
	"context"
	"io"

	"mercer/internal/engine/remote"
)

// createObject begins an object of a store, in a temporary file.
func createObject(address string) (*File, error) {
	if err := remote.Writable(context.Background(), address); err != nil {
		return nil, err
	}
	f, err := CreateTemporary("", "mercer-object-*")
	if err != nil {
		return nil, err
	}
	return &File{File: f.File, path: address, object: f}, nil
}

// upload puts it into the store, unless the program is being ended.
func (f *File) upload() error {
	defer f.object.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	making.mu.Lock()
	abandoned := making.abandoned
	making.mu.Unlock()
	if abandoned {
		return errAbandoned
	}
	return remote.Put(context.Background(), f.path, io.NewSectionReader(f, 0, size), size)
}
