package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/engine/random"
)

// Folds say how rows are divided into those that train a configuration and those that
// judge it. The zero value is five folds, stratified for classes.
type Folds struct {
	// Kind is one of FoldKinds; "" is group if the rows have groups, otherwise stratified for classes
	// and kfold for numbers.
	Kind string `json:"kind,omitempty"`

	// K is the number of folds; 0 means 5. Hold-out has none.
	K int `json:"k,omitempty"`

	// Repeats is the number of times the rows are divided, each time differently; 0 means once.
	Repeats int `json:"repeats,omitempty"`

	// Share is the share of the rows that holdout holds out; 0 means 0.2.
	Share float64 `json:"share,omitempty"`

	// Seed draws the folds; 0 means 1.
	Seed uint64 `json:"seed,omitempty"`
}

// FoldKinds are the ways to divide rows, with a description of each.
func FoldKinds() (names, about []string) {
	for _, k := range foldKinds {
		names, about = append(names, k[0]), append(about, k[1])
	}
	return names, about
}

var foldKinds = [][2]string{
	{"kfold", "K folds of the same size, drawn at random"},
	{"stratified", "the same, with each class in every fold alike"},
	{"group", "whole groups"},
	{"holdout", "a share of the rows, once a repeat"},
	{"time", "K+1 blocks of rows in order, each judged by a training on those before it"},
}

// split is a training on some parts of the rows and a judgement by another.
type split struct {
	Repeat int
	Train  []int
	Held   int
}

// division is rows divided for cross-validation. Memory: 2 bytes a row and repeat.
type division struct {
	// Kind is how, one of FoldKinds.
	Kind string

	// Parts is how many parts a repeat has, Splits what is trained and judged on them.
	Parts  int
	Splits []split

	// Warnings describe problems with the division.
	Warnings []string

	part [][]uint16 // of each repeat the part of each row
}

// mostParts is the largest number of parts.
const mostParts = math.MaxUint16

// rowsInfo is what is needed to divide the rows.
type rowsInfo struct {
	n       int
	class   []int32 // of each row, nil: no classes
	classes []string
	group   []int32 // of each row, nil: no groups
	groups  int
	times   []float64 // of each row, nil: in the order of the rows
}

// divide divides rows.
func (f Folds) divide(rows rowsInfo) (*division, error) {
	f.K, f.Repeats, f.Share, f.Seed = cmp.Or(f.K, 5), cmp.Or(f.Repeats, 1), cmp.Or(f.Share, 0.2), cmp.Or(f.Seed, 1)
	if f.Kind == "" {
		switch {
		case rows.group != nil:
			f.Kind = "group"
		case rows.times != nil:
			f.Kind = "time"
		case rows.class != nil:
			f.Kind = "stratified"
		default:
			f.Kind = "kfold"
		}
	}
	if err := f.check(rows); err != nil {
		return nil, err
	}
	d := &division{Kind: f.Kind, Parts: f.K}
	switch f.Kind {
	case "holdout":
		d.Parts = 2
	case "time":
		d.Parts = f.K + 1
	case "stratified":
		d.Warnings = f.scarce(rows)
	}
	for r := range f.Repeats {
		var part []uint16
		switch f.Kind {
		case "group":
			part = f.dealGroups(rows, uint64(r))
		case "time":
			var err error
			if part, err = blocks(rows, d.Parts); err != nil {
				return nil, err
			}
		case "holdout":
			part = dataset.DealHeld(rows.n, rows.class, len(rows.classes), f.Share, f.Seed, uint64(r))
		case "stratified":
			part = dataset.DealFolds(rows.n, rows.class, len(rows.classes), f.K, f.Seed, uint64(r))
		default:
			part = dataset.DealFolds(rows.n, nil, 0, f.K, f.Seed, uint64(r))
		}
		d.part = append(d.part, part)
		d.split(r)
	}
	return d, nil
}

// groupSizes are the numbers of rows of the groups.
func (r *rowsInfo) groupSizes() []int {
	sizes := make([]int, r.groups)
	for _, g := range r.group {
		sizes[g]++
	}
	return sizes
}

// inTime are the rows in the order of time.
func (r *rowsInfo) inTime() []int {
	order := upTo(r.n)
	if r.times != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.times[a], r.times[b]) })
	}
	return order
}

// blocks gives each row its block of time.
func blocks(rows rowsInfo, parts int) ([]uint16, error) {
	part := make([]uint16, rows.n)
	if rows.times == nil {
		for i := range part {
			part[i] = uint16(i * parts / rows.n)
		}
		return part, nil
	}
	order := rows.inTime()
	filled := make([]bool, parts)
	for at, i := range order {
		part[i] = uint16(at * parts / rows.n)
		if at > 0 && rows.times[i] == rows.times[order[at-1]] {
			part[i] = part[order[at-1]]
		}
		filled[part[i]] = true
	}
	if slices.Contains(filled, false) {
		return nil, fmt.Errorf("the rows have too few different times for %d blocks; give fewer folds", parts)
	}
	return part, nil
}

// split adds the splits of a repeat.
func (d *division) split(repeat int) {
	switch d.Kind {
	case "holdout":
		d.Splits = append(d.Splits, split{Repeat: repeat, Train: []int{0}, Held: 1})
		return
	case "time":
		for held := 1; held < d.Parts; held++ {
			d.Splits = append(d.Splits, split{Repeat: repeat, Train: upTo(held), Held: held})
		}
		return
	}
	for held := range d.Parts {
		d.Splits = append(d.Splits, split{Repeat: repeat, Train: slices.Delete(upTo(d.Parts), held, held+1), Held: held})
	}
}

// upTo returns the numbers from 0 below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// trains says whether a row is trained on in a split.
func (d *division) trains(s split, row int) bool {
	return slices.Contains(s.Train, int(d.part[s.Repeat][row]))
}

// holds says whether a row judges in a split.
func (d *division) holds(s split, row int) bool { return int(d.part[s.Repeat][row]) == s.Held }

// check checks the folds themselves, and whether they suit these rows.
func (f Folds) check(rows rowsInfo) error {
	names, _ := FoldKinds()
	switch {
	case !slices.Contains(names, f.Kind):
		return fmt.Errorf("folds of kind %q are not known; known are %s", f.Kind, strings.Join(names, ", "))
	case f.K < 2 && f.Kind != "time" && f.Kind != "holdout" || f.K < 1:
		return fmt.Errorf("%d folds: give 2 or more", f.K)
	case f.K >= mostParts:
		return fmt.Errorf("%d folds: give %d at most", f.K, mostParts-1)
	case f.Repeats < 1:
		return fmt.Errorf("%d repeats: give 1 or more", f.Repeats)
	case f.Repeats > mostParts/f.K: // each is kept
		return fmt.Errorf("%d repeats of %d folds: give %d repeats at most", f.Repeats, f.K, mostParts/f.K)
	case f.Repeats > 1 && f.Kind == "time":
		return fmt.Errorf("folds in the order of time are the same in each of %d repeats; leave the repeats out", f.Repeats)
	case !(f.Share > 0 && f.Share < 1):
		return fmt.Errorf("the share held out, %g, is not a number between 0 and 1", f.Share)
	case f.Kind == "stratified" && rows.class == nil:
		return fmt.Errorf("stratified folds have the same share of each class, but the labels are not classes; use kfold")
	case rows.group != nil && f.Kind != "group":
		return fmt.Errorf("folds of kind %s do not keep the rows of a group together; use the kind group, or leave the groups out", f.Kind)
	case f.Kind == "group" && rows.group == nil:
		return option.Errorf("folds of groups need a column with the group of each row; name it with %s", option.Ref("fold_group"))
	}
	need, what, have := f.K, "folds", rows.n
	switch f.Kind {
	case "time":
		need, what = f.K+1, "folds in the order of time"
	case "holdout":
		if held := math.Round(f.Share * float64(have)); held < 1 || held >= float64(have) {
			return fmt.Errorf("%d rows: a share of %g of them leaves none to train on or none to judge by; give another share", have, f.Share)
		}
		return nil
	case "group":
		if rows.groups < f.K {
			return fmt.Errorf("%d groups are fewer than the %d folds; give fewer folds", rows.groups, f.K)
		}
	}
	if have < need {
		return fmt.Errorf("%d rows are fewer than %d %s take; give fewer folds", have, f.K, what)
	}
	return nil
}

// scarce warns of classes with no rows in some folds.
func (f Folds) scarce(rows rowsInfo) (warnings []string) {
	counts := make([]int, len(rows.classes))
	for _, c := range rows.class {
		if c >= 0 {
			counts[c]++
		}
	}
	var few []string
	for c, n := range counts {
		if n < f.K {
			few = append(few, fmt.Sprintf("%s (%d)", rows.classes[c], n))
		}
	}
	if len(few) == 0 {
		return nil
	}
	more := ""
	if len(few) > 5 {
		few, more = few[:5], fmt.Sprintf(" and %d more", len(few)-5)
	}
	return []string{fmt.Sprintf("some classes have fewer rows than the %d folds, so that some folds have none of them: %s%s",
		f.K, strings.Join(few, ", "), more)}
}

// dealGroups assigns groups, large ones first, to the part with the fewest rows so far. Groups
// of about the same size come in a random order.
func (f Folds) dealGroups(rows rowsInfo, repeat uint64) []uint16 {
	sizes := rows.groupSizes()
	order := random.New(f.Seed, "folds", repeat).Perm(rows.groups)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Ilogb(float64(sizes[b])), math.Ilogb(float64(sizes[a])))
	})
	of, filled := make([]uint16, rows.groups), make([]int, f.K)
	for _, g := range order {
		least := 0
		for p, n := range filled {
			if n < filled[least] {
				least = p
			}
		}
		of[g] = uint16(least)
		filled[least] += sizes[g]
	}
	part := make([]uint16, rows.n)
	for i, g := range rows.group {
		part[i] = of[g]
	}
	return part
}

// count returns the number of rows that a split trains on and the number that judge.
func (d *division) count(s split) (train, held int) {
	sizes := make([]int, d.Parts)
	for _, p := range d.part[s.Repeat] {
		sizes[p]++
	}
	for _, p := range s.Train {
		train += sizes[p]
	}
	return train, sizes[s.Held]
}
