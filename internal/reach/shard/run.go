package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Receipt is what a shard has found in a round: files of sums of adjacent pieces, which together are all of its own.
type Receipt struct {
	Plan   string   `json:"plan"`
	Round  string   `json:"round"`
	Before string   `json:"before"` // checksum of the sum of the round before
	Shard  int      `json:"shard"`
	Last   int      `json:"last,omitempty"` // the last shard, if it is of several
	Rows   int      `json:"rows"`
	Files  []Result `json:"files"`
}

// Result is the sum of 2^Level pieces.
type Result struct {
	From  int    `json:"from"`
	Level int    `json:"level"`
	File  string `json:"file"`
	Sum   string `json:"sha256"`
	Size  int64  `json:"size"`
}

// receipt is the file of a receipt.
func receipt(round string, shard int) string { return fmt.Sprintf("%s/shard-%05d.json", round, shard) }

// Run runs a shard in a round ("": the next). It writes its sums, and then the receipt. If the shard has run before,
// the receipt must be the same.
func (w *Worker) Run(ctx context.Context, round string, shard int) (*Receipt, error) {
	if shard < 0 || shard >= w.Plan.Shards() {
		return nil, fmt.Errorf("there is no shard %d; shards are 0 to %d", shard, w.Plan.Shards()-1)
	}
	if round == "" {
		var err error
		if round, err = w.Next(ctx); err != nil {
			return nil, err
		}
		if round == "" {
			return nil, errors.New("all rounds are merged; what is left is to solve")
		}
	}
	if err := w.begin(ctx, round); err != nil {
		return nil, err
	}
	if slices.Contains(w.learned, round) && strings.HasPrefix(round, roundPass) {
		return nil, fmt.Errorf("the round %s is merged already", round)
	}
	t := &tree{}
	if round == roundStatistics {
		t.leave, t.back = w.leave, w.back
	}
	from, to := w.Plan.Pieces(shard)
	r := &Receipt{Plan: w.Plan.sum, Round: round, Before: w.key(round)["before"], Shard: shard}
	for i := from; i < to; i++ {
		s, err := w.piece(ctx, round, i)
		if err == nil {
			r.Rows += s.rows()
			err = t.add(ctx, &node{from: i, sum: s})
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, w.Plan.Named(i, err)
		}
	}
	if err := w.writeNodes(ctx, r, t); err != nil {
		return nil, err
	}
	return r, w.sign(ctx, r)
}

// writeNodes writes the sums of a tree and notes them in a receipt.
func (w *Worker) writeNodes(ctx context.Context, r *Receipt, t *tree) error {
	for _, n := range t.nodes {
		if n.sum == nil {
			if err := w.back(ctx, n); err != nil {
				return err
			}
		}
		file := fmt.Sprintf("%s/pieces-%d-%d.sum", r.Round, n.from, n.from+n.count())
		check, size, err := w.write(ctx, r.Round, file, n.sum)
		if err != nil {
			return err
		}
		r.Files = append(r.Files, Result{From: n.from, Level: n.level, File: file, Sum: check, Size: size})
		n.sum = nil
	}
	return nil
}

// text is the receipt as text, for comparisons.
func (r *Receipt) text() string {
	text, _ := json.Marshal(r)
	return string(text)
}

// sign writes a receipt, unless it is there.
func (w *Worker) sign(ctx context.Context, r *Receipt) error {
	name := receipt(r.Round, r.Shard)
	old, err := readJSON[Receipt](ctx, w.store, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.Plan == r.Plan && old.Before == r.Before:
		if old.text() == r.text() {
			return nil
		}
		return fmt.Errorf("shard %d found something else in the round %s than when it ran before (%s): have the data changed?", r.Shard, r.Round,
			w.store.Name(name))
	}
	return w.store.Write(ctx, name, func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetIndent("", " ")
		return e.Encode(r)
	})
}

// Sums of features from spillFrom bytes on leave memory while they wait, since one may wait for each doubling of the pieces.
var spillFrom = int64(16 << 20)

// leave writes a large sum to a file.
func (w *Worker) leave(_ context.Context, n *node) error {
	s := n.sum.(momentSum)
	d, _ := s[0].Dims()
	if int64(len(s))*int64(d)*int64(d)*8 < spillFrom {
		return nil
	}
	file, err := spill(s)
	if err == nil {
		n.file, n.sum = file, nil
	}
	return err
}

// back reads it again.
func (w *Worker) back(_ context.Context, n *node) error {
	s, err := unspill(n.file)
	n.sum, n.file = s, nil
	return err
}
