package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"mercer/internal/engine/atomicfile"
)

// cellSpool keeps rows that come once, so that they can be read any number of times: in memory, or in a temporary file that is
// unlinked if they are many. Rows are in frames of a header, which is the length of what follows, the number of rows and a CRC-32C, of
// 4 bytes each, and of the cells of each row behind their number, as cell.encode writes them.
type cellSpool struct {
	name    string
	columns []field

	frame  []byte // that is being filled, behind room for its header
	framed int    // rows in it
	cells  int    // in it
	rows   int

	size   int64
	memory []byte
	file   *atomicfile.Temporary // nil: all is in memory
}

const (
	spoolMemory = 8 << 20
	frameHead   = 12
	frameBytes  = 1 << 19
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Name implements typedTable.
func (s *cellSpool) Name() string { return s.name }

func (s *cellSpool) fields() []field { return s.columns }

// ReadAt implements io.ReaderAt.
func (s *cellSpool) ReadAt(p []byte, at int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	return bytesFile{s.memory}.ReadAt(p, at)
}

// Close implements io.Closer.
func (s *cellSpool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// add adds a row. Later rows may have more cells.
func (s *cellSpool) add(row []cell) error {
	if s.framed == 0 {
		s.frame = append(s.frame[:0], make([]byte, frameHead)...)
	}
	s.frame = binary.AppendUvarint(s.frame, uint64(len(row)))
	for i := range row {
		s.frame = row[i].encode(s.frame)
	}
	s.rows, s.framed, s.cells = s.rows+1, s.framed+1, s.cells+len(row)
	if len(s.frame) < frameBytes && s.framed < rowsOfBatch && s.cells < cellsOfBatch {
		return nil
	}
	return s.flush()
}

// flush ends a frame; after the last row it has to be called.
func (s *cellSpool) flush() error {
	if s.framed == 0 {
		return nil
	}
	body := s.frame[frameHead:]
	if len(body) > math.MaxInt32 {
		return s.kept(errors.New("a row takes more than 1 GiB"))
	}
	binary.LittleEndian.PutUint32(s.frame, uint32(len(body)))
	binary.LittleEndian.PutUint32(s.frame[4:], uint32(s.framed))
	binary.LittleEndian.PutUint32(s.frame[8:], crc32.Checksum(body, castagnoli))
	s.size, s.framed, s.cells = s.size+int64(len(s.frame)), 0, 0
	if s.file == nil && s.size <= spoolMemory {
		s.memory = append(s.memory, s.frame...)
		return nil
	}
	if s.file == nil {
		var err error
		if s.file, err = atomicfile.CreateTemporary("", "mercer-rows-*"); err != nil {
			return s.kept(err)
		}
		if _, err := s.file.Write(s.memory); err != nil {
			return s.kept(err)
		}
		s.memory = nil
	}
	if _, err := s.file.Write(s.frame); err != nil {
		return s.kept(err)
	}
	return nil
}

func (s *cellSpool) kept(err error) error {
	return fmt.Errorf("%s: the rows cannot be kept for a second pass: %w", s.name, err)
}

// spoolPass is one pass over a spool.
type spoolPass struct {
	of *cellSpool
	at atomic.Int64
}

func (s *cellSpool) pass() (columnPass, error) { return &spoolPass{of: s}, nil }

func (p *spoolPass) share() float64 { return float64(p.at.Load()) / float64(max(1, p.of.size)) }

func (p *spoolPass) Close() error { return nil }

// next implements columnPass.
func (p *spoolPass) next(b *columnBatch) error {
	at := p.at.Load()
	if at == p.of.size {
		return io.EOF
	}
	if err := p.frameAt(at, b); err != nil {
		return fmt.Errorf("%s: the copy of the rows is damaged at byte %d: %w", p.of.name, at, err)
	}
	p.at.Store(at + frameHead + int64(len(b.text)))
	return nil
}

func (p *spoolPass) frameAt(at int64, b *columnBatch) error {
	var head [frameHead]byte
	if _, err := p.of.ReadAt(head[:], at); err != nil {
		return err
	}
	size, rows := int64(binary.LittleEndian.Uint32(head[:])), int(binary.LittleEndian.Uint32(head[4:]))
	if size > p.of.size-at-frameHead || rows > rowsOfBatch {
		return errors.New("a frame is longer than the rest")
	}
	b.reset(len(p.of.columns), rows)
	b.text = slices.Grow(b.text, int(size))[:size]
	if _, err := p.of.ReadAt(b.text, at+frameHead); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if crc32.Checksum(b.text, castagnoli) != binary.LittleEndian.Uint32(head[8:]) {
		return errors.New("the checksum differs")
	}
	rest := b.text
	for range rows {
		n, length := binary.Uvarint(rest)
		if length <= 0 || n > uint64(len(p.of.columns)) {
			return errCell
		}
		rest = rest[length:]
		for i := range b.columns {
			var c cell
			if uint64(i) < n {
				var err error
				if rest, err = c.decode(rest); err != nil {
					return err
				}
			}
			b.columns[i].add(&c, b.rows)
		}
		b.rows++
	}
	if len(rest) > 0 {
		return errCell
	}
	return nil
}
