package parquet

import "encoding/binary"

// thriftWriter writes a struct in Thrift's compact protocol.
type thriftWriter struct {
	b    []byte
	last []int16 // fields of the structs around
	id   int16   // the last field
}

func (t *thriftWriter) field(id int16, kind byte) {
	t.b = append(t.b, byte(id-t.id)<<4|kind) // all fields come in order, and near each other
	t.id = id
}

func (t *thriftWriter) integer(v int64) {
	t.b = binary.AppendUvarint(t.b, uint64(v<<1)^uint64(v>>63))
}

func (t *thriftWriter) number(id int16, kind byte, v int64) {
	t.field(id, kind)
	t.integer(v)
}

func (t *thriftWriter) bytes(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

func (t *thriftWriter) text(id int16, s string) {
	t.field(id, thriftBinary)
	t.bytes(s)
}

// begin begins a struct, which end ends.
func (t *thriftWriter) begin(id int16) {
	t.field(id, thriftStruct)
	t.last, t.id = append(t.last, id), 0
}

// end ends a struct, and begins the next one where it is an element of a list.
func (t *thriftWriter) end() {
	t.b = append(t.b, 0)
	t.id = 0
	if n := len(t.last); n > 0 && t.last[n-1] >= 0 {
		t.id, t.last = t.last[n-1], t.last[:n-1]
	}
}

// list begins a list of n elements, which ends ends.
func (t *thriftWriter) list(id int16, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
	} else {
		t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
	}
	t.last, t.id = append(t.last, -id), 0 // negative: elements follow each other
}

func (t *thriftWriter) ends() {
	n := len(t.last)
	t.id, t.last = -t.last[n-1], t.last[:n-1]
}
