package rfm

import (
	"cmp"

	"mercer/exact"
	"mercer/internal/landmarks"
)

// Bytes is the memory of Fit for rows of dim numbers besides these and their targets: the machines, the training of
// one of them on as many rows as a leaf may have, and that of metrics on a sample.
func Bytes(rows, dim, outputs int, opt Options) float64 {
	leaf, centres := cmp.Or(opt.Leaf, usualLeaf), cmp.Or(opt.Centres, usualCentres)
	if opt.Leaf == 0 && opt.Centres == 0 && rows > leaf {
		leaf, centres = 2*leaf, min(mostDirect, 2*centres)
	}
	leaf = min(leaf, rows)
	centres = min(centres, leaf)
	n, d, m, k := float64(rows), float64(dim), float64(centres), float64(outputs)

	// Halves of leaves may have no more than half of the rows that a leaf may have.
	leaves := max(1, 2*n/float64(leaf))
	machines := float64(cmp.Or(opt.Members, usualMembers)) * leaves * m * (4*d + 16*k)

	one := 8 * float64(leaf) * (d + k) // the leaf's rows, with and without the metric
	if centres > mostDirect {
		one += float64(exact.FalkonBytes(leaf, dim, centres, outputs, false))
	} else {
		one += 8*float64(leaf)*m + float64(landmarks.Bytes(centres, dim, outputs)) // the kernel, in the order of rows and divided
	}
	sample, few := min(n, sampleRows), min(n, chooseLandmarks)
	metrics := sample*(12*d+4*few) + 16*few*few
	return machines + max(one, metrics)
}
