// Package atomicfile writes files that appear whole or not at all: into a temporary file in the
// same directory, synced, then renamed over the path.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mercer/internal/engine/remote"
)

// File is a file in the making. Whoever creates it must Close it; without a Commit before,
// Close leaves nothing behind.
type File struct {
	*os.File
	path   string
	lock   *os.File // kept until the file has appeared or is removed; nil where there are no locks
	direct bool     // not a regular file (a device, a pipe): written to in place
	done   bool
	object *Temporary // holds what becomes an object of a store; nil: it becomes a file
}

// Create starts a file that will appear at path. It fails at once where path could not be
// written later: its directory is missing or not writable, or it is a directory itself.
func Create(path string) (*File, error) {
	if remote.Is(path) {
		return createObject(path)
	}
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
	}
	asked := path
	path = Target(path)
	if _, err := os.Readlink(path); err == nil {
		return nil, fmt.Errorf("%s: is a link that leads back to itself; remove it, or give another name", asked)
	}
	f, lock, err := lockedTemp(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			folder := filepath.Dir(path)
			if _, err := os.Lstat(asked); err != nil { // no link to somewhere else
				folder = filepath.Dir(asked)
			}
			return nil, fmt.Errorf("%s: directory %s: %w", asked, folder, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("%s: cannot be written: %w", asked, err)
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		lock.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	file := &File{File: f, path: path, lock: lock}
	if !begun(file) {
		f.Close()
		lock.Close()
		os.Remove(f.Name())
		return nil, errAbandoned
	}
	removeStale(path)
	return file, nil
}

// InPlace says that the file is a device or a pipe, which is written from its beginning to its end.
func (f *File) InPlace() bool { return f.direct }

// Target is the file that is written at path: the end of its symbolic links, also if that is not
// there yet, as an absolute path where the working directory is known.
func Target(path string) string {
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	for range 40 { // more are a circle, which Create refuses
		if p, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(p, filepath.Base(path))
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// Commit makes the file appear at its path. After an error nothing has appeared, or it says that the file is written and may not last.
func (f *File) Commit() error {
	f.done = true
	if f.object != nil {
		return f.upload()
	}
	if f.direct {
		return f.File.Close()
	}
	err := f.File.Sync()
	err = errors.Join(err, f.File.Close())
	defer f.lock.Close() // of nil is an error, no panic
	if err == nil {
		err = f.appear()
	}
	if err != nil {
		f.remove()
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if err := syncFolder(f.path); err != nil {
		return fmt.Errorf("%s: is written, but its folder cannot be synced, so that it may be lost when the power fails: %w", f.path, err)
	}
	return nil
}

// SyncFolder makes the name of a file or folder durable that has just been made: that it is there when the power fails.
func SyncFolder(path string) error {
	if err := syncFolder(path); err != nil {
		return fmt.Errorf("%s: its folder cannot be synced: %w", path, err)
	}
	return nil
}

// syncFolder syncs the folder of a path. Some file systems cannot, and some folders may not be read.
func syncFolder(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer dir.Close()
	if err := dir.Sync(); errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return nil
}

// MkdirAll is os.MkdirAll of folders that are there when the power fails.
func MkdirAll(path string, mode fs.FileMode) error {
	if _, err := os.Stat(path); err == nil {
		return os.MkdirAll(path, mode) // which says if it is a file
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirAll(parent, mode); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	return SyncFolder(path)
}

// Close gives the file up unless it was committed.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	if f.object != nil {
		return f.object.Close()
	}
	err := f.File.Close()
	defer f.lock.Close()
	if !f.direct {
		err = errors.Join(err, f.remove())
	}
	return err
}
