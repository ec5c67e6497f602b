package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
)

// produced is an output of the protocol.
type produced struct {
	name, datatype string
	width          int
	binary         bool
}

// available are the outputs that a model has.
func (in *input) available() []produced {
	info := in.m.Info()
	p := produced{name: "prediction", datatype: "BYTES", width: 1}
	if info.Classes == nil && info.Labels == nil {
		p.datatype, p.width = in.precision(), info.Outputs
	} else if info.Labels != nil {
		p.datatype, p.width = "BOOL", len(info.Labels)
	}
	all := []produced{p}
	if in.probable {
		all = append(all, produced{name: "probabilities", datatype: "FP64", width: len(names(in.m))})
	}
	all = append(all, produced{name: "scores", datatype: in.precision(), width: info.Outputs})
	if in.sure.varies {
		all = append(all, produced{name: "deviation", datatype: "FP32", width: info.Outputs})
	}
	if in.sure.there {
		all = append(all, produced{name: "lower", datatype: in.precision(), width: info.Outputs}, produced{name: "upper", datatype: in.precision(), width: info.Outputs})
	}
	return all
}

// numbersOf are the numbers that an output is made of for row i; but for deviations, Value makes them its values.
func (in *input) numbersOf(p *produced, i int) []float32 {
	switch p.name {
	case "deviation":
		return in.sure.deviations.Row(i)
	case "lower":
		return in.sure.lower.Row(i)
	case "upper":
		return in.sure.upper.Row(i)
	}
	return in.scores.Row(i)
}

// value is that of number v of an output for target t.
func (in *input) value(p *produced, t int, v float32) float64 {
	if p.name == "deviation" {
		return float64(v)
	}
	return in.m.Value(t, v)
}

// produce computes what outputs are made of.
func (c *call) produce(wanted []produced) error {
	if err := c.score(); err != nil {
		return err
	}
	deviations, intervals := false, false
	for i := range wanted {
		deviations = deviations || wanted[i].name == "deviation"
		intervals = intervals || wanted[i].name == "lower" || wanted[i].name == "upper"
	}
	if err := c.spread(deviations, intervals); err != nil {
		return err
	}
	numbers := 0
	for i := range wanted {
		numbers += wanted[i].width
	}
	return c.answers(numbers * numberBytes)
}

// precision is the type of scores, and so of a regression's predictions.
func (in *input) precision() string {
	if in.m.ValueBits() == 64 {
		return "FP64"
	}
	return "FP32"
}

// outputs are those that a request wants: if it says nothing, the prediction, and the probabilities of a model that has them, or the
// ends of intervals if it asks for those by its parameter.
func (in *input) outputs(q *infer) ([]produced, error) {
	if err := in.interval(q.interval); err != nil {
		return nil, err
	}
	all := in.available()
	if len(q.outputs) == 0 {
		ends := all[len(all)-2:]
		if all = all[:slices.IndexFunc(all, func(p produced) bool { return p.name == "scores" })]; in.sure.asked {
			all = append(all, ends...)
		}
		for i := range all {
			all[i].binary = q.binary
		}
		return all, nil
	}
	var wanted []produced
	for _, o := range q.outputs {
		found := false
		for _, p := range all {
			if p.name == o.name {
				if p.binary = q.binary; o.said {
					p.binary = o.binary
				}
				wanted, found = append(wanted, p), true
			}
		}
		if !found {
			return nil, badf("the model has no output %q; it has %s", shortened([]byte(o.name)), listed(outputsOf(all)))
		}
	}
	return wanted, nil
}

func outputsOf(all []produced) (names []string) {
	for _, p := range all {
		names = append(names, p.name)
	}
	return names
}

// v2answer writes the answer, with binary tensors behind the JSON if they are wanted.
func (c *call) v2answer(q *infer, wanted []produced) error {
	in := c.in
	out := append(in.out[:0], `{"model_name":`...)
	out = appendText(out, c.on.name)
	out = append(out, `,"model_version":`...)
	out = appendText(out, c.on.version)
	if q.id != "" {
		out = append(out, `,"id":`...)
		out = appendText(out, q.id)
	}
	out = append(out, `,"outputs":[`...)
	binaries, isBinary := in.binaries[:0], false
	for i, p := range wanted {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"name":%q,"datatype":%q,"shape":[%d`, p.name, p.datatype, in.x.Rows)
		if p.width > 1 || p.name != "prediction" {
			out = fmt.Appendf(out, ",%d", p.width)
		}
		out = append(out, ']')
		if p.binary {
			before := len(binaries)
			binaries, isBinary = in.binary(binaries, p), true
			out = fmt.Appendf(out, `,"parameters":{"binary_data_size":%d}}`, len(binaries)-before)
			continue
		}
		out = append(in.elements(append(out, `,"data":[`...), p), "]}"...)
	}
	out = append(out, "]}"...)
	in.out, in.binaries = out, binaries
	if !isBinary {
		return c.json(out)
	}
	h := c.w.Header()
	h.Set("Inference-Header-Content-Length", strconv.Itoa(len(out)))
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.Itoa(len(out)+len(binaries)))
	c.w.WriteHeader(http.StatusOK)
	for _, data := range [2][]byte{out, binaries} {
		if _, err := c.w.Write(data); err != nil {
			return fmt.Errorf("the client is gone: %w", err)
		}
	}
	return nil
}

// elements appends the elements of an output in JSON.
func (in *input) elements(dst []byte, p produced) []byte {
	for i := range in.x.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		scores := in.scores.Row(i)
		switch {
		case p.name == "probabilities":
			for k, v := range in.probabilities(i) {
				if k > 0 {
					dst = append(dst, ',')
				}
				dst = appendNumber(dst, v, 64)
			}
		case p.datatype == "BYTES":
			dst = appendText(dst, in.m.Classes()[in.m.Class(scores)])
		case p.datatype == "BOOL":
			for k, v := range scores {
				if k > 0 {
					dst = append(dst, ',')
				}
				dst = strconv.AppendBool(dst, in.m.Has(k, v))
			}
		default:
			bits := 32
			if p.datatype == "FP64" {
				bits = 64
			}
			for k, v := range in.numbersOf(&p, i) {
				if k > 0 {
					dst = append(dst, ',')
				}
				dst = appendNumber(dst, in.value(&p, k, v), bits)
			}
		}
	}
	return dst
}

// binary appends an output in the binary form.
func (in *input) binary(data []byte, p produced) []byte {
	little := binary.LittleEndian
	for i := range in.x.Rows {
		scores := in.scores.Row(i)
		switch {
		case p.name == "probabilities":
			for _, v := range in.probabilities(i) {
				data = little.AppendUint64(data, math.Float64bits(v))
			}
		case p.datatype == "BYTES":
			class := in.m.Classes()[in.m.Class(scores)]
			data = append(little.AppendUint32(data, uint32(len(class))), class...)
		case p.datatype == "BOOL":
			for k, v := range scores {
				b := byte(0)
				if in.m.Has(k, v) {
					b = 1
				}
				data = append(data, b)
			}
		case p.datatype == "FP64":
			for k, v := range in.numbersOf(&p, i) {
				data = little.AppendUint64(data, math.Float64bits(in.value(&p, k, v)))
			}
		default:
			for _, v := range in.numbersOf(&p, i) {
				data = little.AppendUint32(data, math.Float32bits(v))
			}
		}
	}
	return data
}
