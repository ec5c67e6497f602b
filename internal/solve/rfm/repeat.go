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

// fitSeveral is Fit by several draws of the rows held out. Those whose scores are of the loss that most draws prefer, or the first one if none
// is, are averaged.
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
		machines, reports = append(machines, m), append(reports, report)
	}
	kept := alike(reports)
	if len(kept) == 1 {
		return machines[kept[0]], reports[kept[0]], nil
	}
	for to, draw := range kept {
		machines[to], reports[to] = machines[draw], reports[draw]
	}
	machines, reports = machines[:len(kept)], reports[:len(kept)]
	return average(x.Cols, machines, reports)
}

// alike are the draws of the loss that most of them prefer, or the first one.
func alike(reports []*Report) (draws []int) {
	logistic := 0
	for _, r := range reports {
		if r.Logistic {
			logistic++
		}
	}
	most := 2*logistic > len(reports) || 2*logistic == len(reports) && reports[0].Logistic
	for draw, r := range reports {
		if r.Logistic == most {
			draws = append(draws, draw)
		}
	}
	return draws
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
			spread.Sizes = s.Sizes
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
