package dataset

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mercer/internal/engine/option"
)

// A zip archive that is no sparse matrix is read as what lies in it: arrays of numpy.savez, one of which has the rows and another the labels, or one
// file of data, as pandas reads and writes it.

// zipMember is a file within an archive as an input.
type zipMember struct {
	archive *npz
	name    string
	file    string // its name in the archive
	head    []byte
}

// newZipMember reads the head of a file of an archive.
func newZipMember(n *npz, file string) (*zipMember, error) {
	m := &zipMember{archive: n, file: file, name: fmt.Sprintf("%s: %s", n.Name(), shorten([]byte(file)))}
	if array, ok := strings.CutSuffix(file, ".npy"); ok {
		m.name = fmt.Sprintf("%s: array %s", n.Name(), shorten([]byte(array)))
	}
	r, _, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m.head, err = io.ReadAll(io.LimitReader(r, headSize))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: is damaged (%w); copy the file again", m.name, err)
	case methodOf(m.head) != "" || begins(zipMagic)(m.head):
		return nil, fmt.Errorf("%s: is an archive within an archive; unpack it", m.name)
	}
	return m, nil
}

func (m *zipMember) Name() string { return m.name }
func (m *zipMember) Head() []byte { return m.head }

// Open implements input.
func (m *zipMember) Open() (io.ReadCloser, func() float64, error) {
	a, err := m.archive.open()
	if err != nil {
		return nil, nil, err
	}
	f := a.files[m.file]
	if f == nil {
		a.close()
		return nil, nil, fmt.Errorf("%s: is gone; did the file change?", m.name)
	}
	r, err := f.Open()
	if err != nil {
		a.close()
		return nil, nil, fmt.Errorf("%s: is damaged (%w); copy the file again", m.name, err)
	}
	o := &openMember{ReadCloser: r, of: a, size: float64(max(1, f.UncompressedSize64))}
	return o, func() float64 { return -1 }, nil
}

// openMember is a file within an archive, opened.
type openMember struct {
	io.ReadCloser
	of   *npzArchive
	size float64
}

func (o *openMember) Close() error { return errors.Join(o.ReadCloser.Close(), o.of.close()) }

// pairsOfArrays are what people call rows and labels, as scikit-learn, Keras and NumPy do; those to train on first.
var pairsOfArrays = [][2]string{{"x", "y"}, {"x_train", "y_train"}, {"train_x", "train_y"}, {"data", "target"}, {"data", "targets"}, {"data", "labels"}, {"data", "label"},
	{"features", "labels"}, {"features", "target"}, {"images", "labels"}, {"train_images", "train_labels"}, {"arr_0", "arr_1"}}

// unpackedSource is the source of an archive that is no sparse matrix; nil if it is one.
func (n *npz) unpackedSource(ctx context.Context, a *npzArchive, opt Options) (Source, error) {
	if a.files["format.npy"] != nil && a.files["indptr.npy"] != nil || a.files["xl/workbook.xml"] != nil {
		return nil, nil
	}
	var arrays, others []string
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		if array, ok := strings.CutSuffix(name, ".npy"); ok {
			arrays = append(arrays, array)
		} else if !isAside(a.files[name]) {
			others = append(others, name)
		}
	}
	switch {
	case len(arrays) > 0 && len(others) == 0:
		return n.dense(ctx, arrays, opt)
	case len(arrays) == 0 && len(others) == 1:
		m, err := newZipMember(n, others[0])
		if err != nil {
			return nil, err
		}
		if f := formatOf(m.head, false); f != nil && f.open == nil {
			return nil, fmt.Errorf("%s: is %s within an archive; unpack it", m.name, f.what)
		}
		return newSource(ctx, m, opt)
	}
	return nil, fmt.Errorf("%s: is a zip archive (of %s) with neither one file of data nor arrays alone; unpack it", n.Name(), a.names())
}

// isAside says that a file of an archive is a folder, or what macOS puts beside files.
func isAside(f *zip.File) bool {
	return strings.HasSuffix(f.Name, "/") || strings.HasPrefix(f.Name, "__MACOSX/") || strings.HasSuffix(f.Name, ".DS_Store")
}

// dense is the source of dense arrays.
func (n *npz) dense(ctx context.Context, arrays []string, opt Options) (Source, error) {
	if err := noLists(n.in, opt); err != nil {
		return nil, err
	}
	x, y, err := n.pair(arrays, opt)
	if err != nil {
		return nil, err
	}
	m, err := newZipMember(n, x+".npy")
	if err != nil {
		return nil, err
	}
	if y != "" {
		opt.Label = "none"
	}
	rows, err := newNPYArray(m, opt)
	if err != nil {
		return nil, err
	}
	src, err := rows.orTable(ctx)
	if err != nil || y == "" {
		return src, err
	}
	in, err := newZipMember(n, y+".npy")
	if err != nil {
		return nil, err
	}
	told := opt.Columns.Notice
	if opt.Schema != nil {
		told = nil
	}
	labels, err := labelArray(ctx, in, told)
	if err != nil {
		return nil, err
	}
	if a, ok := labels.(*array); ok && a.rows != rows.rows {
		return nil, fmt.Errorf("%s: has %d rows, and %s %d; each row needs one label", rows.Name(), rows.rows, in.Name(), a.rows)
	}
	if told != nil {
		err := option.Errorf("takes the array %s for the rows, and %s for their labels%s", x, y, others(arrays, x, y))
		told(Notice{Kind: "arrays", Text: err.Error(), Err: err})
	}
	return &labelled{Source: src, labels: &File{Source: labels}}, nil
}

// others names the arrays that are left, for a message.
func others(arrays []string, taken ...string) string {
	left := slices.DeleteFunc(slices.Clone(arrays), func(name string) bool { return slices.Contains(taken, name) })
	if len(left) == 0 {
		return ""
	}
	return ", and leaves out " + strings.Join(firsts(left, 6), ", ")
}

// pair are the names of the arrays of the rows and of the labels, "" if there is none of these.
func (n *npz) pair(arrays []string, opt Options) (x, y string, err error) {
	named := func(name string) string {
		for _, array := range arrays {
			if strings.EqualFold(array, name) {
				return array
			}
		}
		return ""
	}
	labels, asked := opt.LabelsFile == "" && opt.Label != "none", slices.Contains(arrays, opt.Label)
	pairs := pairsOfArrays
	if opt.Schema != nil { // rows to predict or to test on
		pairs = append([][2]string{{"x_test", "y_test"}, {"test_x", "test_y"}, {"test_images", "test_labels"}}, pairs...)
	}
	for _, p := range pairs {
		x, y := named(p[0]), named(p[1])
		if asked {
			y = opt.Label
		}
		switch {
		case x == "" || x == y:
		case !labels || opt.Label != "" && !asked:
			return x, "", nil
		case y != "":
			return x, y, nil
		case opt.Schema != nil:
			return x, "", nil
		}
	}
	if len(arrays) == 1 {
		return arrays[0], "", nil
	}
	if left := slices.DeleteFunc(slices.Clone(arrays), func(name string) bool { return name == opt.Label }); asked && len(left) == 1 {
		return left[0], opt.Label, nil
	}
	return "", "", option.Errorf("%s: has the arrays %s, and their names do not say which has the rows and which the labels; save it by "+
		"numpy.savez(FILE, X=rows, y=labels)", n.Name(), strings.Join(firsts(arrays, 12), ", "))
}
