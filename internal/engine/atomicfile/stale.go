package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// A process that is killed leaves its temporary file. The next one that writes the same path removes it: files in the making are
// locked, and the system unlocks them when their process ends.

// removeStale removes the temporary files of a path that no process is making.
func removeStale(path string) {
	before := prefix(path)
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			number, ours := strings.CutPrefix(name, before)
			number, temporary := strings.CutSuffix(number, suffix)
			if !ours || !temporary || !digits(number) {
				continue
			}
			name = filepath.Join(filepath.Dir(path), name)
			if lock := locked(name); lock != nil {
				os.Remove(name)
				lock.Close()
			}
		}
		if err != nil {
			return
		}
	}
}

// prefix and suffix are what the names of the temporary files of a path have before and after a number. Those of a long name have its beginning,
// since a name has at most 255 bytes.
func prefix(path string) string {
	name := filepath.Base(path)
	if len(name) > 230 {
		name = strings.ToValidUTF8(name[:230], "")
	}
	return "." + name + "."
}

const suffix = ".tmp"

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// lockedTemp makes a temporary file that removeStale lets be until lock is closed; lock is nil where files cannot be locked.
func lockedTemp(path string) (f, lock *os.File, err error) {
	for {
		if f, err = os.CreateTemp(filepath.Dir(path), prefix(path)+"*"+suffix); err != nil {
			return nil, nil, err
		}
		lock = locked(f.Name())
		if lock == nil { // locks are unknown here, or another process is removing the file, just made
			if _, err := os.Lstat(f.Name()); err == nil {
				return f, nil, nil
			}
		} else if there, err := os.Lstat(f.Name()); err == nil {
			if own, err := lock.Stat(); err == nil && os.SameFile(there, own) {
				return f, lock, nil
			}
		}
		lock.Close() // of nil is an error, no panic
		f.Close()
	}
}
