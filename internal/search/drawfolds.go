package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/random"
)

// fewGroups is the number of groups below which all of a sample's groups judge: a third of
// them would say little.
const fewGroups = 30

// drawForRace draws rows for a race in the same way as the folds that judge its survivors: with
// whole groups, or in the order of time.
func (s *tuning) drawForRace() (*Sample, error) {
	switch s.division.Kind {
	case "group":
		return drawGroups(s.ctx, s.src, s.rows, raceRows, s.result.Task, s.opt.Seed)
	case "time":
		return drawTime(s.ctx, s.src, s.rows, s.division, raceRows, s.result.Task, s.opt.Seed)
	}
	return Draw(s.ctx, s.src, raceRows, s.result.Task, s.opt.Seed)
}

// drawGroups draws whole groups, up to n rows of them. No group is on both sides of a fold, and each
// prefix of the training rows consists of whole groups. At least five groups are drawn; if
// they have more than n rows, each is represented by the same share of its rows.
func drawGroups(ctx context.Context, src dataset.Source, rows rowsInfo, n int, task string, seed uint64) (*Sample, error) {
	sizes := make([]int, rows.groups)
	for _, g := range rows.group {
		sizes[g]++
	}
	order := random.New(seed, "race-groups").Perm(rows.groups)
	drawn, total := 0, 0
	for drawn < len(order) && (drawn < SmallFolds || total+sizes[order[drawn]] <= n) {
		total += sizes[order[drawn]]
		drawn++
	}
	order = order[:drawn]
	number := make([]int32, rows.groups) // of each drawn group, from 1
	for i, g := range order {
		number[g] = int32(i + 1)
	}
	share := uint64(math.MaxUint64)
	if total > n {
		share = uint64(float64(n) / float64(total) * math.MaxUint64)
	}
	var chosen []int
	of := rowsInfo{groups: drawn}
	some := make([]bool, drawn) // rows of each group
	for row, g := range rows.group {
		i := number[g] - 1
		if i < 0 || some[i] && random.Hash(seed, "race-sample", uint64(row)) > share {
			continue
		}
		some[i] = true
		chosen, of.group = append(chosen, row), append(of.group, i)
		if rows.class != nil {
			of.class = append(of.class, rows.class[row])
		}
	}
	of.n = len(chosen)
	folds, clusters := divideGroups(of, seed)
	return DrawFolds(ctx, src, chosen, folds, clusters, task)
}

// divideGroups divides the groups of a sample, which are in random order. If there are few rows or few groups, all
// of them judge, in five folds; otherwise a third of the rows do.
func divideGroups(rows rowsInfo, seed uint64) (folds []Fold, clusters []int) {
	parts, judging := min(3, rows.groups), 1
	if rows.n < FewRows || rows.groups < fewGroups {
		parts = min(SmallFolds, rows.groups)
		judging = parts
	}
	of := make([][]int, rows.groups)
	for i, g := range rows.group {
		of[g] = append(of[g], i)
	}
	part := Folds{K: parts, Seed: seed}.dealGroups(rows, 0)
	for fold := range judging {
		var f Fold
		var first, others []int // groups to train on, first those with a class not seen before
		seen := map[int32]bool{}
		for g, rowsOf := range of {
			if int(part[rowsOf[0]]) == fold {
				continue
			}
			fresh := false
			for _, i := range rowsOf {
				if rows.class != nil && !seen[rows.class[i]] {
					seen[rows.class[i]], fresh = true, true
				}
			}
			if fresh {
				first = append(first, g)
			} else {
				others = append(others, g)
			}
		}
		clear(seen)
		for _, g := range append(first, others...) {
			f.Train = append(f.Train, of[g]...)
			if rows.class != nil && len(seen) < 2 {
				for _, i := range of[g] {
					seen[rows.class[i]] = true
				}
			}
			if rows.class == nil || len(seen) > 1 {
				f.Ends = append(f.Ends, len(f.Train))
			}
		}
		if f.Ends == nil {
			f.Ends = []int{len(f.Train)}
		}
		for i, p := range part {
			if int(p) == fold {
				f.Held = append(f.Held, i)
				clusters = append(clusters, int(rows.group[i]))
			}
		}
		folds = append(folds, f)
	}
	return folds, clusters
}

// timeBatches is the number of batches into which the rows of a fold in time order are cut. The mean losses of
// batches count as independent, whereas consecutive rows are alike.
const timeBatches = 10

// drawTime draws for each fold in time order the rows right before it, to train on the most
// recent ones, and rows of the fold to judge: all of them, or n rows of a larger source. If there are more than five
// folds it uses five of them, evenly spaced and including the last.
func drawTime(ctx context.Context, src dataset.Source, rows rowsInfo, d *division, n int, task string, seed uint64) (*Sample, error) {
	starts := make([]int, d.Parts+1) // of the blocks
	order := rows.inTime()
	for at, i := range order {
		starts[d.part[0][i]+1] = at + 1
	}
	k := min(d.Parts-1, SmallFolds)
	window, held := rows.n, rows.n
	if rows.n > n {
		window, held = max(2*n/3/k, 1), max(n/3/k, 1)
	}
	classOf := func(at int) int32 { return rows.class[order[at]] }
	var folds []Fold // by places in time, and then by the rows' numbers in the source
	in := map[int]bool{}
	last := map[int32]int{} // row of each class so far
	seen := 0
	for j := range k {
		block := (j + 1) * (d.Parts - 1) / k
		var f Fold
		start, end := starts[block], starts[block+1]
		if rows.class != nil {
			// The most recent row of each class comes first, so that training works on every prefix.
			for ; seen < start; seen++ {
				last[classOf(seen)] = seen
			}
			for _, row := range last {
				f.Train = append(f.Train, row)
			}
			slices.SortFunc(f.Train, func(a, b int) int { return cmp.Compare(b, a) })
		}
		for row := start - 1; row >= 0 && len(f.Train) < window; row-- {
			if rows.class == nil || last[classOf(row)] != row {
				f.Train = append(f.Train, row)
			}
		}
		for row := start; row < end; row++ {
			f.Held = append(f.Held, row)
		}
		if len(f.Held) > held {
			hash := func(row int) uint64 { return random.Hash(seed, "race-sample", uint64(row)) }
			slices.SortFunc(f.Held, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), a-b) })
			f.Held = slices.Sorted(slices.Values(f.Held[:held]))
		}
		for _, places := range [][]int{f.Train, f.Held} {
			for i, at := range places {
				places[i] = order[at]
				in[order[at]] = true
			}
		}
		slices.Sort(f.Held)
		folds = append(folds, f)
	}
	chosen := make([]int, 0, len(in))
	for row := range in {
		chosen = append(chosen, row)
	}
	slices.Sort(chosen)
	var clusters []int
	for fold, f := range folds {
		for _, rows := range [][]int{f.Train, f.Held} {
			for i, row := range rows {
				rows[i], _ = slices.BinarySearch(chosen, row)
			}
		}
		for i := range f.Held {
			clusters = append(clusters, fold*timeBatches+i*timeBatches/len(f.Held))
		}
	}
	return DrawFolds(ctx, src, chosen, folds, clusters, task)
}
