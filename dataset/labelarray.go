package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Labels in an array of NumPy are numbers, or texts, or one of several columns has a 1 and the others 0 (one-hot). The latter two are the lines of a file
// of labels.

// labelArray makes a source of an array of labels. told, if not nil, is told what is taken for classes.
func labelArray(ctx context.Context, in input, told func(Notice)) (Source, error) {
	if !begins(npyMagic)(in.Head()) {
		return allLabels(newSource(ctx, in, Options{Label: "none"}))
	}
	h, err := npyHeader(in.Head())
	if err == nil && strings.IndexAny(strings.TrimLeft(h.dtype, "<>=|"), "SU") == 0 {
		return textLabels(ctx, in, &h)
	}
	a, err := newNPYArray(in, Options{Label: "none"})
	if err == nil {
		err = a.assign()
	}
	if err != nil {
		return nil, err
	}
	if a.allLabels(); a.cols < 2 {
		return a, nil
	}
	text, err := oneHot(ctx, a)
	if err != nil || text == nil {
		return a, nil // the next pass says what is wrong
	}
	if told != nil {
		err := fmt.Errorf("%s: has one 1 in each row and 0 otherwise, and is taken for the classes 0 to %d", in.Name(), a.cols-1)
		told(Notice{Kind: "arrays", Text: err.Error(), Err: err})
	}
	return linesOfLabels(ctx, in, text)
}

// allLabels makes all columns of an array labels.
func allLabels(src Source, err error) (*array, error) {
	if err != nil {
		return nil, err
	}
	a := src.(*array)
	a.allLabels()
	return a, nil
}

// linesOfLabels is the source of labels that are written a line each.
func linesOfLabels(ctx context.Context, in input, text []byte) (Source, error) {
	p, err := newPacked(in.Name(), bytesFile{text}, int64(len(text)))
	if err != nil {
		return nil, err
	}
	return newLabelSource(ctx, p, Options{Label: "0", Header: "no", Format: "csv"})
}

// oneHot are the columns that have the 1 of each row, a line each; nil if the rows are not such.
func oneHot(ctx context.Context, a *array) (text []byte, err error) {
	r, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for b, err := range restOf(r) {
		if err != nil {
			return nil, err
		}
		for row := range slices.Chunk(b.Y, a.cols) {
			at := slices.Index(row, 1)
			if at < 0 || slices.ContainsFunc(row[:at], isNotZero) || slices.ContainsFunc(row[at+1:], isNotZero) {
				return nil, nil
			}
			text = append(strconv.AppendInt(text, int64(at), 10), '\n')
		}
	}
	return text, nil
}

func isNotZero(v float64) bool { return v != 0 }

// mostLabelText is how many characters a label of an array may have.
const mostLabelText = 1 << 16

// textLabels are the texts of an array, of so many bytes each (S), or so many code points of four (U), filled up with zeros.
func textLabels(ctx context.Context, in input, h *npyHead) (Source, error) {
	wrong := func(err error) (Source, error) { return nil, fmt.Errorf("%s: %w", in.Name(), err) }
	dtype := strings.TrimLeft(h.dtype, "<>=|")
	size, err := strconv.Atoi(dtype[1:])
	rows := 1
	for i, n := range h.shape {
		if rows *= n; i > 0 && n != 1 {
			return wrong(fmt.Errorf("texts of shape %v; each row needs one label", h.shape))
		}
	}
	if err != nil || size < 1 || size > mostLabelText || len(h.shape) == 0 || rows == 0 {
		return wrong(fmt.Errorf("texts of type %q and shape %v are no labels", h.dtype, h.shape))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if h.dtype[0] == '>' {
		order = binary.BigEndian
	}
	src, _, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := bufio.NewReaderSize(src, 1<<16)
	if _, err := io.CopyN(io.Discard, r, int64(h.end)); err != nil {
		return wrong(err)
	}
	if dtype[0] == 'U' {
		size *= 4
	}
	b := make([]byte, size)
	var text bytes.Buffer
	lines := csv.NewWriter(&text)
	for row := range rows {
		if _, err := io.ReadFull(r, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return wrong(fmt.Errorf("is cut short: it ends in row %d (from 0) of the %d that its header promises", row, rows))
		} else if err != nil {
			return wrong(err)
		}
		label := strings.TrimRight(string(b), "\x00")
		if dtype[0] == 'U' {
			runes := make([]rune, 0, size/4)
			for at := 0; at < size; at += 4 {
				runes = append(runes, rune(order.Uint32(b[at:])))
			}
			label = strings.TrimRight(string(runes), "\x00")
		}
		if err := lines.Write([]string{label}); err != nil {
			return wrong(err)
		}
	}
	if _, err := r.ReadByte(); err == nil {
		return wrong(fmt.Errorf("goes on after the %d texts that its header promises", rows))
	}
	if lines.Flush(); lines.Error() != nil {
		return wrong(lines.Error())
	}
	return linesOfLabels(ctx, in, text.Bytes())
}
