package dataset

import (
	"bytes"
	"context"
	"fmt"
	"slices"

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

	// open makes the source.
	open func(ctx context.Context, in input, opt Options) (Source, error)
}

// readers are the formats, in the order in which they are looked for.
func readers() []format {
	inputs := func(open func(in input, opt Options) (Source, error)) func(context.Context, input, Options) (Source, error) {
		return func(_ context.Context, in input, opt Options) (Source, error) { return open(in, opt) }
	}
	array := func(open func(in input, opt Options) (Source, error)) func(context.Context, input, Options) (Source, error) {
		return inputs(func(in input, opt Options) (Source, error) {
			if opt.LabelSeparator != "" {
				return nil, option.Errorf("%s: %s is for text; name columns of 0 and 1 with %s", in.Name(), option.Ref("label_separator"),
					option.Ref("label"))
			}
			return open(in, opt)
		})
	}
	table := func(ctx context.Context, in input, opt Options) (Source, error) {
		return newTable(ctx, in, opt, tableFormat(opt.Format))
	}
	return []format{
		{name: "csv", text: true, open: table}, // and what has no other format
		{name: "tsv", text: true, open: table},
		{name: "blank", text: true, open: table},
		{name: "arff", text: true, is: looksLikeARFF, open: table},
		{name: "jsonl", what: "a file with a JSON object a line", text: true, is: looksLikeJSONLines, open: openJSONLines},
		{name: "libsvm", text: true, is: looksLikeLIBSVM, open: inputs(newLIBSVM)},
		{name: "parquet", what: "a Parquet file", is: begins(parquetMagic), open: opensTyped(newParquetTable)},
		{name: "arrow", what: "an Arrow file or stream", is: looksLikeArrow, open: opensTyped(newArrowTable)},
		{name: "npy", what: "an NPY file", is: begins(npyMagic), open: array(newNPY)},
		{name: "npz", what: "an npz archive", is: begins(zipMagic), open: array(newNPZ)},
		{name: "idx", what: "an IDX file", is: looksLikeIDX, open: array(newIDX)},
	}
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

// newSource makes the source for the content.
func newSource(ctx context.Context, in input, opt Options) (Source, error) {
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
	var asked *format
	all := readers()
	if i := slices.IndexFunc(all, func(f format) bool { return f.name == opt.Format }); i >= 0 {
		asked = &all[i]
	}
	f := formatOf(head, false)
	if asked != nil && asked.what != "" && (f != nil || !asked.text) && (f == nil || f.name != asked.name) {
		return nil, notOfFormat(in, asked.what)
	}
	if f != nil {
		return f.open(ctx, in, opt)
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
	switch f = formatOf(head, true); {
	case asked != nil && asked.what != "" && !asked.is(head):
		return nil, notOfFormat(in, asked.what)
	case asked != nil:
		f = asked
	case f != nil && f.what != "": // which no other text looks like
	default:
		if err := notForeignText(in.Name(), head); err != nil {
			return nil, err
		}
	}
	if f == nil {
		f = &all[0]
	}
	return f.open(ctx, in, opt)
}
