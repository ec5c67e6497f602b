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
	"mercer/internal/option"
	"mercer/kernel"
	"mercer/pool"
	"mercer/train"
)

// tuned is data that a search is on: the rows that configurations are judged by, and the rows or bags that the one
// that is picked is trained on.
type tuned struct {
	file dataFile
	rows dataset.Source
	all  front.Data // what the configuration that is picked is trained on
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
	case t.foldGroup != "":
		return usagef("folds of bags keep the members of a bag together; --fold-group %s is for rows: leave it out", t.foldGroup)
	case t.opt.Folds.Kind == "group":
		return usagef("folds of bags keep the members of a bag together; leave out --fold-kind group")
	case t.opt.Strict:
		return usagef("bags are pooled once for all folds, with scaling and γ of all members; leave out --strict")
	}
	probe := train.Config{Bag: c.Bag, Kernel: kernel.Linear.Name()}
	if err := probe.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

// open opens the data. Bags become rows here, by a pooling that is fitted on all their members, without
// labels; rows of up to a quarter of the memory or 1 GiB are kept from pass to pass.
func (t *tuning) open(ctx context.Context, path string, p *progress) (*tuned, error) {
	data := t.train.data
	if t.train.cfg.Bag == nil {
		data.Group = t.foldGroup
		file, err := dataset.Open(ctx, path, data)
		if err != nil {
			return nil, option.Renamed(err, "group", "fold_group") // by which tune is told of groups
		}
		var src dataset.Source = file
		if t.foldGroup != "" && file.Schema().Header {
			u := &ungrouped{file, *file.Schema()}
			u.schema.Group = nil
			src = u
		}
		return &tuned{file, src, front.Source(src)}, nil
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
	cfg := train.Config{Bag: t.train.cfg.Bag, Kernel: kernel.Linear.Name(), Scale: "none", Seed: t.train.cfg.Seed}
	mapping, _, _, err := train.FitBagPipeline(ctx, bags, cfg, train.Options{Progress: p.report, Memory: memory})
	if err != nil {
		bags.Close()
		return nil, err
	}
	keep := min(memory/4, 1<<30)
	t.opt.Memory -= keep
	return &tuned{bags, mapping.KeptSource(bags, keep), front.Bags(bags)}, nil
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
