package neighbours

import (
	"fmt"
	"runtime/debug"

	"mercer/internal/engine/vec"
)

// guarded calls f, which reads the file of an index as memory. If that cannot be read, since the file has become shorter or its
// disk fails, that is an error.
func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); vec.IsFault(p) {
			err = fmt.Errorf("%s: cannot be read any more: it has become shorter since the command began, or its disk fails", path)
		} else if p != nil {
			panic(p)
		}
	}()
	return f()
}
