package learn

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// FeatureFile keeps features in a temporary file: float32 numbers, row after row, for dense
// rows; for sparse ones a second file has their columns. Rows are appended once, in order, and
// then read any number of times through Features, or mapped by Dense. If the system supports it, the files are
// unlinked from the start, so that they disappear with the program however it ends.
//
// Memory: that of a block, and 8 bytes per row of sparse features. Rows are read rather than mapped, since pages of a mapped file count
// as memory of the process.
type FeatureFile struct {
	dim    int
	n      int
	sparse bool
	ptr    []int // n+1, sparse

	val, idx spool

	mapped []byte // val, for Dense
}

// CreateFeatureFile makes an empty file of rows of dim columns in the directory dir; "" means
// the system's directory for temporary files.
func CreateFeatureFile(dir string, dim int, sparse bool) (*FeatureFile, error) {
	f := &FeatureFile{dim: dim, sparse: sparse}
	if err := f.val.create(dir); err != nil {
		return nil, err
	}
	if sparse {
		f.ptr = []int{0}
		if err := f.idx.create(dir); err != nil {
			f.val.close()
			return nil, err
		}
	}
	return f, nil
}

// Append adds rows at the end. It panics if they are not of the kind or
// width that the file was made for.
func (f *FeatureFile) Append(rows matrix.Rows) error {
	if rows.Dim() != f.dim || (rows.CSR != nil) != f.sparse {
		panic(fmt.Sprintf("learn: rows of %d columns appended to a feature file of %d, sparse %t to %t", rows.Dim(), f.dim, rows.CSR != nil,
			f.sparse))
	}
	for i := range rows.Len() {
		val := []float32(nil)
		if f.sparse {
			var idx []int32
			idx, val = rows.CSR.Row(i)
			if err := f.idx.write(bytesOf(idx)); err != nil {
				return err
			}
			f.ptr = append(f.ptr, f.ptr[len(f.ptr)-1]+len(idx))
		} else {
			val = rows.Dense.Row(i)
		}
		if err := f.val.write(bytesOf(val)); err != nil {
			return err
		}
	}
	f.n += rows.Len()
	return nil
}

// Features ends the writing and returns the rows. They are for one user at a time, until Close.
func (f *FeatureFile) Features() (Features, error) {
	size := int64(f.n) * int64(f.dim)
	if f.sparse {
		size = int64(f.ptr[f.n])
		if err := f.idx.end(4 * size); err != nil {
			return nil, err
		}
	}
	if err := f.val.end(4 * size); err != nil {
		return nil, err
	}
	return &inFile{f: f}, nil
}

// Dense are all rows of a file of dense features, after Features: mapped, of which the system holds as much as it can, or read where it
// cannot map files. They are valid until Close.
func (f *FeatureFile) Dense() (*matrix.Dense, error) {
	if f.sparse {
		panic("learn: sparse features as dense ones")
	}
	if f.mapped == nil && f.val.size > 0 {
		var err error
		if f.mapped, err = mapped(f.val.file.File, f.val.size); err != nil {
			return nil, fmt.Errorf("the temporary file for features: %w", err)
		}
	}
	x := &matrix.Dense{Rows: f.n, Cols: f.dim, Stride: f.dim}
	if f.mapped != nil {
		x.Data = unsafe.Slice((*float32)(unsafe.Pointer(&f.mapped[0])), f.n*f.dim)
	}
	return x, nil
}

// Bytes is the size of the files.
func (f *FeatureFile) Bytes() int64 { return f.val.size + f.idx.size }

// Close removes the files. Features from them must not be used any more.
func (f *FeatureFile) Close() error {
	if f.mapped != nil {
		unmap(f.mapped)
	}
	f.mapped = nil
	return errors.Join(f.val.close(), f.idx.close())
}

// inFile are the features of a file.
type inFile struct {
	f   *FeatureFile
	ptr []int // where picked rows begin
	val []float32
	idx []int32
}

func (z *inFile) Len() int       { return z.f.n }
func (z *inFile) Dim() int       { return z.f.dim }
func (z *inFile) Resident() bool { return false }

// readGrain is how many rows are read one by one before another thread is worth while.
const readGrain = 32

// Pick reads rows one by one.
func (z *inFile) Pick(which []int) (matrix.Rows, error) {
	f := z.f
	z.lay(len(which), func(r int) int { return which[r] })
	var failed atomic.Pointer[error]
	vec.Parallel(len(which), readGrain, func(from, to int) {
		for r := from; r < to; r++ {
			if err := z.read(r, r+1, f.begin(which[r])); err != nil {
				failed.Store(&err)
				return
			}
		}
	})
	if err := failed.Load(); err != nil {
		return matrix.Rows{}, *err
	}
	return z.rows(), nil
}

func (z *inFile) Block(i, j int) (matrix.Rows, error) {
	z.lay(j-i, func(r int) int { return i + r })
	if err := z.read(0, j-i, z.f.begin(i)); err != nil {
		return matrix.Rows{}, err
	}
	return z.rows(), nil
}

// begin is where a row begins in the file.
func (f *FeatureFile) begin(row int) int {
	if f.sparse {
		return f.ptr[row]
	}
	return row * f.dim
}

// lay makes room for n rows, of which of(r) is the number in the file.
func (z *inFile) lay(n int, of func(r int) int) {
	z.ptr = append(z.ptr[:0], 0)
	for r := range n {
		i := of(r)
		z.ptr = append(z.ptr, z.ptr[r]+z.f.begin(i+1)-z.f.begin(i))
	}
	size := z.ptr[n]
	z.val = slices.Grow(z.val[:0], size)[:size]
	if z.f.sparse {
		z.idx = slices.Grow(z.idx[:0], size)[:size]
	}
}

// read fills the places of the rows [from, to), which begin at a number of the file.
func (z *inFile) read(from, to, first int) error {
	lo, hi := z.ptr[from], z.ptr[to]
	if z.f.sparse {
		if err := z.f.idx.read(bytesOf(z.idx[lo:hi]), first); err != nil {
			return err
		}
	}
	return z.f.val.read(bytesOf(z.val[lo:hi]), first)
}

// rows are those for which there is room.
func (z *inFile) rows() matrix.Rows {
	n := len(z.ptr) - 1
	if z.f.sparse {
		return matrix.Rows{CSR: &matrix.CSR{Rows: n, Cols: z.f.dim, Ptr: z.ptr, Idx: z.idx, Val: z.val}}
	}
	return matrix.Rows{Dense: &matrix.Dense{Rows: n, Cols: z.f.dim, Stride: z.f.dim, Data: z.val}}
}

// spool is a file that is written once and then read in parts.
type spool struct {
	file *atomicfile.Temporary
	out  *bufio.Writer
	size int64
}

func (s *spool) create(dir string) error {
	file, err := atomicfile.CreateTemporary(dir, "mercer-features-*")
	if err != nil {
		return fmt.Errorf("a temporary file for features: %w", err)
	}
	s.file, s.out = file, bufio.NewWriterSize(file, 1<<20)
	return nil
}

func (s *spool) write(b []byte) error {
	n, err := s.out.Write(b)
	s.size += int64(n)
	if err != nil {
		return fmt.Errorf("writing features to a temporary file (%d bytes so far): %w", s.size, err)
	}
	return nil
}

// end writes the rest of the file, which must have size bytes.
func (s *spool) end(size int64) error {
	if err := s.write(nil); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("writing features to a temporary file (%d bytes): %w", s.size, err)
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("the temporary file for features has %d bytes, and %d were written", info.Size(), size)
	}
	return nil
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	*s = spool{}
	return err
}

// read fills b from the place of a 4-byte number.
func (s *spool) read(b []byte, number int) error {
	if n, err := s.file.ReadAt(b, 4*int64(number)); n < len(b) {
		return fmt.Errorf("reading features from a temporary file: %w", err)
	}
	return nil
}

// bytesOf is the memory of numbers, in the machine's byte order: the file is for this machine only.
func bytesOf[T float32 | int32](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}
