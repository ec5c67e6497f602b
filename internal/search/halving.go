package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/units"
	"mercer/train"
)

// A race is on at most raceRows rows, a third of which judge, and the best keptShare-th part of
// the racers are judged on all rows.
const (
	raceRows  = 24_000
	keptShare = 4
)

// contest is the racers: configurations, and the pipeline of each. The candidates of a pipeline go
// on together or not at all.
type contest struct {
	configs  []train.Config
	pipeline []int // of each configuration
	of       []int // of each candidate
	most     int   // pipelines that may go on
}

// contest lists the racers. The best λ and C differ on few rows and cost little to find on all, so they do not race:
// the learner chooses them itself. But it chooses on random rows, and if the rows have groups
// or an order in time, that favours models which memorise them; in that case each candidate races with its own λ or C.
func (s *tuning) contest() *contest {
	c := &contest{}
	apart := s.division.Kind == "group" || s.division.Kind == "time"
	racers, pipelines := map[string]bool{}, map[string]int{}
	for _, t := range s.candidates {
		cfg := t.Config
		if t.shares(s.result.Task) {
			cfg, _ = cfg.Traits().OffPath(cfg)
		}
		key := keyOf(cfg)
		at, known := pipelines[key]
		if !known {
			at = len(pipelines)
			pipelines[key] = at
		}
		c.of = append(c.of, at)
		if apart {
			cfg, key = t.Config, keyOf(t.Config)
		}
		if !racers[key] {
			racers[key] = true
			c.configs, c.pipeline = append(c.configs, cfg), append(c.pipeline, at)
		}
	}
	c.most = (len(pipelines) + keptShare - 1) / keptShare
	return c
}

// race finds by successive halving on growing samples which candidates are worth judging on
// all rows.
func (s *tuning) race() error {
	if s.opt.Search != "halving" {
		return nil
	}
	c := s.contest()
	if c.most == slices.Max(c.of)+1 {
		return nil
	}
	const job = "race"
	rec := s.journal.jobs[job]
	if rec == nil {
		var err error
		if rec, err = s.runRace(job, c); err != nil {
			return err
		}
		if err := s.journal.add(rec); err != nil {
			return err
		}
	}
	if len(rec.Left) != slices.Max(c.of)+1 {
		return s.journal.foreign(job)
	}
	s.running = nil
	for i, t := range s.candidates {
		if t.Dropped = rec.Left[c.of[i]]; t.Dropped == "" {
			s.running = append(s.running, t)
		}
	}
	return nil
}

// runRace races configurations and says which pipelines remain.
func (s *tuning) runRace(job string, c *contest) (*record, error) {
	sample, err := s.drawForRace()
	s.rows = rowsInfo{}
	if err != nil {
		return nil, err
	}
	opt := raceOptions{Memory: s.opt.Memory}
	if s.opt.Progress != nil {
		opt.Progress = func(_ string, racer, racers, rows int) {
			s.opt.Progress(fmt.Sprintf("race on %d", rows), float64(racer-1), float64(racers))
		}
	}
	res, err := race(s.ctx, sample, c.configs, opt)
	if err != nil {
		return nil, err
	}
	rec := &record{Job: job, Left: make([]string, slices.Max(c.of)+1)}
	for i := range res.Racers {
		rec.Work.Solves += int64(len(res.Racers[i].Runs) * len(sample.folds))
	}
	// A pipeline is as good as the best of its racers.
	seen, left := make([]bool, len(rec.Left)), 0
	for _, i := range res.Ranking() {
		r, p := &res.Racers[i], c.pipeline[i]
		if seen[p] {
			continue
		}
		seen[p] = true
		switch {
		case r.Dropped != "":
			rec.Left[p] = "out of the race: " + r.Dropped
		case left == c.most:
			last, _ := r.Last()
			rec.Left[p] = fmt.Sprintf("out of the race: not among the best %d on %s rows", c.most, units.Count(last.Rows))
		default:
			left++
		}
	}
	return rec, nil
}

// fewGroups is the number of groups below which all of a sample's groups judge: a third of
// them would say little.
const fewGroups = 30

// drawForRace draws rows for a race in the same way as the folds that judge its survivors: with
// whole groups, or in the order of time.
func (s *tuning) drawForRace() (*Sample, error) {
	var chosen []int
	var folds []fold
	var clusters []int
	switch s.division.Kind {
	case "group":
		chosen, folds, clusters = drawGroups(s.rows, raceRows, s.opt.Seed)
	case "time":
		chosen, folds, clusters = drawTime(s.rows, s.division, raceRows, s.opt.Seed)
	default:
		return Draw(s.ctx, s.src, raceRows, s.result.Task, s.opt.Seed)
	}
	return collectFolds(s.ctx, s.src, s.base.Summary(), s.result.Task, chosen, folds, clusters)
}

// collectFolds makes a sample of the rows of the chosen numbers, which ascend, divided into folds whose row numbers are
// positions in chosen.
func collectFolds(ctx context.Context, src dataset.Source, sum *dataset.Summary, task string, chosen []int, folds []fold,
	clusters []int) (*Sample, error) {
	rows, err := dataset.Collect(ctx, dataset.Keep(src, func(row int) bool {
		_, in := slices.BinarySearch(chosen, row)
		return in
	}), sum.Dim)
	if err != nil {
		return nil, err
	}
	s, err := newSample(src, sum, rows, chosen, task)
	if err != nil {
		return nil, err
	}
	s.folds, s.clusters = folds, clusters
	return s, nil
}

// drawGroups draws whole groups, up to n rows of them. No group is on both sides of a fold, and each
// prefix of the training rows consists of whole groups. At least five groups are drawn; if
// they have more than n rows, each is represented by the same share of its rows.
func drawGroups(rows rowsInfo, n int, seed uint64) (chosen []int, folds []fold, clusters []int) {
	sizes := rows.groupSizes()
	order := random.New(seed, "race-groups").Perm(rows.groups)
	drawn, total := 0, 0
	for drawn < len(order) && (drawn < smallFolds || total+sizes[order[drawn]] <= n) {
		total += sizes[order[drawn]]
		drawn++
	}
	number := make([]int32, rows.groups) // of each drawn group, from 1
	for i, g := range order[:drawn] {
		number[g] = int32(i + 1)
	}
	share := uint64(math.MaxUint64)
	if total > n {
		share = uint64(float64(n) / float64(total) * math.MaxUint64)
	}
	of := rowsInfo{groups: drawn}
	met := make([]bool, drawn)
	for row, g := range rows.group {
		i := number[g] - 1
		if i < 0 || met[i] && random.Hash(seed, "race-sample", uint64(row)) > share {
			continue
		}
		met[i] = true
		chosen, of.group = append(chosen, row), append(of.group, i)
		if rows.class != nil {
			of.class = append(of.class, rows.class[row])
		}
	}
	of.n = len(chosen)
	folds, clusters = divideGroups(of, seed)
	return chosen, folds, clusters
}

// divideGroups divides the groups of a sample, which are in random order. If there are few rows or few groups, all
// of them judge, in five folds; otherwise a third of the rows do.
func divideGroups(rows rowsInfo, seed uint64) (folds []fold, clusters []int) {
	parts, judging := min(3, rows.groups), 1
	if rows.n < fewRows || rows.groups < fewGroups {
		parts = min(smallFolds, rows.groups)
		judging = parts
	}
	of := make([][]int, rows.groups)
	for i, g := range rows.group {
		of[g] = append(of[g], i)
	}
	part := Folds{K: parts, Seed: seed}.dealGroups(rows, 0)
	meet := func(seen map[int32]bool, g int) (classes int) {
		for _, i := range of[g] {
			if rows.class != nil {
				seen[rows.class[i]] = true
			}
		}
		return len(seen)
	}
	for k := range judging {
		var f fold
		var first, others []int // groups to train on, first those with a class not seen before
		seen := map[int32]bool{}
		for g, rowsOf := range of {
			if int(part[rowsOf[0]]) == k {
				continue
			}
			if before := len(seen); meet(seen, g) > before {
				first = append(first, g)
			} else {
				others = append(others, g)
			}
		}
		clear(seen)
		for _, g := range append(first, others...) {
			f.train = append(f.train, of[g]...)
			if classes := meet(seen, g); rows.class == nil || classes > 1 {
				f.ends = append(f.ends, len(f.train))
			}
		}
		if f.ends == nil {
			f.ends = []int{len(f.train)}
		}
		for i, p := range part {
			if int(p) == k {
				f.held = append(f.held, i)
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
func drawTime(rows rowsInfo, d *division, n int, seed uint64) (chosen []int, folds []fold, clusters []int) {
	starts := make([]int, d.Parts+1) // of the blocks
	order := rows.inTime()
	for at, i := range order {
		starts[d.part[0][i]+1] = at + 1
	}
	k := min(d.Parts-1, smallFolds)
	window, held := rows.n, rows.n
	if rows.n > n {
		window, held = max(2*n/3/k, 1), max(n/3/k, 1)
	}
	classOf := func(at int) int32 { return rows.class[order[at]] }
	in := map[int]bool{}    // the folds have places in time at first, then the rows' numbers in the source
	last := map[int32]int{} // row of each class so far
	seen := 0
	for j := range k {
		block := (j + 1) * (d.Parts - 1) / k
		var f fold
		start, end := starts[block], starts[block+1]
		if rows.class != nil {
			// The most recent row of each class comes first, so that training works on every prefix.
			for ; seen < start; seen++ {
				last[classOf(seen)] = seen
			}
			for _, row := range last {
				f.train = append(f.train, row)
			}
			slices.SortFunc(f.train, func(a, b int) int { return cmp.Compare(b, a) })
		}
		for row := start - 1; row >= 0 && len(f.train) < window; row-- {
			if rows.class == nil || last[classOf(row)] != row {
				f.train = append(f.train, row)
			}
		}
		f.held = upTo(end)[start:]
		if len(f.held) > held {
			hash := func(row int) uint64 { return random.Hash(seed, "race-sample", uint64(row)) }
			slices.SortFunc(f.held, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), a-b) })
			f.held = slices.Sorted(slices.Values(f.held[:held]))
		}
		for _, places := range [][]int{f.train, f.held} {
			for i, at := range places {
				places[i] = order[at]
				in[order[at]] = true
			}
		}
		slices.Sort(f.held)
		folds = append(folds, f)
	}
	chosen = slices.Sorted(maps.Keys(in))
	for fold, f := range folds {
		for _, rows := range [][]int{f.train, f.held} {
			for i, row := range rows {
				rows[i], _ = slices.BinarySearch(chosen, row)
			}
		}
		for i := range f.held {
			clusters = append(clusters, fold*timeBatches+i*timeBatches/len(f.held))
		}
	}
	return chosen, folds, clusters
}
