package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"mercer/internal/engine/units"
	"mercer/matrix"
)

// bagReader is one pass over bags of any form: feed adds members and ends bags, until io.EOF.
type bagReader struct {
	collect  *collect
	feed     func() error
	progress func() float64
	close    func() error

	bags int // handed out
	err  error
}

// Next implements BagReader.
func (r *bagReader) Next() (*BagBatch, error) {
	c := r.collect
	c.restart()
	for r.err == nil && !c.full() {
		r.err = r.feed()
	}
	if len(c.out.Bags) == 1 || r.err != nil && !errors.Is(r.err, io.EOF) {
		return nil, r.err
	}
	b := c.batch()
	b.First = r.bags
	r.bags += b.Len()
	return b, nil
}

// Progress implements BagReader.
func (r *bagReader) Progress() float64 { return r.progress() }

// Close implements BagReader.
func (r *bagReader) Close() error {
	if r.err == nil {
		r.err = errors.New("dataset: reader is closed")
	}
	return r.close()
}

// maxBag is how many bytes of members a bag may have: pooling needs all of them at once.
const maxBag = 1 << 30

// bagBytes is how many bytes of members are enough for a batch.
const bagBytes = 16 << 20

// collect gathers members until there are enough whole bags for a batch. It reuses its
// memory: that of a batch, and of a bag that continues in the next.
type collect struct {
	name string
	most int // bags in a batch

	out    BagBatch
	dense  matrix.Dense
	csr    matrix.CSR
	rows   int
	sparse bool
	limit  int64 // bytes of members in a bag
	names  bool  // some label is text
	keys   bool
}

func newCollect(name string, batch int) *collect {
	if batch <= 0 {
		batch = defaultBatch
	}
	c := &collect{name: name, most: batch, limit: maxBag}
	c.csr.Ptr = []int{0}
	c.out.Bags = []int{0}
	return c
}

// restart drops the bags that were handed out; later members stay.
func (c *collect) restart() {
	from := c.out.Bags[len(c.out.Bags)-1]
	c.out.Bags = append(c.out.Bags[:0], 0)
	c.out.Y, c.out.Names, c.out.Weights, c.out.Keys = c.out.Y[:0], c.out.Names[:0], c.out.Weights[:0], c.out.Keys[:0]
	c.names, c.keys = false, false
	if from == 0 {
		return
	}
	if c.sparse {
		at := c.csr.Ptr[from]
		c.csr.Idx = append(c.csr.Idx[:0], c.csr.Idx[at:]...)
		c.csr.Val = append(c.csr.Val[:0], c.csr.Val[at:]...)
		for i := range c.rows - from + 1 {
			c.csr.Ptr[i] = c.csr.Ptr[from+i] - at
		}
		c.csr.Ptr = c.csr.Ptr[:c.rows-from+1]
	} else {
		c.dense.Data = append(c.dense.Data[:0], c.dense.Data[from*c.dense.Cols:]...)
	}
	c.rows -= from
}

// bytes is what members [from, to) take.
func (c *collect) bytes(from, to int) int64 {
	if c.sparse {
		return 8 * int64(c.csr.Ptr[to]-c.csr.Ptr[from])
	}
	return 4 * int64(c.dense.Cols) * int64(to-from)
}

func (c *collect) full() bool {
	bags := len(c.out.Bags) - 1
	return bags >= c.most || bags > 0 && c.bytes(0, c.out.Bags[bags]) >= bagBytes
}

// add appends members of the bag that is being collected; place is their location,
// for messages.
func (c *collect) add(x matrix.Rows, place string) error {
	if place == "" {
		place = c.name
	}
	sparse, dim := x.CSR != nil, x.Dim()
	switch {
	case c.rows == 0 && len(c.out.Bags) == 1:
		c.sparse, c.csr.Cols, c.dense.Cols = sparse, dim, dim
	case c.sparse != sparse:
		return fmt.Errorf("%s: some rows are sparse (index:value) and some are not; write all in one format", place)
	case sparse:
		c.csr.Cols = max(c.csr.Cols, dim)
	case dim != c.dense.Cols:
		return fmt.Errorf("%s: the rows have %d numbers where those before have %d", place, dim, c.dense.Cols)
	}
	if sparse {
		from, to := x.CSR.Ptr[0], x.CSR.Ptr[x.CSR.Rows]
		shift := len(c.csr.Idx) - from
		for _, p := range x.CSR.Ptr[1 : x.CSR.Rows+1] {
			c.csr.Ptr = append(c.csr.Ptr, p+shift)
		}
		c.csr.Idx = append(c.csr.Idx, x.CSR.Idx[from:to]...)
		c.csr.Val = append(c.csr.Val, x.CSR.Val[from:to]...)
	} else {
		for i := range x.Dense.Rows {
			c.dense.Data = append(c.dense.Data, x.Dense.Row(i)...)
		}
	}
	c.rows += x.Len()
	start := c.out.Bags[len(c.out.Bags)-1]
	if size := c.bytes(start, c.rows); size > c.limit {
		has, most := units.BytesApart(size, c.limit)
		return fmt.Errorf("%s: a bag has grown to %d rows, %s, and is not complete; the members of a bag may take %s "+
			"(do all these rows belong together?)", place, c.rows-start, has, most)
	}
	return nil
}

// end makes the members since the last end a bag. of has the labels of one row.
func (c *collect) end(key string, of matrix.Batch) {
	c.out.Bags = append(c.out.Bags, c.rows)
	c.out.Keys = append(c.out.Keys, key)
	c.keys = c.keys || key != ""
	c.out.Outputs = of.Outputs
	c.out.Y = append(c.out.Y, of.Y...)
	name := ""
	if of.Names != nil {
		name = of.Names[0]
	}
	c.out.Names = append(c.out.Names, name)
	c.names = c.names || name != ""
	c.out.Weights = append(c.out.Weights, of.Weights...)
}

// batch is the whole bags that have been collected.
func (c *collect) batch() *BagBatch {
	b := c.out
	n := b.Bags[len(b.Bags)-1]
	if c.sparse {
		c.csr.Rows = c.rows
		b.X.CSR = c.csr.Slice(0, n)
	} else {
		c.dense.Rows, c.dense.Stride = c.rows, c.dense.Cols
		b.X.Dense = c.dense.Slice(0, n)
	}
	if !c.names {
		b.Names = nil
	}
	if !c.keys {
		b.Keys = nil
	}
	if b.Outputs == 0 {
		b.Y = nil
	}
	if len(b.Weights) == 0 {
		b.Weights = nil
	}
	return &b
}

// equal feeds rows of which every size rows form a bag.
func (c *collect) equal(rows Reader, size int) error {
	b, err := rows.Next()
	if err != nil {
		return err
	}
	for i := 0; i < b.X.Len(); {
		start := c.out.Bags[len(c.out.Bags)-1]
		j := min(b.X.Len(), i+size-(c.rows-start))
		if err := c.add(b.X.Slice(i, j), ""); err != nil {
			return err
		}
		if c.rows-start == size {
			c.end("", matrix.Batch{})
		}
		i = j
	}
	return nil
}

// grouped is a Reader of rows that identify their bag.
type grouped interface {
	Reader

	// groups has the bag of each row of the last batch.
	groups() []string

	// wrong is an error about row i of the last batch.
	wrong(i int, err error) *RowError
}

// Groups returns the group of each row of the last batch of r if the source was opened
// with Options.Group, otherwise nil. It is valid until the next batch.
func Groups(r Reader) []string {
	if g, ok := r.(interface{ groups() []string }); ok && len(g.groups()) > 0 {
		return g.groups()
	}
	return nil
}

// grouping puts consecutive rows with the same key into one bag.
type grouping struct {
	collect *collect
	rows    grouped
	advice  string
	seen    map[string]bool // the keys of all bags so far

	open  bool   // a bag is being collected
	key   string // its key
	place string // where it began
	of    matrix.Batch
}

// feed adds a batch of rows.
func (g *grouping) feed() error {
	b, err := g.rows.Next()
	if errors.Is(err, io.EOF) && g.open {
		g.open = false
		g.collect.end(g.key, g.of)
	}
	if err != nil {
		return err
	}
	keys := g.rows.groups()
	for i := 0; i < len(keys); {
		if !g.open || keys[i] != g.key {
			if err := g.begin(b, i, keys[i]); err != nil {
				return err
			}
		}
		j := i
		for ; j < len(keys) && keys[j] == g.key; j++ {
			if err := g.same(b, j); err != nil {
				return err
			}
		}
		if err := g.collect.add(b.X.Slice(i, j), g.placeOf(i)); err != nil {
			return fmt.Errorf("%w (bag %q)", err, g.key)
		}
		i = j
	}
	return nil
}

// placeOf is the location of row i of the last batch.
func (g *grouping) placeOf(i int) string { return g.rows.wrong(i, nil).place }

// begin ends the bag before row i of a batch, and begins one with it.
func (g *grouping) begin(b *matrix.Batch, i int, key string) error {
	if g.open {
		g.collect.end(g.key, g.of)
	}
	if g.seen[key] {
		return g.rows.wrong(i, fmt.Errorf("bag %q reappears after other bags; the rows of a bag must be consecutive: %s", key, g.advice))
	}
	g.seen[key] = true
	g.open, g.key, g.place = true, key, g.placeOf(i)
	// The batch is valid only until the next one.
	row := b.Slice(i, i+1)
	g.of = matrix.Batch{Outputs: row.Outputs, Y: slices.Clone(row.Y), Names: slices.Clone(row.Names), Weights: slices.Clone(row.Weights)}
	return nil
}

// same returns an error if the label or weight of row i differs from that of its bag.
func (g *grouping) same(b *matrix.Batch, i int) error {
	name := func(names []string, i int) string {
		if names == nil {
			return ""
		}
		return names[i]
	}
	for k := range b.Outputs {
		y, want := b.Y[i*b.Outputs+k], g.of.Y[k]
		if y == want || math.IsNaN(y) && math.IsNaN(want) && name(b.Names, i) == name(g.of.Names, 0) {
			continue
		}
		return g.rows.wrong(i, fmt.Errorf("the label is %s, but bag %q, whose rows begin at %s, has the label %s; the rows of a bag have one "+
			"label",
			labelText(y, name(b.Names, i)), g.key, g.place, labelText(want, name(g.of.Names, 0))))
	}
	if b.Weights != nil && b.Weights[i] != g.of.Weights[0] {
		return g.rows.wrong(i, fmt.Errorf("the weight is %g, but bag %q, whose rows begin at %s, has the weight %g; the rows of a bag have "+
			"one weight",
			b.Weights[i], g.key, g.place, g.of.Weights[0]))
	}
	return nil
}

// labelText is a label in a message.
func labelText(y float64, name string) string {
	if name != "" {
		return fmt.Sprintf("%q", name)
	}
	return number(y)
}
