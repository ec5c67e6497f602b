package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/random"
	"mercer/matrix"
	"mercer/pool"
)

// FitBags trains a model on bags: each becomes one row (Config.Bag, nil meaning its zero
// value), and the rest is Fit on these rows. The data are read once to see what members are,
// and once to pool if all rows together take no more than 1 GiB; else three times.
//
// Memory, beside that of Fit: the members of a batch of bags, and the rows that are kept.
func FitBags(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (*Model, *Report, error) {
	if cfg.Bag == nil {
		cfg.Bag = &BagConfig{}
	}
	asked := cfg
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	f := &fit{ctx: ctx, cfg: cfg, opt: opt, report: &Report{}}
	start := time.Now()
	if err := f.poolBags(src); err != nil {
		return nil, nil, err
	}
	if f.bag.sum.Outputs == 0 {
		return nil, nil, fmt.Errorf("%s: the bags have no labels; name their column with --label, give one a bag with --labels FILE, or put the files of a folder into folders with the labels as names", src.Name())
	}
	if _, _, err := f.bag.sum.Task(cfg.Task); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", src.Name(), err) // before anything is pooled
	}
	m, err := f.run(asked)
	if err != nil {
		return nil, nil, err
	}
	f.report.end(start)
	return m, f.report, nil
}

// FitBagMapping fits what turns bags into rows and the part of a model behind it, up to the
// learner, on the bags of src, which are read twice, or once where nothing is done with the rows that
// they become. why says what was chosen, about members by names that begin with "bag.".
func FitBagMapping(ctx context.Context, src dataset.Bags, cfg Config, opt Options) (b *BagMapping, p *Mapping, why map[string]string, err error) {
	if cfg.Bag == nil {
		cfg.Bag = &BagConfig{}
	}
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, nil, nil, err
	}
	f := &fit{ctx: ctx, cfg: cfg, opt: opt, report: &Report{}}
	if err := f.poolBags(src); err != nil {
		return nil, nil, nil, err
	}
	if cfg.Kernel == "linear" && cfg.Map == "" && cfg.Scale == "none" && !cfg.reduces() {
		_, d := f.bag.mapping.Dims()
		p, why = &Mapping{in: d, scaler: &dataset.Scaler{Kind: "none"}}, map[string]string{}
	} else if p, why, err = f.fitMapping(); err != nil {
		return nil, nil, nil, err
	}
	for name, reason := range f.bag.info.Why {
		why["bag."+name] = reason
	}
	return f.bag.mapping, p, why, nil
}

// keptBytes is how large the rows of bags may be that are kept from pass to pass. It changes
// the time of a training and not its result.
const keptBytes = 1 << 30

// bagFit is what a training on bags knows of the members.
type bagFit struct {
	mapping *BagMapping
	info    *BagInfo
	sum     *dataset.BagSummary
}

// poolBags makes the first pass over bags, fits the pooling, and makes f.src the rows that
// come of it.
func (f *fit) poolBags(src dataset.Bags) error {
	members, err := f.cfg.Bag.members(f.cfg.Seed).withDefaults()
	if err != nil {
		return err
	}
	sum, err := dataset.SurveyBags(f.ctx, src, dataset.SurveyOptions{
		Seed:     f.cfg.Seed,
		Sample:   feature.SampleRows(members.feature(1)),
		Progress: func(rows int, share float64) { f.progress("read", rows, share) },
	})
	if err != nil {
		return err
	}
	f.report.Bags = sum
	if members.Features == 0 && !members.feature(1).Decides() && f.cfg.Bag.mapped() {
		members.Features = max(512, defaultFeatures(4*sum.Bags))
	}
	// The members' scaling and map are chosen as those of rows are.
	inner := &fit{ctx: f.ctx, src: membersOf{bags: src}, cfg: members, opt: f.opt, report: f.report}
	inner.begin(sum.Summary, members)
	inner.findMember = func() error { return inner.m.mapping.findMember(f.ctx, src) }
	if err := inner.choosePipeline(sum.Summary); err != nil {
		return err
	}
	cfg := f.cfg.Bag.pooling(f.cfg.Seed)
	cfg.Map, cfg.MaxBytes = inner.m.info.Feature, f.opt.Memory
	b := &BagMapping{schema: &dataset.Schema{}}
	*b.schema = *src.Schema()
	b.schema.Dim = sum.Dim
	b.members.in, b.members.scaler, b.members.domain = sum.Dim, inner.m.mapping.scaler, members.domain()
	var state map[string]*matrix.Dense
	if fitted, ok := inner.m.mapping.fmap.(feature.Fitted); ok {
		state = fitted.State()
	}
	if b.pooling, err = pool.Restore(cfg, sum.Dim, state); err != nil {
		return fmt.Errorf("%s: %w", src.Name(), err)
	}
	info := &BagInfo{Schema: *b.schema, Scale: inner.m.info.Scale, Densify: inner.m.info.Densify, Pooling: cfg, Members: sum.Rows, Least: sum.Least, Most: sum.Most, Why: inner.m.info.Training.Why}
	if chosen := b.pooling.Chosen(); chosen != "" {
		info.Why["pooling"] = chosen
	}
	f.bag = &bagFit{mapping: b, info: info, sum: sum}
	_, d := b.Dims()
	keep := int64(keptBytes)
	if f.opt.Memory > 0 {
		keep = min(keep, f.opt.Memory/4)
	}
	if f.kept = 4 * int64(sum.Bags) * int64(d); f.kept > keep {
		f.kept = 0
	}
	rows := 0
	if f.kept > 0 {
		rows = sum.Bags
	}
	f.src = b.source(src, rows, &f.report.Map)
	return nil
}

// membersOf is the source of a fit that only chooses: what messages say of members.
type membersOf struct {
	dataset.Source
	bags dataset.Bags
}

func (m membersOf) Name() string            { return m.bags.Name() }
func (m membersOf) Schema() *dataset.Schema { return m.bags.Schema() }

// findMember finds the first number of the members of bags that the kernel does not take, in a
// pass over them.
func (p *Mapping) findMember(ctx context.Context, src dataset.Bags) error {
	r, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var s scratch
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if bad := p.outside(p.scaled(&s, b.X)); bad != nil {
			return locatedBag(badMember(b.Bags, bad.Row, src.Schema().DimName(bad.Dim), p.reason(bad)+anotherScale("--bag-scale")), src, b)
		}
	}
}

// goldenEnds are where golden bags begin and end.
var goldenEnds = []int{0, 1, 2, 4, 6}

// goldenBags draws members as takeGolden draws rows, and pools them.
func (f *fit) goldenBags(x *matrix.Dense) error {
	members := drawRows(random.New(f.cfg.Seed, "golden"), goldenEnds[goldenRows], f.bag.sum.Summary)
	f.m.golden.members = members
	return f.bag.mapping.Pool(x, matrix.Rows{Dense: members}, goldenEnds)
}
