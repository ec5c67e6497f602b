package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"mercer/dataset"
	"mercer/internal/solve/pipeline"
	"mercer/model"
	"mercer/train"
)

// job is a training that Python waits for.
type job struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	stage string
	rows  int
	share float64

	got *fitted
	err error
}

// fitted is a model, or a map without a learner.
type fitted struct {
	m       *model.Model
	p       *pipeline.Pipeline
	schema  dataset.Schema
	singles sync.Pool // of *mercer.Predictor
}

// The folds of a calibration are no matter at up to cheapRows, and take fewestRows; with heldRows, rfm holds out enough.
const cheapRows, heldRows, fewestRows = 10_000, 1000, 10

// calibrate replaces "cheap": probabilities where the learner has its own, or where the rows are few.
func calibrate(c *train.Config, s *dataset.Schema, rows, classes int) {
	if c.Calibrate.Method != "cheap" {
		return
	}
	c.Calibrate.Method = ""
	_, rfm := train.Data{Task: "classify", Rows: rows, Classes: classes, Dim: s.Dim, Numbers: s.Dim}.Default(*c)
	own := false
	switch l := c.Learner.(type) {
	case train.RFM:
		own = rows >= heldRows && c.ClassWeight == ""
	case train.Logistic:
		own = true
	case train.SGD:
		own = l.Loss == "logistic"
	default:
		own = rfm && c.ClassWeight == ""
	}
	switch {
	case own || rows > cheapRows || rows < fewestRows:
	case classes > 2:
		c.Calibrate.Method = "temperature" // which keeps the order of the scores
	default:
		c.Calibrate.Method = "platt"
	}
}

// startJob runs a body in a goroutine of its own.
func startJob(body func(ctx context.Context, j *job) error) *job {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		defer cancel()
		defer recovered(&j.err)
		j.err = body(ctx, j)
	}()
	return j
}

func (j *job) tell(stage string, rows int, share float64) {
	j.mu.Lock()
	j.stage, j.rows, j.share = stage, rows, share
	j.mu.Unlock()
}

// start trains. open gives the rows, and what to call when they are not needed any more.
func start(open func(ctx context.Context) (dataset.Source, func() error, error), cfg train.Config, mapOnly bool, rows, classes int) *job {
	return startJob(func(ctx context.Context, j *job) error {
		src, closeIt, err := open(ctx)
		if err != nil {
			return err
		}
		defer closeIt()
		f := &fitted{}
		opt := train.Options{Progress: j.tell}
		calibrate(&cfg, src.Schema(), rows, classes)
		if mapOnly {
			f.schema = *src.Schema()
			opt.Surveyed = func(s dataset.Schema) error { f.schema = s; return nil }
			f.p, _, err = train.FitPipeline(ctx, src, cfg, opt)
		} else {
			f.m, _, err = train.Fit(ctx, src, cfg, opt)
			if err == nil {
				f.p, f.schema = f.m.Pipeline(), f.m.Info().Schema
			}
		}
		if err == nil {
			j.got = f
		}
		return err
	})
}

// wait waits up to a number of milliseconds, and says whether the job has ended.
func (j *job) wait(ms int) bool {
	select {
	case <-j.done:
		return true
	default:
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-j.done:
		return true
	case <-t.C:
		return false
	}
}

func (j *job) progress() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	b, _ := json.Marshal(map[string]any{"stage": j.stage, "rows": j.rows, "share": j.share})
	return b
}
