package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/matrix"
)

// Columns of a training in pieces get mean targets by two more passes: one adds up the targets by value and takes a sample of the rows, by which
// SettleMeans chooses as a training in one place does; another surveys the rows with their means.

// Means are the sums of targets of some rows, and those of the rows that are in a sample to choose by.
type Means struct {
	sums   *dataset.MeanSums // nil: no column may have means
	sample meanRows
	choice *meanChoice // nil: not made
	read   int
}

// meanRows are rows in which each value of a category has a dimension, with their numbers.
type meanRows struct {
	x          matrix.CSR
	y, weights []float64
	keys       []int
}

// MayHaveMeans says whether a training in pieces has the passes for mean targets.
func (c Config) MayHaveMeans() bool { return c.Apart() && c.targetMeans() != "none" }

// EmptyMeans are those of no rows, whose schema has a dimension for each value.
func (s *Sharded) EmptyMeans(all *dataset.Schema) *Means {
	m := &Means{}
	if s.f.mayHaveMeans() {
		m.sums = s.f.meanSums(all)
	}
	return m
}

// Means adds up some rows, of which first is the number of the first one.
func (s *Sharded) Means(ctx context.Context, src dataset.Source, first int) (*Means, error) {
	f := *s.f
	f.ctx, f.src = ctx, src
	m := s.EmptyMeans(src.Schema())
	if m.sums == nil {
		return m, nil
	}
	// As many rows as a training in one place draws, of those that are apart and of the others.
	share := float64(meansRows) / float64(f.sum.Rows)
	apart, others := share/dataset.ApartShare, share/(1-dataset.ApartShare)
	err := f.eachMean(src, func(b *matrix.Batch, y, weights []float64) error {
		shifted := *b
		shifted.First += first
		m.sums.Add(&shifted, y, weights)
		m.read += b.X.Len()
		for i, w := range weights {
			key, chance := shifted.First+i, others
			if m.sums.Apart(key) {
				chance = apart
			}
			if w > 0 && random.New(f.cfg.Seed, "train.means", uint64(key)).Uniform() < chance {
				m.sample.add(b.X, i, y[i*f.outputs:][:f.outputs], w, key)
			}
		}
		return nil
	})
	return m, err
}

func (r *meanRows) add(x matrix.Rows, i int, y []float64, weight float64, key int) {
	c := &r.x
	if c.Ptr == nil {
		c.Ptr = []int{0}
	}
	c.Cols = x.Dim()
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		c.Idx, c.Val = append(c.Idx, idx...), append(c.Val, val...)
	} else {
		for j, v := range x.Dense.Row(i) {
			if v != 0 {
				c.Idx, c.Val = append(c.Idx, int32(j)), append(c.Val, v)
			}
		}
	}
	c.Ptr = append(c.Ptr, len(c.Idx))
	c.Rows++
	r.y, r.weights, r.keys = append(r.y, y...), append(r.weights, weight), append(r.keys, key)
}

// Rows is the number of rows that were added.
func (m *Means) Rows() int { return m.read }

// Merge adds the rows that follow.
func (m *Means) Merge(next *Means) error {
	if (m.sums == nil) != (next.sums == nil) {
		return errors.New("sums of targets by columns, and none before, or the other way round")
	}
	m.read += next.read
	if m.sums == nil {
		return nil
	}
	if len(next.sample.keys) > 0 {
		k := len(next.sample.y) / len(next.sample.keys)
		for i, key := range next.sample.keys {
			m.sample.add(matrix.Rows{CSR: &next.sample.x}, i, next.sample.y[i*k:][:k], next.sample.weights[i], key)
		}
	}
	return m.sums.Merge(next.sums)
}

// SettleMeans chooses the columns that get means by those of all rows, which lose their sample.
func (s *Sharded) SettleMeans(ctx context.Context, m *Means, all *dataset.Schema) error {
	f := s.goOn(ctx).job
	m.choice = &meanChoice{}
	if m.sums == nil {
		return s.TakeMeans(m, all)
	}
	// Where rare values share dimensions, means are needed: the rows of the sample do not have these.
	needed := f.meansNeeded() || all.Dim != f.schema.Dim
	trial := func(x matrix.Rows) *meanTrial {
		var t meanTrial
		var train, held []int
		for i, key := range m.sample.keys {
			y, w := m.sample.y[i*f.outputs:][:f.outputs], m.sample.weights[i]
			if m.sums.Apart(key) {
				held, t.want, t.heldWeights = append(held, i), append(t.want, y...), append(t.heldWeights, w)
			} else {
				train, t.y, t.weights = append(train, i), append(t.y, y...), append(t.weights, w)
			}
		}
		t.x, t.held = matrix.Pick(x, train), matrix.Pick(x, held)
		return &t
	}
	plain := matrix.Rows{CSR: &m.sample.x}
	choice, err := f.chooseMeans(m.sums, needed, func() (float64, error) { return f.judgeMeans(trial(plain)) }, func(numbers bool) (float64, error) {
		apart := m.sums.Source(unread{f.src.Name(), *all}, numbers, true)
		x := apart.Expand(plain, m.sample.keys)
		with, err := f.sampled(x, apart.Schema())
		if err != nil {
			return 0, err
		}
		return with.judgeMeans(trial(x))
	})
	if err != nil {
		return err
	}
	m.choice, m.sample = &choice, meanRows{}
	return s.TakeMeans(m, all)
}

// sampled is the problem of some rows in place of all.
func (f *problem) sampled(x matrix.Rows, schema *dataset.Schema) (*problem, error) {
	rows, err := dataset.FromRows(x, nil, 0, nil)
	if err != nil {
		return nil, err
	}
	o := f.surveyOptions()
	sum, err := dataset.Survey(f.ctx, rows, o)
	if err != nil {
		return nil, err
	}
	with := *f
	with.src, with.schema, with.sum = rows, *schema, sum
	return &with, nil
}

// TakeMeans takes in what SettleMeans chose.
func (s *Sharded) TakeMeans(m *Means, all *dataset.Schema) error {
	s.means, s.meansWhy = nil, ""
	if m.choice == nil {
		return errors.New("columns with mean targets are not chosen yet")
	}
	if m.choice.Columns == nil {
		return nil
	}
	if s.means = m.sums.Source(unread{s.f.src.Name(), *all}, m.choice.Numbers, false); s.means == nil {
		return errors.New("columns with mean targets have no sums")
	}
	s.meansWhy = m.choice.String()
	return nil
}

// HasMeans says whether columns have mean targets, so that rows are surveyed with them.
func (s *Sharded) HasMeans() bool { return s.means != nil }

// WithMeans are some rows, in which each value of a category has a dimension, with the means of their columns; first is the number of the first one.
func (s *Sharded) WithMeans(src dataset.Source, first int) dataset.Source {
	if s.means == nil {
		return src
	}
	return s.means.Piece(src, first)
}

// Resurvey goes on from the survey of all rows with their means.
func (s *Sharded) Resurvey(ctx context.Context, sum *dataset.Summary) error {
	t, err := beginRows(ctx, unread{s.f.src.Name(), *s.means.Schema()}, s.f.asked, s.f.opt)
	if err != nil {
		return err
	}
	t.surveyed = t.run.surveyed(t.src, nil, sum)
	t.seen = s.f.seen
	t.why["means"] = s.meansWhy
	if why := s.Why(); why != "" {
		t.why["learner"] = why
	}
	err = t.take(ofPasses)
	s.f = t.job
	return err
}

// meansFormat names the format in the metadata of a file.
const meansFormat = "mercer-means"

// meansHead describes the file.
type meansHead struct {
	Read   int         `json:"read"`
	Sums   bool        `json:"sums,omitempty"`
	Sample int         `json:"sample,omitempty"`
	Dim    int         `json:"dim,omitempty"`
	Choice *meanChoice `json:"choice,omitempty"`
}

// Write writes the sums, the sample and the choice as a file of tensors; meta is written along and may not have "format" or "means".
func (m *Means) Write(w io.Writer, meta map[string]string) error {
	r := &m.sample
	text, err := json.Marshal(meansHead{m.read, m.sums != nil, len(r.keys), r.x.Cols, m.choice})
	if err != nil {
		return err
	}
	tensors := map[string]*safetensors.Tensor{}
	put := func(name string, v []float64) {
		if len(v) > 0 {
			tensors[name] = safetensors.Vector(v)
		}
	}
	if m.sums != nil {
		for name, v := range m.sums.Vectors() {
			put(name, v)
		}
	}
	var at, keys []float64
	for i, key := range r.keys {
		keys = append(keys, float64(int64(key)>>40), float64(int64(key)&(1<<40-1)), float64(r.x.Ptr[i+1]))
	}
	for _, j := range r.x.Idx {
		at = append(at, float64(j))
	}
	put("sample.y", r.y)
	put("sample.weights", r.weights)
	put("sample.keys", keys)
	put("sample.at", at)
	if len(r.x.Val) > 0 {
		tensors["sample"] = &safetensors.Tensor{Shape: []int{len(r.x.Val)}, F32: r.x.Val}
	}
	described := maps.Clone(meta)
	if described == nil {
		described = map[string]string{}
	}
	described["format"], described["means"] = meansFormat, string(text)
	return safetensors.Write(w, described, tensors)
}

// ReadMeans reads what Write wrote of rows with the schema all, and its metadata.
func (s *Sharded) ReadMeans(r io.Reader, size int64, all *dataset.Schema) (*Means, map[string]string, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, nil, err
	}
	var head meansHead
	if err := json.Unmarshal([]byte(meta["means"]), &head); err != nil || meta["format"] != meansFormat {
		return nil, nil, errors.New("has no sums of targets by columns")
	}
	m := s.EmptyMeans(all)
	m.read, m.choice = head.Read, head.Choice
	if head.Sums != (m.sums != nil) || head.Read < 0 || head.Sample > 0 && head.Dim != all.Dim {
		return nil, nil, errors.New("has the sums of another training")
	}
	if m.sums == nil {
		return m, meta, nil
	}
	vectors := map[string][]float64{}
	for name, t := range tensors {
		if t.F64 != nil {
			vectors[name] = t.F64
		}
	}
	if err := m.sums.SetVectors(vectors); err != nil {
		return nil, nil, err
	}
	var val []float32
	if t := tensors["sample"]; t != nil {
		val = t.F32
	}
	return m, meta, m.sample.set(head, s.f.outputs, vectors, val)
}

var errMeansSample = errors.New("has a sample that is damaged")

// set takes in the sample of a file.
func (r *meanRows) set(head meansHead, outputs int, v map[string][]float64, val []float32) error {
	n, keys, at := head.Sample, v["sample.keys"], v["sample.at"]
	r.y, r.weights = v["sample.y"], v["sample.weights"]
	if n < 0 || len(keys) != 3*n || len(r.y) != n*outputs || len(r.weights) != n || len(at) != len(val) {
		return errMeansSample
	}
	if n == 0 {
		return nil
	}
	r.x = matrix.CSR{Rows: n, Cols: head.Dim, Val: val, Ptr: []int{0}}
	for i, j := range at {
		if !(j >= 0 && j < float64(head.Dim)) || val[i]-val[i] != 0 {
			return errMeansSample
		}
		r.x.Idx = append(r.x.Idx, int32(j))
	}
	for i := range n {
		unit, rest, end := keys[3*i], keys[3*i+1], keys[3*i+2]
		last := r.x.Ptr[i]
		if !(unit >= 0 && unit < 1<<22 && rest >= 0 && rest < 1<<40 && end >= float64(last) && end <= float64(len(at)) && r.weights[i] > 0) {
			return errMeansSample
		}
		r.keys = append(r.keys, int(int64(unit)<<40+int64(rest)))
		r.x.Ptr = append(r.x.Ptr, int(end))
		for k := last + 1; k < int(end); k++ {
			if r.x.Idx[k-1] >= r.x.Idx[k] {
				return errMeansSample
			}
		}
	}
	if r.x.Ptr[n] != len(at) {
		return errMeansSample
	}
	for _, y := range r.y {
		if y-y != 0 {
			return fmt.Errorf("has a target of %g", y)
		}
	}
	return nil
}
