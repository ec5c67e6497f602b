package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"mercer/internal/engine/safetensors"
)

// A look is kept in a file of tensors. Texts are bytes, which JSON writes in base64, since a table need not be UTF-8.

// lookColumn is the part of a column that is no list of numbers.
type lookColumn struct {
	Missing  int      `json:"missing,omitempty"`
	Fraction bool     `json:"fraction,omitempty"`
	Rising   bool     `json:"rising,omitempty"`
	Many     bool     `json:"many,omitempty"`
	Values   [][]byte `json:"values,omitempty"`
	Bounds   int      `json:"bounds,omitempty"`
	Bound    string   `json:"bound,omitempty"` // the first
	Signs    int      `json:"signs,omitempty"`
	Sign     string   `json:"sign,omitempty"` // the first
}

// lookFormat names the format in the metadata.
const lookFormat = "mercer-look"

// Write writes the look as a file of tensors with a checksum; meta is written along and may not have "format", "rows" or "columns".
func (l *Look) Write(w io.Writer, meta map[string]string) error {
	c := l.found
	n := len(c.columns)
	columns := make([]lookColumn, n)
	tensors := map[string]*safetensors.Tensor{}
	var least, greatest, sum, first, last []float64
	for j := range c.columns {
		col := &c.columns[j]
		columns[j] = lookColumn{Missing: col.missing, Fraction: col.fraction, Rising: col.rising, Many: col.many}
		if j < len(l.bounds) {
			columns[j].Bounds, columns[j].Bound = l.bounds[j].rows, l.bounds[j].first
			columns[j].Signs, columns[j].Sign = l.signs[j].rows, l.signs[j].first
		}
		for _, v := range col.values {
			columns[j].Values = append(columns[j].Values, []byte(v))
		}
		least, greatest, sum = append(least, col.min), append(greatest, col.max), append(sum, col.sum)
		first, last = append(first, col.first), append(last, col.last)
		at := strconv.Itoa(j)
		if col.numbers.n > 0 {
			tensors["numbers."+at] = safetensors.Vector(col.numbers.sorted())
		}
		if len(col.counts) > 0 {
			tensors["counts."+at] = safetensors.Vector(floats(col.counts))
		}
		if j < len(l.documents) && len(l.documents[j]) > 0 {
			tensors["documents."+at] = safetensors.Vector(floats(l.documents[j]))
		}
	}
	if n > 0 {
		for name, v := range map[string][]float64{"min": least, "max": greatest, "sum": sum, "first": first, "last": last} {
			tensors[name] = safetensors.Vector(v)
		}
	}
	if m := len(c.sample); m > 0 {
		cells, keys := make([]float64, 0, m*n), make([]float64, 0, 2*m)
		for _, row := range c.sample {
			cells, keys = append(cells, row.values...), append(keys, float64(int64(row.row)>>40), float64(int64(row.row)&(1<<40-1)))
		}
		tensors["sample"] = &safetensors.Tensor{Shape: []int{m, n}, F64: cells}
		tensors["sample.keys"] = &safetensors.Tensor{Shape: []int{m, 2}, F64: keys}
	}
	text, err := json.Marshal(columns)
	if err != nil {
		return err
	}
	all := maps.Clone(meta)
	if all == nil {
		all = map[string]string{}
	}
	all["format"], all["rows"], all["columns"] = lookFormat, strconv.Itoa(c.rows), string(text)
	return safetensors.Write(w, all, tensors)
}

func floats[T int | int64](list []T) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// counts turns numbers that stand for counts into these.
func counts[T int | int64](list []float64, name string) ([]T, error) {
	out := make([]T, len(list))
	for i, v := range list {
		if v != math.Trunc(v) || v < 0 || v > 1<<53 {
			return nil, fmt.Errorf("tensor %q: element %d is %g, which counts nothing", name, i, v)
		}
		out[i] = T(v)
	}
	return out, nil
}

// ReadLook reads a look of size bytes, and its metadata.
func ReadLook(r io.Reader, size int64) (*Look, map[string]string, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, nil, err
	}
	if meta["format"] != lookFormat {
		return nil, nil, errors.New("is no look at rows of a table")
	}
	var columns []lookColumn
	if err := json.Unmarshal([]byte(meta["columns"]), &columns); err != nil {
		return nil, nil, fmt.Errorf("the columns' description: %w", err)
	}
	c := &collected{columns: make([]collectedColumn, len(columns))}
	if c.rows, err = strconv.Atoi(meta["rows"]); err != nil || c.rows < 0 {
		return nil, nil, fmt.Errorf("%q rows", meta["rows"])
	}
	n := len(columns)
	l := &Look{found: c, documents: make([][]int64, n), bounds: make([]boundCount, n), signs: make([]boundCount, n)}
	if n == 0 {
		return l, meta, nil
	}
	t := safetensors.Tensors(tensors)
	vectors := map[string][]float64{}
	for _, name := range []string{"min", "max", "sum", "first", "last"} {
		v, err := t.Want(name, true, n)
		if err != nil {
			return nil, nil, err
		}
		vectors[name] = v.F64
	}
	for j := range columns {
		d, at := &columns[j], strconv.Itoa(j)
		col := collectedColumn{missing: d.Missing, fraction: d.Fraction, rising: d.Rising, many: d.Many,
			min: vectors["min"][j], max: vectors["max"][j], sum: vectors["sum"][j], first: vectors["first"][j], last: vectors["last"][j]}
		if col.missing < 0 || col.missing > c.rows {
			return nil, nil, fmt.Errorf("column %d: %d of %d rows are missing", j, col.missing, c.rows)
		}
		if v := tensors["numbers."+at]; v != nil {
			for _, x := range v.F64 {
				col.numbers.add(x)
			}
		}
		for _, v := range d.Values {
			col.values = append(col.values, string(v))
		}
		if !slices.IsSorted(col.values) {
			return nil, nil, fmt.Errorf("column %d: the texts are not sorted", j)
		}
		if len(col.values) > 0 {
			v, err := t.Want("counts."+at, true, len(col.values))
			if err != nil {
				return nil, nil, err
			}
			if col.counts, err = counts[int](v.F64, "counts."+at); err != nil {
				return nil, nil, err
			}
		}
		if v := tensors["documents."+at]; v != nil {
			if l.documents[j], err = counts[int64](v.F64, "documents."+at); err != nil {
				return nil, nil, err
			}
		}
		c.columns[j] = col
		l.bounds[j] = boundCount{rows: d.Bounds, first: d.Bound}
		l.signs[j] = boundCount{rows: d.Signs, first: d.Sign}
	}
	return l, meta, l.readSample(t)
}

// readSample reads the sample.
func (l *Look) readSample(t safetensors.Tensors) error {
	cells := t["sample"]
	if cells == nil {
		return nil
	}
	c := l.found
	n := len(c.columns)
	if len(cells.Shape) != 2 || cells.Shape[1] != n || cells.F64 == nil {
		return fmt.Errorf("tensor %q has shape %v", "sample", cells.Shape)
	}
	keys, err := t.Want("sample.keys", true, cells.Shape[0], 2)
	if err != nil {
		return err
	}
	for i := range cells.Shape[0] {
		key, err := rowKeyOf(keys.F64[2*i], keys.F64[2*i+1])
		if err != nil {
			return err
		}
		row := drawnCell{row: key, values: cells.F64[i*n : (i+1)*n : (i+1)*n]}
		for j, v := range row.values {
			if k := len(c.columns[j].values); k > 0 && v == v && (v != math.Trunc(v) || v < 0 || v >= float64(k)) {
				return fmt.Errorf("tensor %q: row %d has the text %g of %d", "sample", i, v, k)
			}
		}
		c.sample = append(c.sample, row)
	}
	c.hashed()
	return nil
}

// rowKeyOf is RowKey of a pair of numbers in a file.
func rowKeyOf(piece, row float64) (int, error) {
	if piece != math.Trunc(piece) || row != math.Trunc(row) || piece < 0 || piece >= maxPieces || row < 0 || row >= 1<<40 {
		return 0, fmt.Errorf("there is no row %g of piece %g", row, piece)
	}
	return RowKey(int(piece), int(row)), nil
}
