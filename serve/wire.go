package serve

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/encoding/protowire"
)

// Codec is the codec of a gRPC server that Server.Register adds to: messages are passed as their bytes.
func Codec() encoding.Codec { return plainCodec{} }

// fields calls field with the number, type and value of each field of a message: a varint's or fixed number's bits, or bytes.
func fields(in []byte, field func(n protowire.Number, kind protowire.Type, bits uint64, data []byte) error) error {
	for len(in) > 0 {
		n, kind, size := protowire.ConsumeTag(in)
		if size < 0 {
			return badf("the message is no protobuf: %w", protowire.ParseError(size))
		}
		in = in[size:]
		var bits uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			bits, size = protowire.ConsumeVarint(in)
		case protowire.Fixed64Type:
			bits, size = protowire.ConsumeFixed64(in)
		case protowire.Fixed32Type:
			var b uint32
			b, size = protowire.ConsumeFixed32(in)
			bits = uint64(b)
		case protowire.BytesType:
			data, size = protowire.ConsumeBytes(in)
		default:
			size = protowire.ConsumeFieldValue(n, kind, in)
		}
		if size < 0 {
			return badf("the message is no protobuf: %w", protowire.ParseError(size))
		}
		in = in[size:]
		if err := field(n, kind, bits, data); err != nil {
			return err
		}
	}
	return nil
}

func text(data []byte) (string, error) {
	if !utf8.Valid(data) {
		return "", badf("a text of the message is not UTF-8")
	}
	return string(data), nil
}

// readNames reads a message with a name (1) and a version (2).
func readNames(in []byte) (name, version string, err error) {
	err = fields(in, func(n protowire.Number, _ protowire.Type, _ uint64, data []byte) (err error) {
		switch n {
		case 1:
			name, err = text(data)
		case 2:
			version, err = text(data)
		}
		return err
	})
	return name, version, err
}

// inferRequest is a ModelInferRequest.
type inferRequest struct {
	infer
	model, version string
	raw            bool // it has raw_input_contents
}

func readInferRequest(in []byte) (*inferRequest, error) {
	q := &inferRequest{}
	var raw [][]byte
	err := fields(in, func(n protowire.Number, kind protowire.Type, _ uint64, data []byte) (err error) {
		switch n {
		case 1:
			q.model, err = text(data)
		case 2:
			q.version, err = text(data)
		case 3:
			q.id, err = text(data)
		case 4:
			return q.parameter(data)
		case 5:
			if len(q.inputs) == 1<<16 {
				return badf("more than %d inputs", 1<<16)
			}
			t, err := readInferTensor(data)
			q.inputs = append(q.inputs, t)
			return err
		case 6:
			if len(q.outputs) == 16 {
				return badf("more than 16 outputs")
			}
			name, _, err := readNames(data)
			q.outputs = append(q.outputs, output{name: name})
			return err
		case 7:
			if kind != protowire.BytesType {
				return badf("raw_input_contents are no bytes")
			}
			raw = append(raw, data)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(q.inputs) == 0 {
		return nil, badf("expected inputs")
	}
	if q.raw = raw != nil; q.raw && len(raw) != len(q.inputs) {
		return nil, badf("%d raw_input_contents for %d inputs", len(raw), len(q.inputs))
	}
	for i := range q.inputs {
		t := &q.inputs[i]
		if _, known := datatypes[t.datatype]; !known || len(t.shape) == 0 {
			return nil, badf("input %q has the datatype %q and the shape %v; expected BOOL, INT8 to UINT64, FP32, FP64 or BYTES, and the number of rows first",
				shortened([]byte(t.name)), shortened([]byte(t.datatype)), t.shape)
		}
		if !q.raw {
			err = t.complete()
		} else if t.given {
			err = badf("input %q has contents and raw contents; data come in one way only", shortened([]byte(t.name)))
		} else {
			err = t.decode(raw[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// parameter reads an entry of the parameters: a key (1) and an InferParameter (2).
func (q *inferRequest) parameter(in []byte) error {
	var key string
	var value any
	err := fields(in, func(n protowire.Number, _ protowire.Type, _ uint64, data []byte) (err error) {
		switch n {
		case 1:
			key, err = text(data)
		case 2:
			return fields(data, func(n protowire.Number, _ protowire.Type, bits uint64, data []byte) (err error) {
				switch n {
				case 1:
					value = bits != 0
				case 2:
					value = int64(bits)
				case 3:
					value, err = text(data)
				case 4:
					value = math.Float64frombits(bits)
				case 5:
					value = bits
				}
				return err
			})
		}
		return err
	})
	if key == "interval" {
		q.interval = value
	}
	return err
}

func readInferTensor(in []byte) (t tensor, err error) {
	t.size = -1
	err = fields(in, func(n protowire.Number, kind protowire.Type, bits uint64, data []byte) (err error) {
		switch n {
		case 1:
			t.name, err = text(data)
		case 2:
			t.datatype, err = text(data)
		case 3:
			return numbersOf(kind, bits, data, protowire.VarintType, func(v uint64) error {
				if int64(v) < 0 || v > 1<<40 || len(t.shape) == 8 {
					return badf("a shape has up to 8 numbers that are not negative")
				}
				t.shape = append(t.shape, int64(v))
				return nil
			})
		case 5:
			t.given = true
			return t.readContents(data)
		}
		return err
	})
	return t, err
}

// numbersOf reads the numbers of a repeated field, packed or not.
func numbersOf(kind protowire.Type, bits uint64, data []byte, of protowire.Type, number func(uint64) error) error {
	if kind != protowire.BytesType {
		if kind != of {
			return badf("a field of the message has another type than is expected")
		}
		return number(bits)
	}
	for len(data) > 0 {
		size := 0
		switch of {
		case protowire.VarintType:
			bits, size = protowire.ConsumeVarint(data)
		case protowire.Fixed32Type:
			var b uint32
			b, size = protowire.ConsumeFixed32(data)
			bits = uint64(b)
		default:
			bits, size = protowire.ConsumeFixed64(data)
		}
		if size < 0 {
			return badf("the message is no protobuf: %w", protowire.ParseError(size))
		}
		data = data[size:]
		if err := number(bits); err != nil {
			return err
		}
	}
	return nil
}

// readContents reads an InferTensorContents, whose field must be that of the datatype.
func (t *tensor) readContents(in []byte) error {
	return fields(in, func(n protowire.Number, kind protowire.Type, bits uint64, data []byte) error {
		add := func(v float64) error { t.numbers = append(t.numbers, v); return nil }
		switch n {
		case 1, 4, 5: // bool, uint, uint64
			return numbersOf(kind, bits, data, protowire.VarintType, func(v uint64) error { return add(float64(v)) })
		case 2, 3: // int, int64
			return numbersOf(kind, bits, data, protowire.VarintType, func(v uint64) error { return add(float64(int64(v))) })
		case 6:
			return numbersOf(kind, bits, data, protowire.Fixed32Type, func(v uint64) error { return add(float64(math.Float32frombits(uint32(v)))) })
		case 7:
			return numbersOf(kind, bits, data, protowire.Fixed64Type, func(v uint64) error { return add(math.Float64frombits(v)) })
		case 8:
			t.texts = append(t.texts, string(data))
		}
		return nil
	})
}

// shape is that of an output for so many rows.
func (p produced) shape(rows int64) []int64 {
	if p.width > 1 || p.name != "prediction" {
		return []int64{rows, int64(p.width)}
	}
	return []int64{rows}
}

// contents is an InferTensorContents with an output.
func (in *input) contents(p produced) (out []byte) {
	data := in.binary(nil, p)
	little := binary.LittleEndian
	switch p.datatype {
	case "FP32":
		return appendBytes(nil, 6, data) // packed fixed numbers are the raw bytes
	case "FP64":
		return appendBytes(nil, 7, data)
	case "BOOL":
		return appendBytes(nil, 1, data)
	}
	for len(data) > 0 {
		n := little.Uint32(data)
		out = appendBytes(out, 8, data[4:4+n])
		data = data[4+n:]
	}
	return out
}

func appendBool(dst []byte, n protowire.Number, v bool) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.VarintType), protowire.EncodeBool(v))
}

func appendString(dst []byte, n protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, n, protowire.BytesType), v)
}

func appendBytes(dst []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, n, protowire.BytesType), v)
}

// appendTensor appends name (1), datatype (2) and shape (3), which TensorMetadata and InferOutputTensor begin with.
func appendTensor(dst []byte, name, datatype string, shape []int64) []byte {
	dst = appendString(appendString(dst, 1, name), 2, datatype)
	var packed []byte
	for _, s := range shape {
		packed = protowire.AppendVarint(packed, uint64(s))
	}
	return appendBytes(dst, 3, packed)
}
