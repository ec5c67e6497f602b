package feature

// additive are the maps of kernels of histograms.
func additive() []kind { return nil }
