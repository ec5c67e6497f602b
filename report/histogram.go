package report

// Histogram counts values in neighbouring bins: bin i is [Edges[i], Edges[i+1]) and holds
// Counts[i] of them, so that there is one edge more than counts. Edges rise.
type Histogram struct {
	X      Axis
	Edges  []float64
	Counts []float64

	// What is counted, such as "rows"; it names the other axis.
	What string
}
