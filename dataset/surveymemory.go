package dataset

import (
	"fmt"

	"mercer/internal/units"
)

// columnBytes is what a survey holds of a column: 48 bytes while it counts, and as many of what it
// tells.
const columnBytes = 96

// tooWide is an error if a survey of so many columns does not fit into the memory, 0 being no bound.
// It is for sparse rows, of which a few bytes may claim any number of columns.
func tooWide(columns, memory int64) error {
	need := columns * columnBytes
	if memory <= 0 || need <= memory {
		return nil
	}
	takes, has := units.BytesApart(need, memory)
	return fmt.Errorf("to look at %d columns takes %s, %d bytes of each, but there are %s of memory; correct the number if it is wrong, "+
		"else number the columns anew, as by hashing them to fewer, or give more memory",
		columns, takes, columnBytes, has)
}
