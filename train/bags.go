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
	t, err := beginBags(ctx, src, cfg, opt)
	if err == nil {
		err = t.take(ofBags)
	}
	return t.trained(start, err)
}

// FitBagPipeline fits what turns bags into rows, and the part of a model between these rows and the
// learner. It reads the bags of src twice, or once if nothing is done with their rows. why lists
// the reasons for what was chosen; names that begin with "bag." concern the members.
func FitBagPipeline(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (b *pipeline.Bags, p *pipeline.Pipeline,
	why map[string]string, err error) {
	t, err := beginBags(ctx, src, cfg, opt)
	if err == nil {
		t.bag, t.src, err = t.pool(src)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if c := &t.cfg; !c.pipeline().Mapped() && c.Scale == "none" && !c.reduces() {
		_, d := t.bag.mapping.Dims()
		p = pipeline.Identity(d)
	} else if err := t.take(ofPipeline); err != nil {
		return nil, nil, nil, err
	} else {
		p = t.job.pipe
	}
	for name, reason := range t.bag.info.Why {
		t.why["bag."+name] = reason
	}
	return t.bag.mapping, p, t.why, nil
}

// beginBags begins a training on bags.
func beginBags(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (*training, error) {
	if cfg.Bag == nil {
		cfg.Bag = &pipeline.BagConfig{}
	}
	t, err := begin(ctx, nil, cfg, opt)
	t.bags = src
	return t, err
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
	kept    int64         // bytes of their rows that are kept
}

// pool makes the first pass over the bags of src and fits the pooling. The bags become rows.
func (r *run) pool(src dataset.Bags) (*bags, dataset.Source, error) {
	b := &bags{src: src}
	sample, err := r.cfg.Bag.SampleRows(r.cfg.Seed)
	if err != nil {
		return nil, nil, err
	}
	b.sum, err = dataset.SurveyBags(r.ctx, src, dataset.SurveyOptions{
		Seed: r.cfg.Seed, Sample: sample,
		Progress: func(rows int, share float64) { r.progress("read", rows, share) },
	})
	if err != nil {
		return nil, nil, err
	}
	r.report.Bags = b.sum
	if b.mapping, b.info, err = pipeline.SettleBags(r.ctx, src, r.cfg.Bag, r.cfg.Seed, b.sum, r.opt.Memory); err != nil {
		return nil, nil, err
	}
	_, d := b.mapping.Dims()
	keep := int64(keptBytes)
	if r.opt.Memory > 0 {
		keep = min(keep, r.opt.Memory/4)
	}
	rows := b.sum.Bags
	if b.kept = 4 * int64(rows) * int64(d); b.kept > keep {
		b.kept, rows = 0, 0
	}
	return b, b.mapping.TrainingSource(src, rows, &r.report.Map), nil
}

// labelled rejects bags that cannot be trained on, before any are pooled.
func (b *bags) labelled(task string) error {
	name := b.src.Name()
	if b.sum.Outputs == 0 {
		return option.Errorf("%s: the bags have no labels; name their column with %s, give one a bag with %s, or put the files of a folder "+
			"into folders with the labels as names", name, option.Ref("label"), option.Set("labels_file", "FILE"))
	}
	if _, _, err := b.sum.Task(task); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
