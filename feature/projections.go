package feature

// projections are random projections, of the rows themselves and from kernels' feature spaces.
func projections() []kind { return nil }
