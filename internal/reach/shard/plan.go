// Package shard trains on more rows than one machine reads: a plan divides the data into pieces and these into shards, any engine
// runs the shards in any order, and merging what they found gives the same bits whatever their number.
//
// A training has rounds. Each shard reads its pieces and writes what it finds of them; a merge puts all of it together, which
// decides what the next round needs to know. Sums are added by a binary tree over the pieces, so they depend on the pieces
// alone, and rows are drawn by their place in a piece. What a shard wrote is known by its checksum: a shard that runs twice counts
// once, and one that is missing is an error.
package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/train"
)

// Plan is the manifest of a training: the data in pieces, the configuration, and which pieces are of a shard.
type Plan struct {
	Version int             `json:"version"`
	Config  train.Config    `json:"config"`
	Options dataset.Options `json:"options"`
	Data    *dataset.Pieces `json:"data"`

	// Part is about how many rows a process grows leaves from at a time, for a learner with leaves; 0 means rfm.PartRows.
	Part int `json:"part,omitempty"`

	// Ends are the numbers of the first piece after each shard.
	Ends []int `json:"shards"`

	sum string
}

// planVersion is that of the manifest; planFile is its name in a store.
const (
	planVersion = 1
	planFile    = "plan.json"
)

// DefaultPiece is the size of a piece in bytes, unless another is asked for.
const DefaultPiece = 64 << 20

// NewPlan divides data into pieces of about size bytes (0: DefaultPiece) and these into n shards.
func NewPlan(ctx context.Context, path string, opt dataset.Options, cfg train.Config, n int, size int64) (*Plan, error) {
	cfg, err := train.CheckSharded(cfg)
	if err != nil {
		return nil, err
	}
	if opt.Group != "" || opt.Stream {
		return nil, errors.New("rows of bags and streams are not read in pieces")
	}
	if size == 0 {
		size = DefaultPiece
	}
	d, err := dataset.Divide(ctx, path, opt, size)
	if err != nil {
		return nil, err
	}
	p := &Plan{Version: planVersion, Config: cfg, Options: opt, Data: d}
	return p, p.divide(n)
}

// SetPart says that a part has about so many rows (Plan.Part).
func (p *Plan) SetPart(rows int) error {
	if rows < leastPart || !p.mayHaveLeaves() {
		return fmt.Errorf("parts of %d rows: they have %d or more, and only learners with leaves, such as rfm, have parts", rows, leastPart)
	}
	p.Part = rows
	return p.seal()
}

// leastPart is the fewest rows that a part may be asked to have.
const leastPart = 1000

// divide makes n shards of the pieces. Where a shard has many pieces it begins where a large subtree does, so that it has few
// sums to write.
func (p *Plan) divide(n int) error {
	pieces := len(p.Data.All)
	if n < 1 || n > pieces {
		return fmt.Errorf("%s: is in %s, which cannot be %s; make pieces smaller, or take fewer shards", p.Data.Path, units.Plural(pieces, "piece"), units.Plural(n, "shard"))
	}
	step := 1 << max(0, bits.Len(uint(pieces/n))-3)
	p.Ends = nil
	for i := 1; i <= n; i++ {
		end := pieces
		if i < n {
			end = (i*pieces/n + step/2) / step * step
		}
		p.Ends = append(p.Ends, end)
	}
	return p.seal()
}

// seal computes the checksum: that of the plan as it is read back, which may lack what is empty.
func (p *Plan) seal() error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	var read Plan
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if text, err = json.Marshal(&read); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	p.sum = hex.EncodeToString(sum[:])
	return nil
}

// Sum is the checksum of the plan, which everything that is made by it has.
func (p *Plan) Sum() string { return p.sum }

// Shards is the number of shards.
func (p *Plan) Shards() int { return len(p.Ends) }

// Pieces are the numbers of the first piece of a shard, and of the first after it.
func (p *Plan) Pieces(shard int) (from, to int) {
	if shard > 0 {
		from = p.Ends[shard-1]
	}
	return from, p.Ends[shard]
}

// Save writes the plan to a store, which must have no other.
func (p *Plan) Save(ctx context.Context, s Store) error {
	if old, err := Load(ctx, s); err == nil && old.sum != p.sum {
		return fmt.Errorf("%s: has another plan; give an empty folder", s.Name(planFile))
	}
	return s.Write(ctx, planFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
}

// Load reads the plan of a store.
func Load(ctx context.Context, s Store) (*Plan, error) {
	p, err := readJSON[Plan](ctx, s, planFile)
	if err != nil {
		return nil, err
	}
	name := s.Name(planFile)
	switch {
	case p.Version != planVersion:
		return nil, fmt.Errorf("%s: has version %d, this program reads %d", name, p.Version, planVersion)
	case p.Data == nil || len(p.Data.All) == 0 || len(p.Ends) == 0 || p.Ends[len(p.Ends)-1] != len(p.Data.All):
		return nil, fmt.Errorf("%s: its shards are not all of its pieces", name)
	}
	from := 0
	for i, end := range p.Ends {
		if end <= from {
			return nil, fmt.Errorf("%s: shard %d has no pieces", name, i)
		}
		from = end
	}
	return p, p.seal()
}

// readJSON reads a small file of a store.
func readJSON[T any](ctx context.Context, s Store, name string) (*T, error) {
	r, size, err := s.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const most = 1 << 30
	if size > most {
		return nil, fmt.Errorf("%s: %d bytes are no description", s.Name(name), size)
	}
	var v T
	d := json.NewDecoder(io.LimitReader(r, most))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(name), err)
	}
	return &v, nil
}
