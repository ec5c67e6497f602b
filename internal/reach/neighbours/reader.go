package neighbours

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
	"unsafe"

	"mercer/internal/engine/remote"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// Open opens the index at a path. Its features are mapped into memory where the system can, and checked when Verify,
// a change of the index or the first search of all rows reads them; all else is checked now.
func Open(path string) (*Index, error) {
	if remote.Is(path) {
		return openObject(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is no file; an index is read at many places, so copy it to one", path)
	}
	// A file of another kind is not read.
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("%s: not an index; mercer index makes one", path)
	}
	b, free := mapped(f, st.Size()), unmap
	if b == nil {
		free = func([]byte) {}
		b = words(st.Size())
		if _, err := f.ReadAt(b, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return opened(path, b, free)
}

// openObject opens an object of a store, which is read whole.
func openObject(address string) (*Index, error) {
	r, size, err := remote.Read(context.Background(), address)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("%s: not an index; mercer index makes one", address)
	}
	b := words(size)
	if _, err := io.ReadFull(r, b[copy(b, head):]); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return opened(address, b, func([]byte) {})
}

// opened is the index in the bytes of a file.
func opened(path string, b []byte, free func([]byte)) (*Index, error) {
	var x *Index
	if err := guarded(path, func() error {
		var err error
		if x, err = parse(b); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return err
	}); err != nil {
		free(b)
		return nil, err
	}
	x.path, x.free = path, func() { free(b) }
	return x, nil
}

// words are n bytes whose address is a multiple of 8.
func words(n int64) []byte {
	w := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), n)
}

// mostBytes bounds what the map of an index, and that of its codes, may hold, however much MERCER_MAX_MEMORY allows. Tests of damaged files make it less.
var mostBytes int64 = 16 << 30

var (
	errCut     = errors.New("the index is cut short or damaged; make it anew")
	errDamaged = errors.New("the features of the index are damaged; make it anew")
)

// parse reads an index from the bytes of its file, which it goes on using and whose address is a multiple of 8.
func parse(b []byte) (*Index, error) {
	size := int64(len(b))
	if size < align+8+int64(len(tail)) || string(b[:len(magic)]) != magic {
		return nil, errCut
	}
	end := size - 8 - int64(len(tail))
	if string(b[end+8:]) != tail {
		return nil, errCut
	}
	n := binary.LittleEndian.Uint64(b[end:])
	if n > uint64(end-align) {
		return nil, errCut
	}
	begin := end - int64(n)
	meta, tensors, err := safetensors.Read(bytes.NewReader(b[begin:end]), int64(n))
	if err != nil {
		return nil, err
	}
	x := &Index{file: b}
	x.verified = sync.OnceValue(x.Verify)
	if meta["format"] != "mercer-index" || meta["version"] != version {
		return nil, fmt.Errorf("an index of version %q, and this program reads version %s; make it anew, or take a newer program", meta["version"], version)
	}
	if err := json.Unmarshal([]byte(meta["index"]), &x.info); err != nil {
		return nil, fmt.Errorf("the index's description: %w", err)
	}
	return x, x.restore(begin, tensors)
}

// restore makes the index of its description, which begins at a byte of the file, and of tensors.
func (x *Index) restore(begin int64, tensors safetensors.Tensors) (err error) {
	i := &x.info
	if err := i.Schema.Check(); err != nil {
		return err
	}
	if i.Feature != nil && i.Feature.Features != i.Features || i.Rows > math.MaxInt32 {
		return errCut
	}
	if i.Rows < 1 || i.Features < 1 || int64(i.Rows) > begin/4/int64(i.Features) || i.Bits < 0 || i.Bits%64 != 0 || i.Bits > mostBits || i.Cells < 0 || i.Cells > mostCells {
		return errCut
	}
	most, err := pipeline.MaxMemory(0)
	if err != nil {
		return err
	}
	x.pipe, err = pipeline.Restore(pipeline.Description{In: i.Schema.Dim, Scale: i.Scale, Densify: i.Densify, Feature: i.Feature,
		MaxMemory: min(most, mostBytes)}, tensors)
	if err != nil {
		return err
	}
	if d := x.pipe.Features(); d != i.Features {
		return fmt.Errorf("the index has %d features, and its map gives %d", i.Features, d)
	}
	if x.coder, err = newCoder(i.Config, x.pipe); err != nil {
		return err
	}
	if tensors[meanTensor] != nil {
		mean, err := rowsOf(tensors, meanTensor, 1, i.Features)
		if err != nil {
			return err
		}
		x.coder = x.coder.centred(mean)
	}
	rows, words := int64(i.Rows), int64(i.Bits/64)
	norms := aligned(align + 4*rows*int64(i.Features))
	ids := aligned(norms + 4*rows)
	codes := aligned(ids + 8*rows)
	cellOf := aligned(codes + 8*rows*words)
	end := cellOf
	if i.Cells > 0 {
		end = aligned(cellOf + 4*rows)
	}
	if end != begin {
		return errCut
	}
	b := x.file
	sum := crc32.Checksum(b[norms:norms+4*rows], castagnoli)
	sum = crc32.Update(sum, castagnoli, b[ids:ids+8*rows])
	sum = crc32.Update(sum, castagnoli, b[codes:codes+8*rows*words])
	if i.Cells > 0 {
		sum = crc32.Update(sum, castagnoli, b[cellOf:cellOf+4*rows])
		x.cellOf = unsafe.Slice((*uint32)(unsafe.Pointer(&b[cellOf])), rows)
	}
	if sum != i.Sum {
		return errCut
	}
	x.z = unsafe.Slice((*float32)(unsafe.Pointer(&b[align])), rows*int64(i.Features))
	x.norms = unsafe.Slice((*float32)(unsafe.Pointer(&b[norms])), rows)
	x.ids = unsafe.Slice((*int64)(unsafe.Pointer(&b[ids])), rows)
	if words > 0 {
		x.codes = unsafe.Slice((*uint64)(unsafe.Pointer(&b[codes])), rows*words)
	}
	last := int64(-1)
	for _, id := range x.ids {
		if id <= last {
			return errCut
		}
		last = id
	}
	if i.Next <= last {
		return errCut
	}
	return x.restoreCells(tensors)
}

// rowsOf are n rows of d finite numbers.
func rowsOf(tensors safetensors.Tensors, name string, n, d int) (*matrix.Dense, error) {
	t, err := tensors.Want(name, false, n, d)
	if err != nil {
		return nil, err
	}
	for _, v := range t.F32 {
		if v-v != 0 {
			return nil, errCut
		}
	}
	return &matrix.Dense{Rows: n, Cols: d, Stride: d, Data: t.F32}, nil
}

// restoreCells gives the rows of an index to its cells.
func (x *Index) restoreCells(tensors safetensors.Tensors) error {
	n := x.info.Cells
	if n == 0 {
		return nil
	}
	centres, err := rowsOf(tensors, cellTensor, n, x.info.Features)
	if err != nil {
		return err
	}
	x.cells = newCells(centres)
	sizes := make([]int, n)
	for _, cell := range x.cellOf {
		if cell >= uint32(n) {
			return errCut
		}
		sizes[cell]++
	}
	all := make([]int32, len(x.cellOf))
	for cell, size := range sizes {
		x.cells.rows[cell], all = all[:0:size], all[size:]
	}
	for i, cell := range x.cellOf {
		x.cells.rows[cell] = append(x.cells.rows[cell], int32(i))
	}
	return nil
}

// Verify reads all features and compares their checksum.
func (x *Index) Verify() error {
	n := 4 * int64(x.info.Rows) * int64(x.info.Features)
	if crc32.Checksum(x.file[align:align+n], castagnoli) != x.info.FeatureSum {
		return errDamaged
	}
	return nil
}
