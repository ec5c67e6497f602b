package dataset

import (
	"bytes"
	"io"
)

// memInput is a file in memory.
type memInput struct {
	name string
	data []byte
}

func (m *memInput) Name() string { return m.name }

func (m *memInput) Head() []byte { return m.data[:min(len(m.data), headSize)] }

func (m *memInput) Open() (io.ReadCloser, func() float64, error) {
	return io.NopCloser(bytes.NewReader(m.data)), func() float64 { return -1 }, nil
}
