package report

// Ranks is a critical-difference diagram (Demšar, "Statistical comparisons of classifiers over
// multiple data sets", 2006): methods on an axis of their average ranks, the best on the left,
// with bars that join those whose ranks do not differ significantly.
type Ranks struct {
	Names    []string
	Averages []float64 // rank of each name, from 1

	// Critical is the critical difference, shown as a bar above the axis; 0: none.
	Critical float64

	// Groups are index lists into Names whose members do not differ; nil: the largest runs of
	// ranks within Critical.
	Groups [][]int
}
