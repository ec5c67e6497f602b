package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strings"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/option"
	"mercer/internal/engine/remote"
	"mercer/internal/engine/units"
)

// File is a data file: a Source that has to be closed.
type File struct {
	Source
	in     input
	notice func(Notice)
}

// Open opens the data file at path, "-" for standard input, and determines its compression
// (gzip, bzip2, zstd) and format from its content. A folder, or a pattern such as "2024-*.csv", is the tables in its files as
// one, with a column for each part NAME=VALUE of their paths. ctx applies to what Open itself reads.
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
	files, err := several(ctx, path)
	if err != nil {
		return nil, err
	}
	if files != nil {
		return openJoined(ctx, path, files, opt)
	}
	in, err := openData(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	return open(ctx, in, opt)
}

// openJoined opens several files as one table.
func openJoined(ctx context.Context, path string, files []string, opt Options) (*File, error) {
	j, err := newJoined(ctx, path, files, opt)
	if err != nil {
		return nil, err
	}
	src, err := asTable(ctx, j, j.texts, opt)
	if err == nil && opt.LabelsFile != "" {
		src, err = withLabelsFile(ctx, src, opt.LabelsFile, opt)
	}
	if err != nil {
		return nil, err
	}
	return &File{Source: src, in: j}, nil
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
	in, err := seekable(in)
	if err != nil {
		return nil, err
	}
	src, err := newSource(ctx, in, opt)
	if err == nil && opt.LabelsFile != "" {
		src, err = withLabelsFile(ctx, src, opt.LabelsFile, opt)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	f := &File{Source: src, in: in, notice: opt.Columns.Notice}
	if asked, _ := opt.Columns.split(); asked != "" && opt.Schema == nil {
		if has, _ := SplitBy(f); has == "" {
			f.Close()
			return nil, option.Errorf("%s: %s needs a table with columns, or LIBSVM text with qid; write the rows as CSV or Parquet", src.Name(),
				option.Ref("split_"+asked))
		}
	}
	return f, nil
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
	if t := f.table(); t != nil {
		return t.UnseenCategories()
	}
	return nil
}

const formats = "LIBSVM text, CSV, TSV, text separated by blanks, ARFF, JSON lines, Parquet, Arrow, NPY, npz and IDX, also as gz, bz2, zst or zip"

// foreign are common formats that Mercer does not read.
var foreign = []struct{ magic, name, advice string }{
	{"\xfd7zXZ\x00", "an xz archive", "unpack it, or use gz, bz2 or zst"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"},
	{"%PDF", "a PDF document", "give a data file"},
	{"\x89PNG", "a PNG image", "give its pixels as NPY or IDX"},
	{"\xff\xd8\xff", "a JPEG image", "give its pixels as NPY or IDX"},
	{"FEA1", "a Feather file of version 1", "write it as Arrow (version 2) or Parquet"},
	{"\x89HDF", "an HDF5 file", "write it as NPY or CSV"},
	{"Obj\x01", "an Avro file", "write it as Parquet or JSON lines"},
	{"ORC", "an ORC file", "write it as Parquet or CSV"},
	{"\x80\x02", "a Python pickle", "write it as NPY, Parquet or CSV"},
	{"\x80\x03", "a Python pickle", "write it as NPY, Parquet or CSV"},
	{"\x80\x04", "a Python pickle", "write it as NPY, Parquet or CSV"},
	{"\x80\x05", "a Python pickle", "write it as NPY, Parquet or CSV"},
	{"RDX", "R data", "write it by write.csv"},
	{"X\n\x00\x00\x00", "R data", "write it by write.csv"},
	{"]q\x00", "a Python pickle", "write it as NPY, Parquet or CSV"},
	{"}q\x00", "a Python pickle", "write it as NPY, Parquet or CSV"},
	{"MATLAB 5.0", "a MATLAB file", "write it by writematrix, or as NPY by scipy.io.loadmat and numpy.save"},
	{"Rar!", "a RAR archive", "unpack it first"},
	{"PK\x05\x06", "an empty zip archive", "give a data file"},
	{"\x04\x22\x4d\x18", "an lz4 file", "unpack it, or use gz, bz2 or zst"},
	{"\x1f\x9d", "a file of compress", "unpack it by uncompress"},
	{"\x1f\x8b", "gzip within gzip", "unpack it once"},
	{"\x7fELF", "a program", "give a data file"},
	{"GIF8", "a GIF image", "give its pixels as NPY or IDX"},
	{"version https://git-lfs", "the pointer of Git LFS to a file and not the file", "get it by git lfs pull"},
	{"{\\rtf", "a document in RTF", "save its table as CSV"},
	{"%!PS", "a PostScript document", "give a data file"},
	{"%%MatrixMarket", "a Matrix Market file", "write it as npz by scipy.sparse.save_npz, or as LIBSVM text"},
	{"<stata_dta>", "a Stata file", "write it as CSV"},
	{"$FL2", "an SPSS file", "write it as CSV"},
	{"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60", "a SAS table", "write it as CSV"},
	{"\xd0\xcf\x11\xe0", "an old Excel workbook or Word document", "save the table as CSV"},
	{"SQLite format 3", "an SQLite database within another file or a pipe", "give the path of the database itself"},
}

// foreignTexts are those that are text.
var foreignTexts = []struct {
	begins       *regexp.Regexp
	name, advice string
}{
	{regexp.MustCompile(`^\s*\[\s*[\[{]`), "a JSON array", "write an object a line, as jq -c '.[]' does"},
	{regexp.MustCompile(`(?i)^\s*<(!doctype )?html\b`), "an HTML page", "save its table as CSV"},
	{regexp.MustCompile(`(?i)^\s*<(table|body|head|div)\b[^>,]*>`), "a part of an HTML page", "save its table as CSV"},
	{regexp.MustCompile(`^\s*(<\?xml\b|<!DOCTYPE\b|<!--|<[A-Za-z][\w:.-]*( [^<>]*)?/?>\s*<)`), "an XML document", "write it as CSV or JSON lines"},
	{regexp.MustCompile(`^(\(lp0\n|\(dp0\n|\(lp1\n|\(dp1\n|ccopy_reg\n|cnumpy)`), "a Python pickle", "write it as NPY, Parquet or CSV"},
	{regexp.MustCompile(`(?i)^\s*(insert into|create table|drop table)\b`), "a dump of a database in SQL", "load it, and give the database"},
	{regexp.MustCompile(`^-{3}\r?\n`), "YAML", "write it as CSV or JSON lines"},
	{regexp.MustCompile(`^\|[^\n]*\|\s*\n\s*\|(\s*:?-+:?\s*\|)+\s*\n`), "a table in Markdown", "write it as CSV"},
	{regexp.MustCompile(`^[^\n]*\|[^\n]*\n-+(\+-+)+\s*\n`), "what psql prints", "write it by \\copy … csv header"},
	// A label, perhaps with a weight and a tag, and behind a bar features that have values.
	{regexp.MustCompile(`^-?[0-9.]*( [0-9.]+)?( ?'?\w+)? ?\|\w*(:[0-9.]+)? +[^ |\n]+:-?[0-9.]+(e-?[0-9]+)?( |\r?\n|$)`),
		"text of Vowpal Wabbit", "write it as LIBSVM text or JSON lines"},
}

// notOfFormat is the error for a file that does not have the format of Options.Format.
func notOfFormat(in input, what string) error {
	return option.Errorf("%s: is not %s; leave out %s to find out what it is", in.Name(), what, option.Ref("format"))
}

// seekable unpacks a compressed file of a format, such as Parquet, that is not read from its beginning, to a temporary file.
func seekable(in *packed) (*packed, error) {
	f := formatOf(in.head, false)
	if f == nil || f.seeks == nil || !f.seeks(in.head) || in.method == "" && in.size < math.MaxInt64 {
		return in, nil
	}
	defer in.Close()
	r, _, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return spool(in.name, r)
}

// asTable makes the source of several files that are read as one table of text, with the names of its columns first.
func asTable(ctx context.Context, in input, texts map[string]bool, opt Options) (Source, error) {
	opt.Format, opt.Header, opt.texts = "csv", "yes", texts
	return newTable(ctx, in, opt, "csv")
}

// notForeign is the error for a file that begins so if it has a format that is not read.
func notForeign(name string, head []byte) error {
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return fmt.Errorf("%s: is a tar archive; unpack it first", name)
	}
	for _, f := range foreign {
		if strings.HasPrefix(string(head[:min(len(head), 24)]), f.magic) {
			return fmt.Errorf("%s: is %s; %s (read are %s)", name, f.name, f.advice, formats)
		}
	}
	if len(head) > 8 && head[8] == '{' && bytes.Equal(head[4:8], make([]byte, 4)) {
		return fmt.Errorf("%s: is a model or another file of tensors; give a data file (read are %s)", name, formats)
	}
	return nil
}

// severalLines is a JSON object that begins on one line and goes on with its first name on another.
var severalLines = regexp.MustCompile(`^\s*\{\s*\n\s*"[^"\n]*"\s*:`)

// notForeignText is the error for text that begins so if it has a format that is not read.
func notForeignText(name string, head []byte) error {
	for _, f := range foreignTexts {
		if f.begins.Match(head) {
			return fmt.Errorf("%s: is %s; %s (read are %s)", name, f.name, f.advice, formats)
		}
	}
	return nil
}

// standardInput is what messages call it.
const standardInput = "standard input"

// openInput opens a file or standard input.
func openInput(ctx context.Context, path string) (*packed, error) {
	if remote.Is(path) {
		return openObject(ctx, path)
	}
	ledger := ledgerOf(ctx)
	if path == "-" {
		return ledger.keep(path, func() (*packed, error) { return spool(standardInput, os.Stdin) })
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case err == nil && st.IsDir():
		return nil, fmt.Errorf("%s: is a directory; give a data file", path)
	case err == nil && !st.Mode().IsRegular():
		return ledger.keep(path, func() (*packed, error) { return openOnce(path, st) })
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrPermission)
	}
	if err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	w, err := ledger.witness(path, st)
	if err != nil {
		f.Close()
		return nil, &named{path, err}
	}
	p, err := newPacked(path, &ordinaryFile{f, w}, st.Size())
	if err == nil {
		p.witness = w
	}
	return p, err
}

// openOnce opens a pipe or a device, which can be read once only.
func openOnce(path string, st fs.FileInfo) (*packed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Mode()&fs.ModeCharDevice != 0 { // a terminal, or one that may have no end, such as /dev/zero
		return spool(path, &bounded{r: f, name: path, left: maxRecord})
	}
	return spool(path, f)
}

// spool copies what can be read once only to a temporary file.
func spool(name string, r io.Reader) (*packed, error) {
	f, err := atomicfile.CreateTemporary("", "mercer-input-*")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be kept for a second pass: %w", name, err)
	}
	n, err := io.Copy(f, r)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, bare(name, err))
	}
	return newPacked(name, f, n)
}

// bounded reads from a device.
type bounded struct {
	r    io.Reader
	name string
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it is a device that has given %s and no end; copy what you want of it to a file", units.Bytes(maxRecord))
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
