package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"mercer/internal/engine/units"
	"mercer/matrix"
)

// bagLabels joins bags with labels from a separate file, one per bag. All labels
// are in memory.
type bagLabels struct {
	Bags
	file string
	all  matrix.Batch   // one per label
	at   map[string]int // the label of a bag by its name; nil: in the order of the bags
}

// withBagLabels reads the file of labels of the options: IDX, NPY or text. A text with two cells per line names
// bags, if bags have names.
func withBagLabels(ctx context.Context, bags Bags, opt Options, named bool) (Bags, error) {
	in, err := openInput(ctx, opt.LabelsFile)
	if err != nil {
		return nil, err
	}
	l := &bagLabels{Bags: bags, file: in.Name()}
	opt = Options{Label: "0", Header: "no", Encoding: opt.Encoding}
	if f := formatOf(in.Head(), false); len(in.Head()) > 0 && (f == nil || !f.array) {
		opt.Format = "csv"
		text, err := asUTF8(in, opt.Encoding)
		if err != nil {
			in.Close()
			return nil, err
		}
		if sep := twoCells(text.Head()); named && sep != 0 {
			defer in.Close()
			return l, l.readNames(text, sep)
		}
	}
	f, err := openLabels(ctx, in, opt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for b, err := range Each(ctx, f) {
		if err != nil {
			return nil, err
		}
		l.all.Outputs = b.Outputs
		l.all.Y = append(l.all.Y, b.Y...)
		if b.Names != nil {
			for len(l.all.Names) < b.First {
				l.all.Names = append(l.all.Names, "")
			}
			l.all.Names = append(l.all.Names, b.Names...)
		} else if l.all.Names != nil {
			l.all.Names = append(l.all.Names, make([]string, b.X.Len())...)
		}
	}
	return l, nil
}

// twoCells is the separator if all lines in the head of a text have
// two cells, otherwise 0.
func twoCells(head []byte) byte {
	whole := len(head) < headSize
	for _, sep := range []byte("\t;, ") {
		c, lines, ok := cutter{sep: sep}, 0, true
		for rest := head; ok && len(rest) > 0; {
			var line []byte
			line, rest, _ = record(rest, true)
			if isBlank(line, sep) || len(rest) == 0 && !whole {
				continue
			}
			cells, err := c.all(line, false, nil)
			ok = err == nil && len(cells) == 2
			lines++
		}
		if ok && lines > 0 {
			return sep
		}
	}
	return 0
}

// readNames reads lines of a name and a label.
func (l *bagLabels) readNames(in input, sep byte) error {
	src, _, err := in.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	l.at, l.all.Outputs = map[string]int{}, 1
	lines := bufio.NewScanner(src)
	c := cutter{sep: sep}
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimPrefix(lines.Text(), string(byteOrderMark))
		if isBlank([]byte(line), sep) {
			continue
		}
		cells, err := c.all([]byte(line), false, nil)
		switch {
		case err != nil:
			return atLine(l.file, number, err)
		case len(cells) != 2:
			return atLine(l.file, number, fmt.Errorf("%s where the lines before have two, the name of a bag and its label",
				units.Plural(len(cells), "cell")))
		case missing(cells[1]) || notFinite(cells[1]):
			return atLine(l.file, number, fmt.Errorf("the label of %q is missing (%q)", cells[0], cells[1]))
		}
		name := path.Clean(string(cells[0]))
		if _, twice := l.at[name]; twice {
			return atLine(l.file, number, fmt.Errorf("%q has a label already", name))
		}
		l.at[name] = len(l.all.Y)
		label := folderLabel(string(cells[1]))
		l.all.Y = append(l.all.Y, label.Y...)
		l.all.Names = append(l.all.Names, strings.Join(label.Names, ""))
	}
	err = lines.Err()
	if at := (*RowError)(nil); err == nil || errors.As(err, &at) { // which names its place
		return err
	}
	return fmt.Errorf("%s: %w", l.file, err)
}

// of is the number of a bag's label, -1 if it has none.
func (l *bagLabels) of(number int, key string) int {
	if l.at == nil {
		if number*l.all.Outputs >= len(l.all.Y) {
			return -1
		}
		return number
	}
	if i, ok := l.at[path.Clean(key)]; ok {
		return i
	}
	// A file may be named without the extension for its format.
	stem, _, _ := strings.Cut(path.Base(key), ".")
	if i, ok := l.at[path.Join(path.Dir(key), stem)]; ok {
		return i
	}
	return -1
}

// Open implements Bags.
func (l *bagLabels) Open(ctx context.Context) (BagReader, error) {
	r, err := l.Bags.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &bagLabelsReader{BagReader: r, bagLabels: l}, nil
}

// bagLabelsReader gives the bags of a reader their labels.
type bagLabelsReader struct {
	BagReader
	*bagLabels
	bags  int
	y     []float64
	names []string
}

// Next implements BagReader.
func (r *bagLabelsReader) Next() (*BagBatch, error) {
	b, err := r.BagReader.Next()
	if errors.Is(err, io.EOF) && r.at == nil && r.bags*r.all.Outputs < len(r.all.Y) {
		return nil, r.mismatch(r.bags)
	}
	if err != nil {
		return nil, err
	}
	r.y, r.names = r.y[:0], r.names[:0]
	text := false
	for i := range b.Len() {
		key := ""
		if b.Keys != nil {
			key = b.Keys[i]
		}
		k := r.of(r.bags, key)
		if k < 0 && r.at != nil {
			return nil, fmt.Errorf("%s: there is no label for bag %q of %s", r.file, key, r.Name())
		}
		if k < 0 {
			bags := b.First + b.Len()
			for {
				if b, err = r.BagReader.Next(); err != nil {
					break
				}
				bags = b.First + b.Len()
			}
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			return nil, r.mismatch(bags)
		}
		r.bags++
		r.y = append(r.y, r.all.Y[k*r.all.Outputs:(k+1)*r.all.Outputs]...)
		name := ""
		if r.all.Names != nil {
			name = r.all.Names[k]
		}
		r.names = append(r.names, name)
		text = text || name != ""
	}
	b.Outputs, b.Y, b.Names = r.all.Outputs, r.y, nil
	if text {
		b.Names = r.names
	}
	return b, nil
}

func (r *bagLabelsReader) mismatch(bags int) error {
	return fmt.Errorf("%s: %d labels for the %d bags of %s; each bag needs one", r.file, len(r.all.Y)/r.all.Outputs, bags, r.Name())
}
