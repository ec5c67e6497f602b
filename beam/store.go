package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"mercer/shard"
)

// Open opens a folder as a store: a path of this machine, or a URL of a file system of Beam.
func Open(ctx context.Context, folder string) (shard.Store, error) {
	if !strings.Contains(folder, "://") {
		return shard.Dir(folder), nil
	}
	f, err := filesystem.New(ctx, folder)
	if err != nil {
		return nil, err
	}
	return &files{f, strings.TrimSuffix(folder, "/")}, nil
}

// files is a store in a file system of Beam. Objects of an object store appear when they are whole.
type files struct {
	fs   filesystem.Interface
	root string
}

// Name implements shard.Store.
func (f *files) Name(file string) string { return f.root + "/" + file }

// Write implements shard.Store.
func (f *files) Write(ctx context.Context, file string, write func(io.Writer) error) error {
	// An object store keeps nothing of a write whose context ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := f.fs.OpenWrite(ctx, f.Name(file))
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(file), err)
	}
	if err := write(w); err != nil {
		cancel()
		w.Close()
		return err
	}
	return w.Close()
}

// Read implements shard.Store.
func (f *files) Read(ctx context.Context, file string) (io.ReadCloser, int64, error) {
	name := f.Name(file)
	found, err := f.fs.List(ctx, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	if len(found) == 0 {
		return nil, 0, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	size, err := f.fs.Size(ctx, name)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	r, err := f.fs.OpenRead(ctx, name)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return r, size, nil
}

// split divides a path or URL into folder and name.
func split(path string) (folder, name string) {
	if !strings.Contains(path, "://") {
		return filepath.Dir(path), filepath.Base(path)
	}
	i := strings.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}
