package dataset

import (
	"fmt"
	"math"

	"mercer/internal/engine/units"
)

// columnBytes is what a training holds for a column of sparse rows: 48 bytes while the survey counts, twice while its lists grow, as many in
// its result, and synthetic rows.
const columnBytes = 192

// ofFile is the most that the columns of a text may take, unless one says how many they are: a file of a few bytes can name any
// number. 0 means that its size is not known.
func ofFile(in input) int64 {
	size := int64(len(in.Head()))
	if size == headSize {
		p, ok := in.(*packed)
		if !ok || p.method != "" || p.size == math.MaxInt64 {
			return 0
		}
		size = p.size
	}
	return 1<<28 + min(size, 1<<40)<<8
}

// tableColumnBytes is what the look at all rows holds for a column of a table: its sample, and what is counted of it.
const tableColumnBytes = 3584

// tooManyColumns is an error if a table has more columns than there is memory for, where 0 means no bound.
func tooManyColumns(columns int, memory int64) error {
	need := int64(columns) * tableColumnBytes
	if memory <= 0 || need <= memory {
		return nil
	}
	takes, has := units.BytesApart(need, memory)
	return fmt.Errorf("a table of %s columns takes %s, but there are %s of memory; write rows of which most cells are empty as LIBSVM text, or "+
		"give more memory", units.Count(columns), takes, has)
}

// tooWide is an error if a survey of so many columns does not fit in memory, where 0 means no bound.
// It is for sparse rows, in which a few bytes may claim any number of columns.
func tooWide(columns, memory int64) error {
	need := columns * columnBytes
	if memory <= 0 || need <= memory {
		return nil
	}
	takes, has := units.BytesApart(need, memory)
	return fmt.Errorf("training on %d columns takes %s, %d bytes of each, but there are %s of memory; correct the number if it is wrong, "+
		"otherwise renumber the columns, for example by hashing them to fewer, or give more memory",
		columns, takes, columnBytes, has)
}
