package learn

import "mercer/matrix"

// Features are the rows that an iterative solver trains on: it goes through them many times.
// They may be in memory, in a file, or recomputed each time they are asked for.
type Features interface {
	// Len is the number of rows n, Dim that of columns D.
	Len() int
	Dim() int

	// Block gives the rows [i, j), which are to be read only and valid until the next call.
	Block(i, j int) (matrix.Rows, error)

	// Resident says that blocks stay valid and cost nothing, so that a solver may take all
	// rows at once, Block(0, Len()), and go through them in any order. Else it takes blocks
	// of BlockRows rows, one at a time, and makes much of each.
	Resident() bool
}

// BlockRows is how many rows a solver takes at a time of features that are not resident.
const BlockRows = 4096

// InMemory are features that are in memory as they are.
func InMemory(rows matrix.Rows) Features { return inMemory{rows} }

type inMemory struct{ matrix.Rows }

func (m inMemory) Block(i, j int) (matrix.Rows, error) { return m.Slice(i, j), nil }
func (inMemory) Resident() bool                        { return true }
