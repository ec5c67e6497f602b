package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/model"
	"mercer/train"
)

// Needs says whether there is anything to do in a round: data that are no table need no look.
func (p *Plan) Needs(round string) bool { return p.Data.Table || round != roundLook }

// merged is the file of the sum of a round.
func merged(round string) string { return round + ".merged" }

// Worker runs shards of a plan, merges what they found, and makes the model.
type Worker struct {
	Plan  *Plan
	store Store
	opt   train.Options

	learned []string          // the rounds whose sums it knows, in order
	state   map[string]string // the checksum of each
	total   sum               // of the last round
	routed  *listSum          // of the rows of all parts
	passed  bool              // the last pass is done
	schema  *dataset.Schema
	all     *dataset.Schema // with a dimension for each value of a category
	summary *dataset.Summary
	sharded *train.Sharded

	// Notices are what was found that a person should know of the columns, after the first round of a table.
	Notices []dataset.Notice
}

// NewWorker goes to work on the plan of a store.
func NewWorker(ctx context.Context, s Store, opt train.Options) (*Worker, error) {
	p, err := Load(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Worker{Plan: p, store: s, opt: opt, state: map[string]string{}}, nil
}

// config is that of the training, with its learner as soon as that is known.
func (w *Worker) config() train.Config {
	if w.sharded != nil {
		return w.sharded.Config()
	}
	return w.Plan.Config
}

// course is that of the training, as far as it is known.
func (w *Worker) course() course { return course{w.Plan.Data.Table, w.config()} }

// Decided is the learner that the survey has decided on, and why, if the plan left it to that.
func (w *Worker) Decided() (learner, why string) {
	if w.sharded == nil || !w.Plan.Open() {
		return "", ""
	}
	return w.config().LearnerName(), w.sharded.Why()
}

// next is the round after those whose sums it knows.
func (w *Worker) next() string {
	if len(w.learned) == 0 {
		return w.course().first()
	}
	if w.passed {
		return ""
	}
	return w.course().after(w.learned[len(w.learned)-1])
}

// Next is the round that is yet to be run and merged, "" if only the model is left to be made.
func (w *Worker) Next(ctx context.Context) (string, error) {
	for {
		round := w.next()
		if round == "" {
			return "", nil
		}
		done, err := w.isMerged(ctx, round)
		if err != nil || !done {
			return round, err
		}
		if round == roundStatistics || round == roundLeaves {
			return "", nil
		}
		if err := w.take(ctx, round); err != nil {
			return "", err
		}
	}
}

// isMerged says whether the sum of a round is there.
func (w *Worker) isMerged(ctx context.Context, round string) (bool, error) {
	r, _, err := w.store.Read(ctx, merged(round))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, r.Close()
}

// take reads the sum of the next round and learns it.
func (w *Worker) take(ctx context.Context, round string) error {
	total, check, err := w.readMerged(ctx, round)
	if err != nil {
		return err
	}
	return w.learn(ctx, round, total, check)
}

// begin makes the worker know what the rounds before one found; of all, if it is "".
func (w *Worker) begin(ctx context.Context, round string) error {
	if slices.Contains(w.learned, round) {
		return nil
	}
	for {
		if c := w.course(); round != "" && !c.knows(round) {
			return fmt.Errorf("there is no round %q; rounds are %s", round, strings.Join(c.rounds(), ", "))
		}
		next := w.next()
		if next == round {
			return nil
		}
		if next == "" {
			return fmt.Errorf("there is no round %q: the last was %s", round, w.learned[len(w.learned)-1])
		}
		if err := w.take(ctx, next); err != nil {
			return err
		}
	}
}

// key is what everything of a round is made by: the plan and the sum of the round before.
func (w *Worker) key(round string) map[string]string {
	at := slices.Index(w.learned, round)
	if at < 0 {
		at = len(w.learned)
	}
	before := ""
	if at > 0 {
		before = w.state[w.learned[at-1]]
	}
	return map[string]string{"plan": w.Plan.sum, "round": round, "before": before}
}

// learn takes in the sum of a round.
func (w *Worker) learn(ctx context.Context, round string, total sum, check string) (err error) {
	opt := w.Plan.Options
	switch round {
	case roundLook:
		w.schema, w.all, w.Notices, err = w.Plan.Data.Settle(ctx, total.(lookSum).Look, opt)
	case roundSurvey:
		if w.schema == nil { // no table
			f, err := w.Plan.Data.Open(ctx, 0, opt)
			if err != nil {
				return err
			}
			w.schema = f.Schema()
			f.Close()
		}
		if w.summary, err = total.(surveySum).Summary(w.Plan.Data.Path); err != nil {
			return err
		}
		w.sharded, err = w.shardedFor(ctx, w.summary)
	case roundStatistics, roundLeaves:
		w.total = total
	case roundSample, roundMeans: // whose sum has taken it in
	case roundColumns:
		if s, ok := total.(surveySum); ok {
			if w.summary, err = s.Summary(w.Plan.Data.Path); err != nil {
				return err
			}
			err = w.sharded.Resurvey(ctx, w.summary)
		}
	case roundRows:
		w.routed = total.(*listSum)
	default:
		w.passed, err = w.sharded.Advance(total.(passSum).SharedSums)
	}
	if err == nil {
		w.learned, w.state[round] = append(w.learned, round), check
	}
	return err
}

// shardedFor is the training of rows with such a survey.
func (w *Worker) shardedFor(ctx context.Context, sum *dataset.Summary) (*train.Sharded, error) {
	return train.NewSharded(ctx, w.Plan.Data.Path, *w.schema, sum, w.Plan.Config, w.opt)
}

// piece makes the sum of one piece.
func (w *Worker) piece(ctx context.Context, round string, i int) (sum, error) {
	opt := w.Plan.Options
	switch round {
	case roundLook:
		l, err := w.Plan.Data.Look(ctx, i, opt)
		return lookSum{l}, err
	case roundLeaves:
		return w.leaves(ctx, i)
	case roundColumns:
		if !w.sharded.HasMeans() { // rows are as they were surveyed
			return &listSum{}, nil
		}
	}
	if w.Plan.Data.Table {
		opt.Schema = w.schema
		if round == roundMeans || w.sharded != nil && w.sharded.HasMeans() {
			opt.Schema = w.all
		}
	}
	file, err := w.Plan.Data.Open(ctx, i, opt)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	first := dataset.RowKey(i, 0)
	var f dataset.Source = file
	if w.sharded != nil {
		f = w.sharded.WithMeans(f, first)
	}
	if round == roundSurvey || round == roundColumns {
		survey, err := w.config().SurveyOptions()
		if err != nil {
			return nil, err
		}
		survey.First = first
		s, err := dataset.SurveySome(ctx, f, survey)
		return surveySum{s}, err
	}
	switch round {
	case roundMeans:
		m, err := w.sharded.Means(ctx, f, first)
		return meanSum{m}, err
	case roundSample:
		s, err := w.sharded.Sample(ctx, f, first)
		return sampleSum{s}, err
	case roundRows:
		return w.route(ctx, f, first, i)
	case roundStatistics:
	default:
		s, err := w.sharded.Pass(ctx, f)
		return passSum{s}, err
	}
	parts, err := w.sharded.Collect(ctx, f, first)
	return momentSum(parts), err
}

// shardOf is the shard of a piece.
func (p *Plan) shardOf(piece int) int {
	for s, end := range p.Ends {
		if piece < end {
			return s
		}
	}
	return len(p.Ends)
}

// Named is an error with the shard and the piece that it is about.
func (p *Plan) Named(i int, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("shard %d, piece %d (%s): %w", p.shardOf(i), i, p.Data.All[i], err)
}

// readMerged reads the sum of a round and its checksum.
func (w *Worker) readMerged(ctx context.Context, round string) (sum, string, error) {
	s, meta, check, err := w.read(ctx, round, merged(round))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("the round %s is not merged yet: %s is not there", round, w.store.Name(merged(round)))
	}
	if err != nil {
		return nil, "", err
	}
	if err := w.same(round, meta); err != nil {
		return nil, "", fmt.Errorf("%s: %w", w.store.Name(merged(round)), err)
	}
	return s, check, nil
}

// same says what is wrong with the origin of a file, if anything.
func (w *Worker) same(round string, meta map[string]string) error {
	for what, want := range w.key(round) {
		if meta[what] != want {
			return fmt.Errorf("is of another %s; remove what is left of an older training",
				map[string]string{"plan": "plan", "round": "round", "before": "result of the round before"}[what])
		}
	}
	return nil
}

// read reads a sum, its description and the checksum of the file.
func (w *Worker) read(ctx context.Context, round, file string) (sum, map[string]string, string, error) {
	r, size, err := w.store.Read(ctx, file)
	if err != nil {
		return nil, nil, "", err
	}
	defer r.Close()
	h := sha256.New()
	s, meta, err := w.readSum(ctx, round, file, io.TeeReader(r, h), size)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", w.store.Name(file), err)
	}
	return s, meta, hex.EncodeToString(h.Sum(nil)), nil
}

// write writes a sum, and returns the checksum and the size of the file.
func (w *Worker) write(ctx context.Context, round, file string, s sum) (check string, size int64, err error) {
	return w.writeFile(ctx, file, func(out io.Writer) error { return s.write(out, w.key(round)) })
}

// writeFile writes a file, and returns its checksum and size.
func (w *Worker) writeFile(ctx context.Context, file string, write func(io.Writer) error) (check string, size int64, err error) {
	err = w.store.Write(ctx, file, func(out io.Writer) error {
		h := &hashed{w: out, h: sha256.New()}
		err := write(h)
		check, size = hex.EncodeToString(h.h.Sum(nil)), h.n
		return err
	})
	return check, size, err
}

// hashed computes the checksum of what passes through.
type hashed struct {
	w io.Writer
	h interface {
		io.Writer
		Sum([]byte) []byte
	}
	n int64
}

func (h *hashed) Write(b []byte) (int, error) {
	h.h.Write(b)
	n, err := h.w.Write(b)
	h.n += int64(n)
	return n, err
}

// Solve makes the model, after all rounds.
func (w *Worker) Solve(ctx context.Context) (*model.Model, *train.Report, error) {
	if err := w.begin(ctx, ""); err != nil {
		return nil, nil, err
	}
	return w.fit(ctx)
}

// fit makes the model.
func (w *Worker) fit(ctx context.Context) (*model.Model, *train.Report, error) {
	if w.passed {
		return w.sharded.Passed(ctx)
	}
	if w.config().Apart() {
		return w.joined(ctx)
	}
	total := w.total.(momentSum)
	w.total = nil
	return w.sharded.Fit(ctx, total)
}

// Train trains by a plan in this process.
func Train(ctx context.Context, p *Plan, opt train.Options) (*model.Model, *train.Report, error) {
	w := &Worker{Plan: p, store: memory{}, opt: opt, state: map[string]string{}}
	return w.Train(ctx)
}

// Train goes through all rounds in this process, without writing anything but rows and leaves of parts, for a while, to a temporary file.
func (w *Worker) Train(ctx context.Context) (*model.Model, *train.Report, error) {
	if w.Plan.mayHaveLeaves() {
		store, err := newOneFile()
		if err != nil {
			return nil, nil, err
		}
		defer store.f.Close()
		w.store = store
	}
	for {
		round := w.next()
		if round == "" {
			return w.fit(ctx)
		}
		var t tree
		for i := range w.Plan.Data.All {
			s, err := w.piece(ctx, round, i)
			if err == nil {
				err = t.add(ctx, &node{from: i, sum: s})
			}
			if err != nil {
				return nil, nil, w.Plan.Named(i, err)
			}
		}
		total, err := t.root(ctx)
		if err == nil {
			total, err = w.conclude(ctx, round, total)
		}
		if err == nil {
			err = w.learn(ctx, round, total, "in memory")
		}
		if err != nil {
			return nil, nil, err
		}
	}
}
