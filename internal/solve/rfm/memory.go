package rfm

import (
	"cmp"

	"mercer/internal/solve/exact"
	"mercer/internal/solve/landmarks"
	"mercer/internal/solve/trees"
)

// sizes are the bounds of the rows of a leaf, of the landmarks of a machine, and of the machines of a leaf, for n rows.
func sizes(n int, opt Options) (leaf, centres, members int) {
	members = usualMembers
	if n > manyRows {
		members = 1
	}
	return cmp.Or(opt.Leaf, usualLeaf), cmp.Or(opt.Centres, usualCentres), cmp.Or(opt.Members, members)
}

// LeafRows is the bound of the rows of a leaf.
func LeafRows(opt Options) int {
	leaf, _, _ := sizes(0, opt)
	return leaf
}

// Bytes is the memory of Fit for n rows of d dimensions beside the rows, at most: all machines, 12d + 16K for each
// landmark, and 8K more with the logistic loss; the training of one, with landmarks.Bytes or exact.FalkonBytes and the kernel of a few
// thousand rows, or for the logistic loss of all, but at most 256 MiB; 64 bytes
// a row to divide them; and boosted trees (trees.Bytes).
func Bytes(n, d, outputs int, opt Options) int64 {
	leaf, centres, members := sizes(n, opt)
	leaf = min(leaf, n)
	centres = min(centres, leaf)
	// Leaves are at least a quarter full, and rows near nodes are in several.
	all := min(int64(n)*2, int64(centres)*int64(max(1, 4*n/leaf)))
	if n > leaf && centres <= mostDirect { // there are machines for all rows
		leaf, centres = max(leaf, min(n, wholeRows)), min(n, wholeCentres(opt))
		all += int64(centres)
	}
	one := directBytes(centres, d, outputs)
	all *= int64(opt.repeats(n))
	landmark := int64(12*d + 16*outputs)
	if opt.Logistic {
		landmark += 8 * int64(outputs) // α by the logistic loss
		one += 4 * int64(leaf) * int64(logisticLandmarks(leaf, centres))
	}
	if centres > mostDirect {
		one = exact.FalkonBytes(leaf, d, centres, outputs, false)
	}
	bytes := all*int64(members)*landmark + one + 4*int64(leaf)*int64(3*d) + dividing*int64(n)
	if !opt.Smooth && centres <= mostDirect {
		bytes += trees.Bytes(min(n, wholeRows), d, outputs)
	}
	return bytes
}

// dividing is the number of bytes a row that a tree takes to grow: which rows belong to both sides of the nodes from the root to a
// leaf, and their projections.
const dividing = 64

// LeafWithin is the bound of the rows of a leaf with which Fit takes no more than so many bytes: that of opt, doubled until
// there are few enough machines. It is 0 if one machine takes more.
func LeafWithin(bytes int64, n, d, outputs int, opt Options) int {
	opt.Leaf, _, _ = sizes(n, opt)
	for ; Bytes(n, d, outputs, opt) > bytes; opt.Leaf *= 2 {
		if opt.Leaf >= n {
			return 0
		}
	}
	return opt.Leaf
}

// directBytes is the memory of the training of a machine by normal equations.
func directBytes(centres, d, outputs int) int64 {
	return landmarks.Bytes(centres, d, outputs) + 4*(mostHeld+2*valueRows)*int64(centres)
}
