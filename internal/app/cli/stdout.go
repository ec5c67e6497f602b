package cli

import (
	"fmt"
	"io"
)

// checkedOutput is standard output that remembers the first error, which most commands that print a text do not look at.
type checkedOutput struct {
	io.Writer
	err error
}

func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("standard output: %w", err)
	}
	return n, err
}
