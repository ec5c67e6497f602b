package report

// HeatMap is a matrix of numbers shown by colour: a confusion matrix, a grid of two
// parameters. Small ones show the numbers as well. More than 120 rows or columns are shown as
// means of neighbours.
type HeatMap struct {
	// RowName and ColumnName say what rows and columns are, Rows and Columns name each.
	RowName, ColumnName string
	Rows, Columns       []string

	// Values are len(Rows) by len(Columns) numbers that choose the colour, from Low (the
	// background) to High; both 0: the range of Values. A NaN is an empty cell.
	Values    [][]float64
	Low, High float64

	// Text is what stands in the cells; nil: Values.
	Text [][]string

	// Legend says what the colours mean.
	Legend string
}
