package rfm

import (
	"context"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/solve/trees"
	"mercer/matrix"
)

// Few rows held out choose by luck: kinds, metrics, λ and shares are others for each draw of them. So with few rows, whose training
// takes a second, the draw is repeated and the scores are averaged.

// repeats is how often rows held out are drawn, where nothing is given that the data would choose.
func (o *Options) repeats(rows int) int {
	given := o.Members != 0 || o.Leaf != 0 && o.Leaf < rows || o.Centres != 0 || o.Lambda != 0
	switch {
	case given || rows >= fewRows:
		return 1
	case rows >= fewestDraws:
		return 2
	}
	return 4
}

// fewestDraws is the number of rows from which two draws do.
const fewestDraws = 300

// fitSeveral is Fit by several draws of the rows held out. Those whose scores are of the same loss as the first ones are averaged.
func fitSeveral(ctx context.Context, x *matrix.Dense, y []float64, outputs int, weights []float64, opt Options, draws int) (*Machine, *Report, error) {
	var machines []*Machine
	var reports []*Report
	for draw := range draws {
		of := opt
		if draw > 0 {
			of.Seed = random.Hash(opt.Seed, "rfm.draw", uint64(draw))
		}
		if opt.Progress != nil {
			of.Progress = func(share float64) { opt.Progress((float64(draw) + share) / float64(draws)) }
		}
		m, report, err := fitOnce(ctx, x, y, outputs, weights, of)
		if err != nil {
			return nil, nil, err
		}
		if draw == 0 || report.Logistic == reports[0].Logistic && len(m.leaves) == 1 {
			machines, reports = append(machines, m), append(reports, report)
		}
	}
	if len(machines) == 1 || len(machines[0].leaves) > 1 {
		return machines[0], reports[0], nil
	}
	return average(x.Cols, machines, reports)
}

// average is the machine whose scores are the means of those of machines of one leaf each.
func average(dim int, machines []*Machine, reports []*Report) (*Machine, *Report, error) {
	n, r := float64(len(machines)), *reports[0]
	r.Candidates, r.Held, r.Scores = nil, nil, nil
	rest, steps := 0.0, Steps{}
	for _, m := range machines {
		steps.Share += m.steps.Share / n
		rest += 1 - m.steps.Share
	}
	members := map[int]Member{} // by candidate
	spread := &Spread{}
	k := machines[0].outputs
	by := make([][]float64, k)
	for i, m := range machines {
		for j, c := range reports[i].order() {
			one := m.leaves[0][j]
			one.Weight *= (1 - m.steps.Share) / rest
			members[len(r.Candidates)+c] = one
		}
		for c, candidate := range reports[i].Candidates {
			if candidate.Weight > 0 {
				candidate.Weight = members[len(r.Candidates)+c].Weight
			}
			reports[i].Candidates[c] = candidate
		}
		r.Candidates = append(r.Candidates, reports[i].Candidates...)
		r.Held, r.Scores = append(r.Held, reports[i].Held...), append(r.Scores, reports[i].Scores...)
		if s := m.steps; s.Trees != nil {
			factor := s.Share / (n * steps.Share)
			steps.Trees = joined(steps.Trees, s.Trees.Times(slices.Repeat([]float64{factor}, k)))
		}
		if s := m.spread; s != nil {
			for t := range by {
				by[t] = append(by[t], s.Ratios[t*len(s.Ratios)/k:][:len(s.Ratios)/k]...)
			}
		}
	}
	var leaf Leaf
	for _, c := range r.order() {
		leaf = append(leaf, members[c])
	}
	m, err := NewMachine(dim, nil, []Leaf{leaf}, Whole{}, steps)
	if err != nil {
		return nil, nil, err
	}
	if len(by[0]) > 0 {
		spread.Sizes = slices.Clone(machines[0].spread.Sizes)
		for _, ratios := range by {
			slices.Sort(ratios)
			spread.Ratios = append(spread.Ratios, ratios...)
		}
		if err := m.SetSpread(spread); err != nil {
			return nil, nil, err
		}
	}
	r.Centres, r.Trees, r.TreeShare = m.Centres(), 0, steps.Share
	if steps.Trees != nil {
		r.Trees = steps.Trees.Len()
	}
	return m, &r, nil
}

// joined are the trees of both, whose sums add up.
func joined(a, b *trees.Trees) *trees.Trees {
	if a == nil {
		return b
	}
	all := *a
	all.Start = slices.Clone(a.Start)
	for o, v := range b.Start {
		all.Start[o] += v
	}
	all.Columns, all.Thresholds = slices.Concat(a.Columns, b.Columns), slices.Concat(a.Thresholds, b.Thresholds)
	all.Values = slices.Concat(a.Values, b.Values)
	return &all
}
