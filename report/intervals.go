package report

// Intervals are named values with their uncertainty, one a line: results of tuning, models
// compared.
type Intervals struct {
	X    Axis
	Rows []Interval

	// Bars draws bars from 0 instead of dots. The axis must not be logarithmic.
	Bars bool

	// Marks are vertical lines with a name, such as 0 for differences.
	Marks []Mark
}

// Interval is a value between Low and High; both equal to Value, or NaN: no uncertainty known.
type Interval struct {
	Name             string
	Value, Low, High float64

	// Best marks the line.
	Best bool
}
