package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Merge puts together what all shards found in a round ("": the next), and returns its name, "" if there was nothing to do. Of every shard there
// has to be a receipt, by this plan and after this result of the round before.
func (w *Worker) Merge(ctx context.Context, which string) (round string, rows int, err error) {
	if which != "" && !w.Plan.Needs(which) {
		return "", 0, nil
	}
	if round, err = w.Next(ctx); err != nil {
		return round, 0, err
	}
	if which != "" && which != round {
		done := false
		if w.course().knows(which) {
			if done, err = w.isMerged(ctx, which); done || err != nil {
				return "", 0, err
			}
		}
		return "", 0, w.begin(ctx, which)
	}
	if round == "" {
		return "", 0, nil
	}
	if err := w.begin(ctx, round); err != nil {
		return round, 0, err
	}
	var receipts []*Receipt
	for shard := range w.Plan.Shards() {
		r, err := readJSON[Receipt](ctx, w.store, receipt(round, shard))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return round, 0, err
		}
		receipts = append(receipts, r)
	}
	rows, err = w.MergeReceipts(ctx, round, receipts)
	return round, rows, err
}

// MergeReceipts is Merge of receipts that came another way than by the store, in any order. One that comes twice counts once.
func (w *Worker) MergeReceipts(ctx context.Context, round string, receipts []*Receipt) (rows int, err error) {
	if err := w.begin(ctx, round); err != nil {
		return 0, err
	}
	by, err := w.sorted(round, receipts)
	if err != nil {
		return 0, err
	}
	var missing []string
	next := 0
	for _, r := range append(by, &Receipt{Shard: w.Plan.Shards()}) {
		for ; next < r.Shard; next++ {
			from, to := w.Plan.Pieces(next)
			missing = append(missing, fmt.Sprintf("%d (pieces %d to %d, from %s)", next, from, to-1, w.Plan.Data.All[from]))
		}
		next = max(r.Shard, r.Last) + 1
	}
	if missing != nil {
		return 0, fmt.Errorf("the round %s lacks %d of %d shards: %s", round, len(missing), w.Plan.Shards(), list(missing, 10))
	}
	t, err := w.add(ctx, round, by)
	if err != nil {
		return 0, err
	}
	total, err := t.root(ctx)
	if err != nil {
		return 0, err
	}
	if total, err = w.conclude(ctx, round, total); err != nil {
		return 0, err
	}
	rows = total.rows()
	check, _, err := w.write(ctx, round, merged(round), total)
	if err == nil {
		err = w.learn(ctx, round, total, check)
	}
	return rows, err
}

// Combine adds up what some adjacent shards found, as the first step of a merge in which several processes share the work, and returns the receipt of all.
func (w *Worker) Combine(ctx context.Context, round string, receipts []*Receipt) (*Receipt, error) {
	if err := w.begin(ctx, round); err != nil {
		return nil, err
	}
	by, err := w.sorted(round, receipts)
	if err != nil {
		return nil, err
	}
	if len(by) == 1 {
		return by[0], nil
	}
	all := *by[0]
	for _, r := range by[1:] {
		if r.Shard != max(all.Shard, all.Last)+1 {
			return nil, fmt.Errorf("the round %s lacks shard %d between others", round, max(all.Shard, all.Last)+1)
		}
		all.Last = max(r.Shard, r.Last)
		all.Rows += r.Rows
	}
	t, err := w.add(ctx, round, by)
	if err != nil {
		return nil, err
	}
	all.Files = nil
	return &all, w.writeNodes(ctx, &all, t)
}

// sorted checks receipts and sorts them; one that comes twice is one.
func (w *Worker) sorted(round string, receipts []*Receipt) (by []*Receipt, err error) {
	for _, r := range receipts {
		if err := w.checkReceipt(r, round); err != nil {
			return nil, err
		}
	}
	by = slices.Clone(receipts)
	slices.SortStableFunc(by, func(a, b *Receipt) int { return a.Shard - b.Shard })
	for i := 1; i < len(by); i++ {
		a, b := by[i-1], by[i]
		if a.Shard != b.Shard {
			continue
		}
		if x, y := a.text(), b.text(); x != y {
			return nil, fmt.Errorf("shard %d found two things in the round %s: have the data changed?", a.Shard, round)
		}
		by = slices.Delete(by, i, i+1)
		i--
	}
	return by, nil
}

// add adds up the sums of receipts, in the order of the pieces.
func (w *Worker) add(ctx context.Context, round string, receipts []*Receipt) (*tree, error) {
	t := &tree{}
	for _, r := range receipts {
		for _, f := range r.Files {
			s, meta, check, err := w.read(ctx, round, f.File)
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%s is not there", w.store.Name(f.File))
			}
			if err == nil && check != f.Sum {
				err = fmt.Errorf("%s: has the checksum %s, the receipt says %s", w.store.Name(f.File), check, f.Sum)
			}
			if err == nil {
				err = w.same(round, meta)
			}
			if err == nil {
				err = t.add(ctx, &node{from: f.From, level: f.Level, sum: s})
			}
			if err != nil {
				return nil, fmt.Errorf("shard %d: %w; run it again", r.Shard, err)
			}
		}
	}
	return t, nil
}

// checkReceipt says what is wrong with a receipt, if anything.
func (w *Worker) checkReceipt(r *Receipt, round string) error {
	key := w.key(round)
	last := max(r.Shard, r.Last)
	switch {
	case r.Shard < 0 || last >= w.Plan.Shards():
		return fmt.Errorf("a receipt of shard %d, of %d", last, w.Plan.Shards())
	case r.Plan != key["plan"] || r.Before != key["before"] || r.Round != round:
		return fmt.Errorf("shard %d ran by another plan, or after another result of the round before; run it again", r.Shard)
	}
	at, _ := w.Plan.Pieces(r.Shard)
	_, to := w.Plan.Pieces(last)
	for _, f := range r.Files {
		if f.Level < 0 || f.Level > 20 || f.From != at {
			return fmt.Errorf("the sums of shard %d are not those of its pieces", r.Shard)
		}
		at += 1 << f.Level
	}
	if at != to {
		return fmt.Errorf("the sums of shard %d are not those of its pieces", r.Shard)
	}
	return nil
}

// list joins the first of many.
func list(all []string, most int) string {
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}
