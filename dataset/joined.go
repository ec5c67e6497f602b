package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mercer/internal/engine/remote"
	"mercer/internal/engine/units"
)

// joined is the tables of several files as one, a line for each row after one with the names of the columns. Parts of the paths
// of the form name=value are columns in front of the others, and the columns of the first file those of all.
type joined struct {
	ctx   context.Context // steady, since each pass opens the files
	done  func()
	path  string // as the user gave it
	opt   Options
	files []joinedFile
	names []string // of the files' own columns
	texts map[string]bool
	head  []byte
	total int64

	mu     sync.Mutex
	starts []int // the first line of each file in the latest pass
}

// joinedFile is a file of several.
type joinedFile struct {
	path    string
	size    int64
	version string // of an object
	prefix  []byte // the cells of its partition, each with a comma behind it
	sep     byte   // of a table of text
	skip    int    // lines before its rows, of a table of text
	raw     bool   // its rows are lines as they are wanted
	typed   bool   // of a format with types
	piece   *Piece // what is read of it; nil: all
}

const (
	mostFiles = 100_000

	// nullPartition is how Hive and Spark write a missing value.
	nullPartition = "__HIVE_DEFAULT_PARTITION__"
)

// several lists the files that a path stands for, if it is a folder or a pattern; nil if it is a file.
func several(ctx context.Context, path string) ([]string, error) {
	if remote.Is(path) {
		files, err := remote.List(ctx, path, mostFiles)
		if err == nil {
			err = ledgerOf(ctx).sameFiles(path, files)
		}
		return files, err
	}
	if path == "-" || !Local(path) {
		return nil, nil
	}
	var found []string
	switch st, err := os.Stat(path); {
	case err == nil && !st.IsDir():
		return nil, nil
	case err == nil:
		found = []string{path}
	case !strings.ContainsAny(path, "*?["):
		return nil, nil
	default:
		if found, err = filepath.Glob(path); err != nil {
			lacks := "it cannot be read"
			if strings.LastIndex(path, "[") > strings.LastIndex(path, "]") {
				lacks = "it lacks a ]"
			}
			return nil, fmt.Errorf("%s: no file has this name (%w), and as a pattern %s", path, fs.ErrNotExist, lacks)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no file has such a name: %w", path, fs.ErrNotExist)
		}
	}
	var files []string
	for _, root := range found {
		err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
			hidden := at != root && (strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_"))
			switch {
			case err != nil:
				return err
			case hidden && e.IsDir():
				return fs.SkipDir
			case hidden || e.IsDir():
			case len(files) == mostFiles:
				return fmt.Errorf("%s: there are more than %s files", path, units.Count(mostFiles))
			default:
				files = append(files, at)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no file in this folder", path)
	}
	slices.Sort(files)
	return files, ledgerOf(ctx).sameFiles(path, files)
}

// Partitioned says whether a folder has folders NAME=VALUE, so that its files are parts of one table.
func Partitioned(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() && strings.Index(e.Name(), "=") > 0
	})
}

// partition is what the names of folders say about a file.
func partition(path string) (names, values []string, err error) {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, found := strings.Cut(part, "=")
		if !found || name == "" {
			continue
		}
		if value == nullPartition {
			value = ""
		} else if value, err = url.PathUnescape(value); err != nil {
			return nil, nil, fmt.Errorf("%s: %q is not escaped as in a URL", path, part)
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values, nil
}

// newJoined looks at the beginning of all files.
func newJoined(ctx context.Context, path string, files []string, opt Options) (*joined, error) {
	opt.Label, opt.LabelSeparator, opt.LabelsFile, opt.Weight, opt.Group, opt.Missing, opt.Schema = "none", "", "", "", "", "zero", nil
	opt.Columns = ColumnOptions{Decimal: opt.Columns.Decimal}
	j := &joined{path: path, opt: opt, texts: map[string]bool{}}
	j.ctx, j.done = Steady(ctx)
	var keys []string
	for i, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, names, err := joinedOf(name)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			keys = names
		} else if !slices.Equal(names, keys) {
			return nil, fmt.Errorf("%s: its folders say %s, those of %s %s", name, list(names), files[0], list(keys))
		}
		if err := j.look(f); err != nil {
			return nil, err
		}
		j.files, j.total = append(j.files, *f), j.total+f.size
	}
	for _, key := range keys {
		if slices.Contains(j.names, key) {
			return nil, fmt.Errorf("%s: the column %q is in the files and in the names of their folders; rename one of them", path, key)
		}
	}
	var line []byte
	for i, name := range append(keys, j.names...) {
		if i > 0 {
			line = append(line, ',')
		}
		line = appendQuoted(line, name)
	}
	j.head = append(line, '\n')
	head, err := headOf(j)
	if err != nil {
		return nil, err
	}
	j.head = head
	return j, nil
}

// joinedOf is a file with the cells of its partition, and the names of their columns.
func joinedOf(path string) (f *joinedFile, names []string, err error) {
	names, values, err := partition(path)
	f = &joinedFile{path: path}
	for _, v := range values {
		if v == "" {
			f.prefix = append(f.prefix, ',')
		} else {
			f.prefix = append(appendQuoted(f.prefix, v), ',')
		}
	}
	return f, names, err
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// look finds out how a file is read, and compares its columns with those of the first.
func (j *joined) look(f *joinedFile) error {
	in, err := openInput(j.ctx, f.path)
	if err != nil {
		return err
	}
	f.size, f.version = in.size, in.version
	if in, err = seekable(in); err != nil {
		return err
	}
	defer in.Close()
	var names []string
	texts := map[string]bool{}
	typed, err := typedOf(j.ctx, in, j.opt)
	switch {
	case err != nil:
		return err
	case typed != nil:
		for _, f := range typed.fields() {
			names, texts[f.name] = append(names, f.name), f.text
		}
		f.typed = true
	default:
		text, err := asUTF8(in, j.opt.Encoding)
		if err != nil {
			return err
		}
		t := &table{in: text, opt: j.opt}
		if err := t.settleOptions(); err != nil {
			return err
		}
		head := text.Head()
		if len(head) == 0 {
			return fmt.Errorf("%s: is empty", f.path)
		}
		if of := formatOf(head, true); of != nil && of.typed == nil || slices.Contains(head, 0) {
			return fmt.Errorf("%s: is no table of text, JSON lines, Parquet or Arrow; only these are joined", f.path)
		}
		columns, err := t.sniff(j.opt.Format)
		if err != nil {
			return err
		}
		for _, c := range columns {
			names = append(names, c.name)
		}
		if len(names) == 0 {
			return fmt.Errorf("%s: has no rows", f.path)
		}
		f.sep, f.skip = t.sep, t.skip
		if j.opt.Header = "no"; t.schema.Header {
			j.opt.Header = "yes"
		}
	}
	if j.names == nil {
		j.names = names
	}
	for _, name := range j.names {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: has no column %q, which %s has", f.path, name, j.files[0].path)
		}
	}
	for _, name := range names {
		if !slices.Contains(j.names, name) {
			return fmt.Errorf("%s: has a column %q, which %s has not", f.path, name, j.files[0].path)
		}
		j.texts[name] = j.texts[name] || texts[name]
	}
	f.raw = f.sep == ',' && slices.Equal(names, j.names)
	return nil
}

// typedOf is the table in a file of a format with types; nil if it is of none.
func typedOf(ctx context.Context, in *packed, opt Options) (typedTable, error) {
	if in.typed != nil {
		return in.typed, nil
	}
	if f := formatOf(in.head, false); f != nil && f.typed != nil {
		return f.typed(ctx, in)
	}
	text, err := asUTF8(in, opt.Encoding)
	if err != nil {
		return nil, err
	}
	if f := formatOfText(text.Head(), opt.Format); f.typed != nil && f.is(text.Head()) {
		return f.typed(ctx, text)
	}
	return nil, nil
}

func (j *joined) Name() string { return j.path }
func (j *joined) Close() error { j.done(); return nil }
func (j *joined) Head() []byte { return j.head }

// place is the file and the line of it that a line of the whole is.
func (j *joined) place(line int) (string, int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, found := slices.BinarySearch(j.starts, line)
	if !found {
		i--
	}
	if i < 0 || i >= len(j.files) {
		return j.path, line
	}
	f := &j.files[i]
	line += 1 + max(f.skip, 1) - j.starts[i]
	if f.piece != nil && f.piece.Of == ofBytes {
		if in, err := openInput(j.ctx, f.path); err == nil {
			defer in.Close()
			line += in.lines(f.piece.Lead, f.piece.From)
		}
	}
	return f.path, line
}
