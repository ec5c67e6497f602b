package train

import (
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
)

// drawGolden draws synthetic rows or bags that resemble the data, and notes the ranges of columns.
func (f *job) drawGolden() error {
	if f.bag == nil {
		f.schema.Columns = slices.Clone(f.schema.Columns)
		for i := range f.seen { // of rows without mean targets
			f.schema.Columns[i].Seen = f.seen[i].Seen
		}
		f.golden = drawRows(random.New(f.cfg.Seed, "golden"), model.GoldenRows, f.sum)
		return nil
	}
	members := drawRows(random.New(f.cfg.Seed, "golden"), model.GoldenBags[model.GoldenRows], f.bag.sum.Summary)
	x := matrix.NewDense(model.GoldenRows, f.schema.Dim)
	if err := f.bag.mapping.Pool(x, matrix.Rows{Dense: members}, model.GoldenBags); err != nil {
		return f.located(err)
	}
	f.golden, f.bag.golden = x, members
	return nil
}

// drawRows draws synthetic rows that resemble those of a summary: normal with the mean and standard
// deviation of each column.
func drawRows(s *random.Stream, n int, sum *dataset.Summary) *matrix.Dense {
	x := matrix.NewDense(n, sum.Dim)
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			c := &sum.Columns[j]
			row[j] = float32(min(max(c.Mean+math.Sqrt(c.Variance)*s.Normal(), c.Min), c.Max))
		}
	}
	return x
}
