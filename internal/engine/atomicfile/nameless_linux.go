package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// nameless is a new file in a folder that never has a name; nil where the file system knows none.
func nameless(folder string) *os.File {
	f, err := os.OpenFile(folder, unix.O_TMPFILE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	return f
}
