package dataset

import (
	"bytes"
	"context"
	"fmt"

	"mercer/internal/engine/option"
)

// format is a format of data that are read. A new one is a file that has its reader, and a row of the table.
type format struct {
	name string // for Options.Format
	what string // what a file that has it is; "" if it is taken by the user's word

	// text says that it is text, in any encoding; else it is told by its first bytes, whatever Options.Format says.
	text bool

	// is reports whether a file that begins so has the format; nil: only if it is asked for.
	is func(head []byte) bool

	// open makes the source. For a table whose cells have types it is nil, and typed begins to read it.
	open  func(ctx context.Context, in input, opt Options) (Source, error)
	typed func(ctx context.Context, in input) (typedTable, error)

	// seeks, if not nil, says that a file that begins so is not read from its beginning, so that it is unpacked first.
	seeks func(head []byte) bool

	// whole says that a file is not divided between lines into pieces, but between groups of rows of these sizes, or, if nil, not at all.
	whole  bool
	groups func(in *packed) ([]int64, error)

	// array says that it is an array of numbers, which may be that of labels.
	array bool
}

// readers are the formats, in the order in which they are looked for.
func readers() []format {
	inputs := func(open func(in input, opt Options) (Source, error)) func(context.Context, input, Options) (Source, error) {
		return func(_ context.Context, in input, opt Options) (Source, error) { return open(in, opt) }
	}
	table := func(ctx context.Context, in input, opt Options) (Source, error) {
		return newTable(ctx, in, opt, tableFormat(opt.Format))
	}
	return []format{
		{name: "csv", text: true, open: table}, // and what has no other format
		{name: "tsv", text: true, open: table},
		{name: "blank", text: true, open: table},
		{name: "arff", text: true, is: looksLikeARFF, open: table, whole: true},
		{name: "jsonl", what: "a file with a JSON object a line", text: true, is: looksLikeJSONLines, typed: newJSONTable, whole: true},
		{name: "libsvm", text: true, is: looksLikeLIBSVM, open: inputs(newLIBSVM)},
		{name: "parquet", what: "a Parquet file", is: begins(parquetMagic), typed: typedFile(newParquetTable),
			seeks: begins(parquetMagic), whole: true, groups: parquetGroups},
		{name: "arrow", what: "an Arrow file or stream", is: looksLikeArrow, typed: typedFile(newArrowTable), seeks: isArrowFile,
			whole: true},
		{name: "npy", what: "an NPY file", is: begins(npyMagic), open: newNPY, array: true},
		{name: "npz", what: "an npz archive", is: begins(zipMagic), open: newNPZ},
		{name: "idx", what: "an IDX file", is: looksLikeIDX, open: inputs(newIDX), array: true},
	}
}

// noLists refuses lists of labels in arrays.
func noLists(in input, opt Options) error {
	if opt.LabelSeparator == "" {
		return nil
	}
	return option.Errorf("%s: %s is for text; name columns of 0 and 1 with %s", in.Name(), option.Ref("label_separator"), option.Ref("label"))
}

// Formats are the formats of data that are read, for Options.Format.
func Formats() (names []string) {
	for _, f := range readers() {
		names = append(names, f.name)
	}
	return names
}

func begins(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// formatOf is the format of content that begins so, told by its first bytes or, of text, by the first lines; nil if there is none.
func formatOf(head []byte, text bool) *format {
	for _, f := range readers() {
		if f.text == text && f.is != nil && f.is(head) {
			return &f
		}
	}
	return nil
}

// formatNamed is the format with a name; nil if there is none.
func formatNamed(name string) *format {
	for _, f := range readers() {
		if f.name == name {
			return &f
		}
	}
	return nil
}

// formatOfText is the format of text that begins so: the one that is asked for, the one that it looks like, or the first.
func formatOfText(head []byte, asked string) *format {
	if f := formatNamed(asked); f != nil {
		return f
	}
	if f := formatOf(head, true); f != nil {
		return f
	}
	return &readers()[0]
}

// newSource makes the source for the content.
func newSource(ctx context.Context, in input, opt Options) (Source, error) {
	if opt.DropUnlabelled && opt.LabelsFile != "" {
		return nil, option.Errorf("%s: %s is for labels in a column; take the rows that have none out of %s and of the data", in.Name(),
			option.Ref("drop_unlabelled"), opt.LabelsFile)
	}
	if p, ok := in.(*packed); ok && p.typed != nil {
		return newTypedTable(ctx, p.typed, opt)
	}
	head := in.Head()
	if len(head) == 0 {
		return nil, fmt.Errorf("%s: is empty", in.Name())
	}
	if opt.LabelSeparator != "" && opt.LabelsFile != "" {
		return nil, option.Errorf("%s: %s is for lists of labels in a column; a file of labels has one a row", in.Name(),
			option.Ref("label_separator"))
	}
	if err := notForeign(in.Name(), head); err != nil {
		return nil, err
	}
	asked := formatNamed(opt.Format)
	f := formatOf(head, false)
	if asked != nil && asked.what != "" && (f != nil || !asked.text) && (f == nil || f.name != asked.name) {
		return nil, notOfFormat(in, asked.what)
	}
	if f != nil {
		return f.source(ctx, in, opt)
	}
	in, err := asUTF8(in, opt.Encoding)
	if err != nil {
		return nil, err
	}
	head = in.Head()
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return nil, fmt.Errorf("%s: is not text (a byte 0 at position %d) and of no known format; read are %s", in.Name(), i, formats)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, fmt.Errorf("%s: is empty", in.Name())
	}
	if line := loneReturn(head); line > 0 {
		return nil, fmt.Errorf("%s:%d: the line ends with a carriage return alone, and others with newlines; make all ends alike: tr '\\r' '\\n' < FILE > DATA",
			in.Name(), line)
	}
	if severalLines.Match(head) {
		return nil, fmt.Errorf("%s: is one JSON object over several lines; write an object a line, as jq -c . does", in.Name())
	}
	f = formatOfText(head, opt.Format)
	if f.what != "" && !f.is(head) {
		return nil, notOfFormat(in, f.what)
	}
	if asked == nil && f.what == "" { // else no other text looks like it
		if err := notForeignText(in.Name(), head); err != nil {
			return nil, err
		}
	}
	return f.source(ctx, in, opt)
}

// source makes the source.
func (f *format) source(ctx context.Context, in input, opt Options) (Source, error) {
	if f.typed == nil {
		return f.open(ctx, in, opt)
	}
	t, err := f.typed(ctx, in)
	if err != nil {
		return nil, err
	}
	return newTypedTable(ctx, t, opt)
}

// typedFile returns what begins to read a table whose cells have types, which is in no other file.
func typedFile[T typedTable](make func(*packed) (T, error)) func(context.Context, input) (typedTable, error) {
	return func(_ context.Context, in input) (typedTable, error) {
		p, ok := in.(*packed)
		if !ok {
			return nil, fmt.Errorf("%s: is a Parquet or Arrow table within another file", in.Name())
		}
		return make(p)
	}
}
