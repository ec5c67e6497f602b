package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/vec"
)

// A part of a survey is kept in a file of tensors, with what is no list of numbers as JSON.

// surveyFormat names the format in the metadata.
const surveyFormat = "mercer-survey"

// surveyHead is that JSON.
type surveyHead struct {
	Rows    int    `json:"rows"`
	Dim     int    `json:"dim"`
	Sparse  bool   `json:"sparse,omitempty"`
	Outputs int    `json:"outputs,omitempty"`
	Format  string `json:"format"`
	Sample  int    `json:"sample"`
	Seed    uint64 `json:"seed"`

	Labelled int      `json:"labelled,omitempty"`
	Overflow bool     `json:"overflow,omitempty"`
	Fraction bool     `json:"fraction,omitempty"`
	Lists    bool     `json:"lists,omitempty"`
	Nominal  bool     `json:"nominal,omitempty"`
	Neither  *float64 `json:"neither,omitempty"`
	Texts    [][]byte `json:"texts,omitempty"`

	Weights *weightCounts `json:"weights,omitempty"`
}

// Write writes the survey as a file of tensors with a checksum; meta is written along and may not have "format" or "survey".
func (p *SurveyPart) Write(w io.Writer, meta map[string]string) error {
	s, sum := p.s, p.s.sum
	l := &sum.labels
	head := surveyHead{Rows: sum.Rows, Dim: sum.Dim, Sparse: sum.Sparse, Outputs: sum.Outputs, Format: sum.format, Sample: s.opt.Sample,
		Seed: s.opt.Seed, Labelled: l.rows, Overflow: l.overflow, Fraction: l.fraction, Lists: l.lists, Nominal: l.nominal, Neither: l.neither}
	if sum.weights.Given {
		head.Weights = &sum.weights
	}
	tensors := map[string]*safetensors.Tensor{}
	put := func(name string, v []float64) {
		if len(v) > 0 {
			tensors[name] = safetensors.Vector(v)
		}
	}
	c := &s.cols
	c.Grow(sum.Dim)
	put("shift", c.Shift)
	put("sum", c.Sum)
	put("square", c.Square)
	put("nonzero", floats(c.NonZero))
	put("fractions", floats(c.Fractions))
	if sum.Dim > 0 {
		tensors["least"] = &safetensors.Tensor{Shape: []int{sum.Dim}, F32: c.Least}
		tensors["greatest"] = &safetensors.Tensor{Shape: []int{sum.Dim}, F32: c.Greatest}
	}
	var labels, rows []float64
	for _, v := range slices.Sorted(maps.Keys(l.numbers)) {
		labels, rows = append(labels, v), append(rows, float64(l.numbers[v]))
	}
	put("labels", labels)
	for _, text := range slices.Sorted(maps.Keys(l.texts)) {
		head.Texts, rows = append(head.Texts, []byte(text)), append(rows, float64(l.texts[text]))
	}
	put("labels.rows", rows)
	var targets []float64
	for _, t := range sum.targets {
		targets = append(targets, t.mean, t.squares)
	}
	put("targets", targets)
	s.putSample(tensors)
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	all := maps.Clone(meta)
	if all == nil {
		all = map[string]string{}
	}
	all["format"], all["survey"] = surveyFormat, string(text)
	return safetensors.Write(w, all, tensors)
}

// putSample writes the sample in the order of the rows.
func (s *surveyor) putSample(tensors map[string]*safetensors.Tensor) {
	sample := slices.Clone(s.sample)
	slices.SortFunc(sample, func(a, b sampleRow) int { return a.number - b.number })
	m := len(sample)
	if m == 0 {
		return
	}
	var keys, at []float64
	var values []float32
	for _, r := range sample {
		keys = append(keys, float64(int64(r.number)>>40), float64(int64(r.number)&(1<<40-1)), float64(len(r.val)))
		values = append(values, r.val...)
		for _, j := range r.idx {
			at = append(at, float64(j))
		}
	}
	tensors["sample.keys"] = &safetensors.Tensor{Shape: []int{m, 3}, F64: keys}
	if len(values) > 0 {
		tensors["sample"] = &safetensors.Tensor{Shape: []int{len(values)}, F32: values}
	}
	if len(at) > 0 {
		tensors["sample.index"] = safetensors.Vector(at)
	}
}

// ReadSurveyPart reads a survey of size bytes, and its metadata.
func ReadSurveyPart(r io.Reader, size int64) (*SurveyPart, map[string]string, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, nil, err
	}
	if meta["format"] != surveyFormat {
		return nil, nil, errors.New("is no survey of rows")
	}
	var head surveyHead
	if err := json.Unmarshal([]byte(meta["survey"]), &head); err != nil {
		return nil, nil, fmt.Errorf("the survey's description: %w", err)
	}
	if head.Rows < 0 || head.Dim < 0 || head.Outputs < 0 || head.Labelled < 0 || head.Sample < 0 {
		return nil, nil, fmt.Errorf("a survey of %d rows of %d dimensions", head.Rows, head.Dim)
	}
	s := &surveyor{opt: SurveyOptions{Seed: head.Seed, Sample: head.Sample}}
	s.sum = &Summary{Rows: head.Rows, Dim: head.Dim, Sparse: head.Sparse, Outputs: head.Outputs, format: head.Format}
	if head.Weights != nil {
		s.sum.weights = *head.Weights
	}
	t := safetensors.Tensors(tensors)
	if head.Dim > 0 {
		if s.cols, err = readColumns(t, head.Dim); err != nil {
			return nil, nil, err
		}
	}
	if err := s.sum.labels.read(&head, t); err != nil {
		return nil, nil, err
	}
	if head.Outputs > 0 && head.Rows > 0 {
		v, err := t.Want("targets", true, 2*head.Outputs)
		if err != nil {
			return nil, nil, err
		}
		for i := range head.Outputs {
			s.sum.targets = append(s.sum.targets, spreads{v.F64[2*i], v.F64[2*i+1]})
		}
	}
	return &SurveyPart{s}, meta, s.readSample(t)
}

// readColumns reads the statistics of columns.
func readColumns(t safetensors.Tensors, dim int) (c vec.Survey32, err error) {
	var lists [5][]float64
	for i, name := range []string{"shift", "sum", "square", "nonzero", "fractions"} {
		v, err := t.Want(name, true, dim)
		if err != nil {
			return c, err
		}
		lists[i] = v.F64
	}
	least, err := t.Want("least", false, dim)
	if err != nil {
		return c, err
	}
	greatest, err := t.Want("greatest", false, dim)
	if err != nil {
		return c, err
	}
	c = vec.Survey32{Shift: lists[0], Sum: lists[1], Square: lists[2], Least: least.F32, Greatest: greatest.F32}
	if c.NonZero, err = counts[int64](lists[3], "nonzero"); err != nil {
		return c, err
	}
	c.Fractions, err = counts[int64](lists[4], "fractions")
	return c, err
}

// read reads the labels.
func (l *labelCounts) read(head *surveyHead, t safetensors.Tensors) error {
	l.rows, l.overflow, l.fraction, l.lists, l.neither = head.Labelled, head.Overflow, head.Fraction, head.Lists, head.Neither
	l.nominal = head.Nominal
	var labels []float64
	if v := t["labels"]; v != nil {
		labels = v.F64
	}
	n := len(labels) + len(head.Texts)
	if n == 0 {
		return nil
	}
	v, err := t.Want("labels.rows", true, n)
	if err != nil {
		return err
	}
	rows, err := counts[int](v.F64, "labels.rows")
	if err != nil {
		return err
	}
	l.numbers, l.texts = map[float64]int{}, map[string]int{}
	for i, y := range labels {
		l.numbers[y] = rows[i]
	}
	for i, text := range head.Texts {
		l.texts[string(text)] = rows[len(labels)+i]
	}
	return nil
}

// readSample reads the sample.
func (s *surveyor) readSample(t safetensors.Tensors) error {
	keys := t["sample.keys"]
	if keys == nil {
		return nil
	}
	if len(keys.Shape) != 2 || keys.Shape[1] != 3 || keys.F64 == nil {
		return fmt.Errorf("tensor %q has shape %v", "sample.keys", keys.Shape)
	}
	var values []float32
	if v := t["sample"]; v != nil {
		values = v.F32
	}
	var at []float64
	if v := t["sample.index"]; v != nil {
		at = v.F64
	}
	for i := range keys.Shape[0] {
		k := keys.F64[3*i : 3*i+3]
		key, err := rowKeyOf(k[0], k[1])
		if err != nil {
			return err
		}
		n := k[2]
		if n != math.Trunc(n) || n < 0 || n > float64(len(values)) || !s.sum.Sparse && n != float64(s.sum.Dim) || s.sum.Sparse && n > float64(len(at)) {
			return fmt.Errorf("tensor %q: row %d has %g values", "sample.keys", i, n)
		}
		row := sampleRow{hash: random.Hash(s.opt.Seed, "survey-sample", uint64(key)), number: key, val: values[:int(n):int(n)]}
		values = values[int(n):]
		if s.sum.Sparse {
			last := -1.0
			for _, j := range at[:int(n)] {
				if j <= last || j != math.Trunc(j) || j >= float64(s.sum.Dim) {
					return fmt.Errorf("tensor %q: dimension %g after %g of %d", "sample.index", j, last, s.sum.Dim)
				}
				row.idx, last = append(row.idx, int32(j)), j
			}
			at = at[int(n):]
		}
		s.sample = append(s.sample, row)
	}
	return nil
}
