// Package whole writes files that appear whole or not at all: into a temporary file in the
// same directory, synced, then renamed over the path.
package whole

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file in the making. Whoever creates it must Close it; without a Commit before,
// Close leaves nothing behind.
type File struct {
	*os.File
	path   string
	direct bool // not a regular file (a device, a pipe): written to in place
	done   bool
}

// Create starts a file that will appear at path. It fails at once where path could not be
// written later: its directory is missing or not writable, or it is a directory itself.
func Create(path string) (*File, error) {
	mode := fs.FileMode(0o644)
	if st, err := os.Stat(path); err == nil {
		switch {
		case st.IsDir():
			return nil, fmt.Errorf("%s: is a directory; give the name of a file", path)
		case !st.Mode().IsRegular():
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, err
			}
			return &File{File: f, path: path, direct: true}, nil
		}
		mode = st.Mode().Perm()
		if p, err := filepath.EvalSymlinks(path); err == nil {
			path = p
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: directory %s: %w", path, filepath.Dir(path), fs.ErrNotExist)
		}
		return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	return &File{File: f, path: path}, nil
}

// Commit makes the file appear at its path. After an error nothing has appeared.
func (f *File) Commit() error {
	f.done = true
	if f.direct {
		return f.File.Close()
	}
	err := f.File.Sync()
	err = errors.Join(err, f.File.Close())
	if err == nil {
		err = os.Rename(f.File.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.File.Name())
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if dir, err := os.Open(filepath.Dir(f.path)); err == nil {
		// The rename is durable once the directory is; some file systems cannot sync one.
		_ = dir.Sync()
		dir.Close()
	}
	return nil
}

// Close gives the file up unless it was committed.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.File.Close()
	if !f.direct {
		err = errors.Join(err, os.Remove(f.File.Name()))
	}
	return err
}
