package shard

import (
	"context"
	"strings"
)

// copies is the folder of a place for data that were copied for the training alone.
const copies = "data/"

// Remove removes the plan in a place, and all that its rounds have written there, with data that were copied into the folder "data". What else is
// there stays. It returns the number of files. One that is interrupted can be done again.
func Remove(ctx context.Context, at Place) (n int, err error) {
	p, err := Load(ctx, at)
	if err != nil {
		return 0, err
	}
	files, err := at.List(ctx)
	if err != nil {
		return 0, err
	}
	rounds := course{p.Data.Table, p.Config}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		of, _, in := strings.Cut(file, "/")
		if round, is := strings.CutSuffix(of, ".merged"); (in || is) && (rounds.knows(round) || of == scored) || strings.HasPrefix(file, copies) {
			if err := at.Delete(ctx, file); err != nil {
				return n, err
			}
			n++
		}
	}
	return n + 1, at.Delete(ctx, planFile) // the last, by which the others are known
}
