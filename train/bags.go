package train

import (
	"context"
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// FitBags trains a model on bags: each becomes one row (by Config.Bag, or by its zero value if that is
// nil), and Fit does the rest on these rows. The data are read once to survey the members, and
// once more to pool them if all rows together take no more than 1 GiB, otherwise twice more.
//
// Memory, in addition to that of Fit: the members of one batch of bags, and the rows that are kept.
func FitBags(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (*model.Model, *Report, error) {
	start := time.Now()
	f, err := beginBags(ctx, src, cfg, opt)
	if err == nil {
		err = f.run(ofBags)
	}
	return f.trained(start, err)
}

// FitBagPipeline fits what turns bags into rows, and the part of a model between these rows and the
// learner. It reads the bags of src twice, or once if nothing is done with their rows. why lists
// the reasons for what was chosen; names that begin with "bag." concern the members.
func FitBagPipeline(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (b *pipeline.Bags, p *pipeline.Pipeline,
	why map[string]string, err error) {
	f, err := beginBags(ctx, src, cfg, opt)
	if err == nil {
		err = f.pool()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if c := &f.cfg; !c.pipeline().Mapped() && c.Scale == "none" && !c.reduces() {
		_, d := f.bag.mapping.Dims()
		p, why = pipeline.Identity(d), map[string]string{}
	} else if err := f.run(ofPipeline); err != nil {
		return nil, nil, nil, err
	} else {
		p, why = f.pipe, f.info.Training.Why
	}
	for name, reason := range f.bag.info.Why {
		why["bag."+name] = reason
	}
	return f.bag.mapping, p, why, nil
}

// beginBags begins a training on bags.
func beginBags(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (*fit, error) {
	if cfg.Bag == nil {
		cfg.Bag = &pipeline.BagConfig{}
	}
	f, err := begin(ctx, nil, cfg, opt)
	f.bag = &bags{src: src}
	return f, err
}

// keptBytes is the largest size of the rows of bags that are kept from pass to pass. It changes
// the time of a training but not its result.
const keptBytes = 1 << 30

// bags is what a training on bags has found out about their members.
type bags struct {
	src     dataset.Bags
	mapping *pipeline.Bags
	info    *pipeline.BagInfo
	sum     *dataset.BagSummary
	golden  *matrix.Dense // members of the golden bags
}

// pool makes the first pass over the bags, fits the pooling, and sets f.src to the rows of the
// bags.
func (f *fit) pool() error {
	b := f.bag
	sample, err := f.cfg.Bag.SampleRows(f.cfg.Seed)
	if err != nil {
		return err
	}
	b.sum, err = dataset.SurveyBags(f.ctx, b.src, dataset.SurveyOptions{
		Seed: f.cfg.Seed, Sample: sample,
		Progress: func(rows int, share float64) { f.progress("read", rows, share) },
	})
	if err != nil {
		return err
	}
	f.report.Bags = b.sum
	if b.mapping, b.info, err = pipeline.SettleBags(f.ctx, b.src, f.cfg.Bag, f.cfg.Seed, b.sum, f.opt.Memory); err != nil {
		return err
	}
	_, d := b.mapping.Dims()
	keep := int64(keptBytes)
	if f.opt.Memory > 0 {
		keep = min(keep, f.opt.Memory/4)
	}
	rows := b.sum.Bags
	if f.kept = 4 * int64(rows) * int64(d); f.kept > keep {
		f.kept, rows = 0, 0
	}
	f.src = b.mapping.TrainingSource(b.src, rows, &f.report.Map)
	return nil
}

// labelled rejects bags that cannot be trained on, before any are pooled.
func (f *fit) labelled() error {
	name := f.bag.src.Name()
	if f.bag.sum.Outputs == 0 {
		return option.Errorf("%s: the bags have no labels; name their column with %s, give one a bag with %s, or put the files of a folder "+
			"into folders with the labels as names", name, option.Ref("label"), option.Set("labels_file", "FILE"))
	}
	if _, _, err := f.bag.sum.Task(f.cfg.Task); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
