package moments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/safetensors"
)

// A file of statistics has the layout of a model file (docs/model-file.md). Its metadata are
// "format" mercer-statistics, "version", "pipeline" and "statistics", the JSON of a list of
// parts; its tensors, in float64, for each part P:
//
//	moments.P.h       D(D+1)/2  the upper triangle of Σw(z-z̄)(z-z̄)ᵀ, row by row
//	moments.P.v       D×K       Σw(z-z̄)(y-ȳ)ᵀ
//	moments.P.yy      K         Σw(y-ȳ)²
//	moments.P.mean_z  D         z̄
//	moments.P.mean_y  K         ȳ
//	moments.P.mean_l  D         z̄ of the rows with targets, if others were added as well
//
// and those that the pipeline refers to.
const (
	fileFormat  = "mercer-statistics"
	fileVersion = 1
)

// File is the content of a file of statistics.
type File struct {
	// Pipeline is a JSON object that describes how the features and targets were made. Statistics can be
	// added only if their pipelines are the same.
	Pipeline json.RawMessage

	// Tensors are the arrays that belong to the pipeline; their names may not begin with
	// "moments.".
	Tensors map[string]*safetensors.Tensor

	// Parts are statistics of disjoint sets of rows, all of the same sizes: one part, or several
	// of which some can be held out while the others are fitted.
	Parts []*Stats
}

// part describes a part in the metadata.
type part struct {
	D        int     `json:"d"`
	K        int     `json:"k"`
	Rows     int     `json:"rows"`
	Weight   float64 `json:"weight"`
	Used     int     `json:"used"`
	Labelled float64 `json:"labelled"`
	Blank    bool    `json:"blank,omitempty"` // there were rows without targets
}

// prefix begins the names of tensors of statistics.
const prefix = "moments."

// Write writes the file. Besides the statistics it needs 4·D² bytes for each part.
func (f *File) Write(w io.Writer) error {
	tensors := maps.Clone(f.Tensors)
	if tensors == nil {
		tensors = map[string]*safetensors.Tensor{}
	}
	var parts []part
	for i, s := range f.Parts {
		m := s.Moments()
		parts = append(parts, part{m.D, m.K, m.Rows, m.Weight, m.Used, m.Labelled, s.sumL != nil})
		put := func(name string, v []float64, shape ...int) {
			tensors[prefix+strconv.Itoa(i)+"."+name] = &safetensors.Tensor{Shape: shape, F64: v}
		}
		h := make([]float64, 0, m.D*(m.D+1)/2)
		for j := range m.D {
			h = append(h, m.H[j*m.D+j:(j+1)*m.D]...)
		}
		put("h", h, len(h))
		put("v", m.V, m.D, m.K)
		put("yy", m.YY, m.K)
		put("mean_z", m.MeanZ, m.D)
		put("mean_y", m.MeanY, m.K)
		if s.sumL != nil {
			put("mean_l", m.MeanL, m.D)
		}
	}
	description, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	return safetensors.Write(w, map[string]string{
		"format": fileFormat, "version": strconv.Itoa(fileVersion),
		"pipeline": string(f.Pipeline), "statistics": string(description),
	}, tensors)
}

// ReadFile reads a file of size bytes and checks it. It allocates nothing larger than a small multiple
// of size.
func ReadFile(r io.Reader, size int64) (*File, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, err
	}
	switch {
	case meta["format"] == "mercer":
		return nil, option.Errorf("a model, not a file of statistics; statistics are written by %s", option.Ref("save_stats"))
	case meta["format"] != fileFormat:
		return nil, errors.New("a safetensors file, but not one of statistics of this program")
	}
	v, err := strconv.Atoi(meta["version"])
	if err != nil || v < 1 {
		return nil, fmt.Errorf("version %q of the format is no number", meta["version"])
	}
	if v > fileVersion {
		return nil, fmt.Errorf("the file has version %d of the format, this program reads up to %d; use a newer program", v, fileVersion)
	}
	f := &File{Pipeline: json.RawMessage(meta["pipeline"])}
	var object map[string]any
	if err := json.Unmarshal(f.Pipeline, &object); err != nil {
		return nil, fmt.Errorf("the pipeline's description: %w", err)
	}
	var parts []part
	if err := json.Unmarshal([]byte(meta["statistics"]), &parts); err != nil {
		return nil, fmt.Errorf("the statistics' description: %w", err)
	}
	if len(parts) == 0 {
		return nil, errors.New("the file has no statistics")
	}
	for i, p := range parts {
		if p.D != parts[0].D || p.K != parts[0].K {
			return nil, fmt.Errorf("part %d has %d features and %d targets, part 0 has %d and %d", i, p.D, p.K, parts[0].D, parts[0].K)
		}
		s, err := p.restore(tensors, prefix+strconv.Itoa(i)+".")
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		f.Parts = append(f.Parts, s)
	}
	f.Tensors = tensors
	maps.DeleteFunc(f.Tensors, func(name string, _ *safetensors.Tensor) bool { return strings.HasPrefix(name, prefix) })
	return f, nil
}

// restore makes the statistics of a part from its tensors, which it removes from the map.
func (p part) restore(tensors map[string]*safetensors.Tensor, prefix string) (*Stats, error) {
	const most = 1 << 24 // D²·8 bytes fit into an int
	if p.D < 1 || p.K < 1 || p.D > most || p.K > most {
		return nil, fmt.Errorf("%d features and %d targets", p.D, p.K)
	}
	if p.Rows < 0 || p.Used < 0 || p.Used > p.Rows || !(p.Weight >= 0) || !(p.Labelled >= 0) || p.Labelled > p.Weight*(1+1e-9) ||
		math.IsInf(p.Weight, 0) {
		return nil, fmt.Errorf("%d rows of weight %g, %d of them with targets, of weight %g", p.Rows, p.Weight, p.Used, p.Labelled)
	}
	var err error
	take := func(name string, shape ...int) []float64 {
		t := tensors[prefix+name]
		delete(tensors, prefix+name)
		switch {
		case err != nil:
			return nil
		case t == nil:
			err = fmt.Errorf("tensor %q is missing", prefix+name)
		case !slices.Equal(t.Shape, shape) || t.F64 == nil:
			err = fmt.Errorf("tensor %q has shape %v; expected %v of float64", prefix+name, t.Shape, shape)
		default:
			for i, v := range t.F64 {
				if v-v != 0 {
					err = fmt.Errorf("tensor %q: element %d is %g", prefix+name, i, v)
					return nil
				}
			}
			return t.F64
		}
		return nil
	}
	// The required tensors limit the sizes.
	h := take("h", p.D*(p.D+1)/2)
	v, yy := take("v", p.D, p.K), take("yy", p.K)
	z, y := take("mean_z", p.D), take("mean_y", p.K)
	var l []float64
	if p.Blank {
		l = take("mean_l", p.D)
	}
	if err != nil {
		return nil, err
	}
	s := &Stats{
		d: p.D, k: p.K, rows: p.Rows, weight: p.Weight, used: p.Used, labelled: p.Labelled,
		sumZ: make([]float64, p.D), sumY: make([]float64, p.K), h: make([]float64, p.D*p.D), v: v, yy: yy,
	}
	for j := range p.D {
		row := s.h[j*p.D+j : (j+1)*p.D]
		h = h[copy(row, h):]
		if row[0] < 0 {
			return nil, fmt.Errorf("tensor %q: the variance of feature %d is negative", prefix+"h", j)
		}
	}
	if i := slices.IndexFunc(yy, func(v float64) bool { return v < 0 }); i >= 0 {
		return nil, fmt.Errorf("tensor %q: element %d is negative", prefix+"yy", i)
	}
	if p.Rows > 0 {
		s.shiftZ, s.centred = z, true
	}
	if p.Labelled > 0 {
		s.shiftY = y
	}
	if p.Blank {
		s.sumL = make([]float64, p.D)
		for j := range l {
			s.sumL[j] = float64(p.Labelled * (l[j] - z[j]))
		}
	}
	return s, nil
}

// Merge adds the statistics of o, part by part if both have equally many parts, otherwise as one part.
// It fails if their pipelines differ, and says where.
func (f *File) Merge(o *File) error {
	if err := f.Same(o); err != nil {
		return err
	}
	if len(f.Parts) != len(o.Parts) {
		f.Join()
		o.Join()
	}
	for i, s := range f.Parts {
		s.Merge(o.Parts[i])
	}
	return nil
}

// Join merges all parts into one.
func (f *File) Join() {
	for _, s := range f.Parts[1:] {
		f.Parts[0].Merge(s)
	}
	f.Parts = f.Parts[:1]
}

// Same fails if the pipeline of o is a different one.
func (f *File) Same(o *File) error {
	if !bytes.Equal(f.Pipeline, o.Pipeline) {
		var a, b any
		if err := json.Unmarshal(f.Pipeline, &a); err != nil {
			return err
		}
		if err := json.Unmarshal(o.Pipeline, &b); err != nil {
			return err
		}
		if place, x, y, differ := firstDifference("", a, b); differ {
			return option.Errorf("the statistics are of another pipeline: %s is %s here and %s there; make both with one pipeline (%s)", place, x, y,
				option.Ref("like"))
		}
	}
	names := slices.Sorted(maps.Keys(f.Tensors))
	if other := slices.Sorted(maps.Keys(o.Tensors)); !slices.Equal(names, other) {
		return fmt.Errorf("the statistics are of another pipeline: it has the arrays %v here and %v there", names, other)
	}
	for _, name := range names {
		a, b := f.Tensors[name], o.Tensors[name]
		if !slices.Equal(a.Shape, b.Shape) || !slices.Equal(a.F32, b.F32) || !slices.Equal(a.F64, b.F64) {
			return option.Errorf("the statistics are of another pipeline: its array %s differs, so that features are scaled or mapped otherwise; "+
				"make both with one pipeline (%s)", name, option.Ref("like"))
		}
	}
	a, b := f.Parts[0], o.Parts[0]
	if a.d != b.d || a.k != b.k {
		return fmt.Errorf("the statistics are of %d features and %d targets here and of %d and %d there", a.d, a.k, b.d, b.k)
	}
	return nil
}

// firstDifference finds the first difference between two JSON values, in the order of names.
func firstDifference(place string, a, b any) (where, x, y string, differ bool) {
	text := func(v any) string {
		t, _ := json.Marshal(v)
		if len(t) > 80 {
			t = append(t[:77:77], "..."...)
		}
		return string(t)
	}
	if m, ok := a.(map[string]any); ok {
		if n, ok := b.(map[string]any); ok {
			both := maps.Clone(m)
			maps.Copy(both, n)
			for _, name := range slices.Sorted(maps.Keys(both)) {
				inner := name
				if place != "" {
					inner = place + "." + name
				}
				if where, x, y, differ = firstDifference(inner, m[name], n[name]); differ {
					return where, x, y, true
				}
			}
			return "", "", "", false
		}
	}
	if x, y = text(a), text(b); x != y {
		return place, x, y, true
	}
	return "", "", "", false
}
