package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Sizes that a page may have: it unpacks to at most pageRatio times its bytes, or smallPage if that is more, and to at most largestPage.
const (
	pageRatio   = 1000
	smallPage   = 8 << 20
	largestPage = 1 << 30
	longHeader  = 1 << 20 // with statistics
)

// Kinds of pages.
const pageData, pageIndex, pageDictionary, pageData2 = 0, 1, 2, 3

// pageHeader is what is in front of a page.
type pageHeader struct {
	kind             int64
	unpacked, packed int64
	sum              int64 // a checksum, -1: none
	values           int64
	encoding         int64
	levels           int64 // encoding of definition levels
	levelBytes       int64 // of data pages of version 2
	repeatBytes      int64
	plain            bool // version 2: not compressed
	length           int64
}

// pageBytes reads the pages of a column in a group one after the other.
type pageBytes struct {
	r       io.ReaderAt
	at, end int64
	codec   int64
	*unpacker
}

// next reads a header; io.EOF after the last page.
func (p *pageBytes) next() (h pageHeader, err error) {
	if p.at >= p.end {
		return h, io.EOF
	}
	for room := int64(256); ; room *= 8 {
		room = min(room, p.end-p.at, longHeader)
		if int64(cap(p.packed)) < room {
			p.packed = make([]byte, room)
		}
		head := p.packed[:room]
		if _, err := p.r.ReadAt(head, p.at); err != nil && err != io.EOF {
			return h, err
		}
		t := &thrift{data: head}
		h, err = readPageHeader(t)
		h.length = int64(t.at)
		switch {
		case err == errShort && room < min(p.end-p.at, longHeader):
			continue
		case err != nil:
			return h, fmt.Errorf("the header of a page: %w", err)
		}
		p.at += h.length
		return h, h.check(p.end - p.at)
	}
}

func (h *pageHeader) check(left int64) error {
	switch {
	case h.packed < 0 || h.unpacked < 0 || h.packed > left:
		return fmt.Errorf("a page of %d bytes, with %d left", h.packed, left)
	case h.unpacked > largestPage || h.unpacked > max(smallPage, pageRatio*h.packed):
		return fmt.Errorf("a page of %d bytes that unpack to %d", h.packed, h.unpacked)
	case h.values < 0:
		return fmt.Errorf("a page of %d values", h.values)
	case h.levelBytes < 0 || h.repeatBytes < 0 || h.levelBytes+h.repeatBytes > min(h.packed, h.unpacked):
		return fmt.Errorf("a page of %d bytes, %d of them levels", h.packed, h.levelBytes+h.repeatBytes)
	}
	return nil
}

func readPageHeader(t *thrift) (h pageHeader, err error) {
	h = pageHeader{kind: -1, unpacked: -1, packed: -1, sum: -1, levels: encodingRLE}
	err = t.fields(func(id int16, kind byte) (bool, error) {
		switch {
		case id == 1:
			return t.number(kind, &h.kind)
		case id == 2:
			return t.number(kind, &h.unpacked)
		case id == 3:
			return t.number(kind, &h.packed)
		case id == 4:
			ok, err := t.number(kind, &h.sum)
			h.sum = int64(uint32(h.sum))
			return ok, err
		case (id == 5 || id == 7) && kind == thriftStruct:
			return true, t.fields(func(part int16, kind byte) (bool, error) {
				switch {
				case part == 1:
					return t.number(kind, &h.values)
				case part == 2:
					return t.number(kind, &h.encoding)
				case part == 3 && id == 5:
					return t.number(kind, &h.levels)
				}
				return false, nil
			})
		case id == 8 && kind == thriftStruct:
			return true, t.fields(func(part int16, kind byte) (bool, error) {
				switch part {
				case 1:
					return t.number(kind, &h.values)
				case 4:
					return t.number(kind, &h.encoding)
				case 5:
					return t.number(kind, &h.levelBytes)
				case 6:
					return t.number(kind, &h.repeatBytes)
				case 7:
					h.plain = kind == thriftFalse
				}
				return false, nil
			})
		}
		return false, nil
	})
	return h, err
}

// body reads and unpacks a page into dst: its definition levels, empty where they are among the values, and these.
func (p *pageBytes) body(dst []byte, h *pageHeader) (page, levels, values []byte, err error) {
	if int64(cap(p.packed)) < h.packed {
		p.packed = make([]byte, h.packed)
	}
	packed := p.packed[:h.packed]
	if n, err := p.r.ReadAt(packed, p.at); n < len(packed) {
		if err == io.EOF {
			err = errors.New("the file ends within a page")
		}
		return nil, nil, nil, err
	}
	p.at += h.packed
	if h.sum >= 0 && int64(crc32.ChecksumIEEE(packed)) != h.sum {
		return nil, nil, nil, errors.New("a page has another checksum than the one in its header")
	}
	dst = dst[:0]
	codec := p.codec
	if h.kind == pageData2 {
		head := h.repeatBytes + h.levelBytes
		dst = append(dst, packed[h.repeatBytes:head]...)
		packed, h.unpacked = packed[head:], h.unpacked-head
		if h.plain {
			codec = codecNone
		}
	}
	first := len(dst)
	if dst, err = p.unpack(dst, packed, codec, int(h.unpacked)); err != nil {
		return nil, nil, nil, err
	}
	return dst, dst[:first], dst[first:], nil
}
