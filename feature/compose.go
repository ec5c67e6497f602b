package feature

// compositions are maps made of maps.
func compositions() []kind { return nil }
