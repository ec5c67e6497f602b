package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"mercer/internal/option"
)

// File is a data file: a Source that has to be closed.
type File struct {
	Source
	in input
}

// Open opens the data file at path, "-" for standard input, and determines its compression
// (gzip, bzip2, zstd) and format from its content. ctx applies to what Open itself reads.
//
// Standard input is copied to a temporary file first, because sources are read several
// times, unless opt.Stream is set.
func Open(ctx context.Context, path string, opt Options) (*File, error) {
	if opt.Stream {
		if in, err := openStream(path); in != nil || err != nil {
			if err != nil {
				return nil, err
			}
			return open(ctx, in, opt)
		}
	}
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	return open(ctx, in, opt)
}

// OpenBytes is Open for a file in memory; name stands for its path.
func OpenBytes(ctx context.Context, name string, data []byte, opt Options) (*File, error) {
	in, err := newPacked(name, bytesFile{data}, int64(len(data)))
	if err != nil {
		return nil, err
	}
	return open(ctx, in, opt)
}

func open(ctx context.Context, in *packed, opt Options) (*File, error) {
	src, err := newSource(ctx, in, opt)
	if err == nil && opt.LabelsFile != "" {
		src, err = withLabelsFile(ctx, src, opt.LabelsFile)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return &File{Source: src, in: in}, nil
}

// Close releases the file.
func (f *File) Close() error {
	if c, ok := f.in.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// UnseenCategories lists the categorical columns that had values in the last pass that
// are unknown to the model whose schema the file was opened with.
func (f *File) UnseenCategories() []Unseen {
	src := f.Source
	if l, ok := src.(*labelled); ok {
		src = l.Source
	}
	if t, ok := src.(*table); ok {
		return t.UnseenCategories()
	}
	return nil
}

const formats = "LIBSVM text, CSV, TSV, text separated by blanks, ARFF, NPY, npz (sparse) and IDX, also as gz, bz2 or zst"

// foreign are common formats that Mercer does not read.
var foreign = []struct{ magic, name, advice string }{
	{"PAR1", "a Parquet file", "write it as CSV or NPY"},
	{"\xfd7zXZ\x00", "an xz archive", "unpack it, or use gz, bz2 or zst"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"},
	{"%PDF", "a PDF document", "give a data file"},
	{"\x89PNG", "a PNG image", "give its pixels as NPY or IDX"},
	{"\xff\xd8\xff", "a JPEG image", "give its pixels as NPY or IDX"},
	{"\x89HDF", "an HDF5 file", "write it as NPY or CSV"},
	{"SQLite format 3", "an SQLite database", "export a table as CSV"},
}

// notOfFormat is the error for a file that does not have the format of Options.Format.
func notOfFormat(in input, what string) error {
	return option.Errorf("%s: is not %s; leave out %s to find out what it is", in.Name(), what, option.Ref("format"))
}

// newSource makes the source for the content.
func newSource(ctx context.Context, in input, opt Options) (Source, error) {
	head := in.Head()
	if len(head) == 0 {
		return nil, fmt.Errorf("%s: is empty", in.Name())
	}
	if opt.LabelSeparator != "" && opt.LabelsFile != "" {
		return nil, option.Errorf("%s: %s is for lists of labels in a column; a file of labels has one a row", in.Name(),
			option.Ref("label_separator"))
	}
	isNPY, isIDX, isZip := bytes.HasPrefix(head, []byte(npyMagic)), looksLikeIDX(head), bytes.HasPrefix(head, []byte(zipMagic))
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return nil, fmt.Errorf("%s: is a tar archive; unpack it first", in.Name())
	}
	for _, f := range foreign {
		if strings.HasPrefix(string(head[:min(len(head), 16)]), f.magic) {
			return nil, fmt.Errorf("%s: is %s; %s (read are %s)", in.Name(), f.name, f.advice, formats)
		}
	}
	if len(head) > 8 && head[8] == '{' && bytes.Equal(head[4:8], make([]byte, 4)) {
		return nil, fmt.Errorf("%s: is a model or another file of tensors; give a data file (read are %s)", in.Name(), formats)
	}
	switch opt.Format {
	case "npy":
		if !isNPY {
			return nil, notOfFormat(in, "an NPY file")
		}
	case "npz":
		if !isZip {
			return nil, notOfFormat(in, "an npz archive")
		}
	case "idx":
		if !isIDX {
			return nil, notOfFormat(in, "an IDX file")
		}
	}
	switch {
	case opt.LabelSeparator != "" && (isNPY || isIDX || isZip):
		return nil, option.Errorf("%s: %s is for text; name columns of 0 and 1 with %s", in.Name(), option.Ref("label_separator"),
			option.Ref("label"))
	case isNPY:
		return newNPY(in, opt)
	case isIDX:
		return newIDX(in, opt)
	case isZip:
		return newNPZ(in, opt)
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return nil, fmt.Errorf("%s: is not text (a byte 0 at position %d) and of no known format; read are %s", in.Name(), i, formats)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, fmt.Errorf("%s: is empty", in.Name())
	}
	switch f := opt.Format; f {
	case "libsvm":
		return newLIBSVM(in, opt)
	case "csv", "tsv", "blank", "arff":
		return newTable(ctx, in, opt, f)
	}
	if !looksLikeARFF(head) && looksLikeLIBSVM(head) {
		return newLIBSVM(in, opt)
	}
	return newTable(ctx, in, opt, "")
}

// openInput opens a file or standard input.
func openInput(path string) (*packed, error) {
	if path == "-" {
		return spool("standard input", os.Stdin)
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: %w", path, fs.ErrPermission)
	case err != nil:
		return nil, err
	}
	st, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, err
	case st.IsDir():
		f.Close()
		return nil, fmt.Errorf("%s: is a directory; give a data file", path)
	case !st.Mode().IsRegular():
		// A pipe or a device can be read once only.
		defer f.Close()
		return spool(path, f)
	}
	return newPacked(path, f, st.Size())
}

// spool copies what can be read once only to a temporary file.
func spool(name string, r io.Reader) (*packed, error) {
	f, err := temporary("mercer-input-*")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be kept for a second pass: %w", name, err)
	}
	n, err := io.Copy(f, r)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return newPacked(name, f, n)
}

// temporaryFile is a file that is gone when it is closed.
type temporaryFile struct {
	*os.File
	named bool // it still has to be removed
}

// temporary makes a file that is unlinked while it is in use, if the system allows
// that, so nothing is left behind however the program ends.
func temporary(pattern string) (*temporaryFile, error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return nil, err
	}
	return &temporaryFile{f, os.Remove(f.Name()) != nil}, nil
}

func (t *temporaryFile) Close() error {
	err := t.File.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
