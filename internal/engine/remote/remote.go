// Package remote is where floors that know nothing of networks reach files on other machines: the objects of a store, under addresses such as
// s3://BUCKET/KEY. A program that imports mercer/dataset/fetch has a store for them.
package remote

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Prefix is what addresses begin with.
const Prefix = "s3://"

// Is says whether a path is such an address, in small letters or large ones.
func Is(path string) bool { return strings.EqualFold(path[:min(len(path), len(Prefix))], Prefix) }

// File is an object to be read, in the version that it had when it was opened. Its methods may be called concurrently.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Version() string // differs for other contents; "": the store does not say
}

// Store is an object store.
type Store interface {
	// Open opens an object, whose reads end with ctx. If there is none, the error is fs.ErrNotExist.
	Open(ctx context.Context, address string) (File, error)

	// List lists in order the addresses of the objects that one stands for as a folder or a pattern; nil if it is that of an object.
	// More than most are an error.
	List(ctx context.Context, address string, most int) ([]string, error)

	// Writable says, before long work, why an object could not be written.
	Writable(ctx context.Context, address string) error

	// Delete removes an object; it is no error if there is none.
	Delete(ctx context.Context, address string) error

	// Put writes an object of size bytes, which appears whole or not at all.
	Put(ctx context.Context, address string, r io.Reader, size int64) error
}

var store Store = none{}

// Use says which store is used, while the program starts.
func Use(s Store) { store = s }

// Open is that of the store.
func Open(ctx context.Context, address string) (File, error) { return store.Open(ctx, address) }

// Read opens an object of size bytes to be read in order.
func Read(ctx context.Context, address string) (r io.ReadCloser, size int64, err error) {
	f, err := store.Open(ctx, address)
	if err != nil {
		return nil, 0, err
	}
	return struct {
		*io.SectionReader
		io.Closer
	}{io.NewSectionReader(f, 0, f.Size()), f}, f.Size(), nil
}

// List is that of the store.
func List(ctx context.Context, address string, most int) ([]string, error) {
	return store.List(ctx, address, most)
}

// Writable is that of the store.
func Writable(ctx context.Context, address string) error { return store.Writable(ctx, address) }

// Delete is that of the store.
func Delete(ctx context.Context, address string) error { return store.Delete(ctx, address) }

// Put is that of the store.
func Put(ctx context.Context, address string, r io.Reader, size int64) error {
	return store.Put(ctx, address, r, size)
}

// none is the store of a program that has none.
type none struct{}

func (none) error(address string) error {
	return fmt.Errorf("%s: this program reads and writes no addresses; import mercer/dataset/fetch in it", address)
}

func (n none) Open(_ context.Context, address string) (File, error) { return nil, n.error(address) }

func (n none) List(_ context.Context, address string, _ int) ([]string, error) {
	return nil, n.error(address)
}

func (n none) Writable(_ context.Context, address string) error { return n.error(address) }

func (n none) Delete(_ context.Context, address string) error { return n.error(address) }

func (n none) Put(_ context.Context, address string, _ io.Reader, _ int64) error {
	return n.error(address)
}
