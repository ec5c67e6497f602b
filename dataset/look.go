package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"mercer/internal/engine/random"
)

// Look is what a look at some rows of a table finds of its columns: what missing values, categories, dates and words its schema
// has to know. Looks at adjacent rows are merged; those of all pieces, in any grouping, are the same but for the rounding of
// means, which a fixed grouping fixes too.
type Look struct {
	found     *collected
	documents [][]int64    // by column, of words
	bounds    []boundCount // by column, among numbers
	signs     []boundCount // by column, other signs of numbers
}

var errLook = errors.New("the table has to be looked at")

// notLooking are options by which a table that has to be looked at is errLook.
func notLooking(opt Options) Options {
	opt.look = func(*table) (*collected, *collector, error) { return nil, nil, errLook }
	return opt
}

// Look looks at the rows of a piece.
func (d *Pieces) Look(ctx context.Context, i int, opt Options) (*Look, error) {
	l := &Look{found: &collected{}}
	opt.Schema, opt.firstRow, opt.Columns.Notice = nil, RowKey(i, 0), nil
	opt.look = func(t *table) (*collected, *collector, error) {
		c, by, err := t.collect(ctx)
		if err == nil {
			l.found, l.documents, l.bounds, l.signs, err = c, by.documents, by.bounds, by.signs, errLook
		}
		return nil, nil, err
	}
	f, err := d.Open(ctx, i, opt)
	if err == nil {
		f.Close() // nothing had to be looked at
	} else if !errors.Is(err, errLook) {
		return nil, err
	}
	return l, nil
}

// Rows is the number of rows that were looked at.
func (l *Look) Rows() int { return l.found.rows }

// Merge adds the look at the rows that follow.
func (l *Look) Merge(next *Look) error {
	a, b := l.found, next.found
	if len(a.columns) != len(b.columns) || len(l.documents) != len(next.documents) {
		return fmt.Errorf("%d columns, and %d in the rows before", len(b.columns), len(a.columns))
	}
	for j, words := range next.documents {
		if len(words) != len(l.documents[j]) {
			return fmt.Errorf("column %d (from 0): %d buckets of words, and %d in the rows before", j, len(words), len(l.documents[j]))
		}
	}
	n := len(a.columns)
	for j := range a.columns {
		x, y := &a.columns[j], &b.columns[j]
		if len(y.values) > 0 || len(x.values) > 0 {
			values := slices.Sorted(maps.Keys(sums(x.counted(), y.counted())))
			if len(values) > maxCategories {
				return fmt.Errorf("column %d (from 0): more than %d different texts are too many categories; leave the column out", j, maxCategories)
			}
			a.renumber(j, values)
			b.renumber(j, values)
			for k := range y.counts {
				x.counts[k] += y.counts[k]
			}
		}
		x.merge(y, mostNumbers(n))
	}
	for j := range next.bounds {
		for _, c := range [2][2]*boundCount{{&l.bounds[j], &next.bounds[j]}, {&l.signs[j], &next.signs[j]}} {
			b := *c[1]
			b.line = 0 // of which file?
			c[0].line = 0
			c[0].add(&b)
		}
	}
	for j, words := range next.documents {
		for k, count := range words {
			l.documents[j][k] += count
		}
	}
	a.rows += b.rows
	a.sample = append(a.sample, b.sample...)
	if wanted := wantedCells(max(n, 1)); len(a.sample) > wanted {
		slices.SortFunc(a.sample, func(x, y drawnCell) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.row, y.row)) })
		a.sample = slices.Clone(a.sample[:wanted])
	}
	slices.SortFunc(a.sample, func(x, y drawnCell) int { return cmp.Compare(x.row, y.row) })
	return nil
}

// counted are the rows of each text.
func (c *collectedColumn) counted() map[string]int {
	m := make(map[string]int, len(c.values))
	for i, v := range c.values {
		m[v] = c.counts[i]
	}
	return m
}

func sums(a, b map[string]int) map[string]int {
	for v, n := range b {
		a[v] += n
	}
	return a
}

// renumber gives the texts of a column their places among sorted values, which have them all.
func (c *collected) renumber(j int, values []string) {
	col := &c.columns[j]
	at, counts := make([]int, len(col.values)), make([]int, len(values))
	for i, v := range col.values {
		at[i], _ = slices.BinarySearch(values, v)
		counts[at[i]] = col.counts[i]
	}
	for _, row := range c.sample {
		if v := row.values[j]; v == v {
			row.values[j] = float64(at[int(v)])
		}
	}
	col.values, col.counts = slices.Clone(values), counts
}

// merge adds numbers of the rows that follow.
func (c *collectedColumn) merge(o *collectedColumn, most int) {
	none, noneThere := math.IsInf(c.max, -1), math.IsInf(o.max, -1)
	c.rising = c.rising && o.rising && (none || noneThere || o.first == c.last+1)
	if none {
		c.first = o.first
	}
	if !noneThere {
		c.last = o.last
	}
	c.missing += o.missing
	c.min, c.max = min(c.min, o.min), max(c.max, o.max)
	c.sum += o.sum
	c.fraction = c.fraction || o.fraction
	c.many = c.many || o.many
	for v := range o.numbers.all() {
		c.numbers.add(v)
	}
	if c.numbers.n > most {
		kept := c.numbers.sorted()[:most]
		c.many, c.numbers = true, numberSet{}
		for _, v := range kept {
			c.numbers.add(v)
		}
	}
}

// Settle makes the schema of a table from the look at all rows; l is nil if none was needed. Options are those of the looks.
func (d *Pieces) Settle(ctx context.Context, l *Look, opt Options) (schema, all *Schema, notices []Notice, err error) {
	opt.Schema = nil
	opt.look = func(t *table) (*collected, *collector, error) {
		if l == nil || len(l.found.columns) != len(t.attributes) {
			return nil, nil, fmt.Errorf("%s: the look was at another table", d.Path)
		}
		return l.found, &collector{documents: l.documents, bounds: l.bounds, signs: l.signs}, nil
	}
	f, err := d.Open(ctx, 0, opt)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	return f.Schema(), AllValues(f).Schema(), f.Notices(), nil
}

// hashed recomputes what the sample was drawn by.
func (c *collected) hashed() {
	for i := range c.sample {
		c.sample[i].hash = random.Hash(1, "profile", uint64(c.sample[i].row))
	}
}
