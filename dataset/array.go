package dataset

import (
	"fmt"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// array is a binary file of numbers, NPY or IDX.
type array struct {
	in     input
	opt    Options
	schema Schema
	kind   element
	rows   int
	cols   int // of the file, labels and weights included
	bag    int // consecutive rows that form a bag, the locations of an image; 0: rows are not in bags
	offset int64
	// Fortran order: columns one after the other.
	fortran bool

	inputs  []int // the columns that are inputs, nil if all are
	targets []int // the columns that are labels
	weight  int   // the column of weights, -1 if there is none
	group   int   // the column that identifies a row's bag, -1 if there is none
}

func (a *array) Name() string    { return a.in.Name() }
func (a *array) Schema() *Schema { return &a.schema }

// maxRow is how many bytes a row may take: a header is trusted only up to this.
const maxRow = 256 << 20

// checkSize refuses sizes that the file cannot have, before anything is allocated for them.
func (a *array) checkSize() error {
	row := int64(a.cols) * int64(max(4, a.kind.size))
	if row > maxRow {
		return fmt.Errorf("%s: rows of %d numbers are wider than any that this program reads", a.in.Name(), a.cols)
	}
	if p, ok := a.in.(*packed); ok && p.method == "" {
		if have := (p.size - a.offset) / int64(a.kind.size) / int64(a.cols); have < int64(a.rows) {
			return a.cutShort(max(0, int(have)))
		}
	}
	return nil
}

// checkBag refuses images that are too large to be held in memory, and options that need columns.
func (a *array) checkBag() error {
	if a.opt.Group != "" || a.opt.Weight != "" || a.opt.Label != "" && a.opt.Label != "none" {
		return option.Errorf("%s: is an array of %d images of %d locations × %d channels, and has no columns for %s, %s or %s; labels come "+
			"from %s, one an image",
			a.Name(), a.rows/a.bag, a.bag, a.cols, option.Ref("group"), option.Ref("label"), option.Ref("weight"), option.Set("labels_file", "FILE"))
	}
	if size := 4 * float64(a.bag) * float64(a.cols); size > maxBag {
		takes, most := units.BytesApart(size, maxBag)
		return fmt.Errorf("%s: images of %d locations × %d channels take %s each; a bag may take %s", a.Name(), a.bag, a.cols, takes, most)
	}
	return nil
}

// cutShort is the error for a file that ends within a row.
func (a *array) cutShort(row int) error {
	what, rows := "row", a.rows
	if a.bag > 0 {
		what, row, rows = "image", row/a.bag, rows/a.bag
	}
	return fmt.Errorf("%s: is cut short: it ends in %s %d (from 0) of the %d that its header promises", a.Name(), what, row, rows)
}
