package pipeline

import (
	"context"
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/pool"
	"mercer/kernel"
	"mercer/matrix"
)

// Bags turns bags into rows: members are scaled and pooled. It does not change and is safe
// for concurrent use.
type Bags struct {
	members *Pipeline // without a map
	pooling *pool.Pooling
	schema  *dataset.Schema // of the members
}

// Pooling is how members are pooled.
func (p *Bags) Pooling() *pool.Pooling { return p.pooling }

// Scaler is the scaling of the members.
func (p *Bags) Scaler() *dataset.Scaler { return p.members.scaler }

// Dims is the number of dimensions of a member and of a pooled row.
func (p *Bags) Dims() (in, out int) { return p.pooling.Dims() }

// Pool writes the row of each bag into dst, which must have as many rows as there are bags, and D columns: bag i is
// rows [bags[i], bags[i+1]) of x. It fails like Pipeline.Transform, and also if products of
// members overflow float32.
func (p *Bags) Pool(dst *matrix.Dense, x matrix.Rows, bags []int) error {
	if _, d := p.Dims(); dst.Rows != len(bags)-1 || dst.Cols != d {
		panic(fmt.Sprintf("pipeline: Pool wants a %d×%d dst, got %d×%d", len(bags)-1, d, dst.Rows, dst.Cols))
	}
	if err := p.members.Check(x); err != nil {
		return err
	}
	w := p.members.Borrow()
	defer p.members.Return(w)
	scaled := w.Scale(x)
	if bad := p.members.outside(scaled); bad != nil {
		return badMember(bags, bad.Row, p.schema.DimName(bad.Dim), p.members.reason(bad))
	}
	p.pooling.Pool(dst, scaled, bags)
	for i := range dst.Rows {
		for _, v := range dst.Row(i) {
			if v-v != 0 {
				return &dataset.RowError{Row: i, Bag: true, Dim: -1,
					Err: option.Errorf("its values are too large to pool in float32; scale the members (%s)", option.Ref("bag_scale"))}
			}
		}
	}
	return nil
}

// badMember is the error for a bad number among the members of bags.
func badMember(bags []int, row int, dim string, reason error) *dataset.RowError {
	i, member := place(bags, row)
	return &dataset.RowError{Row: i, Bag: true, Dim: -1, Err: fmt.Errorf("member %d (from 0), %s: %w", member, dim, reason)}
}

// place says which bag a row belongs to, and which member it is.
func place(bags []int, row int) (bag, member int) {
	bag, exact := slices.BinarySearch(bags, row)
	for ; exact && bag+1 < len(bags) && bags[bag+1] == row; bag++ {
	}
	if !exact {
		bag--
	}
	return bag, row - bags[bag]
}

// BagInfo describes how a model handles bags; it is stored in the model file.
type BagInfo struct {
	// Schema says how the members were read.
	Schema dataset.Schema `json:"schema"`

	// Scale and Densify are those of the members.
	Scale   string `json:"scale"`
	Densify bool   `json:"densify,omitempty"`

	// Pooling says how members are pooled.
	Pooling pool.Config `json:"pooling"`

	// Members is the number of members in training, Least and Most the smallest and largest of a bag.
	Members int `json:"members"`
	Least   int `json:"least"`
	Most    int `json:"most"`

	// Why gives in words the reason for a scaling, a γ or a map, by name.
	Why map[string]string `json:"why"`
}

// SettleBags decides how the bags of src become rows, as Settle does for rows: the members' scaling,
// kernel, γ and map, and the pooling. sum is the survey of the bags; memory is the number of
// bytes that the map may hold, or 0.
func SettleBags(ctx context.Context, src dataset.Bags, cfg *BagConfig,
	seed uint64, sum *dataset.BagSummary, memory int64) (*Bags, *BagInfo, error) {
	members, err := cfg.members(seed)
	if err != nil {
		return nil, nil, err
	}
	if f := members.Feature(1); members.Features == 0 && (!f.Decides() || members.grouped()) && cfg.mapped() {
		members.Features = max(512, DefaultFeatures(4*sum.Bags))
	}
	inner, why, err := Settle(ctx, members, Rows{
		Name: src.Name(), Schema: src.Schema(), Summary: sum.Summary, Memory: memory,
		Find: func(p *Pipeline) error { return p.findMember(ctx, src) },
	})
	if err != nil {
		return nil, nil, err
	}
	how := cfg.pooling(seed)
	how.Map, how.MaxBytes = inner.made, memory
	b := &Bags{schema: &dataset.Schema{}, members: &Pipeline{in: sum.Dim, scaler: inner.scaler, domain: inner.domain, groups: inner.groups}}
	*b.schema = *src.Schema()
	b.schema.Dim = sum.Dim
	var state map[string]*matrix.Dense
	if fitted, ok := inner.fmap.(feature.Fitted); ok {
		state = fitted.State()
	}
	if b.pooling, err = pool.Restore(how, sum.Dim, state); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	info := &BagInfo{
		Schema: *b.schema, Scale: inner.scaler.Kind, Densify: inner.scaler.Densify, Pooling: how,
		Members: sum.Rows, Least: sum.Least, Most: sum.Most, Why: why,
	}
	if chosen := b.pooling.Chosen(); chosen != "" {
		info.Why["pooling"] = chosen
	}
	return b, info, nil
}

// SampleRows is the number of members that a survey must draw for SettleBags.
func (b *BagConfig) SampleRows(seed uint64) (int, error) {
	members, err := b.members(seed)
	return members.SampleRows(), err
}

// findMember passes over the members of bags to find the first number outside the kernel's
// domain.
func (p *Pipeline) findMember(ctx context.Context, src dataset.Bags) error {
	w := p.Pass()
	for b, err := range dataset.EachBags(ctx, src) {
		if err != nil {
			return err
		}
		if bad := p.outside(w.Scale(b.X)); bad != nil {
			at := badMember(b.Bags, bad.Row, src.Schema().DimName(bad.Dim), p.reason(bad))
			return dataset.LocateBag(AnotherScale(at, "bag_scale"), src, b.BagBatch)
		}
	}
	return nil
}

// AddTensors adds the fitted values to the tensors of a file, under names that begin with prefix.
func (p *Bags) AddTensors(to map[string]*safetensors.Tensor, prefix string) {
	addScaler(to, prefix, p.members.scaler)
	addState(to, prefix+mapPrefix, p.pooling.State())
}

// RestoreBags rebuilds Bags with rows of dim numbers from a description and the tensors
// of a file, whose names begin with prefix.
func RestoreBags(info *BagInfo, dim int, t safetensors.Tensors, prefix string, most int64) (*Bags, error) {
	channels := info.Schema.Dim
	b := &Bags{schema: &info.Schema, members: &Pipeline{in: channels, domain: kernel.Linear.Usual()}}
	var err error
	if b.members.scaler, err = restoreScaler(t, prefix, info.Scale, info.Densify, channels); err != nil {
		return nil, fmt.Errorf("bags: %w", err)
	}
	if info.Pooling.Map != nil {
		b.members.domain, b.members.groups = feature.Domain(*info.Pooling.Map), info.Pooling.Map
	}
	// The tensors confirm the sizes before anything is built.
	d := info.Pooling.Features
	if info.Pooling.Map != nil {
		d = info.Pooling.Map.Features
	}
	if d != 0 && d != dim {
		return nil, fmt.Errorf("pooling gives rows of %d numbers, the model takes %d", d, dim)
	}
	state, err := restoreState(t, prefix+mapPrefix)
	if err != nil {
		return nil, err
	}
	how := info.Pooling
	how.MaxBytes = most
	if how.Map != nil {
		inner := *how.Map
		inner.MaxBytes, how.Map = most, &inner
	}
	if b.pooling, err = pool.Restore(how, channels, state); err != nil {
		return nil, tooLarge(err)
	}
	if _, d := b.pooling.Dims(); d != dim {
		return nil, fmt.Errorf("pooling gives rows of %d numbers, the model takes %d", d, dim)
	}
	return b, nil
}
