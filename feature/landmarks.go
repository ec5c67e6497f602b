package feature

// landmarks are the maps that compare rows with some of a sample.
func landmarks() []kind { return nil }
