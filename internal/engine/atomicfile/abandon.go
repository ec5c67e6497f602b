package atomicfile

import (
	"errors"
	"os"
	"sync"
)

// making are the temporary files of this process that have neither appeared nor been given up.
var making struct {
	mu        sync.Mutex
	files     map[*File]bool
	abandoned bool
}

var errAbandoned = errors.New("files are not written any more: the program is being ended")

// begun notes a file in the making, unless all are abandoned.
func begun(f *File) bool {
	making.mu.Lock()
	defer making.mu.Unlock()
	if making.abandoned {
		return false
	}
	if making.files == nil {
		making.files = map[*File]bool{}
	}
	making.files[f] = true
	return true
}

// appear renames the file over its path.
func (f *File) appear() error {
	making.mu.Lock()
	defer making.mu.Unlock()
	if making.abandoned {
		return errAbandoned
	}
	err := os.Rename(f.File.Name(), f.path)
	if err == nil {
		delete(making.files, f)
	}
	return err
}

// remove removes the temporary file.
func (f *File) remove() error {
	making.mu.Lock()
	defer making.mu.Unlock()
	if !making.files[f] {
		return nil // by Abandon
	}
	delete(making.files, f)
	return os.Remove(f.File.Name())
}

// Abandon gives up all files in the making, at the end of a process whose goroutines may still
// run: from now on no file appears, and none is begun.
func Abandon() {
	making.mu.Lock()
	defer making.mu.Unlock()
	making.abandoned = true
	for f := range making.files {
		os.Remove(f.File.Name())
		delete(making.files, f)
	}
}
