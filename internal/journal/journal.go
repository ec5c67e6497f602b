// Package journal keeps what a long work has done in a file, so that a work that was killed goes
// on from there. The file has a line of JSON that says what work it is of, and one for each thing
// done, which is appended and synced at once. A last line that was cut short is a thing not done.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Journal is an open file. Several goroutines may add to it.
type Journal struct {
	path string
	mu   sync.Mutex
	file *os.File // nil: there is none
}

// Open opens the journal of a work, or begins one with head. read gets every whole line that is
// there, the first of which is the head, by number from 1. Without a path there is no file, and
// nothing is kept.
func Open(path string, head any, read func(number int, line []byte) error) (*Journal, error) {
	j := &Journal{path: path}
	if path == "" {
		return j, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	number := 0
	for line := range bytes.Lines(text[:whole]) {
		number++
		if err := read(number, line); err != nil {
			return nil, err
		}
	}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	// What was cut short is written over.
	err = j.file.Truncate(int64(whole))
	if err == nil {
		_, err = j.file.Seek(int64(whole), io.SeekStart)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	} else if whole == 0 {
		err = j.Add(head)
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// Add appends v as a line.
func (j *Journal) Add(v any) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() {
	if j.file != nil {
		j.file.Close()
	}
}
