package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/pool"
	"mercer/kernel"
	"mercer/train"
)

// tuned is data that a search is on: the rows that configurations are judged by, and the rows or bags that the one
// that is picked is trained on.
type tuned struct {
	file dataFile
	rows dataset.Source
	all  front.Data // what the configuration that is picked is trained on
	test front.Data // what it is tested on, if anything
	held *dataset.Held
}

// settleBags finds out whether the data are bags, and what says nothing to a search on them.
func (t *tuning) settleBags(cmd *cobra.Command, path string) error {
	c := &t.train.cfg
	if strings.EqualFold(t.train.bag.Pooling, "cbp-krp") {
		for _, name := range pool.OptionsOf("cbp-krp") {
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
				return usagef("--%s has one value for the pooling of bags; give it by --bag '{\"%s\": …}'", name, name)
			}
		}
	}
	if err := settleBags(cmd, path, &t.train.data, c, &t.train.bag); err != nil || c.Bag == nil {
		return err
	}
	switch {
	case t.train.holdsOut():
		return usagef("a search on bags holds no rows back; divide the bags into two files, and give one with --test")
	case t.foldGroup != "":
		return usagef("folds of bags keep the members of a bag together; --fold-group %s is for rows: leave it out", t.foldGroup)
	case t.opt.Folds.Kind == "group":
		return usagef("folds of bags keep the members of a bag together; leave out --fold-kind group")
	case t.opt.Strict:
		return usagef("bags are pooled once for all folds, with scaling and γ of all members; leave out --strict")
	}
	probe := train.Config{Bag: c.Bag, Kernel: train.Kernel{Name: kernel.Linear.Name()}}
	if err := probe.Check(); err != nil {
		return UsageError{err}
	}
	return nil
}

// open opens the data. Bags become rows here, by a pooling that is fitted on all their members, without
// labels; rows of up to a quarter of the memory or 1 GiB are kept from pass to pass.
func (t *tuning) open(ctx context.Context, path string, p *Progress) (*tuned, error) {
	data := t.train.data
	if t.train.cfg.Bag == nil {
		data.Group = t.foldGroup
		file, err := dataset.Open(ctx, path, data)
		if err != nil {
			return nil, option.Renamed(err, "group", "fold_group") // by which tune is told of groups
		}
		found := &tuned{file: file, test: t.train.testData()}
		var rest, held dataset.Source = file, nil
		if t.train.holdsOut() {
			if rest, held, found.held, err = t.holdOut(ctx, file, p); err != nil {
				file.Close()
				return nil, err
			}
			found.test = front.Source(t.ungroup(held))
		}
		found.rows = t.ungroup(rest)
		found.all = front.Source(found.rows)
		return found, nil
	}
	bags, err := dataset.OpenBags(ctx, path, data)
	if err != nil {
		return nil, err
	}
	if err := labelled(ctx, bags); err != nil {
		bags.Close()
		return nil, err
	}
	memory := t.opt.Memory
	cfg := train.Config{Bag: t.train.cfg.Bag, Kernel: train.Kernel{Name: kernel.Linear.Name()}, Scale: "none", Seed: t.train.cfg.Seed}
	mapping, _, _, err := train.FitBagPipeline(ctx, bags, cfg, train.Options{Progress: p.Report, Memory: memory})
	if err != nil {
		bags.Close()
		return nil, err
	}
	keep := min(memory/4, 1<<30)
	t.opt.Memory -= keep
	found := &tuned{file: bags, rows: mapping.KeptSource(bags, keep), all: front.Bags(bags), test: t.train.testData()}
	return found, nil
}

// holdOut keeps rows back that neither the search nor the training of its choice sees.
func (t *tuning) holdOut(ctx context.Context, file *dataset.File, p *Progress) (rest, held dataset.Source, how *dataset.Held, err error) {
	tr := &t.train
	h := dataset.Holdout{Share: tr.holdout, Kind: tr.divide, Task: tr.cfg.Task, Seed: max(tr.cfg.Seed, 1)}
	if h.Share == 0 && tr.data.Columns.SplitColumn == "" {
		h.Share = 0.2
	}
	rest, held, how, err = h.HoldOut(ctx, file, func(rows int, share float64) { p.Report("hold out", rows, share) })
	if err == nil && t.opt.Folds.Kind == "time" {
		t.opt.Times = how.Times
	}
	return rest, held, how, err
}

// ungroup hides the column of groups, which are of folds.
func (t *tuning) ungroup(src dataset.Source) dataset.Source {
	if t.foldGroup == "" || !src.Schema().Header {
		return src
	}
	u := &ungrouped{src, *src.Schema()}
	u.schema.Group = nil
	return u
}

// labelled is an error where the first bags have no labels.
func labelled(ctx context.Context, bags dataset.Bags) error {
	r, err := bags.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := r.Next()
	if err == nil && b.Outputs == 0 {
		err = fmt.Errorf("%s: the bags have no labels; name their column with --label, give one a bag with --labels FILE, "+
			"or put the files of a folder into folders with the labels as names", bags.Name())
	}
	if errors.Is(err, io.EOF) {
		return nil // what is wrong with no bags at all is for the survey to say
	}
	return err
}
