package shard

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/remote"
)

// Store is where plans and results are kept: a folder that all workers see, or a part of an object store.
type Store interface {
	// Name is a file's name in messages.
	Name(file string) string

	// Write writes a file, which appears whole or not at all.
	Write(ctx context.Context, file string, write func(io.Writer) error) error

	// Read opens a file of size bytes. If there is none, the error is fs.ErrNotExist.
	Read(ctx context.Context, file string) (r io.ReadCloser, size int64, err error)
}

// Place is a store that lasts.
type Place interface {
	Store

	// List lists its files.
	List(ctx context.Context) ([]string, error)

	// Delete removes a file.
	Delete(ctx context.Context, file string) error
}

// Dir is a store in a folder.
type Dir string

// Name implements Store.
func (d Dir) Name(file string) string { return filepath.Join(string(d), filepath.FromSlash(file)) }

// Write implements Store.
func (d Dir) Write(ctx context.Context, file string, write func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := d.Name(file)
	// Not folders above: a process that has outlived its training must not bring back what was removed.
	err := os.Mkdir(filepath.Dir(path), 0o777)
	if err == nil {
		err = atomicfile.SyncFolder(filepath.Dir(path))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Commit()
}

// Read implements Store.
func (d Dir) Read(ctx context.Context, file string) (io.ReadCloser, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(d.Name(file))
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// List implements Place.
func (d Dir) List(ctx context.Context) (files []string, err error) {
	err = filepath.WalkDir(string(d), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(string(d), path)
			files = append(files, filepath.ToSlash(name))
		}
		return cmp.Or(err, ctx.Err())
	})
	return files, err
}

// Delete implements Place. A folder that becomes empty goes with its last file.
func (d Dir) Delete(_ context.Context, file string) error {
	err := os.Remove(d.Name(file))
	for folder := filepath.Dir(d.Name(file)); err == nil && os.Remove(folder) == nil && folder != filepath.Clean(string(d)); {
		folder = filepath.Dir(folder)
	}
	return err
}

// At is the store at a path: a folder, or the address of a part of an object store such as s3://BUCKET/PREFIX. Either may be that of plan.json.
func At(path string) Place {
	if remote.Is(path) {
		return objects(strings.TrimRight(strings.TrimSuffix(path, planFile), "/"))
	}
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		path = filepath.Dir(path)
	}
	return Dir(path)
}

// Create is At of a folder, which it makes if it is not there, or of a part of an object store.
func Create(path string) (Place, error) {
	if !remote.Is(path) {
		if err := atomicfile.MkdirAll(path, 0o777); err != nil {
			return nil, err
		}
	}
	return At(path), nil
}

// objects is a store of the objects below an address.
type objects string

// Name implements Store.
func (o objects) Name(file string) string { return string(o) + "/" + file }

// Write implements Store.
func (o objects) Write(ctx context.Context, file string, write func(io.Writer) error) error {
	f, err := atomicfile.CreateTemporary("", "mercer-object-*")
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return remote.Put(ctx, o.Name(file), io.NewSectionReader(f, 0, size), size)
}

// Read implements Store.
func (o objects) Read(ctx context.Context, file string) (io.ReadCloser, int64, error) {
	return remote.Read(ctx, o.Name(file))
}

// List implements Place.
func (o objects) List(ctx context.Context) ([]string, error) {
	files, err := remote.List(ctx, string(o)+"/", math.MaxInt)
	for i, address := range files {
		files[i] = strings.TrimPrefix(address, string(o)+"/")
	}
	return files, err
}

// Delete implements Place.
func (o objects) Delete(ctx context.Context, file string) error {
	return remote.Delete(ctx, o.Name(file))
}

// memory is a store for one process.
type memory map[string]string

func (m memory) Name(file string) string { return file }

func (m memory) Write(_ context.Context, file string, write func(io.Writer) error) error {
	var b strings.Builder
	err := write(&b)
	m[file] = b.String()
	return err
}

func (m memory) Read(_ context.Context, file string) (io.ReadCloser, int64, error) {
	text, found := m[file]
	if !found {
		return nil, 0, os.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
}

// oneFile is a store for one process, in a file that is gone when the process ends.
type oneFile struct {
	f   *atomicfile.Temporary
	end int64
	at  map[string]*io.SectionReader
}

func newOneFile() (*oneFile, error) {
	f, err := atomicfile.CreateTemporary("", "mercer-rows-*")
	return &oneFile{f: f, at: map[string]*io.SectionReader{}}, err
}

func (o *oneFile) Name(file string) string { return file }

func (o *oneFile) Write(_ context.Context, file string, write func(io.Writer) error) error {
	to := io.NewOffsetWriter(o.f, o.end)
	w := bufio.NewWriterSize(to, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	size, err := to.Seek(0, io.SeekCurrent)
	o.at[file] = io.NewSectionReader(o.f, o.end, size)
	o.end += size
	return err
}

func (o *oneFile) Read(_ context.Context, file string) (io.ReadCloser, int64, error) {
	at, found := o.at[file]
	if !found {
		return nil, 0, os.ErrNotExist
	}
	return struct {
		*io.SectionReader
		io.Closer
	}{io.NewSectionReader(at, 0, at.Size()), io.NopCloser(nil)}, at.Size(), nil
}
