package learn

import "mercer/matrix"

// Features are the rows that an iterative solver trains on and reads many times.
// They may be in memory, in a file, or recomputed whenever they are needed.
type Features interface {
	// Len is the number of rows n, Dim that of columns D.
	Len() int
	Dim() int

	// Block returns the rows [i, j), which are read-only and valid until the next call.
	Block(i, j int) (matrix.Rows, error)

	// Resident means that blocks stay valid and cost nothing, so that a solver may take
	// all rows at once, Block(0, Len()), and visit them in any order. Otherwise it takes blocks
	// of BlockRows rows, one at a time, and makes the most of each.
	Resident() bool
}

// BlockRows is how many rows a solver takes at a time of features that are not resident.
const BlockRows = 4096

// InMemory are features that are in memory.
func InMemory(rows matrix.Rows) Features { return inMemory{rows} }

type inMemory struct{ matrix.Rows }

func (m inMemory) Block(i, j int) (matrix.Rows, error) { return m.Slice(i, j), nil }
func (inMemory) Resident() bool                        { return true }
