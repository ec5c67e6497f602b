package dataset

import (
	"fmt"

	"mercer/internal/engine/units"
)

// columnBytes is what a survey holds for a column: 48 bytes while it counts, and as many in
// its result.
const columnBytes = 96

// ofSmallFile is the most that a survey may hold of a file below headSize, unless one says how wide its rows are.
const ofSmallFile = 1 << 30

// tooWide is an error if a survey of so many columns does not fit in memory, where 0 means no bound.
// It is for sparse rows, in which a few bytes may claim any number of columns.
func tooWide(columns, memory int64) error {
	need := columns * columnBytes
	if memory <= 0 || need <= memory {
		return nil
	}
	takes, has := units.BytesApart(need, memory)
	return fmt.Errorf("a survey of %d columns takes %s, %d bytes of each, but there are %s of memory; correct the number if it is wrong, "+
		"otherwise renumber the columns, for example by hashing them to fewer, or give more memory",
		columns, takes, columnBytes, has)
}
