package learn

import (
	"context"
	"testing"

	"mercer/matrix"
)

func TestColumnsAreTheRowsTransposed(t *testing.T) {
	z, _ := blobs(41, BlockRows+30, 3, 2)
	for i := range z.Rows {
		z.Row(i)[i%3] = 0
	}
	for _, rows := range []matrix.Rows{{Dense: z}, {CSR: toCSR(z)}} {
		c, err := newColumns(context.Background(), &fileLike{rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		for j := range z.Cols {
			got := make([]float32, z.Rows)
			idx, val := c.column(j)
			for e, v := range val {
				if idx != nil {
					e = int(idx[e])
				}
				got[e] += v
			}
			for i, v := range got {
				if v != z.Row(i)[j] {
					t.Fatalf("sparse %t: row %d of column %d is %g, want %g", rows.CSR != nil, i, j, v, z.Row(i)[j])
				}
			}
		}
	}
}
