package learn

import (
	"context"
	"fmt"
	"slices"

	"mercer/internal/engine/cluster"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// KMeans is the configuration of k-means on features: seeds of k-means++, then Lloyd's iteration on as many rows as take no more than
// Bytes, drawn at random, and then the others batch by batch.
type KMeans struct {
	// Clusters is k, 2 or more; Starts is the number of seedings, of which the best is kept, 0 meaning 4.
	Clusters, Starts int

	// MaxIter bounds Lloyd's iterations, 0 meaning 100. Seed chooses the random streams.
	MaxIter int
	Seed    uint64

	// Bytes bounds the rows of Lloyd's iteration, 4·D a row; 0 means 1 GiB.
	Bytes int64

	// Progress, if not nil, is told the number of starts that are done.
	Progress func(starts int)
}

// KMeansReport describes clusters.
type KMeansReport struct {
	// Sizes are the weights of the rows of the clusters, the largest first.
	Sizes []float64 `json:"sizes"`

	// Inertia is the weighted sum of the squared distances to the nearest centres, Explained the part of the squared distances to the
	// mean that it leaves out.
	Inertia   float64 `json:"inertia"`
	Explained float64 `json:"explained"`

	// Iterations is their number in the best start, on Sample rows, if those were not all.
	Iterations int `json:"iterations"`
	Sample     int `json:"sample,omitempty"`
}

// Lines describe the clusters.
func (r *KMeansReport) Lines() []string {
	rows := ""
	if r.Sample > 0 {
		rows = fmt.Sprintf(" on %d rows, and the others in batches", r.Sample)
	}
	return []string{
		fmt.Sprintf("%d clusters of %.6g to %.6g rows hold %.1f %% of the variance", len(r.Sizes), r.Sizes[0], r.Sizes[len(r.Sizes)-1], 100*r.Explained),
		fmt.Sprintf("%d iterations%s", r.Iterations, rows),
	}
}

// FitKMeans finds clusters of the rows z with the given weights (nil: all 1). The scores of the model, c·z - ‖c‖²/2, are largest for
// the nearest centre; with two clusters the one score is the difference, positive for the second. The largest cluster is the first.
func FitKMeans(ctx context.Context, z Features, weights []float64, opt KMeans) (*Linear, *KMeansReport, error) {
	if opt.Starts == 0 {
		opt.Starts = 4
	}
	n, d := z.Len(), z.Dim()
	most := int64(1 << 30)
	if opt.Bytes > 0 {
		most = opt.Bytes
	}
	keep := int(max(int64(64*opt.Clusters), most/int64(4*d)))
	drawn := func(int) bool { return true }
	report := &KMeansReport{}
	if keep < n {
		share := float64(keep) / float64(n)
		drawn = func(i int) bool { return float64(random.Hash(opt.Seed, "kmeans.sample", uint64(i))) < share*0x1p64 }
	} else {
		keep = n
	}
	sample, its := &matrix.Dense{Cols: d, Stride: d, Data: make([]float32, 0, (keep+keep/8)*d)}, []float64(nil)
	err := eachDense(z, func(first int, rows *matrix.Dense) error {
		for i := range rows.Rows {
			if drawn(first + i) {
				sample.Data = append(sample.Data, rows.Row(i)...)
				sample.Rows++
				if weights != nil {
					its = append(its, weights[first+i])
				}
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, nil, err
	}
	if sample.Rows < n {
		report.Sample = sample.Rows
	}
	found, err := cluster.KMeans(ctx, sample, its, cluster.Options{Clusters: min(opt.Clusters, sample.Rows), Starts: opt.Starts, Iterations: opt.MaxIter, Seed: opt.Seed,
		Progress: opt.Progress})
	if err != nil {
		return nil, nil, err
	}
	if found.Centres.Rows < opt.Clusters {
		return nil, nil, fmt.Errorf("%d clusters of %d different rows; ask for fewer clusters", opt.Clusters, found.Centres.Rows)
	}
	report.Iterations = found.Iterations
	if report.Sample > 0 {
		stream := cluster.NewStream(found, its)
		err := eachDense(z, func(first int, rows *matrix.Dense) error {
			batch, own := &matrix.Dense{Cols: d, Stride: d}, []float64(nil)
			for i := range rows.Rows {
				if !drawn(first + i) {
					batch.Data = append(batch.Data, rows.Row(i)...)
					batch.Rows++
					if weights != nil {
						own = append(own, weights[first+i])
					}
				}
			}
			if batch.Rows > 0 {
				stream.Add(ctx, batch, own)
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return judgedClusters(ctx, z, weights, found.Centres, report)
}

// eachDense calls body with all rows, a block at a time, dense.
func eachDense(z Features, body func(first int, rows *matrix.Dense) error) error {
	var work matrix.Dense
	height := max(64, min(BlockRows, 1<<24/z.Dim()))
	for i := 0; i < z.Len(); i += height {
		rows, err := z.Block(i, min(i+height, z.Len()))
		if err != nil {
			return err
		}
		dense := rows.Dense
		if rows.CSR != nil {
			rows.CSR.Densify(&work)
			dense = &work
		}
		if err := body(i, dense); err != nil {
			return err
		}
	}
	return nil
}

// byDistance has a score for each centre, the largest for the nearest.
func byDistance(centres *matrix.Dense) *Linear {
	k, d := centres.Rows, centres.Cols
	l := &Linear{W: matrix.NewDense(d, k), B: make([]float64, k)}
	for t := range k {
		for j, v := range centres.Row(t) {
			l.W.Row(j)[t] = v
		}
		l.B[t] = -vec.DotWide(centres.Row(t), centres.Row(t)) / 2
	}
	return l
}

// judgedClusters orders centres by their rows, and measures them on all.
func judgedClusters(ctx context.Context, z Features, weights []float64, centres *matrix.Dense, report *KMeansReport) (*Linear, *KMeansReport, error) {
	k, d := centres.Rows, centres.Cols
	l := byDistance(centres)
	report.Sizes = make([]float64, k)
	total, norms := 0.0, 0.0
	mean, origin := make([]float64, d), make([]float64, d) // of the differences from the mean of the centres
	for t := range k {
		for j, v := range centres.Row(t) {
			origin[j] += float64(v) / float64(k)
		}
	}
	var scores matrix.Dense
	err := eachDense(z, func(first int, rows *matrix.Dense) error {
		scores.Reshape(rows.Rows, k)
		l.Scores(&scores, matrix.Rows{Dense: rows})
		for i := range rows.Rows {
			w := 1.0
			if weights != nil {
				w = weights[first+i]
			}
			row := scores.Row(i)
			t := Predicted(row)
			if k == 2 {
				t = map[bool]int{true: 1}[row[1] > row[0]]
			}
			x, c := rows.Row(i), centres.Row(t)
			for j, v := range x {
				d := float64(v) - float64(c[j])
				report.Inertia += float64(w * d * d)
				d = float64(v) - origin[j]
				norms += float64(w * d * d)
				mean[j] += float64(w * d)
			}
			report.Sizes[t] += w
			total += w
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, nil, err
	}
	for _, v := range mean {
		norms -= v / total * v
	}
	if norms > 0 {
		report.Explained = 1 - report.Inertia/norms
	}
	order := make([]int, k)
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case report.Sizes[a] > report.Sizes[b]:
			return -1
		case report.Sizes[a] < report.Sizes[b]:
			return 1
		}
		return 0
	})
	sorted, sizes := matrix.NewDense(k, d), make([]float64, k)
	for t, from := range order {
		copy(sorted.Row(t), centres.Row(from))
		sizes[t] = report.Sizes[from]
	}
	report.Sizes = sizes
	l = byDistance(sorted)
	if k == 2 {
		one := &Linear{W: matrix.NewDense(d, 1), B: []float64{l.B[1] - l.B[0]}}
		for j := range d {
			one.W.Row(j)[0] = l.W.Row(j)[1] - l.W.Row(j)[0]
		}
		l = one
	}
	return l, report, nil
}
