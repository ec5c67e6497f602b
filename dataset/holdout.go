package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/random"
	"mercer/internal/engine/units"
)

// Holdout says which rows are kept back to test a model on. Where a file was opened with a column to divide by
// (ColumnOptions.SplitGroup and its kin), that column decides; Kind says so or is "" then.
type Holdout struct {
	// Share is the share of the rows. By a column that says of each row where it belongs it is 0.
	Share float64

	// Kind is random, stratified, group, time or column; "" is by the column if there is one, else stratified for
	// classes and random for all others.
	Kind string

	// Task tells whether labels are classes, as in a training: auto or "", classify, regress, multilabel, outliers.
	Task string

	// Seed draws the rows or the groups.
	Seed uint64
}

// HoldoutKinds are the kinds of Holdout.
func HoldoutKinds() []string { return []string{"random", "stratified", "group", "time", "column"} }

// Held tells what HoldOut kept back.
type Held struct {
	Kind   string `json:"kind"`
	Column string `json:"column,omitempty"`
	Rows   int    `json:"rows"`           // that are held out, 0 if they were not counted
	Of     int    `json:"of"`             // all rows, 0 if they were not counted
	Groups int    `json:"groups"`         // that are held out
	From   string `json:"from,omitempty"` // the first time of the rows held out

	// Times are those of the rows that were not held out, by SplitTime.
	Times []float64 `json:"-"`

	share float64
}

// String says in a few words which rows were held out; row is what a row is called.
func (h *Held) String() string {
	switch h.Kind {
	case "group":
		return fmt.Sprintf("%s of the column %q, held back", units.Plural(h.Groups, "group"), h.Column)
	case "time":
		return fmt.Sprintf("the rows of %s and later by the column %q, held back", h.From, h.Column)
	case "column":
		return fmt.Sprintf("the rows that the column %q marks as a test", h.Column)
	case "stratified":
		return fmt.Sprintf("%g %% of the rows of each class, held back", 100*h.share)
	}
	return fmt.Sprintf("%g %% of the rows, held back", 100*h.share)
}

// SplitBy is the column by which a source is to be divided, and how: group, time, column, or "" for none.
func SplitBy(src Source) (kind, column string) {
	if f, ok := src.(*File); ok {
		src = f.Source
	}
	if l, ok := src.(*labelled); ok {
		src = l.Source
	}
	if s, ok := src.(interface{ splitBy() (kind, column string) }); ok {
		return s.splitBy()
	}
	return "", ""
}

// HoldOut divides the rows of a source into those to train on and those to test on. A random choice takes no pass, any
// other takes one. Memory: up to 16 bytes a row.
func (h Holdout) HoldOut(ctx context.Context, src Source, told func(rows int, share float64)) (rest, held Source, how *Held, err error) {
	kind, column := SplitBy(src)
	switch {
	case h.Kind != "" && !slices.Contains(HoldoutKinds(), h.Kind):
		return nil, nil, nil, option.Errorf("%s %q is not known; known are %s", option.Ref("holdout_kind"), h.Kind, strings.Join(HoldoutKinds(), ", "))
	case kind != "" && h.Kind != "" && h.Kind != kind:
		return nil, nil, nil, option.Errorf("%s: rows are held out by the column %q; leave out %s", src.Name(), column,
			option.Set("holdout_kind", h.Kind))
	case kind == "" && (h.Kind == "group" || h.Kind == "time" || h.Kind == "column"):
		return nil, nil, nil, option.Errorf("%s: %s needs a column; name it with %s", src.Name(), option.Set("holdout_kind", h.Kind),
			option.Ref("split_"+h.Kind))
	case kind == "":
		kind = h.Kind
	}
	how = &Held{Kind: kind, Column: column, share: h.Share}
	if kind == "random" || kind == "" && (h.Task == "regress" || h.Task == "multilabel" || h.Task == "outliers") {
		how.Kind = "random"
		rest, held = Split(src, h.Share, h.Seed)
		return rest, held, how, nil
	}
	rows := &dividedRows{wanted: kind, layout: map[string]bool{}}
	if err := rows.read(ctx, src, told); err != nil {
		return nil, nil, nil, err
	}
	var in []bool
	switch kind {
	case "group":
		in = rows.byGroup(h, how)
	case "time":
		in, err = rows.byTime(h, how, src.Name())
	case "column":
		in, err = rows.byColumn(src.Name(), column)
	default:
		if in, err = rows.byClass(h, src.Name()); err == nil && in == nil {
			how.Kind = "random"
			rest, held = Split(src, h.Share, h.Seed)
			return rest, held, how, nil
		}
		how.Kind = "stratified"
	}
	if err != nil {
		return nil, nil, nil, err
	}
	how.Of = len(in)
	for _, is := range in {
		if is {
			how.Rows++
		}
	}
	if how.Rows == 0 || how.Rows == how.Of {
		return nil, nil, nil, option.Errorf("%s: of %s, %s would be held out to test on, which leaves none to %s; give another %s or another column",
			src.Name(), units.Plural(how.Of, "row"), units.Count(how.Rows), map[bool]string{true: "test on", false: "train on"}[how.Rows == 0],
			option.Ref("holdout"))
	}
	if s, ok := src.(*File); ok && s.table() != nil {
		s.table().carry = nil // later passes need no cells
	}
	of := func(row int) bool { return row < len(in) && in[row] }
	return Keep(src, func(row int) bool { return !of(row) }), Keep(src, of), how, nil
}

// dividedRows is what is known of rows that are to be divided.
type dividedRows struct {
	wanted string
	labels Summary
	number []float64 // of each row the label, or its place in names
	names  []string
	known  map[string]int
	keys   []string // what the column has, each once
	key    []int32  // of each row
	lookup map[string]int32
	layout map[string]bool
}

// read makes the pass.
func (d *dividedRows) read(ctx context.Context, src Source, told func(rows int, share float64)) error {
	d.known, d.lookup = map[string]int{}, map[string]int32{}
	n := 0
	for b, err := range Each(ctx, src) {
		if err != nil {
			return err
		}
		n += b.X.Len()
		if told != nil {
			told(n, b.Pass.Progress())
		}
		if d.wanted == "" || d.wanted == "stratified" {
			d.labels.Outputs, d.labels.Rows = b.Outputs, n
			d.labels.labels.add(b.Batch)
			for i := range b.X.Len() {
				if b.Outputs != 1 {
					break
				}
				y := b.Y[i]
				if b.Names != nil && b.Names[i] != "" {
					at, known := d.known[b.Names[i]]
					if !known {
						at = len(d.names)
						d.known[strings.Clone(b.Names[i])] = at
						d.names = append(d.names, b.Names[i])
					}
					y = float64(-1 - at)
					d.number = append(d.number, math.Inf(-1), y)
					continue
				}
				d.number = append(d.number, 0, y)
			}
			continue
		}
		cells := Carried(b.Pass)
		if cells == nil {
			cells = Groups(b.Pass)
		}
		if len(cells) != b.X.Len() {
			return fmt.Errorf("%s: %d cells of the column to divide by for %d rows", src.Name(), len(cells), b.X.Len())
		}
		for _, cell := range cells {
			cell = strings.TrimSpace(cell)
			at, known := d.lookup[cell]
			if !known {
				cell = strings.Clone(cell)
				at = int32(len(d.keys))
				d.lookup[cell] = at
				d.keys = append(d.keys, cell)
			}
			d.key = append(d.key, at)
		}
	}
	return nil
}

// byClass holds out a share of each class, nil where labels are no classes.
func (d *dividedRows) byClass(h Holdout, name string) ([]bool, error) {
	task, _, err := d.labels.Task(cmp.Or(h.Task, "auto"))
	if err != nil || task != "classify" {
		if h.Kind == "stratified" && err == nil {
			return nil, option.Errorf("%s: stratified rows have the same share of each class, but the labels are not classes; use %s", name,
				option.Set("holdout_kind", "random"))
		}
		return nil, nil // the training says what is wrong
	}
	type label struct{ text, value float64 }
	classes := map[label]int32{}
	class := make([]int32, len(d.number)/2)
	for i := range class {
		l := label{d.number[2*i], d.number[2*i+1]}
		at, known := classes[l]
		if !known {
			at = int32(len(classes))
			classes[l] = at
		}
		class[i] = at
	}
	part := DealHeld(len(class), class, len(classes), h.Share, h.Seed, 0)
	in := make([]bool, len(part))
	for i, p := range part {
		in[i] = p == 1
	}
	return in, nil
}

// byGroup holds out whole groups, drawn at random, until they have the share of the rows.
func (d *dividedRows) byGroup(h Holdout, how *Held) []bool {
	sizes := make([]int, len(d.keys))
	for _, k := range d.key {
		sizes[k]++
	}
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	// By a hash of its name a group is held out wherever its rows stand.
	hash := func(k int) uint64 {
		sum := h.Seed
		for _, c := range []byte(d.keys[k]) {
			sum = random.Hash(sum, "group", uint64(c))
		}
		return sum
	}
	hashes := make([]uint64, len(d.keys))
	for k := range hashes {
		hashes[k] = hash(k)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(d.keys[a], d.keys[b]))
	})
	left := h.Share * float64(len(d.key))
	taken := make([]bool, len(d.keys))
	for i, k := range order {
		// A group that fits, or gets nearer to the share; one at least on each side.
		if more := float64(sizes[k]); how.Groups == 0 && i == len(order)-2 || left > 0 && more <= 2*left && how.Groups+1 < len(order) {
			taken[k] = true
			left -= more
			how.Groups++
		}
	}
	in := make([]bool, len(d.key))
	for i, k := range d.key {
		in[i] = taken[k]
	}
	return in
}

// byTime holds out the last rows by time, those of one time all on the same side.
func (d *dividedRows) byTime(h Holdout, how *Held, name string) ([]bool, error) {
	times, err := timesOf(d.keys, name, how.Column)
	if err != nil {
		return nil, err
	}
	all := make([]float64, len(d.key))
	for i, k := range d.key {
		all[i] = times[k]
	}
	slices.Sort(all)
	if len(all) == 0 {
		return nil, nil
	}
	from := all[min(len(all)-1, max(0, len(all)-int(math.Round(h.Share*float64(len(all))))))]
	if from == all[0] { // whose rows are on the side of the training
		at, _ := slices.BinarySearchFunc(all, from, func(a, b float64) int {
			if a <= b {
				return -1
			}
			return 1
		})
		if at == len(all) {
			return make([]bool, len(all)), nil
		}
		from = all[at]
	}
	in := make([]bool, len(d.key))
	for i, k := range d.key {
		in[i] = times[k] >= from
		if in[i] && times[k] == from {
			how.From = d.keys[k]
		}
		if !in[i] {
			how.Times = append(how.Times, times[k])
		}
	}
	return in, nil
}

// timesOf reads cells as numbers, or as dates, in days.
func timesOf(cells []string, name, column string) ([]float64, error) {
	times, numbers := make([]float64, len(cells)), true
	for i, cell := range cells {
		if absent([]byte(cell)) {
			return nil, option.Errorf("%s: a row has no time in the column %q, by which rows are divided; fill it in, or leave the row out",
				name, column)
		}
		v, ok := parseNumber([]byte(cell))
		if times[i] = v; !ok {
			numbers = false
			break
		}
	}
	if numbers {
		return times, nil
	}
	layouts, _ := findLayouts(cells, false)
	if layouts == nil {
		return nil, option.Errorf("%s: the column %q is neither a date nor a number in all rows (%q is one of its cells), so it has no order; "+
			"name another with %s", name, column, cells[0], option.Ref("split_time"))
	}
	dates := &dateCoder{layouts: layouts}
	for i, cell := range cells {
		t, ok := dates.parse(cell)
		if !ok {
			return nil, option.Errorf("%s: column %q: %q is not a date like the others (%s)", name, column, cell, strings.Join(layouts, ", "))
		}
		times[i] = daysOf(t)
	}
	return times, nil
}

// The words by which a column says where a row belongs.
var (
	testWords  = []string{"test", "testing", "holdout", "held", "heldout", "true", "1", "yes"}
	trainWords = []string{"train", "training", "fit", "false", "0", "no"}
)

// byColumn holds out the rows that a column says are for the test.
func (d *dividedRows) byColumn(name, column string) ([]bool, error) {
	is := make([]bool, len(d.keys))
	for k, key := range d.keys {
		word := strings.ToLower(key)
		if is[k] = slices.Contains(testWords, word); !is[k] && !slices.Contains(trainWords, word) {
			return nil, option.Errorf("%s: column %q: %q does not say whether a row is for the training (%s) or for the test (%s)", name, column, key,
				strings.Join(trainWords, ", "), strings.Join(testWords, ", "))
		}
	}
	in := make([]bool, len(d.key))
	for i, k := range d.key {
		in[i] = is[k]
	}
	return in, nil
}
