package dataset

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Steady is ctx for one piece of work, such as a command, in which data that are opened again must be as they were when they
// were opened first. Files and folders that are not are errors; what comes once, such as a pipe, or might come otherwise the second
// time, such as the rows of a query or what is at an address, is kept until done is called. A context that is steady stays as it is.
func Steady(ctx context.Context) (steadied context.Context, done func()) {
	if _, is := ctx.Value(steadyKey{}).(*ledger); is {
		return ctx, func() {}
	}
	s := &ledger{files: map[string]*witness{}, lists: map[string][]string{}, kept: map[string]*packed{}}
	return context.WithValue(ctx, steadyKey{}, s), s.close
}

type steadyKey struct{}

// ledger is what is known of the data of a piece of work.
type ledger struct {
	mu    sync.Mutex
	files map[string]*witness
	lists map[string][]string // the files of folders and patterns
	kept  map[string]*packed

	versions sync.Map // of objects, by their addresses
}

// ledgerOf is what Steady put into a context; nil if it did not.
func ledgerOf(ctx context.Context) *ledger {
	s, _ := ctx.Value(steadyKey{}).(*ledger)
	return s
}

func (s *ledger) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.kept {
		in.Close()
	}
	clear(s.kept)
}

// keep gives what open opens, once for every key.
func (s *ledger) keep(key string, open func() (*packed, error)) (*packed, error) {
	if s == nil {
		return open()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.kept[key]
	if in == nil {
		var err error
		if in, err = open(); err != nil {
			return nil, err
		}
		s.kept[key] = in
	}
	lent := *in
	lent.file = lentFile{in.file}
	return &lent, nil
}

// lentFile is a file that another closes.
type lentFile struct{ storedFile }

func (lentFile) Close() error { return nil }

// sameVersion is an error if an object had another version before.
func (s *ledger) sameVersion(path, version string) error {
	if s == nil {
		return nil
	}
	if before, _ := s.versions.LoadOrStore(path, version); before != version {
		return &named{path, changed("another object has taken its place")}
	}
	return nil
}

// sameFiles is an error if a folder or pattern stood for other files before.
func (s *ledger) sameFiles(path string, files []string) error {
	if s == nil || files == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	files = slices.Sorted(slices.Values(files))
	before, known := s.lists[path]
	if !known {
		s.lists[path] = files
		return nil
	}
	for _, name := range before {
		if _, found := slices.BinarySearch(files, name); !found {
			return &named{path, changed("the file %s is gone", name)}
		}
	}
	for _, name := range files {
		if _, found := slices.BinarySearch(before, name); !found {
			return &named{path, changed("the file %s is new", name)}
		}
	}
	return nil
}

// witness is what is known of a file that may be opened or read several times.
type witness struct {
	st fs.FileInfo

	mu   sync.Mutex
	sums map[string]uint64 // of what: its beginning, or all of it
}

// witness is that of a file by its path; st is what it is now.
func (s *ledger) witness(path string, st fs.FileInfo) (*witness, error) {
	w := &witness{st: st, sums: map[string]uint64{}}
	if s == nil {
		return w, nil
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.files[path]
	if before == nil {
		s.files[path] = w
		return w, nil
	}
	return before, before.same(st)
}

// same is an error if the file is another by its times and size.
func (w *witness) same(now fs.FileInfo) error {
	const form = "15:04:05.000"
	switch {
	case !os.SameFile(w.st, now):
		return changed("another file has taken its place")
	case w.st.Size() != now.Size():
		return changed("it had %d bytes and has %d", w.st.Size(), now.Size())
	case !w.st.ModTime().Equal(now.ModTime()):
		return changed("its time was %s and is %s", w.st.ModTime().Format(form), now.ModTime().Format(form))
	}
	return nil
}

// sum is an error if a part of the file had another sum before.
func (w *witness) sum(part string, sum uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, known := w.sums[part]; known && before != sum {
		return changed("its size and time are as they were, and what is in it is not")
	}
	w.sums[part] = sum
	return nil
}

// orChanged is what is said about err, or err itself if the file has changed, which is no damage.
func orChanged(err, said error) error {
	var file *named
	if errors.Is(err, errChanged) && errors.As(err, &file) {
		return file
	}
	return said
}

var errChanged = errors.New("the file has changed while it is read")

// summed sees what one pass reads, and compares it with what earlier ones read: the beginning, and all.
func (p *packed) summed() func(read []byte) error {
	var h maphash.Hash
	h.SetSeed(seed)
	sum := func(part string) error {
		if err := p.witness.sum(part, h.Sum64()); err != nil {
			return &named{p.name, err}
		}
		return nil
	}
	read := int64(0)
	return func(b []byte) error {
		for len(b) > 0 {
			part := b
			if read < headSize {
				part = b[:min(int64(len(b)), headSize-read)]
			}
			_, _ = h.Write(part)
			b, read = b[len(part):], read+int64(len(part))
			if read == headSize {
				if err := sum("head"); err != nil {
					return err
				}
			}
		}
		if read == p.size {
			return sum("all")
		}
		return nil
	}
}

func changed(format string, args ...any) error {
	return fmt.Errorf("%w: %s; run the command again when nothing writes to it", errChanged, fmt.Sprintf(format, args...))
}

// seed is that of the sums of this process.
var seed = maphash.MakeSeed()

// ordinaryFile is a regular file, which nobody may write to while it is open.
type ordinaryFile struct {
	*os.File
	witness *witness
}

// ReadAt is that of the file, and fails if the file is no longer what it was.
func (f *ordinaryFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if now, failed := f.Stat(); failed != nil {
		return 0, &named{f.Name(), failed}
	} else if failed := f.witness.same(now); failed != nil {
		return 0, &named{f.Name(), failed}
	}
	return n, err
}
