package serve

import (
	"math"
	"strconv"
)

// The Open Inference Protocol, version 2, with the extension for binary tensors.
//
// Rows come as one tensor of any name with the shape [n, columns] or [n, Dim], or as a tensor of n values for each column by
// its name: BYTES for texts, any number type, BOOL. The answer has "prediction", and "probabilities" and "scores" where
// the model has them, with the rows first.

// tensor is an input of a request.
type tensor struct {
	name, datatype string
	shape          []int64
	numbers        []float64
	texts          []string // of BYTES
	size           int      // bytes in the binary part, -1 if there are none
	floats         []byte   // FP32 in binary: not converted one by one
	given          bool     // data came in JSON
}

// infer is a request of the protocol, whatever it came by.
type infer struct {
	id      string
	inputs  []tensor
	outputs []output
	binary  bool // for outputs that say nothing

	interval any // the parameter of that name, nil for none
}

// output is what a request wants to have.
type output struct {
	name   string
	binary bool
	said   bool // binary was said
}

// The types of tensors with their bytes; 0 for texts.
var datatypes = map[string]int{"BOOL": 1, "UINT8": 1, "INT8": 1, "UINT16": 2, "INT16": 2, "UINT32": 4, "INT32": 4, "UINT64": 8, "INT64": 8,
	"FP16": 2, "BF16": 2, "FP32": 4, "FP64": 8, "BYTES": 0}

// v2infer answers an inference.
func (c *call) v2infer() error {
	if err := c.model(c.r.PathValue("name"), c.r.PathValue("version")); err != nil {
		return err
	}
	head, tail := c.body, []byte(nil)
	if text := c.r.Header.Get("Inference-Header-Content-Length"); text != "" {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || n > uint64(len(c.body)) {
			return badf("Inference-Header-Content-Length: %q is no length within the body of %d bytes", shortened([]byte(text)), len(c.body))
		}
		head, tail = c.body[:n], c.body[n:]
	}
	var q infer
	if err := c.lease.take(elementBytes * int64(len(head))); err != nil {
		return err
	}
	c.in.parser.data = head
	if err := c.in.readInfer(&q); err != nil {
		return err
	}
	for i := range q.inputs {
		t := &q.inputs[i]
		if t.size < 0 {
			if !t.given {
				return badf("input %q has no data", shortened([]byte(t.name)))
			}
			continue
		}
		if t.given || t.size > len(tail) {
			return badf("input %q: binary_data_size %d with %d bytes left in the body; data come in one way only", shortened([]byte(t.name)), t.size, len(tail))
		}
		if err := c.decode(t, tail[:t.size]); err != nil {
			return err
		}
		tail = tail[t.size:]
	}
	if len(tail) > 0 {
		return badf("%d bytes at the end of the body belong to no input", len(tail))
	}
	if err := c.in.tensors(q.inputs); err != nil {
		return err
	}
	wanted, err := c.in.outputs(&q)
	if err != nil {
		return err
	}
	if err := c.produce(wanted); err != nil {
		return err
	}
	return c.v2answer(&q, wanted)
}

// elementBytes are those that an element takes here, of one or two bytes in a request.
const elementBytes = 8

// decode reads a binary tensor; those of FP32 stay where they are.
func (c *call) decode(t *tensor, data []byte) error {
	if t.datatype != "FP32" {
		if err := c.lease.take(elementBytes * int64(len(data))); err != nil {
			return err
		}
	}
	return t.decode(data)
}

// readInfer reads the JSON of an inference.
func (in *input) readInfer(q *infer) error {
	p := &in.parser
	err := p.object(func(key []byte) error {
		switch string(key) {
		case "id":
			id, err := p.string()
			if len(id) > 1024 {
				return badf("the id has more than 1,024 bytes")
			}
			q.id = string(id)
			return err
		case "inputs":
			return p.array(func() error {
				if len(q.inputs) > 2*len(in.columns)+16 {
					return badf("more than %d inputs", len(q.inputs)-1)
				}
				t, err := in.readTensor()
				q.inputs = append(q.inputs, t)
				return err
			})
		case "outputs":
			return p.array(func() error {
				if len(q.outputs) == 16 {
					return badf("more than 16 outputs")
				}
				var o output
				err := p.object(func(key []byte) error {
					switch string(key) {
					case "name":
						name, err := p.string()
						o.name = string(name)
						return err
					case "parameters":
						return p.object(func(key []byte) (err error) {
							if string(key) != "binary_data" {
								return p.skip()
							}
							o.said = true
							o.binary, err = p.boolean()
							return err
						})
					}
					return p.skip()
				})
				q.outputs = append(q.outputs, o)
				return err
			})
		case "parameters":
			return p.object(func(key []byte) (err error) {
				switch string(key) {
				case "binary_data_output":
					q.binary, err = p.boolean()
					return err
				case "interval":
					q.interval, err = p.scalar()
					return err
				}
				return p.skip()
			})
		}
		return p.skip()
	})
	if err == nil {
		err = p.end()
	}
	if err == nil && len(q.inputs) == 0 {
		err = badf(`expected "inputs"`)
	}
	return err
}

// readTensor reads an input.
func (in *input) readTensor() (tensor, error) {
	p, t := &in.parser, tensor{size: -1}
	data := -1
	err := p.object(func(key []byte) error {
		switch string(key) {
		case "name":
			name, err := p.string()
			t.name = string(name)
			return err
		case "datatype":
			name, err := p.string()
			t.datatype = string(name)
			return err
		case "shape":
			return p.array(func() error {
				v, err := p.number()
				if err == nil && (v < 0 || v > 1<<40 || v != math.Trunc(v) || len(t.shape) == 8) {
					err = p.errorf("a shape has up to 8 whole numbers that are not negative")
				}
				t.shape = append(t.shape, int64(v))
				return err
			})
		case "parameters":
			return p.object(func(key []byte) error {
				if string(key) != "binary_data_size" {
					return p.skip()
				}
				v, err := p.number()
				if err == nil && (v < 0 || v > 1<<40 || v != math.Trunc(v)) {
					err = p.errorf("binary_data_size is a number of bytes")
				}
				t.size = int(v)
				return err
			})
		case "data":
			p.next()
			data = p.at // the datatype may come later
			return p.skip()
		}
		return p.skip()
	})
	if err != nil {
		return t, err
	}
	if _, known := datatypes[t.datatype]; !known {
		return t, badf("input %q has the datatype %q; expected BOOL, INT8 to UINT64, FP32, FP64 or BYTES", shortened([]byte(t.name)), shortened([]byte(t.datatype)))
	}
	if len(t.shape) == 0 {
		return t, badf("input %q has no shape", shortened([]byte(t.name)))
	}
	if data < 0 {
		return t, nil
	}
	t.given = true
	end := p.at
	p.at = data
	if err := in.readData(&t); err != nil {
		return t, err
	}
	p.at = end
	return t, t.complete()
}

// readData reads the data of a tensor, flat or nested as its shape.
func (in *input) readData(t *tensor) error {
	p := &in.parser
	var element func() error
	element = func() error {
		if p.next() == '[' {
			return p.array(element)
		}
		if t.datatype == "BYTES" {
			v, err := p.scalar()
			switch x := v.(type) {
			case string:
				t.texts = append(t.texts, x)
			case nil:
				t.texts = append(t.texts, "")
			default:
				return p.errorf("expected a string, as the datatype is BYTES")
			}
			return err
		}
		if c := p.next(); c == 't' || c == 'f' {
			v, err := p.boolean()
			n := 0.0
			if v {
				n = 1
			}
			t.numbers = append(t.numbers, n)
			return err
		} else if c == 'n' {
			_, err := p.scalar()
			t.numbers = append(t.numbers, math.NaN()) // null is missing
			return err
		}
		v, err := p.number()
		t.numbers = append(t.numbers, v)
		return err
	}
	if p.next() != '[' {
		return p.errorf("expected the data of the input as a list, found %s", p.found())
	}
	return p.array(element)
}
