// Package parquet reads flat tables from Apache Parquet files, in all encodings and by all compressions of the format, in batches of rows, and writes such. What
// a damaged file costs is bounded by its size.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic begins a file, and ends it.
const Magic = "PAR1"

const (
	// expansion bounds the cells of a file, and the bytes of its texts: at most so many times its bytes, or smallFile.
	expansion, smallFile = 16384, 8 << 20

	longestFooter = 1 << 30
)

// File is the metadata of a file.
type File struct {
	Fields []Field
	Rows   int64

	// Metadata are the notes of the program that wrote the file, by name.
	Metadata map[string][]byte

	r      io.ReaderAt
	size   int64
	groups []group
}

// group is some rows, their columns one after the other.
type group struct {
	rows   int64
	chunks []chunk
}

// chunk is a column in a group of rows.
type chunk struct {
	codec                    int64
	values                   int64
	size                     int64 // of all pages
	data, dictionary         int64 // where the pages begin
	physical                 int64
	elsewhere, encrypted, is bool
}

// Open reads the metadata of a file.
func Open(r io.ReaderAt, size int64) (*File, error) {
	const ends = 2 * (4 + len(Magic)) // magic, …, length, magic
	tail := make([]byte, 4+len(Magic))
	if size < int64(ends) {
		return nil, errors.New("it is cut short")
	}
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, errors.New("it is encrypted")
	case string(tail[4:]) != Magic:
		return nil, errors.New("it is cut short, or damaged at its end")
	case length > size-int64(ends) || length > longestFooter:
		return nil, fmt.Errorf("it is damaged: its footer has %d bytes, and the file %d", length, size)
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-int64(len(tail))-length); err != nil && err != io.EOF {
		return nil, err
	}
	f := &File{r: r, size: size}
	if err := f.read(&thrift{data: footer}); err != nil {
		return nil, err
	}
	return f, nil
}

func damaged(err error) error { return fmt.Errorf("its footer is damaged: %w", err) }

// readNote reads a name and a value of the metadata.
func (f *File) readNote(t *thrift) error {
	var note [2][]byte
	err := t.fields(func(id int16, kind byte) (bool, error) {
		if kind != thriftBinary || id != 1 && id != 2 {
			return false, nil
		}
		var err error
		note[id-1], err = t.binary()
		return true, err
	})
	f.Metadata[string(note[0])] = note[1]
	return err
}

// read reads the footer.
func (f *File) read(t *thrift) error {
	var elements []element
	var rows int64 = -1
	encrypted := false
	err := t.fields(func(id int16, kind byte) (bool, error) {
		switch {
		case id == 2 && kind == thriftList:
			n, _, err := t.list()
			for ; err == nil && n > 0; n-- {
				var e element
				e, err = readElement(t)
				elements = append(elements, e)
			}
			return true, err
		case id == 3:
			return t.number(kind, &rows)
		case id == 4 && kind == thriftList:
			n, _, err := t.list()
			for ; err == nil && n > 0; n-- {
				var g group
				g, err = readGroup(t)
				f.groups = append(f.groups, g)
			}
			return true, err
		case id == 5 && kind == thriftList:
			n, _, err := t.list()
			f.Metadata = map[string][]byte{}
			for ; err == nil && n > 0; n-- {
				err = f.readNote(t)
			}
			return true, err
		case id == 8:
			encrypted = true
		}
		return false, nil
	})
	switch {
	case err != nil:
		return damaged(err)
	case encrypted:
		return errors.New("it is encrypted")
	case len(elements) == 0 || elements[0].children != int64(len(elements)-1) && elements[0].children > int64(len(elements)):
		return damaged(errors.New("it has no schema"))
	}
	for i := range elements[1:] {
		e := &elements[1+i]
		if e.children > 0 || e.repetition == 2 {
			return fmt.Errorf("column %q is nested; only flat columns are read, so write its parts as columns of their own", e.Name)
		}
		if err := e.settle(); err != nil {
			return err
		}
		f.Fields = append(f.Fields, e.Field)
	}
	most := max(smallFile, expansion*f.size)
	total := int64(0)
	for i := range f.groups {
		g := &f.groups[i]
		if g.rows < 0 || g.rows > most/int64(max(1, len(f.Fields))) || len(g.chunks) != len(f.Fields) {
			return damaged(fmt.Errorf("a group of %d rows and %d columns, in a file of %d columns and %d bytes", g.rows, len(g.chunks), len(f.Fields), f.size))
		}
		if total += g.rows; total > most/int64(max(1, len(f.Fields))) {
			return damaged(fmt.Errorf("%d rows and more in %d bytes", total, f.size))
		}
		for j := range g.chunks {
			if err := f.check(g, j); err != nil {
				return fmt.Errorf("column %q: %w", f.Fields[j].Name, err)
			}
		}
	}
	if rows != total {
		return damaged(fmt.Errorf("%d rows, and %d in its groups", rows, total))
	}
	f.Rows = total
	return nil
}

// check finds what cannot be about a column of a group, and where it begins.
func (f *File) check(g *group, column int) error {
	c := &g.chunks[column]
	switch {
	case c.encrypted:
		return errors.New("it is encrypted")
	case c.elsewhere:
		return errors.New("its values are in another file")
	case !c.is || c.physical != int64(f.Fields[column].physical):
		return damaged(errors.New("its type is another one than that of the schema"))
	case c.values != g.rows:
		return damaged(fmt.Errorf("%d values for %d rows", c.values, g.rows))
	}
	if c.dictionary > 0 && c.dictionary < c.data {
		c.data = c.dictionary
	}
	if c.data < 0 || c.size < 0 || c.data > f.size || c.size > f.size-c.data {
		return damaged(fmt.Errorf("its values lie at %d, %d bytes of %d", c.data, c.size, f.size))
	}
	return nil
}

func readGroup(t *thrift) (g group, err error) {
	g.rows = -1
	err = t.fields(func(id int16, kind byte) (bool, error) {
		switch {
		case id == 1 && kind == thriftList:
			n, _, err := t.list()
			for ; err == nil && n > 0; n-- {
				var c chunk
				c, err = readChunk(t)
				g.chunks = append(g.chunks, c)
			}
			return true, err
		case id == 3:
			return t.number(kind, &g.rows)
		}
		return false, nil
	})
	return g, err
}

func readChunk(t *thrift) (c chunk, err error) {
	err = t.fields(func(id int16, kind byte) (bool, error) {
		switch {
		case id == 1 && kind == thriftBinary:
			path, err := t.binary()
			c.elsewhere = len(path) > 0
			return true, err
		case id == 8 || id == 9:
			c.encrypted = true
		case id == 3 && kind == thriftStruct:
			c.is = true
			return true, t.fields(func(id int16, kind byte) (bool, error) {
				switch id {
				case 1:
					return t.number(kind, &c.physical)
				case 4:
					return t.number(kind, &c.codec)
				case 5:
					return t.number(kind, &c.values)
				case 7:
					return t.number(kind, &c.size)
				case 9:
					return t.number(kind, &c.data)
				case 11:
					return t.number(kind, &c.dictionary)
				}
				return false, nil
			})
		}
		return false, nil
	})
	return c, err
}
