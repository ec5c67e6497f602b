// Package beam runs trainings in shards (package shard) as pipelines of Apache Beam, on any of its runners. Elements are numbers of
// shards and receipts; sums of features, which may take gigabytes, go through the store of the plan.
package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mercer/shard"
	"mercer/train"
)

func init() {
	register.DoFn2x0[string, func(int)](&numbers{})
	register.DoFn3x1[context.Context, int, func(int, []byte), error](&runShard{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(int, []byte), error](&combine{})
	register.DoFn3x2[context.Context, int, func(*[]byte) bool, string, error](&merge{})
	register.DoFn2x2[context.Context, string, string, error](&solve{})
	register.Emitter1[int]()
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
}

// Options say how a training runs.
type Options struct {
	// Plan is the folder of the plan, made by "mercer shard plan": a path, or a URL of a file system of Beam. Model is where the
	// model is written.
	Plan, Model string

	// Memory is what a worker may hold; 0 means no bound.
	Memory int64

	// Group is the number of shards whose sums one worker adds up before the last merge; 0 means 8.
	Group int
}

// Train goes through a training by a plan: as one pipeline, or, of a learner that takes many passes, as one for each round, since their number is seen
// when they are done. A training that was interrupted goes on with the round that it was in.
func Train(ctx context.Context, plan *shard.Plan, o Options, execute func(context.Context, *beam.Pipeline) error) error {
	if !plan.Config.Passes() {
		p, s := beam.NewPipelineWithRoot()
		build(s, plan, o, plan.Rounds(), true)
		return execute(ctx, p)
	}
	f := step{Plan: o.Plan, Memory: o.Memory}
	for {
		w, err := f.worker(ctx)
		if err != nil {
			return err
		}
		round, err := w.Next(ctx)
		if err != nil {
			return err
		}
		p, s := beam.NewPipelineWithRoot()
		if round == "" {
			build(s, plan, o, nil, true)
			return execute(ctx, p)
		}
		build(s, plan, o, []string{round}, false)
		if err := execute(ctx, p); err != nil {
			return err
		}
	}
}

// build adds rounds to a pipeline, and the making of the model.
func build(s beam.Scope, plan *shard.Plan, o Options, rounds []string, model bool) {
	if o.Group == 0 {
		o.Group = 8
	}
	before := beam.Create(s, "")
	for _, round := range rounds {
		s := s.Scope(round)
		common := step{Plan: o.Plan, Round: round, Memory: o.Memory}
		// What the round before gives begins this one. Without a reshuffle all shards would be one bundle.
		all := beam.Reshuffle(s, beam.ParDo(s, &numbers{plan.Shards()}, before))
		receipts := beam.ParDo(s, &runShard{step: common, Group: o.Group}, all)
		groups := beam.ParDo(s, &combine{common}, beam.GroupByKey(s, receipts))
		before = beam.ParDo(s, &merge{common}, beam.GroupByKey(s, groups))
	}
	if model {
		beam.ParDo(s.Scope("solve"), &solve{step{Plan: o.Plan, Memory: o.Memory}, o.Model}, before)
	}
}

// step is what all steps know.
type step struct {
	Plan   string
	Round  string
	Memory int64
}

func (f *step) worker(ctx context.Context) (*shard.Worker, error) {
	store, err := Open(ctx, f.Plan)
	if err != nil {
		return nil, err
	}
	return shard.NewWorker(ctx, store, train.Options{Memory: f.Memory})
}

// numbers emits the numbers of the shards.
type numbers struct{ Shards int }

func (f *numbers) ProcessElement(_ string, emit func(int)) {
	for i := range f.Shards {
		emit(i)
	}
}

// runShard runs a shard and emits its receipt by group.
type runShard struct {
	step
	Group int
}

func (f *runShard) ProcessElement(ctx context.Context, number int, emit func(int, []byte)) error {
	w, err := f.worker(ctx)
	if err != nil {
		return err
	}
	r, err := w.Run(ctx, f.Round, number)
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	emit(number/f.Group, text)
	return err
}

// combine adds up the sums of a group of adjacent shards.
type combine struct{ step }

func (f *combine) ProcessElement(ctx context.Context, _ int, texts func(*[]byte) bool, emit func(int, []byte)) error {
	w, err := f.worker(ctx)
	if err != nil {
		return err
	}
	receipts, err := parsed(texts)
	if err != nil {
		return err
	}
	all, err := w.Combine(ctx, f.Round, receipts)
	if err != nil {
		return err
	}
	text, err := json.Marshal(all)
	emit(0, text)
	return err
}

// merge puts together what all groups found, and gives the name of the round.
type merge struct{ step }

func (f *merge) ProcessElement(ctx context.Context, _ int, texts func(*[]byte) bool) (string, error) {
	w, err := f.worker(ctx)
	if err != nil {
		return "", err
	}
	receipts, err := parsed(texts)
	if err != nil {
		return "", err
	}
	_, err = w.MergeReceipts(ctx, f.Round, receipts)
	return f.Round, err
}

// solve makes the model.
type solve struct {
	step
	Model string
}

func (f *solve) ProcessElement(ctx context.Context, _ string) (string, error) {
	w, err := f.worker(ctx)
	if err != nil {
		return "", err
	}
	m, _, err := w.Solve(ctx)
	if err != nil {
		return "", err
	}
	folder, name := split(f.Model)
	store, err := Open(ctx, folder)
	if err != nil {
		return "", err
	}
	return f.Model, store.Write(ctx, name, func(out io.Writer) error { return m.Write(out) })
}

// parsed are the receipts of an iterator.
func parsed(texts func(*[]byte) bool) (receipts []*shard.Receipt, err error) {
	var text []byte
	for texts(&text) {
		r := &shard.Receipt{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("a receipt: %w", err)
		}
		receipts = append(receipts, r)
	}
	return receipts, nil
}
