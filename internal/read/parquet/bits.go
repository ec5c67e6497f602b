package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errValues = errors.New("a page has fewer values than it says")

// hybrid reads small whole numbers: runs of one number, and groups of eight that are packed.
type hybrid struct {
	data  []byte
	width int // bits, 0 to 32

	run    uint64 // how often value comes
	value  uint32
	packed uint64 // how many come out of bits
	bits   []byte
	at     uint64 // the next bit
}

// read reads numbers into all of dst.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		switch {
		case h.run > 0:
			n := int(min(h.run, uint64(len(dst))))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.run, dst = h.run-uint64(n), dst[n:]
		case h.packed > 0:
			n := int(min(h.packed, uint64(len(dst))))
			h.unpack(dst[:n])
			h.packed, dst = h.packed-uint64(n), dst[n:]
		default:
			if err := h.begin(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin begins a run, or groups.
func (h *hybrid) begin() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 {
		return errValues
	}
	h.data = h.data[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(h.data) < size {
			return errValues
		}
		h.run, h.value = head>>1, 0
		for i := range size {
			h.value |= uint32(h.data[i]) << (8 * i)
		}
		h.data = h.data[size:]
		return nil
	}
	groups := head >> 1
	if groups == 0 || groups > 1<<40 {
		return errValues
	}
	size := groups * uint64(h.width)
	if h.packed = 8 * groups; size > uint64(len(h.data)) { // the last group may be cut short
		size = uint64(len(h.data))
		if h.packed = 8 * size / uint64(h.width); h.packed == 0 {
			return errValues
		}
	}
	h.bits, h.at, h.data = h.data[:size], 0, h.data[size:]
	return nil
}

func (h *hybrid) unpack(dst []uint32) {
	width, mask, at := uint64(h.width), uint64(1)<<h.width-1, h.at
	i := 0
	if width == 1 {
		for ; i < len(dst); i++ {
			dst[i] = uint32(h.bits[at>>3] >> (at & 7) & 1)
			at++
		}
	}
	for ; i < len(dst) && int(at>>3)+8 <= len(h.bits); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(h.bits[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(tail(h.bits, int(at>>3)) >> (at & 7) & mask)
		at += width
	}
	h.at = at
}

// tail is the 8 bytes from a place on, with zeros behind the end.
func tail(b []byte, from int) uint64 {
	if from+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[from:])
	}
	var v uint64
	for i := range 8 {
		if from+i < len(b) {
			v |= uint64(b[from+i]) << (8 * i)
		}
	}
	return v
}

// delta reads whole numbers, each as its difference from the one before.
type delta struct {
	data   []byte
	left   uint64 // numbers to come
	next   int64
	most   int // bits of a number
	block  uint64
	minis  int
	per    uint64 // differences of a miniblock
	least  int64
	widths []byte // of the miniblocks of this block that are to come
	width  int
	bits   []byte
	at     uint64
	have   uint64 // differences of this miniblock
	first  bool
}

// newDelta reads the header.
func newDelta(data []byte, bits int) (*delta, error) {
	d := &delta{data: data, most: bits, first: true}
	var minis uint64
	for _, v := range []*uint64{&d.block, &minis, &d.left} {
		var n int
		if *v, n = binary.Uvarint(d.data); n <= 0 {
			return nil, errValues
		}
		d.data = d.data[n:]
	}
	v, n := binary.Varint(d.data)
	if n <= 0 {
		return nil, errValues
	}
	d.next, d.data = v, d.data[n:]
	if d.block == 0 || d.block > 1<<20 || minis == 0 || minis > d.block || d.block%minis != 0 {
		return nil, fmt.Errorf("differences in blocks of %d and parts of %d", d.block, minis)
	}
	d.minis, d.per = int(minis), d.block/minis
	return d, nil
}

// read reads all of dst.
func (d *delta) read(dst []int64) error {
	if uint64(len(dst)) > d.left {
		return errValues
	}
	d.left -= uint64(len(dst))
	if len(dst) > 0 && d.first {
		dst[0], dst, d.first = d.next, dst[1:], false
	}
	for len(dst) > 0 {
		if d.have == 0 {
			if err := d.begin(); err != nil {
				return err
			}
		}
		n := int(min(d.have, uint64(len(dst))))
		mask := uint64(1)<<d.width - 1
		if d.width == 64 {
			mask = ^uint64(0)
		}
		for i := range dst[:n] {
			shift := d.at & 7
			v := tail(d.bits, int(d.at>>3)) >> shift
			if shift > 0 && int(shift)+d.width > 64 && int(d.at>>3)+8 < len(d.bits) {
				v |= uint64(d.bits[d.at>>3+8]) << (64 - shift)
			}
			d.at += uint64(d.width)
			d.next += d.least + int64(v&mask)
			if d.most == 32 {
				d.next = int64(int32(d.next))
			}
			dst[i] = d.next
		}
		d.have, dst = d.have-uint64(n), dst[n:]
	}
	return nil
}

// begin begins a miniblock, and a block where one ended.
func (d *delta) begin() error {
	if len(d.widths) == 0 {
		v, n := binary.Varint(d.data)
		if n <= 0 || len(d.data)-n < d.minis {
			return errValues
		}
		d.least, d.data = v, d.data[n:]
		d.widths, d.data = d.data[:d.minis], d.data[d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 { // DuckDB has more than 32 for numbers of 32
		return fmt.Errorf("differences of %d bits", d.width)
	}
	size := (d.per*uint64(d.width) + 7) / 8
	if size > uint64(len(d.data)) {
		return errValues
	}
	d.bits, d.at, d.data, d.have = d.data[:size], 0, d.data[size:], d.per
	return nil
}

// rest is what follows the last number; all must have been read, up to the padding of the last miniblock.
func (d *delta) rest() []byte { return d.data }
