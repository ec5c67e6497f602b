package atomicfile

import (
	"errors"
	"os"
)

// Temporary is a file that is gone when it is closed and, where the system can do that, when the process ends, however it ends.
type Temporary struct {
	*os.File
	named bool // it has a name still, and is removed when it is closed
}

// CreateTemporary makes one in a folder, by default that of the system. Where files must have names, a * in pattern becomes a number.
func CreateTemporary(folder, pattern string) (*Temporary, error) {
	if folder == "" {
		folder = os.TempDir()
	}
	if f := nameless(folder); f != nil {
		return &Temporary{File: f}, nil
	}
	f, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return nil, err
	}
	return &Temporary{f, os.Remove(f.Name()) != nil}, nil
}

// Close closes the file, which is gone then.
func (t *Temporary) Close() error {
	err := t.File.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
