package dataset

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// Before a training, a pass over a table finds what its columns hold: categories, means, what is missing, and a
// sample of the rows. Parsers turn cells into float64 in parallel (collector), one goroutine adds them up in
// the order of the rows (collected), so that the result does not depend on the number of threads.

// measure is what a collecting pass makes of the cells of a column.
type measure uint8

const (
	measureNothing measure = iota
	measureNumber          // the value
	measureWritten         // the value of a number with separators, a currency, …
	measureDate            // days since 1970
	measureText            // the number of the text in collector.texts
	measureWords           // nothing but counts of words
)

const (
	sampledRows = 4000 // of which relations and quantiles are found
	countedRows = 100_000
)

// collector is shared by the parsers of a collecting pass.
type collector struct {
	mu        sync.Mutex
	texts     []map[string]int // by column: the number of each text
	values    [][]string       // by column: the texts by number
	declared  []bool           // by column: it takes no other values, except missing ones
	documents [][]int64        // by column of measureWords: cells with a word, by bucket
	marked    map[string]int   // rows of classes that are written like a missing value
	bounds    []boundCount     // by column: bounds among numbers
	signs     []boundCount     // by column: numbers with another sign
}

func newCollector(t *table) *collector {
	n := len(t.attributes)
	c := &collector{texts: make([]map[string]int, n), values: make([][]string, n), declared: make([]bool, n), documents: make([][]int64, n), marked: map[string]int{}, bounds: make([]boundCount, n), signs: make([]boundCount, n)}
	for i, a := range t.attributes {
		c.texts[i] = map[string]int{}
		for _, v := range a.categories {
			c.number(i, v)
		}
		c.declared[i] = a.categories != nil
		if a.measure == measureWords {
			c.documents[i] = make([]int64, a.buckets)
		}
	}
	return c
}

// number is the number of a text; a new one gets the next.
func (c *collector) number(column int, text string) int {
	id, known := c.texts[column][text]
	if !known {
		id = len(c.values[column])
		c.texts[column][text] = id
		c.values[column] = append(c.values[column], text)
	}
	return id
}

// collected is what a collecting pass found.
type collected struct {
	rows    int
	first   int // number of the first row
	columns []collectedColumn
	sample  drawnCells
}

// collectedColumn describes a column of the file.
type collectedColumn struct {
	missing  int
	wrong    int // cells that are not what the others are
	min, max float64
	sum      float64 // of the values as float32
	fraction bool    // not all are whole
	rising   bool    // each is one more than the one before
	first    float64
	last     float64

	numbers numberSet // different numbers
	values  []string  // different texts, in order
	counts  []int     // rows of each
	many    bool      // there are more that were not counted
}

// drawnCells are rows of cells with the smallest hashes, the largest hash on top.
type drawnCells []drawnCell

type drawnCell struct {
	hash   uint64
	row    int
	values []float64
}

func (h drawnCells) Len() int           { return len(h) }
func (h drawnCells) Less(i, j int) bool { return h[i].hash > h[j].hash }
func (h drawnCells) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *drawnCells) Push(x any)        { *h = append(*h, x.(drawnCell)) }
func (h *drawnCells) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// collect reads the whole table.
func (t *table) collect(ctx context.Context) (*collected, *collector, error) {
	n := len(t.attributes)
	by, c := newCollector(t), &collected{columns: make([]collectedColumn, n)}
	for i := range c.columns {
		c.columns[i] = collectedColumn{min: math.Inf(1), max: math.Inf(-1), rising: true}
		c.columns[i].counts = make([]int, len(by.values[i]))
	}
	c.first = t.opt.firstRow
	r, err := t.read(ctx, by)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	most, wanted, counted := mostNumbers(n), wantedCells(n), countedOf(int(int64(t.opt.firstRow)>>40))
	for b, err := range restOf(r) {
		if err != nil {
			return nil, nil, err
		}
		rows := b.X.Len()
		for i := range rows {
			c.draw(c.rows+i, b.Y[i*n:(i+1)*n], wanted)
		}
		// One column after the other, so that its numbers stay in the processor's cache.
		vec.Parallel(n, 4, func(from, to int) {
			for j := from; j < to; j++ {
				for i := range rows {
					c.columns[j].add(b.Y[i*n+j], t.attributes[j].measure, most, c.rows+i < counted || t.opt.Columns.Exact)
				}
			}
		})
		c.rows += rows
		if told := t.opt.Columns.Progress; told != nil {
			told(c.rows, r.Progress())
		}
	}
	c.order(t, by)
	return c, by, nil
}

// mostNumbers is how many different numbers are counted of each of n columns, wantedCells the size of the sample.
func mostNumbers(n int) int { return min(50_000, max(1000, 5_000_000/n)) }
func wantedCells(n int) int { return min(sampledRows, max(200, (1<<23)/n)) }

// countedOf is of how many rows of a piece different numbers are counted: of the first as of a whole table, of each further half as many.
func countedOf(piece int) int { return max(countedRows>>min(piece, 20), 2000) }

// add counts a value.
func (c *collectedColumn) add(v float64, m measure, most int, count bool) {
	if v != v {
		c.missing++
		c.rising = false
		return
	}
	switch m {
	case measureNothing, measureWords:
		return
	case measureText:
		id := int(v)
		for id >= len(c.counts) {
			c.counts = append(c.counts, 0)
		}
		c.counts[id]++
		return
	}
	if math.IsInf(v, 0) {
		c.wrong++
		return
	}
	if math.IsInf(c.max, -1) {
		c.first = v
	} else {
		c.rising = c.rising && v == c.last+1
	}
	c.last = v
	c.min, c.max = min(c.min, v), max(c.max, v)
	c.sum += float64(float32(v))
	if v != math.Trunc(v) {
		c.fraction = true
	}
	if c.many || !count {
		return
	}
	if c.numbers.add(v) {
		c.many = c.numbers.n > most
	}
}

// draw adds a row, of those that are read, to the sample.
func (c *collected) draw(i int, row []float64, wanted int) {
	at := c.first + i
	h := random.Hash(1, "profile", uint64(at))
	switch {
	case len(c.sample) < wanted:
		heap.Push(&c.sample, drawnCell{h, at, slices.Clone(row)})
	case h < c.sample[0].hash:
		copy(c.sample[0].values, row)
		c.sample[0].hash, c.sample[0].row = h, at
		heap.Fix(&c.sample, 0)
	}
}

// order numbers texts in their order, since parsers met them in any.
func (c *collected) order(t *table, by *collector) {
	slices.SortFunc(c.sample, func(a, b drawnCell) int { return cmp.Compare(a.row, b.row) })
	for j := range c.columns {
		if t.attributes[j].measure != measureText {
			continue
		}
		col := &c.columns[j]
		values := by.values[j]
		sorted := slices.Sorted(slices.Values(values))
		at := make(map[string]int, len(sorted))
		for i, v := range sorted {
			at[v] = i
		}
		counts := make([]int, len(sorted))
		for id, n := range col.counts {
			counts[at[values[id]]] = n
		}
		for _, row := range c.sample {
			if v := row.values[j]; v == v {
				row.values[j] = float64(at[values[int(v)]])
			}
		}
		col.values, col.counts = sorted, counts
	}
}
