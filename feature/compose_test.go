package feature

// composedCases has chains and sums.
func composedCases() []mapCase { return nil }
