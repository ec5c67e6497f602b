package dataset

import (
	"io"
)

// input is the decompressed bytes of one file, which can be read any number of times.
type input interface {
	// Name is the path as the user gave it.
	Name() string

	// Head is the first decompressed bytes, at most headSize: the whole file if it is shorter.
	Head() []byte

	// Open starts reading at the first byte. share reports how much of the (compressed)
	// file has been consumed, in [0, 1], or -1; it may be called from any goroutine.
	Open() (r io.ReadCloser, share func() float64, err error)
}

// headSize is how much of a file is examined to determine its format and columns.
const headSize = 1 << 20
