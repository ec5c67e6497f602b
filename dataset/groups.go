package dataset

// Groups says which group each row of the last batch of r is of, where the source was opened
// with Options.Group; nil where it was not. It is valid until the next batch.
func Groups(r Reader) []string {
	if g, ok := r.(grouped); ok && len(g.groups()) > 0 {
		return g.groups()
	}
	return nil
}
