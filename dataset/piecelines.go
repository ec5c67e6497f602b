package dataset

import (
	"bytes"
	"fmt"

	"mercer/internal/engine/units"
)

// cutText divides text at ends of lines, the first of which hold no rows. Where the head has double quotes, a line ends where their
// number is even, for which all bytes are read.
func (d *Pieces) cutText(in *packed, all Piece, skip int, quoted bool, opt Options, size int64) error {
	head := in.head
	if cut, err := severable(in.name, head, opt.Encoding); err != nil || !cut {
		d.All = append(d.All, all)
		return err
	}
	all.Of = ofBytes
	for range skip {
		i := bytes.IndexByte(head[all.Lead:], '\n')
		if i < 0 {
			all.Lead = int64(len(head))
			break
		}
		all.Lead += int64(i + 1)
	}
	all.From = all.Lead
	scan := quoted && bytes.IndexByte(head, '"') >= 0
	c := lineCutter{in: in, at: all.Lead, quoted: scan}
	for all.From < in.size && len(d.All) <= maxPieces {
		all.To = in.size
		if want := all.From + size; in.size-want > size/2 {
			end, err := c.next(want)
			if err != nil {
				return fmt.Errorf("%s: %w", in.name, err)
			}
			all.To = end
		}
		d.All = append(d.All, all)
		all.From = all.To
	}
	switch {
	case len(d.All) == 0:
		return fmt.Errorf("%s: has no rows", in.name)
	case len(d.All) > maxPieces:
		return fmt.Errorf("%s: %s in pieces of %s are more than %d; make them larger", in.name, units.Bytes(in.size), units.Bytes(size), maxPieces)
	}
	return nil
}

// lineCutter finds ends of lines.
type lineCutter struct {
	in     *packed
	at     int64 // up to here quotes are counted
	odd    bool
	quoted bool
	buffer []byte
}

// next is the first end of a line at or after want.
func (c *lineCutter) next(want int64) (int64, error) {
	if c.buffer == nil {
		c.buffer = make([]byte, 1<<20)
	}
	if !c.quoted {
		c.at = want
	}
	for c.at < c.in.size {
		n := int64(len(c.buffer))
		if c.at < want {
			n = min(n, want-c.at)
		}
		got, err := c.in.file.ReadAt(c.buffer[:min(n, c.in.size-c.at)], c.at)
		if got == 0 && err != nil {
			return 0, err
		}
		text := c.buffer[:got]
		if c.at < want {
			c.odd = c.odd != (bytes.Count(text, quote)%2 == 1)
			c.at += int64(got)
			continue
		}
		for len(text) > 0 {
			i := bytes.IndexByte(text, '\n') + 1
			line := text[:i]
			if i == 0 {
				line = text
			}
			if c.quoted {
				c.odd = c.odd != (bytes.Count(line, quote)%2 == 1)
			}
			c.at += int64(len(line))
			if i > 0 && !c.odd {
				return c.at, nil
			}
			text = text[len(line):]
		}
	}
	return c.in.size, nil
}
