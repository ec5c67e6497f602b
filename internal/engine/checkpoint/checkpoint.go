// Package checkpoint keeps what a long work has done in a file, so that a work that was killed goes
// on from there. The file has a line that says what work it is of, and one for each thing done, which is appended
// and synced at once. A line is JSON, a space, and the CRC-32C of the JSON as a string of eight hexadecimal
// digits. A last line that was cut short is a thing not done; any other damage is an error.
package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/remote"
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
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is no regular file, and a journal has to be one", path)
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cannot(path, err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole == 0 && !begins(text, head) {
		return nil, fmt.Errorf("%s: is not a journal of this work; delete it, or give another name", path)
	}
	number := 0
	for line := range bytes.Lines(text[:whole]) {
		number++
		done, sealed := unseal(line)
		if number == 1 && !sealed { // of other work, or of a program without checksums: read knows what to say
			if err := read(number, line); err != nil {
				return nil, err
			}
		}
		if !sealed {
			return nil, fmt.Errorf("%s: line %d is damaged: its checksum does not match; delete the file to start over, "+
				"or this line and those behind it to go on from there", path, number)
		}
		if err := read(number, done); err != nil {
			return nil, err
		}
	}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, cannot(path, err)
	}
	// What was cut short is written over.
	err = j.file.Truncate(int64(whole))
	if err == nil {
		_, err = j.file.Seek(int64(whole), io.SeekStart)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	} else if whole == 0 {
		err = errors.Join(j.Add(head), atomicfile.SyncFolder(path))
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
	if _, err := j.file.Write(Seal(line)); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	return nil
}

// begins says whether text without a whole line may be what a crash left of a first line, of the same kind as head: its beginning, or
// zeros, where the size of the file was on the disk and not yet what is in it.
func begins(text []byte, head any) bool {
	want, err := json.Marshal(head)
	text = bytes.TrimRight(text, "\x00")
	n := min(len(text), len(want), 10)
	return err == nil && bytes.Equal(text[:n], want[:n])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal is the line of a thing done, of its JSON.
func Seal(text []byte) []byte {
	return fmt.Appendf(text, " \"%08x\"\n", crc32.Checksum(text, castagnoli))
}

// sealLength is what Seal adds.
const sealLength = len(` "01234567"` + "\n")

// unseal is the JSON of a line; ok is false if its checksum is missing or another.
func unseal(line []byte) (text []byte, ok bool) {
	n := len(line) - sealLength
	if n < 0 {
		return nil, false
	}
	text = line[:n:n]
	return text, bytes.Equal(Seal(text), line)
}

// cannot names the path once: a *fs.PathError has it as well.
func cannot(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if remote.Is(path) {
		err = errors.New("lines are added to it, as to no object of a store; give a file of this machine")
	}
	return fmt.Errorf("%s: the journal cannot be opened: %w", path, err)
}

// Close closes the file.
func (j *Journal) Close() {
	if j.file != nil {
		j.file.Close()
	}
}
