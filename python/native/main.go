// Command native is the library that the Python package mercer loads: `go build -buildmode=c-shared`.
//
// Arrays belong to Python and are read and written where they are; Python keeps them until a call, or the job it
// started, has ended. Each function returns nil or the text of an error, which mercer_free frees.
package main

/*
#include <stdint.h>
#include <stdlib.h>

typedef struct {
	const void *data;     // float32, float64, or the float32 values of a sparse matrix
	int64_t rows, cols, stride, step; // in numbers, between rows and between columns
	int64_t kind;         // 0: float32, 1: float64, 2: sparse
	const int64_t *ptr;   // of a sparse matrix
	const int32_t *idx;
	int64_t first;        // the number of the first row, for messages
} mercer_rows;
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"runtime/debug"
	"strings"
	"unsafe"

	"mercer/dataset"
	"mercer/internal/engine/cluster"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/vec"
	"mercer/internal/reach/export"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

func main() {}

func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
	}
}

// guard runs a call, and makes text of what goes wrong.
func guard(body func() error) *C.char {
	err := func() (err error) {
		defer recovered(&err)
		return body()
	}()
	if err == nil {
		return nil
	}
	return C.CString(err.Error())
}

func arrayOf(r *C.mercer_rows) (*array, error) {
	a := &array{rows: int(r.rows), cols: int(r.cols), stride: int(r.stride), step: int(r.step), first: int(r.first)}
	n := 0
	if a.rows > 0 && a.cols > 0 {
		n = (a.rows-1)*a.stride + (a.cols-1)*a.step + 1
	}
	switch r.kind {
	case 0:
		a.f32 = unsafe.Slice((*float32)(r.data), n)
	case 1:
		a.f64 = unsafe.Slice((*float64)(r.data), n)
		if a.f64 == nil {
			a.f64 = []float64{}
		}
	default:
		ptr := unsafe.Slice((*int)(unsafe.Pointer(r.ptr)), a.rows+1)
		nnz := ptr[a.rows]
		a.csr = &matrix.CSR{Rows: a.rows, Cols: a.cols, Ptr: ptr}
		a.csr.Idx, a.csr.Val = unsafe.Slice((*int32)(r.idx), nnz), unsafe.Slice((*float32)(r.data), nnz)
		if ptr[0] != 0 {
			return nil, errors.New("the sparse matrix does not begin at 0")
		}
		for i := range a.rows {
			if ptr[i+1] < ptr[i] || ptr[i+1] > nnz {
				return nil, fmt.Errorf("the pointers of the sparse matrix fall at row %d", i)
			}
			for k := ptr[i]; k < ptr[i+1]; k++ {
				if v := a.csr.Idx[k]; v < 0 || int(v) >= a.cols || k > ptr[i] && v <= a.csr.Idx[k-1] {
					return nil, fmt.Errorf("the columns of row %d of the sparse matrix do not increase within its width", i)
				}
			}
		}
	}
	return a, nil
}

func decode(text *C.char, into any) error {
	d := json.NewDecoder(strings.NewReader(C.GoString(text)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// about is what Python says of a training beside its arrays.
type about struct {
	Config  train.Config    `json:"config"`
	Classes []string        `json:"classes"`
	Columns []string        `json:"columns"`
	Outputs int             `json:"outputs"`
	MapOnly bool            `json:"map_only"`
	Table   []column        `json:"table"`
	Rows    int             `json:"rows"`
	Options dataset.Options `json:"options"`
}

//export mercer_fit
func mercer_fit(text *C.char, rows *C.mercer_rows, y *C.double, codes *C.int32_t, weights *C.double, out *C.uintptr_t) *C.char {
	return guard(func() error {
		var a about
		if err := decode(text, &a); err != nil {
			return err
		}
		x, err := arrayOf(rows)
		if err != nil {
			return err
		}
		s := &source{x: x, outputs: a.Outputs, classes: a.Classes, schema: dataset.Schema{Format: "rows", Dim: x.cols}}
		if y != nil {
			s.y = unsafe.Slice((*float64)(unsafe.Pointer(y)), x.rows*a.Outputs)
		}
		if codes != nil {
			s.codes = unsafe.Slice((*int32)(unsafe.Pointer(codes)), x.rows)
			for i, c := range s.codes {
				if c < 0 || int(c) >= len(a.Classes) {
					return fmt.Errorf("row %d: class %d of %d", i, c, len(a.Classes))
				}
			}
		}
		if weights != nil {
			s.weights = unsafe.Slice((*float64)(unsafe.Pointer(weights)), x.rows)
		}
		if a.Columns != nil {
			s.schema.Format, s.schema.Header, s.schema.Width = "csv", true, len(a.Columns)+1
			for i, name := range a.Columns {
				s.schema.Columns = append(s.schema.Columns, dataset.Column{Place: dataset.Place{Name: name, At: i}})
			}
			if s.codes != nil || s.y != nil {
				s.schema.Labels = []dataset.Place{{Name: a.Options.Label, At: len(a.Columns)}}
			}
		}
		*out = C.uintptr_t(cgo.NewHandle(start(opened(s), a.Config, a.MapOnly, x.rows, len(a.Classes))))
		return nil
	})
}

// opened is a source that needs no closing.
func opened(s dataset.Source) func(context.Context) (dataset.Source, func() error, error) {
	return func(context.Context) (dataset.Source, func() error, error) {
		return s, func() error { return nil }, nil
	}
}

func tableOf(columns []column, rows int, arrays *unsafe.Pointer) (*table, error) {
	t := &table{rows: rows, columns: columns}
	for i, p := range unsafe.Slice(arrays, len(columns)) {
		if c := &t.columns[i]; c.Kind == "number" {
			c.numbers = unsafe.Slice((*float64)(p), rows)
		} else {
			c.codes = unsafe.Slice((*int32)(p), rows)
		}
	}
	return t, t.prepare()
}

//export mercer_fit_table
func mercer_fit_table(text *C.char, arrays *unsafe.Pointer, out *C.uintptr_t) *C.char {
	return guard(func() error {
		var a about
		if err := decode(text, &a); err != nil {
			return err
		}
		t, err := tableOf(a.Table, a.Rows, arrays)
		if err != nil {
			return err
		}
		open := func(ctx context.Context) (dataset.Source, func() error, error) {
			src, err := t.source(ctx, a.Options)
			if err != nil {
				return nil, nil, err
			}
			return src, src.Close, nil
		}
		*out = C.uintptr_t(cgo.NewHandle(start(open, a.Config, a.MapOnly, a.Rows, len(a.Classes))))
		return nil
	})
}

// clustering is what Python asks of k-means.
type clustering struct {
	Rows, Width, Clusters, Starts, Iterations int
	Seed                                      uint64
}

//export mercer_cluster
func mercer_cluster(text *C.char, x *C.float, weights *C.double, centres *C.float, nearest *C.int32_t, about *C.double, out *C.uintptr_t) *C.char {
	return guard(func() error {
		var a clustering
		if err := decode(text, &a); err != nil {
			return err
		}
		z := &matrix.Dense{Rows: a.Rows, Cols: a.Width, Stride: a.Width, Data: unsafe.Slice((*float32)(unsafe.Pointer(x)), a.Rows*a.Width)}
		var w []float64
		if weights != nil {
			w = unsafe.Slice((*float64)(unsafe.Pointer(weights)), a.Rows)
		}
		into := unsafe.Slice((*float32)(unsafe.Pointer(centres)), a.Clusters*a.Width)
		which := unsafe.Slice((*int32)(unsafe.Pointer(nearest)), a.Rows)
		told := unsafe.Slice((*float64)(unsafe.Pointer(about)), 3)
		*out = C.uintptr_t(cgo.NewHandle(startJob(func(ctx context.Context, j *job) error {
			r, err := cluster.KMeans(ctx, z, w, cluster.Options{Clusters: a.Clusters, Starts: a.Starts, Iterations: a.Iterations, Seed: a.Seed,
				Progress: func(starts int) { j.tell("cluster", a.Rows, float64(starts)/float64(max(a.Starts, 1))) }})
			if err != nil {
				return err
			}
			copy(into, r.Centres.Data)
			for i, k := range r.Nearest {
				which[i] = int32(k)
			}
			told[0], told[1], told[2] = r.Inertia, float64(r.Iterations), float64(r.Centres.Rows)
			return nil
		})))
		return nil
	})
}

//export mercer_wait
func mercer_wait(h C.uintptr_t, ms C.int) C.int {
	if cgo.Handle(h).Value().(*job).wait(int(ms)) {
		return 1
	}
	return 0
}

//export mercer_progress
func mercer_progress(h C.uintptr_t) *C.char {
	return C.CString(string(cgo.Handle(h).Value().(*job).progress()))
}

//export mercer_cancel
func mercer_cancel(h C.uintptr_t) { cgo.Handle(h).Value().(*job).cancel() }

//export mercer_result
func mercer_result(h C.uintptr_t, out *C.uintptr_t) *C.char {
	return guard(func() error {
		j := cgo.Handle(h).Value().(*job)
		<-j.done
		if j.err != nil {
			return j.err
		}
		if j.got != nil {
			*out = C.uintptr_t(cgo.NewHandle(j.got))
		}
		return nil
	})
}

//export mercer_release
func mercer_release(h C.uintptr_t) { cgo.Handle(h).Delete() }

//export mercer_free
func mercer_free(p unsafe.Pointer) { C.free(p) }

//export mercer_threads
func mercer_threads(n C.int) C.int { return C.int(runtime.GOMAXPROCS(min(int(n), vec.MostThreads))) }

func fittedOf(h C.uintptr_t) *fitted { return cgo.Handle(h).Value().(*fitted) }

func put(m *model.Model, out *C.uintptr_t) {
	*out = C.uintptr_t(cgo.NewHandle(&fitted{m: m, p: m.Pipeline(), schema: m.Info().Schema}))
}

//export mercer_load
func mercer_load(path *C.char, out *C.uintptr_t) *C.char {
	return guard(func() error {
		m, err := model.Load(C.GoString(path))
		if err == nil {
			put(m, out)
		}
		return err
	})
}

//export mercer_save
func mercer_save(h C.uintptr_t, path *C.char) *C.char {
	return guard(func() error {
		f := fittedOf(h)
		if f.m == nil {
			return errors.New("a map without a learner is no model file; pickle it")
		}
		return f.m.Save(C.GoString(path))
	})
}

//export mercer_export
func mercer_export(h C.uintptr_t, path, target *C.char) *C.char {
	return guard(func() error {
		f := fittedOf(h)
		if f.m == nil {
			return errors.New("a map without a learner cannot be exported")
		}
		return export.Write(C.GoString(path), C.GoString(target), f.m, export.Options{})
	})
}

// mapMeta describes a map in the bytes of a pickle.
type mapMeta struct {
	Description pipeline.Description
	Schema      dataset.Schema
}

//export mercer_bytes
func mercer_bytes(h C.uintptr_t, out *unsafe.Pointer, size *C.int64_t) *C.char {
	return guard(func() error {
		var b bytes.Buffer
		f := fittedOf(h)
		if f.m != nil {
			if err := f.m.Write(&b); err != nil {
				return err
			}
		} else {
			in, _ := f.p.Dims()
			s := f.p.Scaler()
			d := pipeline.Description{In: in, Scale: s.Kind, Densify: s.Densify, Kernel: f.p.Kernel(), Feature: f.p.Feature()}
			meta, err := json.Marshal(mapMeta{d, f.schema})
			if err != nil {
				return err
			}
			tensors := map[string]*safetensors.Tensor{}
			f.p.AddTensors(tensors, "")
			if err := safetensors.Write(&b, map[string]string{"mercer.python.map": string(meta)}, tensors); err != nil {
				return err
			}
		}
		*out, *size = C.CBytes(b.Bytes()), C.int64_t(b.Len())
		return nil
	})
}

//export mercer_read
func mercer_read(data unsafe.Pointer, size C.int64_t, out *C.uintptr_t) *C.char {
	return guard(func() error {
		b := unsafe.Slice((*byte)(data), int(size))
		if !bytes.Contains(b[:min(len(b), 1<<20)], []byte("mercer.python.map")) {
			m, err := model.Read(bytes.NewReader(b), int64(size))
			if err == nil {
				put(m, out)
			}
			return err
		}
		meta, tensors, err := safetensors.Read(bytes.NewReader(b), int64(size))
		if err != nil {
			return err
		}
		var d mapMeta
		if err := json.Unmarshal([]byte(meta["mercer.python.map"]), &d); err != nil {
			return err
		}
		p, err := pipeline.Restore(d.Description, tensors)
		if err == nil {
			*out = C.uintptr_t(cgo.NewHandle(&fitted{p: p, schema: d.Schema}))
		}
		return err
	})
}

//export mercer_info
func mercer_info(h C.uintptr_t, out **C.char) *C.char {
	return guard(func() error {
		f := fittedOf(h)
		in, features := f.p.Dims()
		columns := dataset.NewEncoder(&f.schema).Columns()
		plain := len(columns) == in && (f.schema.Missing == "" || f.schema.Missing == "error")
		moments := []string{}
		for _, c := range f.schema.Columns {
			plain = plain && c.Categories == nil && c.Coding == nil && !c.Indicator
			if c.Coding != nil && strings.Contains(strings.Join(c.Coding.Layouts, " "), "15:04") {
				moments = append(moments, c.Name)
			}
		}
		all := map[string]any{"dim": in, "features": features, "columns": columns, "plain": plain, "moments": moments,
			"table": f.schema.Columns != nil, "feature": f.p.Feature(), "scale": f.p.Scaler().Kind}
		if f.m != nil {
			all["model"], all["probabilities"], all["outputs"] = f.m.Info(), f.m.HasProbabilities(), f.m.Outputs()
			all["calibration"] = ""
			if c := f.m.Info().Training.Calibration; c != nil {
				all["calibration"] = c.Method
			}
			all["bags"] = f.m.Bag() != nil
		}
		b, err := json.Marshal(all)
		if err == nil {
			*out = C.CString(string(b))
		}
		return err
	})
}

//export mercer_encode
func mercer_encode(h C.uintptr_t, text *C.char, arrays *unsafe.Pointer, dst *C.float) *C.char {
	return guard(func() error {
		var a about
		if err := decode(text, &a); err != nil {
			return err
		}
		t, err := tableOf(a.Table, a.Rows, arrays)
		if err != nil {
			return err
		}
		e := dataset.NewEncoder(&fittedOf(h).schema)
		return t.encode(e, unsafe.Slice((*float32)(unsafe.Pointer(dst)), a.Rows*e.Dim()))
	})
}

//export mercer_predict
func mercer_predict(h C.uintptr_t, rows *C.mercer_rows, scores *C.float, classes *C.int64_t, proba *C.double, width C.int64_t) *C.char {
	return guard(func() error {
		f := fittedOf(h)
		x, err := arrayOf(rows)
		if err != nil {
			return err
		}
		if f.m == nil || x.cols != f.m.Dim() {
			return fmt.Errorf("the rows have %d numbers, but the model was trained on %d", x.cols, f.m.Dim())
		}
		s := unsafe.Slice((*float32)(unsafe.Pointer(scores)), x.rows*f.m.Outputs())
		var c []int64
		var p []float64
		if classes != nil {
			c = unsafe.Slice((*int64)(unsafe.Pointer(classes)), x.rows)
		}
		if proba != nil {
			p = unsafe.Slice((*float64)(unsafe.Pointer(proba)), x.rows*int(width))
		}
		return f.predict(x, s, c, p)
	})
}

//export mercer_transform
func mercer_transform(h C.uintptr_t, rows *C.mercer_rows, dst *C.float) *C.char {
	return guard(func() error {
		x, err := arrayOf(rows)
		if err != nil {
			return err
		}
		f := fittedOf(h)
		_, d := f.p.Dims()
		return f.transform(x, unsafe.Slice((*float32)(unsafe.Pointer(dst)), x.rows*d))
	})
}
