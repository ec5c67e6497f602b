package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mercer/internal/engine/option"
	"mercer/matrix"
)

// labelled joins rows with labels from a separate file.
type labelled struct {
	Source
	labels *File
}

// withLabelsFile joins src with a file of labels: IDX, NPY or text, one row per label (or
// one row of numbers for the targets of a row).
func withLabelsFile(ctx context.Context, src Source, path string, of Options) (Source, error) {
	if len(src.Schema().Labels) > 0 {
		return nil, twiceLabelled(src.Name())
	}
	in, err := openInput(ctx, path)
	if err != nil {
		return nil, err
	}
	head := in.Head()
	opt := Options{Label: "0", Header: "no", Encoding: of.Encoding}
	if opt.Columns.Notice = of.Columns.Notice; of.Schema != nil {
		opt.Columns.Notice = nil
	}
	if f := formatOf(head, false); len(head) > 0 && (f == nil || !f.array) {
		opt.Format = "csv"
	}
	f, err := openLabels(ctx, in, opt)
	if err != nil {
		return nil, err
	}
	return &labelled{Source: src, labels: f}, nil
}

// openLabels opens a file whose columns are all labels.
func openLabels(ctx context.Context, in *packed, opt Options) (*File, error) {
	src, err := newLabelSource(ctx, in, opt)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &File{Source: src, in: in}, nil
}

func newLabelSource(ctx context.Context, in *packed, opt Options) (Source, error) {
	if opt.Format == "csv" {
		text, err := asUTF8(in, opt.Encoding)
		if err != nil {
			return nil, err
		}
		t := &table{in: text, opt: opt, sep: ','}
		head, err := wholeLines(text)
		if err != nil {
			return nil, err
		}
		columns, err := t.look(head)
		if err != nil {
			return nil, err
		}
		if len(columns) != 1 {
			return nil, option.Errorf("%s: a file of labels has one label a line; this one has %d columns (name one in the data with %s)", in.Name(),
				len(columns), option.Ref("label"))
		}
		t.names = []string{"0"}
		t.roles = []role{{kind: label}}
		t.schema = Schema{Format: "csv", Width: 1, Labels: []Place{{"0", 0}}}
		return t, nil
	}
	return labelArray(ctx, in, opt.Columns.Notice)
}

// allLabels makes all columns labels.
func (a *array) allLabels() {
	a.inputs = []int{}
	a.schema.Dim, a.schema.Labels = 0, nil
	for j := range a.cols {
		a.targets = append(a.targets, j)
		a.schema.Labels = append(a.schema.Labels, Place{fmt.Sprint(j), j})
	}
}

func (l *labelled) Open(ctx context.Context) (Reader, error) {
	x, err := l.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	y, err := l.labels.Open(ctx)
	if err != nil {
		x.Close()
		return nil, err
	}
	return &labelledReader{Reader: x, labels: y, source: l}, nil
}

// twiceLabelled is the error for data with labels in a column and in a file.
func twiceLabelled(source string) error {
	return option.Errorf("%s: has labels in a column; leave out %s or %s", source, option.Ref("label"), option.Ref("labels_file"))
}

// labelledReader reads rows and labels side by side.
type labelledReader struct {
	Reader
	labels Reader
	source *labelled

	have  *matrix.Batch // labels read, of which the first `used` are consumed
	used  int
	y     []float64
	names []string
	rows  int
}

func (r *labelledReader) Next() (*matrix.Batch, error) {
	b, err := r.Reader.Next()
	if errors.Is(err, io.EOF) {
		left, lerr := r.countLabels()
		if lerr != nil {
			return nil, lerr
		}
		if left > 0 {
			return nil, r.mismatch(r.rows+left, r.rows)
		}
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	n := b.X.Len()
	r.y, r.names = r.y[:0], r.names[:0]
	text := false
	for got := 0; got < n; {
		if r.have == nil || r.used == r.have.X.Len() {
			if r.have, err = r.labels.Next(); errors.Is(err, io.EOF) {
				left, cerr := countRows(r.Reader)
				if cerr != nil {
					return nil, cerr
				}
				return nil, r.mismatch(r.rows+got, r.rows+n+left)
			}
			if err != nil {
				return nil, err
			}
			r.used = 0
		}
		take := min(n-got, r.have.X.Len()-r.used)
		k := r.have.Outputs
		r.y = append(r.y, r.have.Y[r.used*k:(r.used+take)*k]...)
		if r.have.Names != nil {
			text = true
			for len(r.names) < got {
				r.names = append(r.names, "")
			}
			r.names = append(r.names, r.have.Names[r.used:r.used+take]...)
		} else if text {
			r.names = append(r.names, make([]string, take)...)
		}
		got += take
		r.used += take
	}
	r.rows += n
	b.Outputs, b.Y, b.Names = r.have.Outputs, r.y, nil
	if text {
		b.Names = r.names
	}
	return b, nil
}

// countLabels counts the labels that are left.
func (r *labelledReader) countLabels() (int, error) {
	n := 0
	if r.have != nil {
		n = r.have.X.Len() - r.used
	}
	rows, err := countRows(r.labels)
	return n + rows, err
}

// countRows counts the rows that a reader has left.
func countRows(r Reader) (n int, err error) {
	for b, err := range restOf(r) {
		if err != nil {
			return n, err
		}
		n += b.X.Len()
	}
	return n, nil
}

func (r *labelledReader) mismatch(labels, rows int) error {
	return fmt.Errorf("%s: %d labels for the %d rows of %s; each row needs one", r.source.labels.Name(), labels, rows, r.source.Name())
}

func (r *labelledReader) Close() error {
	return errors.Join(r.Reader.Close(), r.labels.Close())
}
