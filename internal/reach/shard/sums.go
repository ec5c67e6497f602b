package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"

	"mercer/dataset"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/rfm"
	"mercer/train"
)

// sum is what a round finds of adjacent pieces.
type sum interface {
	rows() int
	merge(next sum) error // adds the rows that follow
	write(w io.Writer, meta map[string]string) error
}

type lookSum struct{ *dataset.Look }

func (s lookSum) rows() int            { return s.Rows() }
func (s lookSum) merge(next sum) error { return s.Merge(next.(lookSum).Look) }
func (s lookSum) write(w io.Writer, meta map[string]string) error {
	return s.Write(w, meta)
}

type surveySum struct{ *dataset.SurveyPart }

func (s surveySum) rows() int            { return s.Rows() }
func (s surveySum) merge(next sum) error { return s.Merge(next.(surveySum).SurveyPart) }
func (s surveySum) write(w io.Writer, meta map[string]string) error {
	return s.Write(w, meta)
}

func readSurvey(r io.Reader, size int64) (sum, map[string]string, error) {
	s, meta, err := dataset.ReadSurveyPart(r, size)
	return surveySum{s}, meta, err
}

// meanSum are the sums of targets by columns.
type meanSum struct{ *train.Means }

func (s meanSum) rows() int            { return s.Rows() }
func (s meanSum) merge(next sum) error { return s.Merge(next.(meanSum).Means) }
func (s meanSum) write(w io.Writer, meta map[string]string) error {
	return s.Write(w, meta)
}

// momentSum are the statistics of parts of the rows.
type momentSum []*moments.Stats

func (s momentSum) rows() int {
	n := 0
	for _, p := range s {
		n += p.Rows()
	}
	return n
}

func (s momentSum) merge(next sum) error {
	o := next.(momentSum)
	if len(s) != len(o) {
		return fmt.Errorf("statistics of %d parts of the rows, and of %d of those before", len(o), len(s))
	}
	for i, p := range s {
		d, k := p.Dims()
		if a, b := o[i].Dims(); a != d || b != k {
			return fmt.Errorf("statistics of %d features and %d targets, and of %d and %d before", a, b, d, k)
		}
		p.Merge(o[i])
	}
	return nil
}

func (s momentSum) write(w io.Writer, meta map[string]string) error {
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return (&moments.File{Pipeline: text, Parts: s}).Write(w)
}

// passSum is what a pass of a learner wants.
type passSum struct{ *learn.SharedSums }

func (s passSum) rows() int            { return s.Rows }
func (s passSum) merge(next sum) error { return s.Merge(next.(passSum).SharedSums) }

const passFormat = "mercer-pass"

func (s passSum) write(w io.Writer, meta map[string]string) error {
	all := maps.Clone(meta)
	all["format"], all["rows"], all["pass"] = passFormat, strconv.Itoa(s.Rows), strconv.Itoa(s.Pass)
	tensors := map[string]*safetensors.Tensor{"sums": safetensors.Vector(s.Values)}
	if s.Next != nil {
		all["done"], tensors["next"] = strconv.FormatBool(s.Done), safetensors.Vector(s.Next)
	}
	return safetensors.Write(w, all, tensors)
}

// readPass reads the sums of a pass.
func readPass(r io.Reader, size int64) (sum, map[string]string, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, nil, err
	}
	rows, err := strconv.Atoi(meta["rows"])
	pass, err2 := strconv.Atoi(meta["pass"])
	t := tensors["sums"]
	if err != nil || err2 != nil || meta["format"] != passFormat || rows < 0 || t == nil || t.F64 == nil {
		return nil, nil, errors.New("has no sums of a pass")
	}
	sums := &learn.SharedSums{Rows: rows, Pass: pass, Values: t.F64, Done: meta["done"] == "true"}
	if next := tensors["next"]; next != nil {
		sums.Next = next.F64
	}
	return passSum{sums}, meta, nil
}

// readSum reads what a round wrote to a file, and its description.
func (w *Worker) readSum(ctx context.Context, round, file string, r io.Reader, size int64) (sum, map[string]string, error) {
	switch round {
	case roundSample:
		if file == merged(round) {
			meta, err := w.sharded.ReadTop(ctx, r, size)
			return topSum{w.sharded}, meta, err
		}
		rows, meta, err := rfm.ReadRows(r, size)
		return sampleSum{rows}, meta, err
	case roundMeans:
		m, meta, err := w.sharded.ReadMeans(r, size, w.all)
		if err == nil && file == merged(round) {
			err = w.sharded.TakeMeans(m, w.all)
		}
		return meanSum{m}, meta, err
	case roundColumns:
		if w.sharded.HasMeans() {
			return readSurvey(r, size)
		}
		return readList(r)
	case roundRows, roundLeaves:
		return readList(r)
	case roundLook:
		l, meta, err := dataset.ReadLook(r, size)
		return lookSum{l}, meta, err
	case roundSurvey:
		return readSurvey(r, size)
	case roundStatistics:
	default:
		return readPass(r, size)
	}
	f, err := moments.ReadFile(r, size)
	if err != nil {
		return nil, nil, err
	}
	meta := map[string]string{}
	return momentSum(f.Parts), meta, json.Unmarshal(f.Pipeline, &meta)
}
