package learn

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"mercer/matrix"
)

// FeatureFile keeps features in a temporary file: float32 numbers, row after row, for dense
// rows; for sparse ones a second file has their columns. Rows are appended once, in order, and
// then read any number of times through Features. If the system supports it, the files are
// memory-mapped, and unlinked from the start, so that they disappear with the program
// however it ends.
//
// Memory: 8 bytes per row of sparse features; if files cannot be mapped, that of a block.
type FeatureFile struct {
	dim    int
	n      int
	sparse bool
	ptr    []int // n+1, sparse

	val, idx spool
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

// Features ends the writing and returns the rows, resident if the files are mapped. They
// are for one user at a time, until Close.
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

// Bytes is the size of the files.
func (f *FeatureFile) Bytes() int64 { return f.val.size + f.idx.size }

// Close removes the files. Features from them must not be used any more.
func (f *FeatureFile) Close() error {
	return errors.Join(f.val.close(), f.idx.close())
}

// inFile are the features of a file.
type inFile struct {
	f    *FeatureFile
	data []float32 // of picked rows
}

func (z *inFile) Len() int { return z.f.n }
func (z *inFile) Dim() int { return z.f.dim }

func (z *inFile) Resident() bool {
	return (z.f.val.mapped != nil || z.f.val.size == 0) && (z.f.idx.mapped != nil || z.f.idx.size == 0)
}

// Pick reads rows one by one.
func (z *inFile) Pick(which []int) (matrix.Rows, error) {
	f := z.f
	dense := &matrix.Dense{Cols: f.dim, Stride: f.dim}
	sparse := &matrix.CSR{Cols: f.dim, Ptr: []int{0}}
	for _, i := range which {
		row, err := z.Block(i, i+1)
		if err != nil {
			return matrix.Rows{}, err
		}
		if !f.sparse {
			z.data = append(z.data, row.Dense.Data...)
			continue
		}
		sparse.Idx = append(sparse.Idx, row.CSR.Idx...)
		sparse.Val = append(sparse.Val, row.CSR.Val...)
		sparse.Ptr = append(sparse.Ptr, len(sparse.Idx))
	}
	if f.sparse {
		sparse.Rows = len(which)
		return matrix.Rows{CSR: sparse}, nil
	}
	dense.Rows, dense.Data = len(which), z.data
	z.data = z.data[:0]
	return matrix.Rows{Dense: dense}, nil
}

func (z *inFile) Block(i, j int) (matrix.Rows, error) {
	f := z.f
	if !f.sparse {
		val, err := part[float32](&f.val, i*f.dim, j*f.dim)
		return matrix.Rows{Dense: &matrix.Dense{Rows: j - i, Cols: f.dim, Stride: f.dim, Data: val}}, err
	}
	// A view's columns begin where its first row does.
	lo, hi := f.ptr[i], f.ptr[j]
	m := &matrix.CSR{Rows: j - i, Cols: f.dim, Ptr: make([]int, j-i+1)}
	for r := range m.Ptr {
		m.Ptr[r] = f.ptr[i+r] - lo
	}
	var err error
	if m.Val, err = part[float32](&f.val, lo, hi); err != nil {
		return matrix.Rows{}, err
	}
	m.Idx, err = part[int32](&f.idx, lo, hi)
	return matrix.Rows{CSR: m}, err
}

// spool is a file that is written once and then read in parts.
type spool struct {
	file   *os.File
	named  bool // the file still has its name
	out    *bufio.Writer
	size   int64
	mapped []byte
	buffer []byte // the last part read, if the file is not mapped
}

func (s *spool) create(dir string) error {
	file, err := os.CreateTemp(dir, "mercer-features-*")
	if err != nil {
		return fmt.Errorf("a temporary file for features: %w", err)
	}
	s.file, s.out = file, bufio.NewWriterSize(file, 1<<20)
	s.named = !unname(file)
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

// end writes the rest and maps the file, which must have size bytes.
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
	if s.mapped == nil && size > 0 {
		s.mapped = mapped(s.file, size)
	}
	return nil
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	if s.mapped != nil {
		unmap(s.mapped)
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	*s = spool{}
	return err
}

// part gives the elements [i, j) of a file of 4-byte numbers.
func part[T float32 | int32](s *spool, i, j int) ([]T, error) {
	lo, hi := 4*int64(i), 4*int64(j)
	if lo == hi {
		return nil, nil
	}
	b := s.buffer
	if s.mapped != nil {
		b = s.mapped[lo:hi]
	} else {
		if int64(len(b)) < hi-lo {
			// A slice of numbers, so that they are aligned.
			s.buffer = bytesOf(make([]T, j-i))
		}
		b = s.buffer[:hi-lo]
		if n, err := s.file.ReadAt(b, lo); n < len(b) {
			return nil, fmt.Errorf("reading features from a temporary file: %w", err)
		}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), j-i), nil
}

// bytesOf is the memory of numbers, in the machine's byte order: the file is for this machine only.
func bytesOf[T float32 | int32](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}
