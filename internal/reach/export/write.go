package export

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/option"
	"mercer/internal/engine/safetensors"
	"mercer/model"
)

// Targets are the kinds of files that Write makes.
var Targets = []string{"npz", "safetensors", "onnx", "postgres", "sqlite", "duckdb", "go", "js", "c"}

// Options are what a target takes besides the model.
type Options struct {
	View  string // of SQL: the name of the view, and how those of its tables begin; "" for model
	Table string // of SQL: the table or view with the rows to score; "" for rows

	Package string // of Go: the name of the package; of C: how all names begin; "" for model
	Int8    bool   // of C: weights take a byte each
}

// Write exports a model to a file that appears whole or not at all. target is one of Targets. It fails for a model
// with a part that the target cannot express, and names that part.
func Write(path, target string, m *model.Model, o Options) error {
	if !slices.Contains(Targets, target) {
		return option.Errorf("%s %q is not known; known are %s", option.Ref("target"), target, strings.Join(Targets, ", "))
	}
	content, err := contents(target, m, o)
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<16)
	if err = content(w); err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Commit()
}

func (o Options) orDefault() Options {
	if o.View == "" {
		o.View = "model"
	}
	if o.Table == "" {
		o.Table = "rows"
	}
	if o.Package == "" {
		o.Package = "model"
	}
	return o
}

// contents returns what writes a model as a target, once it is certain that the target can express it.
func contents(target string, m *model.Model, o Options) (func(w io.Writer) error, error) {
	if target == "onnx" {
		message, err := toONNX(m)
		return func(w io.Writer) error {
			_, err := w.Write(message)
			return err
		}, err
	}
	if d := dialects[target]; d != nil {
		return toSQL(m, o.orDefault(), d)
	}
	if l := tongues[target]; l != nil {
		return toSource(m, o.orDefault(), l)
	}
	x, err := describe(m)
	if err != nil {
		return nil, err
	}
	if err := x.plain(m); err != nil {
		return nil, err
	}
	text, err := json.Marshal(x.description)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		if target == "npz" {
			return writeNPZ(w, text, x.tensors)
		}
		return safetensors.Write(w, map[string]string{"mercer": string(text)}, x.tensors)
	}, nil
}

// writeNPZ writes a zip archive of arrays in NumPy's format, stored without compression: the description as bytes
// under the name mercer, then the tensors in the order of their names.
func writeNPZ(w io.Writer, text []byte, tensors map[string]*safetensors.Tensor) error {
	z := zip.NewWriter(w)
	if err := writeArray(z, "mercer", "|u1", []int{len(text)}, text); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		kind, numbers := "<f4", any(t.F32)
		if t.F64 != nil {
			kind, numbers = "<f8", t.F64
		}
		if err := writeArray(z, name, kind, t.Shape, numbers); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeArray adds an array with a header of version 1.0.
func writeArray(z *zip.Writer, name, kind string, shape []int, numbers any) error {
	sizes := ""
	for _, n := range shape {
		sizes += strconv.Itoa(n) + ","
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, sizes)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	first := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	if _, err := w.Write(append(first, head...)); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, numbers)
}
